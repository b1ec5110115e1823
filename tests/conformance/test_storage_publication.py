"""Writes are told how they ended, as a part of the commit (storage/interface.py, rule 14)."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from tests.conformance.drivers import DRIVERS, SHARD, key

from widerow.storage.group import conclude
from widerow.storage.interface import Outcome, Store, Transaction, Write
from widerow.storage.memory import MemoryStore

T = TypeVar("T")


def writes_are_told_what_is_durable(store: Store) -> None:
    told: list[object] = []

    def settled(value: bytes) -> None:
        told.append(value)
        assert store.snapshot().get(SHARD + value) == value, "it is told before it is shown"
        assert threading.get_ident() == here

    def write(value: bytes) -> Write[bytes]:
        def body(transaction: Transaction) -> bytes:
            seen.append(list(told))
            transaction.put(SHARD + value, value)
            return value

        return Write((SHARD,), body, settled=settled, doubted=lambda: told.append("doubt"))

    def refused(_: Transaction) -> bytes:
        raise LookupError

    here, seen = threading.get_ident(), list[list[object]]()
    failing = Write((SHARD,), refused, settled=told.append, doubted=lambda: told.append("doubt"))
    store.transact_group([write(b"a"), failing, write(b"b")])
    assert told == [b"a", b"b"]
    assert not any(seen), "nothing is told before the group has ended"
    store.transact_group([write(b"c")])
    assert seen[-1] == [b"a", b"b"]


def the_next_group_starts_when_all_are_told(store: Store) -> None:
    settling, seen, told = threading.Event(), dict[int, int](), list[int]()

    def settled(number: int) -> None:
        if number == 0:
            settling.set()
            second.join(timeout=0.05)  # it cannot get ahead, however long it is given
        told.append(number)

    def write(number: int) -> Write[int]:
        def body(_: Transaction) -> int:
            seen[number] = len(told)
            return number

        return Write((SHARD,), body, settled=settled)

    def follow() -> None:
        settling.wait(timeout=5)
        store.transact_group([write(2)])

    second = threading.Thread(target=follow, daemon=True)
    second.start()
    store.transact_group([write(0), write(1)])
    second.join(timeout=5)
    assert seen == {0: 0, 1: 0, 2: 2}
    assert told == [0, 1, 2]


def interrupted_groups_are_doubted(store: Store) -> None:
    told: list[str] = []

    def interrupted(_: Transaction) -> None:
        raise KeyboardInterrupt

    def write(body: Callable[[Transaction], None], name: str) -> Write[None]:
        return Write(
            (SHARD,),
            body,
            settled=lambda _: told.append("settled"),
            doubted=lambda: told.append(name),
        )

    group = [write(lambda transaction: transaction.put(key(1), b""), "a"), write(interrupted, "b")]
    with pytest.raises(KeyboardInterrupt):
        store.transact_group(group)
    assert told == ["a", "b"]


CHECKS = (
    writes_are_told_what_is_durable,
    the_next_group_starts_when_all_are_told,
    interrupted_groups_are_doubted,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("opener", DRIVERS)
def test_driver_tells_its_writes(
    check: Callable[[Store], None], opener: Callable[[Path], Store], tmp_path: Path
) -> None:
    with opener(tmp_path / "store") as store:
        check(store)


# --- controls ------------------------------------------------------------------------------------


class TellsNobody(MemoryStore):
    """Leaves publication to whoever asked for the commit."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        with self._writing:
            return self._run_group(writes)


class SettlesEarly(MemoryStore):
    """Tells the writes before the group is committed."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        def told(write: Write[T]) -> Callable[[Transaction], T]:
            def body(transaction: Transaction) -> T:
                result = write.run(transaction)
                write.settle(result)
                return result

            return body

        return super().transact_group([Write(each.shards, told(each)) for each in writes])


class TellsLate(MemoryStore):
    """Tells the writes when the next group may have started."""

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        with self._writing:
            outcomes = self._run_group(writes)
        conclude(writes, outcomes)
        return outcomes


CONTROLS = (
    (TellsNobody, writes_are_told_what_is_durable),
    (TellsNobody, interrupted_groups_are_doubted),
    (SettlesEarly, writes_are_told_what_is_durable),
    (TellsLate, the_next_group_starts_when_all_are_told),
)


@pytest.mark.parametrize(("broken", "check"), CONTROLS)
def test_a_driver_that_tells_wrongly_is_caught(
    broken: type[MemoryStore], check: Callable[[Store], None]
) -> None:
    with broken() as store, pytest.raises((AssertionError, pytest.fail.Exception)):
        check(store)
