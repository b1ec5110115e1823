"""Limits of rows over HTTP: at the limit, and one beyond it (semantics §1.3 to §1.6, §4, §17)."""

from collections.abc import Callable, Iterable
from typing import Final

import pytest
from google.protobuf.message import Message
from tests.support.answers import decode_row
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Answer, Sender, Wire, assert_refused
from tests.support.requests import (
    ANY,
    KEY,
    create_table_request,
    get_row_request,
    put_row_request,
)

from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

Ask = Callable[[str, Message], Answer]
Error = tuple[int, str, str]
Key = tuple[tuple[str, str | int | bytes], ...]

VERSION_MAX: Final = (2**63 - 1) // 1000 - 1
WRITES: Final = ("PutRow", "UpdateRow", "BatchWriteRow put", "BatchWriteRow update")


def invalid(message: str) -> Error:
    return 400, "OTSParameterInvalid", message


def change(way: str, key: Key, cells: Iterable[bytes], table: str = "T") -> tuple[str, Message]:
    """A row change, alone or in a batch."""
    action, _, kind = way.partition(" ")
    row = row_buffer(key, cells)
    if action == "PutRow":
        return action, m.PutRowRequest(table_name=table, row=row, condition=ANY)
    if action == "UpdateRow":
        return action, m.UpdateRowRequest(table_name=table, row_change=row, condition=ANY)
    type_ = {"put": 1, "update": 2}[kind]
    rows = [m.RowInBatchWriteRowRequest(type=type_, row_change=row, condition=ANY)]
    tables = [m.TableInBatchWriteRowRequest(table_name=table, rows=rows)]
    return action, m.BatchWriteRowRequest(tables=tables)


def accept(ask: Ask, action: str, message: Message) -> None:
    """Also each row of a batch."""
    answer = ask(action, message)
    assert answer.status == 200
    if action == "BatchWriteRow":
        (answered,) = m.BatchWriteRowResponse.FromString(answer.body).tables
        assert all(row.is_ok for row in answered.rows)


def columns_of(ask: Ask, key: Key = KEY, table: str = "T") -> dict[str, int]:
    """The columns of a row, and how many versions each has."""
    found: dict[str, int] = {}
    request = m.GetRowRequest(table_name=table, primary_key=key_buffer(key), max_versions=2**31 - 1)
    while True:
        answer = m.GetRowResponse.FromString(ask("GetRow", request).body)
        row = decode_row(answer.row[4:])
        for name, versions in ({} if row is None else row[1]).items():
            found[name] = found.get(name, 0) + len(versions)
        if not answer.next_token:
            return found
        request.token = answer.next_token


def exists(ask: Ask, key: Key) -> bool:
    request = m.GetRowRequest(table_name="T", primary_key=key_buffer(key), max_versions=1)
    return bool(m.GetRowResponse.FromString(ask("GetRow", request).body).row)


# --- key values: 1024 bytes ----------------------------------------------------------------------


def keyed_table(ask: Ask, kind: int) -> None:
    message = create_table_request("T")
    for column in message.table_meta.primary_key:
        column.type = kind
    assert ask("CreateTable", message).status == 200


def on_key(key: Key) -> list[tuple[str, Message]]:
    """Every action that names a row, on one row; all succeed in this order."""
    encoded, later = key_buffer(key), key_buffer((("k", "~"), ("n", "~")))
    if isinstance(key[0][1], bytes):
        later = key_buffer((("k", b"~"), ("n", b"~")))
    keys = m.TableInBatchGetRowRequest(table_name="T", primary_key=[encoded], max_versions=1)
    row = row_buffer(key, [cell("c", 1)])
    return [
        *(change(way, key, [cell("c", 1)]) for way in WRITES),
        ("GetRow", m.GetRowRequest(table_name="T", primary_key=encoded, max_versions=1)),
        ("BatchGetRow", m.BatchGetRowRequest(tables=[keys])),
        (
            "GetRange",
            m.GetRangeRequest(
                table_name="T",
                direction=0,
                max_versions=1,
                inclusive_start_primary_key=encoded,
                exclusive_end_primary_key=later,
            ),
        ),
        ("DeleteRow", m.DeleteRowRequest(table_name="T", primary_key=encoded, condition=ANY)),
        ("PutRow", m.PutRowRequest(table_name="T", row=row, condition=ANY)),
    ]


@pytest.mark.parametrize("kind", [2, 3])
def test_key_values_end_at_1024_bytes(ask: Ask, kind: int) -> None:
    keyed_table(ask, kind)
    value: Callable[[int], str | bytes] = "x".__mul__ if kind == 2 else b"x".__mul__
    for action, message in on_key((("k", value(1024)), ("n", value(1024)))):
        accept(ask, action, message)
    assert exists(ask, (("k", value(1024)), ("n", value(1024))))


