"""Actions of timeseries tables in bytes: what is refused, and what tokens and stores say."""

from itertools import combinations
from typing import Any

import pytest
from google.protobuf.message import Message
from tests.support.changes import create
from tests.support.changes import put as put_change
from tests.support.engines import open_tablestore
from tests.support.requests import SERIES_BODIES
from tests.support.statements import rows_of_statement, run_sql
from tests.unit.wire.tablestore.operations.asking import answer_of, refusal_of

from widerow.client.rows import decode_rows, encode_plain_key, encode_put
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.errors import Conflict, InvalidRequest, Unsupported
from widerow.model.tablestore.requests import StreamChange, UpdateTable
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaUpdateMode
from widerow.model.timeseries.series import SeriesKey
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.plain_values import PlainRecord, VersionedValue, decode_plain_record
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import delivery_messages, messages, tunnel_messages
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.timeseries.found import timeseries
from widerow.wire.tablestore.operations.timeseries.seen_tables import seen_table

KEY = m.TimeseriesKey(measurement="m", source="s")
INVALID = (400, "OTSParameterInvalid")
ABSENT = (404, "OTSObjectNotExist")


@pytest.fixture
def engine() -> TablestoreEngine:
    opened = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    answer_of(opened, "CreateTimeseriesTable", created("t"), bytes)
    return opened


def created(name: str, **more: object) -> m.CreateTimeseriesTableRequest:
    meta = m.TimeseriesTableMeta(table_name=name)
    return m.CreateTimeseriesTableRequest(table_meta=meta, **more)  # type: ignore[arg-type]  # fields as they are given


def put(rows: m.TimeseriesPBRows, **more: int) -> m.PutTimeseriesDataRequest:
    data = m.TimeseriesRows(type=2, rows_data=rows.SerializeToString())
    for name, value in more.items():
        setattr(data, name, value)
    return m.PutTimeseriesDataRequest(table_name="t", rows_data=data)


def points(count: int) -> m.TimeseriesPBRows:
    field = m.TimeseriesField(field_name="f", value_int=1)
    return m.TimeseriesPBRows(
        rows=[m.TimeseriesRow(timeseries_key=KEY, time=n, fields=[field]) for n in range(count)]
    )


def got(**more: object) -> m.GetTimeseriesDataRequest:
    return m.GetTimeseriesDataRequest(table_name="t", time_series_key=KEY, **more)  # type: ignore[arg-type]  # fields as they are given


def test_a_put_that_cannot_be_read_is_refused(engine: TablestoreEngine) -> None:
    """timeseries §2, §4"""
    for wrong in (
        put(points(1), type=1),
        put(points(1), type=7),
        put(points(1), flatbuffer_crc32c=5),
        put(points(0)),
        put(points(201)),
        put(m.TimeseriesPBRows(rows=[m.TimeseriesRow(timeseries_key=KEY, time=1)])),
        put(m.TimeseriesPBRows(rows=[m.TimeseriesRow(fields=[m.TimeseriesField(field_name="f")])])),
    ):
        assert refusal_of(engine, "PutTimeseriesData", wrong) == INVALID, wrong
    mode = put(points(1))
    mode.meta_update_mode = 2
    assert refusal_of(engine, "PutTimeseriesData", mode) == INVALID
    answer = m.GetTimeseriesDataResponse.FromString
    assert answer_of(engine, "GetTimeseriesData", got(), answer).rows_data == b""


def test_a_token_is_good_for_its_request_alone(engine: TablestoreEngine) -> None:
    """timeseries §5: garbage is refused"""
    answer_of(engine, "PutTimeseriesData", put(points(9)), bytes)
    read = m.GetTimeseriesDataResponse.FromString
    page = answer_of(engine, "GetTimeseriesData", got(limit=4), read)
    token = bytes(page.next_token)
    assert token
    last = answer_of(engine, "GetTimeseriesData", got(limit=5, token=token), read)
    assert not last.HasField("next_token")
    for wrong in (
        token[:-1],
        token + b"x",
        b"\x01",
        b"x" * 70_000,
        token[:1] + b"\x03" + token[2:],
    ):
        assert refusal_of(engine, "GetTimeseriesData", got(token=wrong)) == INVALID
    assert refusal_of(engine, "GetTimeseriesData", got(token=token, backward=True)) == INVALID
    scan = m.ScanTimeseriesDataRequest(table_name="t", token=token)
    assert refusal_of(engine, "ScanTimeseriesData", scan) == INVALID


