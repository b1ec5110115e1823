"""Which directories are taken for a store (storage/directory.py)."""

import shutil
from pathlib import Path

import pytest

from widerow.errors import StorageFailure, StoreDamaged
from widerow.storage.directory import free_bytes, holds_store, make_directory
from widerow.storage.opener import open_store


def test_absent_and_empty_directories_are_free(tmp_path: Path) -> None:
    assert not holds_store(tmp_path / "absent")
    assert not holds_store(tmp_path)
    (tmp_path / "lost+found").mkdir()
    assert not holds_store(tmp_path)


def test_store_is_known_by_its_current_file(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "s")):
        pass
    assert holds_store(tmp_path / "s")


def test_leftovers_of_a_creation_that_died_are_free(tmp_path: Path) -> None:
    for name in ("LOCK", "LOG", "LOG.old.17", "IDENTITY", "MANIFEST-000001", "000001.dbtmp"):
        (tmp_path / name).touch()
    (tmp_path / "rocksdict-config.json").write_text("")
    assert not holds_store(tmp_path)
    with open_store(str(tmp_path)) as store:
        store.transact((b"k",), lambda transaction: transaction.put(b"k", b"v"))
        assert store.snapshot().get(b"k") == b"v"


def test_strangers_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("text")
    with pytest.raises(StorageFailure, match=r"thesis\.txt"):
        open_store(str(tmp_path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_store_without_current_is_not_made_anew(tmp_path: Path) -> None:
    # The engine would create an empty store here and remove the tables as obsolete.
    with open_store(str(tmp_path / "s")) as store:
        store.transact((b"k",), lambda transaction: transaction.put(b"k", b"v"))
    current = tmp_path / "s" / "CURRENT"
    moved = current.rename(tmp_path / "CURRENT")
    with pytest.raises(StoreDamaged, match="CURRENT"):
        open_store(str(tmp_path / "s"))
    shutil.move(moved, current)
    with open_store(str(tmp_path / "s")) as store:
        assert store.snapshot().get(b"k") == b"v"


def test_missing_table_is_damage(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "s")) as store:
        store.transact((b"k",), lambda transaction: transaction.put(b"k", b"v"))
    (table,) = (tmp_path / "s").glob("*.sst")
    table.unlink()
    with pytest.raises(StoreDamaged):
        open_store(str(tmp_path / "s"))


def test_parents_are_made_and_files_in_their_way_are_named(tmp_path: Path) -> None:
    make_directory(tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(StorageFailure, match="cannot create"):
        make_directory(tmp_path / "file" / "d")
    with pytest.raises(StorageFailure, match="cannot use"):
        holds_store(tmp_path / "file" / "d")


def test_free_bytes_are_those_of_the_file_system(tmp_path: Path) -> None:
    assert 0 < free_bytes(tmp_path) <= shutil.disk_usage(tmp_path).total
