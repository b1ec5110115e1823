"""One directory, one process, and what was acknowledged is there (rules 3 and 9)."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from widerow.errors import StorageFailure, StoreDamaged, StoreFull, StoreLocked, StorePoisoned
from widerow.storage.directory import Acceptance, clear_damage_mark, noted_damage
from widerow.storage.interface import Store, Transaction
from widerow.storage.opener import open_store
from widerow.storage.rocksdb import RocksDBStore

SHARD: Final = b"\x10s"
MIB: Final = 1024 * 1024

# Commits `count` numbered keys, prints each once it is acknowledged, then dies without closing.
WRITER: Final = """
import os, sys
from pathlib import Path
from widerow.storage.opener import open_store
store = open_store(sys.argv[1])
for number in range(int(sys.argv[2])):
    name = b"\\x10s" + number.to_bytes(4, "big")
    store.transact((b"\\x10s",), lambda transaction: transaction.put(name, bytes(1000)))
    print(number, flush=True)
os._exit(9)
"""
OPENER: Final = """
import sys
from widerow.storage.opener import open_store
try:
    open_store(sys.argv[1])
except Exception as error:
    print(type(error).__name__, error)
"""


def child(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)  # noqa: S603  # this interpreter, our own program


def put(store: Store, name: bytes, value: bytes = b"v") -> None:
    store.transact((SHARD,), lambda transaction: transaction.put(SHARD + name, value))


def names(store: Store) -> list[bytes]:
    return [name[len(SHARD) :] for name, _ in store.snapshot().scan(SHARD, b"\x10t")]


def test_reopening_keeps_everything(tmp_path: Path) -> None:
    url = f"rocksdb:{tmp_path / 'deep' / 'er' / 'store'}"
    with open_store(url) as store:
        put(store, b"1")
        put(store, b"2")
        put(store, b"3", bytes(100_000))
    for _ in range(2):
        with open_store(url) as store:

            def body(transaction: Transaction) -> None:
                transaction.delete_range(SHARD + b"1", SHARD + b"3")
                transaction.put(SHARD + b"2", b"again")

            store.transact((SHARD,), body)
            assert names(store) == [b"2", b"3"]
            assert store.snapshot().get(SHARD + b"3") == bytes(100_000)


def test_killed_process_loses_nothing_acknowledged(tmp_path: Path) -> None:
    done = child(WRITER, f"rocksdb:{tmp_path / 's'}", "40")
    assert done.returncode == 9
    assert done.stdout.split() == [str(number) for number in range(40)]
    with open_store(f"rocksdb:{tmp_path / 's'}") as store:
        assert names(store) == [number.to_bytes(4, "big") for number in range(40)]


def test_torn_tail_of_the_log_loses_only_the_tail(tmp_path: Path) -> None:
    child(WRITER, f"rocksdb:{tmp_path / 's'}", "10")
    log = max((tmp_path / "s").glob("*.log"), key=lambda path: path.stat().st_size)
    whole = log.read_bytes()
    log.write_bytes(whole + whole[: len(whole) // 20])  # an eleventh write, half of it
    with open_store(f"rocksdb:{tmp_path / 's'}") as store:
        assert names(store) == [number.to_bytes(4, "big") for number in range(10)]


def test_last_write_that_a_loss_of_power_left_in_pieces_is_dropped(tmp_path: Path) -> None:
    # Its head reached the disk, and the length of the file; the rest reads as zeros.
    child(WRITER, f"rocksdb:{tmp_path / 's'}", "10")
    log = max((tmp_path / "s").glob("*.log"), key=lambda path: path.stat().st_size)
    whole = log.read_bytes()
    log.write_bytes(whole + whole[:7] + bytes(4096))
    for _ in range(2):
        with open_store(f"rocksdb:{tmp_path / 's'}") as store:
            assert names(store) == [number.to_bytes(4, "big") for number in range(10)]
            put(store, b"\x00\x00\x00\x09")


@pytest.mark.parametrize("place", [3, 30, 900])
def test_damage_in_the_middle_of_the_log_is_refused(place: int, tmp_path: Path) -> None:
    child(WRITER, f"rocksdb:{tmp_path / 's'}", "10")
    log = max((tmp_path / "s").glob("*.log"), key=lambda path: path.stat().st_size)
    content = bytearray(log.read_bytes())
    content[place] ^= 1
    log.write_bytes(content)
    with pytest.raises(StoreDamaged, match="left as it is"):
        open_store(f"rocksdb:{tmp_path / 's'}")
    assert log.read_bytes() == content


def test_log_that_lost_what_was_acknowledged_is_damage(tmp_path: Path) -> None:
    url = f"rocksdb:{tmp_path / 's'}"
    child(WRITER, url, "10")
    log = max((tmp_path / "s").glob("*.log"), key=lambda path: path.stat().st_size)
    log.write_bytes(log.read_bytes()[:-300])
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="ends at change 9, and 10 was acknowledged"):
            open_store(url)
    with open_store(url, acceptance=Acceptance.DAMAGED) as store:
        assert names(store) == [number.to_bytes(4, "big") for number in range(9)]
    with open_store(url) as store:
        put(store, b"accepted")


def test_second_opener_is_refused_in_this_and_in_other_processes(tmp_path: Path) -> None:
    url = f"rocksdb:{tmp_path / 's'}"
    with open_store(url) as store:
        with pytest.raises(StoreLocked, match="in use") as refusal:
            open_store(url)
        assert str(tmp_path / "s") in str(refusal.value)
        answer = child(OPENER, url).stdout
        assert answer.startswith("StoreLocked")
        assert str(tmp_path / "s") in answer
        put(store, b"1")
        assert names(store) == [b"1"]
    assert child(OPENER, url).stdout == ""


def test_closing_frees_the_directory_though_views_are_held(tmp_path: Path) -> None:
    url = f"rocksdb:{tmp_path / 's'}"
    store = open_store(url)
    for number in range(100):
        put(store, b"%03d" % number)
    view = store.snapshot()
    scan = view.scan(SHARD, b"\x10t")
    put(store, b"later")
    assert next(scan)[0] == SHARD + b"000"
    store.close()
    with open_store(url) as again:
        assert len(names(again)) == 101
    with pytest.raises(StorageFailure, match="closed"):
        list(scan)


def test_views_are_found_again_however_many_came_after_them(tmp_path: Path) -> None:
    # The store refers to views weakly: those that nobody holds must not add up.
    url = f"rocksdb:{tmp_path / 's'}"
    store = open_store(url)
    assert isinstance(store, RocksDBStore)
    held = []
    most = 0
    for number in range(600):
        put(store, b"%03d" % number)
        if number % 10 == 0:
            held.append(store.snapshot())
        most = max(most, len(store._views))
    assert most < 300
    store.close()
    open_store(url).close()
    for view in held:
        with pytest.raises(StorageFailure, match="closed"):
            view.get(SHARD)


def test_checkpoint_is_a_store_of_its_own(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with open_store(f"rocksdb:{tmp_path / 's'}") as store:
        put(store, b"1")
        store.checkpoint(copy)
        put(store, b"2")
        with pytest.raises(FileExistsError):
            store.checkpoint(copy)
        with open_store(f"rocksdb:{copy}") as other:
            assert names(other) == [b"1"]
            put(other, b"3")
        assert names(store) == [b"1", b"2"]


def test_checkpoint_into_nowhere_says_so(tmp_path: Path) -> None:
    with open_store(f"rocksdb:{tmp_path / 's'}") as store:
        put(store, b"1")
        with pytest.raises(StorageFailure, match="nowhere"):
            store.checkpoint(tmp_path / "nowhere" / "copy")
        put(store, b"2")


def test_memory_makes_no_checkpoints(tmp_path: Path) -> None:
    with open_store("memory:") as store:
        assert not store.capabilities.checkpoints
        with pytest.raises(NotImplementedError):
            store.checkpoint(tmp_path / "copy")


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*"])
def test_damaged_store_is_refused_and_left_alone(name: str, tmp_path: Path) -> None:
    url = f"rocksdb:{tmp_path / 's'}"
    with open_store(url) as store:
        put(store, b"1")
    (victim,) = (tmp_path / "s").glob(name)
    whole = victim.read_bytes()
    victim.write_bytes(b"\x00" * len(whole))
    with pytest.raises(StoreDamaged, match="left as it is"):
        open_store(url)
    victim.write_bytes(whole)
    with open_store(url) as store:
        assert names(store) == [b"1"]


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A store of 64 rows, of which a block does not match its checksum."""
    directory = tmp_path / "s"
    with open_store(str(directory)) as store:
        for number in range(64):
            put(store, b"%03d" % number, bytes(range(256)) * 16)
    (table,) = directory.glob("*.sst")
    content = bytearray(table.read_bytes())
    content[100] ^= 0xFF
    table.write_bytes(content)
    return directory