def test_reads_that_contradict_themselves_are_refused(engine: TablestoreEngine) -> None:
    for wrong in (
        got(begin_time=5, end_time=5),
        got(specific_time=5, begin_time=1),
        got(fields_to_get=[m.TimeseriesFieldsToGet(name="f", type=9)]),
    ):
        assert refusal_of(engine, "GetTimeseriesData", wrong) == INVALID
    other = m.ScanTimeseriesDataRequest(table_name="t", data_serialize_type=0)
    assert refusal_of(engine, "ScanTimeseriesData", other) == INVALID
    split = m.ScanTimeseriesDataRequest(table_name="t", split_info=b"nonsense")
    assert refusal_of(engine, "ScanTimeseriesData", split) == INVALID


def condition(kind: int, message: m.MetaQueryCompositeCondition | bytes) -> m.MetaQueryCondition:
    data = message if isinstance(message, bytes) else message.SerializeToString()
    return m.MetaQueryCondition(type=kind, proto_data=data)


def test_conditions_on_metas_that_are_none_are_refused(engine: TablestoreEngine) -> None:
    """timeseries §6"""
    name = m.MetaQueryMeasurementCondition(op=1, value="m").SerializeToString()
    good = condition(2, name)
    deep = good
    for _ in range(40):
        deep = condition(1, m.MetaQueryCompositeCondition(op=3, sub_conditions=[deep]))
    wide = condition(1, m.MetaQueryCompositeCondition(op=1, sub_conditions=[good] * 1000))
    for wrong in (
        condition(1, m.MetaQueryCompositeCondition(op=1)),
        condition(1, m.MetaQueryCompositeCondition(op=3, sub_conditions=[good, good])),
        condition(1, m.MetaQueryCompositeCondition(op=9, sub_conditions=[good])),
        condition(2, m.MetaQueryMeasurementCondition(op=9, value="m").SerializeToString()),
        condition(5, m.MetaQueryUpdateTimeCondition(op=6, value=1).SerializeToString()),
        condition(8, name),
        condition(2, b"\xff"),
        deep,
        wide,
    ):
        asked = m.QueryTimeseriesMetaRequest(table_name="t", condition=wrong)
        assert refusal_of(engine, "QueryTimeseriesMeta", asked) == INVALID, wrong


def test_metas_are_refused_as_a_whole(engine: TablestoreEngine) -> None:
    """timeseries §6"""
    meta = m.TimeseriesMeta(time_series_key=KEY, attributes='["a=1"]')
    dated = m.TimeseriesMeta(time_series_key=KEY, update_time=5)
    broken = m.TimeseriesMeta(time_series_key=KEY, attributes="a=1")
    for wrong in ([], [meta] * 201, [dated], [broken]):
        asked = m.UpdateTimeseriesMetaRequest(table_name="t", timeseries_meta=wrong)
        assert refusal_of(engine, "UpdateTimeseriesMeta", asked) == INVALID
    many = m.DeleteTimeseriesMetaRequest(table_name="t", timeseries_key=[KEY] * 201)
    assert refusal_of(engine, "DeleteTimeseriesMeta", many) == INVALID


def test_every_action_names_a_table_that_is_there(engine: TablestoreEngine) -> None:
    for action, body in SERIES_BODIES.items():
        if action in ("CreateTimeseriesTable", "ListTimeseriesTable"):
            continue
        sent = getattr(m, f"{action}Request").FromString(body("nowhere"))
        assert refusal_of(engine, action, sent) == ABSENT, action


