"""Streams where the row's transaction does not reach the log (change §C1.8, §E2).

Two processes write, split, move and read over one store of which transactions reach one shard, meet
each other, and now and then do not know how they ended. Every write has a number of its own, so it
is seen whether a change is lost, doubled, or out of order.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.client.rows import decode_change
from widerow.engine.check import check_store
from widerow.engine.plan import Plan
from widerow.engine.streams.stream_reads import ChangeRecord
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Exhausted, NotFound, OutcomeUnknown, Rule
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import SPACE_CHANGES, SPACE_INTENTS
from widerow.limits import (
    FIRST_LOOK_SECONDS,
    HOUSEKEEPING_PAUSE_SECONDS,
    INTENT_LOOK_SECONDS_MAX,
)
from widerow.model.tablestore.requests import BatchWrite, StreamChange, TableWrite, UpdateTable
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyType
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = pytest.mark.timeout(180)

keys = st.integers(0, 5)
who = st.integers(0, 1)
DELETE = 3
STEPS_MAX = 400  # of moving, until a queue must be empty
SPLITS_MAX = 6


class Follower:
    """Reads a stream as its readers do: a shard to its end, and only then those behind it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.records: dict[str, list[ChangeRecord]] = {}
        self.iterators: dict[str, str | None] = {}

    def read(self, engine: TablestoreEngine, table: Table) -> bool:
        """A page of each shard that may be read. Whether all of them said that nothing is left."""
        at_tail = True
        for shard in engine.streams.shards(table):
            if any(self.iterators.get(each, "") is not None for each in shard.parents):
                at_tail = False
                continue
            if shard.id not in self.iterators:
                self.iterators[shard.id] = engine.streams.iterator(table, shard.id, None)
            asked = self.iterators[shard.id]
            if asked is None:
                continue
            page = engine.streams.read(table, asked, self.limit)
            assert page.records() or page.following in (asked, None), "the tail is one place"
            self.records.setdefault(shard.id, []).extend(page.records())
            self.iterators[shard.id] = page.following
            at_tail = at_tail and not page.more and page.following is not None
        return at_tail

    def changes(self) -> list[tuple[int, int]]:
        """Key and number of every put that was read, shards in the order of their reading."""
        found = []
        for records in self.records.values():
            positions = [(each.timestamp_us, each.row_index) for each in records]
            assert positions == sorted(set(positions)), "positions only grow"
            found += [_numbered(each) for each in records if each.action != DELETE]
        return found


def _numbered(record: ChangeRecord) -> tuple[int, int]:
    row = decode_change(record.record)
    assert (row.time_us, row.row_index) == (record.timestamp_us, record.row_index)
    key = row.key[0][1]
    number = row.cells[0].value  # type: ignore[union-attr]  # puts only
    assert isinstance(key, int)
    assert isinstance(number, int)
    return key, number


