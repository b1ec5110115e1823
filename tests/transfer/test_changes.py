"""`widerow tail` and what it rests on: records, shards, flags (change §C1; guide/streams.md)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click import BadParameter
from hypothesis import given
from hypothesis import strategies as st
from tablestore import CapacityUnit, ReservedThroughput, Row, TableMeta, TableOptions

from widerow.cli.command import CommandFailed
from widerow.cli.tail import pause_seconds, start_time
from widerow.client.connection import Client
from widerow.client.failures import RequestFailed
from widerow.client.rows import decode_change
from widerow.rows.plain_values import CellDeletion, VersionedValue
from widerow.system import SystemClock
from widerow.testing import WiderowServer
from widerow.transfer.changes import (
    START,
    TAIL,
    FollowedChange,
    Follower,
    enable_stream,
    find_stream,
)
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

# The vectors of change §C1.7.
PUT = (
    "7500000001030402000000706b05090000000001000000000000000a4c0203040100000063050600000003010000"
    "0076070098f73e5d0100000a980b180000000c130000000d000000000e00401e18240a06000f020000000935"
)
UPDATE = (
    "7500000001030402000000706b05090000000001000000000000000a4c020304010000006106010ae70304010000"
    "00620603070098f73e5d0100000a06030401000000630506000000030100000076070198f73e5d0100000a8b0b18"
    "0000000c130000000d000000000e00401e18240a06000f030000000904"
)
DELETE = (
    "7500000001030402000000706b05090000000001000000000000000a4c0b180000000c130000000d000000000e00"
    "401e18240a06000f0400000009a7"
)
TIME_US = 1_700_000_000_000_000
NOW_US = TIME_US

VECTORS = [
    (PUT, (VersionedValue("c", 1_500_000_000_000, "v"),), 2),
    (
        UPDATE,
        (
            CellDeletion("a", None),
            CellDeletion("b", 1_500_000_000_000),
            VersionedValue("c", 1_500_000_000_001, "v"),
        ),
        3,
    ),
    (DELETE, (), 4),
]


@pytest.mark.parametrize(("data", "cells", "index"), VECTORS)
def test_records_are_decoded(data: str, cells: tuple[object, ...], index: int) -> None:
    found = decode_change(bytes.fromhex(data))
    assert found == ((("pk", 1),), cells, TIME_US, index)


@pytest.mark.parametrize("data", [PUT, UPDATE, DELETE])
def test_a_damaged_record_is_refused(data: str) -> None:
    """Whatever byte is another one: only the position, which no checksum covers, may differ."""
    record = bytes.fromhex(data)
    position = record.rindex(b"\x0e") + 1
    unchecked = {*range(position, position + 8), *range(position + 9, position + 13)}
    epoch = range(position - 5, position - 1)
    for place in set(range(len(record))) - unchecked - set(epoch):
        with pytest.raises(RequestFailed, match="damaged"):
            decode_change(record[:place] + bytes((record[place] ^ 0x20,)) + record[place + 1 :])


@given(st.binary(max_size=60), st.sampled_from([PUT, UPDATE, DELETE]), st.integers(0, 150))
def test_no_bytes_raise_anything_else(noise: bytes, data: str, at: int) -> None:
    record = bytes.fromhex(data)
    for each in (noise, record[:at], record[:at] + noise, b"\x75\x00\x00\x00" + noise):
        if each != record:
            with pytest.raises(RequestFailed):
                decode_change(each)


# --- flags ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("start", START),
        ("now", TAIL),
        ("10m", NOW_US - 600_000_000),
        ("3s", NOW_US - 3_000_000),
        ("2h", NOW_US - 7_200_000_000),
        ("1d", NOW_US - 86_400_000_000),
        ("999999999d", 1),
        ("2023-11-14T22:13:19", NOW_US - 1_000_000),
        ("2023-11-15T00:13:19+02:00", NOW_US - 1_000_000),
        ("2023-11-14T22:13:19.999999Z", NOW_US - 1),
    ],
)
def test_where_to_begin(text: str, time: int) -> None:
    assert start_time(text, NOW_US) == time


@pytest.mark.parametrize("text", ["", "yesterday", "10", "-5m", "10w", "٣m", "2033-01-01"])
def test_what_is_no_time_or_still_to_come_is_refused(text: str) -> None:
    with pytest.raises(BadParameter, match="--from"):
        start_time(text, NOW_US)


def test_pauses_grow_while_nothing_changes() -> None:
    assert [pause_seconds(0.5, quiet) for quiet in (0, 1, 2, 3, 4, 10_000)] == [0.5, 1, 2, 4, 4, 4]


# --- a table -------------------------------------------------------------------------------------


def make_table(server: WiderowServer) -> Any:  # noqa: ANN401  # the SDK has no types
    client = server.client()
    nothing = ReservedThroughput(CapacityUnit(0, 0))
    client.create_table(TableMeta("orders", [("k", "STRING")]), TableOptions(), nothing)
    return client


def keep_former(client: Client, *columns: str) -> None:
    wish = m.StreamSpecification(enable_stream=True, expiration_time=24, columns_to_get=columns)
    request = m.UpdateTableRequest(table_name="orders", stream_spec=wish)
    client.call("UpdateTable", request, m.UpdateTableResponse)


def test_changes_are_shown(
    server: WiderowServer, client: Client, widerow: Callable[..., Any]
) -> None:
    rows = make_table(server)
    keep_former(client, "state")
    key = [("k", "a")]
    rows.put_row("orders", Row(key, [("state", "open"), ("raw", bytearray(b"\x00\xff"))]))
    rows.update_row("orders", Row(key, {"PUT": [("state", "paid")], "DELETE_ALL": ["raw"]}), None)
    rows.delete_row("orders", Row(key), None)
    text = widerow("tail", "orders", "--from", "start", "--once", "--json").stdout
    put, update, delete = map(json.loads, text.splitlines())
    assert [each["action"] for each in (put, update, delete)] == ["PUT", "UPDATE", "DELETE"]
    assert put["primary_key"] == [{"name": "k", "type": "string", "value": "a"}]
    raw, state = put["columns"]
    assert (raw["type"], raw["value"], state["value"]) == ("binary", "AP8=", "open")
    assert isinstance(state["version"], int)
    assert put["origin"] is None
    assert update["columns"][0] == {"name": "raw", "deleted": "all"}
    assert [each["value"] for each in update["origin"]] == ["open"]
    assert (delete["columns"], delete["origin"][0]["value"]) == ([], "paid")
    assert put["timestamp_us"] < update["timestamp_us"] < delete["timestamp_us"]
    page = widerow("tail", "orders", "--from", "start", "--once")
    assert "state=open (string) @" in page.stdout
    assert "raw: all versions deleted" in page.stdout
    assert "before" in page.stdout
    assert page.stderr == "3 changes of orders\n"


def test_from_now_is_from_what_comes_next(server: WiderowServer, client: Client) -> None:
    rows = make_table(server)
    enable_stream(client, "orders", 24)
    stream = find_stream(client, "orders")
    assert stream is not None
    rows.put_row("orders", Row([("k", "old")], []))
    follower = Follower(client, stream.id, TAIL, SystemClock().now_us())
    assert (follower.read(), follower.at_tail) == ([], True)
    rows.put_row("orders", Row([("k", "new")], []))
    assert [each.key for each in follower.read()] == [(("k", "new"),)]


def test_a_limit_ends_it(server: WiderowServer, widerow: Callable[..., Any]) -> None:
    rows = make_table(server)
    widerow("tail", "orders", "--enable", 24, "--once")
    for number in range(5):
        rows.put_row("orders", Row([("k", str(number))], []))
    found = widerow("tail", "orders", "--from", "1h", "--limit", 3, "--json")
    keys = [json.loads(line)["primary_key"][0]["value"] for line in found.stdout.splitlines()]
    assert keys == ["0", "1", "2"]
    assert found.stderr == "3 changes of orders\n"


def test_a_stream_that_is_off_is_told(server: WiderowServer, widerow: Callable[..., Any]) -> None:
    make_table(server)
    with pytest.raises(CommandFailed, match=r"the stream of orders is off.*--enable 24"):
        widerow("tail", "orders", "--once")
    with pytest.raises(RequestFailed, match="there is no table nothing in the instance shop"):
        widerow("tail", "nothing", "--once")


@pytest.mark.parametrize("flags", [("--limit", 0), ("--interval", 0), ("--interval", "nan")])
def test_flags_out_of_bounds_are_refused(widerow: Callable[..., Any], flags: Any) -> None:  # noqa: ANN401  # words
    assert str(flags[0]) in widerow("tail", "orders", *flags, expect=2).output


# --- shards --------------------------------------------------------------------------------------


class Shards:
    """A stream of an endpoint, by the answers that it gives: shards with parents and records."""

    def __init__(self) -> None:
        self.parents: dict[str, tuple[str, ...]] = {"1": ()}
        self.records: dict[str, list[bytes]] = {"1": []}
        self.closed: set[str] = set()

    def call(self, action: str, asked: Any, _: object) -> Any:  # noqa: ANN401  # messages
        return getattr(self, action)(asked)

    def DescribeStream(self, asked: m.DescribeStreamRequest) -> m.DescribeStreamResponse:  # noqa: N802  # an action
        names = [*self.parents]
        first = names.index(text(asked.inclusive_start_shard_id) or names[0])
        shards = []
        for name in names[first : first + 2]:
            one, other = (*self.parents[name], None, None)[:2]
            shards.append(m.StreamShard(shard_id=name, parent_id=one, parent_sibling_id=other))
        following = (*names[first + 2 :], None)[0]
        return m.DescribeStreamResponse(shards=shards, next_shard_id=following)

    def GetShardIterator(self, asked: m.GetShardIteratorRequest) -> m.GetShardIteratorResponse:  # noqa: N802  # an action
        name = text(asked.shard_id)
        count = len(self.records[name]) if asked.HasField("timestamp") else 0
        if asked.HasField("timestamp") and name in self.closed:
            return m.GetShardIteratorResponse(shard_iterator="")
        return m.GetShardIteratorResponse(shard_iterator=f"{name} {count}")

    def GetStreamRecord(self, asked: m.GetStreamRecordRequest) -> m.GetStreamRecordResponse:  # noqa: N802  # an action
        name, _, at = text(asked.shard_iterator).partition(" ")
        end = int(at) + asked.limit
        more = end < len(self.records[name])
        kind = m.GetStreamRecordResponse.StreamRecord
        records = [kind(action_type=1, record=each) for each in self.records[name][int(at) : end]]
        is_end = name in self.closed and not more
        place = min(end, len(self.records[name]))
        following = None if is_end else f"{name} {place}"
        return m.GetStreamRecordResponse(
            stream_records=records, next_shard_iterator=following, may_more_record=more
        )


def shards_of(changes: list[FollowedChange]) -> list[str]:
    return [each.shard for each in changes]


def test_children_are_read_behind_their_parents() -> None:
    """change §C1.3: a split, then a merge of its children."""
    stream = Shards()
    record = bytes.fromhex(PUT)
    stream.records |= {"1": [record] * 3, "2": [record], "3": [record] * 2, "4": [record]}
    stream.parents |= {"2": ("1",), "3": ("1",), "4": ("2", "3")}
    stream.closed = {"1", "2", "3"}
    follower = Follower(stream, "s", START, NOW_US)  # type: ignore[arg-type]  # answers as a client
    found = []
    while not follower.at_tail:
        found += shards_of(follower.read(2))
    assert found[:3] == ["1"] * 3
    assert sorted(found[3:6]) == ["2", "3", "3"]
    assert found[6:] == ["4"]


def test_children_of_a_later_split_are_read_from_their_beginning() -> None:
    stream = Shards()
    record = bytes.fromhex(PUT)
    stream.records["1"] = [record]
    follower = Follower(stream, "s", TAIL, NOW_US)  # type: ignore[arg-type]  # answers as a client
    assert (follower.read(), follower.at_tail) == ([], True)
    stream.records["1"] += [record]
    stream.closed.add("1")
    stream.parents |= {"2": ("1",), "3": ("1",)}
    stream.records |= {"2": [record], "3": [record]}
    assert shards_of(follower.read()) == ["1"]
    assert not follower.at_tail
    assert sorted(shards_of(follower.read())) == ["2", "3"]
    assert follower.at_tail


def test_a_parent_that_is_listed_no_more_counts_as_read() -> None:
    """change §C1.3: expired closed shards leave the list, children keep naming them."""
    stream = Shards()
    stream.parents = {"7": ("1", "2")}
    stream.records = {"7": [bytes.fromhex(PUT)]}
    follower = Follower(stream, "s", START, NOW_US)  # type: ignore[arg-type]  # answers as a client
    assert shards_of(follower.read()) == ["7"]


def test_shards_that_ended_before_now_are_not_read() -> None:
    stream = Shards()
    record = bytes.fromhex(PUT)
    stream.parents["2"] = ("1",)
    stream.records |= {"1": [record], "2": [record]}
    stream.closed.add("1")
    follower = Follower(stream, "s", TAIL, NOW_US)  # type: ignore[arg-type]  # answers as a client
    assert follower.read() == []
    stream.records["2"] += [record]
    assert shards_of(follower.read()) == ["2"]
