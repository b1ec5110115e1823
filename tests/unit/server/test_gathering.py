"""Requests over a store that blocks: keys are read together (server/gathering.py, dispatch)."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import pytest
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Answer
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.requests import ANY, create_table_request
from tests.unit.server.desk import BLOCKING, Desk, signed

from widerow.commit.places import Caller
from widerow.errors import StoreBusy, ViewLost
from widerow.limits import (
    BRIEF_READS_MAX,
    GATHERED_KEYS_MAX,
    GATHERED_READS_MAX,
)
from widerow.server.gathering import GatheredReads, of_keys
from widerow.server.message import Request
from widerow.server.schedule import Schedule
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.storage.sockets import KeysTold
from widerow.testing.clock import FakeEntropy
from widerow.wire.tablestore import messages as m

# --- the gathering --------------------------------------------------------------------------------


class Threads:
    """A schedule whose reads end when a test says so."""

    def __init__(self) -> None:
        self.turn_ends: list[Any] = []
        self.later: list[Any] = []
        self.begun: list[tuple[Any, Any]] = []

    def when_turn_ends(self, work: object) -> None:
        self.turn_ends.append(work)

    def when_passed(self, seconds: float, work: object) -> None:
        assert seconds > 0
        self.later.append(work)

    def start(self, work: object, back: object, *, computes: bool) -> None:
        assert not computes
        self.begun.append((work, back))

    def answered(self) -> None:
        """One has ended."""

    def end_turn(self) -> None:
        due, self.turn_ends = self.turn_ends, []
        for work in due:
            work()

    def finish(self) -> None:
        """End the oldest read."""
        work, back = self.begun.pop(0)
        done: Future[Any] = Future()
        try:
            done.set_result(work())
        except StoreBusy as error:
            done.set_exception(error)
        back(done)


class Keys:
    """A store that says which keys were read together."""

    def __init__(self) -> None:
        self.asked: list[list[bytes]] = []
        self.is_away = False

    def get_together(self, keys: Sequence[bytes]) -> list[bytes | None]:
        if self.is_away:
            raise StoreBusy("away")
        self.asked.append(list(keys))
        return [key or None for key in keys]


class OnLoop:
    """Reads without a thread, which end when a test says so."""

    def __init__(self) -> None:
        self.begun: list[tuple[list[bytes], KeysTold]] = []
        self.is_ready = True
        self.is_closed = False

    def begin(self, keys: Sequence[bytes], told: KeysTold) -> bool:
        if self.is_ready:
            self.begun.append((list(keys), told))
        return self.is_ready

    def finish(self, *, fails: bool = False) -> None:
        """End the oldest one."""
        keys, told = self.begun.pop(0)
        told(None if fails else [key or None for key in keys])

    def close(self) -> None:
        self.is_closed = True


class Bench:
    """Gathered reads over both, and what was told of them."""

    def __init__(self, on_loop: OnLoop | None = None) -> None:
        self.servers: dict[bytes, str] = {}
        self.threads, self.store = Threads(), Keys()
        self.told: list[tuple[list[int], Mapping[bytes, bytes | None] | None]] = []
        self.reads: GatheredReads[int, bytes, bytes | None] = GatheredReads(
            of_keys(self.store.get_together, lambda key: self.servers.get(key, ""), on_loop),
            self.threads,
            self.tell,
        )

    def tell(self, requests: Sequence[int], values: Mapping[bytes, bytes | None] | None) -> None:
        self.told.append((list(requests), values))

    def turn(self, requests: Sequence[int]) -> None:
        """One turn of the loop brings these, which ask for a key each."""
        for number in requests:
            self.reads.add(number, [b"%04d" % number])
        self.threads.end_turn()


def test_what_one_turn_brings_is_read_together() -> None:
    bench = Bench()
    bench.turn([3, 1, 2])
    assert len(bench.threads.begun) == 1
    bench.threads.finish()
    assert bench.store.asked == [[b"0001", b"0002", b"0003"]]
    assert bench.told == [([3, 1, 2], {b"%04d" % n: b"%04d" % n for n in (1, 2, 3)})]


def test_what_comes_while_enough_is_under_way_shares_the_next_read() -> None:
    bench = Bench()
    for number in range(GATHERED_READS_MAX + 3):
        bench.turn([number])
    assert len(bench.threads.begun) == GATHERED_READS_MAX
    bench.threads.finish()
    assert len(bench.threads.begun) == GATHERED_READS_MAX
    while bench.threads.begun:
        bench.threads.finish()
    assert sorted(len(keys) for keys in bench.store.asked) == [1] * GATHERED_READS_MAX + [3]
    told = sorted(n for requests, _ in bench.told for n in requests)
    assert told == list(range(GATHERED_READS_MAX + 3))


def test_a_read_that_takes_long_keeps_no_others_back(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, now = Bench(), [0.0]
    monkeypatch.setattr("widerow.server.gathering.monotonic", lambda: now[0])
    for number in range(GATHERED_READS_MAX + 1):
        bench.turn([number])
    assert len(bench.threads.begun) == GATHERED_READS_MAX
    now[0] = 1.0
    (flush,) = bench.threads.later
    flush()
    assert len(bench.threads.begun) == GATHERED_READS_MAX + 1


def test_keys_of_several_servers_are_read_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs keeps no other's requests: docs/operating/cluster.md."""
    monkeypatch.setattr("widerow.server.gathering.monotonic", lambda: 0.0)
    bench = Bench()
    bench.servers = {b"%04d" % number: "ab"[number % 2] for number in range(100)}
    bench.turn(range(6))
    bench.turn([7])  # waits for the read of b alone
    hung, quick = sorted(bench.threads.begun, key=lambda begun: begun[0].args[0][0])[::-1]
    bench.threads.begun = [quick]
    bench.threads.finish()
    assert bench.store.asked == [[b"0000", b"0002", b"0004"]]
    bench.turn([8])
    bench.threads.finish()
    assert [sorted(requests) for requests, _ in bench.told] == [[0, 2, 4], [8]]
    bench.threads.begun = [hung]
    bench.threads.finish()
    bench.threads.finish()
    assert [sorted(requests) for requests, _ in bench.told[2:]] == [[1, 3, 5], [7]]


