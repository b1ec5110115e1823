"""Every driver against a dictionary, in random histories (storage/interface.py, rules 1 to 6)."""

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests import hbase
from tests.conformance.drivers import BAD_WEATHER
from tests.postgres import fresh_url
from tests.support.lossy import Keep, LossyDisk, LossyStore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.storage.interface import Reader, Snapshot, Store, Transaction, Write
from widerow.storage.memory import MemoryStore
from widerow.storage.opener import open_store
from widerow.storage.pending import WriteSet
from widerow.testing.clock import FakeEntropy

Model = dict[bytes, bytes]

SHARDS = (b"a", b"b")
# Few keys and many collisions, with the bytes that borders are made of.
names = st.builds(
    lambda shard, rest: shard + bytes(rest),
    st.sampled_from(SHARDS),
    st.lists(st.sampled_from([0x00, 0x01, 0x7F, 0xFF]), max_size=3),
)
values = st.binary(max_size=6)


class Put(NamedTuple):
    """Set one key."""

    name: bytes
    value: bytes

    def apply(self, transaction: Transaction, model: Model) -> None:
        transaction.put(self.name, self.value)
        model[self.name] = self.value


class Delete(NamedTuple):
    """Remove one key."""

    name: bytes

    def apply(self, transaction: Transaction, model: Model) -> None:
        transaction.delete(self.name)
        model.pop(self.name, None)


class DeleteRange(NamedTuple):
    """Remove the keys of one shard between two of them, or from one to the shard's end."""

    start: bytes
    stop: bytes | None

    def apply(self, transaction: Transaction, model: Model) -> None:
        end = bytes((self.start[0] + 1,))
        stop = self.stop if self.stop is not None and self.stop[:1] == self.start[:1] else end
        transaction.delete_range(self.start, stop)
        for name in [name for name in model if self.start <= name < stop]:
            del model[name]


class Look(NamedTuple):
    """Compare everything a transaction shows."""

    start: bytes
    stop: bytes

    def apply(self, transaction: Transaction, model: Model) -> None:
        for shard in SHARDS:
            agrees(transaction, model, shard, bytes((shard[0] + 1,)))
        if self.start[:1] == self.stop[:1]:
            agrees(transaction, model, self.start, self.stop)


class Refuse(NamedTuple):
    """Raise, so that the body has written nothing."""

    def apply(self, transaction: Transaction, model: Model) -> None:
        raise LookupError(transaction, model)


Step = Put | Delete | DeleteRange | Look | Refuse
steps = st.one_of(
    st.builds(Put, names, values),
    st.builds(Put, names, values),
    st.builds(Delete, names),
    st.builds(DeleteRange, names, st.none() | names),
    st.builds(Look, names, names),
    st.builds(Refuse),
)
groups = st.lists(st.lists(steps, max_size=6), max_size=4)


def agrees(reader: Reader, model: Model, start: bytes, stop: bytes) -> None:
    """The reader's range, both ways, and its gets, are those of the model."""
    expected = sorted(pair for pair in model.items() if start <= pair[0] < stop)
    assert list(reader.scan(start, stop)) == expected
    assert list(reader.scan(start, stop, reverse=True)) == expected[::-1]
    asked = [start, *[name for name, _ in expected], start + b"\x00"]
    assert reader.get_many(asked) == [model.get(name) for name in asked]
    assert [reader.get(name) for name in asked] == [model.get(name) for name in asked]


def run_group(store: Store, model: Model, group: list[list[Step]]) -> Model:
    """Run a group on the store; the model as it must be afterwards."""
    # Bodies may run more than once, so each starts from a copy of what is before it.
    states = [model]

    def body_of(number: int, body: list[Step]) -> Callable[[Transaction], Model]:
        def run(transaction: Transaction) -> Model:
            del states[number + 1 :]
            states.append(states[-1])  # as it stays where the body raises
            state = dict(states[number])
            for step in body:
                step.apply(transaction, state)
            states[-1] = state
            return state

        return run

    outcomes = store.transact_group(
        [Write(SHARDS, body_of(number, body)) for number, body in enumerate(group)]
    )
    for body, outcome in zip(group, outcomes, strict=True):
        assert isinstance(outcome.error, LookupError) == any(
            isinstance(step, Refuse) for step in body
        )
        assert outcome.error is None or isinstance(outcome.error, LookupError), outcome.error
    return states[-1]