def test_analytical_stores_say_how_far_they_are(engine: TablestoreEngine) -> None:
    """timeseries §3, §11"""
    full, incremental = 1, 2
    store = m.TimeseriesAnalyticalStore(store_name="first", time_to_live=-1)
    asked = created("with", analytical_stores=[store], enable_analytical_store=False)
    answer_of(engine, "CreateTimeseriesTable", asked, bytes)
    answer_of(
        engine, "CreateTimeseriesTable", created("default", enable_analytical_store=True), bytes
    )
    later = m.CreateTimeseriesAnalyticalStoreRequest(table_name="t", analytical_store=store)
    answer_of(engine, "CreateTimeseriesAnalyticalStore", later, bytes)
    for table, name, phase in (
        ("with", "first", incremental),
        ("default", "default_analytical_store", incremental),
        ("t", "first", full),
    ):
        told = answer_of(
            engine,
            "DescribeTimeseriesAnalyticalStore",
            m.DescribeTimeseriesAnalyticalStoreRequest(table_name=table, store_name=name),
            m.DescribeTimeseriesAnalyticalStoreResponse.FromString,
        )
        assert told.analytical_store.time_to_live == -1
        assert (told.sync_stat.sync_phase, told.sync_stat.current_sync_timestamp) == (phase, 0)
    second = m.TimeseriesAnalyticalStore(store_name="second")
    again = m.CreateTimeseriesAnalyticalStoreRequest(table_name="t", analytical_store=second)
    assert refusal_of(engine, "CreateTimeseriesAnalyticalStore", again) == INVALID
    unknown = m.DescribeTimeseriesAnalyticalStoreRequest(table_name="t", store_name="second")
    assert refusal_of(engine, "DescribeTimeseriesAnalyticalStore", unknown) == ABSENT
    changed = m.UpdateTimeseriesAnalyticalStoreRequest(
        table_name="t",
        analytical_store=m.TimeseriesAnalyticalStore(store_name="first", sync_option=2),
    )
    assert refusal_of(engine, "UpdateTimeseriesAnalyticalStore", changed) == INVALID


def made_index(name: str) -> m.CreateTimeseriesLastpointIndexRequest:
    return m.CreateTimeseriesLastpointIndexRequest(
        main_table_name="t", index_table_name=name, include_base_data=False
    )


def records_of(engine: TablestoreEngine, table: str, seen_as: str = "") -> list[PlainRecord]:
    """All records of the only shard of a table's stream, as clients ask for them."""
    listed = answer_of(
        engine, "ListStream", messages.ListStreamRequest(), messages.ListStreamResponse.FromString
    )
    [stream] = [each for each in listed.streams if each.table_name == table]
    asked = messages.DescribeStreamRequest(stream_id=text(stream.stream_id))
    asked.support_timeseries_data_table = True
    told = answer_of(engine, "DescribeStream", asked, messages.DescribeStreamResponse.FromString)
    assert (told.table_name, told.expiration_time, told.stream_status) == (table, 168, 2)
    assert told.is_timeseries_data_table
    begin = messages.GetShardIteratorRequest(
        stream_id=text(stream.stream_id), shard_id=text(told.shards[0].shard_id)
    )
    iterator = answer_of(
        engine, "GetShardIterator", begin, messages.GetShardIteratorResponse.FromString
    ).shard_iterator
    page = answer_of(
        engine,
        "GetStreamRecord",
        messages.GetStreamRecordRequest(shard_iterator=text(iterator), table_name=seen_as),
        messages.GetStreamRecordResponse.FromString,
    )
    assert {each.action_type for each in page.stream_records} <= {2 if seen_as else 1}
    assert not page.may_more_record
    return [decode_plain_record(each.record) for each in page.stream_records]


