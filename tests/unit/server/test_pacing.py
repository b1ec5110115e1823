"""Answers that wait until what follows their writes has followed (server/pacing.py)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pytest
from tests.support.buffers import cell, row_buffer
from tests.support.changes import create
from tests.support.changes import put as put_change
from tests.support.requests import ANY
from tests.unit.server.desk import SENDER, Desk, read, signed

from widerow.engine.plan import Pace
from widerow.limits import (
    ANSWER_PACE_LOOK_SECONDS_EACH,
    ENTRY_PACE_SECONDS_MAX,
    JOURNAL_PACE_SECONDS_MAX,
    JOURNAL_PACED_ROWS,
    JOURNAL_PACED_ROWS_SEARCHED,
    SEARCH_ASKED_CHANGES,
)
from widerow.model.search.query import MATCH_ALL
from widerow.model.search.requests import CreateSearchIndex, Search
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.values import KeyType
from widerow.server import pacing
from widerow.server.metrics import PacedCounts
from widerow.server.pacing import PacedAnswers
from widerow.storage.memory import MemoryStore
from widerow.wire.tablestore import messages as m

if TYPE_CHECKING:
    from widerow.server.message import Response

INSTANCE: Final = SENDER.instance


class Timer:
    """A loop that calls back when a test says so, and its clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def when_passed(self, seconds: float, work: Callable[[], None]) -> None:
        self.due.append((self.now + seconds, work))

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        ready = [work for when, work in self.due if when <= self.now]
        self.due = [each for each in self.due if each[0] > self.now]
        for work in ready:
            work()


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> Timer:
    made = Timer()
    monkeypatch.setattr(pacing, "monotonic", lambda: made.now)
    return made


def test_an_answer_is_told_when_nothing_is_ahead_any_more(timer: Timer) -> None:
    told: list[str] = []
    paced = PacedAnswers(timer, lambda: told.append("all"), PacedCounts())
    ahead = {"a": True, "b": True}
    paced.hold(Pace(lambda: ahead["a"], JOURNAL_PACE_SECONDS_MAX), lambda: told.append("a"))
    paced.hold(Pace(lambda: ahead["b"], JOURNAL_PACE_SECONDS_MAX), lambda: told.append("b"))
    assert len(timer.due) == 1  # one look for all
    timer.pass_by(0.01)
    assert told == ["all"]
    ahead["b"] = False
    timer.pass_by(0.01)
    assert told == ["all", "b", "all"]
    ahead["a"] = False
    timer.pass_by(0.01)
    assert told[3:] == ["a", "all"]
    assert timer.due == []  # nobody looks where nobody waits


def test_a_crowd_of_answers_is_looked_at_less_often(timer: Timer) -> None:
    """However many wait, the looks in a second are so many in all (docs/internals/queues.md)."""
    paced, looks = PacedAnswers(timer, lambda: None, PacedCounts()), [0]

    def waits() -> bool:
        looks[0] += 1
        return True

    for _ in range(1000):
        paced.hold(Pace(waits, ENTRY_PACE_SECONDS_MAX), lambda: None)
    for _ in range(999):
        timer.pass_by(ENTRY_PACE_SECONDS_MAX / 1000)
    assert 1000 < looks[0] <= 1000 + ENTRY_PACE_SECONDS_MAX / ANSWER_PACE_LOOK_SECONDS_EACH


def test_an_answer_waits_for_so_long_and_no_longer(timer: Timer) -> None:
    """Whoever takes rows may have failed: writers go on then, up to the bound that refuses them."""
    told: list[str] = []
    counts = PacedCounts()
    paced = PacedAnswers(timer, lambda: None, counts)
    paced.hold(Pace(lambda: True, JOURNAL_PACE_SECONDS_MAX), lambda: told.append("first"))
    timer.pass_by(JOURNAL_PACE_SECONDS_MAX / 2)
    paced.hold(Pace(lambda: True, JOURNAL_PACE_SECONDS_MAX), lambda: told.append("second"))
    assert told == []
    timer.pass_by(JOURNAL_PACE_SECONDS_MAX / 2)
    assert told == ["first"]
    assert counts.held == 1
    timer.pass_by(JOURNAL_PACE_SECONDS_MAX / 2)
    assert told == ["first", "second"]
    assert (counts.held, counts.held_total) == (0, 2)


# --- in the dispatcher ----------------------------------------------------------------------------


