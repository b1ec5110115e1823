"""The line of statements: bounds, turns, and statements without a client (internals/queues.md)."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES
from tests.unit.server.desk import BLOCKING, LOCAL, Desk, signed

from widerow.engine.between import Between
from widerow.errors import TooLong
from widerow.limits import STATEMENTS_MAX, STATEMENTS_OF_ONE_MAX
from widerow.server.fair_line import FairLine
from widerow.server.metrics import LineCounts
from widerow.storage.opener import open_store
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore.sql_messages import SQLQueryRequest

if TYPE_CHECKING:
    from widerow.server.schedule import Schedule


class Threads:
    """Takes the place of the schedule: work runs until a test ends it."""

    def __init__(self) -> None:
        self.begun: list[tuple[Any, Callable[[Future[Any]], None]]] = []

    def start_statement(self, work: Callable[[], Any], back: Callable[[Future[Any]], None]) -> None:
        self.begun.append((work(), back))


def line_of(places: int, of_one: int) -> tuple[FairLine, Threads, LineCounts]:
    threads, counts = Threads(), LineCounts()
    return FairLine(cast("Schedule", threads), counts, places, of_one), threads, counts


@given(
    steps=st.lists(st.integers(0, 3) | st.none(), max_size=60),
    places=st.integers(1, 4),
    of_one=st.integers(1, 3),
)
def test_places_are_bounded_and_go_round_the_owners(
    steps: list[int | None], places: int, of_one: int
) -> None:
    """A step is a statement of an owner, or (None) the end of the one that runs longest."""
    line, threads, counts = line_of(places, of_one)
    waiting: list[int] = []  # owners, by the time at which they came or were last served
    asked = [0] * 4
    for step in steps:
        before = len(threads.begun)
        if step is not None:
            asked[step] += 1
            if step not in waiting:
                waiting.append(step)
            line.add(("i", str(step)), partial(int, step), lambda _: None)
        elif threads.begun:
            _, back = threads.begun.pop(0)
            back(Future())
            before -= 1
        for owner, _ in threads.begun[max(0, before) :]:
            running = [each for each, _ in threads.begun]
            assert running.count(owner) <= of_one
            asked[owner] -= 1
            passed = waiting[: waiting.index(owner)]  # those before it had all that one may have
            assert all(running.count(each) >= of_one for each in passed)
            waiting.remove(owner)
            if asked[owner]:
                waiting.append(owner)
        assert counts.running == len(threads.begun) <= places
        assert counts.waiting == sum(asked)
        free = counts.running < places
        running = [each for each, _ in threads.begun]
        assert not (free and any(n and running.count(o) < of_one for o, n in enumerate(asked)))


@pytest.fixture
def desk() -> Iterator[Desk]:
    with open_store("memory:") as store:
        yield Desk(store)


def test_a_statement_ends_soon_after_its_client_is_gone(desk: Desk) -> None:
    request = signed("ListTable")

    def call(_engine: object, _instance: str, _asked: object, between: Between) -> None:
        between()
        request.gone = True
        between()
        raise AssertionError("the statement goes on")

    desk.serve("ListTable", call_between=call, lengthy=lambda _: True)
    (answer,) = desk.run(LOCAL, [request])
    assert answer.error[:2] == (503, "OTSServerBusy")
    counts = desk.metrics.statements
    assert (counts.cancelled, counts.running, counts.waiting) == (1, 0, 0)


def test_a_statement_of_few_rows_stands_in_no_line(desk: Desk) -> None:
    """It is answered on the loop; where it turns out to be long it goes to a thread."""
    threads: list[str] = []

    def short(*_: object) -> tuple[str, ...]:
        if len(threads) == 2:
            raise TooLong("too many rows")
        threads.append(threading.current_thread().name)
        return ()

    def call(*_: object) -> tuple[str, ...]:
        threads.append(threading.current_thread().name)
        return ()

    desk.serve("ListTable", call_within=short, call_between=call, lengthy=lambda _: False)
    answers = desk.run(LOCAL, [signed("ListTable") for _ in range(3)])
    assert [answer.status for answer in answers] == [200, 200, 200]
    here = threading.current_thread().name
    assert threads[:2] == [here, here]
    assert threads[2].startswith("widerow-statement")


def test_a_long_statement_lets_other_long_requests_compute(desk: Desk) -> None:
    """It holds the turn of those that compute, and hands it on between its steps."""
    ended = threading.Event()

    def call(_engine: object, _instance: str, _asked: object, between: Between) -> tuple[str, ...]:
        deadline = time.monotonic() + 30
        while not ended.is_set():
            assert time.monotonic() < deadline
            between()
        return ()

    def other(*_: object) -> object:
        ended.set()
        return ()

    desk.serve("ListTable", call_between=call, lengthy=lambda _: True)
    desk.serve("ListSearchIndex", call=other, lengthy=lambda _: True, encode=lambda _: b"")
    answers = desk.run(LOCAL, [signed("ListTable"), signed("ListSearchIndex")])
    assert [answer.status for answer in answers] == [200, 200]


def test_one_keys_statements_leave_places_for_another(desk: Desk) -> None:
    """Those of one key run until the other one's has run, however many came before it."""
    served = threading.Event()
    running: list[int] = []
    guard, most = threading.Lock(), [0]

    def call(_engine: object, instance: str, _asked: object, _between: Between) -> tuple[str, ...]:
        if instance == "other":
            served.set()
            return ()
        with guard:
            running.append(1)
            most[0] = max(most[0], len(running))
        assert served.wait(30)
        with guard:
            running.pop()
        return ()

    desk.serve("ListTable", call_between=call, lengthy=lambda _: True)
    crowd = [signed("ListTable") for _ in range(5 * STATEMENTS_MAX)]
    # Such a store has no turns of those that compute, for which these would wait.
    other = signed("ListTable", sender=Sender(instance="other"))
    answers = desk.run(BLOCKING, [*crowd, other])
    assert {answer.status for answer in answers} == {200}
    assert most[0] == STATEMENTS_OF_ONE_MAX


