"""The storage contract, check by check, for every driver (storage/interface.py).

A check is a function of an open, empty store. The table at the end names them all; every driver
must pass every check, and every broken driver must be caught by the check that is named for it.
"""

import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeVar

import pytest
from tests.conformance.drivers import DRIVERS, SHARD, key

from widerow.errors import StorageFailure, StorePoisoned, ViewLost
from widerow.limits import BRIEF_READS_MAX
from widerow.storage.interface import Outcome, Snapshot, Store, Transaction, Write
from widerow.storage.memory import MemoryStore

T = TypeVar("T")

END: Final = b"\x10share"  # the smallest key above the shard
OTHER: Final = b"\x10other"
BESIDE: Final = b"\x13shard"  # of the same shard, which prefixes differ from in the first byte
MANY: Final = 2500  # more than any driver reads at once


def put_all(store: Store, pairs: dict[bytes, bytes]) -> None:
    def body(transaction: Transaction) -> None:
        for name, value in pairs.items():
            transaction.put(name, value)

    store.transact((b"",), body)


def everything(store: Store) -> list[tuple[bytes, bytes]]:
    return list(store.snapshot().scan(b"", b"\xff" * 8))


# --- rule 1: order -------------------------------------------------------------------------------


def keys_are_ordered_as_unsigned_bytes_shorter_first(store: Store) -> None:
    names = [SHARD, SHARD + b"\x00", SHARD + b"\x00\x00", SHARD + b"\x01", SHARD + b"\x7f"]
    names += [SHARD + b"\x80", SHARD + b"\x80\x00", SHARD + b"\xff", SHARD + b"\xff\xff", END]
    put_all(store, dict.fromkeys(reversed(names), b"v"))
    assert [name for name, _ in store.snapshot().scan(SHARD, END + b"\x00")] == names
    backwards = store.snapshot().scan(SHARD, END + b"\x00", reverse=True)
    assert [name for name, _ in backwards] == names[::-1]


def bounds_are_inclusive_below_and_exclusive_above(store: Store) -> None:
    put_all(store, {key(number): b"%d" % number for number in range(5)})
    view = store.snapshot()
    assert [value for _, value in view.scan(key(1), key(3))] == [b"1", b"2"]
    assert [value for _, value in view.scan(key(1), key(3), reverse=True)] == [b"2", b"1"]
    between = (key(1) + b"\x00", key(3) + b"\x00")
    assert [value for _, value in view.scan(*between)] == [b"2", b"3"]
    assert [value for _, value in view.scan(*between, reverse=True)] == [b"3", b"2"]


def ranges_that_hold_nothing_are_empty(store: Store) -> None:
    put_all(store, {key(1): b"1", key(3): b"3"})

    def body(transaction: Transaction) -> None:
        for reader in (store.snapshot(), transaction):
            for start, stop in ((2, 3), (1, 1), (3, 1), (4, 9), (0, 1)):
                for reverse in (False, True):
                    assert list(reader.scan(key(start), key(stop), reverse=reverse)) == []
        transaction.delete_range(key(3), key(1))
        transaction.delete_range(key(1), key(1))
        assert transaction.get(key(1)) == b"1"

    store.transact((SHARD,), body)
    assert everything(store) == [(key(1), b"1"), (key(3), b"3")]


def long_scans_return_every_key_once(store: Store) -> None:
    put_all(store, {key(number): b"%d" % number for number in range(MANY)})
    expected = [(key(number), b"%d" % number) for number in range(MANY)]
    assert list(store.snapshot().scan(SHARD, END)) == expected
    assert list(store.snapshot().scan(SHARD, END, reverse=True)) == expected[::-1]


# --- values --------------------------------------------------------------------------------------


def empty_values_are_not_absent_values(store: Store) -> None:
    put_all(store, {key(1): b""})
    assert store.snapshot().get_many([key(1), key(2)]) == [b"", None]
    assert everything(store) == [(key(1), b"")]


def the_wait_until_a_group_is_durable_is_part_of_its_time(store: Store) -> None:
    started_ns = time.monotonic_ns()
    put_all(store, {key(1): b"1"})
    assert 0 <= store.durable_ns <= time.monotonic_ns() - started_ns


