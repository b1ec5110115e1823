"""Whole sessions through a proxy between two servers that call everything by other names.

Tunnels, streams, pages of searches, scans in parts, composite groups and transactions: what the
upstream gave a client is put in place of what the other server gave, so that both are asked the
same. Where the other server has something else, that is found, in its class and in words.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest
import tablestore as ts
from tests.support.http import Sender, Wire
from tests.unit.proxy.conftest import RunningProxy
from tests.unit.proxy.sessions import TABLE, make_table, put
from tests.unit.proxy.test_diff import Servers, comparing, kinds

from widerow.proxy.comparing import DifferenceClass
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import tunnel_messages as t

SENDER: Final = Sender(instance="test")
PAGE: Final = 4
DAYS: Final = ("mon", "tue", "wed")
ROWS: Final = 12
OPEN: Final = 1
BASE_AND_STREAM: Final = 3

Sessions = dict[str, Callable[[RunningProxy], None]]


@pytest.fixture
def two(servers: Servers) -> tuple[WiderowServer, WiderowServer]:
    """Both with the table and its rows; the other has a past, so its numbers are others."""
    upstream = servers(settings={"local_transactions_default": True})
    against = servers(settings={"local_transactions_default": True})
    past = against.client()
    for name in ("first", "second"):
        make_table(past, name)
        past.delete_table(name)
    against.clock.advance(7)
    for server in (upstream, against):
        begin(server.client())
    return upstream, against


def begin(client: Any) -> None:  # noqa: ANN401  # the SDK has no types
    make_table(client)
    fields = [
        ts.FieldSchema("size", ts.FieldType.LONG),
        ts.FieldSchema("price", ts.FieldType.DOUBLE),
        ts.FieldSchema("tag", ts.FieldType.KEYWORD),
    ]
    client.create_search_index(TABLE, "x", ts.SearchIndexMeta(fields))
    with_stream = ts.TableOptions()
    client.update_table(TABLE, with_stream, None)
    for number in range(ROWS):
        put(
            client,
            DAYS[number % 3],
            number,
            size=number,
            price=0.1 * number,
            tag=f"tag {number % 5}",
        )


def ask(proxy: RunningProxy, action: str, sent: Any, kind: Any) -> Any:  # noqa: ANN401  # messages
    with Wire(proxy.endpoint) as wire:
        answer = wire.ask(SENDER.request(action, sent.SerializeToString()))
    assert answer.status == 200, (action, answer.error)
    return kind.FromString(answer.body)


# --- what clients do -------------------------------------------------------------------------


def consume(proxy: RunningProxy) -> None:
    """Rows, then changes, by a client that sets its checkpoints and comes again."""
    named = t.Tunnel(table_name=TABLE, tunnel_name="all", tunnel_type=BASE_AND_STREAM)
    made = ask(proxy, "tunnel/create", t.CreateTunnelRequest(tunnel=named), t.CreateTunnelResponse)
    tunnel = made.tunnel_id
    taken = 0
    for number in range(2):
        asked = t.ConnectRequest(tunnel_id=tunnel)
        client = ask(proxy, "tunnel/connect", asked, t.ConnectResponse).client_id
        who = {"tunnel_id": tunnel, "client_id": client}
        channels: dict[str, Any] = {}
        for _ in range(4):
            beat = t.HeartbeatRequest(**who, channels=list(channels.values()))
            told = ask(proxy, "tunnel/heartbeat", beat, t.HeartbeatResponse)
            channels = {each.channel_id: each for each in told.channels}
            for channel in channels.values():
                if channel.status == OPEN:
                    taken += take(proxy, {**who, "channel_id": channel.channel_id}, channel)
            put(proxy.client(), "thu", 100 + number, size=1, price=0.5, tag="late")
        ask(proxy, "tunnel/shutdown", t.ShutdownRequest(**who), t.ShutdownResponse)
    assert taken >= ROWS + 2
    ask(proxy, "tunnel/list", t.ListTunnelRequest(table_name=TABLE), t.ListTunnelResponse)
    by_id = {"table_name": "", "tunnel_name": "", "tunnel_id": tunnel}
    ask(proxy, "tunnel/describe", t.DescribeTunnelRequest(**by_id), t.DescribeTunnelResponse)
    ask(proxy, "tunnel/delete", t.DeleteTunnelRequest(**by_id), t.DeleteTunnelResponse)


def take(proxy: RunningProxy, call: dict[str, str], channel: Any) -> int:  # noqa: ANN401  # a message
    """Read a channel until nothing is left for now; how many records."""
    at = ask(proxy, "tunnel/getcheckpoint", t.GetCheckpointRequest(**call), t.GetCheckpointResponse)
    token, number, records = at.checkpoint, at.sequence_number, 0
    for _ in range(3):
        asked = t.ReadRecordsRequest(**call, token=token)
        page = ask(proxy, "tunnel/readrecords", asked, t.ReadRecordsResponse)
        token, number, records = page.next_token, number + 1, records + len(page.records)
        mark = t.CheckpointRequest(**call, checkpoint=token, sequence_number=number)
        ask(proxy, "tunnel/checkpoint", mark, t.CheckpointResponse)
        if token == "finished":
            channel.status, channel.version = 4, channel.version + 1
            break
    return records


def follow(proxy: RunningProxy) -> None:
    """A stream by its shards and iterators, in pages."""
    spec = m.StreamSpecification(enable_stream=True, expiration_time=24)
    asked = m.UpdateTableRequest(table_name=TABLE, stream_spec=spec)
    ask(proxy, "UpdateTable", asked, m.UpdateTableResponse)
    for number in range(5):
        put(proxy.client(), "fri", number, size=number)
    listed = ask(proxy, "ListStream", m.ListStreamRequest(table_name=TABLE), m.ListStreamResponse)
    stream = listed.streams[0].stream_id
    shards = ask(
        proxy, "DescribeStream", m.DescribeStreamRequest(stream_id=stream), m.DescribeStreamResponse
    ).shards
    found = 0
    for shard in shards:
        where = m.GetShardIteratorRequest(stream_id=stream, shard_id=shard.shard_id)
        told = ask(proxy, "GetShardIterator", where, m.GetShardIteratorResponse)
        iterator = told.shard_iterator
        for _ in range(4):
            page = ask(
                proxy,
                "GetStreamRecord",
                m.GetStreamRecordRequest(shard_iterator=iterator, limit=2),
                m.GetStreamRecordResponse,
            )
            found, iterator = found + len(page.stream_records), page.next_shard_iterator
    assert found == 5


def look(proxy: RunningProxy) -> None:
    """A search in pages, a scan in parts, sums, and composite groups in pages."""
    client = proxy.client()
    columns = ts.ColumnsToGet(return_type=ts.ColumnReturnType.ALL)
    token, rows = None, 0
    while True:
        by_size = None if token else ts.Sort([ts.FieldSort("size")])
        query = ts.SearchQuery(
            ts.MatchAllQuery(), sort=by_size, limit=PAGE, next_token=token, get_total_count=True
        )
        page = client.search(TABLE, "x", query, columns)
        rows, token = rows + len(page.rows), page.next_token
        if not token:
            break
    assert rows == ROWS
    splits = client.compute_splits(TABLE, "x")
    token, rows = None, 0
    while True:
        scan = ts.ScanQuery(ts.MatchAllQuery(), 5, token, 0, splits.splits_size, alive_time=30)
        page = client.parallel_scan(TABLE, "x", scan, splits.session_id, ts.ColumnsToGet())
        rows, token = rows + len(page.rows), page.next_token
        if not token:
            break
    assert rows == ROWS
    reckon(proxy)
    token, groups = None, 0
    while True:
        by_tag = ts.GroupByComposite(
            sources=[ts.GroupByField("tag", name="tag")], name="pairs", size=2, next_token=token
        )
        query = ts.SearchQuery(ts.MatchAllQuery(), limit=0, group_bys=[by_tag])
        found = client.search(TABLE, "x", query, ts.ColumnsToGet()).group_by_results[0]
        groups, token = groups + len(found.items), found.next_token
        if not token:
            break
    assert groups == 5


def reckon(proxy: RunningProxy) -> None:
    """Sums and groups of all rows."""
    aggregations = [ts.Sum("price", name="sum"), ts.Avg("size", name="mean")]
    aggregations.append(ts.Percentiles("size", [50.0], name="middle"))
    inner = [ts.TopRows(1, ts.Sort([ts.FieldSort("size")]), name="first")]
    group_by = ts.GroupByField("tag", 10, [ts.GroupKeySort(ts.SortOrder.ASC)], inner, name="tags")
    query = ts.SearchQuery(ts.MatchAllQuery(), limit=0, aggs=aggregations, group_bys=[group_by])
    proxy.client().search(TABLE, "x", query, ts.ColumnsToGet())


def count_tags(proxy: RunningProxy) -> None:
    group_by = ts.GroupByField("tag", 10, [ts.GroupKeySort(ts.SortOrder.ASC)], name="tags")
    query = ts.SearchQuery(ts.MatchAllQuery(), limit=0, group_bys=[group_by])
    proxy.client().search(TABLE, "x", query, ts.ColumnsToGet())


def transact(proxy: RunningProxy) -> None:
    """One transaction that is committed, and one that is given up."""
    client = proxy.client()
    ignore = ts.Condition(ts.RowExistenceExpectation.IGNORE)
    for number, end in enumerate((client.commit_transaction, client.abort_transaction)):
        name = client.start_local_transaction(TABLE, [("day", "sat")])
        row = ts.Row([("day", "sat"), ("id", number)], [("size", number)])
        client.put_row(TABLE, row, ignore, transaction_id=name)
        client.get_row(TABLE, row.primary_key, max_version=1, transaction_id=name)
        end(name)
        client.get_row(TABLE, row.primary_key, max_version=1)


SESSIONS: Final[Sessions] = {
    "a tunnel": consume,
    "a stream": follow,
    "searches": look,
    "transactions": transact,
}


@pytest.mark.parametrize("name", SESSIONS)
def test_both_servers_are_asked_the_same(
    two: tuple[WiderowServer, WiderowServer], name: str
) -> None:
    upstream, against = two
    with comparing(upstream, against) as proxy:
        SESSIONS[name](proxy)
    assert [each.told for each in proxy.report.examples] == []
    assert kinds(proxy.report) == set()
    assert not proxy.report.skipped
    assert proxy.report.compared.total() > 5


def test_all_sessions_beside_each_other(two: tuple[WiderowServer, WiderowServer]) -> None:
    """Tokens, channels and shards of two tunnels and streams do not get into each other's way."""
    with comparing(*two) as proxy:
        for session in (follow, consume, consume, transact, consume):
            session(proxy)
    assert [each.told for each in proxy.report.examples] == []


