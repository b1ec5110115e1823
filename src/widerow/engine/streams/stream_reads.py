"""Streams as their readers see them: the shards, positions in them, and pages of records.

Where changes are moved into a log after their rows (`mover.py`), a reader is at the tail only when
no change waits for the shard: until then pages say `more`. So an answered change is in a page, or
announced by every page before it. And a shard has ended only when it is sealed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.catalog.catalog import Tables
from widerow.engine.streams.iterators import (
    ShardIterator,
    decode_iterator,
    encode_iterator,
)
from widerow.engine.streams.log import (
    EMPTY_HEAD,
    LOG_START,
    LogHead,
    LogPosition,
    decode_record,
    position_of,
    read_head,
    record_key,
    shard_prefix,
)
from widerow.engine.streams.logged import LoggedTable
from widerow.engine.streams.mover import queue_of
from widerow.errors import InvalidRequest, NotFound
from widerow.keys.encode import after_prefix
from widerow.model.streams import LogShard, Stream, StreamRule
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader, Store

__all__ = [
    "ChangePage",
    "ChangeRecord",
    "ShardInfo",
    "Streams",
    "TakenApart",
    "stream_id_in",
    "stream_of",
]

T = TypeVar("T", bound=LoggedTable)
Stored = tuple[bytes, bytes]
"""Key and value of a record of one change."""
TakenApart = Callable[[Stored, LogPosition], Iterator[Stored]]
"""Makes the records of single changes of a record of several; of those from a position on."""

PAGE_RECORDS_MAX: Final = 1000
PAGE_BYTES_MAX: Final = 1024 * 1024
_ID_CHARS_MAX: Final = 255
_LET_THROUGH: Final = 64  # records between two safepoints


class ShardInfo(NamedTuple):
    """The description of a shard: its id, and the ids of its parents."""

    id: str
    parents: tuple[str, ...]
    is_open: bool


class ChangeRecord(NamedTuple):
    """A change: 1 put, 2 update, 3 delete; its record, and the former row if it is kept.

    Both are complete PlainBuffers. `timestamp_us` and `row_index` are its position.
    """

    action: int
    record: bytes
    origin: bytes | None
    timestamp_us: int
    row_index: int


class ChangePage(NamedTuple):
    """Records in their order. `following`: the next iterator, None behind a shard's end.

    `stored`: their keys and values, as in the log. `more`: a limit ended the page, or changes wait
    to come into the shard; False only where there was nothing more at the moment.
    """

    stored: list[Stored]
    following: str | None
    more: bool

    @property
    def read_units(self) -> int:
        """Capacity units of the page: by the bytes of its records, one at least (change §C1.5)."""
        return max(1, units(sum([len(value) for _, value in self.stored])))

    def records(self) -> list[ChangeRecord]:
        """The decoded records. Linear. Raises `StoreDamaged`."""
        return [_record(key, value) for key, value in self.stored]


def stream_of(table: LoggedTable) -> Stream:
    """The stream of a table. Raises `NotFound` where it is off."""
    if table.stream is None:
        raise NotFound(StreamRule.STREAM_NOT_FOUND)
    return table.stream


def stream_id_in(iterator: str) -> str:
    """The id of the stream that an iterator is of.

    Raises `InvalidRequest` for a malformed iterator. Ids of more than 255 characters are refused
    here and in no other action, as the service does (change §C1.1).
    """
    stream_id = decode_iterator(iterator).stream_id
    if len(stream_id) > _ID_CHARS_MAX:
        raise InvalidRequest(StreamRule.STREAM_ID, id=stream_id)
    return stream_id


class Streams(Generic[T]):
    """The streams of one model's tables. Any thread may ask."""

    def __init__(
        self,
        store: Store,
        tables: Tables[T],
        note: Callable[[T, bytes, int], None],
        split_of: Callable[[T, str], TakenApart] | None = None,
    ) -> None:
        """The streams of `tables`. `note` is told read units and their partition.

        `split_of`: for records of several changes, by the table and the name that it is seen as.
        """
        self._split_of = split_of
        self._store = store
        self._tables = tables
        self._note = note
        # whether changes are moved after their rows
        self._moved = not store.capabilities.atomic_across_shards

    def list(self, instance: str, name: str | None) -> Sequence[T]:
        """ListStream: the tables that have a stream, sorted; of one table if it is named.

        Raises `NotFound` for a name that no table has.
        """
        if name is not None:
            found = [self._tables.find(instance, name)]
        else:
            names = self._tables.names(instance)
            found = [self._tables.find(instance, each) for each in names]
        return [table for table in found if table.stream is not None]

    def find(self, instance: str, stream_id: str) -> T:
        """The table of a stream.

        Raises: `InvalidRequest` for a malformed id, `NotFound` for an unknown one.
        """
        name, _, time = stream_id.rpartition("_")
        if not name or not time.isdecimal() or not time.isascii():
            raise InvalidRequest(StreamRule.STREAM_ID, id=stream_id[:_ID_CHARS_MAX])
        table = self._tables.get(instance, name)
        if table is None or table.stream is None or table.stream.id != stream_id:
            raise NotFound(StreamRule.STREAM_NOT_FOUND)
        return table

    def shards(self, table: T) -> tuple[ShardInfo, ...]:
        """The shards of a table's stream, by creation. Raises `NotFound`."""
        return tuple(
            [
                ShardInfo(str(each.number), tuple(map(str, each.parents)), each.is_open)
                for each in stream_of(table).shards
            ]
        )

    def iterator(self, table: T, shard_id: str, from_us: int | None) -> str:
        """An iterator that begins at the oldest record, or at the first one not before `from_us`.

        "" where a closed shard ends before that time. Raises `NotFound`.
        """
        stream, shard = _shard(table, shard_id)
        prefix = shard_prefix(table.id, stream.number, shard.number)
        snapshot = self._store.snapshot()
        if from_us is None:
            return _text(stream, shard, LOG_START)
        start = record_key(prefix, LogPosition(max(0, from_us), 0))
        ended = self._has_ended(shard, read_head(snapshot, prefix))
        if ended and next(snapshot.scan(start, after_prefix(prefix)), None) is None:
            return ""
        # After the last record before that time: where reading up to it would have stopped.
        before = next(snapshot.scan(record_key(prefix, LOG_START), start, reverse=True), None)
        if before is not None:
            return _text(stream, shard, position_of(before[0]).behind)
        return _text(stream, shard, (read_head(snapshot, prefix) or EMPTY_HEAD).trimmed)

    def end_us(self, table: T, shard_id: str) -> int:
        """The time of a shard's last record; 0 where there was none. Raises `NotFound`."""
        stream, shard = _shard(table, shard_id)
        prefix = shard_prefix(table.id, stream.number, shard.number)
        return (read_head(self._store.snapshot(), prefix) or EMPTY_HEAD).last.timestamp_us

    def read(
        self,
        table: T,
        iterator: str,
        limit: int | None,
        budget: Budget | None = None,
        seen_as: str = "",
    ) -> ChangePage:
        """The next records: at most `limit` (1000 where None), and a megabyte or one record.

        `seen_as`: the name that the table is seen as, where the model has several; "": its own.

        Raises: `InvalidRequest` for a bad iterator or limit, `NotFound` for an unknown stream or
        shard, or where the next records were trimmed; `TooLong` beyond `budget`.
        """
        if limit is not None and limit <= 0:
            raise InvalidRequest(StreamRule.STREAM_LIMIT, value=limit)
        asked = decode_iterator(iterator)
        stream, shard = _shard(table, str(asked.shard))
        if stream.id != asked.stream_id:
            raise NotFound(StreamRule.STREAM_NOT_FOUND)
        prefix = shard_prefix(table.id, stream.number, shard.number)
        waits = self._moved and self._waits(table, shard)  # to be read before the log is
        snapshot = self._store.snapshot()
        head = read_head(snapshot, prefix)
        _check_kept(head, asked.following)
        count = min(limit or PAGE_RECORDS_MAX, PAGE_RECORDS_MAX)
        split = None if self._split_of is None else self._split_of(table, seen_as)
        found = _changes(snapshot, prefix, asked.following, split)
        stored, more = _page(found, count, budget)
        following = position_of(stored[-1][0]).behind if stored else asked.following
        if not more and self._has_ended(shard, head):
            page = ChangePage(stored, None, more=False)
        else:
            page = ChangePage(stored, _text(stream, shard, following), more or waits)
        self._note(table, shard.start, page.read_units)
        return page

    def is_behind(self, table: T) -> bool:
        """Whether changes that were answered before this call may still be moved into the stream.

        False where it is off.
        """
        if not self._moved or table.stream is None:
            return False
        return any(shard.is_open and self._waits(table, shard) for shard in table.stream.shards)

    def _waits(self, table: T, shard: LogShard) -> bool:
        """Whether changes that were answered before this call may still be moved into a shard."""
        if not shard.is_open:
            return True  # until it is sealed
        waiting = queue_of(self._store.snapshot(), table, stream_of(table), shard)
        return next(waiting, None) is not None

    def _has_ended(self, shard: LogShard, head: LogHead | None) -> bool:
        """Whether no record can be appended to a shard any more."""
        if self._moved:
            return head is not None and head.sealed
        return not shard.is_open