# --- a server ---------------------------------------------------------------------------------

ROWS = 5000
GROUPS = "SELECT n % 7, count(*), sum(old), max(k) FROM t GROUP BY n % 7 ORDER BY 1"


def statement(text: str) -> bytes:
    body = SQLQueryRequest(query=text, version=2).SerializeToString()
    return Sender().request("SQLQuery", body)


def count(wire: Wire, name: str) -> int:
    page = wire.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body.decode()
    return int(page.partition(f"\nwiderow_{name} ")[2].partition("\n")[0])


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    """A server with a table of some thousand rows."""
    with WiderowServer() as made, Wire(made.endpoint) as wire:
        assert wire.ask(Sender().request("CreateTable", BODIES["CreateTable"]("t"))).status == 200
        assert wire.ask(Sender().request("PutRow", BODIES["PutRow"]("t"))).status == 200
        for first in range(0, ROWS, 200):
            rows = ", ".join(f"('p', {n}, {n % 11})" for n in range(first, first + 200))
            assert wire.ask(statement(f"INSERT INTO t VALUES {rows}")).status == 200
        yield made


def test_getrow_is_quick_beside_grouping_statements(server: WiderowServer) -> None:
    """A tenth of a statement's time is far more than a read should wait (a chunk takes some ms)."""
    over = threading.Event()
    took: list[float] = []

    def group() -> None:
        with Wire(server.endpoint, 60) as wire:
            while not over.is_set():
                begun = time.monotonic()
                assert wire.ask(statement(GROUPS)).status == 200
                took.append(time.monotonic() - begun)

    threads = [threading.Thread(target=group) for _ in range(2 * STATEMENTS_MAX)]
    for thread in threads:
        thread.start()
    reads: list[float] = []
    try:
        with Wire(server.endpoint, 60) as wire:
            while len(took) < len(threads):
                begun = time.monotonic()
                answer = wire.ask(Sender().request("GetRow", BODIES["GetRow"]("t")))
                reads.append(time.monotonic() - begun)
                assert answer.status == 200
            assert count(wire, "statements_running") <= STATEMENTS_OF_ONE_MAX
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert len(reads) > len(threads)
    assert statistics.median(reads) < statistics.median(took) / 10


def test_a_statement_whose_client_leaves_ends(server: WiderowServer) -> None:
    with Wire(server.endpoint, 60) as wire:
        before = count(wire, "statements_cancelled_total")
        with Wire(server.endpoint, 60) as leaving:
            leaving.send(statement("SELECT count(*) FROM t x, t y, t z WHERE x.n + y.n < z.n"))
            while not count(wire, "statements_running"):
                pass
        began = time.monotonic()
        while count(wire, "statements_cancelled_total") == before:
            assert time.monotonic() - began < 20
        assert count(wire, "statements_running") == 0
