"""Moving changes from their intents into the logs of tables (change §C1.8, rule 3).

Only where a row's transaction does not reach the log (`recorder.py` leaves an intent there). A log
is a table's stream or its journal. For each shard of a log there is a queue: the intents of this
log under the partition keys that the shard takes. A step takes some intents of one queue, appends
their records to the log in one transaction, and removes them in others.

**Each change is appended once.** The head of the log's shard lists the intents that the last append
took. An append is planned in this order: read the head; see that every intent on its list is gone;
read the queue. It is made only if the head still has the same list and is not sealed; its own
intents are the new list. So nothing was appended since the head was read, and what was appended
before was on a list that was replaced only when it was gone. Whatever is in the queue behind that
was never appended, and an intent that is gone never comes back (`engine/intents.py`). What is on
the list and still there was appended: it is removed, and nothing else happens before that. So any
number of processes may do this at the same time, be killed at any point, or not know what became
of a transaction.

**Order.** A queue is read by partition key, and of each partition key value from its oldest intent
on, so records of one value are appended in the order of their commits. Across values a step sorts
by the time at which the changes were asked for. What one transaction left is appended by one step,
so its records have one time.

**Splits and merges.** A shard that the catalogue has closed is sealed: its head says so, which is
one more check-and-set, made when all intents on its list are gone. Nothing is appended behind it,
not even by whoever planned before the split. A shard takes nothing before those that it goes on
from are sealed. So what was not moved in time goes to the shards that the catalogue has now, each
change to one of them, and all of it later than what their parents hold.

What a log left that is off, or was switched on anew since, is removed: the catalogue is asked
after the intent was seen, so it knows every log that the intent can be of.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, final

from widerow.engine.catalog.catalog import Tables
from widerow.engine.intents import IntentKind, decode_intent, intents_between, pass_over, removals
from widerow.engine.plan import Plan
from widerow.engine.tablestore.log_shards import OpenShards
from widerow.engine.tablestore.streams.intents import ChangeIntent, decode_change_intent
from widerow.engine.tablestore.streams.log import (
    LogHead,
    LogPosition,
    decode_record,
    encode_head,
    encode_record,
    following_position,
    new_head,
    read_head,
    record_key,
    shard_prefix,
)
from widerow.engine.tablestore.streams.plain import placed
from widerow.engine.tablestore.streams.recorder import floor_of
from widerow.errors import Replan
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_INTENTS, intent_prefix
from widerow.limits import FIRST_LOOK_SECONDS, HOUSEKEEPING_PAUSE_SECONDS
from widerow.model.tablestore.schema import LogShard, Stream, Table
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["ChangeMover", "queue_of"]

STEP_CHANGES: Final = 512  # moved in one step; the rest of a transaction comes with them
STEP_BYTES: Final = 1024 * 1024  # the same where records are large


def queue_of(reader: Reader, table: Table, log: Stream, shard: LogShard) -> Iterator[ChangeIntent]:
    """The intents that an open shard of a log is to take, as they lie in the store."""
    prefix = intent_prefix(table.id)
    end = OpenShards(log).stop_of(shard)
    stop = after_prefix(prefix) if end is None else prefix + end
    found = intents_between(reader, prefix + shard.start, stop, IntentKind.CHANGE)
    return (each for each in map(decode_change_intent, found) if each.log == log.number)


@final
class ChangeMover:
    """Moves the changes of all tables. `step` is for one caller at a time."""

    def __init__(self, store: Store, tables: Tables[Table]) -> None:
        """Nothing was looked at. Nothing ever has to be where transactions reach over shards."""
        self._store = store
        self._tables = tables
        self._needed = not store.capabilities.atomic_across_shards
        self._position = SPACE_INTENTS  # behind the queue that was looked at last
        self._sealed: set[bytes] = set()  # prefixes of shards of which it is known

    def pause(self, seconds: float) -> float:
        """How long to wait at most for the next look, where there was nothing to do."""
        if not self._needed:
            return seconds
        known = any(each.logs for each in self._tables.all())
        return min(seconds, HOUSEKEEPING_PAUSE_SECONDS if known else FIRST_LOOK_SECONDS)

    def step(self) -> Plan[None] | None:
        """The next step; None where nothing waits. Queues take turns."""
        if not self._needed:
            return None
        return self._seal_step() or self._queue_step()

    # --- queues ------------------------------------------------------------------------------

    def _queue_step(self) -> Plan[None] | None:
        """The next step of a queue from the last one on, and then of those before it."""
        start, end = self._position, after_prefix(SPACE_INTENTS)
        for first, stop in ((start, end), (SPACE_INTENTS, start)):
            self._position = first
            while self._position < stop:
                found = self._first_between(self._position, stop)
                if found is None:
                    break
                plan = self._step_at(found)
                if plan is not None:
                    return plan
        return None

    def _first_between(self, start: bytes, stop: bytes) -> ChangeIntent | None:
        reader = self._store.snapshot()
        found = next(intents_between(reader, start, stop, IntentKind.CHANGE), None)
        return None if found is None else decode_change_intent(found)

    def _step_at(self, found: ChangeIntent) -> Plan[None] | None:
        """What is done about an intent and others of its queue; None where it has to wait."""
        prefix = found.key[:ROW_PREFIX_BYTES]
        self._position = after_prefix(prefix)
        table = self._tables.by_id(int.from_bytes(prefix[len(SPACE_INTENTS) :], "big"))
        if table is None:
            return None  # dropped: its intents go with it
        if all(log.number != found.log for log in table.logs):
            return self._throw_away(table)
        plan: Plan[None] | None = None
        for log in table.logs:  # their open shards are the partitions, so they have the same ranges
            opened = OpenShards(log)
            shard = opened.at(found.key[ROW_PREFIX_BYTES:])
            end = opened.stop_of(shard)
            if end is not None:
                self._position = prefix + end
            plan = plan or self._move(table, log, shard)
        return plan

    def _throw_away(self, table: Table) -> Plan[None]:
        """Remove what logs left that the table has no more."""
        known = {log.number for log in table.logs}
        prefix = intent_prefix(table.id)
        found = intents_between(
            self._store.snapshot(), prefix, after_prefix(prefix), IntentKind.CHANGE
        )
        dead = (each for each in found if decode_change_intent(each).log not in known)
        return Plan(removals(islice(dead, STEP_CHANGES)), pass_over)

    def _move(self, table: Table, log: Stream, shard: LogShard) -> Plan[None] | None:
        """Append what waits for a shard, or end the append before it; None if it has to wait."""
        if not all(self._is_sealed(table, log, each) for each in _parents(log, shard)):
            return None
        reader = self._store.snapshot()
        prefix = shard_prefix(table.id, log.number, shard.number)
        head = read_head(reader, prefix) or new_head(floor_of(reader, table, log, shard))
        reader = self._store.snapshot()  # of a moment behind all that was read so far
        moved = self._still_there(reader, table, head)
        if moved is not None:
            return moved
        changes = _taken(queue_of(reader, table, log, shard))
        if not changes:
            return None
        value_at = _row_named if log is table.journal else _record_at
        body = partial(self._append, (table, prefix), head, changes, value_at)
        write = Write((prefix,), body, reads=self._tables.catalog.reads)
        taken = removals(each.intent for each in changes)
        return Plan((write,), _go_on, again=lambda _: Plan(taken, pass_over))

    def _append(
        self,
        place: tuple[Table, bytes],
        planned: LogHead,
        changes: Sequence[ChangeIntent],
        value_at: "_ValueAt",
        txn: Transaction,
    ) -> None:
        """Append records in order of their times; those of one partition key value stay in order.

        `place`: the table, and the prefix of the shard. Raises `Replan` where the head is not the
        one that this was planned on.
        """
        table, prefix = place
        head = self._unchanged_head(table, prefix, planned, txn)
        for time_us, change in _in_order_of_time(changes):
            position = following_position(head, time_us)
            txn.put(record_key(prefix, position), value_at(change.value, position))
            head = head._replace(last=position)
        taken = tuple([each.key[ROW_PREFIX_BYTES:] for each in changes])
        txn.put(prefix, encode_head(head._replace(moved=taken)))

    def _unchanged_head(
        self, table: Table, prefix: bytes, planned: LogHead, txn: Transaction
    ) -> LogHead:
        """The head as it is now, if nothing was appended since and it is not sealed."""
        current = self._tables.current(table, txn)
        if prefix not in _logs_of(current):
            raise Replan
        head = read_head(txn, prefix) or planned._replace(moved=())
        if head.sealed or head.moved != planned.moved:
            raise Replan
        return head

    def _still_there(self, reader: Reader, table: Table, head: LogHead) -> Plan[None] | None:
        """The plan that removes what the last append took; None where all of it is gone."""
        keys = [intent_prefix(table.id) + each for each in head.moved]
        found = zip(keys, reader.get_many(keys), strict=True)
        left = [decode_intent(key, value) for key, value in found if value is not None]
        return Plan(removals(left), pass_over) if left else None

    # --- shards that are closed --------------------------------------------------------------

    def _seal_step(self) -> Plan[None] | None:
        """The next step of sealing a closed shard; those come first for which others wait."""
        for table in self._tables.all():
            for log in table.logs:
                for shard in log.shards:
                    if shard.is_open or self._is_sealed(table, log, shard):
                        continue
                    if all(self._is_sealed(table, log, each) for each in _parents(log, shard)):
                        return self._seal(table, log, shard)
        return None

    def _is_sealed(self, table: Table, log: Stream, shard: LogShard) -> bool:
        prefix = shard_prefix(table.id, log.number, shard.number)
        if prefix in self._sealed:
            return True
        head = read_head(self._store.snapshot(), prefix)
        if head is None or not head.sealed:
            return False
        self._sealed.add(prefix)
        return True

    def _seal(self, table: Table, log: Stream, shard: LogShard) -> Plan[None]:
        """Seal a shard, or remove first what its last append took."""
        reader = self._store.snapshot()
        prefix = shard_prefix(table.id, log.number, shard.number)
        head = read_head(reader, prefix) or new_head(floor_of(reader, table, log, shard))
        left = self._still_there(self._store.snapshot(), table, head)
        if left is not None:
            return left

        def seal(txn: Transaction) -> None:
            found = self._unchanged_head(table, prefix, head, txn)
            txn.put(prefix, encode_head(found._replace(sealed=True, moved=())))

        write = Write((prefix,), seal, reads=self._tables.catalog.reads)
        return Plan((write,), pass_over)


def _logs_of(table: Table) -> set[bytes]:
    """The prefixes of the shards that the table's logs have now."""
    return {
        shard_prefix(table.id, log.number, each.number) for log in table.logs for each in log.shards
    }


