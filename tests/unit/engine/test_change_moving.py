"""Indexes and a stream of one table, where transactions reach one shard (change §E2 1 to 3, 7).

Two processes write, split, build entries, move changes and read, as in the machine of streams alone
(`streams/test_moving.py`); here the table has a local and a global index as well, whose entries go
by the same queue of intents.
"""

from dataclasses import replace

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from tests.support.answers import decode_answer_rows
from tests.support.changes import create, delete, scan_all
from tests.support.volume import examples
from tests.unit.engine.streams.test_moving import STEPS_MAX, Follower, Moving, keys, who

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import OutcomeUnknown
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS, SPACE_LOCAL_INDEXES
from widerow.model.tablestore.requests import IndexDefinition, StreamChange
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType

pytestmark = pytest.mark.timeout(240)

MIN, MAX = KeyMarker.INF_MIN, KeyMarker.INF_MAX
LOCAL, GLOBAL = "by_n_inside", "by_n"
_COLUMNS = {"t": ("k",), LOCAL: ("k", "n"), GLOBAL: ("n", "k")}


def rows_of(engine: TablestoreEngine, table: str) -> list[tuple[int, int]]:
    """Key and number of every row, or of every entry of an index."""
    bounds: list[dict[str, KeyInput]] = [dict.fromkeys(_COLUMNS[table], end) for end in (MIN, MAX)]
    page = engine.rows.get_range("i", scan_all(table, *bounds))
    found = []
    for key, columns in decode_answer_rows(page.rows):
        number = key["n"] if "n" in key else columns["n"][0][1]
        assert isinstance(key["k"], int)
        assert isinstance(number, int)
        found.append((key["k"], number))
    return sorted(found)


class Together(Moving):
    """The machine of streams, of a table that has indexes too, and rows that are deleted."""

    @initialize(limit=st.integers(1, 3))
    def begin(self, limit: int) -> None:
        request = replace(
            create("t", {"k": KeyType.INTEGER}),
            defined_columns=(DefinedColumn("n", ColumnType.INTEGER),),
            indexes=(
                IndexDefinition(LOCAL, ("k", "n"), (), 1, 1),
                IndexDefinition(GLOBAL, ("n",), (), 0, 0),
            ),
            stream=StreamChange(enable=True),
        )
        while not self.engines[0].list_tables("i"):
            self.run(self.engines[0], lambda: self.engines[0].create_table("i", request))
        self.follower = Follower(limit)

    @rule(which=who)
    def index(self, which: int) -> None:
        """Work off intents of the global index."""
        engine = self.engines[which]
        plan = engine.indexes.intents.step() or engine.indexes.builds.step()
        if plan is not None:
            self.run(engine, lambda: plan)

    @rule(which=who, key=keys)
    def remove(self, which: int, key: int) -> None:
        """A delete and the put behind it: the entry of the former number goes."""
        engine = self.engines[which]
        try:
            engine.core.run(engine.rows.write_row("i", delete("t", {"k": key})))
        except OutcomeUnknown:
            return
        self.write(which, [key])

    @invariant()
    def the_local_index_is_the_table(self) -> None:
        """change §E2 rule 1: at the same view; nobody writes meanwhile."""
        if hasattr(self, "follower"):
            engine = self.engines[0]
            assert rows_of(engine, LOCAL) == rows_of(engine, "t")

    def drain(self) -> None:
        super().drain()
        engine = self.engines[0]
        self.clock.advance(1000)  # it may have been set back, and no intent of the future is due
        for _ in range(STEPS_MAX):
            plan = engine.indexes.intents.step() or engine.indexes.builds.step()
            if plan is None:
                return
            self.run(engine, lambda: plan)  # noqa: B023  # at once
        raise AssertionError("entries are not built to their end")

    def nothing_stays(self) -> None:
        engine = self.engines[0]
        assert rows_of(engine, GLOBAL) == rows_of(engine, "t")
        super().nothing_stays()
        for _ in range(STEPS_MAX):
            self.clock.advance(10)
            plan = engine.core.housekeeping()
            if plan is not None:
                self.run(engine, lambda: plan)  # noqa: B023  # at once
            if not self.left_over():
                return
        raise AssertionError("entries of a dropped table stay")

    def left_over(self) -> list[tuple[bytes, bytes]]:
        view = self.stores[0].snapshot()
        spaces = (SPACE_INTENTS, SPACE_LOCAL_INDEXES)
        return [pair for space in spaces for pair in view.scan(space, after_prefix(space))]


TestTogether = Together.TestCase
TestTogether.settings = settings(
    max_examples=examples(30),
    stateful_step_count=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
