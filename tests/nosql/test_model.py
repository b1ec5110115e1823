"""The typed API against a dictionary: any history, also one that is interrupted by reopening."""

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.support.volume import examples

from widerow import nosql
from widerow.engine.check import check_store
from widerow.nosql import Direction, FieldRange, Operation, OperationFailed, TimeToLive
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

ENUM = ["z", "a"]
HOUR = 3600
HOUR_MS = 3_600_000

shards = st.sampled_from(["", "a", "\U0001f600", "\ue000"])
minors = st.sampled_from([-0.0, 0.0, 1.5, -1.5, math.inf, math.nan])
symbols = st.sampled_from(ENUM)
names = st.none() | st.text(max_size=3)
documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
ttls = st.sampled_from([None, TimeToLive.hours(1), TimeToLive.hours(3), TimeToLive.days(0)])
Place = tuple[Any, ...]


def rank(place: Place) -> tuple[Any, ...]:
    """A key as Python compares it in the model's order (model §4): each value by its type."""
    values: list[Any] = [place[0].encode("utf-16-be")]
    for value in place[1:]:
        if isinstance(value, float):
            sign = math.copysign(1, value)
            values.append((math.isnan(value), 0.0 if math.isnan(value) else value, sign))
        else:
            values.append(ENUM.index(value))
    return tuple(values)


def told(place: Place) -> Place:
    """A key that can be looked up: −0.0 is not 0.0, and NaN is itself."""
    return tuple(repr(value) if isinstance(value, float) else value for value in place)


