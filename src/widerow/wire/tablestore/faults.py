"""What a test can let go wrong in this dialect: the documented codes, and the rows of batches.

A fault answers as the service would: with the code, the status and the text of semantics §18. Codes
that widerow itself never answers are listed here, the others are those of `errors/table.py`.
"""

from collections.abc import Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from widerow.engine.streams.iterators import decode_iterator
from widerow.engine.tablestore.batch import arrange, filled, without
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import WiderowError
from widerow.model.tablestore.answers import RowOutcome
from widerow.model.tablestore.requests import BatchGet, BatchWrite, InTransaction, TableGet
from widerow.model.tunnels import TunnelName
from widerow.wire.dialect import FaultParts
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.table import FAILURES, FOREIGN, UNEXPECTED
from widerow.wire.tablestore.operations.batches import BatchAnswer
from widerow.wire.tablestore.operations.beside import following_beside
from widerow.wire.tablestore.operations.bulk import BulkImported, imported_size
from widerow.wire.tablestore.operations.streams import IteratorAsked, RecordsAsked, StreamAsked

__all__ = ["FAULT_PARTS"]

# Of the service and never of widerow (semantics §18.1, §18.2; tunnels: change §D), or, where a code
# has several texts, the one that clients look at.
_TEXTS: Final = {
    c.AUTH_FAILED: "Signature mismatch.",
    c.CAPACITY_UNIT_EXHAUSTED: "Capacity unit is not enough.",
    c.FLOW_CONTROL: "The requests have been throttled.",
    c.FORBIDDEN_UPDATE_CAPACITY_UNIT: "Your instance is forbidden to update capacity unit.",
    c.OUT_OF_COLUMN_COUNT_LIMIT: "The number of columns in one row exceeded the limit.",
    c.PARTITION_UNAVAILABLE: "The partition is not available.",
    c.QUOTA_EXHAUSTED: "Too frequent table operations.",
    c.ROW_OPERATION_CONFLICT: "Data is being modified by the other request.",
    c.TABLE_NOT_READY: "The table is not ready.",
    c.TIMEOUT: "Operation timeout.",
}
_NAMING: Final = ("table", "table_name", "name", "main_table_name")


def _documented() -> dict[str, tuple[int, str]]:
    """Every code with a status and a text; of several texts the first without a fact in it."""
    found: dict[str, tuple[int, str]] = {}
    failures = (*FAILURES.values(), UNEXPECTED)
    answers = (*FOREIGN.values(), *[failure.foreign for failure in failures])
    for row in sorted(answers, key=lambda row: "{" in row.template):
        found.setdefault(row.code, (row.status, row.template))
    found |= {str(code): (code.status, text) for code, text in _TEXTS.items()}
    return dict(sorted(found.items()))


def _asked(request: Any) -> Any:  # noqa: ANN401  # what any operation's `decode` made
    """What stands in a transaction, or in the form of an export."""
    return getattr(request, "request", request)


def _tables(engine: TablestoreEngine, instance: str, request: Any) -> frozenset[str]:  # noqa: ANN401  # what any operation's `decode` made
    """The tables that a request names: of a batch all, of a list of all tables none.

    By a transaction, a tunnel or a stream it names the table that this is of.
    """
    asked = _asked(request)
    if isinstance(asked, BatchGet | BatchWrite):
        return frozenset(each.table for each in asked.tables)
    if isinstance(asked, str):
        return frozenset((engine.transactions.table_of(instance, asked) or asked,))
    named: frozenset[str] | None = getattr(asked, "named_tables", None)  # of a statement
    if named is not None:
        return named
    for name in _NAMING:
        value = getattr(asked, name, None)
        if isinstance(value, str) and value:
            return frozenset((value,))
    found = _of_stream(asked) or _of_tunnel(engine, instance, asked)
    return frozenset((found,)) if found else frozenset()