def get_many_answers_in_the_order_asked(store: Store) -> None:
    put_all(store, {key(1): b"1", key(2): b"2"})
    asked = [key(2), key(9), key(1), key(2)]
    assert store.snapshot().get_many(asked) == [b"2", None, b"1", b"2"]
    assert store.snapshot().get_many([]) == []


def get_many_reads_the_view_and_not_what_came_later(store: Store) -> None:
    put_all(store, {key(1): b"1", key(2): b"2"})
    view, asked = store.snapshot(), [key(3), key(2), key(1), key(2)]
    assert view.get_many([]) == []
    assert view.get_many(asked) == [None, b"2", b"1", b"2"]

    def body(transaction: Transaction) -> None:
        transaction.delete(key(1))
        transaction.put(key(2), b"new")
        transaction.put(key(3), b"new")
        assert view.get_many(asked) == [None, b"2", b"1", b"2"]

    store.transact((SHARD,), body)
    assert view.get_many(asked) == [None, b"2", b"1", b"2"]
    assert store.snapshot().get_many(asked) == [b"new", b"new", None, b"new"]


def values_of_four_megabytes_come_back_whole(store: Store) -> None:
    large = bytes(range(256)) * (4 * 1024 * 4)
    put_all(store, {key(1): large, key(2): large[::-1]})
    assert store.snapshot().get(key(1)) == large
    assert everything(store) == [(key(1), large), (key(2), large[::-1])]


def scans_hold_little_however_much_they_pass(store: Store) -> None:
    for number in range(32):
        put_all(store, {key(number): bytes(1024 * 1024)})
    for reverse in (False, True):
        scan = store.snapshot().scan(SHARD, END, reverse=reverse)
        tracemalloc.start()
        try:
            assert sum(len(value) for _, value in scan) == 32 * 1024 * 1024
            assert tracemalloc.get_traced_memory()[1] < 6 * 1024 * 1024
        finally:
            tracemalloc.stop()


# --- rule 5: bodies see their own writes and those of the bodies before them ----------------------


def bodies_see_their_own_writes(store: Store) -> None:
    put_all(store, {key(number): b"old" for number in range(6)})

    def body(transaction: Transaction) -> None:
        transaction.put(key(1), b"new")
        transaction.delete(key(2))
        transaction.put(key(7), b"new")
        transaction.delete(key(8))
        asked = [key(number) for number in (0, 1, 2, 7, 8)]
        seen = [b"old", b"new", None, b"new", None]
        assert [transaction.get(name) for name in asked] == seen
        assert transaction.get_many(asked) == seen
        pairs = list(transaction.scan(SHARD, END))
        assert [name[-1] for name, _ in pairs] == [0, 1, 3, 4, 5, 7]
        assert dict(pairs)[key(1)] == b"new"
        assert list(transaction.scan(SHARD, END, reverse=True)) == pairs[::-1]

    store.transact((SHARD,), body)
    assert [name[-1] for name, _ in everything(store)] == [0, 1, 3, 4, 5, 7]


def removed_ranges_stay_removed_until_put_again(store: Store) -> None:
    put_all(store, {key(number): b"old" for number in range(10)})

    def body(transaction: Transaction) -> None:
        transaction.put(key(4), b"lost")
        transaction.delete_range(key(2), key(8))
        assert transaction.get_many([key(1), key(2), key(4), key(8)]) == [
            b"old",
            None,
            None,
            b"old",
        ]
        transaction.put(key(5), b"new")
        transaction.delete_range(key(6), key(9))
        assert transaction.get(key(5)) == b"new"
        pairs = list(transaction.scan(SHARD, END))
        assert [name[-1] for name, _ in pairs] == [0, 1, 5, 9]
        assert list(transaction.scan(SHARD, END, reverse=True)) == pairs[::-1]

    store.transact((SHARD,), body)
    left = everything(store)
    assert [name[-1] for name, _ in left] == [0, 1, 5, 9]
    assert dict(left)[key(5)] == b"new"