def test_clients_read_the_points_that_were_put_as_changes(engine: TablestoreEngine) -> None:
    """timeseries §9: the Java SDK takes `_#h` and the types behind names away."""
    before = records_of(engine, "t")
    series = SeriesKey("cpu", "h", (("a", "1"),))
    tables = timeseries(engine)
    table = tables.find("i", "t")
    points = [Point(series, 1_000 * at, {"time": f"now {at}", "v": at}) for at in range(10)]
    engine.core.run(tables.put(table, points, MetaUpdateMode.NORMAL))
    found = records_of(engine, "t")[len(before) :]
    assert [dict(each.key)["_time"] for each in found] == [1_000 * at for at in range(10)]
    assert [name for name, _ in found[0].key] == [
        *("_#h", "_m_name", "_data_source", "_tags", "_time")
    ]
    cells = [each for each in found[0].cells if isinstance(each, VersionedValue)]
    assert [each.column for each in cells] == ["time:s", "v:l"]
    answer_of(engine, "CreateTimeseriesLastpointIndex", made_index("last"), bytes)
    updates = records_of(engine, "t", "last")[len(before) :]
    assert [len(each.key) for each in updates] == [4] * 10
    assert [each.column for each in updates[0].cells] == ["_time", "time", "v"]
    stream_id = tables.find("i", "t").stream.id
    begin = messages.GetShardIteratorRequest(stream_id=stream_id, shard_id="shard-0")
    found_iterator = messages.GetShardIteratorResponse.FromString
    iterator = answer_of(engine, "GetShardIterator", begin, found_iterator).shard_iterator
    other = messages.GetStreamRecordRequest(shard_iterator=text(iterator), table_name="other")
    assert refusal_of(engine, "GetStreamRecord", other) == ABSENT


def test_a_client_that_does_not_know_such_streams_is_told_so(engine: TablestoreEngine) -> None:
    """timeseries §9 has the text, which the Java SDK's tests compare."""
    listed = answer_of(
        engine,
        "ListStream",
        messages.ListStreamRequest(table_name="t"),
        messages.ListStreamResponse.FromString,
    )
    asked = messages.DescribeStreamRequest(stream_id=text(listed.streams[0].stream_id))
    with pytest.raises(InvalidRequest) as raised:
        answer_of(engine, "DescribeStream", asked, bytes)
    refusal = TABLESTORE_DIALECT.refuse(raised.value, "DescribeStream", "")
    assert (refusal.status, refusal.code) == (400, "OTSParameterInvalid")
    assert b"Table [t] is a timeseries table, not support DescribeStream" in refusal.body
    absent = messages.ListStreamRequest(table_name="absent")
    assert refusal_of(engine, "ListStream", absent) == ABSENT
    unknown = messages.DescribeStreamRequest(stream_id="t_0000000000000001")
    assert refusal_of(engine, "DescribeStream", unknown) == ABSENT