def _of_stream(asked: Any) -> str:  # noqa: ANN401  # what any operation's `decode` made
    """The table of a stream, whose name the id of the stream begins with; "" for none."""
    if isinstance(asked, StreamAsked):
        stream = asked.id
    elif isinstance(asked, IteratorAsked):
        stream = asked.stream_id
    elif isinstance(asked, RecordsAsked):
        try:
            stream = decode_iterator(asked.iterator).stream_id
        except WiderowError:
            return ""
    else:
        return ""
    return stream.rpartition("_")[0]


def _of_tunnel(engine: TablestoreEngine, instance: str, asked: Any) -> str | None:  # noqa: ANN401  # what any operation's `decode` made
    """The table of a tunnel that is named by its id; None where there is none."""
    who = getattr(asked, "who", asked)
    tunnel = who.id if isinstance(who, TunnelName) else getattr(who, "tunnel", None)
    if not isinstance(tunnel, str):
        return None
    return following_beside(engine, tunnel).tunnels.table_of(instance, tunnel)


def _rows(request: Any) -> tuple[str, ...]:  # noqa: ANN401  # what any operation's `decode` made
    """The table of each row of a batch; none where the rows stand or fall together."""
    asked = _asked(request)
    if isinstance(asked, BatchGet):
        return tuple(chain.from_iterable([each.table] * len(each.keys) for each in asked.tables))
    if isinstance(asked, BatchWrite) and not asked.atomic:
        return tuple(change.table for each in asked.tables for change in each.changes)
    return ()


def _without(request: Any, marked: Sequence[bool]) -> Any:  # noqa: ANN401  # what any operation's `decode` made
    if all(marked):
        return None
    asked = _asked(request)
    if isinstance(asked, BatchGet):
        rest: Any = BatchGet(tuple(_tables_without(asked, marked)))
    else:
        kept = without(asked, marked)
        rest = kept._replace(tables=tuple(each for each in kept.tables if each.changes))
    return InTransaction(request.id, rest) if asked is not request else rest


def _tables_without(asked: BatchGet, marked: Sequence[bool]) -> list[TableGet]:
    marks = iter(marked)
    kept = []
    for table in asked.tables:
        stay = [not next(marks) for _ in table.keys]
        keys = tuple(key for key, there in zip(table.keys, stay, strict=True) if there)
        resumes = tuple(each for each, there in zip(table.resumes, stay, strict=False) if there)
        if keys:
            kept.append(table._replace(keys=keys, resumes=resumes))
    return kept


def _filled(
    request: Any,  # noqa: ANN401  # what any operation's `decode` made
    marked: Sequence[bool],
    result: BatchAnswer | BulkImported | None,
    error: Exception,
) -> BatchAnswer | BulkImported:
    """The answer to the whole batch. `result`: that of the rest, None where there is no rest."""
    assert isinstance(error, WiderowError), "a row is refused by an error of ours"
    asked = _asked(request)
    made = [RowOutcome(error=error) if mark else None for mark in marked]
    found: list[Any] = []
    if isinstance(result, BulkImported):
        found = list(result.outcomes)
    elif result is not None:
        found = list(chain.from_iterable(result.outcomes))
    if len(found) == len(marked):  # the marked rows were carried out as well
        found = [outcome for outcome, mark in zip(found, marked, strict=True) if not mark]
    outcomes = filled(made, found)
    names = tuple(each.table for each in asked.tables)
    if isinstance(asked, BatchWrite) and asked.declared:  # a BulkImport
        (table,) = asked.tables
        return BulkImported(names[0], outcomes, tuple(map(imported_size, table.changes)))
    if isinstance(asked, BatchWrite):
        return BatchAnswer(names, arrange(asked, outcomes))
    arranged, at = [], 0
    for table in asked.tables:
        arranged.append(outcomes[at : at + len(table.keys)])
        at += len(table.keys)
    return BatchAnswer(names, arranged)


FAULT_PARTS: Final = FaultParts(
    codes=MappingProxyType(_documented()),
    batches=frozenset(("BatchGetRow", "BatchWriteRow", "BulkImport")),
    tables=_tables,
    rows=_rows,
    without=_without,
    filled=_filled,
)
"""The parts of the Tablestore dialect."""
