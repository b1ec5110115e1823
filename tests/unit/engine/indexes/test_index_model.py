"""Indexes are what their table says, after every operation (change §E2, 1).

The projection is worked out here from what a scan of the table answers, and from nothing of the
engine's: a row has an entry where each listed defined column holds a value of the defined type.
"""

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support.answers import AnsweredRow, decode_answer_rows, decode_row
from tests.support.changes import (
    create,
    delete,
    delete_all,
    get,
    increment,
    primary_key,
    put,
    put_cells,
    scan_all,
    update,
)
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest, OutcomeUnknown
from widerow.keys.layout import SPACE_INTENTS
from widerow.limits import LEASE_SECONDS, TRANSACTION_SECONDS_MAX
from widerow.model.tablestore.requests import (
    BatchGet,
    BatchWrite,
    CreateIndex,
    DropIndex,
    IndexDefinition,
    TableGet,
    TableWrite,
)
from widerow.model.tablestore.row import CellChange, RowChange
from widerow.model.tablestore.schema import DefinedColumn, SecondaryIndex
from widerow.model.tablestore.selection import Selection
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType, Value
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

if TYPE_CHECKING:
    from widerow.engine.plan import Plan

pytestmark = pytest.mark.timeout(180)

KEY = {"k": KeyType.STRING, "n": KeyType.INTEGER}
TYPES: dict[str, type] = {"s": str, "i": int, "b": bytes, "d": float}
COLUMNS = (
    DefinedColumn("s", ColumnType.STRING),
    DefinedColumn("i", ColumnType.INTEGER),
    DefinedColumn("b", ColumnType.BINARY),
    DefinedColumn("d", ColumnType.DOUBLE),
)
Key = tuple[str, int]
keys = st.tuples(st.sampled_from(["", "a", "a\x00", "b"]), st.integers(-1, 1))
VALUES: dict[str, st.SearchStrategy[Value]] = {
    "s": st.sampled_from(["", "x", "x\x00", "y"]),
    "i": st.integers(-1, 1),
    "b": st.sampled_from([b"", b"\x00", b"\xff"]),
    "d": st.sampled_from([0.5, 1.5]),
    "free": st.one_of(st.integers(0, 1), st.text("ab", max_size=1)),
}
some = st.one_of(*[st.tuples(st.just(name), values) for name, values in VALUES.items()])
columns = st.dictionaries(st.sampled_from(list(VALUES)), st.just(0), max_size=5).flatmap(
    lambda names: st.fixed_dictionaries({name: VALUES[name] for name in names})
)
LISTED = st.lists(st.sampled_from(["k", "n", "s", "i", "b"]), min_size=1, max_size=4, unique=True)


class Made(NamedTuple):
    """An index as it was asked for; `complete`: every row of the table is in it."""

    asked: IndexDefinition
    complete: bool


@st.composite
def definitions(draw: st.DrawFn, name: str) -> IndexDefinition:
    local = draw(st.booleans())
    listed = draw(LISTED)
    if local:
        listed = ["k", *[each for each in listed if each != "k"]][:4]
    rest = [each for each in TYPES if each not in listed]
    covered = draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    return IndexDefinition(name, tuple(listed), tuple(covered), int(local), int(local))


def projected(index: IndexDefinition, row: AnsweredRow) -> AnsweredRow | None:
    """The entry of a row as a read of the index answers it, or None."""
    own, cells = row
    key: dict[str, Value] = {}
    for name in (*index.key_columns, *[each for each in own if each not in index.key_columns]):
        if name in own:
            key[name] = own[name]
        elif name in cells and type(cells[name][0][1]) is TYPES[name]:
            key[name] = cells[name][0][1]
        else:
            return None
    return key, {name: cells[name] for name in sorted(index.defined_columns) if name in cells}


def _key(values: Mapping[str, Value]) -> Mapping[str, KeyInput]:
    return cast("Mapping[str, KeyInput]", values)


def ordered(row: AnsweredRow) -> tuple[Any, ...]:
    return tuple(v.encode() if isinstance(v, str) else v for v in row[0].values())


