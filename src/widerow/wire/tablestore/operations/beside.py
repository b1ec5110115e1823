"""Names that no table of Tablestore's has: timeseries tables are looked at then (timeseries §9).

Their modules are loaded when a timeseries table or a last-point index has the name.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.engine.streams.logged import LoggedTable
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest, NotFound, NotYet, Unsupported, WiderowError
from widerow.keys.layout import SPACE_TIMESERIES_CATALOG
from widerow.limits import NOT_YET_SECONDS_MAX
from widerow.model.tablestore.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.tablestore.requests import BatchGet, BatchWrite, GetRange, GetRow, TableGet
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.timeseries.rules import TimeseriesRule

if TYPE_CHECKING:
    from widerow.engine.streams.stream_reads import Streams
    from widerow.engine.timeseries.engine import TimeseriesEngine

__all__ = [
    "batch_get_beside",
    "batch_write_beside",
    "check_delivered",
    "describe_beside",
    "followed_beside",
    "following_beside",
    "found_stream",
    "get_range_beside",
    "get_row_beside",
    "is_beside",
    "is_of_points",
    "models_beside",
    "streams_beside",
    "write_row_beside",
]

R = TypeVar("R")

_MARK: Final = "#"  # in the name of a timeseries table's points, and of no table


def _check(engine: TablestoreEngine, instance: str, name: str, error: WiderowError) -> None:
    """Raise `error` where no timeseries table and no last-point index can have the name."""
    state = engine.core.catalog.seen()
    base = name.partition(_MARK)[0]
    found = state.by_id.get(state.taken.get(("tablestore", instance, base), 0))
    if found is None or (isinstance(found, Table) and found.name == base):
        raise error


def check_delivered(engine: TablestoreEngine, instance: str, name: str) -> None:
    """Raise `Unsupported` where the table of that name is a timeseries table."""
    if followed_beside(engine, instance, name) is not engine:
        action = "CreateDeliveryTask"
        raise Unsupported(TimeseriesRule.DELIVERY, table=name, action=action)


def _points(engine: TablestoreEngine) -> "TimeseriesEngine | None":
    """The timeseries tables of the store; None where it has none."""
    if not engine.core.catalog.holds(SPACE_TIMESERIES_CATALOG):
        return None
    from widerow.wire.tablestore.operations.timeseries.found import timeseries  # noqa: PLC0415  # imported with the first timeseries table

    return timeseries(engine)


def models_beside(engine: TablestoreEngine) -> "list[TablestoreEngine | TimeseriesEngine]":
    """The models whose tables have streams and tunnels, as far as the store has such tables."""
    points = _points(engine)
    return [engine] if points is None else [engine, points]


def followed_beside(
    engine: TablestoreEngine, instance: str, name: str
) -> "TablestoreEngine | TimeseriesEngine":
    """The model of the table of that name; Tablestore's where there is none."""
    points = _points(engine)
    return engine if points is None or points.tables.get(instance, name) is None else points


def following_beside(
    engine: TablestoreEngine, tunnel_id: str
) -> "TablestoreEngine | TimeseriesEngine":
    """The model that has a tunnel; Tablestore's where none has."""
    points = _points(engine)
    return engine if points is None or not points.tunnels.has(tunnel_id) else points


def is_of_points(table: LoggedTable) -> bool:
    """Whether a table with a stream is a timeseries table."""
    return not isinstance(table, Table)


def streams_beside(
    engine: TablestoreEngine, instance: str, name: str | None
) -> Sequence[LoggedTable]:
    """ListStream: tables of both models that have a stream, by name. Raises `NotFound`."""
    points = _points(engine)
    if points is None:
        return engine.streams.list(instance, name)
    if name is not None:
        try:
            return engine.streams.list(instance, name)
        except NotFound as error:
            _check(engine, instance, name, error)
            return points.streams.list(instance, name)
    found: list[LoggedTable] = []
    for model in (engine, points):
        found += model.streams.list(instance, None)
    return sorted(found, key=attrgetter("name"))


def found_stream(
    engine: TablestoreEngine, instance: str, stream_id: str
) -> "tuple[Streams[Any], LoggedTable]":
    """The streams of a model, and the table that the stream is of. Raises as `Streams.find`."""
    try:
        return engine.streams, engine.streams.find(instance, stream_id)
    except NotFound:
        points = _points(engine)
        if points is None:
            raise
        return points.streams, points.streams.find(instance, stream_id)


