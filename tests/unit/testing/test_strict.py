"""The store that gives what a database across a network gives, and no more (`strict.py`).

Each rule has a check; a store that breaks the rule must be caught by it.
"""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.errors import OutcomeUnknown
from widerow.storage.interface import Outcome, Transaction, Write
from widerow.storage.pending import WriteSet
from widerow.testing.clock import FakeEntropy

A, B, C = b"\x10a", b"\x10b", b"\x01"
NAMES = (A + b"1", A + b"2", B + b"1", B + b"2")
Kind = type[StrictStore]


def _set(key: bytes, value: bytes, transaction: Transaction) -> None:
    transaction.put(key, value)


def put(store: StrictStore, shard: bytes, value: bytes) -> None:
    """Both keys of a shard get a value, in one write."""

    def body(transaction: Transaction) -> None:
        for end in (b"1", b"2"):
            transaction.put(shard + end, value)

    store.transact((shard,), body)


# --- the checks: each takes the kind of store -----------------------------------------------------


def two_shards_are_refused(kind: Kind) -> None:
    store = kind(StrictSpace(), FakeEntropy())
    with pytest.raises(ValueError, match="one shard at a time"):
        store.transact((A, B), lambda transaction: transaction.put(A, b""))
    # Prefixes of one shard differ in their first byte only (storage/interface.py, rule 2).
    store.transact((b"\x10a", b"\x20a"), lambda transaction: transaction.put(A, b""))
    assert store.snapshot().get(A) == b""


def overtaken_bodies_run_again(kind: Kind) -> None:
    space = StrictSpace()
    one, other = kind(space, FakeEntropy(1)), kind(space, FakeEntropy(2))

    def increment(transaction: Transaction) -> int:
        count = int(transaction.get(A) or b"0") + 1
        transaction.put(A, b"%d" % count)
        return count

    def overtake() -> None:
        one.before_commit = None
        other.transact((A,), increment)

    one.before_commit = overtake
    assert one.transact((A,), increment) == 2
    assert one.snapshot().get(A) == b"2"
    assert one.statistics()["conflicts"] == 1


def a_shard_stays_once_it_was_read(kind: Kind) -> None:
    for seed in range(20):
        store = kind(StrictSpace(), FakeEntropy(seed))
        put(store, A, b"0")
        view = store.snapshot()
        put(store, A, b"1")
        seen = view.get(A + b"1")
        put(store, A, b"2")
        assert view.get(A + b"2") == seen
        assert [value for _, value in view.scan(A, B)] == [seen, seen]


def shards_are_seen_at_moments_of_their_own(kind: Kind) -> None:
    met = set()
    for seed in range(40):
        store = kind(StrictSpace(), FakeEntropy(seed))
        put(store, A, b"0")
        put(store, B, b"0")
        view = store.snapshot()
        first = view.get(A + b"1")
        put(store, A, b"1")
        put(store, B, b"1")
        met.add((first, view.get(A + b"2"), view.get(B + b"1")))
    assert met == {(b"0", b"0", b"0"), (b"0", b"0", b"1")}


def outcomes_may_be_unknown(kind: Kind) -> None:
    met = set()
    for seed in range(20):
        store = kind(StrictSpace(), FakeEntropy(seed), unknown=1.0)
        told: list[str] = []
        write = Write(
            (A,),
            lambda transaction: [transaction.put(name, b"v") for name in NAMES[:2]],
            settled=lambda _: told.append("settled"),  # noqa: B023  # called in this turn
            doubted=lambda: told.append("doubted"),  # noqa: B023  # called in this turn
        )
        (outcome,) = store.transact_group([write])
        assert isinstance(outcome.error, OutcomeUnknown)
        assert told == ["doubted"]
        assert store.writable
        met.add(tuple(store.snapshot().get_many(NAMES[:2])))
    assert met == {(None, None), (b"v", b"v")}, "whole or not at all, and both happen"


def groups_commit_one_by_one(kind: Kind) -> None:
    space = StrictSpace()
    one, other = kind(space, FakeEntropy(1)), kind(space, FakeEntropy(2))
    seen: list[bytes | None] = []
    one.before_commit = lambda: seen.append(other.snapshot().get(A))
    one.transact_group([Write((shard,), partial(_set, shard, b"v")) for shard in (A, B)])
    assert seen == [None, b"v"]


def keys_to_read_are_current_and_cause_no_conflict(kind: Kind) -> None:
    space = StrictSpace()
    one, other = kind(space, FakeEntropy(1)), kind(space, FakeEntropy(2))
    other.transact((C,), lambda transaction: transaction.put(C, b"1"))
    seen: list[bytes | None] = []

    def body(transaction: Transaction) -> None:
        other.transact((C,), lambda inside: inside.put(C, b"2"))
        seen.append(transaction.get(C))
        transaction.put(A, b"v")

    (outcome,) = one.transact_group([Write((A,), body, reads=(C,))])
    assert outcome.error is None
    assert seen == [b"2"]
    with pytest.raises(ValueError, match="outside the shards"):
        one.transact((A,), lambda transaction: transaction.get(C))


