"""How the layer over a database across a network reads (storage/remote/readers.py)."""

from collections.abc import Callable, Sequence
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.remote import MemoryDriver, RemoteSpace, Weather, remote_store

from widerow.errors import StoreBusy, ViewLost
from widerow.keys.layout import revision_key
from widerow.storage.interface import Snapshot
from widerow.storage.page import Page
from widerow.storage.remote.driver import DriverView, ShardChange
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.testing.clock import FakeEntropy

TABLE: Final = b"\x10\x00\x00\x00\x07"
SHARDS: Final = (TABLE + b"a", TABLE + b"b")
NAMES: Final = [shard + b"%d" % number for shard in SHARDS for number in range(5)]
END: Final = TABLE + b"c"


def opened(weather: Weather = Weather()) -> tuple[OptimisticStore, MemoryDriver]:  # noqa: B008  # a frozen value
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), weather)
    return remote_store(driver), driver


def put(store: OptimisticStore, name: bytes, value: bytes) -> None:
    store.transact((name[: len(TABLE) + 1],), lambda txn: txn.put(name, value))


def trips(driver: MemoryDriver, action: Callable[[], object]) -> int:
    before = driver.statistics()["round_trips"]
    action()
    return driver.statistics()["round_trips"] - before


@pytest.mark.parametrize("rows", [0, 11])
def test_the_first_read_of_a_brief_snapshot_takes_no_view(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, driver = opened()
    taken: list[object] = []
    view = driver.view
    for name in NAMES:
        put(store, name, b"v")

    def read_many(keys: Sequence[bytes], *, patient: bool = True) -> list[bytes | None]:
        del patient
        return view().read_many(keys)

    def read_page(start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        return view().read_page(start, stop, rows_max, reverse=reverse)

    def taken_view(*, patient: bool = True) -> DriverView:
        taken.append(None)
        return view(patient=patient)

    monkeypatch.setattr(driver, "read_many", read_many)
    monkeypatch.setattr(driver, "read_page", read_page)
    monkeypatch.setattr(driver, "view", taken_view)
    assert trips(driver, lambda: store.brief_snapshot(rows).get(NAMES[0])) == 1
    assert trips(driver, lambda: list(store.brief_snapshot(rows).scan(TABLE, END))) == 1
    assert taken == []
    store.snapshot().get(NAMES[0])
    assert len(taken) == 1


def test_a_scan_asks_for_as_many_rows_as_it_will_probably_give() -> None:
    store, driver = opened()
    for number in range(100):
        put(store, SHARDS[0] + b"%03d" % number, b"v")

    def scan(rows: int) -> None:
        assert len(list(store.brief_snapshot(rows).scan(TABLE, END))) == 100

    assert trips(driver, lambda: scan(101)) == 1
    assert trips(driver, lambda: scan(0)) > 1


def test_a_brief_snapshot_is_lost_once_at_most() -> None:
    store, _ = opened()
    put(store, NAMES[0], b"old")
    lost = 0
    for turn in range(3):
        view = store.brief_snapshot()
        view.get(NAMES[0])
        put(store, NAMES[0], b"%d" % turn)
        try:
            view.get(NAMES[1])
        except ViewLost:
            lost += 1
    assert lost == 1


def test_what_fails_between_two_reads_is_looked_at_again() -> None:
    """A read that failed proves nothing: the next one sees what has changed meanwhile."""
    store, driver = opened()
    put(store, NAMES[0], b"old")
    view = store.brief_snapshot()
    assert view.get(NAMES[0]) == b"old"
    put(store, NAMES[0], b"new")
    driver.is_reachable = False
    with pytest.raises(StoreBusy):
        view.get(NAMES[1])
    driver.is_reachable = True
    with pytest.raises(ViewLost):
        view.get(NAMES[1])


class History:
    """A space whose every state is kept, and what a reader has seen of it."""

    def __init__(self) -> None:
        self.space = RemoteSpace()
        self.states: list[dict[bytes, bytes]] = [{}]
        self._entropy = FakeEntropy(3)

    def write(self, place: int, *, removes: bool) -> None:
        """Change two keys of one shard, or remove them."""
        shard = SHARDS[place % 2]
        names = [shard + b"%d" % (place % 5), shard + b"%d" % (place // 2 % 5)]
        value = b"%d" % len(self.states)
        puts = {} if removes else dict.fromkeys(names, value)
        revision = revision_key(shard)
        former = self.states[-1].get(revision)
        removed = tuple(dict.fromkeys(names)) if removes else ()
        self.space.make([ShardChange(revision, former, value, puts, removed)])
        after = {name: told for name, told in self.states[-1].items() if name not in removed}
        self.states.append(after | puts | {revision: value})

    def held(self, since: int, shown: dict[bytes, bytes | None]) -> bool:
        """Whether each shard is shown as it was in some state since then."""
        for shard in SHARDS:
            own = {name: value for name, value in shown.items() if name.startswith(shard)}
            states = self.states[since:]
            if not any(all(s.get(n) == v for n, v in own.items()) for s in states):
                return False
        return True


def read(view: Snapshot, what: int) -> dict[bytes, bytes | None]:
    """What one read of a kind shows: also that nothing stands under a key."""
    if what % 3 == 0:
        names = NAMES[what % 7 :: 3]
        return dict(zip(names, view.get_many(names), strict=True))
    start, stop = (TABLE, END) if what % 2 else (SHARDS[what % 5 % 2], SHARDS[what % 5 % 2] + b"4")
    found = dict(view.scan(start, stop, reverse=what % 3 == 2))
    return {name: found.get(name) for name in NAMES if start <= name < stop}


@given(
    seed=st.integers(0, 2**16),
    cut=st.sampled_from([0.0, 0.3]),
    rows=st.sampled_from([0, 3, 600]),
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("write"), st.integers(0, 9)),
            st.tuples(st.just("remove"), st.integers(0, 9)),
            st.tuples(st.just("read"), st.integers(0, 20)),
        ),
        max_size=14,
    ),
)
def test_what_a_brief_snapshot_shows_of_a_shard_is_one_moment(
    seed: int, cut: float, rows: int, steps: list[tuple[str, int]]
) -> None:
    history = History()
    store = remote_store(MemoryDriver(history.space, FakeEntropy(seed), Weather(cut=cut)))
    view, since = store.brief_snapshot(rows), -1
    shown: dict[bytes, bytes | None] = {}
    for step, number in steps:
        if step != "read":
            history.write(number, removes=step == "remove")
            continue
        since = len(history.states) - 1 if since < 0 else since
        try:
            seen = read(view, number)
        except ViewLost:
            view, since, shown = store.brief_snapshot(rows), -1, {}
            continue
        assert not {name for name in seen.keys() & shown.keys() if seen[name] != shown[name]}
        shown |= seen
        assert history.held(since, shown)
