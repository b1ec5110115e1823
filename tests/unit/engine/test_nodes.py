"""The nodes of a shared store: whoever hears that a table changed, hears it last (nodes.py)."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.volume import examples

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.ends import end_of, outcomes_of
from widerow.engine.engine import catalog_models
from widerow.engine.lease import Lease
from widerow.engine.nodes.clocks import Skew
from widerow.engine.nodes.document import nodes_document
from widerow.engine.nodes.nodes import Nodes
from widerow.engine.nodes.record import decode_node
from widerow.engine.nodes.work import NodeWork, WorstLag
from widerow.engine.plan import Plan
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Replan, StorageFailure, StoreBusy, StoreDamaged
from widerow.keys.layout import CATALOG_EPOCH_KEY, LEASE_KEY, NODE_ID_BYTES, node_key, row_prefix
from widerow.limits import (
    CLOCK_SKEW_SECONDS_MAX,
    LEASE_SECONDS,
    NODE_BEAT_SECONDS,
    NODE_GONE_SECONDS,
    NODE_LOOK_SECONDS,
    READ_LEASE_MARGIN_SECONDS,
    READ_LEASE_SECONDS,
    SILENT_SECONDS,
    TRANSACTION_SECONDS_MAX,
)
from widerow.model.tablestore.requests import CreateIndex, IndexDefinition
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyType
from widerow.storage.interface import Transaction, Write
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

ENDED = (
    READ_LEASE_SECONDS + READ_LEASE_MARGIN_SECONDS
)  # behind it nothing that was read before is gone by


class _Shared(MemoryStore):
    """A store that several processes have, whose reads take time and fail as they are told to."""

    capabilities = replace(MemoryStore.capabilities, shared=True)

    def __init__(self) -> None:
        super().__init__()
        self.before_read: Callable[[], None] = lambda: None
        self.away = False
        self.lost = False  # whether there is a commit without an answer

    @property
    def may_still_commit(self) -> bool:
        return self.lost

    def snapshot(self) -> Any:  # noqa: ANN401  # the base's own
        if self.away:
            raise StoreBusy("away")
        self.before_read()
        found = super().snapshot()
        self.before_read()
        return found


class _Process:
    """What one server has of this."""

    def __init__(self, store: _Shared, seed: int) -> None:
        self.clock = FakeClock()
        self.store = store
        self.catalog = Catalog(store, catalog_models(TABLE_MODELS))
        node_id = bytes([seed]) * NODE_ID_BYTES
        self.lease = Lease(store, self.clock, node_id.hex())
        self.nodes = Nodes(store, self.catalog, self.lease, self.clock, node_id)
        self.nodes.name = f"node{seed}"

    def commit(self, plan: Plan[None] | None) -> None:
        if plan is not None:
            _, error = end_of(plan, outcomes_of(plan, self.store.transact_group))
            assert error is None

    def beat(self) -> None:
        self.commit(self.nodes.beat())

    def change(self) -> Callable[[], bool]:
        """Change the catalogue; what tells whether all know of it."""
        write = self.catalog.change(lambda _: None)
        outcome = self.store.transact_group([write])[0]
        assert outcome.error is None
        return write.is_acknowledged


def _opens_all(_: str) -> bool:
    return True


def _document(process: _Process) -> dict[str, Any]:
    return nodes_document(process.nodes, process.clock, _opens_all)


class _World:
    def __init__(self, count: int = 2) -> None:
        self.store = _Shared()
        self.all = [_Process(self.store, seed) for seed in range(count)]

    def pass_time(self, seconds: float) -> None:
        for process in self.all:
            process.clock.advance(seconds)

    def live(self, *who: int, seconds: float) -> None:
        """These beat and look as servers do."""
        for _ in range(round(seconds / NODE_LOOK_SECONDS)):
            for number in who or range(len(self.all)):
                self.all[number].beat()
                self.all[number].nodes.look()
            self.pass_time(NODE_LOOK_SECONDS)


def test_a_store_of_one_process_has_no_nodes() -> None:
    store, clock = MemoryStore(), FakeClock()
    catalog = Catalog(store, catalog_models(TABLE_MODELS))
    nodes = Nodes(store, catalog, Lease(store, clock, ""), clock, b"")
    assert nodes.beat() is None
    write = catalog.change(lambda _: None)
    store.transact_group([write])
    assert write.is_acknowledged()
    assert nodes_document(nodes, clock, _opens_all) == {"shared": False, "nodes": []}


def test_while_the_sight_holds_nothing_is_read() -> None:
    world = _World(1)
    (one,) = world.all
    one.beat()
    one.nodes.look()
    world.store.away = True
    world.pass_time(READ_LEASE_SECONDS - 0.1)
    assert one.catalog.seen() is one.catalog.state
    world.pass_time(0.1)
    with pytest.raises(StoreBusy):
        one.catalog.seen()


def test_the_sight_counts_from_the_beginning_of_a_look() -> None:
    """What a look reads at its end may be as old as its beginning."""
    world = _World(1)
    (one,) = world.all
    one.beat()
    began_ns = one.clock.monotonic_ns()
    world.store.before_read = lambda: world.pass_time(0.2)
    one.nodes.look()
    world.store.before_read = lambda: None
    took = (one.clock.monotonic_ns() - began_ns) / 1e9
    assert took > 0.3
    world.pass_time(READ_LEASE_SECONDS - took - 0.1)
    assert one.nodes.read_lease.holds()
    world.pass_time(0.2)
    assert not one.nodes.read_lease.holds()


def test_a_machine_that_was_suspended_has_no_sight() -> None:
    """Its monotonic clock stood still, and the others have waited long enough."""
    world = _World(1)
    (one,) = world.all
    one.beat()
    one.nodes.look()
    assert one.nodes.read_lease.holds()
    _off(world, 0, READ_LEASE_SECONDS)
    assert not one.nodes.read_lease.holds()


def test_a_process_that_tells_nobody_of_itself_asks_each_time() -> None:
    """As a command does that opens the store and serves nothing."""
    world = _World()
    one, other = world.all
    one.nodes.look()
    other.change()
    assert one.catalog.seen().epoch == other.catalog.state.epoch


def test_a_change_is_known_when_every_node_has_told_so() -> None:
    world = _World(3)
    world.live(seconds=2)
    known = world.all[0].change()
    assert not known()
    for process in world.all[1:]:
        assert not known()
        process.nodes.look()
        process.beat()
    assert known()


def test_a_node_that_dies_delays_one_change_and_no_other() -> None:
    world = _World()
    world.live(seconds=2)
    known = world.all[0].change()
    world.live(0, seconds=READ_LEASE_SECONDS - 0.5)
    assert not known()
    world.live(0, seconds=ENDED - READ_LEASE_SECONDS + 0.5)
    assert known()
    assert world.all[0].change()()


def test_the_store_is_looked_after_seconds_after_its_keeper_died() -> None:
    world = _World()
    one, other = world.all
    one.commit(one.lease.plan())
    other.commit(other.lease.plan())
    world.live(seconds=2)
    assert (one.lease.held(), other.lease.held()) == (True, False)
    world.live(1, seconds=SILENT_SECONDS - 1.5)
    assert other.lease.plan() is None
    world.live(1, seconds=2.5)
    other.commit(other.lease.plan())
    assert other.lease.held()


def test_a_keeper_that_leaves_gives_its_lease_back() -> None:
    world = _World()
    one, other = world.all
    one.commit(one.lease.plan())
    world.live(seconds=1)
    one.commit(one.nodes.leave())
    other.commit(other.lease.plan())
    assert other.lease.held()


def test_who_knows_of_the_keeper_takes_over_at_the_look_after_it_left() -> None:
    """In less than the lease's time: the keeper's record is gone (catalog.md, "The lease")."""
    world = _World()
    one, other = world.all
    world.live(seconds=1)
    for process in world.all:
        process.commit(process.lease.plan())  # the other one learns who holds it, and until when
    one.commit(one.nodes.leave())
    other.commit(other.lease.plan())
    assert (one.lease.held(), other.lease.held()) == (False, False)
    other.nodes.look()
    other.commit(other.lease.plan())
    assert other.lease.held()


def test_the_lease_is_given_back_before_the_record_goes() -> None:
    """Who misses the record finds no lease; and one who never beat gives it back, too."""
    world = _World()
    one, other = world.all
    one.commit(one.lease.plan())
    one.commit(one.nodes.leave())  # it has no record yet
    assert other.store.snapshot().get(LEASE_KEY) is None
    assert other.nodes.leave() is None
    one.beat()
    one.commit(one.lease.plan())
    plan = one.nodes.leave()
    assert plan is not None
    assert [write.shards[0] for write in plan.writes][:2] == [
        LEASE_KEY,
        node_key(b"\0" * NODE_ID_BYTES),
    ]


def test_a_node_that_leaves_delays_nobody() -> None:
    world = _World()
    world.live(seconds=2)
    one, other = world.all
    other.commit(other.nodes.leave())
    assert not other.nodes.read_lease.holds()
    assert one.change()()


def test_who_cannot_ask_waits_until_no_sight_can_hold() -> None:
    world = _World()
    world.live(seconds=2)
    known = world.all[0].change()
    world.store.away = True
    assert not known()
    world.pass_time(ENDED)
    assert known()


def raise_first(process: _Process, write: Write[None]) -> None:
    (outcome,) = process.store.transact_group([write])
    if outcome.error is not None:
        raise outcome.error


def test_an_epoch_that_a_body_met_ends_the_sight() -> None:
    """Else the request would be planned on the same catalogue again and again."""
    world = _World()
    world.live(seconds=1)
    one, other = world.all
    other.change()
    planned = one.catalog.planned()
    assert planned < other.catalog.state.epoch

    def body(txn: Transaction) -> None:
        one.catalog.in_body(txn, planned)

    with pytest.raises(Replan):
        raise_first(one, Write((row_prefix(1) + b"k",), body, reads=(CATALOG_EPOCH_KEY,)))
    assert one.catalog.planned() == other.catalog.state.epoch


# --- the law -----------------------------------------------------------------------------------


class _Sights(RuleBasedStateMachine):
    """Processes that beat, look, stop for a while and change the catalogue, in any order.

    A beat is planned at one moment and durable at another; reads take time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.world = _World(3)
        self.planned: dict[int, Plan[None]] = {}
        self.words: list[tuple[int, Callable[[], bool]]] = []
        self.known = 0  # the newest epoch of which its changer has heard that all know it

        self.world.live(seconds=1)

    who = st.integers(0, 2)

    @rule(who=who)
    def plan_beat(self, who: int) -> None:
        plan = self.world.all[who].nodes.beat()
        if plan is not None:
            self.planned[who] = plan

    @rule(who=who)
    def commit_beat(self, who: int) -> None:
        self.world.all[who].commit(self.planned.pop(who, None))

    @rule(
        who=who,
        seconds=st.sampled_from([0.0, 0.0, 0.1 * READ_LEASE_SECONDS, 0.8 * READ_LEASE_SECONDS]),
    )
    def look(self, who: int, seconds: float) -> None:
        """Between two reads, and behind them, anything may happen to the others."""
        process = self.world.all[who]

        def meanwhile() -> None:
            self.world.store.before_read = lambda: None
            self.world.pass_time(seconds)
            if seconds:
                self.change((who + 1) % 3)
                self.hear()

        self.world.store.before_read = meanwhile
        process.nodes.look()
        self.world.store.before_read = lambda: None

    @rule(who=who)
    def beat_and_look(self, who: int) -> None:
        self.planned.pop(who, None)
        self.world.all[who].beat()
        self.world.all[who].nodes.look()

    @rule(who=who)
    def change(self, who: int) -> None:
        process = self.world.all[who]
        try:
            known = process.change()
        except StoreBusy:  # beats that took minutes, which made the clocks look wrong
            return
        self.words.append((process.catalog.state.epoch, known))

    @rule(
        seconds=st.sampled_from(
            [part * READ_LEASE_SECONDS for part in (0.02, 0.1, 0.2, 0.3, 0.3, 0.5)]
        )
    )
    def pass_time(self, seconds: float) -> None:
        self.world.pass_time(seconds)
        self.hear()

    @rule(who=who, keeper=who)
    def pause(self, who: int, keeper: int) -> None:
        """A process stands still for a minute, and its beat that was under way comes after that."""
        self.world.pass_time(NODE_GONE_SECONDS + 1.0)
        self.world.all[keeper].nodes.look()
        plan = self.world.all[keeper].nodes.clear()
        self.beat_and_look(who)
        self.world.all[keeper].commit(plan)

    @rule(who=who)
    def leave(self, who: int) -> None:
        self.planned.pop(who, None)
        self.world.all[who].commit(self.world.all[who].nodes.leave())

    @rule()
    def hear(self) -> None:
        waiting = []
        for epoch, known in self.words:
            if known():
                self.known = max(self.known, epoch)
            else:
                waiting.append((epoch, known))
        self.words = waiting

    @invariant()
    def nobody_goes_by_what_was_before(self) -> None:
        for process in self.world.all:
            if process.nodes.read_lease.holds():
                assert process.catalog.state.epoch >= self.known


