"""When passes of the sweep are due: laws over any history of writes and waiting.

The rules stand in `engine/tablestore/sweep.py` and `engine/typed/sweep.py`; the version window and
time to live in semantics §1.5 and §1.6, expiry of typed rows in model §8.
"""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.changes import copied, create, delete, put_cells, update
from tests.support.engines import open_tablestore
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.stored import row_cells
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.plug import TYPED
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS, row_prefix, sequence_key, sweep_key
from widerow.limits import SWEEP_PAUSE_SECONDS
from widerow.model.tablestore.requests import OptionsChange, UpdateTable
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.table import TimeToLive
from widerow.model.typed.types import LONG
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.record import header_of
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

HOUR = 3600
LOOK = 10  # seconds between two looks for something to do
STEPS_MAX = 150


def clean(engine: TablestoreEngine) -> int:
    """Every step that is due now; how many records were read."""
    before = engine.core.sweep.reclaimed.records_examined
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
    return engine.core.sweep.reclaimed.records_examined - before


class World:
    """A table of Tablestore's whose cells expire, with all that was ever written to it."""

    def __init__(self, store: Store, time_to_live: int, offset: int) -> None:
        """One table, nothing in it."""
        self.store = store
        self.clock = FakeClock()
        self.engine = open_tablestore(store, self.clock, FakeEntropy())
        self.time_to_live = time_to_live
        self.offset = offset
        made = create(
            "t",
            {"k": KeyType.INTEGER},
            time_to_live=time_to_live,
            max_versions=1000,
            max_version_offset=offset,
        )
        self.engine.core.run(self.engine.create_table("i", made))
        self.written: set[tuple[int, int]] = set()
        self.passes = 0

    @property
    def now(self) -> int:
        return self.clock.now_us() // 1_000_000

    def write(self, key: int, age: int) -> None:
        """A cell as old as the window allows, or younger (semantics §1.6)."""
        second = self.now - min(age, self.offset, self.time_to_live)
        cells = put_cells({"c": [(second * 1000, 1)]})
        self.engine.core.run(self.engine.rows.write_row("i", update("t", {"k": key}, cells)))
        self.written.add((key, second))

    def wait(self, seconds: int) -> None:
        """Let time pass, looking for something to do now and then."""
        step = max(LOOK, seconds // STEPS_MAX)
        end = self.now + seconds
        while self.now < end:
            self.clock.advance(min(step, end - self.now))
            clean(self.engine)
            self.check(step)

    def check(self, step: int) -> None:
        stored = set()
        table = self.engine.tables.find("i", "t")
        prefix = row_prefix(table.id)
        for key, record in self.store.snapshot().scan(prefix, after_prefix(prefix)):
            number = int.from_bytes(key[len(prefix) :], "big") - 2**63
            stored |= {
                (number, cell.version // 1000) for cell in row_cells(record, header_of(record))
            }
        alive = {each for each in self.written if each[1] + self.time_to_live > self.now}
        assert alive <= stored, "something alive was removed"
        late = max(SWEEP_PAUSE_SECONDS, self.time_to_live // 16) + 2 * step
        assert all(second + self.time_to_live + late >= self.now for _, second in stored)

    def change(self, time_to_live: int, offset: int) -> None:
        """Other options; what they hide does not come back."""
        alive = {each for each in self.written if each[1] + self.time_to_live > self.now}
        self.written = alive if time_to_live > self.time_to_live else self.written
        self.time_to_live, self.offset = time_to_live, offset
        options = OptionsChange(time_to_live=time_to_live, max_version_offset=offset)
        self.engine.core.run(self.engine.update_table("i", UpdateTable("t", options=options)))


lives = st.sampled_from([1, 300, 3 * HOUR, 30 * HOUR, 200 * HOUR])
offsets = st.sampled_from([1, 500, 24 * HOUR, 100 * HOUR])
actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 3), st.sampled_from([0, 1000, 100 * HOUR])),
        st.tuples(st.just("wait"), st.integers(1, 60 * HOUR)),
        st.tuples(st.just("change"), lives, offsets),
    ),
    max_size=8,
)


