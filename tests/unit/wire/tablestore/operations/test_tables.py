"""The table actions: requests read, tables described (semantics §2; protos §0)."""

from collections.abc import Callable

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import AnyRule, InvalidRequest, Unsupported
from widerow.keys.encode import encode_key_value
from widerow.model.streams import Stream
from widerow.model.tablestore.requests import (
    CreateTable,
    OptionsChange,
    StreamChange,
    ThroughputChange,
    UpdateTable,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import (
    DefinedColumn,
    Encryption,
    KeyColumn,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.values import ColumnType, KeyMarker, KeyType, KeyValue
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.operations.table import OPERATIONS
from widerow.wire.tablestore.plainbuffer import decode_primary_key

add_defined_column = OPERATIONS["AddDefinedColumn"]
create_table = OPERATIONS["CreateTable"]
delete_defined_column = OPERATIONS["DeleteDefinedColumn"]
delete_table = OPERATIONS["DeleteTable"]
describe_table = OPERATIONS["DescribeTable"]
list_table = OPERATIONS["ListTable"]
update_table = OPERATIONS["UpdateTable"]

VECTOR = bytes.fromhex(
    "0a150a015412060a02706b100212080a0269641001180112060a04080010001a1108ffffffffffffffffff01"
    "10012880a305"
)
UNITS = messages.ReservedThroughput(capacity_unit=messages.CapacityUnit(read=0, write=0))
KEY = messages.PrimaryKeySchema(name="pk", type=1)
INDEX = messages.IndexMeta(name="i", index_update_mode=0, index_type=0)


def encoded(make: Callable[..., Message], **fields: object) -> bytes:
    return make(**fields).SerializePartialToString()


def create_body(meta: dict[str, object] | None = None, **fields: object) -> bytes:
    make: Callable[..., Message] = messages.TableMeta
    table_meta = make(**{"table_name": "T", "primary_key": [KEY], **(meta or {})})
    sent: dict[str, object] = {"table_meta": table_meta, "reserved_throughput": UNITS, **fields}
    return encoded(messages.CreateTableRequest, **sent)


def table(
    *,
    key_type: KeyType = KeyType.INTEGER,
    splits: tuple[bytes, ...] = (),
    stream: Stream | None = None,
    encryption: Encryption | None = None,
    last_decrease: int | None = None,
) -> Table:
    return Table(
        instance="i",
        name="T",
        id=7,
        key_columns=(KeyColumn("pk", key_type), KeyColumn("id", KeyType.INTEGER, True)),  # noqa: FBT003  # the schema's own order
        defined_columns=(
            DefinedColumn("a", ColumnType.DOUBLE),
            DefinedColumn("b", ColumnType.BINARY),
        ),
        options=TableOptions(-1, 2, 86400, allow_update=True, update_full_row=False),
        throughput=ThroughputState(Throughput(0, 5), 1_700_000_000, last_decrease),
        created_us=1_700_000_000_000_001,
        splits=splits,
        stream=stream,
        encryption=encryption,
    )


def described(described_table: Table) -> messages.DescribeTableResponse:
    return messages.DescribeTableResponse.FromString(describe_table.encode(described_table))


# --- CreateTable (semantics §2.1) ------------------------------------------------------------


def test_create_table_of_the_vector() -> None:
    # wire §2.4, complete request bodies
    assert create_table.decode(VECTOR) == CreateTable(
        name="T",
        key_columns=(
            KeyColumn("pk", KeyType.STRING),
            KeyColumn("id", KeyType.INTEGER, auto_increment=True),
        ),
        defined_columns=(),
        throughput=ThroughputChange(0, 0),
        options=OptionsChange(time_to_live=-1, max_versions=1, max_version_offset=86400),
    )


def test_create_table_of_everything() -> None:
    columns = [
        messages.DefinedColumnSchema(name=f"c{number}", type=number) for number in (1, 2, 3, 4, 7)
    ]
    request = create_table.decode(
        create_body(
            {
                "primary_key": [messages.PrimaryKeySchema(name="p", type=3)],
                "defined_column": columns,
            },
            table_options=messages.TableOptions(allow_update=False, update_full_row=True),
            partitions=[
                messages.PartitionRange(begin=b"\x09", end=b"\x07\x01\x00\x00\x00\x80"),
                messages.PartitionRange(begin=b"\x07\x01\x00\x00\x00\x80", end=b"\x0a"),
            ],
            stream_spec=messages.StreamSpecification(
                enable_stream=True, expiration_time=24, columns_to_get=["c1"]
            ),
            sse_spec=messages.SSESpecification(enable=True, key_type=2, key_id=b"k", role_arn=b"r"),
        )
    )
    assert request.key_columns == (KeyColumn("p", KeyType.BINARY),)
    assert [column.type for column in request.defined_columns] == list(ColumnType)
    assert request.options == OptionsChange(allow_update=False, update_full_row=True)
    assert request.partitions == ((KeyMarker.INF_MIN, b"\x80"), (b"\x80", KeyMarker.INF_MAX))
    assert request.stream == StreamChange(enable=True, expiration_hours=24, columns=("c1",))
    assert request.encryption == Encryption(enabled=True, key_type=2, key_id=b"k", role_arn=b"r")


def test_absent_fields_are_told_from_zeros() -> None:
    # The engine says which of them CreateTable needs.
    request = create_table.decode(
        create_body(
            reserved_throughput=messages.ReservedThroughput(capacity_unit=messages.CapacityUnit())
        )
    )
    assert request.throughput == ThroughputChange(None, None)
    assert request.options == OptionsChange()
    assert (request.stream, request.encryption, request.partitions) == (None, None, ())


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (
            create_body({"primary_key": [messages.PrimaryKeySchema(name="p", type=number)]}),
            TablestoreRule.KEY_COLUMN_TYPE,
        )
        for number in (0, 4, 5)
    ]
    + [
        (
            create_body({"defined_column": [messages.DefinedColumnSchema(name="d", type=number)]}),
            TablestoreRule.DEFINED_COLUMN_TYPE,
        )
        for number in (0, 5, 6)
    ]
    + [
        (
            create_body(partitions=[messages.PartitionRange(begin=bound, end=b"\x0a")]),
            TablestoreRule.SPLIT_TYPE,
        )
        for bound in (b"", b"\x0b", b"\x02\x01", b"\x01" + bytes(8), b"\x00\x01", b"\x03\xff")
    ]
    + [
        (b"", TablestoreRule.BODY_UNREADABLE),
        (VECTOR + b"\x00", TablestoreRule.BODY_UNREADABLE),
        (create_body(reserved_throughput=None), TablestoreRule.BODY_UNREADABLE),
        (create_body({"table_name": None}), TablestoreRule.BODY_UNREADABLE),
    ],
)
def test_tables_that_cannot_be(body: bytes, rule: AnyRule) -> None:
    with pytest.raises(InvalidRequest) as caught:
        create_table.decode(body)
    assert caught.value.rule is rule


