"""GetRow, GetRange, BatchGetRow and writes on rows that are made of something else (timeseries §9).

Each row is encoded as Tablestore's tables store theirs and then read as a stored one, so that every
selection and filter means what it means there.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.ranges import range_bounds, read_range
from widerow.engine.tablestore.reads import ABSENT, read_record
from widerow.engine.tablestore.schema import check_key, concrete
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tablestore.static import (
    ColumnNames,
    check_point_key,
    check_range_key,
    check_selection,
)
from widerow.errors import InvalidRequest, Unsupported, WiderowError
from widerow.limits import INT64_MIN
from widerow.model.tablestore.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.tablestore.condition import UNCONDITIONAL
from widerow.model.tablestore.requests import GetRange, GetRow, TableGet
from widerow.model.tablestore.row import (
    NOTHING_RETURNED,
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    RowChange,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import RangeDirection, Resume, Selection
from widerow.model.timeseries.points import POINT_SUFFIXES, Point
from widerow.model.timeseries.requests import MetaUpdateMode, PutResult
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.values import KeyInput, KeyMarker, Value
from widerow.rows.cells import (
    body_value,
)
from widerow.wire.tablestore.operations.timeseries.found import timeseries
from widerow.wire.tablestore.operations.timeseries.made_row import MadeRows, StoredForm
from widerow.wire.tablestore.operations.timeseries.seen_tables import (
    PointRows,
    seen_table,
    series_of_columns,
)

__all__ = [
    "describe_made_rows",
    "get_range",
    "get_row",
    "get_rows",
    "put_made_rows",
    "write_made_row",
]

_NAMES: Final = ColumnNames()


def _seen(engine: TablestoreEngine, instance: str, name: str, error: WiderowError) -> MadeRows:
    """What has a name. Raises `error` where nothing has."""
    found = seen_table(engine, instance, name)
    if found is None:
        raise error
    return found


def describe_made_rows(
    engine: TablestoreEngine, instance: str, name: str, error: WiderowError
) -> Table:
    """DescribeTable."""
    return _seen(engine, instance, name, error).table


# --- reads -----------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Records of rows between two keys. It has no others, whatever is asked for."""

    records: Iterator[tuple[bytes, bytes]]

    def get(self, key: bytes) -> bytes | None:  # noqa: ARG002  # as readers have it
        """None, as there is nothing beside the records."""
        return None

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """None for each key, as there is nothing beside the records."""
        return [None for _ in keys]

    def scan(
        self,
        start: bytes,  # noqa: ARG002  # as readers have it
        stop: bytes,  # noqa: ARG002  # as readers have it
        *,
        reverse: bool = False,  # noqa: ARG002  # as readers have it
    ) -> Iterator[tuple[bytes, bytes]]:
        """All records, in the order in which they were made."""
        return self.records


def get_row(
    engine: TablestoreEngine,
    instance: str,
    request: GetRow,
    budget: Budget | None,
    error: WiderowError,
) -> RowRead:
    """GetRow; raises `error` where nothing has the table's name."""
    seen = _seen(engine, instance, request.table, error)
    check_point_key(request.key, write=False)
    check_selection(request.selection, _NAMES)
    return _row(seen, request.key, request.selection, request.resume, budget)


def _row(
    seen: MadeRows,
    key: PrimaryKey,
    selection: Selection,
    resume: Resume | None,
    budget: Budget | None = None,
) -> RowRead:
    values = concrete(check_key(seen.table, key))
    end: list[KeyInput] = [*values[:-1], KeyMarker.INF_MAX]
    row = next(seen.rows(values, end, reverse=False), None)
    if row is None or row.key != values:
        return ABSENT
    rule = ReadRule(seen.table, selection, INT64_MIN)
    read = read_record(
        (_Rows(iter(())), budget), StoredForm(seen.table).record(row), values, rule, resume
    )
    return ABSENT if read is None else RowRead(read.row, units(read.size), read.resume)


def get_rows(
    engine: TablestoreEngine, instance: str, get: TableGet, error: WiderowError
) -> list[RowOutcome]:
    """The rows of one table of a BatchGetRow; `error` for each where nothing has its name."""
    try:
        seen = _seen(engine, instance, get.table, error)
        check_selection(get.selection, _NAMES, TablestoreRule.VERSION_CONDITION_MISSING_IN_BATCH)
    except WiderowError as problem:
        return [RowOutcome(error=problem)] * len(get.keys)
    outcomes = []
    resumes = get.resumes or (None,) * len(get.keys)
    for key, resume in zip(get.keys, resumes, strict=True):
        try:
            check_point_key(key, write=False)
            outcomes.append(RowOutcome(read=_row(seen, key, get.selection, resume)))
        except WiderowError as problem:
            outcomes.append(RowOutcome(error=problem))
    return outcomes


