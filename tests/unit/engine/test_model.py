"""The engine against the model, step by step, with a check of the whole store after each.

Small keys, names and values on purpose: what matters is that operations meet. The segment bounds
are crossed by rows of a few hundred columns in test_wide_rows.py.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.support.answers import decode_answer_rows, decode_row
from tests.support.changes import (
    create,
    delete,
    delete_all,
    delete_one,
    get,
    increment,
    put,
    put_cells,
    scan_all,
    update,
)
from tests.support.engines import open_tablestore
from tests.support.model import ModelRefusal, ModelTable
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.errors import Conflict, InvalidRequest
from widerow.model.tablestore.condition import UNCONDITIONAL, Condition, RowExpectation
from widerow.model.tablestore.filter import Comparator, Comparison, Composite, LogicalOperator
from widerow.model.tablestore.requests import BatchWrite, OptionsChange, TableWrite, UpdateTable
from widerow.model.tablestore.row import CellChange, RowChange
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyInput, KeyMarker, KeyType, Value
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = pytest.mark.timeout(180)  # ten seconds of work, on machines that are busy too
NOW = 1_468_944_000_000
keys = st.tuples(st.sampled_from(["", "a", "a\x00", "b"]), st.integers(-1, 1))
names = st.sampled_from(["x", "y", "z"])
values: st.SearchStrategy[Value] = st.one_of(
    st.integers(-3, 3), st.booleans(), st.sampled_from([0.5, -0.0]), st.text("ab", max_size=2)
)
versions = st.integers(NOW - 3000, NOW + 3000)
put_cell = st.one_of(
    st.builds(lambda n, v: put_cells({n: v}), names, values),
    st.builds(lambda n, t, v: put_cells({n: [(t, v)]}), names, versions, values),
)
puts = st.lists(put_cell, max_size=4).map(lambda cells: tuple(c for part in cells for c in part))
update_cell = st.one_of(
    put_cell,
    st.builds(lambda n: (delete_all(n),), names),
    st.builds(lambda n, t: (delete_one(n, t),), names, versions),
)
updates = st.lists(update_cell, min_size=1, max_size=4).map(
    lambda cells: tuple(c for part in cells for c in part)
)


comparisons = st.builds(
    Comparison,
    names,
    st.sampled_from(Comparator),
    values,
    st.booleans(),
    st.booleans(),
)
filters = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds(lambda one: Composite(LogicalOperator.NOT, (one,)), inner),
        st.builds(
            lambda operator, some: Composite(operator, tuple(some)),
            st.sampled_from([LogicalOperator.AND, LogicalOperator.OR]),
            st.lists(inner, min_size=2, max_size=3),
        ),
    ),
    max_leaves=3,
)
conditions = st.one_of(
    st.just(UNCONDITIONAL),
    st.builds(Condition, st.sampled_from(RowExpectation), st.one_of(st.none(), filters)),
)


def _put(key: tuple[str, int], cells: tuple[CellChange, ...], condition: Condition) -> RowChange:
    made = put("t", dict(zip("kn", key, strict=True)), {}, condition)
    return RowChange("t", made.modification, made.key, cells, condition)


class EngineAgainstModel(RuleBasedStateMachine):
    """One table, changed at random; after every step all reads agree and the store is sound."""

    url = "memory:"

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock(NOW)
        self.store = open_store(self.url)
        self.engine = open_tablestore(self.store, self.clock, FakeEntropy())
        self.model = ModelTable()

    @initialize(ttl=st.sampled_from([-1, 4]), count=st.integers(1, 3))
    def make_table(self, ttl: int, count: int) -> None:
        schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
        request = create("t", schema, time_to_live=ttl, max_versions=count)
        self.engine.core.run(self.engine.create_table("i", request))
        self.model = ModelTable(ttl, count)

    def _change(self, key: tuple[str, int], change: RowChange) -> None:
        now_ms = self.clock.now_us() // 1000
        try:
            self.engine.core.run(self.engine.rows.write_row("i", change))
        except (InvalidRequest, Conflict):
            refused = True
        else:
            refused = False
        if refused and self._in_window(change, now_ms):
            try:
                self.model.change(key, change, now_ms)
            except ModelRefusal:
                return
            raise AssertionError("the engine refused what the model accepts")
        if not refused:
            self.model.change(key, change, now_ms)

    def _in_window(self, change: RowChange, now_ms: int) -> bool:
        ttl = self.model.time_to_live
        oldest = 0 if ttl < 0 else (now_ms // 1000 - ttl) * 1000
        return all(c.version is None or c.version >= oldest for c in change.cells)

    @rule(key=keys, cells=puts, condition=conditions)
    def put_row(
        self, key: tuple[str, int], cells: tuple[CellChange, ...], condition: Condition
    ) -> None:
        self._change(key, _put(key, cells, condition))

    @rule(key=keys, cells=updates, condition=conditions)
    def update_row(
        self, key: tuple[str, int], cells: tuple[CellChange, ...], condition: Condition
    ) -> None:
        self._change(key, update("t", dict(zip("kn", key, strict=True)), cells, condition))

    @rule(key=keys, name=names, by=st.integers(-2, 2))
    def increment_column(self, key: tuple[str, int], name: str, by: int) -> None:
        self._change(key, update("t", dict(zip("kn", key, strict=True)), [increment(name, by)]))

    @rule(key=keys, condition=conditions)
    def delete_row(self, key: tuple[str, int], condition: Condition) -> None:
        self._change(key, delete("t", dict(zip("kn", key, strict=True)), condition))

    @rule(rows=st.lists(st.tuples(keys, puts), min_size=1, max_size=4), atomic=st.booleans())
    def batch_write(
        self, rows: list[tuple[tuple[str, int], tuple[CellChange, ...]]], *, atomic: bool
    ) -> None:
        """Puts without versions, so that no row of the batch can be refused for its time."""
        rows = [
            (
                key,
                tuple(CellChange(c.operation, c.name, None, c.size, c.body, c.crc) for c in cells),
            )
            for key, cells in rows
        ]
        changes = [_put(key, cells, UNCONDITIONAL) for key, cells in rows]
        request = BatchWrite((TableWrite("t", tuple(changes)),), atomic)
        (outcomes,) = self.engine.core.run(self.engine.rows.batch_write_row("i", request))
        one_scope = len({key[0] for key, _ in rows}) == 1
        assert all((o.error is None) == (one_scope or not atomic) for o in outcomes)
        if one_scope or not atomic:
            for (key, _), change in zip(rows, changes, strict=True):
                self.model.change(key, change, self.clock.now_us() // 1000)

    @rule()
    def keep_house(self) -> None:
        """Giving space back changes nothing that can be seen, unless the clock goes back."""
        while (plan := self.engine.core.housekeeping()) is not None:
            self.engine.core.run(plan)
            self.model.purge(self.clock.now_us() // 1000)

    @rule(
        first=keys,
        second=keys,
        names=st.frozensets(names, max_size=2),
        newest=st.integers(1, 2),
        limit=st.integers(1, 3),
    )
    def read_part(
        self,
        first: tuple[str, int],
        second: tuple[str, int],
        names: frozenset[str],
        newest: int,
        limit: int,
    ) -> None:
        """A page of a range with some columns and versions of its rows."""
        low, high = sorted((first, second))
        if low == high:
            return
        start: dict[str, KeyInput] = dict(zip("kn", low, strict=True))
        end: dict[str, KeyInput] = dict(zip("kn", high, strict=True))
        request = scan_all("t", start, end, limit=limit, selection=Selection(names, newest))
        page = self.engine.rows.get_range("i", request)
        expected = []
        for key, columns in self.model.scan(self.clock.now_us() // 1000):
            shown = {n: c[:newest] for n, c in columns.items() if not names or n in names}
            if low <= key < high and (shown or not (names or columns)):
                expected.append((key, shown))
        found = [(tuple(key.values()), columns) for key, columns in decode_answer_rows(page.rows)]
        assert found == expected[:limit]

    @rule(seconds=st.sampled_from([-2, 0.001, 1, 3]))
    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(count=st.integers(1, 3))
    def lower_max_versions(self, count: int) -> None:
        count = min(count, self.model.max_versions)  # raising may show purged data or not
        change = UpdateTable("t", options=OptionsChange(max_versions=count))
        self.engine.core.run(self.engine.update_table("i", change))
        self.model.max_versions = count

    @rule(ttl=st.sampled_from([-1, 2, 4]))
    def change_time_to_live(self, ttl: int) -> None:
        """Lowering hides at once; raising shows what was not purged."""
        change = UpdateTable("t", options=OptionsChange(time_to_live=ttl))
        self.engine.core.run(self.engine.update_table("i", change))
        self.model.time_to_live = ttl

    @rule()
    def reopen(self) -> None:
        self.engine = open_tablestore(self.store, self.clock, FakeEntropy())

    @invariant()
    def reads_agree(self) -> None:
        if not self.engine.list_tables("i"):
            return
        now_ms = self.clock.now_us() // 1000
        low = {"k": KeyMarker.INF_MIN, "n": KeyMarker.INF_MIN}
        high = {"k": KeyMarker.INF_MAX, "n": KeyMarker.INF_MAX}
        expected = self.model.scan(now_ms)
        page = self.engine.rows.get_range("i", scan_all("t", low, high))
        found = [(tuple(key.values()), columns) for key, columns in decode_answer_rows(page.rows)]
        assert found == expected
        for key in self.model.rows:
            request = get("t", dict(zip("kn", key, strict=True)))
            row = decode_row(self.engine.rows.get_row("i", request).row)
            assert (None if row is None else row[1]) == self.model.visible(key, now_ms)

    @invariant()
    def store_is_sound(self) -> None:
        assert check_store(self.store) == []

    def teardown(self) -> None:
        self.store.close()


class EngineOnRocksDB(EngineAgainstModel):
    """The same on disk; reopening closes the store for real."""

    def __init__(self) -> None:
        self.directory = TemporaryDirectory()
        self.url = f"rocksdb:{Path(self.directory.name) / 'store'}"
        super().__init__()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.url)
        super().reopen()

    def teardown(self) -> None:
        super().teardown()
        self.directory.cleanup()


# Explaining a failure traces every line and takes minutes; the steps printed are enough.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)

# Some runs end early: 310 of up to 40 steps make the 10 000 that every run of the suite takes.
TestEngineAgainstModel = EngineAgainstModel.TestCase
TestEngineAgainstModel.settings = settings(
    max_examples=examples(310), stateful_step_count=40, deadline=None
)
TestEngineOnRocksDB = EngineOnRocksDB.TestCase
TestEngineOnRocksDB.settings = settings(
    max_examples=examples(20), stateful_step_count=30, deadline=None, phases=PHASES
)