@pytest.mark.parametrize("kind", [2, 3])
def test_a_longer_key_value_is_refused_and_the_first_one_named(ask: Ask, kind: int) -> None:
    keyed_table(ask, kind)
    value: Callable[[int], str | bytes] = "x".__mul__ if kind == 2 else b"x".__mul__
    for sizes, name, size in (((1024, 1025), "n", 1025), ((1030, 1025), "k", 1030)):
        key = (("k", value(sizes[0])), ("n", value(sizes[1])))
        text = (
            f"The length of primary key column: '{name}' exceeds the MaxLength:1024 with "
            f"CurrentLength:{size}."
        )
        for action, message in on_key(key):
            assert ask(action, message).error == invalid(text), action


def test_characters_of_key_values_count_as_their_bytes(ask: Ask) -> None:
    keyed_table(ask, 2)
    for value, size in (("杭" * 341 + "x", 1024), ("杭" * 342, 1026)):
        answer = ask(*change("PutRow", (("k", value), ("n", "")), [cell("c", 1)]))
        assert answer.status == (200 if size == 1024 else 400)


# --- attribute values: 2 MB ----------------------------------------------------------------------

VALUE_MAX: Final = 2_097_152


@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize("value", ["x", b"x"])
def test_attribute_values_end_at_2097152_bytes(
    ask: Ask, table: str, way: str, value: str | bytes
) -> None:
    text = (
        "The length of attribute column: 'c' exceeds the MaxLength:2097152 with "
        "CurrentLength:2097153."
    )
    too_long = change(way, KEY, [cell("a", 1), cell("c", value * (VALUE_MAX + 1))], table)
    assert ask(*too_long).error == invalid(text)
    assert not exists(ask, KEY)
    accept(ask, *change(way, KEY, [cell("a", 1), cell("c", value * VALUE_MAX)], table))
    read = m.GetRowResponse.FromString(ask("GetRow", get_row_request(table)).body)
    row = decode_row(read.row[4:])
    assert row is not None
    assert row[1]["c"][0][1] == value * VALUE_MAX