_Sights.TestCase.settings = settings(
    max_examples=examples(200), stateful_step_count=40, deadline=None
)
TestSights = _Sights.TestCase


# --- clocks --------------------------------------------------------------------------------------


@given(
    st.integers(-(10**9), 10**9),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
)
def test_the_skew_of_a_clock_lies_between_its_bounds(
    ahead: int, looked: int, until_beat: int, until_seen: int
) -> None:
    """Whenever the beat was made between the two looks."""
    skew = Skew.of(looked + until_beat + ahead, looked, looked + until_beat + until_seen)
    assert skew.low_us <= ahead <= skew.high_us
    assert skew.least_us <= abs(ahead)


def _off(world: _World, who: int, seconds: float) -> None:
    clock = world.all[who].clock
    clock.set((clock.now_us() + round(seconds * 1e6)) // 1000)


@pytest.mark.parametrize("seconds", [-60.0, -6.0, 6.0, 60.0])
def test_one_clock_among_three_that_is_wrong_is_refused(seconds: float) -> None:
    world = _World(3)
    _off(world, 0, seconds)
    world.live(seconds=3)
    assert [process.nodes.clock_fault is None for process in world.all] == [False, True, True]
    wrong = world.all[0]
    with pytest.raises(
        StoreBusy, match=r"more than 5 s apart from those of node1 .* set it by NTP"
    ):
        wrong.catalog.planned()
    with pytest.raises(StoreBusy):
        wrong.catalog.change(lambda _: None)
    _off(world, 0, -seconds)
    world.live(seconds=7)
    assert wrong.nodes.clock_fault is None
    wrong.catalog.planned()


def test_of_two_clocks_the_later_one_gives_way() -> None:
    world = _World(1)
    world.live(seconds=2)
    world.all.append(_Process(world.store, 1))
    _off(world, 1, 20.0)
    world.live(seconds=2)
    assert world.all[0].nodes.clock_fault is None
    assert world.all[1].nodes.clock_fault is not None


def test_a_skew_within_the_bound_is_tolerated() -> None:
    world = _World(3)
    _off(world, 1, CLOCK_SKEW_SECONDS_MAX - 0.5)
    world.live(seconds=3)
    assert [process.nodes.clock_fault for process in world.all] == [None, None, None]


def test_a_beat_that_took_long_is_no_clock_that_is_behind() -> None:
    """As it does while the server that has the record is replaced."""
    world = _World()
    world.live(seconds=4)
    plan = world.all[1].nodes.beat()
    assert plan is not None
    world.live(0, seconds=12)
    world.all[1].commit(plan)
    world.live(seconds=2)
    assert [process.nodes.clock_fault for process in world.all] == [None, None]


def test_a_clock_that_was_set_is_no_pause() -> None:
    """What passed since the last look is told by the clock that is never set."""
    world = _World()
    world.live(seconds=2)
    _off(world, 0, 3600.0)
    world.live(seconds=6)
    (seen,) = world.all[0].nodes.others()
    assert seen.skew is not None
    assert seen.skew.middle_us == pytest.approx(-3600e6, abs=1e6)


# --- writes from before a change ----------------------------------------------------------------


class _Apart(_Shared):
    """A store whose transactions reach one shard, as databases across a network have them."""

    capabilities = replace(_Shared.capabilities, atomic_across_shards=False)


def _apart(count: int) -> _World:
    world = _World(0)
    world.store = _Apart()
    world.all = [_Process(world.store, seed) for seed in range(count)]
    return world


def test_what_was_begun_before_a_change_has_ended_when_all_have_told_of_it() -> None:
    """cluster.md, "Indexes": then the build of an index begins."""
    world = _apart(2)
    world.live(seconds=2)
    one, other = world.all
    at_us = one.clock.now_us()
    one.change()
    assert not one.nodes.settled(at_us)
    one.beat()
    assert not one.nodes.settled(at_us)
    other.nodes.look()
    assert not one.nodes.settled(at_us)
    other.beat()
    assert one.nodes.settled(at_us)
    assert other.nodes.settled(at_us)


@pytest.mark.parametrize("present", [True, False])
def test_who_tells_nothing_is_waited_for_as_long_as_a_write_may_take(*, present: bool) -> None:
    """A node that died in a write, and a process that has no record itself."""
    world = _apart(2)
    one = world.all[0]
    world.live(*((0, 1) if present else (1,)), seconds=2)
    at_us = one.clock.now_us()
    one.change()
    world.live(0 if present else 1, seconds=TRANSACTION_SECONDS_MAX - 1)
    assert not one.nodes.settled(at_us)
    world.pass_time(1)
    assert one.nodes.settled(at_us)


def test_a_node_whose_commit_may_still_be_made_tells_nothing_new() -> None:
    world = _apart(1)
    world.live(seconds=2)
    (one,) = world.all
    at_us = one.clock.now_us()
    one.change()
    world.store.lost = True
    world.live(seconds=3)
    assert not one.nodes.settled(at_us)
    world.store.lost = False
    world.live(seconds=1)
    assert one.nodes.settled(at_us)


def test_a_node_whose_commit_may_still_be_made_leaves_its_record() -> None:
    world = _apart(2)
    world.live(seconds=2)
    one, other = world.all
    world.store.lost = True
    one.commit(one.nodes.leave())
    at_us = other.clock.now_us()
    other.change()
    world.store.lost = False
    world.live(1, seconds=3)
    assert not other.nodes.settled(at_us)


def test_a_node_that_cannot_beat_writes_no_more() -> None:
    """Long before the others take its record away."""
    world = _apart(1)
    world.live(seconds=2)
    (one,) = world.all
    for _ in range(READ_LEASE_SECONDS - 2):
        world.pass_time(1)
        one.nodes.look()
        one.catalog.planned()
    world.pass_time(2)
    with pytest.raises(StoreBusy, match="could not tell the others of itself for 20 s"):
        one.catalog.planned()
    one.beat()
    one.catalog.planned()


def test_an_index_is_built_as_soon_as_all_servers_have_told_of_it() -> None:
    """change §A6: nobody waits for a minute because others could share the store."""
    clock = FakeClock()
    with remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1))) as store:
        engine = open_tablestore(store, clock, FakeEntropy(1))
        columns = (DefinedColumn("s", ColumnType.STRING),)
        asked = replace(create("t", {"k": KeyType.INTEGER}), defined_columns=columns)
        engine.core.run(engine.create_table("i", asked))
        engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"s": "x"})))
        _beat(engine)
        index = CreateIndex("t", IndexDefinition("by_s", ("s",)), include_base_data=True)
        engine.core.run(engine.indexes.create("i", index))
        _keep_house(engine)
        assert not engine.describe_table("i", "t").indexes[0].ready
        _beat(engine)
        _keep_house(engine)
        assert engine.describe_table("i", "t").indexes[0].ready