# --- what is planted is found ----------------------------------------------------------------


def change_a_row(server: WiderowServer) -> None:
    put(server.client(), "mon", 0, size=70, price=7.5, tag="other")


def write_one_more(server: WiderowServer) -> None:
    put(server.client(), "mon", 90, size=90, price=9.0, tag="tag 0")


def write_a_large_one(server: WiderowServer) -> None:
    put(server.client(), "zzz", 91, other="x" * 9000)


def sort_otherwise(server: WiderowServer) -> None:
    client = server.client()
    client.delete_search_index(TABLE, "x")
    order = ts.Sort([ts.FieldSort("size", ts.SortOrder.DESC)])
    client.create_search_index(
        TABLE,
        "x",
        ts.SearchIndexMeta([ts.FieldSchema("size", ts.FieldType.LONG)], index_sort=order),
    )


def forget_sooner(server: WiderowServer) -> None:
    client = server.client()
    client.delete_search_index(TABLE, "x")
    client.update_table(TABLE, ts.TableOptions(time_to_live=90_000), None)


def busy(code: str, **more: Any) -> Callable[[WiderowServer], None]:  # noqa: ANN401  # of a fault
    def plant(server: WiderowServer) -> None:
        server.faults.add(code, **more)

    return plant


def find_all(proxy: RunningProxy) -> None:
    query = ts.SearchQuery(ts.MatchAllQuery(), limit=100, get_total_count=True)
    columns = ts.ColumnsToGet(return_type=ts.ColumnReturnType.ALL)
    proxy.client().search(TABLE, "x", query, columns)


