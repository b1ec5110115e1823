"""The actions by their names: what drives dispatch, permissions, metrics and documents.

An action is the path of a request without its slash. A name that stands in no table is no action of
the protocol, and none of ours.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from widerow.auth.keyring import Permission
from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Rule, Unsupported
from widerow.wire.dialect import WireOperation
from widerow.wire.tablestore.operations import (
    abort_transaction,
    add_defined_column,
    batch_get_row,
    batch_write_row,
    bulk_export,
    bulk_import,
    commit_transaction,
    compute_split_points_by_size,
    create_index,
    create_table,
    delete_defined_column,
    delete_row,
    delete_table,
    describe_stream,
    describe_table,
    drop_index,
    get_range,
    get_row,
    get_shard_iterator,
    get_stream_record,
    list_stream,
    list_table,
    list_timeseries_table,
    put_row,
    start_local_transaction,
    update_row,
    update_table,
    widerow_indexes,
    widerow_nodes,
    widerow_partitions,
)
from widerow.wire.tablestore.operations.units import (
    batch_units,
    read_units,
    row_units,
    transaction_units,
)

__all__ = ["OPERATIONS", "OWN", "UNSUPPORTED", "operation"]

_READ: Final = Permission.READ
_WRITE: Final = Permission.WRITE
_MANAGE: Final = Permission.MANAGE


class _Action(Protocol):
    """What each file of this package defines."""

    @property
    def decode(self) -> Callable[[bytes], Any]: ...

    @property
    def call(self) -> Callable[[TablestoreEngine, str, Any], Any]: ...

    @property
    def encode(self) -> Callable[[Any], bytes]: ...


def _served(
    name: str,
    permission: Permission,
    action: _Action,
    *,
    writes: bool = False,
    consumed: Callable[[Any], tuple[int, int]] | None = None,
    lengthy: Callable[[bytes], bool] | None = None,
    call_within: Callable[[TablestoreEngine, str, Any, Budget], Any] | None = None,
) -> WireOperation:
    decode, call, encode = action.decode, action.call, action.encode
    return WireOperation(
        name,
        permission,
        writes,
        decode,
        call,
        encode,
        consumed,
        lengthy,
        path=f"/{name}",
        call_within=call_within,
    )


def _foreseen(operation: WireOperation) -> WireOperation:
    """The operation, whose reads are known from the request."""
    return operation._replace(foreseen=True)


def _later(
    name: str,
    permission: Permission,
    actions: Callable[[], Mapping[str, Any]],
    *,
    writes: bool = False,
    consumed: Callable[[Any], tuple[int, int]] | None = None,
    lengthy: Callable[[bytes], bool] | None = None,
) -> WireOperation:
    """An action whose messages and part of the engine are loaded with the first request."""

    def action() -> Any:  # noqa: ANN401  # one of the modules
        return actions()[name]

    return WireOperation(
        name,
        permission,
        writes,
        lambda body: action().decode(body),
        lambda engine, instance, request: action().call(engine, instance, request),
        lambda result: action().encode(result),
        consumed,
        lengthy,
        path=f"/{name}",
    )


def _tunnel_actions() -> Mapping[str, Any]:
    from widerow.wire.tablestore.operations.tunnels import actions  # noqa: PLC0415  # see above

    return actions.TUNNEL_ACTIONS


def _delivery_actions() -> Mapping[str, Any]:
    from widerow.wire.tablestore.operations.delivery import actions  # noqa: PLC0415  # see above

    return actions.DELIVERY_ACTIONS


def _search_actions() -> Mapping[str, Any]:
    from widerow.wire.tablestore.operations.search import actions  # noqa: PLC0415  # see above

    return actions.SEARCH_ACTIONS


def _tunnel(
    name: str,
    permission: Permission,
    *,
    writes: bool = False,
    lengthy: Callable[[bytes], bool] | None = None,
) -> WireOperation:
    return _later(f"tunnel/{name}", permission, _tunnel_actions, writes=writes, lengthy=lengthy)


def _always(body: bytes) -> bool:
    del body  # whatever it asks for
    return True


_ALL: Final = (
    _served("CreateTable", _MANAGE, create_table, writes=True),
    _served("ListTable", _READ, list_table),
    _served("DescribeTable", _READ, describe_table),
    _served("CreateIndex", _MANAGE, create_index, writes=True),
    _served("DropIndex", _MANAGE, drop_index, writes=True),
    _served("UpdateTable", _MANAGE, update_table, writes=True),
    _served("DeleteTable", _MANAGE, delete_table, writes=True),
    _served("AddDefinedColumn", _MANAGE, add_defined_column, writes=True),
    _served("DeleteDefinedColumn", _MANAGE, delete_defined_column, writes=True),
    _served(
        "ComputeSplitPointsBySize",
        _READ,
        compute_split_points_by_size,
        consumed=read_units,
        lengthy=compute_split_points_by_size.is_lengthy,
    ),
    _foreseen(
        _served("GetRow", _READ, get_row, consumed=read_units, call_within=get_row.call_within)
    )._replace(is_large=get_row.is_large),
    _served(
        "BatchGetRow",
        _READ,
        batch_get_row,
        consumed=batch_units,
        call_within=batch_get_row.call_within,
    ),
    _foreseen(
        _served(
            "GetRange",
            _READ,
            get_range,
            consumed=read_units,
            lengthy=get_range.is_lengthy,
            call_within=get_range.call_within,
        )
    ),
    _foreseen(_served("PutRow", _WRITE, put_row, writes=True, consumed=row_units)),
    _foreseen(_served("UpdateRow", _WRITE, update_row, writes=True, consumed=row_units)),
    _foreseen(_served("DeleteRow", _WRITE, delete_row, writes=True, consumed=row_units)),
    _foreseen(
        _served(
            "BatchWriteRow",
            _WRITE,
            batch_write_row,
            writes=True,
            consumed=batch_units,
            lengthy=batch_write_row.is_lengthy,
        )
    ),
    _served(
        "StartLocalTransaction",
        _WRITE,
        start_local_transaction,
        writes=True,
        consumed=transaction_units,
    ),
    _served(
        "CommitTransaction", _WRITE, commit_transaction, writes=True, consumed=transaction_units
    ),
    _served("AbortTransaction", _WRITE, abort_transaction, writes=True, consumed=transaction_units),
    _served("BulkImport", _WRITE, bulk_import, writes=True, lengthy=bulk_import.is_lengthy),
    _served("BulkExport", _READ, bulk_export, call_within=bulk_export.call_within),
    _served("ListStream", _READ, list_stream),
    _served("DescribeStream", _READ, describe_stream),
    _served("GetShardIterator", _READ, get_shard_iterator),
    _served(
        "GetStreamRecord",
        _READ,
        get_stream_record,
        consumed=get_stream_record.consumed,
        call_within=get_stream_record.call_within,
    ),
    _served("ListTimeseriesTable", _READ, list_timeseries_table),
    _tunnel("create", _MANAGE, writes=True, lengthy=_always),  # a table may be read for its bounds
    _tunnel("delete", _MANAGE, writes=True),
    _tunnel("list", _READ),
    _tunnel("describe", _READ),
    _tunnel("connect", _READ, writes=True),
    _tunnel("heartbeat", _READ, writes=True),
    _tunnel("shutdown", _READ, writes=True),
    _tunnel("getcheckpoint", _READ),
    _tunnel("readrecords", _READ, lengthy=_always),  # a page of 1 MB
    _tunnel("checkpoint", _READ, writes=True),
    _tunnel("getrpo", _READ),
    _tunnel("getrpobyoffset", _READ),
    _tunnel("schedule", _MANAGE, writes=True),
    _later(  # a table may be read for the bounds of its channels
        "CreateDeliveryTask", _MANAGE, _delivery_actions, writes=True, lengthy=_always
    ),
    _later("DeleteDeliveryTask", _MANAGE, _delivery_actions, writes=True),
    _later("DescribeDeliveryTask", _READ, _delivery_actions),
    _later("ListDeliveryTask", _READ, _delivery_actions),
    # A small table is indexed before CreateSearchIndex answers, and whatever else looks at an index
    # brings it up to date first.
    _later("CreateSearchIndex", _MANAGE, _search_actions, writes=True, lengthy=_always),
    _later("ListSearchIndex", _READ, _search_actions),
    _later("DescribeSearchIndex", _READ, _search_actions, lengthy=_always),
    _later("UpdateSearchIndex", _MANAGE, _search_actions, writes=True, lengthy=_always),
    _later("DeleteSearchIndex", _MANAGE, _search_actions, writes=True),
    _later("Search", _READ, _search_actions, consumed=read_units, lengthy=_always),
    _later("ComputeSplits", _READ, _search_actions, lengthy=_always),
    _later("ParallelScan", _READ, _search_actions, consumed=read_units, lengthy=_always),
)

OPERATIONS: Final[Mapping[str, WireOperation]] = MappingProxyType(
    {entry.name: entry for entry in _ALL}
)
"""Every action that is served."""

OWN: Final[Mapping[str, WireOperation]] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            _served("WiderowPartitions", _READ, widerow_partitions),
            _served("WiderowIndexes", _READ, widerow_indexes),
            _served("WiderowNodes", _READ, widerow_nodes),
        )
    }
)
"""Actions beside the protocol, for our own commands."""

UNSUPPORTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        action: feature
        for feature, actions in {
            "loading and unloading of tables": "LoadTable UnloadTable",
            "SQL": "SQLQuery",
            "timeseries": (
                "CreateTimeseriesTable DeleteTimeseriesTable "
                "DescribeTimeseriesTable UpdateTimeseriesTable PutTimeseriesData "
                "GetTimeseriesData QueryTimeseriesMeta UpdateTimeseriesMeta DeleteTimeseriesMeta "
                "CreateTimeseriesAnalyticalStore DeleteTimeseriesAnalyticalStore "
                "DescribeTimeseriesAnalyticalStore UpdateTimeseriesAnalyticalStore "
                "CreateTimeseriesLastpointIndex DeleteTimeseriesLastpointIndex "
                "SplitTimeseriesScanTask ScanTimeseriesData"
            ),
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
        raise Unsupported(Rule.ACTION_UNKNOWN, action=name)
    raise Unsupported(Rule.ACTION_UNSUPPORTED, action=name, feature=feature)