def later_bodies_of_a_group_see_earlier_ones(store: Store) -> None:
    put_all(store, {key(number): b"0" for number in range(4)})

    def first(transaction: Transaction) -> bytes | None:
        transaction.put(key(0), b"1")
        transaction.delete_range(key(2), key(4))
        return transaction.get(key(0))

    def second(transaction: Transaction) -> bytes | None:
        assert [name[-1] for name, _ in transaction.scan(SHARD, END, reverse=True)] == [1, 0]
        transaction.put(key(3), b"2")
        return transaction.get(key(0))

    def third(transaction: Transaction) -> bytes | None:
        assert transaction.get_many([key(2), key(3)]) == [None, b"2"]
        return transaction.get(key(3))

    outcomes = store.transact_group([Write((SHARD,), body) for body in (first, second, third)])
    assert outcomes == [Outcome(b"1", None), Outcome(b"1", None), Outcome(b"2", None)]
    assert [(name[-1], value) for name, value in everything(store)] == [
        (0, b"1"),
        (1, b"0"),
        (3, b"2"),
    ]


def scans_go_on_while_the_body_writes_elsewhere(store: Store) -> None:
    put_all(store, {key(number): b"v" for number in range(MANY)})

    def body(transaction: Transaction) -> int:
        count = 0
        for name, value in transaction.scan(SHARD, END):
            transaction.put(BESIDE + name, value)
            count += 1
        return count

    assert store.transact((SHARD, BESIDE), body) == MANY
    assert len(everything(store)) == 2 * MANY


def groups_without_writes_are_allowed(store: Store) -> None:
    assert store.transact_group([]) == []
    assert store.transact((SHARD,), lambda transaction: transaction.get(key(1))) is None
    assert store.transact((), lambda _: 7) == 7


# --- rule 6: atomicity ---------------------------------------------------------------------------


def failing_bodies_leave_nothing_behind(store: Store) -> None:
    put_all(store, {key(1): b"old", key(2): b"old"})

    def failing(transaction: Transaction) -> None:
        transaction.put(key(1), b"bad")
        transaction.delete_range(key(2), key(9))
        transaction.put(key(3), b"bad")
        raise LookupError("refused")

    def sound(transaction: Transaction) -> list[bytes | None]:
        transaction.put(key(4), b"good")
        return transaction.get_many([key(1), key(2), key(3)])

    outcomes = store.transact_group([Write((SHARD,), body) for body in (sound, failing, sound)])
    assert isinstance(outcomes[1].error, LookupError)
    assert [outcomes[index].result for index in (0, 2)] == [[b"old", b"old", None]] * 2
    assert [value for _, value in everything(store)] == [b"old", b"old", b"good"]
    with pytest.raises(LookupError, match="refused"):
        store.transact((SHARD,), failing)


def interrupts_pass_through_and_forget_the_group(store: Store) -> None:
    def interrupted(transaction: Transaction) -> None:
        transaction.put(key(1), b"1")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.transact((SHARD,), interrupted)
    assert everything(store) == []
    put_all(store, {key(2): b"2"})
    assert everything(store) == [(key(2), b"2")]


# --- rule 4: readers see finished groups only ----------------------------------------------------


def readers_see_no_unfinished_group(store: Store) -> None:
    put_all(store, {key(1): b"old"})

    def first(transaction: Transaction) -> None:
        transaction.put(key(1), b"new")
        transaction.put(key(2), b"new")

    def second(transaction: Transaction) -> None:
        assert transaction.get(key(2)) == b"new"
        assert store.snapshot().get_many([key(1), key(2)]) == [b"old", None]
        assert everything(store) == [(key(1), b"old")]

    outcomes = store.transact_group([Write((SHARD,), first), Write((SHARD,), second)])
    assert [outcome.error for outcome in outcomes] == [None, None]
    assert store.snapshot().get_many([key(1), key(2)]) == [b"new", b"new"]


def snapshots_do_not_move(store: Store) -> None:
    put_all(store, {key(number): b"old" for number in range(MANY)})
    before = everything(store)
    view = store.snapshot()
    started = [view.scan(SHARD, END), view.scan(SHARD, END, reverse=True)]
    heads = [[next(scan) for _ in range(20)] for scan in started]

    def body(transaction: Transaction) -> None:
        transaction.delete_range(key(100), key(2000))
        for number in (3, 500, MANY - 1, MANY + 1):
            transaction.put(key(number), b"new")
        transaction.delete(key(4))

    for _ in range(3):
        store.transact((SHARD,), body)
    assert view.get_many([key(3), key(4), key(100), key(MANY + 1)]) == [
        b"old",
        b"old",
        b"old",
        None,
    ]
    assert list(view.scan(SHARD, END)) == before
    assert list(view.scan(SHARD, END, reverse=True)) == before[::-1]
    assert heads[0] + list(started[0]) == before
    assert heads[1] + list(started[1]) == before[::-1]
    assert len(everything(store)) == MANY - 1900 - 1 + 2