def test_a_request_of_several_servers_keeps_no_other_waiting() -> None:
    bench = Bench()
    bench.servers = {b"a": "a", b"b": "b"}
    bench.reads.add(1, [b"a", b"b"])
    bench.reads.add(2, [b"a"])
    bench.threads.end_turn()
    assert len(bench.threads.begun) == 2


def test_one_timer_is_enough_for_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, now = Bench(), [0.0]
    monkeypatch.setattr("widerow.server.gathering.monotonic", lambda: now[0])
    for number in range(GATHERED_READS_MAX + 1):
        bench.turn([number])
    for number in range(100, 103):  # reads end, others begin, and something waits all the time
        bench.turn([number])
        bench.threads.finish()
        bench.turn([number + 50])
    assert len(bench.threads.later) == 1
    flush = bench.threads.later.pop()
    flush()  # nothing takes long: it is asked for once more
    assert len(bench.threads.begun) == GATHERED_READS_MAX
    now[0] = 1.0
    flush = bench.threads.later.pop()
    flush()
    assert len(bench.threads.begun) == GATHERED_READS_MAX + 1
    assert not bench.threads.later


def test_one_read_is_of_so_many_requests() -> None:
    bench = Bench()
    bench.turn(range(GATHERED_KEYS_MAX + 1))
    bench.threads.finish()
    bench.threads.finish()
    assert [len(keys) for keys in bench.store.asked] == [GATHERED_KEYS_MAX, 1]