class Moving(RuleBasedStateMachine):
    """Two processes over one store."""

    def __init__(self) -> None:
        super().__init__()
        self.clock, space = FakeClock(), StrictSpace()
        self.stores = [
            StrictStore(space, FakeEntropy(11 + n), conflicts=0.2, unknown=0.05) for n in range(2)
        ]
        self.seed = 0
        self.engines = [self.start(n) for n in range(2)]
        self.written: dict[int, list[int]] = {}  # by key: numbers of writes that were answered
        self.unsure: set[int] = set()  # numbers of those of which nobody knows
        self.number = 0
        self.splits = 0
        self.planned: list[tuple[TablestoreEngine, Plan[Any]]] = []

    def start(self, which: int) -> TablestoreEngine:
        self.seed += 1
        return open_tablestore(self.stores[which], self.clock, FakeEntropy(100 + self.seed))

    def run(self, engine: TablestoreEngine, plan: Callable[[], Plan[Any]]) -> bool:
        """Whether it is known to have happened."""
        try:
            engine.core.run(plan())
        except OutcomeUnknown:
            return False
        return True

    @property
    def table(self) -> Table:
        return self.engines[0].describe_table("i", "t")

    @initialize(limit=st.integers(1, 3))
    def begin(self, limit: int) -> None:
        request = replace(create("t", {"k": KeyType.INTEGER}), stream=StreamChange(enable=True))
        while not self.engines[0].list_tables("i"):
            self.run(self.engines[0], lambda: self.engines[0].create_table("i", request))
        self.follower = Follower(limit)

    # --- what happens ------------------------------------------------------------------------

    @rule(which=who, rows=st.lists(keys, min_size=1, max_size=3, unique=True))
    def write(self, which: int, rows: list[int]) -> None:
        for key in rows:
            self.number += 1
            number = self.number
            change = put("t", {"k": key}, {"n": number})
            engine = self.engines[which]
            if self.run(engine, lambda: engine.rows.write_row("i", change)):  # noqa: B023  # at once
                self.written.setdefault(key, []).append(number)
            else:
                self.unsure.add(number)

    @rule(which=who, rows=st.lists(keys, min_size=2, max_size=3, unique=True))
    def write_batch(self, which: int, rows: list[int]) -> None:
        """Rows of one request; of a shard of their own each, so each is answered for itself."""
        first = self.number + 1
        self.number += len(rows)
        puts = [put("t", {"k": key}, {"n": first + at}) for at, key in enumerate(rows)]
        batch = BatchWrite((TableWrite("t", tuple(puts)),))
        engine = self.engines[which]
        try:
            [outcomes] = engine.core.run(engine.rows.batch_write_row("i", batch))
        except OutcomeUnknown:
            self.unsure |= set(range(first, self.number + 1))
            return
        for at, (key, outcome) in enumerate(zip(rows, outcomes, strict=True)):
            if outcome.error is None:
                self.written.setdefault(key, []).append(first + at)
            else:
                self.unsure.add(first + at)

    @rule(which=who, bounds=st.frozensets(st.integers(1, 5), max_size=3))
    def divide(self, which: int, bounds: frozenset[int]) -> None:
        if self.splits == SPLITS_MAX:
            return
        self.splits += 1
        engine = self.engines[which]
        model = engine.tables.model
        splits = tuple(encode_key_value(each) for each in sorted(bounds))
        write = engine.tables.change(self.table, lambda found: model.with_bounds(found, splits))
        engine.core.store.transact_group([write])

    @rule(which=who)
    def move(self, which: int) -> None:
        engine = self.engines[which]
        plan = engine._mover.step()
        if plan is not None:
            self.run(engine, lambda: plan)

    @rule(which=who)
    def plan_a_move(self, which: int) -> None:
        """It is made later, when another one may have been made."""
        plan = self.engines[which]._mover.step()
        if plan is not None and len(self.planned) < 4:
            self.planned.append((self.engines[which], plan))

    @rule(first=st.booleans())
    def make_a_planned_move(self, first: bool) -> None:  # noqa: FBT001  # drawn
        if self.planned:
            engine, plan = self.planned.pop(0 if first else -1)
            self.run(engine, lambda: plan)

    @rule(which=who)
    def restart(self, which: int) -> None:
        """What it had planned may still be made by what is left of it."""
        self.engines[which] = self.start(which)

    @rule(seconds=st.sampled_from([-2, 0, 1]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(which=who)
    def read(self, which: int) -> None:
        """At the tail, everything that was answered has been read."""
        engine = self.engines[which]
        if self.follower.read(engine, engine.describe_table("i", "t")):
            seen = {number for _, number in self.follower.changes()}
            answered = {number for numbers in self.written.values() for number in numbers}
            assert answered <= seen

    # --- what holds --------------------------------------------------------------------------

    @invariant()
    def changes_come_once_and_in_order(self) -> None:
        if not hasattr(self, "follower"):
            return
        changes = self.follower.changes()
        numbers = [number for _, number in changes]
        assert len(numbers) == len(set(numbers)), "a change is doubled"
        for key in self.written:
            ordered = [number for each, number in changes if each == key]
            assert ordered == sorted(ordered), "changes of one key are out of order"
            assert set(ordered) <= {*self.written[key], *self.unsure}

    def teardown(self) -> None:
        if not hasattr(self, "follower"):
            return
        for engine, plan in self.planned:
            self.run(engine, lambda: plan)  # noqa: B023  # at once
        self.drain()
        while not self.follower.read(self.engines[0], self.table):
            pass
        self.changes_come_once_and_in_order()
        changes = self.follower.changes()
        for key, numbers in self.written.items():
            read = [number for each, number in changes if each == key]
            assert [each for each in read if each not in self.unsure] == numbers
        other = Follower(1000)
        while not other.read(self.engines[1], self.table):
            pass
        assert other.records == self.follower.records
        assert check_store(self.stores[0]) == []
        self.nothing_stays()

    def drain(self) -> None:
        for _ in range(STEPS_MAX):
            plan = self.engines[0]._mover.step()
            if plan is None:
                return
            self.run(self.engines[0], lambda: plan)  # noqa: B023  # at once
        raise AssertionError("moving does not end")

    def nothing_stays(self) -> None:
        """change §E2 rule 7: of a stream that is off, and of a table that was dropped."""
        engine = self.engines[0]
        change = put("t", {"k": 1}, {"n": 0})
        self.run(engine, lambda: engine.rows.write_row("i", change))
        off = UpdateTable("t", stream=StreamChange(enable=False))
        while engine.describe_table("i", "t").stream is not None:
            self.run(engine, lambda: engine.update_table("i", off))
        self.drain()
        space = self.stores[0].snapshot().scan(SPACE_INTENTS, after_prefix(SPACE_INTENTS))
        assert list(space) == []
        while engine.list_tables("i"):
            try:
                self.run(engine, lambda: engine.delete_table("i", "t"))
            except NotFound:
                break
        for _ in range(STEPS_MAX):
            self.clock.advance(10)
            plan = engine.core.housekeeping()
            if plan is not None:
                self.run(engine, lambda: plan)  # noqa: B023  # at once
            left = self.stores[0].snapshot().scan(SPACE_CHANGES, after_prefix(SPACE_CHANGES))
            if not list(left):
                return
        raise AssertionError("change records stay")


TestMoving = Moving.TestCase
TestMoving.settings = settings(
    max_examples=examples(30),
    stateful_step_count=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


# --- moments that chance meets seldom -------------------------------------------------------------


@pytest.fixture
def clock() -> FakeClock:
    """The clock of both processes."""
    return FakeClock()


@pytest.fixture
def pair(clock: FakeClock) -> tuple[TablestoreEngine, TablestoreEngine]:
    """Two processes over one store, with a table of two key columns that has a stream."""
    space = StrictSpace()
    one, other = [
        open_tablestore(StrictStore(space, FakeEntropy(n)), clock, FakeEntropy(10 + n))
        for n in range(2)
    ]
    columns = {"k": KeyType.INTEGER, "r": KeyType.INTEGER}
    one.core.run(
        one.create_table("i", replace(create("t", columns), stream=StreamChange(enable=True)))
    )
    return one, other


def _put(engine: TablestoreEngine, key: int, number: int) -> None:
    engine.core.run(engine.rows.write_row("i", put("t", {"k": key, "r": 0}, {"n": number})))


def _split(engine: TablestoreEngine, bound: int) -> None:
    model, splits = engine.tables.model, (encode_key_value(bound),)
    table = engine.describe_table("i", "t")
    write = engine.tables.change(table, lambda found: model.with_bounds(found, splits))
    assert [each.error for each in engine.core.store.transact_group([write])] == [None]


def _drain(engine: TablestoreEngine) -> None:
    while (plan := engine._mover.step()) is not None:
        engine.core.run(plan)


def _read(engine: TablestoreEngine) -> list[int]:
    """The numbers of all puts, parents before their children."""
    follower = Follower(1000)
    while not follower.read(engine, engine.describe_table("i", "t")):
        pass
    return [number for _, number in follower.changes()]


def test_an_append_that_two_have_planned_is_made_once(
    pair: tuple[TablestoreEngine, TablestoreEngine],
) -> None:
    one, other = pair
    _put(one, 1, 7)
    late = one._mover.step()
    assert late is not None
    _drain(other)
    one.core.run(late)
    _drain(one)
    assert _read(one) == [7]


def test_an_append_planned_before_a_split_is_not_made_behind_it(
    pair: tuple[TablestoreEngine, TablestoreEngine],
) -> None:
    """The shard was sealed meanwhile, and its children have taken the change."""
    one, other = pair
    _put(one, 1, 7)
    late = one._mover.step()
    assert late is not None
    _split(other, 3)
    _drain(other)
    one.describe_table("i", "t")  # looks at the catalogue again, so that alone refuses nothing
    one.core.run(late)
    _drain(one)
    assert _read(one) == [7]


def test_a_shard_takes_nothing_before_its_parents_are_sealed(
    pair: tuple[TablestoreEngine, TablestoreEngine],
) -> None:
    one, other = pair
    _put(one, 1, 7)
    late = one._mover.step()
    assert late is not None
    _split(other, 3)
    assert other._mover._moves() == []  # as where the split was seen a moment later
    one.core.run(late)
    _drain(other)
    assert _read(one) == [7]


def test_what_one_transaction_changed_is_moved_by_one_step(
    pair: tuple[TablestoreEngine, TablestoreEngine],
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The records of one request share their time (change §C1.8 rule 4)."""
    one, _ = pair
    monkeypatch.setattr("widerow.engine.streams.mover.STEP_CHANGES", 1)
    rows = tuple(put("t", {"k": 1, "r": at}, {"n": at}) for at in range(3))
    one.core.run(one.rows.batch_write_row("i", BatchWrite((TableWrite("t", rows),), atomic=True)))
    clock.advance(1)
    _put(one, 1, 9)
    first = one._mover.step()
    assert first is not None
    one.core.run(first)
    table = one.describe_table("i", "t")
    iterator = one.streams.iterator(table, "0", None)
    records = one.streams.read(table, iterator, None).records()
    assert [each.row_index for each in records] == [0, 1, 2]
    assert len({each.timestamp_us for each in records}) == 1


def test_a_write_waits_where_too_many_changes_do(
    pair: tuple[TablestoreEngine, TablestoreEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = pair
    monkeypatch.setattr("widerow.engine.intents.INTENTS_MAX", 2)
    _put(one, 1, 1)
    _put(one, 1, 2)
    with pytest.raises(Exhausted) as refused:
        _put(one, 1, 3)
    assert refused.value.rule is Rule.SERVER_BUSY
    _put(one, 2, 3)  # another partition key
    _drain(one)
    _put(one, 1, 4)
    _drain(one)
    assert sorted(_read(one)) == [1, 2, 3, 4]


def test_looks_are_rarer_while_there_is_nothing_to_move(
    pair: tuple[TablestoreEngine, TablestoreEngine],
) -> None:
    """A look reads a store that others use as well."""
    one, other = pair
    pauses = []
    for _ in range(6):
        _drain(one)
        pauses.append(one.core.pause(30))
    assert pauses == sorted(pauses)
    assert pauses[-1] == INTENT_LOOK_SECONDS_MAX
    _put(other, 1, 1)
    plan = one._mover.step()
    assert plan is not None
    assert one.core.pause(30) == HOUSEKEEPING_PAUSE_SECONDS


def test_housekeeping_moves_changes_soon(pair: tuple[TablestoreEngine, TablestoreEngine]) -> None:
    """The pause between two looks is short while a table has a stream, and long otherwise."""
    one, _ = pair
    assert one.core.pause(30) == HOUSEKEEPING_PAUSE_SECONDS
    _put(one, 1, 1)
    for _ in range(20):
        plan = one.core.housekeeping()
        if plan is not None:
            one.core.run(plan)
    assert _read(one) == [1]
    one.core.run(one.delete_table("i", "t"))
    assert one.core.pause(30) == FIRST_LOOK_SECONDS