def test_damaged_block_ends_reads_with_an_error(damaged: Path) -> None:
    # The binding's own iterators end silently here; an answer that lacks rows is worse than none.
    with open_store(str(damaged)) as store:
        for reverse in (False, True):
            with pytest.raises(StoreDamaged, match="checksum"):
                list(store.snapshot().scan(SHARD, b"\x10t", reverse=reverse))
        with pytest.raises(StoreDamaged, match="checksum"):
            store.snapshot().get(SHARD + b"000")
        view = store.snapshot()
        for _ in range(2):
            with pytest.raises(StoreDamaged, match="checksum"):
                view.get_many([SHARD + b"063", SHARD + b"000"])
            view.pin()  # type: ignore[attr-defined]  # from here on it reads key by key
        assert store.snapshot().get(SHARD + b"063") is not None


def test_found_damage_ends_writes_and_is_remembered(damaged: Path) -> None:  # rule 11
    with open_store(str(damaged)) as store:
        put(store, b"new")
        store.distrust("checksum mismatch in 000009.sst")
        store.distrust("another")
        assert not store.writable
        with pytest.raises(StorePoisoned, match="checksum mismatch in"):
            put(store, b"later")
        assert store.snapshot().get(SHARD + b"new") == b"v"
    with pytest.raises(StoreDamaged, match=r"000009\.sst.*--accept-damaged-store"):
        open_store(str(damaged))


