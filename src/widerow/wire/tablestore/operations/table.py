"""The actions by their names: what drives dispatch, permissions, metrics and documents.

An action is the path of a request without its slash. A name that stands in neither table is no
action of the protocol.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from widerow.engine.engine import Engine
from widerow.errors import Rule, Unsupported
from widerow.wire.tablestore.operations import (
    add_defined_column,
    batch_get_row,
    batch_write_row,
    create_table,
    delete_defined_column,
    delete_row,
    delete_table,
    describe_table,
    get_range,
    get_row,
    list_table,
    put_row,
    update_row,
    update_table,
)
from widerow.wire.tablestore.operations.units import batch_units, read_units, row_units

__all__ = ["OPERATIONS", "UNSUPPORTED", "Operation", "Permission", "operation"]

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


_ALL: Final = (
    Operation(
        "CreateTable",
        "manage",
        writes=True,
        decode=create_table.decode,
        call=create_table.call,
        encode=create_table.encode,
    ),
    Operation(
        "ListTable",
        "read",
        writes=False,
        decode=list_table.decode,
        call=list_table.call,
        encode=list_table.encode,
    ),
    Operation(
        "DescribeTable",
        "read",
        writes=False,
        decode=describe_table.decode,
        call=describe_table.call,
        encode=describe_table.encode,
    ),
    Operation(
        "UpdateTable",
        "manage",
        writes=True,
        decode=update_table.decode,
        call=update_table.call,
        encode=update_table.encode,
    ),
    Operation(
        "DeleteTable",
        "manage",
        writes=True,
        decode=delete_table.decode,
        call=delete_table.call,
        encode=delete_table.encode,
    ),
    Operation(
        "AddDefinedColumn",
        "manage",
        writes=True,
        decode=add_defined_column.decode,
        call=add_defined_column.call,
        encode=add_defined_column.encode,
    ),
    Operation(
        "DeleteDefinedColumn",
        "manage",
        writes=True,
        decode=delete_defined_column.decode,
        call=delete_defined_column.call,
        encode=delete_defined_column.encode,
    ),
    Operation(
        "GetRow",
        "read",
        writes=False,
        decode=get_row.decode,
        call=get_row.call,
        encode=get_row.encode,
        consumed=read_units,
    ),
    Operation(
        "BatchGetRow",
        "read",
        writes=False,
        decode=batch_get_row.decode,
        call=batch_get_row.call,
        encode=batch_get_row.encode,
        consumed=batch_units,
    ),
    Operation(
        "GetRange",
        "read",
        writes=False,
        decode=get_range.decode,
        call=get_range.call,
        encode=get_range.encode,
        consumed=read_units,
        lengthy=get_range.is_lengthy,
    ),
    Operation(
        "PutRow",
        "write",
        writes=True,
        decode=put_row.decode,
        call=put_row.call,
        encode=put_row.encode,
        consumed=row_units,
    ),
    Operation(
        "UpdateRow",
        "write",
        writes=True,
        decode=update_row.decode,
        call=update_row.call,
        encode=update_row.encode,
        consumed=row_units,
    ),
    Operation(
        "DeleteRow",
        "write",
        writes=True,
        decode=delete_row.decode,
        call=delete_row.call,
        encode=delete_row.encode,
        consumed=row_units,
    ),
    Operation(
        "BatchWriteRow",
        "write",
        writes=True,
        decode=batch_write_row.decode,
        call=batch_write_row.call,
        encode=batch_write_row.encode,
        consumed=batch_units,
        lengthy=batch_write_row.is_lengthy,
    ),
)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every action that is served."""

UNSUPPORTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        action: feature
        for feature, actions in {
            "loading and unloading of tables": "LoadTable UnloadTable",
            "secondary indexes": "CreateIndex DropIndex",
            "local transactions": "StartLocalTransaction CommitTransaction AbortTransaction",
            "split points": "ComputeSplitPointsBySize",
            "bulk import and export": "BulkImport BulkExport",
            "streams": "ListStream DescribeStream GetShardIterator GetStreamRecord",
            "SQL": "SQLQuery",
            "search indexes": (
                "CreateSearchIndex UpdateSearchIndex ListSearchIndex DescribeSearchIndex "
                "DeleteSearchIndex Search ComputeSplits ParallelScan"
            ),
            "timeseries": (
                "CreateTimeseriesTable ListTimeseriesTable DeleteTimeseriesTable "
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
    found = OPERATIONS.get(name)
    if found is not None:
        return found
    feature = UNSUPPORTED.get(name)
    if feature is None:
        raise Unsupported(Rule.ACTION_UNKNOWN, action=name)
    raise Unsupported(Rule.ACTION_UNSUPPORTED, action=name, feature=feature)