def _shard(table: LoggedTable, shard_id: str) -> tuple[Stream, LogShard]:
    stream = stream_of(table)
    for each in stream.shards:
        if str(each.number) == shard_id:
            return stream, each
    raise NotFound(StreamRule.SHARD_NOT_FOUND)


def _text(stream: Stream, shard: LogShard, following: LogPosition) -> str:
    return encode_iterator(ShardIterator(stream.id, shard.number, following))


def _check_kept(head: LogHead | None, following: LogPosition) -> None:
    """Raise `NotFound(STREAM_TRIMMED)` for a position whose record was trimmed.

    The start passes.
    """
    if head is not None and LOG_START < following < head.trimmed:
        raise NotFound(StreamRule.STREAM_TRIMMED)


def _record(key: bytes, value: bytes) -> ChangeRecord:
    found = decode_record(value)
    return ChangeRecord(found.action, found.record, found.origin or None, *position_of(key))


def _changes(
    reader: Reader, prefix: bytes, start: LogPosition, split: TakenApart | None
) -> Iterator[Stored]:
    """Records of single changes from a position on."""
    found = reader.scan(record_key(prefix, start), after_prefix(prefix))
    return found if split is None else _single(found, start, split)


def _single(found: Iterator[Stored], start: LogPosition, split: TakenApart) -> Iterator[Stored]:
    for stored in found:
        yield from split(stored, start)


def _page(found: Iterator[Stored], count: int, budget: Budget | None) -> tuple[list[Stored], bool]:
    """The next records, and whether a limit ended the page."""
    stored: list[Stored] = []
    size = 0
    for pair in found:
        length = len(pair[1])
        if budget is not None:
            budget.take(length, 1)
        if len(stored) % _LET_THROUGH == 0:
            safepoint()
        stored.append(pair)
        size += length
        if len(stored) == count or size >= PAGE_BYTES_MAX:
            return stored, True
    return stored, False