class IndexesFollow(RuleBasedStateMachine):
    """One table and up to four indexes, changed at random."""

    lag = 0.0
    patience = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.stores = self.open_stores()
        self.engines = [
            open_tablestore(each, self.clock, FakeEntropy(n)) for n, each in enumerate(self.stores)
        ]
        for engine in self.engines:
            engine.indexes.hold_back(self.lag)
        self.made: dict[str, Made] = {}
        self.deferred = not self.stores[0].capabilities.atomic_across_shards or self.lag > 0

    def open_stores(self) -> list[Store]:
        return [open_store("memory:")]

    def run(self, make: Callable[[TablestoreEngine], "Plan[Any]"]) -> Any:  # noqa: ANN401  # what the plan answers
        """Run what `make` plans; where the outcome is unknown, once more."""
        while True:
            with contextlib.suppress(OutcomeUnknown):
                plan = make(self.engines[0])
                self.engines.append(self.engines.pop(0))  # another process does the next
                return self.engines[-1].core.run(plan)

    @initialize(
        first=definitions("i0"),
        second=definitions("i1"),
        ttl=st.sampled_from([-1, -1, 40]),
    )
    def make_table(self, first: IndexDefinition, second: IndexDefinition, ttl: int) -> None:
        asked = create("t", KEY, time_to_live=ttl, allow_update=ttl < 0)
        self.updates = ttl < 0
        request = type(asked)(
            asked.name,
            asked.key_columns,
            COLUMNS,
            asked.throughput,
            asked.options,
            indexes=(first, second),
        )
        with contextlib.suppress(Conflict):  # the first attempt had an unknown outcome
            self.run(lambda engine: engine.create_table("i", request))
        self.made = {each.name: Made(each, complete=True) for each in (first, second)}

    def change(self, change: RowChange) -> None:
        with contextlib.suppress(Conflict, InvalidRequest):
            self.run(lambda engine: engine.rows.write_row("i", change))

    @rule(key=keys, columns=columns)
    def put_row(self, key: Key, columns: dict[str, Value]) -> None:
        self.change(put("t", dict(zip("kn", key, strict=True)), columns))

    @rule(key=keys, cell=some, gone=st.sampled_from(list(VALUES)))
    def update_row(self, key: Key, cell: tuple[str, Value], gone: str) -> None:
        cells: list[CellChange] = list(put_cells(dict([cell])))
        if gone != cell[0]:
            cells.append(delete_all(gone))
        self.change(update("t", dict(zip("kn", key, strict=True)), cells))

    @rule(key=keys, by=st.integers(-2, 2))
    def increment_row(self, key: Key, by: int) -> None:
        self.change(update("t", dict(zip("kn", key, strict=True)), [increment("i", by)]))

    @rule(key=keys)
    def delete_row(self, key: Key) -> None:
        self.change(delete("t", dict(zip("kn", key, strict=True))))

    @rule(rows=st.lists(st.tuples(keys, columns), min_size=1, max_size=4), atomic=st.booleans())
    def batch(self, rows: list[tuple[Key, dict[str, Value]]], *, atomic: bool) -> None:
        changes = tuple(put("t", dict(zip("kn", key, strict=True)), each) for key, each in rows)
        request = BatchWrite((TableWrite("t", changes),), atomic)
        self.run(lambda engine: engine.rows.batch_write_row("i", request))

    @precondition(lambda self: len(self.made) < 4)
    @rule(data=st.data(), base=st.booleans())
    def create_index(self, data: st.DataObject, *, base: bool) -> None:
        name = next(f"i{n}" for n in range(5) if f"i{n}" not in self.made)
        asked = data.draw(definitions(name))
        with contextlib.suppress(Conflict):
            self.run(lambda engine: engine.indexes.create("i", CreateIndex("t", asked, base)))
        complete = base or not self.rows("t")
        self.made[name] = Made(asked, complete=complete)

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def drop_index(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.made)))
        with contextlib.suppress(Exception):  # gone already, where the outcome was unknown
            self.run(lambda engine: engine.indexes.drop("i", DropIndex("t", name)))
        del self.made[name]

    @rule(seconds=st.integers(1, 30))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule()
    def keep_house(self) -> None:
        self.settle()

    def settle(self) -> None:
        """Let every intent be due, and every build; then nothing is left to do."""
        for engine in self.engines:
            while True:
                with contextlib.suppress(OutcomeUnknown):
                    plan = engine.core.housekeeping()
                    if plan is None:
                        break
                    engine.core.run(plan)

    # --- what holds --------------------------------------------------------------------------

    def rows(self, table: str, *, backward: bool = False) -> list[AnsweredRow]:
        engine = self.engines[0]
        columns = engine.describe_table("i", table).key_columns
        low = {column.name: KeyMarker.INF_MIN for column in columns}
        high = {column.name: KeyMarker.INF_MAX for column in columns}
        bounds = (high, low) if backward else (low, high)
        page = engine.rows.get_range("i", scan_all(table, *bounds, backward=backward))
        return decode_answer_rows(page.rows)

    def settled(self) -> None:
        """Until every index is built and no intent is left."""
        for _ in range(20):
            if self.deferred or not all(each.ready for each in self.indexes()):
                self.settle()
            waiting = self.stores[0].snapshot().scan(SPACE_INTENTS, SPACE_INTENTS + b"\xff")
            if all(each.ready for each in self.indexes()) and not list(waiting):
                return
            self.clock.advance(self.patience)
        raise AssertionError("intents or builds are left for ever")

    @invariant()
    def indexes_say_what_the_table_says(self) -> None:
        if not self.made:
            return
        self.settled()
        rows = self.rows("t")
        for name, made in self.made.items():
            if not any(e.ready and e.name == name for e in self.indexes()):
                continue
            found = self.rows(name)
            assert found == sorted(found, key=ordered)
            assert list(reversed(found)) == self.rows(name, backward=True)
            entries = [entry for row in rows if (entry := projected(made.asked, row)) is not None]
            wanted = sorted(entries, key=ordered)
            if made.complete:
                assert found == wanted
            else:
                assert all(each in wanted for each in found)
            for key, cells in found:
                row = self.engines[0].rows.get_row("i", get(name, _key(key)))
                assert decode_row(row.row) == (key, cells)
            asked = TableGet(
                name, tuple(primary_key(_key(key)) for key, _ in found[:100]), Selection()
            )
            if found:
                (outcomes,) = self.engines[0].rows.batch_get_row("i", BatchGet((asked,)))
                answers = [decode_row(each.read.row) for each in outcomes if each.read is not None]
                assert answers == found[:100]

    def indexes(self) -> tuple[SecondaryIndex, ...]:
        return self.engines[0].describe_table("i", "t").indexes

    @invariant()
    def the_store_is_sound(self) -> None:
        assert check_store(self.stores[0]) == []

    def teardown(self) -> None:
        """Nothing of an index is left once its table is gone (change §E2, 7)."""
        with contextlib.suppress(Exception):
            self.run(lambda engine: engine.delete_table("i", "t"))
        self.clock.advance(TRANSACTION_SECONDS_MAX + LEASE_SECONDS + 1)
        self.settle()
        self.settle()
        left = [key for key, _ in self.stores[0].snapshot().scan(b"\x10", b"\x20")]
        assert left == []
        for store in self.stores:
            store.close()


class IndexesFollowLater(IndexesFollow):
    """Global indexes follow by intents, with transactions over all shards."""

    lag = 2.0
    patience = 3.0


class IndexesFollowApart(IndexesFollow):
    """Two processes, whose transactions reach one shard each, meet, and may not know their end.

    Builds wait until nobody can be left who has not seen the index; where nobody knows who holds
    the lease, its time has to pass.
    """

    patience = float(TRANSACTION_SECONDS_MAX)

    def open_stores(self) -> list[Store]:
        space = StrictSpace()
        return [
            StrictStore(space, FakeEntropy(7 + n), conflicts=0.2, unknown=0.05) for n in range(2)
        ]


PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # a store by chance shrinks to nothing
SMALL = settings(max_examples=10, stateful_step_count=15, deadline=None, phases=PHASES)
TestIndexesFollow = IndexesFollow.TestCase
TestIndexesFollow.settings = settings(
    max_examples=examples(25), stateful_step_count=20, deadline=None
)
TestIndexesFollowLater = IndexesFollowLater.TestCase
TestIndexesFollowLater.settings = SMALL
TestIndexesFollowApart = IndexesFollowApart.TestCase
TestIndexesFollowApart.settings = SMALL