def test_a_tunnel_of_a_timeseries_table_hands_out_its_points(engine: TablestoreEngine) -> None:
    """change §C2: by the messages of any tunnel; one of an ordinary table stands beside it."""
    t = tunnel_messages
    engine.core.run(engine.create_table("i", create("rows", {"k": KeyType.STRING})))

    def made(table: str, *, whole: bool = False) -> t.CreateTunnelRequest:
        return t.CreateTunnelRequest(
            tunnel=t.Tunnel(
                table_name=table,
                tunnel_name="x",
                tunnel_type=3,
                need_all_time_series_columns=whole,
            )
        )

    unsupported = (400, "OTSUnsupportOperation")
    assert refusal_of(engine, "tunnel/create", made("rows", whole=True)) == unsupported
    answer_of(engine, "tunnel/create", made("rows"), bytes)
    answer_of(engine, "PutTimeseriesData", put(points(3)), bytes)
    read = t.CreateTunnelResponse.FromString
    tunnel_id = text(answer_of(engine, "tunnel/create", made("t", whole=True), read).tunnel_id)
    listed = answer_of(
        engine, "tunnel/list", t.ListTunnelRequest(), t.ListTunnelResponse.FromString
    )
    assert [each.table_name for each in listed.tunnels] == ["rows", "t"]
    of_table = t.ListTunnelRequest(table_name="t")
    listed = answer_of(engine, "tunnel/list", of_table, t.ListTunnelResponse.FromString)
    assert [each.tunnel_id for each in listed.tunnels] == [tunnel_id]
    connect = t.ConnectRequest(tunnel_id=tunnel_id, client_config=t.ClientConfig(client_tag="a"))
    client = text(
        answer_of(engine, "tunnel/connect", connect, t.ConnectResponse.FromString).client_id
    )
    who = {"tunnel_id": tunnel_id, "client_id": client}
    heartbeat = t.HeartbeatRequest(tunnel_id=tunnel_id, client_id=client)
    beat = answer_of(
        engine,
        "tunnel/heartbeat",
        heartbeat,
        t.HeartbeatResponse.FromString,
    )
    [channel] = [text(each.channel_id) for each in beat.channels]
    checkpoint = answer_of(
        engine,
        "tunnel/getcheckpoint",
        t.GetCheckpointRequest(**who, channel_id=channel),
        t.GetCheckpointResponse.FromString,
    )
    page = answer_of(
        engine,
        "tunnel/readrecords",
        t.ReadRecordsRequest(**who, channel_id=channel, token=text(checkpoint.checkpoint)),
        t.ReadRecordsResponse.FromString,
    )
    rows = [decode_plain_record(each.record) for each in page.records]
    assert [dict(each.key)["_time"] for each in rows] == [0, 1, 2]
    named = t.DescribeTunnelRequest(table_name="t", tunnel_name="x")
    told = answer_of(engine, "tunnel/describe", named, t.DescribeTunnelResponse.FromString)
    assert told.tunnel.stream_id == timeseries(engine).find("i", "t").stream.id
    asked = t.GetRpoRequest(tunnel_id=tunnel_id)
    answer_of(engine, "tunnel/getrpo", asked, bytes)
    answer_of(engine, "tunnel/shutdown", t.ShutdownRequest(**who), bytes)
    gone = t.DeleteTunnelRequest(table_name="t", tunnel_name="x", tunnel_id=tunnel_id)
    answer_of(engine, "tunnel/delete", gone, bytes)
    assert refusal_of(engine, "tunnel/connect", connect) == INVALID


def test_delivery_tasks_of_a_timeseries_table_are_refused(engine: TablestoreEngine) -> None:
    """docs/protocol/differences.md, "Timeseries tables"."""
    column = delivery_messages.ParquetSchema(columnName="v", type=1)
    config = delivery_messages.OSSTaskConfig(
        ossPrefix="p/", ossBucket="bucket", ossEndpoint="e", ossStsRole="r", schema=[column]
    )
    asked = delivery_messages.CreateDeliveryTaskRequest(
        tableName="t", taskName="task", taskConfig=config
    )
    with pytest.raises(Unsupported) as raised:
        answer_of(engine, "CreateDeliveryTask", asked, bytes)
    refusal = TABLESTORE_DIALECT.refuse(raised.value, "CreateDeliveryTask", "")
    assert b"Table [t] is a timeseries table, not support CreateDeliveryTask" in refusal.body


def test_a_store_that_sql_uses_goes_with_its_mappings_where_that_is_asked(
    engine: TablestoreEngine,
) -> None:
    """timeseries §11: refused without `drop_mapping_table`, else SHOW TABLES has them no longer."""
    for name in ("with_store", "other"):
        answer_of(
            engine,
            "CreateTimeseriesTable",
            created(name, analytical_stores=[m.TimeseriesAnalyticalStore(store_name="s")]),
            bytes,
        )
    key = "_m_name VARCHAR(1024), _data_source VARCHAR(1024), _tags VARCHAR(1024)"
    columns = f"({key}, _time BIGINT(20), `usage` DOUBLE)"
    for statement in (
        f"CREATE TABLE `with_store::a` {columns} ENGINE=AnalyticalStore",
        f"CREATE TABLE `with_store::b` {columns}",
        f"CREATE TABLE `other::c` {columns} ENGINE=AnalyticalStore",
    ):
        run_sql(engine, statement)
    drop = m.DeleteTimeseriesAnalyticalStoreRequest(table_name="with_store", store_name="s")
    action = "DeleteTimeseriesAnalyticalStore"
    assert refusal_of(engine, action, drop) == INVALID
    drop.drop_mapping_table = False
    assert refusal_of(engine, action, drop) == INVALID
    assert ("with_store::a",) in rows_of_statement(engine, "SHOW TABLES")
    drop.drop_mapping_table = True
    answer_of(engine, action, drop, bytes)
    left = rows_of_statement(engine, "SHOW TABLES")
    assert ("with_store::a",) not in left
    assert ("with_store::b",) in left
    assert ("other::c",) in left
    assert refusal_of(engine, action, drop) == ABSENT


