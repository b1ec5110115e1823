"""Consumers of a tunnel, at random: what they took is the table, whoever died (change §E2 4, 6).

The stream is a fake one first, so that shards split and records go when a test wants it, and then
the table's own, whose partitions split.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support.answers import decode_answer_rows, decode_row, plain
from tests.support.changes import create, delete, put, scan_all
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples
from tests.unit.engine.tunnels.log import Consumer, FakeLog

from widerow.client.rows import decode_change
from widerow.engine.plan import Plan, single
from widerow.engine.streams.stream_reads import ShardInfo
from widerow.engine.tablestore.tunnels.opening import open_tunnels
from widerow.engine.tunnels.pages import TunnelRecord
from widerow.engine.tunnels.records import read_state
from widerow.engine.tunnels.service import TunnelCall, Tunnels, TunnelShown
from widerow.engine.tunnels.state import TunnelState
from widerow.errors import Conflict, NotFound, OutcomeUnknown
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import tunnel_prefix
from widerow.limits import TUNNEL_TIMEOUT_SECONDS_MIN
from widerow.model.tablestore.schema import Table
from widerow.model.tunnels import CreateTunnel, TunnelKind, TunnelName
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.plain_values import VersionedValue
from widerow.storage.interface import Store
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = pytest.mark.timeout(180)
keys = st.sampled_from("abcdefgh")
places = st.integers(0, 7)
TIMEOUT = TUNNEL_TIMEOUT_SECONDS_MIN
DELETE = 3
SPLITS_MAX = 3  # seven shards; each is read to its end in every run


class _Server:
    """A process: an engine, and its tunnels; over a stream that all processes share, if given."""

    def __init__(self, store: Store, clock: FakeClock, seed: int, log: FakeLog | None) -> None:
        self.engine = open_tablestore(store, clock, FakeEntropy(seed))
        if log is None:
            self.tunnels = self.engine.tunnels
            return
        self.engine._context.observers = None  # the test writes the log
        self.tunnels = self._open(store, clock, seed, log)

    def _open(self, store: Store, clock: FakeClock, seed: int, log: FakeLog) -> Tunnels[Table]:
        def nobody_hears(table: Table, partition_key: bytes, units: int) -> None:
            del table, partition_key, units

        engine, given = self.engine, (store, clock, FakeEntropy(seed + 100))
        return open_tunnels(engine.tables, given, engine.core.partitions, nobody_hears, log)


class Consuming(RuleBasedStateMachine):
    """A table that is written while several clients consume a tunnel of it."""

    def __init__(self) -> None:
        super().__init__()
        self.clock, self.log = FakeClock(), FakeLog()
        self.stores = self.make_stores()
        self.turn = self.seed = 0
        self.servers = [self.start(store) for store in self.stores]
        self.taken: dict[str, Any] = {}
        self.consumers: list[Consumer] = []
        self.heard: dict[str, float] = {}
        self.now = 0.0
        self.splits = 0
        self.versions: dict[str, int] = {}

    def make_stores(self) -> list[Store]:
        """A store for each server."""
        return [MemoryStore()]

    def start(self, store: Store) -> _Server:
        self.seed += 1
        return _Server(store, self.clock, self.seed, self.stream())

    def stream(self) -> FakeLog | None:
        """What the servers read instead of the table's own stream."""
        return self.log

    @property
    def server(self) -> _Server:
        """The one that gets the next request."""
        self.turn += 1
        return self.servers[self.turn % len(self.servers)]

    def run(self, plan: Callable[[], Any]) -> Any:  # noqa: ANN401  # what the plan answers
        """As the vendor's clients: again, where it is not known what happened."""
        while True:
            try:
                return self.server.engine.core.run(plan())
            except OutcomeUnknown:
                continue

    @property
    def shown(self) -> TunnelShown:
        return self.servers[0].tunnels.describe("i", TunnelName("t", "tunnel"))

    @property
    def table(self) -> Table:
        return self.servers[0].engine.tables.find("i", "t")

    def take(self, channel: str, record: TunnelRecord) -> None:
        if channel.startswith("BaseData_"):
            assert record.record.startswith(PLAIN_HEADER)
            row = decode_row(record.record[len(PLAIN_HEADER) :])
            assert row is not None
            self.taken[str(row[0]["k"])] = plain(row)
            return
        key, columns = self.change_of(record)
        if record.action == DELETE:
            self.taken.pop(key, None)
        else:
            self.taken[key] = columns

    def change_of(self, record: TunnelRecord) -> tuple[str, Any]:
        """The key of the row, and its columns as `plain` gives them."""
        key, columns = json.loads(record.record)
        return key, columns

    # --- what happens ------------------------------------------------------------------------

    @initialize(rows=st.lists(st.tuples(keys, st.integers(-9, 9)), max_size=6))
    def begin(self, rows: list[tuple[str, int]]) -> None:
        with suppress(Conflict):  # the first attempt may have made it
            request = create("t", {"k": KeyType.STRING})
            self.run(lambda: self.server.engine.create_table("i", request))
        for key, value in rows:
            self.write(key, value)
        self.tunnel_id = self.create(CreateTunnel("t", "tunnel", TunnelKind.BASE_AND_STREAM))

    def create(self, request: CreateTunnel) -> str:
        """Whether the first attempt was made is seen by the list."""
        while True:
            listed = self.server.tunnels.list_tunnels("i", "t")
            if listed:
                return listed[0].tunnel.id
            try:
                made: str = self.server.engine.core.run(self.server.tunnels.create("i", request))
            except OutcomeUnknown:
                continue
            return made

    @rule(key=keys, value=st.integers(-9, 9))
    def write(self, key: str, value: int) -> None:
        self.run(lambda: self.server.engine.rows.write_row("i", put("t", {"k": key}, {"v": value})))
        self.log.append(key, json.dumps([key, {"v": value}]).encode(), self.clock.now_us())

    @rule(key=keys)
    def remove(self, key: str) -> None:
        self.run(lambda: self.server.engine.rows.write_row("i", delete("t", {"k": key})))
        self.log.append(key, json.dumps([key, None]).encode(), self.clock.now_us(), DELETE)

    @precondition(lambda self: self.splits < SPLITS_MAX)
    @rule(key=keys)
    def split(self, key: str) -> None:
        self.splits += 1
        self.log.split(key)

    @rule()
    def connect(self) -> None:
        if len(self.consumers) < 3:
            server = self.server
            client = self.run(lambda: server.tunnels.connect("i", self.tunnel_id, "c", TIMEOUT))
            self.heard[client] = self.now
            self.consumers.append(Consumer(self.run, self.tunnel_id, client))

    @rule(place=places)
    def heartbeat(self, place: int) -> None:
        if self.consumers:
            consumer = self.consumers[place % len(self.consumers)]
            try:
                consumer.heartbeat(self.server.tunnels)
            except NotFound:  # it is gone after its timeout, and not before
                assert self.now - self.heard[consumer.id] > TIMEOUT
                self.kill(place)
            else:
                self.heard[consumer.id] = self.now

    @rule(place=places, which=places, checkpoint=st.booleans())
    def work(self, place: int, which: int, checkpoint: bool) -> None:  # noqa: FBT001  # drawn
        if self.consumers:
            consumer = self.consumers[place % len(self.consumers)]
            channels = consumer.open_channels()
            if channels:
                name = channels[which % len(channels)]
                consumer.work(self.server.tunnels, name, self.take, checkpoint=checkpoint)

    @rule(place=places)
    def kill(self, place: int) -> None:
        """Without a word: its channels are free after its timeout."""
        if self.consumers:
            self.consumers.pop(place % len(self.consumers))

    @rule(place=places)
    def shut_down(self, place: int) -> None:
        if self.consumers:
            consumer = self.consumers.pop(place % len(self.consumers))
            call = TunnelCall(self.tunnel_id, consumer.id)
            self.run(lambda: self.server.tunnels.shutdown("i", call))

    @rule(seconds=st.sampled_from([1, 6, TIMEOUT + 1]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.now += seconds

    @rule()
    def restart(self) -> None:
        """All servers; clients keep their ids, and get a whole timeout again (change §0 row 10)."""
        self.servers = [self.start(store) for store in self.stores]

    # --- what holds --------------------------------------------------------------------------

    def state(self) -> TunnelState | None:
        if not hasattr(self, "tunnel_id"):
            return None
        shown = self.shown
        prefix = tunnel_prefix(shown.table.id, shown.tunnel.number)
        return read_state(self.stores[0].snapshot(), prefix)

    @invariant()
    def versions_never_decrease(self) -> None:
        state = self.state()
        for name, channel in (state.channels if state else {}).items():
            assert channel.version >= self.versions.get(name, 0)
            self.versions[name] = channel.version

    @invariant()
    def a_channel_is_open_with_one_live_client(self) -> None:
        live = [each for each in self.consumers if self.now - self.heard[each.id] <= TIMEOUT]
        open_ones = [name for each in live for name in each.open_channels()]
        assert len(open_ones) == len(set(open_ones))

    def teardown(self) -> None:
        """One more client consumes the rest: what was taken is the table."""
        if not hasattr(self, "tunnel_id"):
            return
        self.consumers.clear()
        self.clock.advance(TIMEOUT + 1)
        server = self.servers[0]
        client = self.run(lambda: server.tunnels.connect("i", self.tunnel_id, "last", TIMEOUT))
        last = Consumer(self.run, self.tunnel_id, client)
        for _ in range(8 + 2 * len(self.shards())):
            last.heartbeat(server.tunnels)
            self.clock.advance(TIMEOUT / 2)  # a client that nobody heard of connected goes too
            for name in last.open_channels():
                while last.work(server.tunnels, name, self.take):
                    if name not in last.open_channels():
                        break
        assert self.shown.stage == "ProcessStream"
        assert self.taken == self.rows()

    def shards(self) -> Sequence[ShardInfo]:
        return self.log.shards(self.table)

    def rows(self) -> dict[str, Any]:
        scan = scan_all("t", {"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX})
        page = self.servers[0].engine.rows.get_range("i", scan)
        return {str(row[0]["k"]): plain(row) for row in decode_answer_rows(b"".join(page.pieces))}


class ConsumingOnStrictStores(Consuming):
    """Two servers on a store that gives no more than a database across a network does."""

    def make_stores(self) -> list[Store]:
        space = StrictSpace()
        return [
            StrictStore(space, FakeEntropy(seed), conflicts=0.2, unknown=0.05) for seed in (1, 2)
        ]


class ConsumingTheStreamOfTheTable(Consuming):
    """One server; partitions of the table split, and the shards of its stream with them."""

    def stream(self) -> FakeLog | None:
        return None

    def change_of(self, record: TunnelRecord) -> tuple[str, Any]:
        row = decode_change(record.record)
        whole = [each for each in row.cells if isinstance(each, VersionedValue)]
        return str(row.key[0][1]), {each.column: each.value for each in whole}

    @precondition(lambda self: self.splits < SPLITS_MAX)
    @rule(key=keys)
    def split(self, key: str) -> None:
        self.splits += 1
        engine = self.server.engine
        table, model = engine.describe_table("i", "t"), engine.tables.model
        bounds = tuple(sorted({*table.splits, encode_key_value(key)}))
        self.run(
            lambda: Plan(
                (engine.tables.change(table, lambda found: model.with_bounds(found, bounds)),),
                single,
            )
        )

    def shards(self) -> Sequence[ShardInfo]:
        return self.servers[0].engine.streams.shards(self.table)

    @rule()
    def move(self) -> None:
        """A step of what brings changes into the stream where their rows cannot."""
        engine = self.server.engine
        plan = engine._mover.step()
        if plan is not None:
            with suppress(OutcomeUnknown):
                engine.core.run(plan)

    def teardown(self) -> None:
        """Everything is brought into the stream first."""
        while (plan := self.servers[0].engine._mover.step()) is not None:
            with suppress(OutcomeUnknown):
                self.servers[0].engine.core.run(plan)
        super().teardown()


class ConsumingTheStreamOnStrictStores(ConsumingTheStreamOfTheTable, ConsumingOnStrictStores):
    """Two servers; changes come into the stream behind their rows (change §C1.8 rule 3)."""


TestConsuming = Consuming.TestCase
TestConsuming.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)
TestConsumingOnStrictStores = ConsumingOnStrictStores.TestCase
TestConsumingOnStrictStores.settings = settings(
    max_examples=examples(20), stateful_step_count=25, deadline=None
)
TestConsumingTheStream = ConsumingTheStreamOfTheTable.TestCase
TestConsumingTheStream.settings = settings(
    max_examples=examples(20), stateful_step_count=25, deadline=None
)
TestConsumingTheStreamOnStrictStores = ConsumingTheStreamOnStrictStores.TestCase
TestConsumingTheStreamOnStrictStores.settings = settings(
    max_examples=examples(20), stateful_step_count=25, deadline=None
)
