"""What tests of local transactions ask an engine: about the rows of table t, inside and outside."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from tests.support.answers import decode_answer_rows, decode_row
from tests.support.changes import get, primary_key, scan_all

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, WiderowError
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyMarker, KeyType

__all__ = ["TABLE", "abort", "begin", "columns", "commit", "numbers", "refusal", "row", "write"]

TABLE: Final = {"k": KeyType.STRING, "n": KeyType.INTEGER}
"""The key of the table."""


def begin(engine: TablestoreEngine, key: str = "a", table: str = "t", instance: str = "i") -> str:
    """A new transaction on a partition key value."""
    return engine.core.run(engine.transactions.start(instance, table, primary_key({"k": key})))


def write(engine: TablestoreEngine, change: RowChange, inside: str | None = None) -> Any:  # noqa: ANN401  # RowWritten
    """Write a row, inside a transaction or outside all."""
    if inside is None:
        return engine.core.run(engine.rows.write_row("i", change))
    return engine.core.run(engine.transactions.write_row("i", inside, change))


def commit(engine: TablestoreEngine, inside: str) -> None:
    """Commit a transaction."""
    return engine.core.run(engine.transactions.commit("i", inside))


def abort(engine: TablestoreEngine, inside: str) -> str:
    """Abort a transaction."""
    return engine.core.run(engine.transactions.abort("i", inside))


def row(number: int, key: str = "a") -> dict[str, str | int]:
    """The key of a row."""
    return {"k": key, "n": number}


def columns(
    engine: TablestoreEngine, number: int, inside: str | None = None, key: str = "a"
) -> Any:  # noqa: ANN401  # of any type
    """The newest values of a row by their columns; None: there is no row."""
    request = get("t", row(number, key), Selection(max_versions=1))
    if inside is None:
        read = engine.rows.get_row("i", request)
    else:
        read = engine.transactions.get_row("i", inside, request)
    found = decode_row(read.row)
    return found and {name: cells[0][1] for name, cells in found[1].items()}


def numbers(
    engine: TablestoreEngine,
    inside: str | None = None,
    table: str = "t",
    **how: Any,  # noqa: ANN401  # as `scan_all` takes
) -> list[Any]:
    """The second key columns of all rows of the key a, in the order of the scan."""
    bounds: list[Any] = [{"k": "a", "n": KeyMarker.INF_MIN}, {"k": "a", "n": KeyMarker.INF_MAX}]
    if how.get("backward"):
        bounds.reverse()
    request = scan_all(table, *bounds, **how)
    if inside is None:
        page = engine.rows.get_range("i", request)
    else:
        page = engine.transactions.get_range("i", inside, request)
    return [key["n"] for key, _ in decode_answer_rows(page.rows)]


def refusal(call: Callable[[], object]) -> AnyRule:
    """The rule by which a call is refused."""
    with pytest.raises(WiderowError) as caught:
        call()
    rule = getattr(caught.value, "rule", None)
    assert isinstance(rule, AnyRule)
    return rule