WIDE = {
    "pk1": KeyType.STRING,
    "pk2": KeyType.INTEGER,
    "pk3": KeyType.STRING,
    "pk4": KeyType.INTEGER,
}


def new_view(*, base: bool, name: str = "last", **more: object) -> Message:
    fields: dict[str, object] = {
        "main_table_name": "wide",
        "index_table_name": name,
        "include_base_data": base,
        "create_on_wide_column_table": True,
        "index_primary_key_names": ["pk1", "pk2", "pk3"],
    }
    return m.CreateTimeseriesLastpointIndexRequest(**fields | more)  # type: ignore[arg-type]  # fields by name


def write_wide(engine: TablestoreEngine, number: int, group: int, *, with_columns: bool) -> None:
    key: dict[str, Any] = {"pk1": "pk1", "pk2": 1000, "pk3": f"pk3_{group}", "pk4": number}
    columns: dict[str, Any] = {"col1": "x", "col2:i": 100 + number, "col3:s": "y"}
    change = put_change("wide", key, columns if with_columns else {})
    engine.core.run(engine.rows.write_row("i", change))


def view_rows(
    engine: TablestoreEngine, *, reverse: bool = False
) -> list[tuple[Any, dict[str, Any]]]:
    seen = seen_table(engine, "i", "last")
    assert seen is not None
    low, high = (KeyMarker.INF_MIN,) * 3, (KeyMarker.INF_MAX,) * 3
    first, last = (high, low) if reverse else (low, high)
    found = seen.rows(first, last, reverse=reverse)
    return [(row.key, {name: value for name, value, _ in row.cells}) for row in found]


def described(engine: TablestoreEngine, name: str) -> messages.DescribeTableResponse:
    asked = messages.DescribeTableRequest(table_name=name)
    return answer_of(engine, "DescribeTable", asked, messages.DescribeTableResponse.FromString)


def test_a_last_point_index_of_an_ordinary_table(engine: TablestoreEngine) -> None:
    """The rows of WideColumnLastpointIndexTest of the Java SDK (timeseries §10)."""
    engine.core.run(engine.create_table("i", create("wide", WIDE)))
    answer_of(engine, "CreateTimeseriesLastpointIndex", new_view(base=True), bytes)
    for number in range(100):
        write_wide(engine, number, number % 10, with_columns=number % 10 != 0)
    wanted = [
        (
            ("pk1", 1000, f"pk3_{each}"),
            {"col1": "x", "col2:i": 190 + each, "col3:s": "y", "pk4": 90 + each},
        )
        for each in range(1, 10)
    ]
    assert view_rows(engine) == wanted
    assert view_rows(engine, reverse=True) == wanted[::-1]
    seen = seen_table(engine, "i", "last")
    assert seen is not None
    for begin, end in combinations(range(9), 2):
        low, high = wanted[begin][0], wanted[end][0]
        forward = [row.key for row in seen.rows(low, high, reverse=False)]
        assert forward == [key for key, _ in wanted[begin:end]]
        backward = [row.key for row in seen.rows(high, low, reverse=True)]
        assert backward == [key for key, _ in wanted[begin + 1 : end + 1][::-1]]
    write_wide(engine, 3, 3, with_columns=True)  # older than the newest of its group
    write_wide(engine, 200, 4, with_columns=False)  # nothing to show
    assert view_rows(engine) == wanted
    asked = messages.GetRowRequest(
        table_name="last",
        primary_key=encode_plain_key([("pk1", "pk1"), ("pk2", 1000), ("pk3", "pk3_7")]),
        max_versions=1,
    )
    answer = answer_of(engine, "GetRow", asked, messages.GetRowResponse.FromString)
    (row,) = decode_rows(answer.row)
    assert {cell.column: cell.value for cell in row.cells} == wanted[6][1]
    written = messages.PutRowRequest(
        table_name="last",
        row=encode_put(row.key, row.cells),
        condition=messages.Condition(row_existence=0),
    )
    assert refusal_of(engine, "PutRow", written) == INVALID
    assert refusal_of(engine, "ListStream", messages.ListStreamRequest(table_name="last")) == ABSENT


