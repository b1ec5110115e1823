"""A valid request of every action, as a start for tests and measurements.

All requests are about one kind of table, which `create_table` creates, and about one row of it. On
a table with that row every request succeeds, and each write changes something. A transaction begins
on another key, which no other request writes; requests that end a transaction have the table's name
as an id, because the right id is known only to the server.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from tests.support.buffers import cell, key_buffer, row_buffer

from widerow.engine.streams.iterators import ShardIterator, encode_iterator
from widerow.engine.streams.log import LogPosition
from widerow.wire.tablestore import delivery_messages as d
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import search_messages as s
from widerow.wire.tablestore import sql_messages as q
from widerow.wire.tablestore import timeseries_messages as p
from widerow.wire.tablestore import tunnel_messages as t

__all__ = [
    "ANY",
    "BODIES",
    "DELIVERY_BODIES",
    "KEY",
    "SEARCH_BODIES",
    "SERIES_BODIES",
    "SQL_BODIES",
    "STREAM_BODIES",
    "TUNNEL_BODIES",
    "add_defined_column_request",
    "batch_get_request",
    "batch_write_request",
    "bulk_export_request",
    "bulk_import_request",
    "create_index_request",
    "create_table_request",
    "delete_row_request",
    "get_range_request",
    "get_row_request",
    "put_row_request",
    "start_transaction_request",
    "update_row_request",
    "update_table_request",
]

KEY: Final = (("k", "a"), ("n", 1))
"""The key of the row: a STRING and an INTEGER."""

ANY: Final = m.Condition(row_existence=0)
"""The condition that always holds."""

_STRING: Final = 2
_INTEGER: Final = 1
_END: Final = (("k", "z"), ("n", 1))


def create_table_request(table: str) -> m.CreateTableRequest:
    """A table whose rows do not expire, with one version of each column and one defined column."""
    keys = [
        m.PrimaryKeySchema(name="k", type=_STRING),
        m.PrimaryKeySchema(name="n", type=_INTEGER),
    ]
    units = m.CapacityUnit(read=0, write=0)
    defined = [m.DefinedColumnSchema(name="old", type=_INTEGER)]
    return m.CreateTableRequest(
        table_meta=m.TableMeta(table_name=table, primary_key=keys, defined_column=defined),
        reserved_throughput=m.ReservedThroughput(capacity_unit=units),
        table_options=m.TableOptions(time_to_live=-1, max_versions=1),
    )


def update_table_request(table: str) -> m.UpdateTableRequest:
    """UpdateTable to seven versions."""
    return m.UpdateTableRequest(table_name=table, table_options=m.TableOptions(max_versions=7))


def create_index_request(table: str) -> m.CreateIndexRequest:
    """A global index on a key column."""
    meta = m.IndexMeta(name="by_n", primary_key=["n"], index_update_mode=0, index_type=0)
    return m.CreateIndexRequest(main_table_name=table, index_meta=meta)


def add_defined_column_request(table: str) -> m.AddDefinedColumnRequest:
    """One more defined column."""
    columns = [m.DefinedColumnSchema(name="new", type=_INTEGER)]
    return m.AddDefinedColumnRequest(table_name=table, columns=columns)


def get_row_request(table: str) -> m.GetRowRequest:
    """All columns of the row, in their newest version."""
    return m.GetRowRequest(table_name=table, primary_key=key_buffer(KEY), max_versions=1)


def get_range_request(table: str) -> m.GetRangeRequest:
    """The row and the rows after it."""
    return m.GetRangeRequest(
        table_name=table,
        direction=0,
        max_versions=1,
        inclusive_start_primary_key=key_buffer(KEY),
        exclusive_end_primary_key=key_buffer(_END),
    )


def batch_get_request(table: str) -> m.BatchGetRowRequest:
    """The row, by BatchGetRow."""
    keys = m.TableInBatchGetRowRequest(
        table_name=table, primary_key=[key_buffer(KEY)], max_versions=1
    )
    return m.BatchGetRowRequest(tables=[keys])


def put_row_request(table: str, value: str = "changed") -> m.PutRowRequest:
    """PutRow with one column `c`."""
    row = row_buffer(KEY, [cell("c", value)])
    return m.PutRowRequest(table_name=table, row=row, condition=ANY)


def update_row_request(table: str) -> m.UpdateRowRequest:
    """UpdateRow that sets `c`."""
    row = row_buffer(KEY, [cell("c", "changed")])
    return m.UpdateRowRequest(table_name=table, row_change=row, condition=ANY)


def delete_row_request(table: str) -> m.DeleteRowRequest:
    """DeleteRow."""
    key = row_buffer(KEY, marker=True)
    return m.DeleteRowRequest(table_name=table, primary_key=key, condition=ANY)


def batch_write_request(table: str) -> m.BatchWriteRowRequest:
    """BatchWriteRow with a put of the row."""
    row = row_buffer(KEY, [cell("c", "changed")])
    rows = [m.RowInBatchWriteRowRequest(type=1, row_change=row, condition=ANY)]
    return m.BatchWriteRowRequest(
        tables=[m.TableInBatchWriteRowRequest(table_name=table, rows=rows)]
    )


def start_transaction_request(table: str) -> m.StartLocalTransactionRequest:
    """A transaction on a key that no other request is about."""
    return m.StartLocalTransactionRequest(table_name=table, key=key_buffer((("k", "begun"),)))


def bulk_import_request(table: str) -> m.BulkImportRequest:
    """BulkImport with a put of the row."""
    row = row_buffer(KEY, [cell("c", "changed")])
    return m.BulkImportRequest(
        table_name=table, rows=[m.RowInBulkImportRequest(type=1, row_change=row)]
    )


def bulk_export_request(table: str) -> m.BulkExportRequest:
    """BulkExport of the column `c` of the row and the rows after it, as a row matrix."""
    return m.BulkExportRequest(
        table_name=table,
        columns_to_get=["c"],
        inclusive_start_primary_key=key_buffer(KEY),
        exclusive_end_primary_key=key_buffer(_END),
    )


def _stream_of(table: str) -> str:
    """A valid stream id for a table."""
    return f"{table}_1468944000000000"


def _iterator_of(table: str) -> str:
    return encode_iterator(ShardIterator(_stream_of(table), 0, LogPosition(0, 0)))


BODIES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "CreateTable": lambda table: create_table_request(table).SerializeToString(),
        "ListTable": lambda _: b"",
        "DescribeTable": lambda table: m.DescribeTableRequest(table_name=table).SerializeToString(),
        "CreateIndex": lambda table: create_index_request(table).SerializeToString(),
        "DropIndex": lambda table: m.DropIndexRequest(
            main_table_name=table, index_name="by_n"
        ).SerializeToString(),
        "UpdateTable": lambda table: update_table_request(table).SerializeToString(),
        "DeleteTable": lambda table: m.DeleteTableRequest(table_name=table).SerializeToString(),
        "AddDefinedColumn": lambda table: add_defined_column_request(table).SerializeToString(),
        "DeleteDefinedColumn": lambda table: m.DeleteDefinedColumnRequest(
            table_name=table, columns=["old"]
        ).SerializeToString(),
        "ComputeSplitPointsBySize": lambda table: m.ComputeSplitPointsBySizeRequest(
            table_name=table, split_size=1
        ).SerializeToString(),
        "GetRow": lambda table: get_row_request(table).SerializeToString(),
        "BatchGetRow": lambda table: batch_get_request(table).SerializeToString(),
        "GetRange": lambda table: get_range_request(table).SerializeToString(),
        "PutRow": lambda table: put_row_request(table).SerializeToString(),
        "UpdateRow": lambda table: update_row_request(table).SerializeToString(),
        "DeleteRow": lambda table: delete_row_request(table).SerializeToString(),
        "BatchWriteRow": lambda table: batch_write_request(table).SerializeToString(),
        "StartLocalTransaction": lambda table: start_transaction_request(table).SerializeToString(),
        "CommitTransaction": lambda table: m.CommitTransactionRequest(
            transaction_id=table
        ).SerializeToString(),
        "AbortTransaction": lambda table: m.AbortTransactionRequest(
            transaction_id=table
        ).SerializeToString(),
        "BulkImport": lambda table: bulk_import_request(table).SerializeToString(),
        "BulkExport": lambda table: bulk_export_request(table).SerializeToString(),
    }
)
"""The body of a request of every action, by the action's name, about a table."""

