"""The write set and what a body sees through it (storage/interface.py, rules 2, 5 and 6)."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.storage.interface import Transaction, Write
from widerow.storage.pending import Overlay, PendingTransaction, WriteSet, run_bodies

letters = st.binary(max_size=2).map(lambda tail: b"k" + tail)
ranges = st.lists(st.tuples(letters, letters), max_size=8)


class Base:
    """A reader over a dictionary that notes what it was asked."""

    def __init__(self, pairs: dict[bytes, bytes]) -> None:
        self.pairs = pairs
        self.asked: list[object] = []

    def get(self, key: bytes) -> bytes | None:
        self.asked.append(key)
        return self.pairs.get(key)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        self.asked.append(list(keys))
        return [self.pairs.get(key) for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        for key in sorted(self.pairs, reverse=reverse):
            if start <= key < stop:
                self.asked.append(key)
                yield key, self.pairs[key]


def every_key() -> list[bytes]:
    return [b"k", *[bytes((0x6B, first)) for first in range(256)]]


@given(pairs=ranges)
def test_removed_ranges_stay_ascending_disjoint_and_complete(
    pairs: list[tuple[bytes, bytes]],
) -> None:
    changes = WriteSet()
    for start, stop in pairs:
        changes.remove_range(start, stop)
    bounds = [bound for both in zip(changes.starts, changes.stops, strict=True) for bound in both]
    assert bounds == sorted(set(bounds)), "neither empty nor touching nor overlapping"
    covered = {key for key in every_key() for start, stop in pairs if start <= key < stop}
    assert {key for key in every_key() if changes.covers(key)} == covered


@given(pairs=ranges, start=letters, stop=letters)
def test_gaps_are_what_the_ranges_leave(
    pairs: list[tuple[bytes, bytes]], start: bytes, stop: bytes
) -> None:
    changes = WriteSet()
    for first, last in pairs:
        changes.remove_range(first, last)
    gaps = changes.gaps(start, stop)
    assert all(first < last for first, last in gaps)
    seen = [key for first, last in gaps for key in every_key() if first <= key < last]
    assert sorted(seen) == [
        key for key in sorted(every_key()) if start <= key < stop and not changes.covers(key)
    ]


@given(batches=st.lists(st.lists(letters, max_size=60), max_size=5), start=letters, stop=letters)
def test_keys_between_follow_later_writes(
    batches: list[list[bytes]], start: bytes, stop: bytes
) -> None:
    # Below and above the number up to which new keys are inserted one by one.
    changes = WriteSet()
    for batch in batches:
        for key in batch:
            changes.entries[key] = key
        expected = sorted(key for key in changes.entries if start <= key < stop)
        assert changes.keys_between(start, stop) == expected
        if batch:
            changes.remove_range(batch[0], batch[0] + b"\x00")
            expected = [key for key in expected if key != batch[0]]
            assert changes.keys_between(start, stop) == expected


def test_removing_a_range_drops_earlier_puts_and_keeps_later_ones() -> None:
    changes = WriteSet()
    changes.entries[b"kb"] = b"1"
    changes.remove_range(b"ka", b"kc")
    assert changes.entries == {}
    changes.entries[b"kb"] = b"2"
    assert (changes.entries, changes.starts, changes.stops) == ({b"kb": b"2"}, [b"ka"], [b"kc"])
    changes.remove_range(b"kz", b"ka")
    assert changes.starts == [b"ka"]
    assert changes.size_in_bytes() == len(b"kb2kakc")


def test_a_set_is_true_once_something_is_written() -> None:
    assert not WriteSet()
    entered, removed = WriteSet(), WriteSet()
    entered.entries[b"ka"] = None
    removed.remove_range(b"ka", b"kb")
    assert entered
    assert removed


def test_a_copy_goes_its_own_way() -> None:
    changes = WriteSet()
    changes.entries[b"ka"] = b"1"
    changes.remove_range(b"kb", b"kc")
    copy = changes.copy()
    changes.entries[b"ka"] = b"2"
    changes.remove_range(b"kc", b"kd")
    assert (copy.entries, copy.starts, copy.stops) == ({b"ka": b"1"}, [b"kb"], [b"kc"])
    assert copy.keys_between(b"k", b"l") == [b"ka"]


steps = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "range", "scan"]), letters, letters), max_size=6
)


def perform(transaction: PendingTransaction, done: list[tuple[str, bytes, bytes]]) -> None:
    for what, first, last in done:
        if what == "put":
            transaction.put(first, last)
        elif what == "delete":
            transaction.delete(first)
        elif what == "range":
            transaction.delete_range(first, last)
        else:
            list(transaction.scan(b"k", b"l"))


@given(kept=st.lists(steps, max_size=3), failed=steps, after=steps)
def test_what_failed_was_never_there(
    kept: list[list[tuple[str, bytes, bytes]]],
    failed: list[tuple[str, bytes, bytes]],
    after: list[tuple[str, bytes, bytes]],
) -> None:
    """Rule 6: a body that raises has written nothing, and the next one sees nothing of it."""
    base = Base({b"ka": b"base", b"kb": b"base", b"kc": b"base"})
    changes, expected = WriteSet(), WriteSet()
    for done in kept:
        perform(PendingTransaction(base, changes, (b"k",)), done)
        perform(PendingTransaction(base, expected, (b"k",)), done)
    taken_back = PendingTransaction(base, changes, (b"k",))
    perform(taken_back, failed)
    taken_back.take_back()
    for written in (changes, expected):
        last = PendingTransaction(base, written, (b"k",))
        perform(last, after)
    assert list(changes.entries.items()) == list(expected.entries.items())
    assert (changes.starts, changes.stops) == (expected.starts, expected.stops)
    found, wanted = Overlay(base, changes), Overlay(base, expected)
    assert list(found.scan(b"k", b"l")) == list(wanted.scan(b"k", b"l"))


def test_base_is_asked_once_and_only_for_what_is_unknown() -> None:
    base, changes = Base({b"ka": b"1", b"kb": b"2", b"kd": b"4"}), WriteSet()
    changes.entries.update({b"ka": b"new", b"kb": None})
    changes.remove_range(b"kd", b"ke")
    overlay = Overlay(base, changes)
    assert overlay.get_many([b"ka", b"kb", b"kc", b"kd"]) == [b"new", None, None, None]
    assert base.asked == [[b"kc"]]
    assert overlay.get_many([b"ka", b"kd"]) == [b"new", None]
    assert [overlay.get(key) for key in (b"ka", b"kb", b"kd")] == [b"new", None, None]
    assert base.asked == [[b"kc"]]


def test_scans_pass_over_removed_ranges_without_reading_them() -> None:
    base, changes = Base({bytes((0x6B, number)): b"v" for number in range(100)}), WriteSet()
    changes.remove_range(b"k\x05", b"k\x5f")
    assert len(list(Overlay(base, changes).scan(b"k", b"l"))) == 10
    assert len(base.asked) == 10
    assert len(list(Overlay(base, changes).scan(b"k", b"l", reverse=True))) == 10
    assert len(base.asked) == 20


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_are_lazy(*, reverse: bool) -> None:
    base, changes = Base({bytes((0x6B, number)): b"v" for number in range(100)}), WriteSet()
    changes.entries.update({b"k": b"own", b"kz": b"own"})
    scan = Overlay(base, changes).scan(b"k", b"l", reverse=reverse)
    assert base.asked == []
    assert next(scan) == (b"kz" if reverse else b"k", b"own")
    assert len(base.asked) == 1


def test_shard_end_is_found_behind_trailing_ff() -> None:
    # The bound of `delete_range` may be the shard's prefix incremented.
    written = WriteSet()
    transaction = PendingTransaction(Base({}), written, (b"a\xff", b"\xff\xff"))
    transaction.delete_range(b"a\xff\x01", b"b")
    assert written.stops == [b"b"]
    for start, stop in ((b"a\xff", b"b\x00"), (b"\xff\xff", b"b"), (b"a\xff", b"a")):
        with pytest.raises(ValueError, match="outside the shards"):
            transaction.scan(start, stop)
    assert list(transaction.scan(b"\xff\xff\x00", b"\xff\xff\xff")) == []


def test_bodies_see_those_before_them_and_nothing_of_what_failed() -> None:
    base = Base({b"ka": b"0"})

    def reads(transaction: Transaction) -> bytes | None:
        return transaction.get(b"ka")

    def writes(transaction: Transaction) -> None:
        transaction.put(b"ka", b"1")

    def fails(transaction: Transaction) -> None:
        transaction.put(b"ka", b"2")
        raise ArithmeticError

    bodies = [fails, reads, writes, reads, fails, reads]
    changes, outcomes = run_bodies(base, [Write((b"k",), body) for body in bodies])
    assert [outcome.result for outcome in outcomes] == [None, b"0", None, b"1", None, b"1"]
    assert [type(outcome.error) for outcome in outcomes if outcome.error] == [ArithmeticError] * 2
    assert changes.entries == {b"ka": b"1"}


@given(keys=st.lists(letters, min_size=1, unique=True), probe=letters)
def test_get_agrees_with_scan(keys: list[bytes], probe: bytes) -> None:
    base, changes = Base(dict.fromkeys(keys, b"base")), WriteSet()
    changes.remove_range(keys[0], keys[-1])
    for key in keys[::2]:
        changes.entries[key] = None if len(key) == 2 else b"own"
    overlay = Overlay(base, changes)
    pairs = list(overlay.scan(b"k", b"l"))
    names = [name for name, _ in pairs]
    index = bisect_right(names, probe) - 1
    found = index >= 0 and names[index] == probe
    assert overlay.get(probe) == (pairs[index][1] if found else None)
    assert list(overlay.scan(b"k", b"l", reverse=True)) == pairs[::-1]