@pytest.mark.parametrize("acceptance", [Acceptance.NOTED, Acceptance.DAMAGED])
def test_who_accepts_damage_opens_a_store_with_a_note(
    damaged: Path, acceptance: Acceptance
) -> None:
    with open_store(str(damaged)) as store:
        store.distrust("damage")
    with open_store(str(damaged), acceptance=acceptance) as store:
        assert store.snapshot().get(SHARD + b"063") is not None
        put(store, b"new")
        store.distrust("more of it")
        assert store.writable is (acceptance is Acceptance.DAMAGED)


def test_a_note_that_is_taken_away_is_no_more(damaged: Path) -> None:
    with open_store(str(damaged)) as store:
        store.distrust("damage")
    assert noted_damage(damaged) == "damage"
    clear_damage_mark(damaged)
    assert noted_damage(damaged) is None
    open_store(str(damaged)).close()


def test_a_store_whose_log_is_gone_is_refused(tmp_path: Path) -> None:
    # The engine itself opens it, as if nothing had been written lately.
    directory = tmp_path / "s"
    child(WRITER, str(directory), "10")
    for log in directory.glob("*.log"):
        log.unlink()
    with pytest.raises(StoreDamaged, match="without its log"):
        open_store(str(directory))
    with open_store(str(directory), acceptance=Acceptance.DAMAGED) as store:
        assert names(store) == []


def test_damage_inside_the_log_is_refused_unless_accepted(tmp_path: Path) -> None:
    directory = tmp_path / "s"
    child(WRITER, str(directory), "10")
    log = max(directory.glob("*.log"), key=lambda path: path.stat().st_size)
    content = bytearray(log.read_bytes())
    content[3000] ^= 0xFF
    log.write_bytes(content)
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="left as it is"):
            open_store(str(directory))
    with open_store(str(directory), acceptance=Acceptance.DAMAGED) as store:
        assert 0 < len(names(store)) < 10


def test_full_disk_at_opening_still_reads(tmp_path: Path) -> None:
    url = f"rocksdb:{tmp_path / 's'}"
    with open_store(url) as store:
        put(store, b"1")
    with RocksDBStore(tmp_path / "s", cache_bytes=8 * MIB, room_floor_bytes=1 << 60) as store:
        assert names(store) == [b"1"]
        with pytest.raises(StoreFull):
            put(store, b"2")