STREAM_BODIES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "ListStream": lambda table: m.ListStreamRequest(table_name=table).SerializeToString(),
        "DescribeStream": lambda table: m.DescribeStreamRequest(
            stream_id=_stream_of(table)
        ).SerializeToString(),
        "GetShardIterator": lambda table: m.GetShardIteratorRequest(
            stream_id=_stream_of(table), shard_id="shard-0"
        ).SerializeToString(),
        "GetStreamRecord": lambda table: m.GetStreamRecordRequest(
            shard_iterator=_iterator_of(table)
        ).SerializeToString(),
    }
)
"""The body of each action of streams, for a table without a stream."""

_NOBODY: Final = "client"
_CHANNEL: Final = "BaseData_0000"


def _tunnel_bodies(tunnel: str) -> dict[str, bytes]:
    named = {"table_name": "", "tunnel_name": "", "tunnel_id": tunnel}
    who = {"tunnel_id": tunnel, "client_id": _NOBODY}
    channel = {**who, "channel_id": _CHANNEL}
    messages = {
        "delete": t.DeleteTunnelRequest(**named),
        "describe": t.DescribeTunnelRequest(**named),
        "connect": t.ConnectRequest(tunnel_id=tunnel),
        "heartbeat": t.HeartbeatRequest(tunnel_id=tunnel, client_id=_NOBODY),
        "shutdown": t.ShutdownRequest(**who),
        "getcheckpoint": t.GetCheckpointRequest(**channel),
        "readrecords": t.ReadRecordsRequest(**channel, token="finished"),  # no secret
        "checkpoint": t.CheckpointRequest(**channel, checkpoint="finished", sequence_number=1),
        "getrpo": t.GetRpoRequest(tunnel_id=tunnel),
        "getrpobyoffset": t.GetRpoRequest(tunnel_id=tunnel),
        "schedule": t.ScheduleRequest(tunnel_id=tunnel),
    }
    return {f"tunnel/{name}": each.SerializeToString() for name, each in messages.items()}