class History(RuleBasedStateMachine):
    """A store, the dictionary it must equal, and snapshots that must not move."""

    url = "memory:"

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(mkdtemp(prefix="widerow-model-"))
        self.store = self.open()
        self.model: Model = {}
        self.held: list[tuple[Snapshot, Model]] = []

    def open(self) -> Store:
        return open_store(self.url.format(self.directory / "store"))

    @rule(group=groups)
    def write(self, group: list[list[Step]]) -> None:
        self.model = run_group(self.store, self.model, group)

    @rule()
    def hold(self) -> None:
        self.held = [*self.held[-2:], (self.store.snapshot(), self.model)]

    @precondition(lambda self: self.store.capabilities.persistent)
    @rule()
    def reopen(self) -> None:
        self.held.clear()
        self.store.close()
        self.store = self.open()

    @invariant()
    def readers_agree(self) -> None:
        for view, model in [*self.held, (self.store.snapshot(), self.model)]:
            agrees(view, model, b"", b"\xff")

    def teardown(self) -> None:
        self.held.clear()
        self.store.close()
        rmtree(self.directory)


class RocksDBHistory(History):
    """The same on disk, with reopening."""

    url = "rocksdb:{}"


class LossyHistory(History):
    """The same on a disk that forgets: power is lost between groups, and nothing is missed."""

    def __init__(self) -> None:
        self.disk = LossyDisk()
        super().__init__()

    def open(self) -> Store:
        return LossyStore(self.disk)

    @rule(keep=st.sampled_from(Keep), seed=st.integers(0, 99))
    def cut(self, keep: Keep, seed: int) -> None:
        self.held.clear()
        self.disk.cut(keep, seed)
        self.store.close()
        self.store = self.open()


class StrictHistory(History):
    """The same where each write is a transaction of its own."""

    conflicts = 0.0

    def open(self) -> Store:
        return StrictStore(StrictSpace(), FakeEntropy(), conflicts=self.conflicts)


class ConflictHistory(StrictHistory):
    """The same where bodies have to run again now and then."""

    conflicts = 0.3


class RemoteHistory(History):
    """The same over a driver of a database across a network, where much goes wrong."""

    def open(self) -> Store:
        return remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1), BAD_WEATHER))


class PostgresHistory(History):
    """The same in a database."""

    def __init__(self) -> None:
        self.database = fresh_url()
        super().__init__()

    def open(self) -> Store:
        return open_store(self.database)


class HBaseHistory(History):
    """The same in a cluster."""

    def __init__(self) -> None:
        self.database = hbase.fresh_url()
        super().__init__()

    def open(self) -> Store:
        return open_store(self.database)


History.TestCase.settings = settings(
    max_examples=examples(60), stateful_step_count=15, deadline=None
)
RocksDBHistory.TestCase.settings = settings(
    max_examples=examples(25), stateful_step_count=12, deadline=None
)
LossyHistory.TestCase.settings = settings(
    max_examples=examples(60), stateful_step_count=15, deadline=None
)
StrictHistory.TestCase.settings = settings(
    max_examples=examples(40), stateful_step_count=12, deadline=None
)
ConflictHistory.TestCase.settings = StrictHistory.TestCase.settings
RemoteHistory.TestCase.settings = StrictHistory.TestCase.settings
TestRemoteHistory = RemoteHistory.TestCase
PostgresHistory.TestCase.settings = settings(
    max_examples=examples(12), stateful_step_count=12, deadline=None
)
TestPostgresHistory = PostgresHistory.TestCase
HBaseHistory.TestCase.settings = settings(max_examples=5, stateful_step_count=12, deadline=None)
TestHBaseHistory = pytest.mark.night(
    pytest.mark.timeout(hbase.START_SECONDS)(HBaseHistory.TestCase)
)
TestConflictHistory = ConflictHistory.TestCase
TestStrictHistory = StrictHistory.TestCase
TestLossyHistory = LossyHistory.TestCase
TestMemoryHistory = History.TestCase
TestRocksDBHistory = RocksDBHistory.TestCase


@given(group=groups.filter(lambda group: len(group) > 1))
@settings(max_examples=examples(100), deadline=None)
def test_splitting_a_group_changes_nothing(group: list[list[Step]]) -> None:
    # Rule 5: bodies of a group run as if each had a group of its own.
    with open_store("memory:") as together, open_store("memory:") as apart:
        model = run_group(together, {}, group)
        state: Model = {}
        for body in group:
            state = run_group(apart, state, [body])
        assert state == model
        agrees(together.snapshot(), model, b"", b"\xff")
        agrees(apart.snapshot(), model, b"", b"\xff")


class LosesRanges(MemoryStore):
    """Commits puts and deletes but no removed range."""

    def _commit(self, changes: WriteSet) -> None:
        changes.starts.clear()
        changes.stops.clear()
        super()._commit(changes)


def test_lost_range_deletes_are_noticed() -> None:
    # A control: the comparison tells a broken driver from the dictionary.
    with LosesRanges() as store:
        model = run_group(store, {}, [[Put(b"a1", b"v")], [Put(b"a2", b"v")]])
        model = run_group(store, model, [[DeleteRange(b"a1", b"a2")]])
        with pytest.raises(AssertionError):
            agrees(store.snapshot(), model, b"", b"\xff")