def _beat(engine: TablestoreEngine) -> None:
    beat = engine.core.nodes.beat()
    assert beat is not None
    engine.core.run(beat)


def _keep_house(engine: TablestoreEngine) -> None:
    for _ in range(20):
        plan = engine.core.housekeeping()
        if plan is not None:
            engine.core.run(plan)


# --- what is shown, and how it stands in the store ----------------------------------------------


def test_a_node_that_beats_no_more_is_silent_and_then_gone() -> None:
    world = _World()
    world.live(seconds=2)
    one = world.all[0]
    states = []
    for seconds in (1.0, SILENT_SECONDS, NODE_GONE_SECONDS):
        world.live(0, seconds=seconds)
        one.commit(one.nodes.clear())
        one.nodes.look()
        shown = _document(one)["nodes"]
        states.append([each["state"] for each in shown])
    assert states == [["serves", "serves"], ["serves", "silent"], ["serves"]]


def test_a_node_that_comes_back_is_not_taken_away() -> None:
    """Between the plan that removes its record and the commit it beats again."""
    world = _World()
    world.live(seconds=2)
    one, other = world.all
    world.live(0, seconds=NODE_GONE_SECONDS + 2)
    plan = one.nodes.clear()
    assert plan is not None
    other.beat()
    one.commit(plan)
    one.nodes.look()
    assert [seen.record.name for seen in one.nodes.others()] == ["node1"]