def find_some(proxy: RunningProxy) -> None:
    query = ts.SearchQuery(ts.MatchAllQuery(), limit=ROWS)
    proxy.client().search(TABLE, "x", query, ts.ColumnsToGet())


def filter_all_out(proxy: RunningProxy) -> None:
    low, high = [("day", "zz"), ("id", ts.INF_MIN)], [("day", ts.INF_MAX), ("id", ts.INF_MAX)]
    none = ts.SingleColumnCondition("size", -1, ts.ComparatorType.EQUAL, pass_if_missing=False)
    proxy.client().get_range(
        TABLE, ts.Direction.FORWARD, low, high, [], None, column_filter=none, max_version=1
    )


def write_a_batch(proxy: RunningProxy) -> None:
    ignore = ts.Condition(ts.RowExistenceExpectation.IGNORE)
    rows = [
        ts.PutRowItem(ts.Row([("day", "sun"), ("id", number)], [("size", 1)]), ignore)
        for number in range(3)
    ]
    request = ts.BatchWriteRowRequest()
    request.add(ts.TableInBatchWriteRowItem(TABLE, rows))
    proxy.client().batch_write_row(request)


def read_one(proxy: RunningProxy) -> None:
    with pytest.raises(ts.OTSServiceError):
        proxy.client().get_row(TABLE, [("day", "mon"), ("id", 0)], max_version=1)