def test_the_type_that_one_client_can_ask_for_is_named() -> None:
    sent = create_body({"primary_key": [messages.PrimaryKeySchema(name="p", type=5)]})
    with pytest.raises(InvalidRequest) as caught:
        create_table.decode(sent)
    assert caught.value.details == {"type": "BOOLEAN"}


@pytest.mark.parametrize(
    ("body", "feature"),
    [
        (
            create_body({"primary_key": [messages.PrimaryKeySchema(name="p", type=1, option=2)]}),
            "primary key option 2",
        ),
    ],
)
def test_features_that_are_not_offered_are_refused(body: bytes, feature: str) -> None:
    with pytest.raises(Unsupported) as caught:
        create_table.decode(body)
    assert caught.value.rule is TablestoreRule.FEATURE_UNSUPPORTED
    assert caught.value.details == {"feature": feature}


@pytest.mark.parametrize("asked", [True, False, None])
def test_whether_local_transactions_may_be_begun(*, asked: bool | None) -> None:
    """What the definition does not say the server decides (change §B1)."""
    body = create_body() if asked is None else create_body(enable_local_txn=asked)
    assert create_table.decode(body).local_transactions is asked


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_refused(data: bytes) -> None:
    for decode in (create_table.decode, update_table.decode):
        try:
            decode(data)
        except (InvalidRequest, Unsupported):
            continue


# --- the others ------------------------------------------------------------------------------


@pytest.mark.parametrize("decode", [describe_table.decode, delete_table.decode])
def test_requests_of_a_name(decode: Callable[[bytes], str]) -> None:
    assert decode(b"\x0a\x04Tab1") == "Tab1"
    for body in (b"", b"\x0a\x01", b"\x0a\x01\xff", b"\x0a\x01T\x00"):
        with pytest.raises(InvalidRequest) as caught:
            decode(body)
        assert caught.value.rule is TablestoreRule.BODY_UNREADABLE


def test_changes_of_defined_columns() -> None:
    # semantics §2.6
    column = messages.DefinedColumnSchema(name="c", type=7)
    make_added = messages.AddDefinedColumnRequest
    added = add_defined_column.decode(encoded(make_added, table_name="T", columns=[column]))
    assert added == ("T", (DefinedColumn("c", ColumnType.BINARY),))
    make_deleted = messages.DeleteDefinedColumnRequest
    deleted = delete_defined_column.decode(
        encoded(make_deleted, table_name="T", columns=["c", "d"])
    )
    assert deleted == ("T", ("c", "d"))
    wrong = messages.DefinedColumnSchema(name="c", type=6)
    with pytest.raises(InvalidRequest) as caught:
        add_defined_column.decode(encoded(make_added, table_name="T", columns=[wrong]))
    assert caught.value.rule is TablestoreRule.DEFINED_COLUMN_TYPE
    for decode in (add_defined_column.decode, delete_defined_column.decode):
        with pytest.raises(InvalidRequest) as caught:
            decode(b"\x0a\x01T\x12\x01\xff")
        assert caught.value.rule is TablestoreRule.BODY_UNREADABLE


