"""The changes of a table, followed through all shards of its stream (change §C1).

A stream has shards: one for each range of partition keys. A split or a merge closes shards and
opens children of them. Each shard is read by itself, from an iterator that each answer replaces;
a child is not read before its parents are at their ends, so that the changes of one row come in
their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from widerow.client.connection import Client
from widerow.client.failures import Refused
from widerow.client.rows import decode_change, decode_rows
from widerow.client.tables import NoSuchTable, about_table
from widerow.limits import DATE_SKEW_SECONDS_MAX
from widerow.model.values import KeyValue
from widerow.rows.plain_values import CellDeletion, VersionedValue
from widerow.transfer.failures import TransferFailed
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.errors.codes import TRIMMED_DATA_ACCESS
from widerow.wire.tablestore.operations.bodies import text

__all__ = [
    "PAGE_RECORDS",
    "START",
    "TAIL",
    "FollowedChange",
    "Follower",
    "StreamFacts",
    "enable_stream",
    "find_stream",
]

START: Final = 0
"""From the oldest change that is kept."""

TAIL: Final = -1
"""From what comes next."""

PAGE_RECORDS: Final = 1000
"""The most that one answer has (change §C1.5)."""

_ACTIONS: Final = {1: "PUT", 2: "UPDATE", 3: "DELETE"}


class FollowedChange(NamedTuple):
    """One change of a row.

    `action`: PUT, UPDATE or DELETE. `origin`: former values of the columns that the stream keeps
    them of; None where it keeps none or there was no row. `time_us`: microseconds since 1970.
    """

    action: str
    key: tuple[tuple[str, KeyValue], ...]
    cells: tuple[VersionedValue | CellDeletion, ...]
    origin: tuple[VersionedValue, ...] | None
    shard: str
    time_us: int
    row_index: int


class StreamFacts(NamedTuple):
    """The stream of a table: its id, for how many hours it keeps changes, whose former values."""

    id: str
    hours: int
    columns: tuple[str, ...]


def find_stream(client: Client, table: str) -> StreamFacts | None:
    """The stream of a table; None where it is off.

    Raises: `NoSuchTable` where there is no such table, and as `Client.call`.
    """
    try:
        with about_table(client, table):
            found = client.call(
                "DescribeTable", m.DescribeTableRequest(table_name=table), m.DescribeTableResponse
            )
    except NoSuchTable:
        return _stream_of_points(client, table)
    details = found.stream_details
    if not details.enable_stream:
        return None
    columns = tuple(map(text, details.columns_to_get))
    return StreamFacts(text(details.stream_id), details.expiration_time, columns)


def _stream_of_points(client: Client, table: str) -> StreamFacts:
    """The stream of a timeseries table, which DescribeTable does not know. Raises `NoSuchTable`."""
    with about_table(client, table):
        listed = client.call(
            "ListStream", m.ListStreamRequest(table_name=table), m.ListStreamResponse
        )
    asked = m.DescribeStreamRequest(
        stream_id=text(listed.streams[0].stream_id), support_timeseries_data_table=True
    )
    told = client.call("DescribeStream", asked, m.DescribeStreamResponse)
    return StreamFacts(text(told.stream_id), told.expiration_time, ())


def enable_stream(client: Client, table: str, hours: int) -> None:
    """Switch the stream of a table on, to keep changes for so many hours (1 to 168).

    Raises as `Client.call`; `Refused` for hours out of bounds.
    """
    wish = m.StreamSpecification(enable_stream=True, expiration_time=hours)
    request = m.UpdateTableRequest(table_name=table, stream_spec=wish)
    client.call("UpdateTable", request, m.UpdateTableResponse)


class _State(Enum):
    """How far a shard is."""

    WAITING = "a parent is not at its end"
    READING = "it is read"
    ENDED = "all of it was read"


@dataclass(slots=True)
class _Shard:
    parents: tuple[str, ...]
    state: _State = _State.WAITING
    iterator: str = ""


class Follower:
    """Reads on in all shards of one stream. Belongs to one thread, as its client does."""

    def __init__(self, client: Client, stream_id: str, begin: int, now_us: int) -> None:
        """Begin at `START`, `TAIL`, or at a time in microseconds since 1970.

        Where each shard begins is found out here, so a change that is made afterwards is read.
        `now_us`: the time. Raises as `Client.call`.
        """
        self.at_tail = False
        self._client = client
        self._stream_id = stream_id
        self._shards: dict[str, _Shard] = {}
        # The server's clock may be ahead of ours by what it accepts of a signature.
        ahead_us = now_us + DATE_SKEW_SECONDS_MAX * 1_000_000
        self._describe({START: None, TAIL: ahead_us}.get(begin, begin))

    def read(self, limit: int | None = None) -> list[FollowedChange]:
        """The next changes, in the order of their time: a page of each shard that may be read.

        At most `limit`, where it is given. `at_tail` says afterwards whether no shard has more.
        Raises: `TransferFailed` where changes were trimmed before they were read, and as
        `Client.call`.
        """
        found: list[FollowedChange] = []
        self.at_tail = True
        self._open_shards()
        readable = [each for each in self._shards.items() if each[1].state is _State.READING]
        ended = False
        for name, shard in readable:
            room = PAGE_RECORDS if limit is None else limit - len(found)
            if room <= 0:
                self.at_tail = False
                break
            found += self._page(name, shard, min(room, PAGE_RECORDS))
            ended = ended or shard.state is _State.ENDED
        if ended:
            self.at_tail = False  # its children come next
            self._describe(None)
        return sorted(found, key=lambda change: change.time_us)

    def _page(self, name: str, shard: _Shard, limit: int) -> Sequence[FollowedChange]:
        request = m.GetStreamRecordRequest(shard_iterator=shard.iterator, limit=limit)
        try:
            answer = self._client.call("GetStreamRecord", request, m.GetStreamRecordResponse)
        except Refused as error:
            if error.code == TRIMMED_DATA_ACCESS:
                raise TransferFailed(
                    f"changes of shard {name} were trimmed before they were read; begin again with "
                    "the oldest that are kept (--from start)"
                ) from error
            raise
        if answer.HasField("next_shard_iterator"):
            shard.iterator = text(answer.next_shard_iterator)
        else:
            shard.state = _State.ENDED
        if answer.may_more_record:
            self.at_tail = False
        return [_change(name, record) for record in answer.stream_records]

    def _describe(self, from_us: int | None) -> None:
        """Learn of new shards, which begin at a time, or at their oldest change where it is None.

        Shards that are found later have changes only that came after the beginning.
        """
        start: str | None = None
        listed: set[str] = set()
        while True:
            request = m.DescribeStreamRequest(
                stream_id=self._stream_id,
                inclusive_start_shard_id=start,
                support_timeseries_data_table=True,
            )
            page = self._client.call("DescribeStream", request, m.DescribeStreamResponse)
            for each in page.shards:
                name = text(each.shard_id)
                listed.add(name)
                if name not in self._shards:
                    parents = (text(each.parent_id), text(each.parent_sibling_id))
                    self._shards[name] = _Shard(tuple(filter(None, parents)))
                    self._begin(name, from_us)
            start = text(page.next_shard_id)
            if not start:
                break
        # Parents that are listed no more count as read (change §C1.3).
        for name in self._shards.keys() - listed:
            if self._shards[name].state is _State.ENDED:
                del self._shards[name]

    def _begin(self, name: str, from_us: int | None) -> None:
        """Find where a shard begins; one that ended before that is not read."""
        request = m.GetShardIteratorRequest(
            stream_id=self._stream_id, shard_id=name, timestamp=from_us
        )
        answer = self._client.call("GetShardIterator", request, m.GetShardIteratorResponse)
        shard = self._shards[name]
        shard.iterator = text(answer.shard_iterator)
        if not shard.iterator:
            shard.state = _State.ENDED

    def _open_shards(self) -> None:
        """Let those be read whose parents are at their ends."""
        for shard in self._shards.values():
            if shard.state is _State.WAITING:
                parents = [self._shards[each] for each in shard.parents if each in self._shards]
                if all(each.state is _State.ENDED for each in parents):
                    shard.state = _State.READING


def _change(shard: str, record: m.GetStreamRecordResponse.StreamRecord) -> FollowedChange:
    row = decode_change(record.record)
    origin: tuple[VersionedValue, ...] | None = None
    if record.origin_record:
        origin = decode_rows(record.origin_record)[0].cells
    action = _ACTIONS.get(record.action_type)
    if action is None:
        raise TransferFailed(f"the endpoint sent a change of the unknown kind {record.action_type}")
    return FollowedChange(action, row.key, row.cells, origin, shard, row.time_us, row.row_index)