def test_a_read_that_fails_is_told_to_those_who_wait_for_it() -> None:
    bench = Bench()
    bench.turn([1])
    bench.store.is_away = True
    bench.threads.finish()
    assert bench.told == [([1], None)]
    bench.store.is_away = False
    bench.turn([2])
    bench.threads.finish()
    assert bench.told[1:] == [([2], {b"0002": b"0002"})]


def test_keys_are_read_without_a_thread_where_that_goes() -> None:
    on_loop = OnLoop()
    bench = Bench(on_loop)
    bench.turn([2, 1])
    bench.turn([3])
    assert not bench.threads.begun
    assert [keys for keys, _ in on_loop.begun] == [[b"0001", b"0002"]]
    on_loop.finish()
    on_loop.finish(fails=True)
    assert bench.told == [([2, 1], {b"0001": b"0001", b"0002": b"0002"}), ([3], None)]


def test_keys_are_read_on_a_thread_where_the_loop_cannot() -> None:
    on_loop = OnLoop()
    on_loop.is_ready = False
    bench = Bench(on_loop)
    bench.turn([1])
    bench.threads.finish()
    assert bench.told == [([1], {b"0001": b"0001"})]
    bench.reads.close()
    assert on_loop.is_closed


# --- requests -------------------------------------------------------------------------------------


@pytest.fixture
def desk() -> Iterator[Desk]:
    with remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1))) as store:
        found = Desk(store)
        lease = found.engine.core.nodes.read_lease
        lease.extend(2**62, 2**62)  # what a server has by its membership
        (made,) = found.run(BLOCKING, [table()])
        assert made.status == 200
        yield found


def table() -> Request:
    return signed("CreateTable", create_table_request("t").SerializeToString())


def key(number: int) -> tuple[tuple[str, str], tuple[str, int]]:
    return ("k", "a"), ("n", number)


def put(number: int, size: int = 3, columns: int = 1) -> Request:
    cells = [cell(f"c{at}", "x" * size) for at in range(columns)]
    body = m.PutRowRequest(table_name="t", row=row_buffer(key(number), cells), condition=ANY)
    return signed("PutRow", body.SerializeToString())


def get(number: int) -> Request:
    body = m.GetRowRequest(table_name="t", primary_key=key_buffer(key(number)), max_versions=1)
    return signed("GetRow", body.SerializeToString())


def trips(desk: Desk) -> int:
    return desk.store.statistics()["round_trips"]


def test_rows_of_one_turn_are_one_read(desk: Desk) -> None:
    desk.run(BLOCKING, [put(number) for number in range(8)])
    before = trips(desk)
    answers = desk.run(BLOCKING, [get(number) for number in range(10)])
    assert trips(desk) == before + 1
    rows = [m.GetRowResponse.FromString(answer.body).row for answer in answers]
    assert [bool(row) for row in rows] == [True] * 8 + [False] * 2
    assert len(set(rows[:8])) == 8


def page(limit: int, *, backward: bool = False, last: int = 1000) -> Request:
    ends = key_buffer(key(-1)), key_buffer(key(last))
    start, stop = reversed(ends) if backward else ends
    body = m.GetRangeRequest(
        table_name="t",
        direction=int(backward),
        max_versions=1,
        limit=limit,
        inclusive_start_primary_key=start,
        exclusive_end_primary_key=stop,
    )
    return signed("GetRange", body.SerializeToString())


def rows_of(answer: Answer) -> tuple[bytes, bytes]:
    found = m.GetRangeResponse.FromString(answer.body)
    return found.rows, found.next_start_primary_key


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("limit", [3, 7, 8, 9])
def test_pages_are_read_together_and_say_what_a_page_on_a_thread_says(
    desk: Desk, limit: int, *, backward: bool
) -> None:
    desk.run(BLOCKING, [put(number) for number in range(8)])
    (alone,) = desk.run(BLOCKING, [page(201, backward=backward)])  # too lengthy to be tried
    whole = rows_of(alone)
    before = trips(desk)
    answers = desk.run(BLOCKING, [page(limit, backward=backward) for _ in range(3)])
    assert trips(desk) == before + 1, "one read for the three of them"
    assert len({rows_of(answer) for answer in answers}) == 1
    rows, following = rows_of(answers[0])
    assert bool(following) == (limit < 8)
    assert rows == whole[0] if limit >= 8 else whole[0].startswith(rows)