CHECKS = (
    two_shards_are_refused,
    overtaken_bodies_run_again,
    a_shard_stays_once_it_was_read,
    shards_are_seen_at_moments_of_their_own,
    outcomes_may_be_unknown,
    groups_commit_one_by_one,
    keys_to_read_are_current_and_cause_no_conflict,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_is_strict(check: Callable[[Kind], None]) -> None:
    check(StrictStore)


# --- controls: stores that are laxer, or break a promise ------------------------------------------


class TakesTwoShards(StrictStore):
    """Commits two shards as one."""

    def _is_one_shard(self, shards: tuple[bytes, ...]) -> bool:
        return bool(shards)


class LosesUpdates(StrictStore):
    """Does not look whether somebody else was there."""

    def _is_overtaken(self, shards: tuple[bytes, ...], since: int) -> bool:
        return since > self.space.newest or not shards


class AlwaysNewest(StrictStore):
    """Shows every read the newest state."""

    def snapshot(self):  # type: ignore[no-untyped-def]  # noqa: ANN201  # broken on purpose
        view = super().snapshot()
        view._sees = lambda commit: commit >= 0  # type: ignore[method-assign]  # broken on purpose
        return view


class OneMoment(StrictStore):
    """Shows all shards at the moment at which the snapshot was taken."""

    def chance(self, rate: float) -> bool:
        return super().chance(rate) if rate == self._unknown else False


class ForgetsUnknown(StrictStore):
    """Says that a change was made although it does not know."""

    def _commit(self, shards: tuple[bytes, ...], changes: WriteSet) -> None:
        super()._commit(shards, changes)


class KeepsBack(StrictStore):
    """Commits a group as a whole."""

    def _run_group(self, writes: Sequence[Write]) -> list[Outcome]:  # type: ignore[type-arg]  # of any result
        hook, self.before_commit = self.before_commit, None
        for _ in writes:
            if hook is not None:
                hook()
        return super()._run_group(writes)


CONTROLS = (
    (TakesTwoShards, two_shards_are_refused),
    (LosesUpdates, overtaken_bodies_run_again),
    (AlwaysNewest, a_shard_stays_once_it_was_read),
    (OneMoment, shards_are_seen_at_moments_of_their_own),
    (ForgetsUnknown, outcomes_may_be_unknown),
    (KeepsBack, groups_commit_one_by_one),
)


@pytest.mark.parametrize(("broken", "check"), CONTROLS)
def test_a_laxer_store_is_caught(broken: Kind, check: Callable[[Kind], None]) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(broken)


# --- laws ----------------------------------------------------------------------------------------


def test_rates_are_checked() -> None:
    for rates in ({"conflicts": 1.0}, {"unknown": 1.1}, {"conflicts": -0.1}):
        with pytest.raises(ValueError, match="between 0 and 1"):
            StrictStore(StrictSpace(), FakeEntropy(), **rates)


def test_one_seed_is_one_run() -> None:
    def run() -> tuple[dict[str, int], list[bytes | None]]:
        store = StrictStore(StrictSpace(), FakeEntropy(7), conflicts=0.3, unknown=0.3)
        for number in range(50):
            shard = (A, B)[number % 2]
            store.transact_group([Write((shard,), partial(_set, shard, b"%d" % number))])
        return store.statistics(), store.snapshot().get_many([A, B])

    assert run() == run()
    assert run()[0]["conflicts"] > 0
    assert run()[0]["unknown"] > 0


steps = st.lists(
    st.tuples(st.sampled_from(["put a", "put b", "get", "scan"]), st.sampled_from(NAMES)),
    max_size=25,
)


@given(steps=steps, seed=st.integers(0, 1000))
@settings(max_examples=examples(200), deadline=None)
def test_a_snapshot_shows_each_shard_at_one_moment(
    steps: list[tuple[str, bytes]], seed: int
) -> None:
    """Writes change a shard as a whole, so whatever is read of it has one value, for good."""
    store = StrictStore(StrictSpace(), FakeEntropy(seed))
    put(store, A, b"0")
    put(store, B, b"0")
    view, seen = store.snapshot(), dict[bytes, bytes | None]()
    for number, (step, name) in enumerate(steps):
        if step.startswith("put"):
            put(store, A if step == "put a" else B, b"%d" % number)
        elif step == "get":
            value = view.get(name)
            assert seen.setdefault(name[:2], value) == value
        else:
            pairs = list(view.scan(A, b"\x10c", reverse=name in NAMES[:2]))
            assert len(pairs) == 4
            for each, value in pairs:
                assert seen.setdefault(each[:2], value) == value