class PacedDesk(Desk):
    """A desk with a searched table and a plain one, whose loop calls back when a test says so."""

    def __init__(self, timer: Timer) -> None:
        super().__init__(MemoryStore())
        self.answered: list[Response] = []
        self.loop.call_later = timer.when_passed  # type: ignore[attr-defined]  # what a loop has
        for name in ("searched", "plain"):
            self.engine.core.run(
                self.engine.create_table(INSTANCE, create(name, {"k": KeyType.STRING}))
            )
        schema = SearchSchema((SearchField("v", SearchFieldType.LONG),))
        asked = CreateSearchIndex("searched", "x", schema)
        self.engine.core.run(self.engine.search.create(INSTANCE, asked))

    def search(self) -> int:
        """How many rows the index has, all taken."""
        asked = Search("searched", "x", query=MATCH_ALL, limit=0, get_total_count=True)
        total = self.engine.search.search(INSTANCE, asked).total
        assert total is not None
        return total

    def put(self, table: str, number: int) -> bool:
        """Send a PutRow and commit it; whether it is answered by then."""
        row = row_buffer([("k", str(number))], [cell("v", number)])
        body = m.PutRowRequest(table_name=table, row=row, condition=ANY).SerializeToString()
        answered = len(self.answered)
        self.dispatcher.handle(signed("PutRow", body), self.answered.append)
        self.loop.end_turn()
        self.committer.settle()
        self.dispatcher.told(())
        return len(self.answered) > answered


def test_who_writes_faster_than_an_index_takes_rows_waits_and_nobody_else(timer: Timer) -> None:
    """A search then has few rows left to take. Rows of other tables are answered at once."""
    desk = PacedDesk(timer)
    assert desk.search() == 0
    assert desk.put("searched", 0)
    desk.engine.backlog.is_paced = True
    assert desk.search() == 1
    rows = range(1, JOURNAL_PACED_ROWS_SEARCHED + 1)
    assert all(desk.put("searched", number) for number in rows)
    assert not desk.put("searched", len(rows) + 1)
    assert not desk.put("searched", len(rows) + 2)
    assert desk.put("plain", 1)
    timer.pass_by(0.01)
    assert len(desk.answered) == len(rows) + 2  # nothing was taken meanwhile
    assert desk.search() == len(rows) + 3  # the rows are there, though nobody was told of them
    timer.pass_by(0.01)
    assert len(desk.answered) == len(rows) + 4
    assert {read(each).status for each in desk.answered} == {200}


def test_writers_of_an_index_that_nobody_searches_go_further_ahead(timer: Timer) -> None:
    """Until a search comes, and again when so many rows were written that it was long ago."""
    desk = PacedDesk(timer)
    desk.engine.backlog.is_paced = True
    while desk.engine.search.work():
        pass
    assert all(desk.put("searched", number) for number in range(JOURNAL_PACED_ROWS))
    assert not desk.put("searched", JOURNAL_PACED_ROWS)
    assert desk.search() == JOURNAL_PACED_ROWS + 1  # from now on it is searched
    assert all(desk.put("searched", number) for number in range(JOURNAL_PACED_ROWS_SEARCHED))
    assert not desk.put("searched", 0)
    for number in range(SEARCH_ASKED_CHANGES):
        desk.put("searched", number)
        while desk.engine.search.work():
            pass
    assert all(desk.put("searched", number) for number in range(JOURNAL_PACED_ROWS))
    assert not desk.put("searched", 0)


def test_rows_of_a_batch_wait_for_the_slowest_of_their_tables(timer: Timer) -> None:
    desk = PacedDesk(timer)
    desk.search()
    desk.engine.backlog.is_paced = True
    for number in range(JOURNAL_PACED_ROWS_SEARCHED + 1):
        desk.put("searched", number)
    answered = len(desk.answered)

    def batch(*tables: str) -> bool:
        asked = BatchWrite(
            tuple([TableWrite(name, (put_change(name, {"k": "b"}, {"v": 1}),)) for name in tables])
        )
        plan = desk.engine.rows.batch_write_row(INSTANCE, asked)
        return plan.pace is not None and plan.pace.waits()

    assert not batch("plain")
    assert batch("plain", "searched")
    assert batch("searched", "plain")
    desk.search()
    assert not batch("searched", "plain")
    assert len(desk.answered) == answered