def _create_tunnel(table: str) -> bytes:
    tunnel = t.Tunnel(table_name=table, tunnel_name="tunnel", tunnel_type=1)
    return t.CreateTunnelRequest(tunnel=tunnel).SerializeToString()


TUNNEL_BODIES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "tunnel/create": _create_tunnel,
        "tunnel/list": lambda table: t.ListTunnelRequest(table_name=table).SerializeToString(),
        **{
            name: partial(lambda action, tunnel: _tunnel_bodies(tunnel)[action], name)
            for name in _tunnel_bodies("")
        },
    }
)
"""The body of each tunnel action: the first two name a table, others a tunnel."""


def _create_delivery(table: str) -> bytes:
    column = d.ParquetSchema(columnName="k", ossColumnName="k", type=2)
    config = d.OSSTaskConfig(ossPrefix="files", ossBucket="bucket", schema=[column])
    return d.CreateDeliveryTaskRequest(
        tableName=table, taskName="task", taskConfig=config, taskType=2
    ).SerializeToString()


DELIVERY_BODIES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "CreateDeliveryTask": _create_delivery,
        "DeleteDeliveryTask": lambda table: d.DeleteDeliveryTaskRequest(
            tableName=table, taskName="task"
        ).SerializeToString(),
        "DescribeDeliveryTask": lambda table: d.DescribeDeliveryTaskRequest(
            tableName=table, taskName="task"
        ).SerializeToString(),
        "ListDeliveryTask": lambda table: d.ListDeliveryTaskRequest(
            tableName=table
        ).SerializeToString(),
    }
)
"""The body of each action of delivery tasks, for a table."""

