"""Rounds over queues: every record is met, and nothing is called done that is not (change §A10)."""

from bisect import bisect_left
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from widerow.engine.rounds import Rounds

QUEUES = ("a", "b", "c")
NAMES = ("x", "y")
PASSES_MAX = 4  # in which a record is met at the latest, of a queue of twenty and portions of eight


class Record(NamedTuple):
    """A record of a queue: where it lies, when it was left, whom it concerns."""

    key: bytes
    time_us: int
    name: str


class World:
    """Queues that are worked off as the entries of indexes are, and what is not done of them."""

    def __init__(self) -> None:
        self.rounds: Rounds[str, str] = Rounds()
        self.queues: dict[str, list[Record]] = {queue: [] for queue in QUEUES}
        self.now_us = 1
        self.at = 0  # the queue at which the pass goes on
        self.passes = 0
        self.met: dict[bytes, int] = {}  # by key: the pass in which a record was met

    def arrive(self, queue: str, place: int, name: str) -> None:
        record = Record(b"%s%02d%06d" % (queue.encode(), place, self.now_us), self.now_us, name)
        self.queues[queue].append(record)
        self.queues[queue].sort()
        self.met[record.key] = self.passes + PASSES_MAX
        self.now_us += 1

    def step(self, share: int, visits: int, stays: set[int]) -> None:
        """Visit some queues; of what is taken, the records at the places `stays` are not done."""
        rounds = self.rounds
        rounds.begin(self.now_us)
        taken: list[tuple[str, Record]] = []
        for _ in range(visits):
            if self.at == len(QUEUES):
                break
            queue = QUEUES[self.at]
            self.at += 1
            records = self.queues[queue]
            if not records:
                continue
            first = bisect_left(records, (rounds.visit(queue),))
            portion = records[first : first + share]
            for record in portion:
                rounds.take(queue, record.key, (record.name,), record.time_us)
                taken.append((queue, record))
            if first + share < len(records):
                rounds.goes_on(queue, records[first + share].key)
            else:
                rounds.ends(queue)
        if self.at == len(QUEUES):
            rounds.pass_ends()
            self.at, self.passes = 0, self.passes + 1
        done = [each for place, each in enumerate(taken) if place not in stays]
        rounds.done(record.key for _, record in done)
        for queue, record in done:
            self.queues[queue].remove(record)
        for _, record in taken:
            assert self.passes <= self.met[record.key], "it waited for others of its queue"
            self.met[record.key] = self.passes + PASSES_MAX
        self.now_us += 1

    def check(self) -> None:
        for queue, records in self.queues.items():
            for name in NAMES:
                until = self.rounds.done_until(queue, name)
                left = [record.time_us for record in records if record.name == name]
                assert until is None or until <= min(left, default=self.now_us)


arrivals = st.tuples(st.sampled_from(QUEUES), st.integers(0, 9), st.sampled_from(NAMES))
steps = st.tuples(st.integers(8, 9), st.integers(1, 3), st.sets(st.integers(0, 12), max_size=4))


@settings(max_examples=200)
@given(st.lists(st.tuples(st.lists(arrivals, max_size=6), steps), max_size=12))
def test_nothing_is_called_done_that_is_not_and_every_record_is_met_soon(
    script: list[tuple[list[tuple[str, int, str]], tuple[int, int, set[int]]]],
) -> None:
    world = World()
    for arriving, step in script:
        for each in arriving:
            if len(world.queues[each[0]]) < 20:
                world.arrive(*each)
        world.step(*step)
        world.check()
    for _ in range(6 * PASSES_MAX):  # when nothing stays any more, everything comes to be done
        world.step(8, 3, set())
        world.check()
    assert not any(world.queues.values())
    latest = world.now_us
    assert all(
        (world.rounds.done_until(queue, name) or 0) >= latest - 4
        for queue in QUEUES
        for name in NAMES
    )


def test_nothing_is_known_before_the_first_pass_has_ended() -> None:
    rounds: Rounds[str, str] = Rounds()
    assert rounds.done_until("a", "x") is None
    rounds.begin(10)
    rounds.pass_ends()
    assert rounds.done_until("a", "x") is None
    rounds.begin(20)
    assert rounds.done_until("a", "x") == 10


def test_of_a_queue_that_is_too_long_for_the_first_pass_the_oldest_record_counts() -> None:
    rounds: Rounds[str, str] = Rounds()
    rounds.begin(100)
    assert rounds.visit("a") == b""
    rounds.take("a", b"a1", ("x",), 40)
    rounds.goes_on("a", b"a2")
    rounds.done([b"a1"])
    rounds.pass_ends()
    rounds.begin(110)
    assert rounds.done_until("a", "x") == 40
    assert rounds.done_until("b", "x") == 100


def test_a_round_that_goes_through_two_passes_has_not_met_what_came_behind_it() -> None:
    rounds: Rounds[str, str] = Rounds()
    rounds.begin(10)
    rounds.visit("a")
    rounds.goes_on("a", b"a5")
    rounds.pass_ends()
    rounds.begin(20)  # behind the position, a record is left at 15
    assert rounds.visit("a") == b"a5"
    rounds.ends("a")
    rounds.pass_ends()
    rounds.begin(30)
    assert rounds.done_until("a", "x") == 10
    assert rounds.done_until("b", "x") == 20


def test_a_queue_that_cannot_be_read_is_not_called_done() -> None:
    rounds: Rounds[str, str] = Rounds()
    rounds.begin(10)
    rounds.pass_ends()
    for now_us in (20, 30, 40):
        rounds.begin(now_us)
        rounds.visit("a")
        rounds.pass_ends()
    rounds.begin(50)
    assert rounds.done_until("a", "x") == 10
    assert rounds.done_until("b", "x") == 40
