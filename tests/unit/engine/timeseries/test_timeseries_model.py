"""Timeseries tables against a dictionary: several processes on one store, crashes between steps."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.support.lossy import Keep, LossyDisk, LossyStore
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples
from tests.unit.engine.timeseries.test_lastpoints import newest
from tests.unit.engine.timeseries.test_metas import metas
from tests.unit.engine.timeseries.world import DAY, Series, of_host, put_in

from widerow.model.timeseries.requests import (
    MetaChange,
    MetaUpdateMode,
    PointScan,
    SeriesOptionsChange,
)
from widerow.model.timeseries.series import SeriesKey, Tags
from widerow.model.values import Value
from widerow.testing.clock import FakeClock, FakeEntropy

HOUR_US = 3_600_000_000
SERIES = [of_host(at, f"m{at % 2}") for at in range(4)]
HOSTS = st.sampled_from(SERIES)
FIELDS: st.SearchStrategy[dict[str, Value]] = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.one_of(
        st.integers(-2, 2),
        st.booleans(),
        st.sampled_from([0.5, -1.0]),
        st.text("xü", max_size=3),
        st.binary(max_size=3),
    ),
    min_size=1,
)
POINTS = st.lists(st.tuples(HOSTS, st.integers(0, 30), FIELDS), min_size=1, max_size=6)
ATTRIBUTES = st.none() | st.sampled_from([(), (("a", "1"),), (("a", "2"), ("b", "x"))])


class TimeseriesMachine(RuleBasedStateMachine):
    """What a dictionary says that a table with a last-point index holds.

    `points`: by series and time, the fields. `put_us`: by series and time, when they were last put.
    `last`: by series, the newest value of each field.
    """

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.opened = 0
        self.world = self.open_again()
        self.world.create(lastpoints=("last",))
        self.ttl_s = -1
        self.points: dict[SeriesKey, dict[int, dict[str, Value]]] = {}
        self.put_us: dict[tuple[SeriesKey, int], int] = {}
        self.last: dict[SeriesKey, dict[str, tuple[Value, int]]] = {}
        self.metas: dict[SeriesKey, Tags] = {}

    def open_again(self) -> Series:
        """The store, opened by another process."""
        raise NotImplementedError

    @property
    def table(self) -> Any:  # noqa: ANN401  # a table, which the machine hands on
        return self.world.engine.find("me", "t")

    def live_from(self) -> int:
        return 0 if self.ttl_s < 0 else self.clock.now_us() - self.ttl_s * 1_000_000

    @rule()
    def another_process(self) -> None:
        self.world = self.open_again()

    @rule(points=POINTS, mode=st.sampled_from(MetaUpdateMode))
    def put(
        self, points: list[tuple[SeriesKey, int, dict[str, Value]]], mode: MetaUpdateMode
    ) -> None:
        now_us = self.clock.now_us()
        made = [(series, now_us - hours * HOUR_US, fields) for series, hours, fields in points]
        result = self.world.put(self.table, *made, mode=mode)
        assert result.failed == {}
        for series in {series for series, _, _ in made}:
            if not self.is_shown(series):
                self.last.pop(series, None)
        for series, at, fields in made:
            self.points.setdefault(series, {}).setdefault(at, {}).update(fields)
            self.put_us[series, at] = now_us
            last = self.last.setdefault(series, {})
            for name, value in fields.items():
                if name not in last or last[name][1] <= at:
                    last[name] = value, at
            if mode is MetaUpdateMode.NORMAL:
                self.metas.setdefault(series, ())
        firsts = {next(at for at, p in enumerate(made) if p[0] == each[0]) for each in made}
        assert set(result.metas) == (firsts if mode is MetaUpdateMode.NORMAL else set())

    @rule(series=HOSTS, attributes=ATTRIBUTES)
    def change_meta(self, series: SeriesKey, attributes: Tags | None) -> None:
        plan = self.world.engine.change_metas(self.table, [MetaChange(series, attributes)])
        assert self.world.core.run(plan) == {}
        kept = self.metas.get(series, ())
        self.metas[series] = kept if attributes is None else attributes

    @rule(series=st.lists(HOSTS, min_size=1, max_size=3))
    def delete_metas(self, series: list[SeriesKey]) -> None:
        assert self.world.core.run(self.world.engine.delete_metas(self.table, series)) == {}
        for each in series:
            self.metas.pop(each, None)

    @precondition(lambda self: self.ttl_s < 0)
    @rule()
    def keep_for_a_day(self) -> None:
        """Never longer again: what a sweep has left of what had expired would be there again."""
        self.ttl_s = DAY
        change = SeriesOptionsChange(ttl_s=DAY)
        self.world.core.run(self.world.engine.change_options("me", "t", change))

    @rule(hours=st.integers(1, 12))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(hours * 3600)

    @rule()
    def clean(self) -> None:
        self.world.clean(2)

    @rule(series=HOSTS, begin=st.integers(-9, 35), end=st.integers(-9, 35), limit=st.integers(1, 4))
    def read_a_range(self, series: SeriesKey, begin: int, end: int, limit: int) -> None:
        now_us = self.clock.now_us()
        if begin >= end:
            return
        low, high = now_us - end * HOUR_US, now_us - begin * HOUR_US
        expected = [each for each in self.expected(series) if low <= each[0] < high]
        query = {"begin_us": low, "end_us": high, "limit": limit}
        for backward in (False, True):
            found = self.world.read(self.table, series, backward=backward, **query)
            assert found == expected[:: -1 if backward else 1]

    @rule()
    def read_the_stream(self) -> None:
        """timeseries §9: the records of all shards, replayed, are the points that were put.

        Those that were put before the hours of the stream may be missing. Of a point that is not
        live any more, what a sweep has removed is not in the record of a later put.
        """
        self.world.move_changes(self.table)
        table = self.table
        found: dict[tuple[SeriesKey, int], dict[str, Value]] = {}
        for record in self.world.stream(table):
            series, at, fields = put_in(record)
            found[series, at] = fields
        kept_us = self.clock.now_us() - table.stream.expiration_hours * HOUR_US
        for (series, at), put_us in self.put_us.items():
            fields = self.points[series][at]
            if at >= self.live_from() and (put_us > kept_us or (series, at) in found):
                assert found[series, at] == fields
        assert found.keys() <= self.put_us.keys()

    def is_shown(self, series: SeriesKey) -> bool:
        """Whether a series is in the index: its newest point is live."""
        times = [at for _, at in self.last.get(series, {}).values()]
        return max(times, default=-1) >= self.live_from()

    def expected(self, series: SeriesKey) -> list[tuple[int, dict[str, Value]]]:
        live = self.live_from()
        return sorted((at, f) for at, f in self.points.get(series, {}).items() if at >= live)

    @invariant()
    def everything_is_there(self) -> None:
        table = self.table
        found: dict[SeriesKey, list[tuple[int, dict[str, Value]]]] = {}
        for split in self.world.engine.splits(table, None, 3):
            scan = PointScan(split, limit=3)
            while True:
                page = self.world.engine.scan_points(table, scan)
                for point in page.points:
                    found.setdefault(point.series, []).append((point.time_us, dict(point.fields)))
                if not page.next:
                    break
                scan = scan._replace(after=page.next)
        assert found == {each: self.expected(each) for each in SERIES if self.expected(each)}
        shown = {meta.key: meta.attributes for meta in metas(self.world, table)}
        assert shown == self.metas
        last = {
            each: {n: c for n, c in cells.items() if n != "_time"}
            for each, cells in newest(self.world).items()
        }
        assert last == {each: self.last[each] for each in SERIES if self.is_shown(each)}

    def teardown(self) -> None:
        self.world.check()


class SharedMachine(TimeseriesMachine):
    """Two processes and more on a store that gives no more than a database across a network."""

    def open_again(self) -> Series:
        if not self.opened:
            self.space = StrictSpace()
        self.opened += 1
        store = StrictStore(self.space, FakeEntropy(self.opened), conflicts=0.2)
        return Series(store, self.clock, self.opened)


class CrashingMachine(TimeseriesMachine):
    """A store of one process, whose power is cut between two requests."""

    def open_again(self) -> Series:
        if not self.opened:
            self.disk = LossyDisk()
        else:
            self.disk.cut(list(Keep)[self.opened % len(Keep)], self.opened)
        self.opened += 1
        return Series(LossyStore(self.disk), self.clock, self.opened)


SETTINGS = settings(max_examples=examples(60), stateful_step_count=25, deadline=None)
TestShared = SharedMachine.TestCase
TestShared.settings = SETTINGS
TestCrashing = CrashingMachine.TestCase
TestCrashing.settings = SETTINGS
