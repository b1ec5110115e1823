"""A disk that forgets, and the store on it (storage/interface.py, rules 3, 4, 7 and 8)."""

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.careless import NoSync, ShowsEarly, SyncsAgain
from tests.support.faults import FaultPlan, PowerCut, os_failure, power_cut
from tests.support.lossy import Keep, LossyDisk, LossyStore
from tests.support.volume import examples

from widerow.errors import OutcomeUnknown, StorageFailure, StoreDamaged, StoreFull, StorePoisoned
from widerow.storage.interface import Store, Transaction, Write

SHARD: Final = b"\x10s"
LARGE: Final = bytes(range(256)) * 8  # four sectors


def writing(name: str, value: bytes = LARGE) -> Callable[[Transaction], None]:
    return lambda transaction: transaction.put(SHARD + name.encode(), value)


def put(store: Store, *names: str) -> None:
    store.transact_group([Write((SHARD,), writing(name)) for name in names])


def names(store: LossyStore) -> list[str]:
    return [key[len(SHARD) :].decode() for key, _ in store.pairs()]


def cut_at(disk: LossyDisk, kind: str, action: Callable[[], object]) -> None:
    disk.plan.add(kind, power_cut)
    with pytest.raises(PowerCut):
        action()


# --- what survives -------------------------------------------------------------------------------


@given(
    keep=st.sampled_from(Keep), seed=st.integers(0, 999), moment=st.sampled_from(["write", "sync"])
)
@settings(max_examples=examples(150), deadline=None)
def test_acknowledged_groups_survive_and_the_one_under_way_is_whole_or_absent(
    keep: Keep, seed: int, moment: str
) -> None:
    disk = LossyDisk()
    store = LossyStore(disk)
    put(store, "a")
    put(store, "b")
    cut_at(disk, moment, lambda: put(store, "c", "d"))
    assert not store.writable
    disk.cut(keep, seed)
    found = names(LossyStore(disk))
    whole = (["a", "b"], ["a", "b", "c", "d"])
    assert found in whole
    if moment == "write" or keep is Keep.NOTHING:
        assert found == whole[0]
    elif keep is Keep.EVERYTHING:
        assert found == whole[1]


def test_a_torn_tail_is_found_and_dropped_for_good() -> None:
    repaired = 0
    for seed in range(30):
        disk = LossyDisk()
        store = LossyStore(disk)
        put(store, "a")
        cut_at(disk, "sync", lambda: put(store, "b"))  # noqa: B023  # called in this turn
        disk.cut(Keep.TORN, seed)
        again = LossyStore(disk)
        repaired += again.statistics()["repaired"]
        put(again, "c")
        disk.cut(Keep.NOTHING, seed)
        assert names(LossyStore(disk)) in (["a", "c"], ["a", "b", "c"])
    assert repaired > 10


def test_a_process_that_dies_leaves_the_cache_and_what_is_shown_again_stays() -> None:
    # Rule 4: what a reader was shown after opening survives a loss of power as well.
    disk = LossyDisk()
    store = LossyStore(disk)
    put(store, "a")
    disk.plan.add("sync", os_failure(errno.EIO))
    with pytest.raises(StorePoisoned):
        put(store, "b")
    again = LossyStore(disk)
    assert names(again) == ["a", "b"]
    disk.cut(Keep.NOTHING, 1)
    assert names(LossyStore(disk)) == ["a", "b"]


def test_opening_may_be_interrupted_anywhere() -> None:
    for kind in ("create", "write", "sync", "rename", "sync directory", "remove"):
        for seed in range(8):
            disk = LossyDisk()
            put(LossyStore(disk), "a")
            cut_at(disk, kind, lambda: LossyStore(disk))  # noqa: B023  # called in this turn
            disk.cut(list(Keep)[seed % len(Keep)], seed)
            assert names(LossyStore(disk)) == ["a"]


def test_nothing_is_shown_before_its_sync() -> None:
    disk = LossyDisk()
    store = LossyStore(disk)
    seen: list[list[str]] = []
    disk.during_sync = lambda: seen.append(names(store))
    put(store, "a")
    put(store, "b")
    assert seen == [[], ["a"]]


# --- failures ------------------------------------------------------------------------------------


