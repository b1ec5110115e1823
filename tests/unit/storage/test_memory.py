"""What only the reference driver does: versions, and when they go (storage/memory.py)."""

from functools import partial
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from widerow.storage.interface import Transaction
from widerow.storage.memory import MemoryStore

SHARD: Final = (b"k",)


def put(store: MemoryStore, name: bytes, value: bytes) -> None:
    store.transact(SHARD, lambda transaction: transaction.put(name, value))


def test_versions_go_when_nobody_looks_at_them() -> None:
    store = MemoryStore()
    for turn in range(20):
        put(store, b"k", b"%d" % turn)
    assert store.statistics()["versions"] == 1
    held = store.snapshot()
    for turn in range(20, 40):
        put(store, b"k", b"%d" % turn)
    assert held.get(b"k") == b"19"
    assert store.statistics()["versions"] == 21
    del held
    put(store, b"kother", b"")
    assert store.statistics()["versions"] == 2


def test_deleted_keys_go_altogether() -> None:
    store = MemoryStore()
    for number in range(10):
        put(store, b"k%d" % number, b"v")
    held = store.snapshot()
    store.transact(SHARD, lambda transaction: transaction.delete_range(b"k2", b"k9"))
    store.transact(SHARD, lambda transaction: transaction.delete(b"k1"))
    store.transact(SHARD, lambda transaction: transaction.delete(b"kabsent"))
    assert len(list(held.scan(b"k", b"l"))) == 10
    assert store.statistics()["keys"] == 10
    del held
    put(store, b"k0", b"w")
    counted = store.statistics()
    assert (counted["keys"], counted["versions"]) == (2, 2)
    assert counted["bytes"] == len(b"k0wk9v")


@given(
    history=st.lists(
        st.dictionaries(st.sampled_from([b"ka", b"kb", b"kc"]), st.none() | st.binary(max_size=3)),
        max_size=12,
    )
)
def test_counts_are_those_of_what_is_there(history: list[dict[bytes, bytes | None]]) -> None:
    store = MemoryStore()
    held: list[object] = []

    def apply(transaction: Transaction, changes: dict[bytes, bytes | None]) -> None:
        for name, value in changes.items():
            if value is None:
                transaction.delete(name)
            else:
                transaction.put(name, value)

    for changes in history:
        store.transact(SHARD, partial(apply, changes=changes))
        held = [*held[-1:], store.snapshot()]
    held.clear()
    put(store, b"kz", b"")
    put(store, b"kz", b"")
    pairs = list(store.snapshot().scan(b"k", b"l"))
    counted = store.statistics()
    assert counted["bytes"] == sum(len(name) + len(value) for name, value in pairs)
    assert counted["keys"] == counted["versions"] == len(pairs)