# --- rule 2: the shard ---------------------------------------------------------------------------


def keys_outside_the_shards_are_refused(store: Store) -> None:
    outside: list[Callable[[Transaction], object]] = [
        lambda transaction: transaction.get(OTHER),
        lambda transaction: transaction.get_many([key(1), OTHER]),
        lambda transaction: transaction.put(OTHER, b""),
        lambda transaction: transaction.put(SHARD[:-1], b""),
        lambda transaction: transaction.put(END, b""),
        lambda transaction: transaction.delete(OTHER),
        lambda transaction: transaction.delete_range(OTHER, END),
        lambda transaction: transaction.delete_range(key(1), END + b"\x00"),
        lambda transaction: transaction.delete_range(SHARD[:-1], key(1)),
        lambda transaction: transaction.scan(OTHER, END),
        lambda transaction: transaction.scan(key(1), b"\xff"),
    ]
    for step in outside:
        with pytest.raises(ValueError, match="outside the shards"):
            store.transact((SHARD,), step)
    assert everything(store) == []


def keys_to_read_are_read_and_not_changed(store: Store) -> None:  # rule 12
    put_all(store, {OTHER: b"1", OTHER + b"x": b"2"})
    denied: list[Callable[[Transaction], object]] = [
        lambda transaction: transaction.put(OTHER, b""),
        lambda transaction: transaction.delete(OTHER),
        lambda transaction: transaction.delete_range(OTHER, OTHER + b"\x00"),
        lambda transaction: transaction.scan(OTHER, OTHER + b"\x00"),
        lambda transaction: transaction.get(OTHER + b"x"),
        lambda transaction: transaction.get_many([key(1), OTHER + b"x"]),
    ]

    def body(transaction: Transaction) -> None:
        assert transaction.get(OTHER) == b"1"
        assert transaction.get(OTHER + b"absent") is None
        assert transaction.get_many([OTHER, key(1)]) == [b"1", None]
        for step in denied:
            with pytest.raises(ValueError, match=r"outside the shards|read alone"):
                step(transaction)
        transaction.put(key(1), b"v")

    write = Write((SHARD,), body, reads=(OTHER, OTHER + b"absent"))
    assert [outcome.error for outcome in store.transact_group([write])] == [None]
    assert everything(store) == [(OTHER, b"1"), (OTHER + b"x", b"2"), (key(1), b"v")]


def ranges_may_end_where_their_shard_ends(store: Store) -> None:
    put_all(store, {SHARD: b"1", SHARD + b"\xff\xff": b"2", END: b"3", b"\x10\xff\xff9": b"4"})

    def body(transaction: Transaction) -> None:
        assert len(list(transaction.scan(SHARD, END))) == 2
        transaction.delete_range(SHARD, END)

    store.transact((SHARD,), body)
    # The end of a prefix that ends with FF is the increment of what comes before.
    store.transact((b"\x10\xff\xff",), lambda inside: inside.delete_range(b"\x10\xff\xff", b"\x11"))
    assert everything(store) == [(END, b"3")]


def writes_may_name_several_shards(store: Store) -> None:
    def body(transaction: Transaction) -> None:
        transaction.put(SHARD + b"a", b"1")
        transaction.put(OTHER + b"b", b"2")
        with pytest.raises(ValueError, match="outside the shards"):
            transaction.scan(OTHER, END)  # from one shard into the other

    store.transact((SHARD, OTHER), body)
    assert everything(store) == [(OTHER + b"b", b"2"), (SHARD + b"a", b"1")]


def transactions_are_dead_after_their_body(store: Store) -> None:
    kept: list[Transaction] = []
    store.transact((SHARD,), kept.append)
    with pytest.raises(ValueError, match="over"):
        kept[0].put(key(1), b"late")
    with pytest.raises(ValueError, match="over"):
        kept[0].get(key(1))
    assert everything(store) == []


# --- rule 10: threads ----------------------------------------------------------------------------


