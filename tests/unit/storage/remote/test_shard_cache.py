"""Shards that were written last are not read again (storage/remote/shard_cache.py)."""

from collections.abc import Sequence
from random import Random  # noqa: TID251  # seeded: a failure must repeat

import pytest
from tests.unit.storage.remote.test_optimistic import (
    A,
    B,
    Process,
    add,
    overtake,
    processes,
    trips,
)

from widerow.engine.in_order import in_order
from widerow.errors import Conflict, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import revision_key
from widerow.model.tablestore.rules import TablestoreRule
from widerow.storage.interface import Transaction, Write
from widerow.storage.remote.driver import ShardChange
from widerow.storage.remote.shard_cache import CONFIRMED_MIN, ShardCache

A_ROW = A + b"row"


def write(process: Process, *writes: Write[int]) -> int:
    """The round trips of a group."""
    return trips(process, lambda: process.store.transact_group(writes))


def trusted(process: Process, *shards: bytes) -> None:
    """Write some shards until they are not read any more."""
    for _ in range(CONFIRMED_MIN + 1):
        write(process, *map(add, shards))
    assert write(process, *map(add, shards)) == 1


def test_a_shard_that_is_written_again_and_again_is_read_no_more() -> None:
    process = processes(1)[0]
    assert [write(process, add(A)) for _ in range(5)] == [2, 2, 2, 1, 1]
    assert process.store.snapshot().get(A) == b"5"


def test_only_what_is_not_remembered_is_read() -> None:
    process = processes(1)[0]
    trusted(process, A)
    assert write(process, add(A), add(B)) == 2
    assert process.store.transact([A], lambda txn: txn.get(A_ROW)) is None
    assert write(process, add(A_ROW, A)) == 2  # another key of the shard
    assert write(process, add(A_ROW, A)) == 1
    assert write(process, add(A_ROW, A), add(A)) == 1


def test_what_others_have_written_is_seen() -> None:
    first, second = processes()
    trusted(first, A)
    write(second, add(A), add(B))
    before = int(first.store.snapshot().get(A) or b"0")
    assert first.store.transact_group([add(A)])[0].result == before + 1
    assert first.store.statistics()["conflicts"] == 1


def test_a_shard_that_was_remembered_wrongly_is_read_for_longer() -> None:
    first, second = processes()
    trusted(first, A)
    write(second, add(A))
    write(first, add(A))
    looks = [write(first, add(A)) for _ in range(300)]
    assert looks[: 4 * CONFIRMED_MIN] == [2] * 4 * CONFIRMED_MIN
    assert looks[-1] == 1


def test_nothing_is_relied_on_while_shards_turn_out_to_be_shared() -> None:
    """One shard that another process has written makes the commit of a whole group fail."""
    first, second = processes()
    shards = [A + b"%02d" % number for number in range(20)]
    trusted(first, *shards)
    random = Random(1)  # noqa: S311  # no secret
    for _ in range(400):
        chosen = random.sample(shards, 4)
        write(random.choice((first, second)), *map(add, chosen))
    for process in (first, second):
        counts = process.store.statistics()
        assert counts["conflicts"] < counts["groups"] / 20


def test_a_body_that_refuses_on_what_is_remembered_reads() -> None:
    """Nothing is committed then, so nobody would find out that it is wrong."""
    first, second = processes()
    trusted(first, A)
    second.store.transact([A], lambda txn: txn.put(A, b"gone"))

    def refuse_counts(txn: Transaction) -> None:
        if txn.get(A) != b"gone":
            raise Conflict(TablestoreRule.CONDITION_FAILED)

    first.store.transact([A], refuse_counts)
    assert first.store.transact([A], lambda txn: txn.get(A)) == b"gone"


def test_a_unit_that_leaves_one_of_its_shards_as_it_is_reads() -> None:
    """The commit says nothing of a shard that it does not change."""
    first, second = processes()
    trusted(first, A, B)
    write(second, add(A))
    count = int(second.store.snapshot().get(A) or b"0")
    read: Write[int] = Write((A,), lambda txn: int(txn.get(A) or b"0"))
    assert first.store.transact_group(in_order([read, add(B)]))[0].result == count


def test_a_removed_range_is_forgotten() -> None:
    process = processes(1)[0]
    trusted(process, A)
    process.store.transact([A], lambda txn: txn.delete_range(A, after_prefix(A)))
    assert process.store.transact_group([add(A)])[0].result == 1


def test_a_removed_key_is_known_to_be_absent() -> None:
    process = processes(1)[0]
    trusted(process, A)
    assert trips(process, lambda: process.store.transact([A], lambda txn: txn.delete(A))) == 1
    assert write(process, add(A)) == 1
    assert process.store.snapshot().get(A) == b"1"