def get_range(
    engine: TablestoreEngine,
    instance: str,
    request: GetRange,
    budget: Budget | None,
    error: WiderowError,
) -> RangePage:
    """GetRange; raises `error` where nothing has the table's name."""
    seen = _seen(engine, instance, request.table, error)
    table = seen.table
    start, end, direction, limit = request.range
    check_range_key(start)
    check_range_key(end)
    check_selection(request.selection, _NAMES)
    first, last = check_key(table, start), check_key(table, end)
    bounds = range_bounds(table, first, last, direction)
    rows = seen.rows(first, last, reverse=direction is RangeDirection.BACKWARD)
    rule = ReadRule(table, request.selection, INT64_MIN)
    source = _Rows(map(StoredForm(table).record, rows)), budget
    return read_range(source, table, bounds, rule, limit, request.resume)


# --- writes ----------------------------------------------------------------------------------


def write_made_row(
    engine: TablestoreEngine, instance: str, change: RowChange, error: WiderowError
) -> Plan[RowWritten]:
    """PutRow or UpdateRow of a point; raises `error` where nothing has the table's name."""
    return put_made_rows(engine, instance, change.table, [change], error).answering(_only)


def _only(outcomes: Sequence[RowOutcome]) -> RowWritten:
    """The result of one row. Raises its error."""
    [outcome] = outcomes
    if outcome.error is not None:
        raise outcome.error
    assert outcome.written is not None, "a point is written or has an error"
    return outcome.written


def put_made_rows(
    engine: TablestoreEngine,
    instance: str,
    name: str,
    changes: Sequence[RowChange],
    error: WiderowError,
) -> Plan[list[RowOutcome]]:
    """Rows that are put as points of a table.

    Raises `InvalidRequest` for rows of a last-point index, `Unsupported` for what no point has.
    """
    seen = _seen(engine, instance, name, error)
    if not isinstance(seen, PointRows):
        raise InvalidRequest(TimeseriesRule.LASTPOINT_READ_ONLY)
    points = [_point(seen, change) for change in changes]
    sizes = [units(change.data_size) for change in changes]
    plan = timeseries(engine).put(seen.points, points, MetaUpdateMode.NORMAL)
    return plan.answering(partial(_outcomes, sizes))


def _outcomes(sizes: Sequence[int], result: PutResult) -> list[RowOutcome]:
    failed: Mapping[int, WiderowError] = result.failed
    return [
        RowOutcome(error=failed[at]) if at in failed else RowOutcome(written=RowWritten(0, size))
        for at, size in enumerate(sizes)
    ]


def _point(seen: PointRows, change: RowChange) -> Point:
    """The point of a row. The hash that the row begins with is left aside: the series says it."""
    refused = change.modification is Modification.DELETE or change.condition != UNCONDITIONAL
    if refused or change.returns != NOTHING_RETURNED:
        raise Unsupported(
            TablestoreRule.FEATURE_UNSUPPORTED,
            feature="deletes, conditions and returned content of points as rows",
        )
    check_point_key(change.key, write=False)
    table = seen.points
    values = concrete(check_key(seen.table, change.key))
    width = len(table.key)
    time_us, keys = values[1 + width], values[2 + width :]
    assert isinstance(time_us, int), "the key was checked against its types"
    fields: dict[str, Value] = {
        each.name: value for each, value in zip(table.field_keys, keys, strict=True)
    }
    for cell in change.cells:
        field, value = _field(cell)
        fields[field] = value
    columns = [str(value) for value in values[1 : 1 + width]]
    return Point(series_of_columns(table, columns), time_us, fields)


def _field(cell: CellChange) -> tuple[str, Value]:
    """Name and value of a field; the type behind the name must be that of the value."""
    if cell.operation is not CellOperation.PUT or cell.version is not None:
        raise Unsupported(
            TablestoreRule.FEATURE_UNSUPPORTED,
            feature="deletes, increments and versions of fields",
        )
    field, _, suffix = cell.name.rpartition(":")
    value = body_value(cell.body)
    if suffix != POINT_SUFFIXES[type(value)]:
        raise InvalidRequest(TimeseriesRule.FIELD_NAME, name=cell.name)
    return field, value