def test_a_beat_of_which_nobody_knows_does_not_count_twice() -> None:
    """Observers count from the moment at which they first saw a beat."""
    world = _World()
    one = world.all[0]
    plan = one.nodes.beat()
    assert plan is not None
    world.store.transact_group([type(plan.writes[0])(plan.writes[0].shards, plan.writes[0].run)])
    again = one.nodes.beat()  # its own process has not heard that it was made
    assert again is not None
    world.all[1].nodes.look()
    one.commit(again)
    world.all[1].nodes.look()
    (seen,) = world.all[1].nodes.others()
    assert seen.record.beat == 2


def test_requests_a_second_are_of_the_last_beats() -> None:
    world = _World()
    for second in range(4):
        world.all[0].nodes.requests = 300 * second
        world.live(seconds=NODE_BEAT_SECONDS)
    (seen,) = world.all[1].nodes.others()
    assert seen.rate == pytest.approx(300, rel=0.3)
    shown = _document(world.all[0])["nodes"][0]
    assert shown["requests_per_second"] == pytest.approx(300, rel=0.3)


def test_the_lease_is_told_with_its_term() -> None:
    """By differences of the holder's own clock, which here is an hour ahead of the asked one's."""
    world = _World()
    clock = world.all[1].clock
    clock.set(clock.now_us() // 1000 + 3_600_000)
    world.live(seconds=1)
    holder = world.all[1]
    holder.commit(holder.lease.plan())
    world.live(seconds=6)
    lease = _document(world.all[0])["lease"]
    assert lease["name"] == "node1"
    assert 5 <= lease["held_seconds"] <= 7.5
    assert LEASE_SECONDS - 8 <= lease["expires_seconds"] <= LEASE_SECONDS - 5
    world.live(0, seconds=LEASE_SECONDS)
    assert _document(world.all[0])["lease"]["expires_seconds"] < 0
    world.all[0].commit(world.all[0].lease.plan())
    world.live(0, seconds=1)
    document = _document(world.all[0])
    assert document["lease"]["name"] == "node0"
    assert [each["keeper"] for each in document["nodes"]] == [True, False]  # what a dead one told


def test_a_silent_node_is_shown_since_when_and_its_figures_are_not_added() -> None:
    world = _World()
    for process in world.all:
        process.nodes.measure = lambda: NodeWork(cores=0.5, lags=(WorstLag("index", "i/t", "x"),))
    world.all[1].nodes.name, world.all[1].nodes.worker = "node0/2", 2
    world.all[0].nodes.name, world.all[0].nodes.worker = "node0/1", 1
    world.live(seconds=2)
    (server,) = _document(world.all[0])["servers"]
    assert (server["server"], server["cores"], len(server["nodes"])) == ("node0", 1.0, 2)
    world.live(0, seconds=SILENT_SECONDS + 3)
    document = _document(world.all[0])
    own, other = document["nodes"]
    assert other["state"] == "silent"
    assert SILENT_SECONDS <= other["beat_age_seconds"] <= SILENT_SECONDS + 5
    assert other["seen_us"] == world.all[0].clock.now_us() - other["beat_age_seconds"] * 1e6
    assert own["catalogue_lease_seconds"] is None
    assert other["catalogue_lease_seconds"] < READ_LEASE_SECONDS + READ_LEASE_MARGIN_SECONDS - 9
    assert document["servers"][0]["cores"] == 0.5
    assert [each["node"] for each in document["lags"]] == [own["name"]]


def test_names_of_tables_are_for_those_who_may_see_them() -> None:
    world = _World(1)
    lags = (WorstLag("global index", "shop/t", "x", 3.0), WorstLag("typed index", "other:u", "y"))
    world.all[0].nodes.measure = lambda: NodeWork(lags=lags)
    world.live(seconds=1)
    document = nodes_document(world.all[0].nodes, world.all[0].clock, "shop".__eq__)
    assert [(each["table"], each["name"]) for each in document["lags"]] == [
        ("shop/t", "x"),
        (None, None),
    ]


def test_a_server_of_an_earlier_version_tells_less_and_is_listed_all_the_same() -> None:
    """What it does not tell is unknown; its own reading passes over what it does not know."""
    world = _World()
    world.all[0].nodes.measure = lambda: NodeWork(p99_ms=5.0, cores=0.1)
    world.live(seconds=2)
    earlier = world.all[1]
    found = world.store.snapshot().get(node_key(earlier.nodes.own().id))
    assert found is not None
    fields = json.loads(found)
    for name in ("worker", "term", "work", "behind"):
        del fields[name]
    former = json.dumps({**fields, "beat": fields["beat"] + 1, "keeper": True}).encode()
    key = node_key(earlier.nodes.own().id)
    world.store.transact((key,), lambda txn: txn.put(key, former))
    world.all[0].nodes.look()
    document = _document(world.all[0])
    own, other = document["nodes"]
    assert (own["load"]["p99_ms"], other["load"]) == (5.0, None)
    assert (other["state"], other["worker"], other["server"]) == ("serves", None, "node1")
    assert document["lease"] == {
        "node": other["id"],
        "name": "node1",
        "held_seconds": None,
        "expires_seconds": None,
    }
    assert [each["server"] for each in document["servers"]] == ["node0", "node1"]
    assert document["servers"][1]["p99_ms"] is None


@pytest.mark.parametrize(
    "record", [b"", b"{}", b"[]", b'{"format": 2}', b'{"format": 1, "name": "x"}', b"[" * 100_000]
)
def test_a_record_that_is_no_node_is_damage(record: bytes) -> None:
    world = _World(1)
    with pytest.raises(StoreDamaged, match="the record of a node"):
        decode_node(bytes(11), record)
    key = node_key(bytes(11))
    world.store.transact((key,), lambda txn: txn.put(key, record))
    with pytest.raises(StorageFailure):
        world.all[0].nodes.look()
