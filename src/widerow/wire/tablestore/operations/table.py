"""The actions by their names: what drives dispatch, permissions, metrics and documents.

An action is the path of a request without its slash. A name that stands in no table is no action of
the protocol, and none of ours. What an action decodes, asks and encodes stands in the module of its
family; those of tunnels, delivery tasks and search indexes, with their messages and parts of the
engine, are loaded with the first request for one of them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.engine.between import Between
from widerow.engine.budget import Budget
from widerow.errors import Unsupported
from widerow.limits import LENGTHY_BODY_BYTES
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.dialect import WireOperation
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.answers import read_units, row_units
from widerow.wire.tablestore.operations.batches import BATCH_ACTIONS, batch_units
from widerow.wire.tablestore.operations.bulk import BULK_ACTIONS
from widerow.wire.tablestore.operations.own import OWN_ACTIONS
from widerow.wire.tablestore.operations.ranges import RANGE_ACTIONS, is_lengthy
from widerow.wire.tablestore.operations.rows import ROW_ACTIONS, is_large
from widerow.wire.tablestore.operations.streams import STREAM_ACTIONS
from widerow.wire.tablestore.operations.tables import TABLE_ACTIONS
from widerow.wire.tablestore.operations.transactions import TRANSACTION_ACTIONS, TRANSACTION_UNITS

__all__ = ["OPERATIONS", "OWN", "UNSUPPORTED", "operation"]

_READ: Final = Permission.READ
_WRITE: Final = Permission.WRITE
_MANAGE: Final = Permission.MANAGE


_LOADED: Final = {
    **TABLE_ACTIONS,
    **ROW_ACTIONS,
    **RANGE_ACTIONS,
    **BATCH_ACTIONS,
    **TRANSACTION_ACTIONS,
    **BULK_ACTIONS,
    **STREAM_ACTIONS,
    **OWN_ACTIONS,
}


def _tunnels() -> Mapping[str, Action]:
    from widerow.wire.tablestore.operations.tunnels import TUNNEL_ACTIONS  # noqa: PLC0415  # imported with the first request

    return TUNNEL_ACTIONS


def _delivery() -> Mapping[str, Action]:
    from widerow.wire.tablestore.operations.delivery import (  # noqa: PLC0415  # imported with the first request
        DELIVERY_ACTIONS,
    )

    return DELIVERY_ACTIONS


def _search() -> Mapping[str, Action]:
    from widerow.wire.tablestore.operations.search.actions import (  # noqa: PLC0415  # imported with the first request
        SEARCH_ACTIONS,
    )

    return SEARCH_ACTIONS


def _sql() -> Mapping[str, Action]:
    from widerow.wire.tablestore.operations.sql.actions import SQL_ACTIONS  # noqa: PLC0415  # imported with the first request

    return SQL_ACTIONS


def _timeseries() -> Mapping[str, Action]:
    from widerow.wire.tablestore.operations.timeseries.actions import (  # noqa: PLC0415  # imported with the first request
        TIMESERIES_ACTIONS,
    )

    return TIMESERIES_ACTIONS


def _point_units(answer: Any) -> tuple[int, int]:  # noqa: ANN401  # its module is loaded later
    from widerow.wire.tablestore.operations.timeseries.actions import point_units  # noqa: PLC0415  # imported with the first request

    return point_units(answer)


def _statement_units(answer: Any) -> tuple[int, int]:  # noqa: ANN401  # its module is loaded later
    from widerow.wire.tablestore.operations.sql.actions import statement_units  # noqa: PLC0415  # imported with the first request

    return statement_units(answer)


def _run_between(engine: Any, instance: str, asked: Any, between: Between) -> Any:  # noqa: ANN401  # its module is loaded later
    from widerow.wire.tablestore.operations.sql.actions import run_asked  # noqa: PLC0415  # imported with the first request

    return run_asked(engine, instance, asked, between)


def _run_short(engine: Any, instance: str, asked: Any, budget: Budget) -> Any:  # noqa: ANN401  # its module is loaded later
    from widerow.wire.tablestore.operations.sql.actions import run_asked_short  # noqa: PLC0415  # imported with the first request

    return run_asked_short(engine, instance, asked, budget)


def _statement_permission(body: bytes) -> Permission:
    from widerow.wire.tablestore.operations.sql.actions import statement_permission  # noqa: PLC0415  # imported with the first request

    return statement_permission(body)


def _served(
    name: str,
    permission: Permission,
    *,
    writes: bool = False,
    consumed: Callable[[Any], tuple[int, int]] | None = None,
    lengthy: Callable[[bytes], bool] | None = None,
    foreseen: bool = False,
    is_large: Callable[[Any], bool] | None = None,
) -> WireOperation:
    """An action whose module is loaded."""
    decode, call, encode, call_within = _LOADED[name]
    return WireOperation(
        name,
        permission,
        writes,
        decode,
        call,
        encode,
        consumed,
        lengthy,
        f"/{name}",
        call_within,
        foreseen,
        is_large,
    )


def _later(
    name: str,
    permission: Permission,
    family: Callable[[], Mapping[str, Action]],
    *,
    writes: bool = False,
    consumed: Callable[[Any], tuple[int, int]] | None = None,
    lengthy: Callable[[bytes], bool] | None = None,
    permission_of: Callable[[bytes], Permission] | None = None,
) -> WireOperation:
    """An action whose module is loaded with the first request."""

    def action() -> Action:
        return family()[name]

    return WireOperation(
        name,
        permission,
        writes,
        lambda body: action().decode(body),
        lambda *asked: action().call(*asked),
        lambda answer: action().encode(answer),
        consumed,
        lengthy,
        f"/{name}",
        permission_of=permission_of,
    )


def _always(_body: bytes) -> bool:
    return True


def _large(body: bytes) -> bool:
    """Whether decoding takes a millisecond or more."""
    return len(body) > LENGTHY_BODY_BYTES


def _transaction_units(_answer: object) -> tuple[int, int]:
    """Of the begin or the end of a local transaction."""
    return TRANSACTION_UNITS


_ALL: Final = (
    _served("CreateTable", _MANAGE, writes=True),
    _served("ListTable", _READ),
    _served("DescribeTable", _READ),
    _served("CreateIndex", _MANAGE, writes=True),
    _served("DropIndex", _MANAGE, writes=True),
    _served("UpdateTable", _MANAGE, writes=True),
    _served("DeleteTable", _MANAGE, writes=True),
    _served("AddDefinedColumn", _MANAGE, writes=True),
    _served("DeleteDefinedColumn", _MANAGE, writes=True),
    # A small table is read through.
    _served("ComputeSplitPointsBySize", _READ, consumed=read_units, lengthy=_always),
    _served("GetRow", _READ, consumed=read_units, foreseen=True, is_large=is_large),
    _served("BatchGetRow", _READ, consumed=batch_units),
    _served("GetRange", _READ, consumed=read_units, lengthy=is_lengthy, foreseen=True),
    _served("PutRow", _WRITE, writes=True, consumed=row_units, foreseen=True),
    _served("UpdateRow", _WRITE, writes=True, consumed=row_units, foreseen=True),
    _served("DeleteRow", _WRITE, writes=True, consumed=row_units, foreseen=True),
    _served(
        "BatchWriteRow", _WRITE, writes=True, consumed=batch_units, lengthy=_large, foreseen=True
    ),
    _served("StartLocalTransaction", _WRITE, writes=True, consumed=_transaction_units),
    _served("CommitTransaction", _WRITE, writes=True, consumed=_transaction_units),
    _served("AbortTransaction", _WRITE, writes=True, consumed=_transaction_units),
    _served("BulkImport", _WRITE, writes=True, lengthy=_large),
    _served("BulkExport", _READ),
    _served("ListStream", _READ),
    _served("DescribeStream", _READ),
    _served("GetShardIterator", _READ),
    _served("GetStreamRecord", _READ, consumed=read_units),
    # A table may be read for the bounds of its channels, and a page of records has a megabyte.
    _later("tunnel/create", _MANAGE, _tunnels, writes=True, lengthy=_always),
    _later("tunnel/delete", _MANAGE, _tunnels, writes=True),
    _later("tunnel/list", _READ, _tunnels),
    _later("tunnel/describe", _READ, _tunnels),
    _later("tunnel/connect", _READ, _tunnels, writes=True),
    _later("tunnel/heartbeat", _READ, _tunnels, writes=True),
    _later("tunnel/shutdown", _READ, _tunnels, writes=True),
    _later("tunnel/getcheckpoint", _READ, _tunnels),
    _later("tunnel/readrecords", _READ, _tunnels, lengthy=_always),
    _later("tunnel/checkpoint", _READ, _tunnels, writes=True),
    _later("tunnel/getrpo", _READ, _tunnels),
    _later("tunnel/getrpobyoffset", _READ, _tunnels),
    _later("tunnel/schedule", _MANAGE, _tunnels, writes=True),
    _later("CreateDeliveryTask", _MANAGE, _delivery, writes=True, lengthy=_always),
    _later("DeleteDeliveryTask", _MANAGE, _delivery, writes=True),
    _later("DescribeDeliveryTask", _READ, _delivery),
    _later("ListDeliveryTask", _READ, _delivery),
    # A small table is indexed before CreateSearchIndex answers, and whatever else looks at an index
    # brings it up to date first.
    _later("CreateSearchIndex", _MANAGE, _search, writes=True, lengthy=_always),
    _later("ListSearchIndex", _READ, _search),
    _later("DescribeSearchIndex", _READ, _search, lengthy=_always),
    _later("UpdateSearchIndex", _MANAGE, _search, writes=True, lengthy=_always),
    _later("DeleteSearchIndex", _MANAGE, _search, writes=True),
    _later("Search", _READ, _search, consumed=read_units, lengthy=_always),
    _later("ComputeSplits", _READ, _search, lengthy=_always),
    _later("ParallelScan", _READ, _search, consumed=read_units, lengthy=_always),
    _later(
        "SQLQuery",
        _READ,
        _sql,
        consumed=_statement_units,
        lengthy=_large,
        permission_of=_statement_permission,
    )._replace(call_within=_run_short, call_between=_run_between),
    _later("CreateTimeseriesTable", _MANAGE, _timeseries, writes=True),
    _later("ListTimeseriesTable", _READ, _timeseries),
    _later("DescribeTimeseriesTable", _READ, _timeseries),
    _later("UpdateTimeseriesTable", _MANAGE, _timeseries, writes=True),
    _later("DeleteTimeseriesTable", _MANAGE, _timeseries, writes=True),
    _later(
        "PutTimeseriesData", _WRITE, _timeseries, writes=True, consumed=_point_units, lengthy=_large
    ),
    # A page has up to 5000 points.
    _later("GetTimeseriesData", _READ, _timeseries, consumed=_point_units, lengthy=_always),
    _later("QueryTimeseriesMeta", _READ, _timeseries, lengthy=_always),
    _later("UpdateTimeseriesMeta", _WRITE, _timeseries, writes=True, lengthy=_large),
    _later("DeleteTimeseriesMeta", _WRITE, _timeseries, writes=True, lengthy=_large),
    _later("SplitTimeseriesScanTask", _READ, _timeseries),
    _later("ScanTimeseriesData", _READ, _timeseries, consumed=_point_units, lengthy=_always),
    _later("CreateTimeseriesAnalyticalStore", _MANAGE, _timeseries, writes=True),
    _later("UpdateTimeseriesAnalyticalStore", _MANAGE, _timeseries, writes=True),
    _later("DeleteTimeseriesAnalyticalStore", _MANAGE, _timeseries, writes=True),
    _later("DescribeTimeseriesAnalyticalStore", _READ, _timeseries),
    _later("CreateTimeseriesLastpointIndex", _MANAGE, _timeseries, writes=True, lengthy=_always),
    _later("DeleteTimeseriesLastpointIndex", _MANAGE, _timeseries, writes=True),
)

OPERATIONS: Final[Mapping[str, WireOperation]] = MappingProxyType(
    {entry.name: entry for entry in _ALL}
)
"""Every action that is served."""

OWN: Final[Mapping[str, WireOperation]] = MappingProxyType(
    {name: _served(name, _READ) for name in OWN_ACTIONS}
)
"""Actions beside the protocol, for our own commands."""

UNSUPPORTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        action: feature
        for feature, actions in {
            "loading and unloading of tables": "LoadTable UnloadTable",
            "changes of delivery tasks": "UpdateDeliveryTask",
            "global tables": (
                "CreateGlobalTable BindGlobalTable UnbindGlobalTable DescribeGlobalTable "
                "UpdateGlobalTable"
            ),
        }.items()
        for action in actions.split()
    }
)
"""Every other action of the protocol, and the feature it belongs to."""


def operation(name: str) -> WireOperation:
    """The action of that name.

    Raises `Unsupported`: FEATURE_UNSUPPORTED for the protocol's other actions, ACTION_UNKNOWN for
    any other name.
    """
    found = OPERATIONS.get(name) or OWN.get(name)
    if found is not None:
        return found
    feature = UNSUPPORTED.get(name)
    if feature is None:
        raise Unsupported(TablestoreRule.ACTION_UNKNOWN, action=name)
    raise Unsupported(TablestoreRule.ACTION_UNSUPPORTED, action=name, feature=feature)
