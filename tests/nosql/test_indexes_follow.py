"""Indexes over stores whose transactions reach one shard answer as if they did not lag (model §11).

Several processes write, evolve, expire and index rows; whoever makes entries follow them stops
between any two steps, or never goes on. At every moment each index that answers gives exactly the
rows that a scan of the table gives, in its order.
"""

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.support.remote import MemoryDriver, RemoteSpace, Weather, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.typed.change_rows import NewValues
from widerow.engine.typed.engine import MultiRow, TypedEngine
from widerow.engine.typed.execute import OperationFailed
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_build import begin_index, drop_index
from widerow.engine.typed.index_late import late_entry_rows
from widerow.engine.typed.index_scan import scan_entry_rows, scan_index_keys
from widerow.engine.typed.index_selection import select_index
from widerow.engine.typed.plug import TYPED
from widerow.engine.typed.scan import select_rows
from widerow.engine.typed.stored import StoredRow
from widerow.errors import Conflict, InvalidRequest, NotFound, OutcomeUnknown, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INDEXES, SPACE_INTENTS, SPACE_ROWS
from widerow.limits import LEASE_SECONDS, TRANSACTION_SECONDS_MAX
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.evolve import TableEvolver
from widerow.model.typed.requests import Direction, OperationKind, WriteChoice
from widerow.model.typed.table import Index, IndexField, TimeToLive
from widerow.model.typed.types import INTEGER, JSON, LONG, STRING, Kind, array_of, map_of
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = pytest.mark.timeout(300)

NAMES = ("t", "t.c")
GROUPS = st.sampled_from(["a", "b"])
NUMBERS = st.integers(0, 3)
VALUES = st.fixed_dictionaries(
    {
        "n": st.none() | NUMBERS,
        "s": st.none() | st.sampled_from(["x", "X", "y"]),
        "tags": st.none() | st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
        "m": st.none() | st.dictionaries(st.sampled_from(["k", "l"]), NUMBERS),
        "j": st.none() | st.sampled_from([{}, {"x": 1, "a": [1, "b"]}, {"x": 2, "a": [True, 1]}]),
    }
)

INDEXES: dict[str, tuple[str, Index]] = {
    each.name: (table, each)
    for table, each in (
        ("t", Index("by_n", (IndexField("n"), IndexField("s")))),
        ("t", Index("by_s", (IndexField("lower#s"),))),
        ("t", Index("by_tag", (IndexField("tags[]"),), with_nulls=False)),
        ("t", Index("by_key", (IndexField("m.keys()"), IndexField("m.values()")))),
        ("t", Index("by_x", (IndexField("j.x", Kind.LONG),))),
        ("t", Index("by_a", (IndexField("j.a[]", Kind.ANY_ATOMIC),), with_nulls=False)),
        ("t", Index("by_end", (IndexField("expiration_time#"),))),
        ("t.c", Index("by_v", (IndexField("v"),))),
    )
}


def last(value: Any) -> tuple[bool, Any]:  # noqa: ANN401  # None, or what sorts
    """What NULL sorts behind."""
    return value is None, 0 if value is None else value


def of_map(row: StoredRow) -> list[Any]:
    if row["m"] is None:
        return [(True, "", 0)]
    return [(False, *item) for item in row["m"].items()] or [(False, "~", 0)]


def of_json(row: StoredRow) -> list[Any]:
    """EMPTY and NULL sort behind numbers, in this order."""
    document = row["j"]
    return [(2, 0) if document is None else (0, document["x"]) if document else (1, 0)]


def of_any(row: StoredRow) -> list[Any]:
    """Numbers sort before texts, texts before booleans."""
    rank = {int: 0, str: 1, bool: 2}
    found = [(rank[type(each)], str(each)) for each in (row["j"] or {}).get("a", ())]
    return list(dict.fromkeys(found))


WANTED: dict[str, Callable[[StoredRow], list[Any]]] = {
    "by_n": lambda row: [(last(row["n"]), last(row["s"]))],
    "by_s": lambda row: [last(row["s"] and row["s"].lower())],
    "by_tag": lambda row: list(set(row["tags"] or ())),
    "by_key": of_map,
    "by_x": of_json,
    "by_a": of_any,
    "by_end": lambda row: [last(row.expires_ms or None)],
    "by_v": lambda row: [last(row["v"])],
}


def key_of(row: StoredRow) -> tuple[Any, ...]:
    return tuple(row.key.values_in_order())


