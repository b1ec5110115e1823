"""`put table -file`: the rows of a file, one JSON object a line (cli §6)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from widerow.cli.kv.faults import CommandFault, UnreadableFault
from widerow.cli.kv.progress import counting
from widerow.cli.kv.put.write import Condition
from widerow.cli.kv.session import Session
from widerow.errors import InvalidRequest
from widerow.nosql import Operation, Table

__all__ = ["put_file"]

_BATCH: Final = 1000  # rows that share a sync


def put_file(
    session: Session, table: Table, name: str, condition: Condition, *, exact: bool
) -> str:
    """Write the rows of a file and say how many; those in front of a faulty line are written."""
    make, word = _way(condition)
    count = 0
    try:
        with Path(name).open(encoding="utf-8") as lines, counting(session, "rows") as told:
            operations = (make(table, row) for row in _rows(table, lines, exact=exact))
            while batch := list(islice(operations, _BATCH)):
                count += sum(result.success for result in session.store.write_many(batch))
                told(count)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFault(f"Failed to load file: {name}") from error
    return f"{word} {count} {'row' if count == 1 else 'rows'} to {table.name}"


def _way(condition: Condition) -> tuple[Callable[[Table, Mapping[str, Any]], Operation], str]:
    if condition.merged:
        raise CommandFault("-update is for one row and cannot be used with -file")
    if condition.if_absent:
        return Operation.put_if_absent, "Inserted"
    if condition.if_present:
        return Operation.put_if_present, "Updated"
    return Operation.put, "Loaded"


def _rows(table: Table, lines: Iterable[str], *, exact: bool) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield table.row_from_json(line, exact=exact)
        except InvalidRequest as error:
            raise CommandFault(f"line {number}: {error}") from error