def test_a_failed_sync_poisons_and_is_not_repeated() -> None:
    disk = LossyDisk()
    store = LossyStore(disk)
    put(store, "a")
    disk.plan.add("sync", os_failure(errno.EIO))
    syncs = disk.plan.calls["sync"]
    for _ in range(3):
        with pytest.raises(StorePoisoned):
            put(store, "b")
    assert disk.plan.calls["sync"] == syncs + 1
    assert names(store) == ["a"]
    assert not store.writable


def test_a_full_disk_refuses_writes_until_there_is_room() -> None:
    disk = LossyDisk(capacity=6000)
    store = LossyStore(disk)
    put(store, "a")
    with pytest.raises(StoreFull):
        put(store, "b", "c", "d")
    assert names(store) == ["a"]
    disk.capacity = 1 << 20
    put(store, "b")
    assert names(store) == ["a", "b"]


def test_room_that_ends_inside_a_commit_leaves_its_outcome_open() -> None:
    disk = LossyDisk()
    store = LossyStore(disk)
    put(store, "a")
    view = store.snapshot()
    disk.plan.add("write", os_failure(errno.ENOSPC))
    with pytest.raises(OutcomeUnknown):
        put(store, "b")
    assert store.writable
    put(store, "c")
    assert names(store) == ["a", "c"]
    assert view.get(SHARD + b"c") is None


def test_every_call_may_fail_once() -> None:
    # What was acknowledged is there after the store is opened again, whichever call failed.
    counting = LossyDisk()
    _work(counting)
    calls = [(k, n) for k, count in counting.plan.calls.items() for n in range(1, count + 1)]
    assert len(calls) > 20
    for number in (errno.EIO, errno.ENOSPC):
        for call in calls:
            disk = LossyDisk(FaultPlan({call: os_failure(number)}))
            acknowledged = _work(disk)
            disk.plan.forget()
            disk.cut(Keep.NOTHING, 1)
            assert set(acknowledged) <= set(names(LossyStore(disk))), call
            assert disk.plan.struck == [call]


def _work(disk: LossyDisk) -> list[str]:
    """Two openings with three groups each; the names that were acknowledged."""
    acknowledged: list[str] = []
    for opening in "xy":
        try:
            store = LossyStore(disk)
            for number in range(3):
                put(store, f"{opening}{number}")
                acknowledged.append(f"{opening}{number}")
        except (StorageFailure, OSError):
            continue
    return acknowledged


# --- damage --------------------------------------------------------------------------------------


def test_damage_before_the_tail_is_refused_and_never_read() -> None:
    disk = LossyDisk()
    store = LossyStore(disk)
    for name in "abc":
        store.transact((SHARD,), writing(name, b"value"))
    (log,) = disk.names()
    last = disk.read(log).rindex(b"\xf7WR\x1a")  # what is wrong there is an unfinished tail
    for position in range(last):
        disk.spoil(log, position)
        with pytest.raises(StoreDamaged):
            LossyStore(disk)
        disk.spoil(log, position)
    assert names(LossyStore(disk)) == ["a", "b", "c"]


# --- controls: stores that break one rule each, and are caught -----------------------------------


class NoDirectorySync(LossyDisk):
    """A disk below a store that does not sync its directory."""

    def sync_directory(self) -> None:
        self.plan.visit("sync directory")


@pytest.mark.parametrize("kind", [NoSync, NoDirectorySync, SyncsAgain])
def test_a_careless_store_loses_what_it_acknowledged(kind: type[LossyDisk]) -> None:
    disk = kind()
    store = LossyStore(disk)
    if kind is SyncsAgain:
        disk.plan.add("sync", os_failure(errno.EIO))
    put(store, "a")
    disk.cut(Keep.NOTHING, 1)
    try:
        assert names(LossyStore(disk)) == []
    except StoreDamaged:
        assert kind is NoSync, "its first log is named and empty"


def test_a_store_that_shows_too_early_is_seen() -> None:
    disk = LossyDisk()
    store = ShowsEarly(disk)
    seen: list[list[str]] = []
    disk.during_sync = lambda: seen.append(names(store))
    put(store, "a")
    assert seen == [["a"]]


def test_the_example_of_the_document_runs() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs/internals/testing-trust.md").read_text()
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(example, "testing-trust.md", "exec"), {})  # noqa: S102  # our own document
