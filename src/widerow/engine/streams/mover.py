"""Moves changes from their intents into the logs of tables (change §C1.8, rule 3).

This happens only where a row's transaction does not reach the log, and `appender.py` leaves an
intent beside the row. A log is a table's stream or its journal. For each shard of a log there is a
queue: the intents of this log under the partition keys that the shard takes. A step takes some
intents of each of several queues, appends the records of each queue to its log in one transaction,
and removes the intents in other transactions. Queues take turns, and in a queue partition keys do
(`engine/rounds.py`): no queue waits for the end of another. A queue that cannot be read, or whose
shard cannot be written, is skipped.

**Each change is appended once.** The head of the log's shard lists the intents that the last append
took. An append is planned in this order: read the head; see that every intent on its list is gone;
read the queue. The append is made only if the head still has this list and is not sealed; the new
list is that of the appended intents. So no append was made since the head was read, and an earlier
list was replaced only when all its intents were removed. An intent in the queue that is on no list
was never appended, and a removed intent never comes back (`engine/intents.py`). An intent that is
on the list and still exists was appended: it is removed before any other append. So any number of
processes may move changes at the same time, be killed at any point, or not know the outcome of a
transaction.

**Order.** A queue is read by partition key, and of each partition key value from its oldest intent
on, so records of one value are appended in the order of their commits. A round over a queue
continues after a partition key value, never inside one. Across values a step sorts by the times at
which the changes were requested. The intents of one transaction are appended by one step, so its
records have one time.

**Splits and merges.** A shard that the catalogue has closed is sealed: its head says so, which is
one more check-and-set, made when all intents on its list are gone. No append to a sealed shard is
made, even one that was planned before the split. A shard gets its first append after its parents
are sealed. So changes that were not moved before the split go to the present shards, each change to
one of them, and after all records of the parents.

Intents of a log that was switched off, or switched off and on again, are removed: the catalogue is
read after the intent was seen, so it has every log that the intent can belong to.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeVar, final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.intents import (
    IntentKind,
    IntentWalk,
    decode_intent,
    intents_between,
    pass_over,
    removals,
)
from widerow.engine.lag import Lag, seconds_behind
from widerow.engine.lease import Lease
from widerow.engine.look_pause import LookPause
from widerow.engine.plan import Plan
from widerow.engine.rounds import Rounds
from widerow.engine.streams.appender import floor_of
from widerow.engine.streams.intents import ChangeIntent, decode_change_intent
from widerow.engine.streams.log import (
    LogHead,
    encode_head,
    following_position,
    new_head,
    read_head,
    record_key,
    shard_prefix,
)
from widerow.engine.streams.log_shards import OpenShards
from widerow.engine.streams.logged import LogForm, LoggedTable
from widerow.errors import Replan, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_INTENTS, intent_prefix
from widerow.limits import FIRST_LOOK_SECONDS, INTENTS_MAX
from widerow.model.streams import LogShard, Stream
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["ChangeMover", "queue_of"]

STEP_CHANGES: Final = 512  # moved in one step, plus the rest of a transaction
STEP_BYTES: Final = 1024 * 1024  # moved in one step, for large records
STEP_QUEUES: Final = 16  # from which a step takes changes
STEP_RECORDS: Final = 4096  # read in one step to find queues
# Records read of one queue in a step. Intents of other logs lie between, so the number exceeds the
# most intents of one partition key value: a step always gets past each value.
QUEUE_RECORDS: Final = INTENTS_MAX + 6000
QUEUE_CHANGES_MIN: Final = 32  # of one queue in a step, even if many queues have changes
QUEUE_BYTES_MIN: Final = 64 * 1024  # of one queue in a step, for large records
T = TypeVar("T", bound=LoggedTable)

_HERE: Final = ("",)  # the name of a change's turn: its whole queue

_QueueId = tuple[int, int]
"""A queue, by the number of its log and of the shard."""


def queue_of(
    reader: Reader, table: LoggedTable, log: Stream, shard: LogShard
) -> Iterator[ChangeIntent]:
    """The intents that an open shard of a log must take, in the order of the store."""
    found = intents_between(reader, *_range_of(table, log, shard), IntentKind.CHANGE)
    return (each for each in map(decode_change_intent, found) if each.log == log.number)


def _range_of(table: LoggedTable, log: Stream, shard: LogShard) -> tuple[bytes, bytes]:
    """The range of an open shard's intents, among which are those of other logs and kinds."""
    prefix = intent_prefix(table.id)
    end = OpenShards(log).stop_of(shard)
    return prefix + shard.start, after_prefix(prefix) if end is None else prefix + end


