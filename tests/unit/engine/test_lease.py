"""The lease of a store that several processes share (engine/lease.py, catalog.md "The lease")."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.ends import end_of, outcomes_of
from widerow.engine.lease import Lease, LeaseRecord, decode_lease, encode_lease
from widerow.errors import StoreDamaged
from widerow.keys.layout import LEASE_KEY
from widerow.limits import LEASE_SECONDS
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock

PAGE = (Path(__file__).parents[3] / "docs" / "formats" / "catalog.md").read_text(encoding="utf-8")
SHARED = replace(MemoryStore.capabilities, shared=True)


class _World:
    """A shared store and three processes, each with a clock that may be a little off."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.store.capabilities = SHARED
        self.clocks = [FakeClock() for _ in range(3)]
        self.leases = [
            Lease(self.store, clock, f"{number:022x}") for number, clock in enumerate(self.clocks)
        ]

    def pass_time(self, seconds: float) -> None:
        for clock in self.clocks:
            clock.advance(seconds)

    def step(self, who: int) -> None:
        plan = self.leases[who].plan()
        if plan is not None:
            _, error = end_of(plan, outcomes_of(plan, self.store.transact_group))
            if error is not None:
                raise error

    @property
    def holders(self) -> list[int]:
        return [who for who, lease in enumerate(self.leases) if lease.held()]


def test_a_store_of_one_process_has_no_lease() -> None:
    """It holds what there is to hold, and writes nothing for it."""
    lease = Lease(MemoryStore(), FakeClock(), "")
    assert lease.held()
    assert lease.plan() is None


def test_the_first_takes_it_and_keeps_it() -> None:
    """Renewed before it runs out, for as long as the holder lives."""
    world = _World()
    for _ in range(10):
        for who in (0, 1, 2):
            world.step(who)
        assert world.holders == [0]
        world.pass_time(LEASE_SECONDS * 0.6)
    assert world.leases[0].terms == 1


def test_it_is_taken_over_when_it_ran_out() -> None:
    """The holder died: another one follows after `LEASE_SECONDS`, and not before."""
    world = _World()
    world.step(0)
    world.step(1)
    world.pass_time(LEASE_SECONDS - 1)
    world.step(1)
    assert world.holders == [0]
    world.pass_time(1)
    assert world.holders == []
    world.step(1)
    world.step(0)
    assert world.holders == [1]


def test_a_holder_that_is_silent_is_not_waited_for() -> None:
    """It was killed: the nodes of a store know so within seconds (nodes/nodes.py)."""
    world = _World()
    world.step(0)
    world.step(1)
    world.leases[1].is_silent = lambda owner: owner == f"{0:022x}"
    world.step(1)
    assert 1 in world.holders
    world.pass_time(LEASE_SECONDS * 0.6)
    world.step(0)  # it was only slow, and finds that another one has it
    assert world.holders == [1]


def test_a_holder_that_stops_gives_it_back() -> None:
    world = _World()
    world.step(0)
    plan = world.leases[0].release()
    assert plan is not None
    outcomes_of(plan, world.store.transact_group)
    assert world.holders == []
    world.step(1)
    assert world.holders == [1]
    assert world.leases[0].release() is None


def test_who_was_overtaken_gives_nothing_back() -> None:
    world = _World()
    world.step(0)
    plan = world.leases[0].release()
    assert plan is not None
    world.pass_time(LEASE_SECONDS)
    world.step(1)
    outcomes_of(plan, world.store.transact_group)
    world.step(2)
    assert world.holders == [1]


def test_a_lease_of_a_clock_that_was_wrong_does_not_last() -> None:
    """One that ends in a year was written by a clock that was set since."""
    world = _World()
    world.clocks[0].advance(365 * 86400)
    world.step(0)
    world.step(1)
    assert 1 in world.holders


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, LEASE_SECONDS)), max_size=40))
def test_one_at_most_holds_it(steps: list[tuple[int, int]]) -> None:
    """As long as clocks agree, whoever steps whenever."""
    world = _World()
    for who, seconds in steps:
        world.step(who)
        assert len(world.holders) == 1
        world.pass_time(seconds)
        assert len(world.holders) <= 1


def test_the_record_is_the_one_of_the_page() -> None:
    """Both ways."""
    found = re.search(r"```lease\n(.+)\n```", PAGE)
    assert found is not None
    lease = LeaseRecord(bytes(range(11)).hex(), 1_468_944_030_000_000)
    assert encode_lease(lease) == found[1].encode()
    assert decode_lease(found[1].encode()) == lease


@pytest.mark.parametrize("record", [b"", b"[]", b'{"format": 2}', b'{"format": 1, "owner": "x"}'])
def test_a_record_that_is_no_lease_is_damage(record: bytes) -> None:
    """It is not overwritten: what is there may be of a newer version."""
    world = _World()
    world.store.transact((LEASE_KEY,), lambda txn: txn.put(LEASE_KEY, record))
    with pytest.raises(StoreDamaged):
        world.step(0)
