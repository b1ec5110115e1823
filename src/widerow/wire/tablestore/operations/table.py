"""The actions by their names: what drives dispatch, permissions, metrics and documents.

An action is the path of a request without its slash. A name that stands in no table is no action of
the protocol, and none of ours.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol

from widerow.engine.engine import Engine
from widerow.errors import Rule, Unsupported
from widerow.wire.tablestore.operations import (
    add_defined_column,
    batch_get_row,
    batch_write_row,
    compute_split_points_by_size,
    create_table,
    delete_defined_column,
    delete_row,
    delete_table,
    describe_table,
    get_range,
    get_row,
    list_search_index,
    list_table,
    list_timeseries_table,
    put_row,
    update_row,
    update_table,
    widerow_partitions,
)
from widerow.wire.tablestore.operations.units import batch_units, read_units, row_units

__all__ = ["OPERATIONS", "OWN", "UNSUPPORTED", "Operation", "Permission", "operation"]

Permission = Literal["read", "write", "manage"]


class Operation(NamedTuple):
    """One action. `writes`: `call` answers a `Plan` that has to be committed.

    What `decode` returns is what `call` takes, and what `call` (or its plan) returns is what
    `encode` takes; the types differ from action to action. `consumed` tells the read and write
    units of the same result; None for actions that consume none. `lengthy` tells by its body
    whether a request takes a millisecond or more, so that it should not hold up others.
    """

    name: str
    permission: Permission
    writes: bool
    decode: Callable[[bytes], Any]
    call: Callable[[Engine, str, Any], Any]
    encode: Callable[[Any], bytes]
    consumed: Callable[[Any], tuple[int, int]] | None = None
    lengthy: Callable[[bytes], bool] | None = None


class _Action(Protocol):
    """What each file of this package defines."""

    @property
    def decode(self) -> Callable[[bytes], Any]: ...

    @property
    def call(self) -> Callable[[Engine, str, Any], Any]: ...

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
) -> Operation:
    return Operation(
        name, permission, writes, action.decode, action.call, action.encode, consumed, lengthy
    )


_ALL: Final = (
    _served("CreateTable", "manage", create_table, writes=True),
    _served("ListTable", "read", list_table),
    _served("DescribeTable", "read", describe_table),
    _served("UpdateTable", "manage", update_table, writes=True),
    _served("DeleteTable", "manage", delete_table, writes=True),
    _served("AddDefinedColumn", "manage", add_defined_column, writes=True),
    _served("DeleteDefinedColumn", "manage", delete_defined_column, writes=True),
    _served(
        "ComputeSplitPointsBySize",
        "read",
        compute_split_points_by_size,
        consumed=read_units,
        lengthy=compute_split_points_by_size.is_lengthy,
    ),
    _served("GetRow", "read", get_row, consumed=read_units),
    _served("BatchGetRow", "read", batch_get_row, consumed=batch_units),
    _served("GetRange", "read", get_range, consumed=read_units, lengthy=get_range.is_lengthy),
    _served("PutRow", "write", put_row, writes=True, consumed=row_units),
    _served("UpdateRow", "write", update_row, writes=True, consumed=row_units),
    _served("DeleteRow", "write", delete_row, writes=True, consumed=row_units),
    _served(
        "BatchWriteRow",
        "write",
        batch_write_row,
        writes=True,
        consumed=batch_units,
        lengthy=batch_write_row.is_lengthy,
    ),
    _served("ListSearchIndex", "read", list_search_index),
    _served("ListTimeseriesTable", "read", list_timeseries_table),
)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every action that is served."""

OWN: Final[Mapping[str, Operation]] = MappingProxyType(
    {entry.name: entry for entry in (_served("WiderowPartitions", "read", widerow_partitions),)}
)
"""Actions beside the protocol, for our own commands."""

UNSUPPORTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        action: feature
        for feature, actions in {
            "loading and unloading of tables": "LoadTable UnloadTable",
            "secondary indexes": "CreateIndex DropIndex",
            "local transactions": "StartLocalTransaction CommitTransaction AbortTransaction",
            "bulk import and export": "BulkImport BulkExport",
            "streams": "ListStream DescribeStream GetShardIterator GetStreamRecord",
            "SQL": "SQLQuery",
            "search indexes": (
                "CreateSearchIndex UpdateSearchIndex DescribeSearchIndex "
                "DeleteSearchIndex Search ComputeSplits ParallelScan"
            ),
            "timeseries": (
                "CreateTimeseriesTable DeleteTimeseriesTable "
                "DescribeTimeseriesTable UpdateTimeseriesTable PutTimeseriesData "
                "GetTimeseriesData QueryTimeseriesMeta UpdateTimeseriesMeta DeleteTimeseriesMeta "
                "CreateTimeseriesAnalyticalStore DeleteTimeseriesAnalyticalStore "
                "DescribeTimeseriesAnalyticalStore UpdateTimeseriesAnalyticalStore "
                "CreateTimeseriesLastpointIndex DeleteTimeseriesLastpointIndex "
                "SplitTimeseriesScanTask ScanTimeseriesData"
            ),
            "delivery tasks": (
                "CreateDeliveryTask DeleteDeliveryTask UpdateDeliveryTask DescribeDeliveryTask "
                "ListDeliveryTask"
            ),
            "global tables": (
                "CreateGlobalTable BindGlobalTable UnbindGlobalTable DescribeGlobalTable "
                "UpdateGlobalTable"
            ),
            "tunnels": (
                "tunnel/create tunnel/delete tunnel/list tunnel/describe tunnel/connect "
                "tunnel/heartbeat tunnel/shutdown tunnel/getcheckpoint tunnel/readrecords "
                "tunnel/checkpoint tunnel/getrpo tunnel/getrpobyoffset tunnel/schedule"
            ),
        }.items()
        for action in actions.split()
    }
)
"""Every other action of the protocol, and the feature it belongs to."""


def operation(name: str) -> Operation:
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