class _Move(NamedTuple):
    """A part of a step: its writes, and the intents to remove after these are made."""

    writes: tuple[Write[None], ...]
    taken: Sequence[ChangeIntent] = ()


@final
class ChangeMover(Generic[T]):
    """Moves the changes of a model's tables. `step` is for one caller at a time."""

    def __init__(
        self,
        store: Store,
        tables: Tables[T],
        clock: Clock,
        lease: Lease,
        form: Callable[[T, Stream], LogForm],
    ) -> None:
        """No queue was read yet. Where transactions reach over shards, `step` has no work.

        `lease`: of the process that moves changes, which may change. `form`: of a table's log.
        """
        self._form = form
        self._store = store
        self._tables = tables
        self._clock = clock
        self._lease = lease
        self._terms = lease.terms
        self._pause = LookPause()
        self._needed = not store.capabilities.atomic_across_shards
        self._rounds: Rounds[_QueueId, str] = Rounds()
        self._position = SPACE_INTENTS  # where the pass over all queues continues
        self._pass_worked = False  # whether the pass has moved or removed an intent
        self._sealed: set[bytes] = set()  # prefixes of shards known to be sealed
        self._all_sealed = -1  # the epoch of the catalogue in which every closed shard was sealed

    def pause(self, seconds: float) -> float:
        """The longest wait before the next step, after a step without work."""
        if not self._needed:
            return seconds
        known = any(each.logs for each in self._tables.all())
        return min(seconds, self._pause.seconds if known else FIRST_LOOK_SECONDS)

    def lags(self) -> list[Lag]:
        """The lags of all logs, without logs whose lag is not known yet.

        Lags are 0 where changes are written to their log with the rows. Any thread may call.
        """
        now_us = self._clock.now_us()
        found = []
        for table in self._tables.all():
            for log in table.logs:
                until = self._done_until(log) if self._needed else now_us
                if until is not None:
                    name = "journal" if log is table.journal else "stream"
                    found.append(Lag(table.qualified, name, seconds_behind(now_us, until)))
        return found

    def _done_until(self, log: Stream) -> int | None:
        """Every change left before this moment is in a log; None while the moment is unknown."""
        known = [self._rounds.done_until((log.number, each.number), "") for each in log.shards]
        moments = [each for each in known if each is not None]
        return min(moments) if moments else None

    def step(self) -> Plan[None] | None:
        """The next step; None where no change can be moved."""
        if not self._needed:
            return None
        if self._terms != self._lease.terms:  # another process may have moved changes since
            self._terms = self._lease.terms
            self._rounds, self._position = Rounds(), SPACE_INTENTS
        moves = self._seals()
        moves += self._moves()
        if not moves and self._position == SPACE_INTENTS and self._pass_worked:
            moves = self._moves()  # the pass that found intents is over: begin another one
        self._pause.looked(found=bool(moves))
        if moves:
            return self._plan(moves)
        if self._position != SPACE_INTENTS or self._rounds.open:
            return Plan((), pass_over)  # more is to be read
        return None

    def _plan(self, moves: Sequence[_Move]) -> Plan[None]:
        def made(outcomes: Sequence[Outcome[Any]]) -> list[ChangeIntent]:
            """The intents whose changes are durable in a log."""
            taken: list[ChangeIntent] = []
            start = 0
            for move in moves:
                stop = start + len(move.writes)
                if all(outcome.error is None for outcome in outcomes[start:stop]):
                    taken += move.taken
                start = stop
            return taken

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            taken = made(outcomes)
            self._rounds.done(each.key for each in taken)
            if taken:
                raise Replan
            pass_over(outcomes)

        def remove(outcomes: Sequence[Outcome[Any]]) -> Plan[None]:
            gone = removals(each.intent for each in made(outcomes))

            def finish_removal(removed: Sequence[Outcome[Any]]) -> None:
                pass_over([*outcomes, *removed])

            return Plan(gone, finish_removal)

        writes = [write for move in moves for write in move.writes]
        return Plan(tuple(writes), finish, again=remove)

    # --- queues ------------------------------------------------------------------------------

    def _moves(self) -> list[_Move]:
        """The moves of this step. After the end of the pass, the position is at the start again."""
        rounds = self._rounds
        rounds.begin(self._clock.now_us())
        if self._position == SPACE_INTENTS:
            self._pass_worked = False
        walk = IntentWalk(self._store, IntentKind.CHANGE, self._position, STEP_RECORDS)
        moves: list[_Move] = []
        share, changes, size = max(1, rounds.open), STEP_CHANGES, STEP_BYTES
        while changes > 0 and size > 0 and len(moves) < STEP_QUEUES:
            found = self._next_change(walk)
            if found is None:
                break
            portion = (
                min(changes, max(QUEUE_CHANGES_MIN, STEP_CHANGES // share)),
                min(size, max(QUEUE_BYTES_MIN, STEP_BYTES // share)),
            )
            for move in self._moves_at(walk, found, portion):
                moves.append(move)
                changes -= len(move.taken)
                size -= sum([len(each.key) + len(each.intent.body) for each in move.taken])
        self._pass_worked |= bool(moves)
        self._position = SPACE_INTENTS if walk.is_over else walk.position
        if walk.is_over:
            rounds.pass_ends()
        return moves

    def _next_change(self, walk: IntentWalk) -> ChangeIntent | None:
        """The next intent; None where the walk ends."""
        intent = walk.following(lambda: self._tables.catalog.seen().by_id, self._leave_open)
        return None if intent is None else decode_change_intent(intent)

    def _leave_open(self, number: int) -> None:
        """Keep the rounds over a table's queues open: its intents could not be read."""
        table = self._tables.by_id(number)
        for log in () if table is None else table.logs:
            for shard in log.shards:
                self._rounds.visit((log.number, shard.number))

    def _moves_at(
        self, walk: IntentWalk, found: ChangeIntent, portion: tuple[int, int]
    ) -> list[_Move]:
        """The moves for an intent and others of its shards; the walk continues after these."""
        prefix = found.key[:ROW_PREFIX_BYTES]
        number = int.from_bytes(prefix[len(SPACE_INTENTS) :], "big")
        table = self._tables.by_id(number)
        stop = after_prefix(prefix)
        if table is None and number in self._tables.catalog.seen().by_id:
            walk.skip_to(stop)
            return []  # of another model, which moves its own
        if table is None or all(log.number != found.log for log in table.logs):
            self._tables.catalog.renew()  # the log may be newer than the catalogue
            table = self._tables.by_id(number)
        moves: list[_Move] = []
        if table is not None:  # else the table was dropped, with its intents
            # Open shards are the partitions: their ranges are those of all logs.
            for log in table.logs:
                opened = OpenShards(log)
                shard = opened.at(found.key[ROW_PREFIX_BYTES:])
                end = opened.stop_of(shard)
                stop = after_prefix(prefix) if end is None else prefix + end
                with suppress(StoreBusy):  # the next portion of the log begins where this one began
                    moves += self._move(table, log, shard, portion)
            if all(log.number != found.log for log in table.logs):
                moves.append(self._throw_away(table, found, stop))
        walk.skip_to(stop)
        return moves

    def _throw_away(self, table: T, found: ChangeIntent, stop: bytes) -> _Move:
        """Remove the intents of logs that the table no longer has, beginning at an intent."""
        known = {log.number for log in table.logs}
        reader = self._store.snapshot()
        intents = islice(intents_between(reader, found.key, stop, IntentKind.CHANGE), STEP_CHANGES)
        dead = [each for each in intents if decode_change_intent(each).log not in known]
        return _Move(removals(dead))

    def _move(
        self, table: T, log: Stream, shard: LogShard, portion: tuple[int, int]
    ) -> list[_Move]:
        """Append a shard's changes, or complete its last append; empty if the shard must wait.

        `portion`: how many changes at most, and about how many bytes.
        """
        queue = log.number, shard.number
        position = self._rounds.visit(queue)
        if not all(self._is_sealed(table, log, each) for each in _parents(log, shard)):
            return []
        reader = self._store.snapshot()
        prefix = shard_prefix(table.id, log.number, shard.number)
        head = read_head(reader, prefix) or new_head(floor_of(reader, table.id, log, shard))
        reader = self._store.snapshot()  # of a moment after all reads so far
        moved = self._still_there(reader, table, head)
        if moved is not None:
            return [moved]
        start, stop = _range_of(table, log, shard)
        found = reader.scan(max(start, position), stop)
        changes, following = _taken(found, log.number, portion)
        if position and not changes and following is None:  # the next round begins
            changes, following = _taken(reader.scan(start, stop), log.number, portion)
        for each in changes:
            self._rounds.take(queue, each.key, _HERE, each.intent.time_us)
        if following is None:
            self._rounds.ends(queue)
        else:
            self._rounds.goes_on(queue, following)
        if not changes:
            return []
        form = self._form(table, log)
        body = partial(self._append, (table, prefix), head, changes, form)
        return [_Move((Write((prefix,), body, reads=self._tables.catalog.reads),), changes)]

    def _append(
        self,
        place: tuple[T, bytes],
        planned: LogHead,
        changes: Sequence[ChangeIntent],
        form: LogForm,
        txn: Transaction,
    ) -> None:
        """Append records in order of their times; those of one partition key value stay in order.

        `place`: the table, and the prefix of the shard. Raises `Replan` where the head has changed
        since `planned`.
        """
        table, prefix = place
        head = self._unchanged_head(table, prefix, planned, txn)
        for time_us, change in _in_order_of_time(changes):
            position = following_position(head, time_us, form.count(change.value))
            txn.put(record_key(prefix, position), form.placed(change.value, position))
            head = head._replace(last=position)
        taken = tuple([each.key[ROW_PREFIX_BYTES:] for each in changes])
        txn.put(prefix, encode_head(head._replace(moved=taken)))

    def _unchanged_head(
        self, table: T, prefix: bytes, planned: LogHead, txn: Transaction
    ) -> LogHead:
        """The present head, if no append was made since and it is not sealed."""
        current = self._tables.current(table, txn)
        if prefix not in _logs_of(current):
            raise Replan
        head = read_head(txn, prefix) or planned._replace(moved=())
        if head.sealed or head.moved != planned.moved:
            raise Replan
        return head

    def _still_there(self, reader: Reader, table: T, head: LogHead) -> _Move | None:
        """The removal of the last append's intents; None where all of them are removed."""
        keys = [intent_prefix(table.id) + each for each in head.moved]
        found = zip(keys, reader.get_many(keys), strict=True)
        left = [decode_intent(key, value) for key, value in found if value is not None]
        return _Move(removals(left)) if left else None

    # --- shards that are closed --------------------------------------------------------------

    def _seals(self) -> list[_Move]:
        """Seal closed shards for which that is possible now, a few at once."""
        epoch = self._tables.catalog.seen().epoch
        if epoch == self._all_sealed:
            return []
        moves: list[_Move] = []
        are_left = False
        for table, log, shard in self._closed():
            if len(moves) == STEP_QUEUES:
                break
            with suppress(StoreBusy):  # shards that cannot be read wait for a later step
                if self._is_sealed(table, log, shard):
                    continue
                if all(self._is_sealed(table, log, each) for each in _parents(log, shard)):
                    moves.append(self._seal(table, log, shard))
            are_left = True
        if not are_left:
            self._all_sealed = epoch
        return moves

    def _closed(self) -> Iterator[tuple[T, Stream, LogShard]]:
        """The closed shards of all logs."""
        for table in self._tables.all():
            for log in table.logs:
                yield from ((table, log, shard) for shard in log.shards if not shard.is_open)

    def _is_sealed(self, table: T, log: Stream, shard: LogShard) -> bool:
        prefix = shard_prefix(table.id, log.number, shard.number)
        if prefix in self._sealed:
            return True
        head = read_head(self._store.snapshot(), prefix)
        if head is None or not head.sealed:
            return False
        self._sealed.add(prefix)
        return True

    def _seal(self, table: T, log: Stream, shard: LogShard) -> _Move:
        """Seal a shard, or remove first the intents of its last append."""
        reader = self._store.snapshot()
        prefix = shard_prefix(table.id, log.number, shard.number)
        head = read_head(reader, prefix) or new_head(floor_of(reader, table.id, log, shard))
        left = self._still_there(self._store.snapshot(), table, head)
        if left is not None:
            return left

        def seal(txn: Transaction) -> None:
            found = self._unchanged_head(table, prefix, head, txn)
            txn.put(prefix, encode_head(found._replace(sealed=True, moved=())))

        return _Move((Write((prefix,), seal, reads=self._tables.catalog.reads),))


def _logs_of(table: LoggedTable) -> set[bytes]:
    """The prefixes of the shards that the table's logs have now."""
    return {
        shard_prefix(table.id, log.number, each.number) for log in table.logs for each in log.shards
    }


def _parents(log: Stream, shard: LogShard) -> list[LogShard]:
    """The parents of a shard that are still listed: others were read to their end."""
    return [each for each in log.shards if each.number in shard.parents]


def _taken(
    records: Iterable[tuple[bytes, bytes]], log: int, portion: tuple[int, int]
) -> tuple[list[ChangeIntent], bytes | None]:
    """The changes that one step takes of a queue, and the key after them; None at the end.

    The step never stops between two changes of one transaction. The key lies between two partition
    key values: further changes of the last value wait for the next round.
    """
    taken: list[ChangeIntent] = []
    most, size = portion
    for count, (key, value) in enumerate(records):
        intent = decode_intent(key, value)
        is_next = not taken or intent.shard != taken[-1].intent.shard
        if count >= QUEUE_RECORDS and is_next:
            return taken, after_prefix(intent.shard)
        if intent.kind is not IntentKind.CHANGE:
            continue
        each = decode_change_intent(intent)
        if each.log != log:
            continue
        full = len(taken) >= most or size <= 0
        if full and not _are_together(taken[-1], each):
            return taken, after_prefix(taken[-1].intent.shard)
        taken.append(each)
        size -= len(key) + len(intent.body)
    return taken, None


def _are_together(one: ChangeIntent, other: ChangeIntent) -> bool:
    """Whether two neighbours may be of one transaction."""
    return one.intent.shard == other.intent.shard and one.asked_us == other.asked_us


def _in_order_of_time(changes: Sequence[ChangeIntent]) -> list[tuple[int, ChangeIntent]]:
    """Changes with their times, sorted by them.

    Times never decrease within one partition key value, whatever the clocks of the servers said.
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
