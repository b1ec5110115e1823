"""Which URL opens what (storage/opener.py)."""

import subprocess
import sys
from pathlib import Path

import pytest

from widerow.errors import StorageFailure
from widerow.storage.memory import MemoryStore
from widerow.storage.opener import open_store
from widerow.storage.rocksdb import RocksDBStore


def test_memory_opens_a_store_of_its_own_each_time() -> None:
    with open_store("memory:") as one, open_store("memory:") as other:
        assert isinstance(one, MemoryStore)
        one.transact((b"k",), lambda transaction: transaction.put(b"k", b"v"))
        assert other.snapshot().get(b"k") is None


@pytest.mark.parametrize("form", ["rocksdb:{}", "rocksdb://{}", "{}"])
def test_directories_open_rocksdb(form: str, tmp_path: Path) -> None:
    directory = tmp_path / "a b%20c:d"
    with open_store(form.format(directory)) as store:
        assert isinstance(store, RocksDBStore)
    assert (directory / "CURRENT").is_file()


@pytest.mark.parametrize("path", ["data", "./data", "../data", "rocksdb:data", "rocksdb:./data"])
def test_relative_paths_are_relative_to_here(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    with open_store(path):
        where = tmp_path if ".." in path else inside
        assert (where / "data" / "CURRENT").is_file()


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("redis://localhost", "unknown kind of store.*memory:, rocksdb:DIRECTORY"),
        ("memroy:", "unknown kind of store"),
        ("MEMORY:", "unknown kind of store"),
        ("memory:name", "no name"),
        ("rocksdb:", "names no directory"),
        ("rocksdb:/", "names no directory"),
        ("rocksdb:///", "names no directory"),
        ("", "names no directory"),
        ("rocksdb://host/dir", "names a host"),
    ],
)
def test_other_urls_are_refused_with_what_is_known(url: str, answer: str) -> None:
    with pytest.raises(ValueError, match=answer):
        open_store(url)


def test_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(StorageFailure, match="cannot use"):
        open_store(str(tmp_path / "file"))


def test_memory_does_not_load_rocksdb() -> None:
    program = (
        "import sys; from widerow.storage.opener import open_store; open_store('memory:'); "
        "sys.exit('rocksdict' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0  # noqa: S603  # this interpreter, our own program
