"""Typed tables against a dictionary: any history, also one that is interrupted by reopening.

Each write is made by the API of Python or by a request of Oracle NoSQL's protocol, as drawn, and
everything is read by both (nosql-wire §4, §6).
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.support.nosql_wire import Message, answer_to, request
from tests.support.volume import examples

from widerow import nosql
from widerow.engine.check import check_store
from widerow.nosql import Direction, FieldRange, OperationFailed, TimeToLive
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = pytest.mark.timeout(900)  # all examples of the night, beside other work

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
Rows = Sequence[tuple[int, dict[str, Any]]]  # each with 1 for the child, 0 for its parent

NAMES: Final = ("p", "p.c")
DELETE, GET, QUERY, WRITE_MULTIPLE, MULTI_DELETE = 0, 2, 7, 9, 10
PUTS: Final = {"put": 3, "put_if_absent": 4, "put_if_present": 5}


class ByHandles:
    """Writes by the API of Python."""

    def __init__(self, store: nosql.TypedStore) -> None:
        self.store = store
        self.tables = [store.table(name) for name in NAMES]

    def put(
        self, kind: str, child: int, row: dict[str, Any], ttl: TimeToLive | None, *, update: bool
    ) -> bool:
        more = {} if kind == "put_if_absent" else {"update_ttl": update}
        return bool(getattr(self.tables[child], kind)(row, ttl=ttl, **more))

    def delete(self, child: int, key: dict[str, Any]) -> bool:
        return bool(self.tables[child].delete(key))

    def multi_delete(self, key: dict[str, Any], bound: float, *, both: bool) -> int:
        parent, child = self.tables
        return parent.multi_delete(
            key, field_range=FieldRange("m", start=bound), children=[child] if both else []
        )

    def execute(self, rows: Rows, *, strict: bool) -> list[bool] | int:
        """What became of each `put_if_absent`, or the place of the one that undid all."""
        operations = [
            self.tables[child].operation(abort_if_unsuccessful=strict).put_if_absent(row)
            for child, row in rows
        ]
        try:
            return [each.success for each in self.store.execute(operations)]
        except OperationFailed as failed:
            return failed.index


class ByRequests:
    """The same writes by requests; one that deletes several rows leaves child tables alone."""

    def __init__(self, store: nosql.TypedStore) -> None:
        self.store = store

    def ask(self, code: int, payload: Message, table: str = "p") -> Message:
        answer = answer_to(self.store, request(code, payload, table))
        assert answer.get("e", 0) == 0, answer
        return answer

    def put(
        self, kind: str, child: int, row: dict[str, Any], ttl: TimeToLive | None, *, update: bool
    ) -> bool:
        payload = {"l": row, "ut": update, **({} if ttl is None else {"tt": ttl.text()})}
        return "rv" in self.ask(PUTS[kind], payload, NAMES[child])

    def delete(self, child: int, key: dict[str, Any]) -> bool:
        success: bool = self.ask(DELETE, {"k": key}, NAMES[child])["ss"]
        return success

    def multi_delete(self, key: dict[str, Any], bound: float, *, both: bool) -> int:
        del both
        start = {"rp": "m", "sr": {"l": bound, "in": True}}
        deleted: int = self.ask(MULTI_DELETE, {"k": key, "rg": start})["nd"]
        return deleted

    def execute(self, rows: Rows, *, strict: bool) -> list[bool] | int:
        code = PUTS["put_if_absent"]
        operations = [{"n": NAMES[which], "o": code, "l": row, "a": strict} for which, row in rows]
        answer = self.ask(WRITE_MULTIPLE, {"no": len(operations), "os": operations}, "")
        if "wf" in answer:
            failed: int = answer["wf"]["wi"]
            return failed
        return [each["ss"] for each in answer["ws"]]

    def get(self, child: int, key: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """Columns of a row and the hour at which it expires."""
        row = self.ask(GET, {"k": key}, NAMES[child])["r"]
        return row["l"], row["xp"] // HOUR_MS

    def query(self, statement: str, limit: int) -> list[dict[str, Any]]:
        """All rows, by pages of so many."""
        answer = self.ask(QUERY, {"qv": 4, "st": statement, "nl": limit})
        rows, prepared = answer["qr"], {"qv": 4, "is": True, "iq": True, "pq": answer["pq"]}
        while "ck" in answer:
            answer = self.ask(QUERY, {**prepared, "nl": limit, "ck": answer["ck"]})
            assert len(answer["qr"]) <= limit
            rows = rows + answer["qr"]
        return list(rows)


Way = type[ByHandles | ByRequests]


def as_answered(columns: dict[str, Any]) -> dict[str, Any]:
    """As an answer has them: null inside JSON is of another type than NULL."""
    known = {name: value for name, value in columns.items() if value is not None}
    return {**columns, **{name: json_answered(value) for name, value in known.items()}}


def json_answered(value: Any) -> Any:  # noqa: ANN401  # any JSON
    if isinstance(value, list):
        return [json_answered(each) for each in value]
    if isinstance(value, dict):
        return {name: json_answered(each) for name, each in value.items()}
    return nosql.JSON_NULL if value is None else value


def by_name(value: Any) -> Any:  # noqa: ANN401  # any JSON
    """With sorted names in objects, whose order says nothing."""
    if isinstance(value, list):
        return [by_name(each) for each in value]
    if isinstance(value, dict):
        return {name: by_name(value[name]) for name in sorted(value)}
    return value


ways = st.sampled_from([ByHandles, ByRequests])


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
        kind=st.sampled_from([*PUTS]),
        way=ways,
    )
    def put(  # what a put can be asked for
        self,
        place: Place,
        name: str | None,
        doc: Any,  # noqa: ANN401  # any JSON
        ttl: TimeToLive | None,
        update: bool,  # noqa: FBT001  # drawn
        kind: str,
        way: Way,
    ) -> None:
        child = len(place) - 2
        columns = self.columns(child, name, doc)
        there = self.live(child, place) is not None
        happens = {"put": True, "put_if_absent": not there, "put_if_present": there}[kind]
        row = {**self.key(place), **columns}
        assert way(self.store).put(kind, child, row, ttl, update=update) == happens
        if happens:
            self.note_put(child, place, columns, ttl, update=update and kind != "put_if_absent")

    @rule(place=st.tuples(shards, minors) | st.tuples(shards, minors, symbols), way=ways)
    def delete(self, place: Place, way: Way) -> None:
        child = len(place) - 2
        happens = way(self.store).delete(child, self.key(place))
        assert happens == (self.live(child, place) is not None)
        if happens:
            del self.rows[child, told(place)]

    @rule(shard=shards, bound=minors, both=st.booleans(), way=ways)
    def multi_delete(self, shard: str, bound: float, both: bool, way: Way) -> None:  # noqa: FBT001  # drawn
        both = both and way is ByHandles
        gone = way(self.store).multi_delete({"g": shard}, bound, both=both)
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
        way=ways,
    )
    def execute(
        self,
        shard: str,
        places: list[tuple[float, str | None]],
        name: str | None,
        strict: bool,  # noqa: FBT001  # drawn
        way: Way,
    ) -> None:
        chosen = {
            told((shard, minor, symbol)): (shard, minor)
            if symbol is None
            else (shard, minor, symbol)
            for minor, symbol in places
        }
        rows = [
            (len(place) - 2, {**self.key(place), **self.columns(len(place) - 2, name, 1)})
            for place in chosen.values()
        ]
        expected = [self.live(len(place) - 2, place) is None for place in chosen.values()]
        ended = way(self.store).execute(rows, strict=strict)
        if strict and not all(expected):
            assert ended == expected.index(False)
            return
        assert ended == expected
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
    def requests_read_what_was_written(self) -> None:
        """Row by row, and in the order of the key page by page."""
        asked = ByRequests(self.store)
        for which, place, columns in self.shown(child=None):
            row, expires = asked.get(which, self.key(place))
            expected = {**self.key(place), **as_answered(columns)}
            self.same(by_name(row | {"expires": expires}), by_name(expected))
        for which, order in enumerate(("g, m", "g, m, e")):
            rows = asked.query(f"SELECT * FROM {NAMES[which]} ORDER BY {order}", 2)  # our names
            told = [(which, place, columns) for _, place, columns in self.shown(child=which)]
            for _, _, columns in told:
                del columns["expires"]
            of_table = [{**self.key(place), **as_answered(columns)} for _, place, columns in told]
            self.same(by_name(rows), by_name(of_table))

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
