"""The clients of a simulation that use local transactions (docs/spec/tablestore-change.md, B).

They begin transactions, write and read inside, and abort; commits are requests like others
(`scripts.py`). The engine's answers are compared with what the clients know: a transaction lives
for 60 seconds, holds its partition key value all the time, and after its end none of its writes or
locks is left.
"""

from random import Random  # noqa: TID251  # seeded: a run must repeat
from typing import Final

from tests.support.answers import decode_row
from tests.support.changes import get, primary_key
from tests.support.scripts import INSTANCE, REFUSALS, REFUSED, Script, named_key
from tests.support.watched import WATCHED, Begun, Hold, See, WatchedTable

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, NotFound, Rule
from widerow.limits import LOCAL_TRANSACTION_SECONDS
from widerow.testing.clock import FakeClock

__all__ = ["TransactionClients"]

_PARTITIONS: Final = "ab"


class TransactionClients:
    """All transactions that were begun since the last start of the store."""

    def __init__(
        self, script: Script, random: Random, clock: FakeClock, checks: tuple[Hold, See]
    ) -> None:
        """None."""
        self._script = script
        self._random = random
        self._clock = clock
        self._hold, self._see = checks
        self._begun: list[Begun] = []

    def is_late(self, begun: Begun) -> bool:
        """Whether the time of a transaction is over."""
        return self._clock.monotonic_ns() >= begun.until_ns

    def locked(self, partition: str) -> bool | None:
        """Whether a transaction holds a partition key value; None where the outcome is unknown."""
        holding = [
            each
            for each in self._begun
            if each.partition == partition and not each.over and not self.is_late(each)
        ]
        if any(not each.doubtful for each in holding):
            return True
        return None if holding else False

    def pick(self) -> Begun | None:
        """A transaction that its client may continue; its time may be over."""
        usable = [each for each in self._begun if not each.over and not each.doubtful]
        return self._random.choice(usable) if usable else None

    def begin(self, engine: TablestoreEngine, table: WatchedTable) -> str:
        """Begin a transaction or be refused; returns the event for traces.

        Raises `StorageFailure`.
        """
        partition = self._random.choice(_PARTITIONS)
        locked = self.locked(partition)
        key = primary_key({"k": partition})
        try:
            identity = engine.core.run(engine.transactions.start(INSTANCE, WATCHED, key))
        except Conflict as error:
            known = error.rule is Rule.KEY_LOCKED and locked is not False
            self._hold(known, f"{partition} is free, and a transaction on it is refused: {error}")
            return f"begin {partition} refused"
        self._hold(locked is not True, f"two transactions hold {partition}")
        until_ns = self._clock.monotonic_ns() + LOCAL_TRANSACTION_SECONDS * 1_000_000_000
        self._begun.append(Begun.on(table, identity, partition, until_ns))
        return f"begin {partition}"

    def write_inside(self, engine: TablestoreEngine, now_ms: int) -> str:
        """Write and read inside a transaction; returns the event for traces."""
        begun = self.pick()
        if begun is None:
            return "nothing is begun"
        ask = self._script.inside(begun)
        ((key, change),) = ask.changes
        transactions = engine.transactions
        try:
            plan = transactions.write_row(INSTANCE, begun.identity, change)
            answer: object = engine.core.run(plan)
        except NotFound as error:
            self._ran_out(begun, error)
            return f"inside {begun.partition} too late"
        except REFUSALS:
            answer = REFUSED
        self._hold(not self.is_late(begun), f"the transaction on {begun.partition} has no end")
        expected = ask.apply({WATCHED: begun.table}, now_ms)
        found = ask.ends(answer)
        self._hold(found == expected, f"inside, {ask} is answered {found}, not {expected}")
        if not expected[0].refused:
            begun.changes.append((key, change))
        read = transactions.get_row(INSTANCE, begun.identity, get(WATCHED, named_key(key)))
        row = decode_row(read.row)
        shown = begun.table.visible(key, now_ms)
        self._hold((row and row[1]) == shown, f"inside, {key} reads {row}, not {shown}")
        return f"inside {ask}"

    def abort(self, engine: TablestoreEngine) -> str:
        """Abort a transaction; returns the event for traces."""
        begun = self.pick()
        if begun is None:
            return "nothing is begun"
        try:
            answer = engine.core.run(engine.transactions.abort(INSTANCE, begun.identity))
        except NotFound as error:
            self._ran_out(begun, error)
            return f"abort {begun.partition} too late"
        self._hold(answer == begun.identity, f"an abort is answered {answer}")
        begun.over = True
        self._see("a transaction was aborted")
        return f"abort {begun.partition}"

    def _ran_out(self, begun: Begun, error: NotFound) -> None:
        self._hold(self.is_late(begun), f"the transaction on {begun.partition} is gone: {error}")
        begun.over = True
        self._see("a transaction ran out of time")

    def crashed(self) -> None:
        """The process has ended, and with it every transaction."""
        if any(not each.over and not self.is_late(each) for each in self._begun):
            self._see("a transaction was open at a crash")
        for each in self._begun:
            each.over = True
        self._begun = []