class TypedTables(RuleBasedStateMachine):
    """One table with a child; `rows` holds (place, columns, expiry in hours) by table and place."""

    @initialize()
    def begin(self) -> None:
        self.clock = FakeClock(460_000 * HOUR_MS)
        self.bytes = open_store("memory:")
        self.opened = 0
        self.rows: dict[tuple[int, Place], tuple[Place, dict[str, Any], int]] = {}
        self.extra: str | None = None
        self.open()
        parent = nosql.TableBuilder("p").add_field("g", nosql.STRING).add_field("m", nosql.DOUBLE)
        parent.add_field("name", nosql.STRING).add_field("doc", nosql.JSON)
        parent.primary_key("g", "m").shard_key("g").ttl(TimeToLive.hours(2))
        top = self.store.create_table(parent.build())
        child = nosql.TableBuilder("c", parent=top.definition)
        child.add_field("e", nosql.enum_of(ENUM)).add_field("name", nosql.STRING)
        self.store.create_table(child.primary_key("e").build())
        self.take_tables()

    def open(self) -> None:
        self.opened += 1
        self.store = nosql.TypedStore(self.bytes, self.clock, FakeEntropy(self.opened))

    def take_tables(self) -> None:
        self.tables = (self.store.table("p"), self.store.table("p.c"))

    @property
    def hour(self) -> int:
        return self.clock.now_us() // (HOUR * 1_000_000)

    def live(self, child: int, place: Place) -> dict[str, Any] | None:
        found = self.rows.get((child, told(place)))
        if found is None or 0 < found[2] <= self.hour:
            return None
        return found[1]

    def key(self, place: Place) -> dict[str, Any]:
        return dict(zip(("g", "m", "e"), place, strict=False))

    def note_put(
        self,
        child: int,
        place: Place,
        columns: dict[str, Any],
        ttl: TimeToLive | None,
        *,
        update: bool,
    ) -> None:
        old = self.rows.get((child, told(place)))
        if self.live(child, place) is not None and not update:
            assert old is not None
            expiry = old[2]
        else:
            used = ttl if ttl is not None else (TimeToLive.hours(2) if child == 0 else None)
            expiry = 0 if used is None else used.expiry_hour(self.clock.now_us())
        self.rows[child, told(place)] = (place, columns, expiry)

    def columns(self, child: int, name: str | None, doc: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON
        if child:
            return {"name": name}
        columns = {"name": name, "doc": nosql.JSON_NULL if doc is None else doc}
        return columns if self.extra is None else {**columns, self.extra: 5}

    @rule(
        place=st.tuples(shards, minors) | st.tuples(shards, minors, symbols),
        name=names,
        doc=documents,
        ttl=ttls,
        update=st.booleans(),
        kind=st.sampled_from(["put", "put_if_absent", "put_if_present"]),
    )
    def put(  # what a put can be asked for
        self,
        place: Place,
        name: str | None,
        doc: Any,  # noqa: ANN401  # any JSON
        ttl: TimeToLive | None,
        update: bool,  # noqa: FBT001  # drawn
        kind: str,
    ) -> None:
        child = len(place) - 2
        table = self.tables[child]
        columns = self.columns(child, name, doc)
        row = {**self.key(place), **columns}
        there = self.live(child, place) is not None
        if kind == "put":
            result = table.put(row, ttl=ttl, update_ttl=update)
            happens = True
        elif kind == "put_if_absent":
            result = table.put_if_absent(row, ttl=ttl)
            happens, update = not there, False
        else:
            result = table.put_if_present(row, ttl=ttl, update_ttl=update)
            happens = there
        assert result.success == happens
        if happens:
            self.note_put(child, place, columns, ttl, update=update)

    @rule(place=st.tuples(shards, minors) | st.tuples(shards, minors, symbols))
    def delete(self, place: Place) -> None:
        child = len(place) - 2
        result = self.tables[child].delete(self.key(place))
        assert result.success == (self.live(child, place) is not None)
        if result:
            del self.rows[child, told(place)]

    @rule(shard=shards, bound=minors, both=st.booleans())
    def multi_delete(self, shard: str, bound: float, both: bool) -> None:  # noqa: FBT001  # drawn
        parent, child = self.tables
        gone = parent.multi_delete(
            {"g": shard},
            field_range=FieldRange("m", start=bound),
            children=[child] if both else [],
        )
        first = rank((shard, bound))[1]
        mine = [
            (which, place)
            for which, place, _ in self.shown(child=None)
            if place[0] == shard and rank(place)[1] >= first and (both or which == 0)
        ]
        assert gone == len(mine)
        for which, place in mine:
            del self.rows[which, told(place)]

    @rule(
        shard=shards,
        places=st.lists(st.tuples(minors, st.none() | symbols), min_size=1, max_size=4),
        name=names,
        strict=st.booleans(),
    )
    def execute(
        self,
        shard: str,
        places: list[tuple[float, str | None]],
        name: str | None,
        strict: bool,  # noqa: FBT001  # drawn
    ) -> None:
        chosen = {
            told((shard, minor, symbol)): (shard, minor)
            if symbol is None
            else (shard, minor, symbol)
            for minor, symbol in places
        }
        operations: list[Operation] = []
        expected: list[bool] = []
        for place in chosen.values():
            child = len(place) - 2
            row = {**self.key(place), **self.columns(child, name, 1)}
            operations.append(
                self.tables[child].operation(abort_if_unsuccessful=strict).put_if_absent(row)
            )
            expected.append(self.live(child, place) is None)
        if strict and not all(expected):
            with pytest.raises(OperationFailed) as failed:
                self.store.execute(operations)
            assert failed.value.index == expected.index(False)
            return
        assert [each.success for each in self.store.execute(operations)] == expected
        for place, happens in zip(chosen.values(), expected, strict=True):
            if happens:
                child = len(place) - 2
                self.note_put(child, place, self.columns(child, name, 1), None, update=False)

    @rule(seconds=st.sampled_from([1, HOUR // 2, HOUR, 5 * HOUR]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule()
    def keep_house(self) -> None:
        for _ in range(3):
            self.store.housekeep()

    @rule()
    def reopen(self) -> None:
        self.open()
        self.take_tables()

    @rule()
    def evolve(self) -> None:
        evolver = nosql.TableEvolver(self.tables[0].definition)
        if self.extra is None:
            self.extra = f"x{self.tables[0].definition.schema}"
            evolver.add_field(self.extra, nosql.LONG, default=7)
            default = {self.extra: 7}
        else:
            evolver.remove_field(self.extra)
            default = {}
            self.extra = None
        self.store.alter_table(evolver.build())
        for where, (place, columns, expiry) in list(self.rows.items()):
            if where[0] == 0:
                kept = {"name": columns["name"], "doc": columns["doc"]}
                self.rows[where] = (place, {**kept, **default}, expiry)

    def shown(self, *, child: int | None) -> list[tuple[int, Place, dict[str, Any]]]:
        """The rows that are there, of one table or both, in the order of a forward scan."""
        found = [
            (which, place, {**columns, "expires": expiry})
            for (which, _), (place, columns, expiry) in self.rows.items()
            if child in (None, which) and not 0 < expiry <= self.hour
        ]
        return sorted(found, key=lambda each: rank(each[1]))

    def read(self, rows: Any) -> list[tuple[int, Place, dict[str, Any]]]:  # noqa: ANN401  # rows in either form
        found = []
        for row in rows:
            which = int(row.table.parent is not None)
            columns = {name: row[name] for name in row if name not in ("g", "m", "e")}
            columns["expires"] = row.expires_ms // HOUR_MS
            found.append((which, row.key.values_in_order(), columns))
        return found

    def same(self, left: Any, right: Any) -> None:  # noqa: ANN401  # two lists of what `shown` gives
        assert repr(left) == repr(right)  # in which NaN equals itself, and −0.0 is not 0.0

    @invariant()
    def everything_is_read_as_it_was_written(self) -> None:
        parent, child = self.tables
        both = self.shown(child=None)
        self.same(self.read(parent.table_iterator(children=[child], batch_size=3)), both)
        reverse = child.table_iterator(direction=Direction.REVERSE, batch_size=2)
        self.same(self.read(reverse), self.shown(child=1)[::-1])
        for shard in {place[0] for _, place, _ in both}:
            mine = [each for each in both if each[1][0] == shard]
            self.same(self.read(parent.multi_get({"g": shard}, children=[child])), mine)
            for which, place, _ in mine:
                assert self.tables[which].get(self.key(place)) is not None

    @invariant()
    def the_store_is_as_it_must_be(self) -> None:
        assert check_store(self.bytes) == []

    def teardown(self) -> None:
        if hasattr(self, "bytes"):
            self.bytes.close()


TestTypedTables = TypedTables.TestCase
TestTypedTables.settings = settings(
    max_examples=examples(60),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
