"""Failures by plan, before any function: here the steps of the RocksDB driver."""

import errno
from pathlib import Path

import pytest
from tests.support.faults import FaultPlan, engine_failure, os_failure

from widerow.errors import StorageFailure
from widerow.storage.opener import open_store
from widerow.storage.rocksdb import RocksDBStore, Steps

SHARD = b"\x10s"


def test_the_planned_call_fails_and_no_other() -> None:
    plan = FaultPlan({("write", 2): os_failure(errno.EIO)})
    write = plan.around("write", lambda text: text + "!")
    assert write("a") == "a!"
    with pytest.raises(OSError, match="Input/output error"):
        write("b")
    assert write("c") == "c!"
    assert (plan.calls["write"], plan.struck) == (3, [("write", 2)])


def test_faults_are_added_from_where_the_count_stands() -> None:
    plan = FaultPlan()
    plan.visit("sync")
    plan.add("sync", os_failure(errno.EIO), after=1)
    plan.visit("sync")
    with pytest.raises(OSError, match="Input/output error"):
        plan.visit("sync")
    plan.add("sync", os_failure(errno.EIO))
    plan.forget()
    plan.visit("sync")


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("kind", ["write", "sync"])
def test_whichever_step_of_a_commit_fails_nothing_acknowledged_is_lost(
    tmp_path: Path, kind: str, number: int
) -> None:
    # storage/interface.py, rules 3, 7 and 8
    for call in (1, 2, 4):
        directory = tmp_path / str(call)
        plan = FaultPlan({(kind, call): engine_failure(number)})
        steps = Steps(
            write=plan.around("write", Steps().write), sync=plan.around("sync", Steps().sync)
        )
        acknowledged: list[bytes] = []
        with RocksDBStore(directory, cache_bytes=1 << 20, steps=steps) as store:
            for name in (b"1", b"2", b"3", b"4", b"5"):
                key = SHARD + name
                try:
                    store.transact((SHARD,), lambda inside, key=key: inside.put(key, b"v"))  # type: ignore[misc]  # bound here, for this turn
                except StorageFailure:
                    assert len(acknowledged) >= call - 1
                else:
                    acknowledged.append(key)
            assert store.writable == (number == errno.ENOSPC)
        assert plan.struck == [(kind, call)]
        with open_store(f"rocksdb:{directory}") as store:
            found = {key for key, _ in store.snapshot().scan(b"", b"\xff")}
        assert found >= set(acknowledged)
        assert len(acknowledged) == (4 if number == errno.ENOSPC else call - 1)