def describe_beside(
    engine: TablestoreEngine, instance: str, name: str, error: WiderowError
) -> Table:
    """DescribeTable, after `error`."""
    _check(engine, instance, name, error)
    from widerow.wire.tablestore.operations.timeseries import made_rows  # noqa: PLC0415  # imported with the first timeseries table

    return made_rows.describe_made_rows(engine, instance, name, error)


def get_row_beside(
    engine: TablestoreEngine,
    instance: str,
    request: GetRow,
    budget: Budget | None,
    error: WiderowError,
) -> RowRead:
    """GetRow, after `error`."""
    _check(engine, instance, request.table, error)
    from widerow.wire.tablestore.operations.timeseries import made_rows  # noqa: PLC0415  # imported with the first timeseries table

    return _once_built(engine, lambda: made_rows.get_row(engine, instance, request, budget, error))


def get_range_beside(
    engine: TablestoreEngine,
    instance: str,
    request: GetRange,
    budget: Budget | None,
    error: WiderowError,
) -> RangePage:
    """GetRange, after `error`."""
    _check(engine, instance, request.table, error)
    from widerow.wire.tablestore.operations.timeseries import made_rows  # noqa: PLC0415  # imported with the first timeseries table

    return _once_built(
        engine, lambda: made_rows.get_range(engine, instance, request, budget, error)
    )


def _once_built(engine: TablestoreEngine, read: Callable[[], R]) -> R:
    """What `read` reads. Raises `NotYet` while a last-point index of a shared store is built.

    Servers that do not know of the index may still put points, so its build begins a moment later.
    """
    try:
        return read()
    except Conflict as error:
        is_built = error.rule is not TimeseriesRule.LASTPOINT_BUILDING
        if is_built or not engine.core.store.capabilities.shared:
            raise
        raise NotYet(error, NOT_YET_SECONDS_MAX) from error


def write_row_beside(
    engine: TablestoreEngine, instance: str, change: RowChange, error: WiderowError
) -> Plan[RowWritten]:
    """PutRow, UpdateRow or DeleteRow, after `error`."""
    _check(engine, instance, change.table, error)
    from widerow.wire.tablestore.operations.timeseries import made_rows  # noqa: PLC0415  # imported with the first timeseries table

    return made_rows.write_made_row(engine, instance, change, error)


def batch_get_beside(
    engine: TablestoreEngine,
    instance: str,
    request: BatchGet,
    budget: Budget | None,
) -> list[list[RowOutcome]]:
    """BatchGetRow. What stands under names that no table can have is read here, the rest there."""
    there = [get for get in request.tables if _MARK not in get.table]
    answered = engine.rows.batch_get_row(instance, BatchGet(tuple(there)), budget) if there else []
    left = iter(answered)
    return [
        _rows_beside(engine, instance, get, _refusal(get.table))
        if _MARK in get.table
        else _after(engine, instance, get, next(left))
        for get in request.tables
    ]


def _refusal(name: str) -> WiderowError:
    return InvalidRequest(TablestoreRule.TABLE_NAME, name=name)


def _after(
    engine: TablestoreEngine, instance: str, get: TableGet, outcomes: list[RowOutcome]
) -> list[RowOutcome]:
    """The rows of a table, from a last-point index where there is no table."""
    error = outcomes[0].error if outcomes else None
    return _rows_beside(engine, instance, get, error) if isinstance(error, NotFound) else outcomes


def _rows_beside(
    engine: TablestoreEngine, instance: str, get: TableGet, error: WiderowError
) -> list[RowOutcome]:
    try:
        _check(engine, instance, get.table, error)
    except WiderowError:
        if _MARK in get.table:  # a name that no table may have is refused with the whole request
            raise
        return [RowOutcome(error=error)] * len(get.keys)
    from widerow.wire.tablestore.operations.timeseries import made_rows  # noqa: PLC0415  # imported with the first timeseries table

    return made_rows.get_rows(engine, instance, get, error)


def is_beside(names: Sequence[str]) -> bool:
    """Whether one of the names is that of points."""
    return any(_MARK in name for name in names)


def batch_write_beside(
    engine: TablestoreEngine, instance: str, request: BatchWrite
) -> Plan[list[list[RowOutcome]]]:
    """BatchWriteRow of the points of one table. Raises `InvalidRequest` for more tables."""
    error = _refusal(next(each.table for each in request.tables if _MARK in each.table))
    if len(request.tables) > 1 or request.atomic:
        raise error
    [asked] = request.tables
    _check(engine, instance, asked.table, error)
    from widerow.wire.tablestore.operations.timeseries import made_rows  # noqa: PLC0415  # imported with the first timeseries table

    plan = made_rows.put_made_rows(engine, instance, asked.table, asked.changes, error)
    return plan.answering(lambda outcomes: [outcomes])