def run_threads(*targets: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def guarded(target: Callable[[], None]) -> None:
        try:
            target()
        except BaseException as error:  # noqa: BLE001  # handed to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def concurrent_writes_all_land(store: Store) -> None:
    def increment(transaction: Transaction) -> None:
        transaction.put(key(1), b"%d" % (int(transaction.get(key(1)) or b"0") + 1))

    def writer() -> None:
        for _ in range(25):
            store.transact((SHARD,), increment)

    run_threads(writer, writer, writer, writer)
    assert store.snapshot().get(key(1)) == b"100"


def readers_see_whole_groups_in_order(store: Store) -> None:
    names = [key(number) for number in range(60)]
    put_all(store, dict.fromkeys(names, b"0"))
    done = threading.Event()

    def writer() -> None:
        try:
            for turn in range(1, 60):
                put_all(store, dict.fromkeys(names, b"%d" % turn))
        finally:
            done.set()

    def reader() -> None:
        turns = [0]
        while not done.is_set() or len(turns) < 3:
            view = store.snapshot()
            values = view.get_many(names[::7])
            values += [value for _, value in view.scan(SHARD, END)]
            values += [value for _, value in view.scan(SHARD, END, reverse=True)]
            assert len(set(values)) == 1
            turns.append(int(values[0] or b"-1"))
        assert all(earlier <= later for earlier, later in pairwise(turns))

    run_threads(writer, reader, reader)


def brief_snapshots_show_one_moment_or_say_so(store: Store) -> None:
    """What the first read gave and what a later one gives belong together, or the reader begins
    again, and then succeeds."""
    names = [key(number) for number in range(30)]
    put_all(store, dict.fromkeys(names, b"0"))
    first_reads: Sequence[Callable[[Snapshot], list[bytes | None]]] = (
        lambda view: view.get_many(names[::7]),
        lambda view: [value for _, value in view.scan(SHARD, END)],
        lambda view: [value for _, value in view.scan(SHARD, END, reverse=True)],
    )
    for turn, first_read in enumerate(first_reads, 1):
        told = b"%d" % turn
        for attempt in range(BRIEF_READS_MAX):
            view = store.brief_snapshot(len(names) + 1)
            values = first_read(view)
            if attempt == 0:
                put_all(store, dict.fromkeys(names, told))
            try:
                values += [value for _, value in view.scan(SHARD, END)] + view.get_many(names)
            except ViewLost:
                with pytest.raises(ViewLost):
                    view.get(names[0])
                continue
            assert len(set(values)) == 1
            break
        else:
            raise AssertionError("a reader that begins again is lost again and again")
        assert store.brief_snapshot().get(names[0]) == told


def keys_are_read_together(store: Store) -> None:
    put_all(store, {key(1): b"1", key(3): b""})
    assert store.get_together([key(3), key(2), key(1)]) == [b"", None, b"1"]
    put_all(store, {key(1): b"2"})
    assert store.get_together([key(1)]) == [b"2"]


# --- the end -------------------------------------------------------------------------------------


def closed_stores_refuse_everything(store: Store) -> None:
    put_all(store, {key(1): b"1"})
    view = store.snapshot()
    scan = view.scan(SHARD, END)
    writable = [store.writable]
    store.close()
    store.close()
    writable.append(store.writable)
    assert writable == [True, False]
    uses: list[Callable[[], object]] = [
        store.snapshot,
        store.statistics,
        lambda: put_all(store, {key(2): b"2"}),
        lambda: view.get(key(1)),
        lambda: view.get_many([key(1)]),
        lambda: next(scan),
    ]
    for use in uses:
        with pytest.raises(StorageFailure, match="closed"):
            use()


def distrusted_stores_take_no_writes_and_answer_reads(store: Store) -> None:  # rule 11
    put_all(store, {key(1): b"1"})
    store.distrust("a record says so")
    store.distrust("another one too")
    assert not store.writable
    for _ in range(2):
        with pytest.raises(StorePoisoned, match="a record says so"):
            put_all(store, {key(1): b"2"})
    assert store.snapshot().get(key(1)) == b"1"
    assert store.statistics()["groups"] == 1


def statistics_count_groups_and_writes(store: Store) -> None:
    before = store.statistics()
    store.transact_group([Write((SHARD,), lambda inside: inside.put(key(1), bytes(100_000)))] * 3)
    after = store.statistics()
    assert after["groups"] - before["groups"] == 1
    assert after["writes"] - before["writes"] == 3
    assert after["syncs"] - before["syncs"] == int(store.capabilities.persistent)
    size = "written_bytes" if "written_bytes" in after else "bytes"  # across a network, or here
    assert after[size] >= before[size] + 100_000
    store.transact((SHARD,), lambda inside: inside.get(key(1)))
    assert store.statistics()["syncs"] == after["syncs"]


def _put_one(name: bytes, value: bytes, inside: Transaction) -> None:
    inside.put(name, value)


def what_a_snapshot_shows_is_of_one_moment(store: Store) -> None:
    """Also of shards that it reads late, however much was written in between."""

    def put_both(value: bytes) -> None:
        for name in (SHARD, OTHER):
            store.transact((name,), partial(_put_one, name, value))

    put_both(b"old")
    view = store.snapshot()
    assert view.get(SHARD) == b"old"
    for value in (b"1", b"2", b"3"):
        put_both(value)
    assert view.get_many((SHARD, OTHER)) == [b"old", b"old"]
    assert [value for _, value in view.scan(b"", b"\xff")] == [b"old", b"old"]


CHECKS: Final[Sequence[Callable[[Store], None]]] = (
    keys_are_ordered_as_unsigned_bytes_shorter_first,
    bounds_are_inclusive_below_and_exclusive_above,
    ranges_that_hold_nothing_are_empty,
    long_scans_return_every_key_once,
    empty_values_are_not_absent_values,
    the_wait_until_a_group_is_durable_is_part_of_its_time,
    get_many_answers_in_the_order_asked,
    get_many_reads_the_view_and_not_what_came_later,
    values_of_four_megabytes_come_back_whole,
    scans_hold_little_however_much_they_pass,
    bodies_see_their_own_writes,
    removed_ranges_stay_removed_until_put_again,
    later_bodies_of_a_group_see_earlier_ones,
    scans_go_on_while_the_body_writes_elsewhere,
    groups_without_writes_are_allowed,
    failing_bodies_leave_nothing_behind,
    interrupts_pass_through_and_forget_the_group,
    readers_see_no_unfinished_group,
    snapshots_do_not_move,
    brief_snapshots_show_one_moment_or_say_so,
    keys_are_read_together,
    keys_outside_the_shards_are_refused,
    keys_to_read_are_read_and_not_changed,
    ranges_may_end_where_their_shard_ends,
    writes_may_name_several_shards,
    transactions_are_dead_after_their_body,
    concurrent_writes_all_land,
    readers_see_whole_groups_in_order,
    closed_stores_refuse_everything,
    distrusted_stores_take_no_writes_and_answer_reads,
    what_a_snapshot_shows_is_of_one_moment,
    statistics_count_groups_and_writes,
)


# What is promised where `capabilities.atomic_across_shards` only: groups that happen as a whole. A
# driver that does not declare it may give it for some groups.
WHOLE_GROUPS: Final = (readers_see_no_unfinished_group,)
# And writes of several shards, which it must refuse.
ACROSS_SHARDS: Final = (writes_may_name_several_shards,)
# What is promised where `capabilities.shows_one_moment` only.
ONE_MOMENT: Final = (what_a_snapshot_shows_is_of_one_moment,)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("opener", DRIVERS)
def test_driver_keeps_the_contract(
    check: Callable[[Store], None], opener: Callable[[Path], Store], tmp_path: Path
) -> None:
    with opener(tmp_path / "store") as store:
        atomic = store.capabilities.atomic_across_shards
        if check in ONE_MOMENT and not store.capabilities.shows_one_moment:
            return
        if check in ACROSS_SHARDS and not atomic:
            with pytest.raises((AssertionError, ValueError)):
                check(store)  # it declares less than it gives, otherwise
        elif atomic or check not in WHOLE_GROUPS:
            check(store)


# --- controls: drivers that break one rule each --------------------------------------------------


class OneGroupEach(MemoryStore):
    """Publishes every body of a group by itself."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        return [super(OneGroupEach, self).transact_group([write])[0] for write in writes]


class LastFirst(MemoryStore):
    """Runs the bodies of a group in the wrong order."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        return super().transact_group(writes[::-1])[::-1]


class NoShards(MemoryStore):
    """Lets a body touch anything."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        return super().transact_group([Write((b"",), write.run) for write in writes])


class ReadsAnything(MemoryStore):
    """Lets a body read keys that its write does not name."""

    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        view, wider = self.snapshot(), list[Write[T]]()
        for write in writes:
            reads = tuple(name for name, _ in view.scan(b"", b"\xff" * 8))
            wider.append(Write(write.shards, write.run, reads=reads))
        return super()._run_group(wider)


class KeepsFailures(MemoryStore):
    """Commits what a body wrote before it raised."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        errors: dict[int, Exception] = {}

        def caught(index: int, transaction: Transaction) -> T | None:
            try:
                return writes[index].run(transaction)
            except Exception as error:  # noqa: BLE001  # kept as the body's outcome
                errors[index] = error
                return None

        def wrapped(index: int) -> Callable[[Transaction], T | None]:
            return lambda transaction: caught(index, transaction)

        kept = super().transact_group(
            [Write(write.shards, wrapped(index)) for index, write in enumerate(writes)]
        )
        return [Outcome(outcome.result, errors.get(index)) for index, outcome in enumerate(kept)]


class Latest:
    """A snapshot that always reads the newest view; scans come in the order `sort_key` gives."""

    def __init__(self, newest: Callable[[], Snapshot], sort_key: Callable[[bytes], object]) -> None:
        self.newest, self.sort_key = newest, sort_key

    def get(self, name: bytes) -> bytes | None:
        return self.newest().get(name)

    def get_many(self, names: Sequence[bytes]) -> list[bytes | None]:
        return [self.get(name) for name in names]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        pairs = list(self.newest().scan(start, stop))
        pairs.sort(key=lambda pair: self.sort_key(pair[0]), reverse=reverse)  # type: ignore[arg-type, return-value]  # the controls give keys that compare
        return iter(pairs)


class MovingSnapshots(MemoryStore):
    """Shows readers what happened after they took their view."""

    def snapshot(self) -> Snapshot:  # type: ignore[override]  # broken on purpose
        return Latest(super().snapshot, bytes)


class MovingBriefly(MemoryStore):
    """Shows readers of brief snapshots what happened after their first read."""

    def brief_snapshot(self, rows: int = 0) -> Snapshot:
        del rows
        return Latest(self.snapshot, bytes)


class ReadsTogetherOnce(MemoryStore):
    """Keeps what was read together."""

    def get_together(self, keys: Sequence[bytes]) -> list[bytes | None]:
        self.kept = getattr(self, "kept", {}) or dict(
            zip(keys, super().get_together(keys), strict=True)
        )
        return [self.kept[name] for name in keys]


class ShorterFirst(MemoryStore):
    """Orders keys by their length before their bytes, and holds a whole scan at once."""

    def snapshot(self) -> Snapshot:  # type: ignore[override]  # broken on purpose
        fixed = super().snapshot()
        return Latest(lambda: fixed, lambda name: (len(name), name))


class RunsTwice(MemoryStore):
    """Commits every group a second time."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        late = [super(RunsTwice, self).transact_group(writes) for _ in range(2)]
        return late[0]


CONTROLS: Final[Sequence[tuple[type[MemoryStore], Callable[[Store], None]]]] = (
    (OneGroupEach, readers_see_no_unfinished_group),
    (OneGroupEach, statistics_count_groups_and_writes),
    (LastFirst, later_bodies_of_a_group_see_earlier_ones),
    (NoShards, keys_outside_the_shards_are_refused),
    (ReadsAnything, keys_to_read_are_read_and_not_changed),
    (KeepsFailures, failing_bodies_leave_nothing_behind),
    (MovingSnapshots, snapshots_do_not_move),
    (MovingBriefly, brief_snapshots_show_one_moment_or_say_so),
    (ReadsTogetherOnce, keys_are_read_together),
    (ShorterFirst, keys_are_ordered_as_unsigned_bytes_shorter_first),
    (RunsTwice, concurrent_writes_all_land),
)


@pytest.mark.parametrize(("broken", "check"), CONTROLS)
def test_broken_driver_is_caught(broken: type[MemoryStore], check: Callable[[Store], None]) -> None:
    with (
        broken() as store,
        pytest.raises((AssertionError, pytest.fail.Exception, StopIteration)),
    ):
        check(store)