def looking(*absent: bytes) -> Write[int]:
    """Count under A, and look whether anything stands under other keys of the shard."""

    def body(txn: Transaction) -> int:
        found = txn.get_many((*absent, A))
        count = int(found[-1] or b"0") + 1
        txn.put(A, b"%d" % (count if not any(found[:-1]) else 1000))
        return count

    return Write((A,), body)


def test_a_key_that_is_looked_at_and_absent_is_not_read_again() -> None:
    """Such as the lock of a shard, which nobody of this process has written."""
    process = processes(1)[0]
    assert [write(process, looking(A_ROW)) for _ in range(5)] == [2, 2, 2, 1, 1]
    assert write(process, looking(A_ROW, A + b"more")) == 2
    assert write(process, looking(A_ROW, A + b"more")) == 1


def test_an_absent_key_that_another_process_writes_is_seen() -> None:
    first, second = processes()
    for _ in range(CONFIRMED_MIN + 2):
        write(first, looking(A_ROW))
    second.store.transact([A], lambda txn: txn.put(A_ROW, b"here"))
    write(first, looking(A_ROW))
    assert second.store.snapshot().get(A) == b"1000"


def test_an_absent_key_that_the_change_itself_writes_is_there() -> None:
    process = processes(1)[0]

    def fill(txn: Transaction) -> None:
        if txn.get(A_ROW) is None:
            txn.put(A_ROW, b"here")

    for _ in range(CONFIRMED_MIN + 2):
        write(process, add(A))
    process.store.transact([A], fill)
    write(process, looking(A_ROW))
    assert process.store.snapshot().get(A) == b"1000"


def test_ranges_are_read() -> None:
    process = processes(1)[0]
    trusted(process, A)

    def count_keys(txn: Transaction) -> int:
        found = len(list(txn.scan(A, after_prefix(A))))
        txn.put(A, b"%d" % found)
        return found

    process.store.transact([A], lambda txn: txn.put(A_ROW, b"v"))
    assert process.store.transact([A], count_keys) == 2


def test_a_commit_that_the_database_does_not_take_is_run_again() -> None:
    process = processes(1)[0]
    trusted(process, A)
    before = int(process.store.snapshot().get(A) or b"0")

    def away() -> None:
        raise StoreBusy("away")

    overtake(process, away)
    assert process.store.transact_group([add(A)])[0].result == before + 1


# --- the memory by itself -------------------------------------------------------------------------

REVISIONS = [revision_key(shard) for shard in (A, B)]


def change(shard: bytes, expected: bytes | None, revision: bytes, value: bytes) -> ShardChange:
    return ShardChange(revision_key(shard), expected, revision, {shard: value})


def confirmed(cache: ShardCache, revisions: Sequence[bytes]) -> None:
    for _ in range(CONFIRMED_MIN):
        cache.read(dict.fromkeys(revisions, b"r"))


def test_what_is_remembered_is_bounded() -> None:
    cache = ShardCache()
    large = bytes(500_000)
    shards = [A + b"%04d" % number for number in range(200)]
    for shard in shards:
        cache.committed([change(shard, None, b"r", large)])
        confirmed(cache, [revision_key(shard)])
    kept = [shard for shard in shards if cache.of([revision_key(shard)]) is not None]
    assert 10 < len(kept) < 80
    assert kept[-1] == shards[-1]


def test_a_shard_that_grows_is_remembered_anew() -> None:
    cache = ShardCache()
    for number in range(10):
        put = {A + b"%d" % number: bytes(300_000)}
        cache.committed([ShardChange(REVISIONS[0], b"r" if number else None, b"r", put)])
    confirmed(cache, REVISIONS[:1])
    known = cache.of(REVISIONS[:1])
    assert known is not None
    assert 2 <= len(known) <= 6


@pytest.mark.parametrize("found", [b"other", None])
def test_a_revision_that_is_another_is_forgotten(found: bytes | None) -> None:
    cache = ShardCache()
    cache.committed([change(A, None, b"r", b"v"), change(B, None, b"r", b"v")])
    confirmed(cache, REVISIONS)
    assert cache.of(REVISIONS) == {A: b"v", B: b"v", **dict.fromkeys(REVISIONS, b"r")}
    cache.read({REVISIONS[0]: found})
    assert cache.of(REVISIONS) is None
    assert cache.of(REVISIONS[1:]) is not None


def test_a_change_of_what_was_not_known_says_what_it_put_only() -> None:
    cache = ShardCache()
    cache.committed([ShardChange(REVISIONS[0], None, b"q", {A_ROW: b"old"})])
    cache.committed([change(A, b"other", b"r", b"v")])
    confirmed(cache, REVISIONS[:1])
    assert cache.of(REVISIONS[:1]) == {A: b"v", REVISIONS[0]: b"r"}