_INDEX: Final = "x"


def _create_search_index(table: str) -> bytes:
    fields = [
        s.FieldSchema(field_name="k", field_type=4),
        s.FieldSchema(field_name="l", field_type=1, is_array=True),
        s.FieldSchema(field_name="t", field_type=5, analyzer="split"),
    ]
    return s.CreateSearchIndexRequest(
        table_name=table, index_name=_INDEX, schema=s.IndexSchema(field_schemas=fields)
    ).SerializeToString()


def _search(table: str) -> bytes:
    words = s.MatchQuery(field_name="t", text="a b").SerializeToString()
    inside = s.BoolQuery(must_queries=[s.Query(type=1, query=words)]).SerializeToString()
    most = s.MaxAggregation(field_name="l").SerializeToString()
    groups = s.GroupByField(field_name="k").SerializeToString()
    asked = s.SearchQuery(
        query=s.Query(type=6, query=inside),
        sort=s.Sort(sorter=[s.Sorter(field_sort=s.FieldSort(field_name="l", order=1))]),
        aggs=s.Aggregations(aggs=[s.Aggregation(name="a", type=2, body=most)]),
        group_bys=s.GroupBys(group_bys=[s.GroupBy(name="g", type=1, body=groups)]),
    )
    return s.SearchRequest(
        table_name=table, index_name=_INDEX, search_query=asked.SerializeToString()
    ).SerializeToString()


SEARCH_BODIES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "CreateSearchIndex": _create_search_index,
        "ListSearchIndex": lambda table: s.ListSearchIndexRequest(
            table_name=table
        ).SerializeToString(),
        "DescribeSearchIndex": lambda table: s.DescribeSearchIndexRequest(
            table_name=table, index_name=_INDEX
        ).SerializeToString(),
        "UpdateSearchIndex": lambda table: s.UpdateSearchIndexRequest(
            table_name=table, index_name=_INDEX, time_to_live=-1
        ).SerializeToString(),
        "Search": _search,
        "ComputeSplits": lambda table: s.ComputeSplitsRequest(
            table_name=table,
            search_index_splits_options=s.SearchIndexSplitsOptions(index_name=_INDEX),
        ).SerializeToString(),
        "ParallelScan": lambda table: s.ParallelScanRequest(
            table_name=table,
            index_name=_INDEX,
            scan_query=s.ScanQuery(query=s.Query(type=11), limit=10),
        ).SerializeToString(),
        "DeleteSearchIndex": lambda table: s.DeleteSearchIndexRequest(
            table_name=table, index_name=_INDEX
        ).SerializeToString(),
    }
)
"""The body of each action of search indexes, for a table."""

SQL_BODIES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "SQLQuery": lambda table: q.SQLQueryRequest(
            query=f"DESCRIBE {table}", version=2
        ).SerializeToString()
    }
)
"""The body of SQLQuery, for a table."""

_SERIES_KEY: Final = p.TimeseriesKey(measurement="m", source="s")
_SERIES_STORE: Final = p.TimeseriesAnalyticalStore(store_name="store", time_to_live=-1)


def _put_points(table: str) -> bytes:
    row = p.TimeseriesRow(
        timeseries_key=_SERIES_KEY,
        time=1,
        fields=[p.TimeseriesField(field_name="f", value_int=1)],
    )
    rows = p.TimeseriesPBRows(rows=[row]).SerializeToString()
    return p.PutTimeseriesDataRequest(
        table_name=table, rows_data=p.TimeseriesRows(type=2, rows_data=rows)
    ).SerializeToString()


