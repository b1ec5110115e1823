"""Searches are what the table says, whatever happens to writers, files, processes (search §11.7).

What a search answers is compared in full with what a scan of the table answers, behind every write,
split, sweep, checkpoint, damage and restart, and in a second process over the same store.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support.changes import delete, delete_all, increment, put, put_cells, update
from tests.support.search_host import RememberingHost
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples
from tests.unit.engine.search.tables import (
    engine_of,
    make_index,
    make_table,
    rows,
    search,
    stored,
)

from widerow.engine.check import check_store
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, OutcomeUnknown
from widerow.keys.encode import encode_key_value
from widerow.limits import TRANSACTION_SECONDS_MAX
from widerow.model.search.query import TermQuery
from widerow.model.search.requests import SearchIndexName
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = pytest.mark.timeout(300)

some_keys = st.integers(0, 9)
values = st.integers(0, 3)
who = st.integers(0, 1)
STEPS_MAX = 400
DAMAGES: tuple[Callable[[bytes], bytes | None], ...] = (
    lambda _: None,
    lambda data: data[: len(data) // 2],
    lambda data: data[:-1] + bytes((data[-1] ^ 1,)) if data else None,
    lambda data: bytes((data[0] ^ 1,)) + data[1:] if data else None,
)


class SearchModel(RuleBasedStateMachine):
    """A table with an index that keeps files, and one that another process may look at."""

    processes = 1

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.stores = self.open()
        self.hosts = [RememberingHost() for _ in self.stores]
        self.seed = 0
        self.engines = [self.start(number) for number in range(self.processes)]

    def open(self) -> list[Store]:
        return [open_store("memory:")]

    def start(self, number: int) -> TablestoreEngine:
        self.seed += 1
        entropy = FakeEntropy(100 + self.seed)
        return engine_of(self.stores[number], self.clock, entropy, self.hosts[number])

    def engine(self, number: int) -> TablestoreEngine:
        return self.engines[number % self.processes]

    def run_plan(self, engine: TablestoreEngine, plan: Callable[[], Plan[Any]]) -> None:
        """Whether it happened may stay unknown: the table says."""
        try:
            engine.core.run(plan())
        except OutcomeUnknown:
            return

    @initialize(before=st.lists(some_keys, max_size=3))
    def begin(self, before: list[int]) -> None:
        engine = self.engines[0]
        while not engine.list_tables("i"):
            try:
                make_table(engine, allow_update=True)
            except OutcomeUnknown:
                continue
        for key in before:
            self.put(0, key, 0)
        while not engine.search.list("i", "t"):
            try:
                make_index(engine)
            except OutcomeUnknown:
                continue
        self.clock.advance(TRANSACTION_SECONDS_MAX + 1)

    # --- what happens ------------------------------------------------------------------------

    @rule(which=who, key=some_keys, value=values)
    def put(self, which: int, key: int, value: int) -> None:
        engine = self.engine(which)
        change = put("t", {"k": key}, {"n": value, "s": f"v{value}"})
        self.run_plan(engine, lambda: engine.rows.write_row("i", change))

    @rule(which=who, key=some_keys, value=values)
    def update(self, which: int, key: int, value: int) -> None:
        engine = self.engine(which)
        cells = [increment("n", value), delete_all("s")] if value else put_cells({"s": "v0"})
        self.run_plan(engine, lambda: engine.rows.write_row("i", update("t", {"k": key}, cells)))

    @rule(which=who, key=some_keys)
    def delete(self, which: int, key: int) -> None:
        engine = self.engine(which)
        self.run_plan(engine, lambda: engine.rows.write_row("i", delete("t", {"k": key})))

    @rule(which=who, first=some_keys, second=some_keys, value=values)
    def batch(self, which: int, first: int, second: int, value: int) -> None:
        if first == second:
            return
        engine = self.engine(which)
        changes = put("t", {"k": first}, {"n": value}), delete("t", {"k": second})
        asked = BatchWrite((TableWrite("t", changes),))
        self.run_plan(engine, lambda: engine.rows.batch_write_row("i", asked))

    @rule(which=who, bounds=st.frozensets(st.integers(1, 9), max_size=3))
    def divide(self, which: int, bounds: frozenset[int]) -> None:
        engine = self.engine(which)
        table = engine.describe_table("i", "t")
        assert table.journal is not None
        if len(table.journal.shards) > 12:
            return
        model = engine.tables.model
        splits = tuple(encode_key_value(each) for each in sorted(bounds))
        write = engine.tables.change(table, lambda found: model.with_bounds(found, splits))
        engine.core.store.transact_group([write])

    @rule(which=who, seconds=st.sampled_from([0, 1, 61, 25 * 3600]))
    def keep_house(self, which: int, seconds: int) -> None:
        """Trimming, moving, dropping of closed shards; 25 hours later nothing old is left."""
        self.clock.advance(seconds)
        engine = self.engine(which)
        for _ in range(STEPS_MAX):
            plan = engine.core.housekeeping()
            if plan is None:
                return
            self.run_plan(engine, lambda: plan)  # noqa: B023  # at once

    @rule(which=who)
    def work(self, which: int) -> None:
        self.engine(which).search.work()

    @rule(which=who)
    def write_down(self, which: int) -> None:
        self.engine(which).search.write_down(all_of_them=True)

    @rule(which=who, left=st.integers(0, 3))
    def stop_in_a_checkpoint(self, which: int, left: int) -> None:
        """The machine stops before one of the files has its name."""
        number = which % self.processes
        engine, host = self.engines[number], self.hosts[number]
        for files in host.directories.values():
            files.writes_left = left
        engine.search.write_down(all_of_them=True)
        for files in host.directories.values():
            files.writes_left = None
        self.engines[number] = self.start(number)

    @rule(which=who)
    def restart(self, which: int) -> None:
        number = which % self.processes
        self.engines[number] = self.start(number)

    @rule(which=who, damage=st.sampled_from(DAMAGES), place=st.integers(0, 5))
    def damage_a_file(
        self, which: int, damage: Callable[[bytes], bytes | None], place: int
    ) -> None:
        number = which % self.processes
        for files in self.hosts[number].directories.values():
            names = files.names()
            if names:
                name = names[place % len(names)]
                changed = damage(files.files[name])
                if changed is None:
                    del files.files[name]
                else:
                    files.files[name] = changed
        self.engines[number] = self.start(number)

    @rule(which=who)
    def take_files_of_another_time(self, which: int) -> None:
        """Files of a former index of the same name are of another number, and go."""
        engine = self.engine(which)
        self.run_plan(engine, lambda: engine.search.delete("i", SearchIndexName("t", "x")))
        while not engine.search.list("i", "t"):
            try:
                make_index(engine)
            except OutcomeUnknown:
                continue
        self.clock.advance(TRANSACTION_SECONDS_MAX + 1)

    # --- what holds --------------------------------------------------------------------------

    @precondition(lambda self: self.engines[0].list_tables("i"))
    @invariant()
    def searches_are_what_the_table_says(self) -> None:
        for engine in self.engines:
            if engine.search.list("i", "t"):
                self.compare(engine)

    def compare(self, engine: TablestoreEngine) -> None:
        answer = search(engine)
        everything = stored(engine)
        assert rows(answer) == everything
        assert answer.total == len(everything)
        zero = search(engine, TermQuery("s", "v0"))
        assert [row for row in everything if b"v0" in row] == rows(zero)

    def teardown(self) -> None:
        for engine in self.engines:
            if engine.list_tables("i"):
                assert check_store(engine.core.store) == []
        for store in self.stores:
            store.close()


class SharedSearchModel(SearchModel):
    """Two processes over a store whose transactions reach one shard."""

    processes = 2

    def open(self) -> list[Store]:
        space = StrictSpace()
        return [
            StrictStore(space, FakeEntropy(11 + n), conflicts=0.2, unknown=0.05) for n in range(2)
        ]

    def compare(self, engine: TablestoreEngine) -> None:
        try:
            super().compare(engine)
        except Conflict:
            raise AssertionError("an index is not built in time") from None


TestSearchModel = SearchModel.TestCase
TestSharedSearchModel = SharedSearchModel.TestCase
TestSearchModel.settings = TestSharedSearchModel.settings = settings(
    max_examples=examples(15),
    stateful_step_count=20,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