def test_list_table() -> None:
    # semantics §2.2
    list_table.decode(b"")
    with pytest.raises(InvalidRequest):
        list_table.decode(b"\x00")
    answer = messages.ListTableResponse.FromString(list_table.encode(("A", "B")))
    assert list(answer.table_names) == ["A", "B"]
    assert list_table.encode(()) == b""


def test_answers_of_nothing_are_empty() -> None:
    # protos §0 rule 5
    assert create_table.encode(None) == b""
    assert delete_table.encode(None) == b""
    assert add_defined_column.encode(None) == b""
    assert delete_defined_column.encode(None) == b""


def test_update_table_takes_any_part() -> None:
    # semantics §2.4
    make = messages.UpdateTableRequest
    assert update_table.decode(encoded(make, table_name="T")) == UpdateTable("T")
    request = update_table.decode(
        encoded(
            make,
            table_name="T",
            reserved_throughput=messages.ReservedThroughput(
                capacity_unit=messages.CapacityUnit(write=0)
            ),
            table_options=messages.TableOptions(max_versions=3, allow_update=False),
            stream_spec=messages.StreamSpecification(enable_stream=False),
        )
    )
    assert request.throughput == ThroughputChange(None, 0)
    assert request.options == OptionsChange(max_versions=3, allow_update=False)
    assert request.stream == StreamChange(enable=False)


# --- descriptions ----------------------------------------------------------------------------


def test_a_described_table_has_every_field_that_clients_need() -> None:
    # protos §0 rules 1 and 6: two clients fail or crash where one of these is absent
    answer = described(table())
    assert answer.IsInitialized()
    assert answer.table_status == 1
    unit = answer.reserved_throughput_details.capacity_unit
    assert (unit.HasField("read"), unit.read) == (True, 0)
    assert (unit.HasField("write"), unit.write) == (True, 5)
    for field in ("time_to_live", "max_versions", "deviation_cell_version_in_sec"):
        assert answer.table_options.HasField(field)
    assert answer.HasField("stream_details")
    assert not answer.stream_details.enable_stream


def test_a_described_table_is_the_one_that_was_made() -> None:
    # semantics §2.3
    answer = described(table())
    assert (answer.table_meta.table_name, answer.table_meta.table_id) == ("T", "7")
    keys = [(key.name, key.type, key.option) for key in answer.table_meta.primary_key]
    assert keys == [("pk", 1, 0), ("id", 1, 1)]
    assert not answer.table_meta.primary_key[0].HasField("option")
    assert [(c.name, c.type) for c in answer.table_meta.defined_column] == [("a", 2), ("b", 7)]
    options = answer.table_options
    assert (options.time_to_live, options.max_versions) == (-1, 2)
    assert options.deviation_cell_version_in_sec == 86400
    assert (options.allow_update, options.update_full_row) == (True, False)
    assert answer.creation_time == 1_700_000_000_000_001
    assert answer.reserved_throughput_details.last_increase_time == 1_700_000_000
    assert not answer.reserved_throughput_details.HasField("last_decrease_time")
    assert not answer.HasField("sse_details")
    assert not answer.shard_splits
    assert not answer.index_metas


def test_a_decrease_of_throughput_is_told() -> None:
    details = described(table(last_decrease=1_700_000_500)).reserved_throughput_details
    assert details.last_decrease_time == 1_700_000_500


def test_streams_are_described_whole() -> None:
    details = described(table(stream=Stream("s1", 24, 17, ("a", "b")))).stream_details
    assert details.enable_stream
    assert (details.stream_id, details.expiration_time, details.last_enable_time) == ("s1", 24, 17)
    assert list(details.columns_to_get) == ["a", "b"]


def test_encryption_is_described_as_asked_for() -> None:
    details = described(table(encryption=Encryption(enabled=True, key_type=1))).sse_details
    assert (details.enable, details.key_type) == (True, 1)
    assert not details.HasField("key_id")


@pytest.mark.parametrize(
    ("key_type", "bounds"),
    [
        (KeyType.INTEGER, (-5, 0, 100)),
        (KeyType.STRING, ("a", "b\x00c")),
        (KeyType.BINARY, (b"\x00", b"\x80")),
    ],
)
def test_splits_are_keys_of_the_partition_key(
    key_type: KeyType, bounds: tuple[KeyValue, ...]
) -> None:
    splits = tuple(encode_key_value(bound) for bound in bounds)
    answer = described(table(key_type=key_type, splits=splits))
    keys = [decode_primary_key(split).columns for split in answer.shard_splits]
    assert keys == [(("pk", bound),) for bound in bounds]


def test_an_updated_table_is_described() -> None:
    # semantics §2.4; protos §0 rule 6
    answer = messages.UpdateTableResponse.FromString(update_table.encode(table()))
    assert answer.IsInitialized()
    assert answer.reserved_throughput_details.capacity_unit.write == 5
    assert answer.table_options.max_versions == 2
    assert answer.HasField("stream_details")
    assert not answer.stream_details.enable_stream