def _query_metas(table: str) -> bytes:
    of_tag = p.MetaQueryTagCondition(op=1, tag_name="n", value="v").SerializeToString()
    either = p.MetaQueryCompositeCondition(
        op=2, sub_conditions=[p.MetaQueryCondition(type=4, proto_data=of_tag)]
    ).SerializeToString()
    return p.QueryTimeseriesMetaRequest(
        table_name=table, condition=p.MetaQueryCondition(type=1, proto_data=either)
    ).SerializeToString()


SERIES_BODIES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "CreateTimeseriesTable": lambda table: p.CreateTimeseriesTableRequest(
            table_meta=p.TimeseriesTableMeta(table_name=table)
        ).SerializeToString(),
        "ListTimeseriesTable": lambda _: b"",
        "DescribeTimeseriesTable": lambda table: p.DescribeTimeseriesTableRequest(
            table_name=table
        ).SerializeToString(),
        "UpdateTimeseriesTable": lambda table: p.UpdateTimeseriesTableRequest(
            table_name=table, table_options=p.TimeseriesTableOptions(time_to_live=86400)
        ).SerializeToString(),
        "PutTimeseriesData": _put_points,
        "GetTimeseriesData": lambda table: p.GetTimeseriesDataRequest(
            table_name=table, time_series_key=_SERIES_KEY, begin_time=0, end_time=10
        ).SerializeToString(),
        "QueryTimeseriesMeta": _query_metas,
        "UpdateTimeseriesMeta": lambda table: p.UpdateTimeseriesMetaRequest(
            table_name=table,
            timeseries_meta=[p.TimeseriesMeta(time_series_key=_SERIES_KEY, attributes='["a=1"]')],
        ).SerializeToString(),
        "DeleteTimeseriesMeta": lambda table: p.DeleteTimeseriesMetaRequest(
            table_name=table, timeseries_key=[_SERIES_KEY]
        ).SerializeToString(),
        "SplitTimeseriesScanTask": lambda table: p.SplitTimeseriesScanTaskRequest(
            table_name=table, split_count_hint=2
        ).SerializeToString(),
        "ScanTimeseriesData": lambda table: p.ScanTimeseriesDataRequest(
            table_name=table
        ).SerializeToString(),
        "CreateTimeseriesAnalyticalStore": lambda table: p.CreateTimeseriesAnalyticalStoreRequest(
            table_name=table, analytical_store=_SERIES_STORE
        ).SerializeToString(),
        "DescribeTimeseriesAnalyticalStore": lambda table: (
            p.DescribeTimeseriesAnalyticalStoreRequest(
                table_name=table, store_name="store"
            ).SerializeToString()
        ),
        "UpdateTimeseriesAnalyticalStore": lambda table: p.UpdateTimeseriesAnalyticalStoreRequest(
            table_name=table, analytical_store=_SERIES_STORE
        ).SerializeToString(),
        "DeleteTimeseriesAnalyticalStore": lambda table: p.DeleteTimeseriesAnalyticalStoreRequest(
            table_name=table, store_name="store"
        ).SerializeToString(),
        "CreateTimeseriesLastpointIndex": lambda table: p.CreateTimeseriesLastpointIndexRequest(
            main_table_name=table, index_table_name="last"
        ).SerializeToString(),
        "DeleteTimeseriesLastpointIndex": lambda table: p.DeleteTimeseriesLastpointIndexRequest(
            main_table_name=table, index_table_name="last"
        ).SerializeToString(),
        "DeleteTimeseriesTable": lambda table: p.DeleteTimeseriesTableRequest(
            table_name=table
        ).SerializeToString(),
    }
)
"""The body of each action of timeseries tables, for a timeseries table."""
