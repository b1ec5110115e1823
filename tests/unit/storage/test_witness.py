"""The note of how far a store has come, and what it refuses (DURABILITY.md, storage fails)."""

import shutil
from pathlib import Path

import pytest
from rocksdict import Rdict

from widerow.errors import StoreDamaged
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.storage.rocksdb import RocksDBStore
from widerow.storage.witness import Note, check_logs, read_note

SHARD = b"\x10s"


def put(store: Store, name: bytes, value: bytes = b"v") -> None:
    store.transact((SHARD,), lambda transaction: transaction.put(SHARD + name, value))


def engine_of(store: RocksDBStore) -> Rdict:
    assert store._engine is not None
    return store._engine


def test_every_group_is_noted_after_its_sync(tmp_path: Path) -> None:
    with RocksDBStore(tmp_path / "s", cache_bytes=1 << 20) as store:
        for number in range(3):
            put(store, b"%d" % number)
            note = read_note(tmp_path / "s")
            assert note is not None
            assert note.sequence == engine_of(store).latest_sequence_number()


def test_a_failed_sync_is_not_noted(tmp_path: Path) -> None:
    with RocksDBStore(tmp_path / "s", cache_bytes=1 << 20) as store:
        put(store, b"1")
        before = read_note(tmp_path / "s")
        store._failed("of course")
        assert read_note(tmp_path / "s") == before


def test_the_list_of_files_is_noted_as_it_grows(tmp_path: Path) -> None:
    with RocksDBStore(tmp_path / "s", cache_bytes=1 << 20) as store:
        put(store, b"1")
        first = read_note(tmp_path / "s")
        engine_of(store).flush()
        put(store, b"2")
        second = read_note(tmp_path / "s")
    assert first is not None
    assert second is not None
    assert second.manifest_bytes > first.manifest_bytes
    list_file = tmp_path / "s" / f"MANIFEST-{second.manifest:06d}"
    list_file.write_bytes(list_file.read_bytes()[: second.manifest_bytes - 1])
    with pytest.raises(StoreDamaged, match="older or shorter"):
        open_store(str(tmp_path / "s"))


def test_an_older_list_of_files_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "s"
    with open_store(str(place)) as store:
        put(store, b"1")
    current = (place / "CURRENT").read_bytes()
    old = place / current.decode().strip()
    content = old.read_bytes()
    with open_store(str(place)) as store:
        put(store, b"2")
    old.write_bytes(content)
    (place / "CURRENT").write_bytes(current)
    with pytest.raises(StoreDamaged, match="older or shorter"):
        open_store(str(place))


@pytest.mark.parametrize("place", [0, 8, 16, 24, 35])
def test_a_damaged_note_is_refused(place: int, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "s")) as store:
        put(store, b"1")
    file = tmp_path / "s" / "widerow-synced"
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(StoreDamaged, match="widerow-synced is damaged"):
        open_store(str(tmp_path / "s"))


@pytest.mark.parametrize("emptied", [True, False])
def test_a_store_without_a_note_gets_one(tmp_path: Path, *, emptied: bool) -> None:
    # Copies have none, and one that was just made may be lost with the power.
    with open_store(str(tmp_path / "s")) as store:
        put(store, b"1")
    file = tmp_path / "s" / "widerow-synced"
    if emptied:
        file.write_bytes(b"")
    else:
        file.unlink()
    assert read_note(tmp_path / "s") is None
    with open_store(str(tmp_path / "s")) as store:
        assert store.snapshot().get(SHARD + b"1") == b"v"
    assert read_note(tmp_path / "s") is not None


def test_a_note_that_is_late_is_right(tmp_path: Path) -> None:
    # It is not synced: after a loss of power it may be one of a while ago.
    with open_store(str(tmp_path / "s")) as store:
        put(store, b"1")
        late = (tmp_path / "s" / "widerow-synced").read_bytes()
        put(store, b"2")
    (tmp_path / "s" / "widerow-synced").write_bytes(late)
    with open_store(str(tmp_path / "s")) as store:
        assert store.snapshot().get(SHARD + b"2") == b"v"


@pytest.mark.parametrize("page", [0, 16 * 1024])  # there a record of the log begins
def test_zeros_in_front_of_synced_changes_are_damage(page: int, tmp_path: Path) -> None:
    """The engine takes such zeros for room that was never written, and says nothing."""
    with RocksDBStore(tmp_path / "s", cache_bytes=1 << 20) as store:
        for number in range(300):
            put(store, b"%05d" % number, b"v" * 100)
        copy = Path(shutil.copytree(tmp_path / "s", tmp_path / "copy"))
    (log,) = [each for each in copy.glob("*.log") if each.stat().st_size]
    content = bytearray(log.read_bytes())
    content[page : page + 4096] = bytes(4096)
    log.write_bytes(content)
    with pytest.raises(StoreDamaged, match="zeros where changes were"):
        open_store(str(copy))


def test_zeros_behind_all_changes_are_what_a_loss_of_power_leaves(tmp_path: Path) -> None:
    with RocksDBStore(tmp_path / "s", cache_bytes=1 << 20) as store:
        put(store, b"1")
        copy = Path(shutil.copytree(tmp_path / "s", tmp_path / "copy"))
    (log,) = [each for each in copy.glob("*.log") if each.stat().st_size]
    log.write_bytes(log.read_bytes() + bytes(40_000))
    with open_store(str(copy)) as opened:
        assert opened.snapshot().get(SHARD + b"1") == b"v"


def record(change: int) -> bytes:
    """A record of a log as the engine writes it, without its checksum."""
    content = change.to_bytes(8, "little") + bytes(50)
    return bytes(4) + len(content).to_bytes(2, "little") + b"\x01" + content


@pytest.mark.parametrize(
    ("synced", "damaged"), [(6, False), (7, True)], ids=["not synced", "synced"]
)
def test_zeros_at_the_end_of_a_log_are_damage_where_a_synced_change_follows(
    *, synced: int, damaged: bool, tmp_path: Path
) -> None:
    """Logs are read by their numbers: a million of them has one digit more."""
    (tmp_path / "999999.log").write_bytes(record(6) + bytes(300))
    (tmp_path / "1000000.log").write_bytes(record(7))
    note = Note(synced, 0, 0)
    if damaged:
        with pytest.raises(StoreDamaged, match=r"999999\.log has zeros where changes were"):
            check_logs(tmp_path, note)
    else:
        check_logs(tmp_path, note)


def test_a_log_that_is_gone_is_for_the_engine_to_name(tmp_path: Path) -> None:
    (tmp_path / "000001.log").symlink_to(tmp_path / "nowhere")
    check_logs(tmp_path, Note(9, 0, 0))
