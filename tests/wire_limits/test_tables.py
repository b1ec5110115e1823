"""Limits of tables over HTTP: at the limit, and one beyond it (semantics §2, §17).

Texts are the service's. Limits that no request of one action can show alone say so.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

import pytest
from google.protobuf.message import Message
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Answer, Sender, Wire
from tests.support.requests import (
    ANY,
    batch_get_request,
    batch_write_request,
    create_table_request,
    delete_row_request,
    get_range_request,
    get_row_request,
    put_row_request,
    update_row_request,
    update_table_request,
)

from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m

Ask = Callable[[str, Message], Answer]
Error = tuple[int, str, str]

INT32_MAX: Final = 2**31 - 1
OFFSET_MAX: Final = (2**63 - 1) // 1_000_000  # seconds: 9223372036854


def invalid(message: str) -> Error:
    return 400, "OTSParameterInvalid", message


def described(ask: Ask, table: str) -> m.DescribeTableResponse:
    answer = ask("DescribeTable", m.DescribeTableRequest(table_name=table))
    assert answer.status == 200
    return m.DescribeTableResponse.FromString(answer.body)


def listed(ask: Ask) -> list[str]:
    return list(
        m.ListTableResponse.FromString(ask("ListTable", m.ListTableRequest()).body).table_names
    )


# --- names: 1 to 255 bytes -----------------------------------------------------------------------

ACTIONS: Final[dict[str, Callable[[str], Message]]] = {
    "CreateTable": create_table_request,
    "DescribeTable": lambda name: m.DescribeTableRequest(table_name=name),
    "UpdateTable": update_table_request,
    "AddDefinedColumn": lambda name: m.AddDefinedColumnRequest(
        table_name=name, columns=[m.DefinedColumnSchema(name="d", type=1)]
    ),
    "DeleteDefinedColumn": lambda name: m.DeleteDefinedColumnRequest(
        table_name=name, columns=["d"]
    ),
    "PutRow": put_row_request,
    "UpdateRow": update_row_request,
    "GetRow": get_row_request,
    "GetRange": get_range_request,
    "BatchGetRow": batch_get_request,
    "BatchWriteRow": batch_write_request,
    "DeleteRow": delete_row_request,
    "DeleteTable": lambda name: m.DeleteTableRequest(table_name=name),
}
"""Every action that names a table, in an order in which all of them succeed."""


def test_table_names_of_255_bytes_serve_every_action(ask: Ask) -> None:
    for action, message in ACTIONS.items():
        assert ask(action, message("a" * 255)).status == 200, action


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("name", ["", "a" * 256])
def test_table_names_of_0_and_256_bytes_are_refused(ask: Ask, action: str, name: str) -> None:
    error = ask(action, ACTIONS[action](name)).error
    assert error == invalid(f"Invalid table name: '{name}'.")


@pytest.mark.parametrize("name", ["a" * 255, "a" * 256, ""])
def test_names_of_key_and_defined_columns_end_at_255_bytes(ask: Ask, name: str) -> None:
    expected = None if len(name) == 255 else invalid(f"Invalid column name: '{name}'.")
    key = create_table_request("Key")
    key.table_meta.primary_key[1].name = name
    defined = create_table_request("Defined")
    defined.table_meta.defined_column.add(name=name, type=1)
    for message in (key, defined):
        answer = ask("CreateTable", message)
        assert (answer.status == 200) if expected is None else (answer.error == expected)


# --- columns -------------------------------------------------------------------------------------


def keyed(count: int, kind: int = 1) -> m.CreateTableRequest:
    message = create_table_request("T")
    columns = [m.PrimaryKeySchema(name=f"k{number}", type=kind) for number in range(count)]
    del message.table_meta.primary_key[:]
    message.table_meta.primary_key.extend(columns)
    return message


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_keys_of_one_to_four_columns_of_three_types(ask: Ask, count: int, kind: int) -> None:
    assert ask("CreateTable", keyed(count, kind)).status == 200
    assert len(described(ask, "T").table_meta.primary_key) == count


@pytest.mark.parametrize("count", [0, 5])
def test_keys_of_no_or_five_columns_are_refused(ask: Ask, count: int) -> None:
    error = ask("CreateTable", keyed(count)).error
    assert error == invalid("The number of primary key columns must be in range: [1, 4].")
    assert listed(ask) == []


@pytest.mark.parametrize("kind", [0, 4, 5, 6, 7])
def test_keys_of_other_types_are_refused(ask: Ask, kind: int) -> None:
    """DOUBLE and BOOLEAN are types of attributes only."""
    status, code, message = ask("CreateTable", keyed(1, kind)).error
    assert (status, code) == (400, "OTSParameterInvalid")
    assert message.endswith(" is an invalid type for the primary key.")


@pytest.mark.parametrize("action", ["PutRow", "UpdateRow", "DeleteRow", "GetRow"])
def test_rows_with_five_key_columns_are_refused(ask: Ask, table: str, action: str) -> None:
    five = [(f"k{number}", number) for number in range(5)]
    key, row = key_buffer(five), row_buffer(five, [cell("c", 1)])
    messages: dict[str, Message] = {
        "PutRow": m.PutRowRequest(table_name=table, row=row, condition=ANY),
        "UpdateRow": m.UpdateRowRequest(table_name=table, row_change=row, condition=ANY),
        "DeleteRow": m.DeleteRowRequest(table_name=table, primary_key=key, condition=ANY),
        "GetRow": m.GetRowRequest(table_name=table, primary_key=key, max_versions=1),
    }
    count = invalid("The number of primary key columns must be in range: [1, 4].")
    assert ask(action, messages[action]).error == count


DEFINED_COUNT: Final = invalid("The number of defined columns must be in range: [0, 32].")


def defined(first: int, count: int) -> list[m.DefinedColumnSchema]:
    return [m.DefinedColumnSchema(name=f"d{first + n}", type=1) for n in range(count)]


@pytest.mark.parametrize("count", [0, 32, 33])
def test_a_table_is_created_with_at_most_32_defined_columns(ask: Ask, count: int) -> None:
    message = create_table_request("T")
    message.table_meta.ClearField("defined_column")
    message.table_meta.defined_column.extend(defined(0, count))
    answer = ask("CreateTable", message)
    if count > 32:
        assert answer.error == DEFINED_COUNT
        assert listed(ask) == []
    else:
        assert len(described(ask, "T").table_meta.defined_column) == count


def test_later_it_has_no_more_either(ask: Ask) -> None:
    message = create_table_request("T")
    message.table_meta.ClearField("defined_column")
    assert ask("CreateTable", message).status == 200
    add = m.AddDefinedColumnRequest
    whole = add(table_name="T", columns=defined(0, 33))
    assert ask("AddDefinedColumn", whole).error == DEFINED_COUNT
    half = add(table_name="T", columns=defined(0, 31))
    assert ask("AddDefinedColumn", half).status == 200
    two = add(table_name="T", columns=defined(31, 2))
    assert ask("AddDefinedColumn", two).error == DEFINED_COUNT
    one = add(table_name="T", columns=defined(31, 1))
    assert ask("AddDefinedColumn", one).status == 200
    assert len(described(ask, "T").table_meta.defined_column) == 32
    assert ask("AddDefinedColumn", two).error == DEFINED_COUNT


# --- throughput ----------------------------------------------------------------------------------

READ_NEGATIVE: Final = invalid("The value of read capacity unit can not be less than 0.")
WRITE_NEGATIVE: Final = invalid("The value of write capacity unit can not be less than 0.")
TOO_LARGE: Final = invalid("The value of capacity unit can not be greater than 100000.")
TOO_FREQUENT: Final = (
    403,
    "OTSTooFrequentReservedThroughputAdjustment",
    "Capacity unit adjustment is too frequent.",
)


@pytest.mark.parametrize(
    ("read", "write", "error"),
    [
        (0, 0, None),
        (100_000, 100_000, None),
        (100_001, 0, TOO_LARGE),
        (0, 100_001, TOO_LARGE),
        (-1, 0, READ_NEGATIVE),
        (0, -1, WRITE_NEGATIVE),
    ],
)
def test_capacity_units_are_0_to_100000(
    widerow_server: WiderowServer, ask: Ask, read: int, write: int, error: Error | None
) -> None:
    units = m.CapacityUnit(read=read, write=write)
    message = create_table_request("T")
    message.reserved_throughput.capacity_unit.CopyFrom(units)
    answer = ask("CreateTable", message)
    if error is not None:
        assert answer.error == error
        return
    kept = described(ask, "T").reserved_throughput_details.capacity_unit
    assert (kept.read, kept.write) == (read, write)
    widerow_server.clock.advance(120)
    for changed, refused in ((100_001, TOO_LARGE), (99_999, None)):
        answer = ask("UpdateTable", _change_units(read=changed))
        assert (answer.status == 200) if refused is None else (answer.error == refused)
    assert described(ask, "T").reserved_throughput_details.capacity_unit.read == 99_999


def _change_units(read: int) -> m.UpdateTableRequest:
    units = m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=read))
    return m.UpdateTableRequest(table_name="T", reserved_throughput=units)


def test_throughput_changes_every_two_minutes(
    widerow_server: WiderowServer, ask: Ask, table: str
) -> None:
    """Counted from the creation, and then from change to change."""
    clock = widerow_server.clock
    clock.set(clock.now_us() // 1_000_000 * 1000)  # the limit counts whole seconds
    ask("DeleteTable", m.DeleteTableRequest(table_name=table))
    ask("CreateTable", create_table_request(table))
    for units in (1, 2):
        clock.advance(119)
        assert ask("UpdateTable", _change_units(units)).error == TOO_FREQUENT
        clock.advance(1)
        assert ask("UpdateTable", _change_units(units)).status == 200
        assert ask("UpdateTable", _change_units(units + 1)).error == TOO_FREQUENT


# --- options -------------------------------------------------------------------------------------

TIME_TO_LIVE: Final = invalid("TimeToLive cannot be 0 or less than -1.")
MAX_VERSIONS: Final = invalid("The maximum versions cannot be less than or equal to 0.")
OFFSET: Final = invalid("The maximum deviation must be in range [0, INT64_MAX/1000000].")
OPTIONS: Final[list[tuple[str, int, Error | None]]] = [
    ("time_to_live", -1, None),
    ("time_to_live", 1, None),
    ("time_to_live", INT32_MAX, None),
    ("time_to_live", 0, TIME_TO_LIVE),
    ("time_to_live", -2, TIME_TO_LIVE),
    ("time_to_live", -INT32_MAX - 1, TIME_TO_LIVE),
    ("max_versions", 1, None),
    ("max_versions", INT32_MAX, None),
    ("max_versions", 0, MAX_VERSIONS),
    ("max_versions", -1, MAX_VERSIONS),
    ("deviation_cell_version_in_sec", 0, None),
    ("deviation_cell_version_in_sec", OFFSET_MAX, None),
    ("deviation_cell_version_in_sec", -1, OFFSET),
    ("deviation_cell_version_in_sec", OFFSET_MAX + 1, OFFSET),
    ("deviation_cell_version_in_sec", 2**63 - 1, OFFSET),
]


@pytest.mark.parametrize(("option", "value", "error"), OPTIONS)
def test_options_of_a_new_table_have_ranges(
    ask: Ask, option: str, value: int, error: Error | None
) -> None:
    message = create_table_request("T")
    setattr(message.table_options, option, value)
    answer = ask("CreateTable", message)
    if error is not None:
        assert answer.error == error
        assert listed(ask) == []
    else:
        assert getattr(described(ask, "T").table_options, option) == value


@pytest.mark.parametrize(("option", "value", "error"), OPTIONS)
def test_options_have_the_same_ranges_when_changed(
    ask: Ask, table: str, option: str, value: int, error: Error | None
) -> None:
    before = getattr(described(ask, table).table_options, option)
    message = m.UpdateTableRequest(table_name=table)
    setattr(message.table_options, option, value)
    answer = ask("UpdateTable", message)
    assert (answer.status == 200) if error is None else (answer.error == error)
    after = getattr(described(ask, table).table_options, option)
    assert after == (value if error is None else before)


@pytest.mark.parametrize("hours", [1, 168, 0, 169])
def test_streams_keep_1_to_168_hours(ask: Ask, hours: int) -> None:
    message = create_table_request("T")
    message.stream_spec.enable_stream = True
    message.stream_spec.expiration_time = hours
    answer = ask("CreateTable", message)
    if 1 <= hours <= 168:
        assert described(ask, "T").stream_details.expiration_time == hours
    else:
        text = "The expiration time of stream must be in range [1, 168]."
        assert answer.error == invalid(text)


# --- partitions ----------------------------------------------------------------------------------

LOW: Final = b"\x09"  # INF_MIN
HIGH: Final = b"\x0a"  # INF_MAX


def split(*bounds: bytes) -> m.CreateTableRequest:
    message = create_table_request("T")
    for begin, end in pairwise((LOW, *bounds, HIGH)):
        message.partitions.add(begin=begin, end=end)
    return message


def text(value: bytes) -> bytes:
    return b"\x03" + len(value).to_bytes(4, "little") + value


def test_ten_partitions_are_kept_and_eleven_refused(ask: Ask) -> None:
    bounds = [text(b"%02d" % number) for number in range(10)]
    error = ask("CreateTable", split(*bounds)).error
    assert error == invalid("The count of partitions cannot be greater than 10")
    assert ask("CreateTable", split(*bounds[:9])).status == 200
    assert len(described(ask, "T").shard_splits) == 9


@pytest.mark.parametrize("tag", [b"\x03", b"\x07"])
def test_bounds_of_partitions_have_1_to_64_bytes(ask: Ask, tag: bytes) -> None:
    kind = {b"\x03": "string", b"\x07": "binary"}[tag]
    long = "The value of partition range exceeds the MaxLength:64 with CurrentLength:65."
    empty = f"The value of partition range can not be empty {kind}."
    for size, error in ((65, invalid(long)), (0, invalid(empty)), (64, None)):
        message = split(tag + size.to_bytes(4, "little") + b"x" * size)
        message.table_meta.primary_key[0].type = 2 if kind == "string" else 3
        answer = ask("CreateTable", message)
        assert (answer.status == 200) if error is None else (answer.error == error)


@pytest.mark.parametrize("bound", [-(2**63), 2**63 - 1, 2 - 2**63, 2**63 - 2])
def test_bounds_of_partitions_are_not_the_ends_of_integers(ask: Ask, bound: int) -> None:
    message = split(b"\x00" + bound.to_bytes(8, "little", signed=True))
    message.table_meta.primary_key[0].type = 1
    answer = ask("CreateTable", message)
    if abs(2 * bound + 1) == 2**64 - 1:
        text = "The value of partition range can not be INT64_MIN or INT64_MAX."
        assert answer.error == invalid(text)
    else:
        assert answer.status == 200


# --- tables --------------------------------------------------------------------------------------


def test_an_instance_holds_64_tables(ask: Ask) -> None:
    """Created one right after the other: the service's ten table actions a second are no limit."""
    for number in range(64):
        assert ask("CreateTable", create_table_request(f"T{number}")).status == 200
    quota = (403, "OTSQuotaExhausted", "Number of tables exceeds the quota:64.")
    assert ask("CreateTable", create_table_request("T64")).error == quota
    assert len(listed(ask)) == 64
    assert ask("DeleteTable", m.DeleteTableRequest(table_name="T0")).status == 200
    assert ask("CreateTable", create_table_request("T64")).status == 200
    assert ask("GetRow", get_row_request("T64")).status == 200


@pytest.mark.parametrize("size", [1, 255, 256])
def test_instance_names_end_at_255_characters(widerow_server: WiderowServer, size: int) -> None:
    """Ours: the service's 3 to 16 are those of its console, and nothing here is made in one."""
    sender = Sender(instance="i" * size)
    with Wire(widerow_server.endpoint) as wire:
        answer = wire.ask(sender.request("ListTable"))
    if size <= 255:
        assert answer.status == 200
    else:
        shown = "i" * 255  # no more of it is repeated
        assert answer.error == invalid(f"Invalid instance name: '{shown}'.")