def test_pages_of_several_bounds_are_read_together_and_say_the_same(desk: Desk) -> None:
    desk.run(BLOCKING, [put(number, 30_000) for number in range(3)])
    (other,) = desk.run(BLOCKING, [page(201)])
    answers = desk.run(BLOCKING, [page(3), page(1), page(3)])
    assert [answer.status for answer in answers] == [200] * 3
    assert rows_of(answers[0]) == rows_of(answers[2]) == rows_of(other)
    assert rows_of(other)[0].startswith(rows_of(answers[1])[0])


def test_a_page_that_is_large_is_joined_on_a_thread_from_what_was_read(desk: Desk) -> None:
    desk.run(BLOCKING, [put(number, 60_000) for number in range(8)])
    before = trips(desk)
    (answer,) = desk.run(BLOCKING, [page(8)])
    assert len(rows_of(answer)[0]) > 8 * 60_000
    assert trips(desk) == before + 1


def test_a_page_of_which_more_rows_are_scanned_than_asked_for_is_read_on_a_thread(
    desk: Desk,
) -> None:
    desk.run(BLOCKING, [put(number, columns=1 + number // 4) for number in range(8)])
    sought = m.GetRangeRequest.FromString(page(1).body)
    sought.columns_to_get.append("c1")
    answer = desk.run(BLOCKING, [signed("GetRange", sought.SerializeToString())])[0]
    (other,) = desk.run(BLOCKING, [page(201)])
    assert answer.status == other.status == 200
    assert rows_of(answer)[0], "the row was found behind those that have no such column"


def test_writes_are_planned_on_the_loop_and_committed_elsewhere(desk: Desk) -> None:
    """Whoever plans a write submits it, and only the loop submits as the loop."""
    desk.committer.callers.clear()
    (answer,) = desk.run(BLOCKING, [put(1)])
    assert answer.status == 200
    assert desk.committer.callers == [Caller.LOOP]


@pytest.mark.parametrize("size", [3, 100_000])
def test_a_row_that_asks_for_more_is_read_on_a_thread(desk: Desk, size: int) -> None:
    """One that is cut into segments."""
    desk.run(BLOCKING, [put(1, size, 20)])
    (answer,) = desk.run(BLOCKING, [get(1)])
    assert len(m.GetRowResponse.FromString(answer.body).row) > 20 * size


def test_who_cannot_be_read_together_is_read_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run(BLOCKING, [put(1)])

    def away(*_: object) -> list[bytes | None]:
        raise StoreBusy("a region is on its way")

    monkeypatch.setattr(OptimisticStore, "get_together", away)
    (answer,) = desk.run(BLOCKING, [get(1)])
    assert answer.status == 200
    assert m.GetRowResponse.FromString(answer.body).row


@pytest.mark.parametrize("lost", [BRIEF_READS_MAX - 1, BRIEF_READS_MAX])
def test_a_read_whose_view_is_lost_begins_again(desk: Desk, lost: int) -> None:
    left = [None] * lost

    def call(*_: object) -> tuple[str, ...]:
        if left:
            left.pop()
            raise ViewLost("changed")
        return ("t",)

    desk.serve("ListTable", call=call)
    (answer,) = desk.run(BLOCKING, [signed("ListTable")])
    assert answer.status == (200 if lost < BRIEF_READS_MAX else 503)


def test_a_loop_that_is_asked_for_time_calls_then() -> None:
    async def wait() -> None:
        passed = asyncio.Event()
        schedule = Schedule(BLOCKING, asyncio.get_running_loop())
        schedule.when_passed(0.001, passed.set)
        await passed.wait()
        schedule.close()

    asyncio.run(wait())