@given(time_to_live=lives, offset=offsets, history=actions)
@example(30 * HOUR, 24 * HOUR, [("write", 0, 100 * HOUR), ("wait", 40 * HOUR)])
@settings(max_examples=examples(40), deadline=None)
def test_what_expired_goes_in_time_and_what_lives_stays(
    time_to_live: int, offset: int, history: list[tuple[str, int, int]]
) -> None:
    with open_store("memory:") as store:
        world = World(store, time_to_live, offset)
        world.wait(SWEEP_PAUSE_SECONDS)
        for action, *facts in history:
            getattr(world, action)(*facts)
            clean(world.engine)  # as a change is followed by a look, soon
            if action == "change":
                late = max(SWEEP_PAUSE_SECONDS, world.time_to_live // 16)
                world.written = {
                    each for each in world.written if each[1] + world.time_to_live > world.now
                }
                for _ in range(2):
                    world.clock.advance(late)
                    clean(world.engine)
        assert check_store(store) == []


@given(
    time_to_live=st.integers(1, 400 * HOUR),
    offset=st.integers(1, 100 * HOUR),
    rows=st.integers(1, 9),
)
@settings(max_examples=examples(40), deadline=None)
def test_records_read_in_a_day_are_bounded(time_to_live: int, offset: int, rows: int) -> None:
    """However often it is looked: once for each pause, all rows of the table."""
    with open_store("memory:") as store:
        world = World(store, time_to_live, offset)
        read = 0
        for _ in range(96):
            for key in range(rows):
                world.write(key, key * 100)
            world.clock.advance(900)
            read += clean(world.engine)
        pause = max(SWEEP_PAUSE_SECONDS, time_to_live // 16)
        assert read <= rows * (1 + 86_400 // max(pause, 900))


# --- sequence records ------------------------------------------------------------------------


def numbered(engine: TablestoreEngine) -> None:
    columns = (KeyColumn("p", KeyType.STRING), KeyColumn("n", KeyType.INTEGER, auto_increment=True))
    engine.core.run(engine.create_table("i", create("t", columns, time_to_live=HOUR)))


def add(engine: TablestoreEngine, number: int | KeyMarker = KeyMarker.AUTO_INCREMENT) -> None:
    engine.core.run(engine.rows.write_row("i", copied("t", {"p": "a", "n": number}, {"x": 1})))


def last(store: Store, engine: TablestoreEngine) -> int | None:
    table = engine.tables.find("i", "t")
    record = store.snapshot().get(sequence_key(table.id, "a"))
    return None if record is None else int.from_bytes(record, "big")


def test_a_spent_sequence_record_goes_and_values_go_on_growing(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    """Semantics §4.7: values are unique and increase, also behind a record that is gone."""
    numbered(engine)
    for _ in range(3):
        add(engine)
    before = last(store, engine)
    assert before is not None
    clock.advance(2 * HOUR)
    clean(engine)
    assert next(store.snapshot().scan(SPACE_ROWS, after_prefix(SPACE_ROWS)), None) is None
    assert last(store, engine) == before  # the clock may be set back by a day
    clock.advance(25 * HOUR)
    clean(engine)
    assert last(store, engine) is None
    assert engine.core.sweep.reclaimed.sequences_removed == 1
    clock.advance(-24 * HOUR)
    add(engine)
    after = last(store, engine)
    assert after is not None
    assert after > before


def test_a_sequence_record_stays_while_a_row_is_left_or_its_value_is_ahead(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    numbered(engine)
    add(engine)
    clock.advance(48 * HOUR - 60)
    add(engine)
    held = last(store, engine)
    clock.advance(60)
    clean(engine)
    assert last(store, engine) == held  # a row is left
    ahead = clock.now_us() + 1000 * HOUR * 1_000_000
    add(engine, ahead)  # a client chose it, and nobody may get it again
    engine.core.run(engine.rows.write_row("i", delete("t", {"p": "a", "n": ahead})))
    clock.advance(48 * HOUR)
    clean(engine)
    assert last(store, engine) == ahead


def test_a_sequence_record_is_judged_in_the_transaction(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    numbered(engine)
    add(engine)
    clock.advance(48 * HOUR)
    held = None
    while (plan := engine.core.housekeeping()) is not None:
        if plan.writes and any(len(write.shards) == 2 for write in plan.writes):
            add(engine)  # behind the look, in front of the write
            held = last(store, engine)
        engine.core.run(plan)
    assert held is not None
    assert last(store, engine) == held


# --- typed tables ----------------------------------------------------------------------------


def hours_table(engine: TablestoreEngine, time_to_live: int | None) -> TableForm:
    builder = TableBuilder("t").add_field("k", LONG).primary_key("k")
    if time_to_live is not None:
        builder.ttl(TimeToLive.hours(time_to_live))
    made = engine.core.run(engine.core.operations(TYPED).create_table(builder.build()))
    return engine.core.operations(TYPED).tables.find_qualified(made.qualified)


def put_typed(engine: TablestoreEngine, form: TableForm, key: int, hours: int | None) -> None:
    ttl = None if hours is None else TimeToLive.hours(hours)
    engine.core.run(
        engine.core.operations(TYPED).write(
            form, WriteChoice(OperationKind.PUT, {"k": key}, ttl=ttl, update_ttl=True)
        )
    )


typed_actions = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 5), st.sampled_from([None, 0, 1, 5, 40])),
        st.tuples(st.just("wait"), st.integers(1, 50), st.just(0)),
        st.tuples(st.just("reopen"), st.just(0), st.just(0)),
        st.tuples(st.just("crash"), st.just(0), st.just(0)),
    ),
    max_size=10,
)


@given(default=st.sampled_from([None, 2, 100]), history=typed_actions)
@settings(max_examples=examples(80), deadline=None)
def test_typed_rows_go_in_time_and_those_that_live_stay(
    default: int | None, history: list[tuple[str, int, int]]
) -> None:
    """Within the pause; within a day or a month where a crash came before a note was kept."""
    with open_store("memory:") as store:
        clock = FakeClock()
        engine = open_tablestore(store, clock, FakeEntropy())
        form = hours_table(engine, default)
        alive: dict[int, int] = {}
        pause = 1 if default is None else max(1, default // 16)
        lost = 0
        for count, (action, first, second) in enumerate(history):
            if action == "put":
                put_typed(engine, form, first, second)
                stored = store.snapshot().get(form.key.encode([first]))
                assert stored is not None
                alive[first] = typed_table_and_expiry(stored)[1]
            elif action == "wait":
                for _ in range(first * 2):
                    clock.advance(HOUR / 2)
                    clean(engine)
            else:
                if action == "reopen" and (plan := engine.core.sweep.flush()) is not None:
                    engine.core.run(plan)
                if action == "crash":
                    lost = 24 * 30
                engine = open_tablestore(store, clock, FakeEntropy(count + 1))
                form = engine.core.operations(TYPED).tables.find_qualified("t")
            now = clock.now_us() // (HOUR * 1_000_000)
            kept = {
                form.key.decode(key)[0]: typed_table_and_expiry(record)[1]
                for key, record in store.snapshot().scan(*form.key.range())
            }
            assert {key for key, hour in alive.items() if not 0 < hour <= now} <= kept.keys()
            assert all(not hour or hour + pause + 1 + lost >= now for hour in kept.values())
        clock.advance(24 * 31 * HOUR)
        clean(engine)
        now = clock.now_us() // (HOUR * 1_000_000)
        left = [typed_table_and_expiry(r)[1] for _, r in store.snapshot().scan(*form.key.range())]
        assert all(not 0 < hour <= now for hour in left)
        assert check_store(store) == []


def test_typed_tables_are_not_read_because_an_engine_begins(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    form = hours_table(engine, None)
    for key in range(100):
        put_typed(engine, form, key, None)
    assert clean(engine) == 100
    again = open_tablestore(store, clock, FakeEntropy(1))
    assert clean(again) == 0
    put_typed(again, again.core.operations(TYPED).tables.find_qualified("t"), 1, 5)
    clock.advance(30)
    assert clean(again) == 0  # the note is written down
    assert again.core.housekeeping() is None
    third = open_tablestore(store, clock, FakeEntropy(2))
    clock.advance(4 * HOUR)
    assert clean(third) == 0
    clock.advance(2 * HOUR)
    assert clean(third) == 100
    assert third.core.sweep.reclaimed.rows_removed == 1


def test_a_dropped_tables_record_goes_with_it(engine: TablestoreEngine, store: Store) -> None:
    form = hours_table(engine, 5)
    clean(engine)
    assert store.snapshot().get(sweep_key(form.table.id)) is not None
    engine.core.run(engine.core.operations(TYPED).drop_table(form))
    clean(engine)
    assert store.snapshot().get(sweep_key(form.table.id)) is None
