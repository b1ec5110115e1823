"""Rules of BatchWriteRow that look at several rows at once (semantics §4.8)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from widerow.errors import InvalidRequest, WiderowError
from widerow.limits import BATCH_WRITE_ROWS_MAX
from widerow.model.tablestore.answers import RowOutcome
from widerow.model.tablestore.condition import RowExpectation
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule

__all__ = ["arrange", "atomic_scope_error", "by_table", "check_batch_write", "filled", "without"]


_IGNORE: Final = RowExpectation.IGNORE


def check_batch_write(request: BatchWrite) -> None:
    """Raise `InvalidRequest` for too many rows, or repeated rows with a condition on the row."""
    if not request.tables:
        raise InvalidRequest(TablestoreRule.BATCH_WRITE_EMPTY)
    count = sum([len(table.changes) for table in request.tables])
    if count > BATCH_WRITE_ROWS_MAX:
        raise InvalidRequest(
            TablestoreRule.BATCH_WRITE_COUNT, limit=BATCH_WRITE_ROWS_MAX, count=count
        )
    conditional = False
    for table in request.tables:
        if not table.changes:
            raise InvalidRequest(TablestoreRule.BATCH_WRITE_TABLE_EMPTY, table=table.table)
        for change in table.changes:
            conditional = conditional or _is_conditional(change)
    if conditional:
        _check_repeated([change for table in request.tables for change in table.changes])


def _is_conditional(change: RowChange) -> bool:
    condition = change.condition
    return condition.row is not _IGNORE or condition.columns is not None


def _check_repeated(changes: list[RowChange]) -> None:
    """Raise `InvalidRequest` if a repeated row has a condition that reads the row."""
    counts = Counter([_identity(change) for change in changes])
    if len(counts) == len(changes):
        return
    for change in changes:
        if counts[_identity(change)] == 1:
            continue
        if change.condition.row is not _IGNORE:
            raise InvalidRequest(TablestoreRule.BATCH_REPEATED_EXPECTATION)
        if change.condition.columns is not None:
            raise InvalidRequest(TablestoreRule.BATCH_REPEATED_CONDITION)


def _identity(change: RowChange) -> tuple[object, ...]:
    return (change.table, *[value for _, value in change.key.columns])


def by_table(request: BatchWrite) -> list[tuple[list[int], TableWrite]]:
    """The rows of each table together, with their places among all rows of the request."""
    found: dict[str, tuple[list[int], list[RowChange]]] = {}
    first = 0
    for asked in request.tables:
        places, changes = found.setdefault(asked.table, ([], []))
        places += range(first, first + len(asked.changes))
        changes += asked.changes
        first += len(asked.changes)
    return [
        (places, TableWrite(name, tuple(changes)))
        for name, (places, changes) in found.items()
        if changes
    ]


def atomic_scope_error(changes: Sequence[RowChange]) -> WiderowError | None:
    """The error of rows of one table that have not all one partition key value, or None."""
    first = changes[0]
    for change in changes:
        if change.key.columns[0] != first.key.columns[0]:
            return InvalidRequest(
                TablestoreRule.BATCH_ATOMIC_SCOPE,
                atomic=str(first.key.columns[0][1]),
                data=str(change.key.columns[0][1]),
            )
    return None


def arrange(request: BatchWrite, outcomes: list[RowOutcome]) -> list[list[RowOutcome]]:
    """Outcomes of a flat list, grouped by the tables of the request."""
    arranged: list[list[RowOutcome]] = []
    at = 0
    for table in request.tables:
        arranged.append(outcomes[at : at + len(table.changes)])
        at += len(table.changes)
    return arranged


def without(request: BatchWrite, done: Sequence[bool]) -> BatchWrite:
    """The request without the rows that are done, in unchanged order; tables may be empty."""
    marks = iter(done)
    tables = [
        TableWrite(
            table.table,
            tuple([change for change in table.changes if not next(marks)]),
        )
        for table in request.tables
    ]
    return BatchWrite(tuple(tables), request.atomic, request.declared)


def filled(made: Sequence[RowOutcome | None], rest: Sequence[RowOutcome]) -> list[RowOutcome]:
    """`made`, with each None replaced by the next outcome of `rest`."""
    others = iter(rest)
    return [next(others) if outcome is None else outcome for outcome in made]
