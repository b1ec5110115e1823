"""Removing what logs no longer keep, one bounded step at a time (change §C1.6).

A record goes when it is older than the expiration time of its stream, or of the journal; in a
journal also when every search index has taken it. The head of a shard notes what was removed, in
the same transaction.

A closed shard leaves the list when all its records are gone and the stream's hours have passed
since it was seen to be closed: a reader at its tail comes back within that time and is told that it
ended. Its children keep naming it, and their heads keep its time, so that no record of a child is
older. Where changes are moved into the log (`mover.py`), a shard is sealed before it leaves the
list.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.state import Leftover
from widerow.engine.plan import Plan, put_off
from widerow.engine.streams.appender import floor_of
from widerow.engine.streams.log import (
    EMPTY_HEAD,
    LOG_START,
    LogPosition,
    encode_head,
    new_head,
    position_of,
    read_head,
    record_key,
    shard_prefix,
)
from widerow.engine.streams.logged import LoggedTable
from widerow.keys.encode import after_prefix
from widerow.keys.layout import dropped_key
from widerow.limits import STREAM_TRIM_SECONDS
from widerow.model.streams import LogShard, Stream
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["Covered", "StreamTrim"]

T = TypeVar("T", bound=LoggedTable)

Covered = Callable[[T], Mapping[int, LogPosition]]
"""For shards of a table's journal, the position from which on records are still needed."""

_HOUR_US: Final = 3_600_000_000
_SECOND_NS: Final = 1_000_000_000
_REST_NS: Final = STREAM_TRIM_SECONDS * _SECOND_NS
TURNS: Final = 4  # of a log in a look: remove, note what is closed, keep its times, forget it


def _nothing(table: LoggedTable) -> Mapping[int, LogPosition]:
    """The `covered` of tables without journals."""
    del table
    return {}


class _Turn(NamedTuple):
    """A log, by the numbers of its table and its own, and how many steps it still has in a look."""

    table_id: int
    log: int
    left: int