def not_of(row: StoredRow, keys: set[tuple[str, int]]) -> bool:
    return key_of(row) not in keys


def keys_in_order(name: str, rows: Sequence[StoredRow]) -> list[tuple[Any, ...]]:
    """The keys of rows as an index of that name gives them."""
    return [
        key
        for _, key in sorted((value, key_of(row)) for row in rows for value in WANTED[name](row))
    ]


class Follow(RuleBasedStateMachine):
    """A table with a child, of up to eight indexes, in the hands of three processes."""

    def __init__(self) -> None:
        super().__init__()
        self.engines: list[TypedEngine] = []

    def open_store(self) -> Store:
        """A process's handle on the data that all share."""
        self.opened += 1
        return StrictStore(self.space, FakeEntropy(self.opened), conflicts=0.2, unknown=0.05)

    def begin_space(self) -> None:
        """Begin the data that all share."""
        self.space = StrictSpace()

    def open(self) -> TypedEngine:
        """A new process."""
        store = self.open_store()
        core = Engine(store, self.clock, FakeEntropy(100 + self.opened), TABLE_MODELS)
        found: TypedEngine = core.operations(TYPED)
        return found

    def run(self, make: Callable[[TypedEngine], Plan[Any] | None]) -> None:
        """Let a process run what `make` plans, and the next one the next; once more if need be."""
        while True:
            with contextlib.suppress(OutcomeUnknown, StoreBusy):
                engine = self.engines[0]
                self.engines = [*self.engines[1:], engine]
                with contextlib.suppress(Conflict, NotFound, InvalidRequest, OperationFailed):
                    engine.core.run(make(engine) or Plan((), lambda _: None))
                return

    @initialize(
        rows=st.lists(st.tuples(GROUPS, NUMBERS, VALUES), max_size=8),
        indexes=st.sets(st.sampled_from(sorted(INDEXES))),
    )
    def begin(self, rows: list[tuple[str, int, dict[str, Any]]], indexes: set[str]) -> None:
        self.opened = 0
        self.added = 0
        self.clock = FakeClock()
        self.begin_space()
        self.engines = [self.open() for _ in range(3)]
        made = TableBuilder("t").add_field("g", STRING).add_field("id", INTEGER)
        made.add_field("n", INTEGER).add_field("s", STRING).add_field("tags", array_of(STRING))
        made.add_field("m", map_of(INTEGER)).add_field("j", JSON)
        top = made.primary_key("g", "id").shard_key("g").build()
        self.run(lambda engine: engine.create_table(top))
        parent = self.fresh().tables.find_qualified("t").table
        child = TableBuilder("c", parent=parent).add_field("c", INTEGER).add_field("v", LONG)
        built = child.primary_key("c").build()
        self.run(lambda engine: engine.create_table(built))
        for g, id_, row in rows:
            self.put(g, id_, row, 0, update=False)
        for name in sorted(indexes):
            self.create(name)
        self.all_is_done()

    def fresh(self) -> TypedEngine:
        """The process that did something last, which knows the newest catalogue."""
        engine: TypedEngine = self.engines[-1]
        engine.core.catalog.renew()
        return engine

    def form(self, engine: TypedEngine, name: str = "t") -> TableForm:
        return engine.tables.find_qualified(name)

    # --- what is done ------------------------------------------------------------------------

    @rule(name=st.sampled_from(sorted(INDEXES)))
    def create(self, name: str) -> None:
        table, index = INDEXES[name]
        self.run(lambda engine: begin_index(engine, self.form(engine, table), index))

    @rule(name=st.sampled_from(sorted(INDEXES)))
    def drop(self, name: str) -> None:
        table, index = INDEXES[name]
        self.run(lambda engine: drop_index(engine, self.form(engine, table), index.name))

    @rule(g=GROUPS, id_=NUMBERS, row=VALUES, hours=st.integers(0, 3), update=st.booleans())
    def put(self, g: str, id_: int, row: dict[str, Any], hours: int, *, update: bool) -> None:
        ttl = TimeToLive.hours(hours) if hours else None
        values = {"g": g, "id": id_, **row}
        choice = WriteChoice(OperationKind.PUT, values, ttl=ttl, update_ttl=update)
        self.run(lambda engine: engine.write(self.form(engine), choice))

    @rule(g=GROUPS, id_=NUMBERS, c=NUMBERS, v=st.none() | NUMBERS)
    def put_child(self, g: str, id_: int, c: int, v: int | None) -> None:
        choice = WriteChoice(OperationKind.PUT, {"g": g, "id": id_, "c": c, "v": v})
        self.run(lambda engine: engine.write(self.form(engine, "t.c"), choice))

    @rule(g=GROUPS, id_=NUMBERS)
    def delete(self, g: str, id_: int) -> None:
        choice = WriteChoice(OperationKind.DELETE, {"g": g, "id": id_})
        self.run(lambda engine: engine.write(self.form(engine), choice))

    @rule(g=GROUPS, children=st.booleans())
    def delete_group(self, g: str, *, children: bool) -> None:
        def plan(engine: TypedEngine) -> Plan[int]:
            rows = MultiRow({"g": g}, children=(self.form(engine, "t.c"),) if children else ())
            return engine.multi_delete(self.form(engine), rows)

        self.run(plan)

    @rule(g=GROUPS, rows=st.lists(VALUES, min_size=1, max_size=3), absent=st.booleans())
    def sequence(self, g: str, rows: list[dict[str, Any]], *, absent: bool) -> None:
        kind = OperationKind.PUT_IF_ABSENT if absent else OperationKind.PUT
        choices = [
            WriteChoice(kind, {"g": g, "id": id_, **row}, abort_if_unsuccessful=True)
            for id_, row in enumerate(rows)
        ]
        child = WriteChoice(OperationKind.PUT, {"g": g, "id": 0, "c": 0, "v": len(rows)})

        def plan(engine: TypedEngine) -> Plan[Any]:
            top = [(self.form(engine), each) for each in choices]
            return engine.execute([*top, (self.form(engine, "t.c"), child)])

        self.run(plan)

    @rule(g=GROUPS, n=NUMBERS)
    def change(self, g: str, n: int) -> None:
        def decide(row: StoredRow) -> NewValues | None:
            if row["id"] == n:
                return NewValues(None)
            values = list(row.values_in_order())
            values[2] = n
            return NewValues(values, TimeToLive.hours(n)) if row["id"] < n else None

        def plan(engine: TypedEngine) -> Plan[Any]:
            form = self.form(engine)
            selection = select_rows(form, {"g": g}, None, (), ())
            return engine.change_rows(form.key.shard_of(selection.start), [selection], decide)

        self.run(plan)

    @rule()
    def evolve(self) -> None:
        self.added += 1
        name, former = f"extra{self.added}", f"extra{self.added - 1}"

        def plan(engine: TypedEngine) -> Plan[Any]:
            form = self.form(engine)
            changed = TableEvolver(form.table).add_field(name, LONG, default=self.added)
            if form.table.field(former) is not None:
                changed.remove_field(former)
            return engine.alter_table(form, changed.build())

        self.run(plan)

    @rule(seconds=st.sampled_from([1, 30, TRANSACTION_SECONDS_MAX, 3600, 7200]))
    def time_passes(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(steps=st.integers(1, 4))
    def keep_house(self, steps: int) -> None:
        """Some steps of a process; the last one is left after its first writes."""
        for _ in range(steps - 1):
            self.run(lambda engine: engine.core.housekeeping())
        engine = self.engines[0]
        with contextlib.suppress(OutcomeUnknown, StoreBusy):
            plan = engine.core.housekeeping()
            if plan is not None and plan.writes:
                engine.store.transact_group(plan.writes)

    @rule(
        name=st.sampled_from(sorted(INDEXES)),
        puts=st.lists(st.tuples(GROUPS, NUMBERS, VALUES), min_size=1, max_size=6),
        reverse=st.booleans(),
    )
    def read_beside_writers(
        self, name: str, puts: list[tuple[str, int, dict[str, Any]]], *, reverse: bool
    ) -> None:
        """Rows that nobody changes meanwhile are found as if nothing else happened either.

        Before each view that the scan takes, a row is written and some step is made.
        """
        engine = self.fresh()
        form = self.form(engine, INDEXES[name][0])
        index = form.table.index(name)
        if index is None or not index.ready:
            return
        touched = {(g, id_) for g, id_, _ in puts}
        rows = [row for row in self.rows(engine, form.table.name) if not_of(row, touched)]
        left = list(puts)

        def snapshot() -> Any:  # noqa: ANN401  # as the store gives it
            if left:
                g, id_, row = left.pop()
                self.put(g, id_, row, 0, update=False)
                self.run(lambda engine: engine.core.housekeeping())
            return taken()

        taken = engine.store.snapshot
        selection = select_index(form, name, {}, None)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(engine.store, "snapshot", snapshot)
            pages = late_entry_rows(engine.store, selection, engine.now_hour, 2, reverse=reverse)
            found = [each.row for each in pages]
        shown = [key_of(row) for row in found if not_of(row, touched)]
        wanted = keys_in_order(name, rows)
        assert shown == (wanted[::-1] if reverse else wanted)

    @rule()
    def settle(self) -> None:
        self.all_is_done()

    @rule()
    def die(self) -> None:
        """A process ends between two steps, and another one begins."""
        self.engines[0] = self.open()

    # --- what holds --------------------------------------------------------------------------

    def rows(self, engine: TypedEngine, table: str) -> list[StoredRow]:
        form = self.form(engine, table)
        return list(engine.iterate(form, MultiRow({}), Direction.FORWARD, 0))

    @invariant()
    def every_index_says_what_the_rows_say(self) -> None:
        engine = self.fresh()
        for table in NAMES:
            form = self.form(engine, table)
            rows = self.rows(engine, table)
            for index in form.table.indexes:
                if index.ready:
                    self.compare(engine, form, index.name, rows)

    def compare(
        self, engine: TypedEngine, form: TableForm, name: str, rows: Sequence[StoredRow]
    ) -> None:
        contents = {key_of(row): row.record for row in rows}
        wanted = keys_in_order(name, rows)
        selection = select_index(form, name, {}, None)
        scanned = partial(scan_entry_rows, engine.store, selection, engine.now_hour)
        for reverse in (False, True):
            found = [each.row for each in scanned(reverse=reverse)]
            shown = [key_of(row) for row in found]
            assert shown == (wanted[::-1] if reverse else wanted), (name, reverse)
            assert [row.record for row in found] == [contents[key] for key in shown]
        primary = scan_index_keys(engine.store, selection, engine.now_hour, reverse=False)
        assert [tuple(each.primary.values_in_order()) for each in primary] == wanted

    @invariant()
    def the_store_is_sound(self) -> None:
        assert check_store(self.engines[0].store) == []

    def all_is_done(self) -> None:
        """Every build has ended, every intent is worked off, and space is given back."""
        for _ in range(4):
            for engine in self.engines:
                while self.does_something(engine):
                    pass
            self.clock.advance(TRANSACTION_SECONDS_MAX + LEASE_SECONDS + 1)
        forms = self.fresh().tables.all()
        assert all(index.ready for form in forms for index in form.table.indexes)
        if any(form.table.indexes for form in forms):
            assert self.stored(SPACE_INTENTS) == []

    def does_something(self, engine: TypedEngine) -> bool:
        """A step of housekeeping; whether there was one."""
        with contextlib.suppress(OutcomeUnknown, StoreBusy):
            plan = engine.core.housekeeping()
            if plan is None:
                return False
            engine.core.run(plan)
        return True

    def drop_table(self, name: str) -> None:
        self.run(lambda engine: engine.drop_table(self.form(engine, name)))

    def stored(self, space: bytes) -> list[bytes]:
        return [key for key, _ in self.engines[0].store.snapshot().scan(space, after_prefix(space))]

    def teardown(self) -> None:
        """What is left of entries is of the rows; nothing is left of dropped tables."""
        if not self.engines:
            return
        self.all_is_done()
        assert check_store(self.engines[0].store) == []
        for table in reversed(NAMES):
            self.drop_table(table)
        self.all_is_done()
        assert list(chain(*map(self.stored, (SPACE_ROWS, SPACE_INDEXES, SPACE_INTENTS)))) == []


class FollowByDrivers(Follow):
    """The same over the layer that makes stores of databases, whose shards have several homes."""

    def open_store(self) -> Store:
        self.opened += 1
        weather = Weather(refused=0.1, busy=0.05, unknown=0.05, cut=0.2)
        driver = MemoryDriver(self.remote, FakeEntropy(self.opened), weather, homes=2)
        return remote_store(driver, self.opened)

    def begin_space(self) -> None:
        self.remote = RemoteSpace()


PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # a store by chance shrinks to nothing
SOME = settings(max_examples=examples(15), stateful_step_count=25, deadline=None, phases=PHASES)
TestFollow = Follow.TestCase
TestFollow.settings = SOME
TestFollowByDrivers = FollowByDrivers.TestCase
TestFollowByDrivers.settings = SOME