_ValueAt = Callable[[bytes, LogPosition], bytes]


def _record_at(value: bytes, position: LogPosition) -> bytes:
    """What stands in a stream for a change at a position."""
    record = decode_record(value)
    return encode_record(record._replace(record=placed(record.record, position)))


def _row_named(value: bytes, position: LogPosition) -> bytes:
    """What stands in a journal: it says no position."""
    del position
    return value


def _parents(log: Stream, shard: LogShard) -> list[LogShard]:
    """Those that a shard goes on from, as far as they are listed: others were read to their end."""
    return [each for each in log.shards if each.number in shard.parents]


def _taken(queue: Iterable[ChangeIntent]) -> list[ChangeIntent]:
    """What one step takes of a queue: it never stops between two changes of one transaction."""
    taken: list[ChangeIntent] = []
    size = 0
    for each in queue:
        full = len(taken) >= STEP_CHANGES or size >= STEP_BYTES
        if full and not _are_together(taken[-1], each):
            break
        taken.append(each)
        size += len(each.key) + len(each.intent.body)
    return taken


def _are_together(one: ChangeIntent, other: ChangeIntent) -> bool:
    """Whether two neighbours may be of one transaction."""
    return one.intent.shard == other.intent.shard and one.asked_us == other.asked_us


def _in_order_of_time(changes: Sequence[ChangeIntent]) -> list[tuple[int, ChangeIntent]]:
    """Changes with their times, sorted by them.

    No change has an earlier time than one before it under the same partition key value, whatever
    the clocks of those who asked said.
    """
    timed: list[tuple[int, ChangeIntent]] = []
    latest: dict[bytes, int] = {}
    for each in changes:
        shard = each.intent.shard
        latest[shard] = max(latest.get(shard, 0), each.asked_us)
        timed.append((latest[shard], each))
    return sorted(timed, key=_time_of)


def _time_of(timed: tuple[int, ChangeIntent]) -> int:
    return timed[0]


def _go_on(outcomes: Sequence[Outcome[Any]]) -> None:
    """Let what follows be planned, if this is durable."""
    pass_over(outcomes)
    if outcomes[0].error is None:
        raise Replan