class StreamTrim(Generic[T]):
    """Removes old records of the logs of a model's tables. For one caller at a time."""

    def __init__(
        self,
        store: Store,
        tables: Tables[T],
        clock: Clock,
        with_log: Callable[[T, Stream], T],
        trimmed: Callable[[int], None],
        covered: "Covered[T]" = _nothing,
    ) -> None:
        """`with_log`: a table with another definition of its log of that number.

        `trimmed` hears of how many shards old records were removed; no log was looked at yet.
        """
        self._with_log = with_log
        self._store = store
        self._tables = tables
        self._clock = clock
        self._moved = not store.capabilities.atomic_across_shards
        self._covered = covered
        self._trimmed = trimmed
        self._waiting: deque[_Turn] = deque()  # logs of this look that were not trimmed yet
        self._looked_ns = -_REST_NS

    def step(self) -> Plan[None] | None:
        """The next step; None where nothing is to go. All logs are looked at once a minute.

        They take turns. A log has a few of them in a look: one that is written all the time always
        has records that have just grown too old, and those wait for the next look.
        """
        now_ns = self._clock.monotonic_ns()
        if not self._waiting and now_ns - self._looked_ns >= _REST_NS:
            self._looked_ns = now_ns
            self._waiting.extend(
                _Turn(table.id, log.number, TURNS)
                for table in self._tables.all()
                for log in table.logs
            )
        while self._waiting:
            turn = self._waiting.popleft()
            table = self._tables.by_id(turn.table_id)
            log = None if table is None else _log_numbered(table, turn.log)
            if table is None or log is None:
                continue
            plan = self._plan(table, log)
            if plan is not None:
                if turn.left > 1:  # there may be more to do
                    self._waiting.append(turn._replace(left=turn.left - 1))
                return plan
        return None

    def _plan(self, table: T, log: Stream) -> Plan[None] | None:
        """A step for one log: remove old records; note closed shards; remove empty shards."""
        snapshot = self._store.snapshot()
        until_us = self._clock.now_us() - log.expiration_hours * _HOUR_US
        covered = self._covered(table) if log is table.journal else {}
        writes: list[Write[None]] = []
        spent: list[LogShard] = []
        for shard in log.shards:
            prefix = shard_prefix(table.id, log.number, shard.number)
            oldest = _oldest(snapshot, prefix)
            until = max(LogPosition(max(until_us, 0), 0), covered.get(shard.number, LOG_START))
            if oldest is not None and oldest < until:
                writes.append(Write((prefix,), partial(_trim, prefix, until), frees=True))
            elif oldest is None and not shard.is_open and 0 < shard.closed_us < until_us:
                head = read_head(snapshot, prefix)
                if not self._moved or (head is not None and head.sealed):
                    spent.append(shard)
        if writes:
            return Plan(tuple(writes), self._end)
        if any(not each.is_open and not each.closed_us for each in log.shards):
            return self._note_closed(table, log)
        return self._forget(table, log, spent) if spent else None

    def _end(self, outcomes: Sequence[Outcome[None]]) -> None:
        self._trimmed(sum([outcome.error is None for outcome in outcomes]))
        put_off(outcomes)

    def _note_closed(self, table: T, log: Stream) -> Plan[None]:
        """Write down that shards were seen to be closed."""
        now_us = self._clock.now_us()

        def noted(shard: LogShard) -> LogShard:
            known = shard.is_open or shard.closed_us
            return shard if known else replace(shard, closed_us=now_us)

        def make(draft: Draft) -> None:
            found: T | None = draft.state.by_id.get(table.id)
            current = None if found is None else _log_numbered(found, log.number)
            if found is None or current is None:
                return
            shards = tuple([noted(each) for each in current.shards])
            draft.put(self._tables.model, self._with_log(found, replace(current, shards=shards)))

        return Plan((self._tables.catalog.change(make),), put_off)

    def _forget(self, table: T, log: Stream, spent: list[LogShard]) -> Plan[None]:
        """Remove shards from a log's definition, after their children's heads note their times.

        A drop note covers the rest of their keys.
        """
        gone = frozenset([each.number for each in spent])
        floors = tuple(self._floors(table, log, gone))
        if floors:
            return Plan(floors, put_off)

        def make(draft: Draft) -> None:
            found: T | None = draft.state.by_id.get(table.id)
            current = None if found is None else _log_numbered(found, log.number)
            if found is None or current is None:
                return
            listed = [each for each in current.shards if each.number in gone]
            if listed:
                number = draft.number()
                logs = [shard_prefix(found.id, log.number, each.number) for each in listed]
                key = dropped_key(found.instance, number)
                draft.leave(Leftover(number, key, tuple(logs), due_us=draft.due_us))
            kept = tuple([each for each in current.shards if each.number not in gone])
            draft.put(self._tables.model, self._with_log(found, replace(current, shards=kept)))

        due_us = self._tables.catalog.due_us(self._clock.now_us())
        return Plan((self._tables.catalog.change(make, due_us=due_us),), put_off)

    def _floors(self, table: T, log: Stream, gone: frozenset[int]) -> Iterator[Write[None]]:
        """Writes that note the times of removed shards in heads of children without a head."""
        reader = self._store.snapshot()
        for shard in log.shards:
            prefix = shard_prefix(table.id, log.number, shard.number)
            if gone & set(shard.parents) and read_head(reader, prefix) is None:
                floor_us = floor_of(reader, table.id, log, shard)
                yield Write((prefix,), partial(_keep_floor, prefix, floor_us))


def _log_numbered(table: LoggedTable, number: int) -> Stream | None:
    return next((log for log in table.logs if log.number == number), None)


def _oldest(reader: Reader, prefix: bytes) -> LogPosition | None:
    for key, _ in reader.scan(record_key(prefix, LOG_START), after_prefix(prefix)):
        return position_of(key)
    return None


def _trim(prefix: bytes, until: LogPosition, txn: Transaction) -> None:
    start, stop = record_key(prefix, LOG_START), record_key(prefix, until)
    found = next(txn.scan(start, stop, reverse=True), None)
    if found is not None:
        head = read_head(txn, prefix) or EMPTY_HEAD
        gone = position_of(found[0]).behind
        txn.delete_range(start, record_key(prefix, gone))
        txn.put(prefix, encode_head(head._replace(trimmed=gone)))


def _keep_floor(prefix: bytes, floor_us: int, txn: Transaction) -> None:
    """Write the head of a shard without records, so that it begins after `floor_us`."""
    if read_head(txn, prefix) is None:
        txn.put(prefix, encode_head(new_head(floor_us)))