def test_a_last_point_index_is_described_and_dropped(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("i", create("wide", WIDE)))
    answer_of(engine, "CreateTimeseriesLastpointIndex", new_view(base=True), bytes)
    found = described(engine, "last")
    assert [each.name for each in found.table_meta.primary_key] == ["pk1", "pk2", "pk3"]
    assert found.table_options.max_versions == 1
    assert not found.stream_details.enable_stream
    change = UpdateTable("wide", stream=StreamChange(enable=True, expiration_hours=24))
    engine.core.run(engine.update_table("i", change))
    assert described(engine, "last").stream_details.enable_stream
    table = engine.describe_table("i", "wide")
    assert decode_table(encode_table(table)) == table
    drop = m.DeleteTimeseriesLastpointIndexRequest(main_table_name="wide", index_table_name="last")
    answer_of(engine, "DeleteTimeseriesLastpointIndex", drop, bytes)
    assert refusal_of(engine, "DeleteTimeseriesLastpointIndex", drop) == ABSENT
    assert seen_table(engine, "i", "last") is None


def test_a_last_point_index_without_what_was_there(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("i", create("wide", WIDE)))
    write_wide(engine, 7, 1, with_columns=True)
    clock = engine.core.clock
    assert isinstance(clock, FakeClock)
    clock.advance(1)
    answer_of(engine, "CreateTimeseriesLastpointIndex", new_view(base=False), bytes)
    assert view_rows(engine) == []
    write_wide(engine, 3, 1, with_columns=True)
    write_wide(engine, 9, 2, with_columns=True)
    newest = [(key[2], cells["pk4"]) for key, cells in view_rows(engine)]
    assert newest == [("pk3_1", 3), ("pk3_2", 9)]


def test_last_point_indexes_of_ordinary_tables_that_are_refused(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("i", create("wide", WIDE)))
    action = "CreateTimeseriesLastpointIndex"
    for names in (["pk1", "pk3"], [], [*WIDE], ["pk2"], ["pk1", "pk2"], ["pk1", "pk2", "x"]):
        asked = new_view(base=True, index_primary_key_names=names)
        assert refusal_of(engine, action, asked) == INVALID, names
    answer_of(engine, action, new_view(base=True, index_primary_key_names=["pk1"]), bytes)
    plain = new_view(base=True, create_on_wide_column_table=False)
    assert refusal_of(engine, action, plain) == INVALID
    assert refusal_of(engine, action, new_view(base=True, name="no name")) == INVALID
    for name in ("last", "wide", "t"):
        taken = refusal_of(engine, action, new_view(base=True, name=name))
        assert taken == (409, "OTSObjectAlreadyExist"), name
    for table in ("absent", "t"):
        asked = new_view(base=True, name="v", main_table_name=table)
        assert refusal_of(engine, action, asked) == ABSENT
    with pytest.raises(Conflict):
        engine.core.run(engine.create_table("i", create("last", WIDE)))
    answer_of(engine, "DeleteTable", messages.DeleteTableRequest(table_name="wide"), bytes)
    engine.core.run(engine.create_table("i", create("last", WIDE)))