def test_characters_of_attribute_values_count_as_their_bytes(ask: Ask, table: str) -> None:
    fits = "杭" * (VALUE_MAX // 3)
    accept(ask, *change("PutRow", KEY, [cell("c", fits)], table))
    answer = ask(*change("PutRow", KEY, [cell("c", fits + "杭")], table))
    assert answer.error[2].endswith(f"CurrentLength:{len(fits) * 3 + 3}.")


def test_a_row_is_larger_than_any_request(ask: Ask, table: str) -> None:
    """Five values of 2 MB: more than a request carries, answered in several parts."""
    for number in range(5):
        value = bytes([number]) * VALUE_MAX
        accept(ask, *change("UpdateRow", KEY, [cell(f"c{number}", value)], table))
    assert columns_of(ask) == {f"c{number}": 1 for number in range(5)}


# --- cells of one change: 1024 -------------------------------------------------------------------


@pytest.mark.parametrize("way", WRITES)
def test_a_change_has_at_most_1024_cells(ask: Ask, table: str, way: str) -> None:
    cells = [cell(f"c{number}", number) for number in range(1025)]
    text = (
        "The number of attribute columns exceeds the limit, limit count: 1024, column count: 1025."
    )
    assert ask(*change(way, KEY, cells, table)).error == invalid(text)
    assert not exists(ask, KEY)
    accept(ask, *change(way, KEY, cells[:1024], table))
    assert len(columns_of(ask)) == 1024


def test_cells_count_and_not_columns(ask: Ask, table: str, widerow_server: WiderowServer) -> None:
    """Versions of one column, and deletes, are cells too."""
    now_ms = widerow_server.clock.now_us() // 1000
    of_one = [cell("c", n, version=now_ms + n) for n in range(1025)]
    deletes = [cell(f"c{n}", operation=1) for n in range(1025)]
    for cells in (of_one, deletes):
        assert ask(*change("UpdateRow", KEY, cells, table)).status == 400
        accept(ask, *change("UpdateRow", KEY, cells[1:], table))


def test_a_row_has_more_columns_than_a_change(ask: Ask, table: str) -> None:
    for start in range(0, 5120, 1024):
        cells = [cell(f"c{number}", number) for number in range(start, start + 1024)]
        accept(ask, *change("UpdateRow", KEY, cells, table))
    assert len(columns_of(ask)) == 5120


# --- column names: 1 to 255 bytes ----------------------------------------------------------------


@pytest.mark.parametrize("way", WRITES)
def test_attribute_names_have_1_to_255_bytes(ask: Ask, table: str, way: str) -> None:
    accept(ask, *change(way, KEY, [cell("a" * 255, 1)], table))
    for name in ("a" * 256, ""):
        answer = ask(*change(way, KEY, [cell(name, 1)], table))
        assert answer.error == invalid(f"Invalid column name: '{name}'.")
    assert columns_of(ask) == {"a" * 255: 1}


# --- versions ------------------------------------------------------------------------------------

RANGE: Final = invalid("Timestamp must be in range [0, INT64_MAX/1000).")


def outside(version: int, first: int, end: int) -> Error:
    return invalid(
        f"Invalid timestamp. Cell:c. Timestamp:{version}. MinTimestamp:{first}. MaxTimestamp:{end}."
    )


def table_of(ask: Ask, name: str, **options: int) -> str:
    message = create_table_request(name)
    for option, value in options.items():
        setattr(message.table_options, option, value)
    assert ask("CreateTable", message).status == 200
    return name


@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize(
    ("version", "error"),
    [
        (0, None),
        (VERSION_MAX, None),
        (-1, RANGE),
        (VERSION_MAX + 1, RANGE),
        (-(2**63), RANGE),
        (2**63 - 1, RANGE),
    ],
)
def test_versions_are_0_to_below_int64_max_by_1000(
    ask: Ask, way: str, version: int, error: Error | None
) -> None:
    """On a table of the largest offset, or its window would be met first."""
    name = table_of(ask, "Wide", deviation_cell_version_in_sec=(2**63 - 1) // 1_000_000)
    request = change(way, KEY, [cell("c", 1, version=version)], name)
    if error is None:
        accept(ask, *request)
        assert columns_of(ask, table=name) == {"c": 1}
    else:
        assert ask(*request).error == error


@pytest.mark.parametrize("version", [-1, VERSION_MAX + 1])
def test_deleted_versions_have_the_same_range(ask: Ask, table: str, version: int) -> None:
    cells = [cell("c", operation=3, version=version)]
    assert ask(*change("UpdateRow", KEY, cells, table)).error == RANGE
    cells = [cell("c", operation=3, version=min(max(version, 0), VERSION_MAX))]
    accept(ask, *change("UpdateRow", KEY, cells, table))


def answers(ask: Ask, way: str, name: str, version: int) -> Error | None:
    """Of a write of one version: its error, in a batch that of its row."""
    answer = ask(*change(way, KEY, [cell("c", 1, version=version)], name))
    if answer.status != 200:
        return answer.error
    if not way.startswith("Batch"):
        return None
    (row,) = m.BatchWriteRowResponse.FromString(answer.body).tables[0].rows
    return None if row.is_ok else (400, text(row.error.code), text(row.error.message))


@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize("time_to_live", [-1, 10])
def test_versions_lie_within_offset_and_time_to_live(
    ask: Ask, widerow_server: WiderowServer, way: str, time_to_live: int
) -> None:
    """A version is a matter of its row: in a batch, the row fails and not the request."""
    widerow_server.clock.set(1_469_059_200_500)  # 2016-07-21 00:00:00.500 UTC
    now_ms = 1_469_059_200_000
    name = table_of(
        ask, "T", deviation_cell_version_in_sec=60, time_to_live=time_to_live, max_versions=9
    )
    back = 60 if time_to_live < 0 else time_to_live
    first, end = now_ms - back * 1000, now_ms + 60_000
    for version in (first, end - 1):
        assert answers(ask, way, name, version) is None
    for version in (first - 1, end):
        assert answers(ask, way, name, version) == outside(version, first, end)


# --- the body: 5 MB ------------------------------------------------------------------------------


def padded(message: Message, size: int) -> bytes:
    """`message` in `size` bytes: with a field that nobody knows, which parsers skip."""
    known = message.SerializeToString()
    filling = size - len(known) - 5
    length = [filling & 0x7F | 0x80, filling >> 7 & 0x7F | 0x80, filling >> 14 & 0x7F | 0x80]
    return known + bytes((0x7A, *length, filling >> 21)) + bytes(filling)


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_body_ends_at_5_mb(
    widerow_server: WiderowServer, ask: Ask, table: str, beyond: int
) -> None:
    """Too much is refused before anyone is known, so that answer is not signed."""
    body = padded(put_row_request(table), 5 * 1024 * 1024 + beyond)
    sender = Sender(instance=widerow_server.instance)
    with Wire(widerow_server.endpoint) as wire:
        answer = wire.ask(sender.request("PutRow", body))
    if beyond:
        text = "The size of POST data is too large."
        assert_refused(
            sender, "PutRow", answer, (413, "OTSRequestBodyTooLarge", text), signed=False
        )
    else:
        assert answer.status == 200
    assert exists(ask, KEY) is not bool(beyond)