def read_one_granted(proxy: RunningProxy) -> None:
    proxy.client().get_row(TABLE, [("day", "mon"), ("id", 0)], max_version=1)


def describe(proxy: RunningProxy) -> None:
    proxy.client().describe_table(TABLE)


def take_rows(proxy: RunningProxy) -> None:
    """The first pages of a tunnel."""
    named = t.Tunnel(table_name=TABLE, tunnel_name="rows", tunnel_type=1)
    asked = t.CreateTunnelRequest(tunnel=named)
    tunnel = ask(proxy, "tunnel/create", asked, t.CreateTunnelResponse).tunnel_id
    client = ask(
        proxy, "tunnel/connect", t.ConnectRequest(tunnel_id=tunnel), t.ConnectResponse
    ).client_id
    who = {"tunnel_id": tunnel, "client_id": client}
    told = ask(proxy, "tunnel/heartbeat", t.HeartbeatRequest(**who), t.HeartbeatResponse)
    (channel,) = told.channels
    take(proxy, {**who, "channel_id": channel.channel_id}, channel)


Plant = Callable[[WiderowServer], None]
BUSY: Final = "OTSServerBusy"
PLANTED: Final[dict[str, tuple[Plant | None, Plant, Callable[[RunningProxy], None], str, str]]] = {
    "refused": (
        *(None, busy(BUSY), read_one_granted, "status"),
        "The upstream granted the request; the other refused the request with 503 OTSServerBusy.",
    ),
    "a row of a batch": (
        *(None, busy("OTSRowOperationConflict", rows=[1]), write_a_batch, "status"),
        "tables[0].rows[1] succeeded at the upstream and failed at the other.",
    ),
    "another code": (
        *(busy(BUSY), busy("OTSPartitionUnavailable"), read_one, "error code"),
        'both refused: the upstream with "OTSServerBusy", the other with "OTSPartitionUnava',
    ),
    "another text": (
        *(busy(BUSY), busy(BUSY, message="Come back later."), read_one, "message"),
        'the other "Come back later.".',
    ),
    "another value in a search": (
        *(None, change_a_row, find_all, "row content"),
        'rows[0].price is ["price", 0.0, ',
    ),
    "another sum": (
        *(None, change_a_row, reckon, "row content"),
        "aggs.sum.Sum.value is 6.6000000000000005 at the upstream and 14.1 at the other.",
    ),
    "another group": (
        *(None, write_one_more, count_tags, "row content"),
        "group_bys.tags.Field.group_by_field_result_items[0].row_count is 3 at the upstream and 4",
    ),
    "another row in a tunnel": (
        *(None, change_a_row, take_rows, "row content"),
        "records[0].record",
    ),
    "another order of hits": (
        *(None, sort_otherwise, find_some, "order"),
        "rows has the same 12 elements at both, in another order.",
    ),
    "another page": (
        *(None, write_a_large_one, find_all, "paging"),
        "The page ends after 12 rows at the upstream and after 13 at the other.",
    ),
    "other units": (
        *(None, write_a_large_one, filter_all_out, "capacity"),
        "Capacity units (consumed.capacity_unit.read): 1 at the upstream, 3 at the other.",
    ),
    "other options": (
        *(None, forget_sooner, describe, "other field"),
        "table_options.time_to_live is -1 at the upstream and 90000 at the other.",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_is_found_in_its_class_and_told(
    two: tuple[WiderowServer, WiderowServer], name: str
) -> None:
    upstream, against = two
    at_upstream, at_other, session, kind, words = PLANTED[name]
    if at_upstream is not None:
        at_upstream(upstream)
    at_other(against)
    with comparing(upstream, against) as proxy:
        session(proxy)
    report = proxy.report
    told = [each.told for each in report.examples if each.kind.value == kind]
    assert any(words in each for each in told), [(x.kind.value, x.told) for x in report.examples]
    assert words in report.markdown()
    assert any(words in each["told"] for each in report.document()["examples"])


def test_every_class_is_planted() -> None:
    assert {each[3] for each in PLANTED.values()} == {each.value for each in DifferenceClass}
