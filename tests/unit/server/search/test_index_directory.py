"""The directories of search indexes: whole files or none, and nothing of an index that is gone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from widerow.errors import StorageFailure
from widerow.server.search.files import IndexDirectory, SearchDirectory


def test_a_file_is_what_was_written(tmp_path: Path) -> None:
    files = SearchDirectory(tmp_path).of(7)
    assert files.names() == []
    files.write("b", [b"one ", memoryview(b"two")])
    files.replace("a", b"")
    assert files.names() == ["a", "b"]
    mapped = files.map("b")
    assert (bytes(mapped), bytes(files.map("a"))) == (b"one two", b"")
    files.replace("b", b"three")
    files.remove("a")
    files.remove("a")
    assert (bytes(mapped), bytes(files.map("b")), files.names()) == (b"one two", b"three", ["b"])
    with pytest.raises(KeyError):
        files.map("a")


def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path) -> None:
    files = SearchDirectory(tmp_path).of(7)
    files.write("a", [b"old"])

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageFailure, match="No space left"):
        files.write("a", parts())
    found = [each.name for each in (tmp_path / "search" / "7").iterdir()]
    assert (bytes(files.map("a")), found) == (b"old", ["a"])
    (tmp_path / "search" / "7" / "b.tmp").write_bytes(b"of a process that was killed")
    assert files.names() == ["a"]


def test_each_name_is_given_behind_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes before the name, and the directory behind it."""
    done: list[str] = []
    sync, rename = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        done.append("directory" if Path(f"/proc/self/fd/{descriptor}").is_dir() else "file")
        sync(descriptor)

    def renamed(path: Path, target: Path) -> Path:
        done.append("name")
        return rename(path, target)

    files = IndexDirectory(tmp_path)
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    files.write("a", [b"bytes"])
    assert done == ["file", "name", "directory"]


def test_directories_are_known_by_their_numbers(tmp_path: Path) -> None:
    directory = SearchDirectory(tmp_path)
    assert directory.kept() == []
    for number in (12, 3):
        directory.of(number).write("a", [b"x"])
    (tmp_path / "search" / "lost+found").mkdir()
    assert directory.kept() == [3, 12]
    directory.forget(3)
    directory.forget(3)
    assert directory.kept() == [12]
