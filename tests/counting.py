"""Writers that count, for stores shared by several processes: finds lost, repeated and torn writes.

Each shard has two keys that are always equal. A writer counts the writes that were made and the
unknown ones; the sum in the store must lie between the first count and both.
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from widerow.errors import OutcomeUnknown, StoreBusy
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["SHARDS", "Tally", "count_up", "differences", "run_writers"]

SHARDS = [b"\x10\x00\x00\x00\x07" + b"%d" % number for number in range(4)]


class Tally:
    """The counts of one writer."""

    def __init__(self) -> None:
        self.made: Counter[bytes] = Counter()
        self.unknown: Counter[bytes] = Counter()
        self.refused = 0


def both(shard: bytes) -> Write[None]:
    """Increment both keys of a shard."""

    def body(txn: Transaction) -> None:
        values = txn.get_many([shard + b"x", shard + b"y"])
        assert values[0] == values[1], "a torn shard"
        count = b"%d" % (int(values[0] or b"0") + 1)
        txn.put(shard + b"x", count)
        txn.put(shard + b"y", count)

    return Write((shard,), body)


def count_up(store: Store, number: int, tally: Tally, turns: int, over: Event) -> None:
    """Commit groups in which some writes are of one shard, `turns` times or until `over` is set."""
    for turn in range(turns):
        if over.is_set():
            return
        chosen = [SHARDS[each % 4] for each in (turn + number, turn * number, turn)]
        try:
            outcomes = store.transact_group([both(shard) for shard in chosen])
        except (OutcomeUnknown, StoreBusy) as error:
            outcomes = [Outcome(None, error)] * len(chosen)
        for shard, outcome in zip(chosen, outcomes, strict=True):
            if outcome.error is None:
                tally.made[shard] += 1
            elif isinstance(outcome.error, OutcomeUnknown):
                tally.unknown[shard] += 1
            else:
                assert isinstance(outcome.error, StoreBusy), outcome.error
                tally.refused += 1


def run_writers(stores: Sequence[Store], turns: int, over: Event | None = None) -> list[Tally]:
    """Run one writer on each store, all at the same time."""
    over = Event() if over is None else over
    tallies = [Tally() for _ in stores]
    with ThreadPoolExecutor(len(stores)) as threads:
        running = [
            threads.submit(count_up, store, number, tallies[number], turns, over)
            for number, store in enumerate(stores)
        ]
        for each in running:
            each.result()
    return tallies


def differences(store: Store, tallies: Sequence[Tally]) -> list[str]:
    """A line for each write that was lost, made twice or torn."""
    found = []
    for shard in SHARDS:
        values = store.snapshot().get_many([shard + b"x", shard + b"y"])
        made = sum(tally.made[shard] for tally in tallies)
        unknown = sum(tally.unknown[shard] for tally in tallies)
        count = int(values[0] or b"0")
        if values[0] != values[1]:
            found.append(f"torn: {values}")
        if not made <= count <= made + unknown:
            found.append(f"{count} of {made} made and {unknown} unknown")
    return found
