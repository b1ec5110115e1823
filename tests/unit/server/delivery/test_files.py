"""Files below one directory: whole or not there, and never anywhere else (change §D3)."""

import errno
import fcntl
from pathlib import Path

import pytest

from widerow.engine.tablestore.delivery.names import DeliveredFile
from widerow.server.delivery.files import DeliveryFailed, DeliveryRoot, Disk

FILE = DeliveredFile(("a", "b"), "name")


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def write(root: Path, data: bytes, file: DeliveredFile = FILE, disk: Disk | None = None) -> None:
    with DeliveryRoot(root, disk).draft("bucket", file) as draft:
        draft.stream.write(data)
        draft.sync()
        draft.publish()


def test_a_file_is_there_when_it_is_published(tmp_path: Path) -> None:
    with DeliveryRoot(tmp_path).draft("bucket", FILE) as draft:
        draft.stream.write(b"data")
        draft.sync()
        assert not (tmp_path / "bucket/a/b/name").exists()
        draft.publish()
    assert (tmp_path / "bucket/a/b/name").read_bytes() == b"data"
    assert names(tmp_path / "bucket/a/b") == ["name"]


def test_a_file_takes_the_place_of_one_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, b"long former data")
    write(tmp_path, b"new")
    assert (tmp_path / "bucket/a/b/name").read_bytes() == b"new"


def test_what_a_dead_process_began_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "bucket/a/b").mkdir(parents=True)
    (tmp_path / "bucket/a/b/name.tmp").write_bytes(b"half of a long former file")
    write(tmp_path, b"new")
    assert (tmp_path / "bucket/a/b/name").read_bytes() == b"new"
    assert names(tmp_path / "bucket/a/b") == ["name"]


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    class FullDisk(Disk):
        def sync(self, file: int) -> None:
            raise OSError(errno.ENOSPC, "full", file)

    with pytest.raises(DeliveryFailed, match="bucket/a/b/name: full"):
        write(tmp_path, b"data", disk=FullDisk())
    assert names(tmp_path / "bucket/a/b") == []


@pytest.mark.parametrize("place", ["bucket", "bucket/a", "bucket/a/b"])
@pytest.mark.parametrize("target", ["outside", "missing"])
def test_no_link_is_followed_on_the_way(tmp_path: Path, place: str, target: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    (root / place).parent.mkdir(parents=True)
    (root / place).symlink_to(tmp_path / target, target_is_directory=True)
    with pytest.raises(DeliveryFailed):
        write(root, b"data")
    assert names(outside) == []
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("name", ["name", "name.tmp"])
def test_no_link_in_the_place_of_a_file_is_followed(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "root/bucket/a/b").mkdir(parents=True)
    (tmp_path / "root/bucket/a/b" / name).symlink_to(victim)
    try:
        write(tmp_path / "root", b"data")
    except DeliveryFailed:
        assert name == "name.tmp"
    else:  # the link itself was replaced
        assert not (tmp_path / "root/bucket/a/b/name").is_symlink()
    assert victim.read_bytes() == b"precious"


def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "real")
    write(tmp_path / "root", b"data")
    assert (tmp_path / "real/bucket/a/b/name").read_bytes() == b"data"


def test_a_root_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DeliveryFailed, match="bucket/a/b/name: No such file or directory"):
        write(tmp_path / "root", b"data")
    assert not (tmp_path / "root").exists()


def test_a_file_in_the_place_of_a_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "bucket").write_bytes(b"")
    with pytest.raises(DeliveryFailed, match="Not a directory"):
        write(tmp_path, b"data")


def test_two_writers_of_one_name_take_turns(tmp_path: Path) -> None:
    root = DeliveryRoot(tmp_path)
    with root.draft("bucket", FILE) as first:
        first.stream.write(b"first")
        with pytest.raises(DeliveryFailed, match="another process is writing this file"):
            write(tmp_path, b"second")
        first.sync()
        first.publish()
    write(tmp_path, b"second")
    assert (tmp_path / "bucket/a/b/name").read_bytes() == b"second"


def test_a_file_that_got_its_name_meanwhile_is_not_written_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, b"first")
    place = tmp_path / "bucket/a/b"
    (place / "name").rename(place / "name.tmp")
    lock = fcntl.flock

    def finished_before(file: int, how: int) -> None:
        monkeypatch.undo()
        (place / "name.tmp").rename(place / "name")
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", finished_before)
    with DeliveryRoot(tmp_path).draft("bucket", FILE) as draft:
        draft.stream.write(b"second")
        draft.sync()
        assert (place / "name").read_bytes() == b"first"
        draft.publish()
    assert (place / "name").read_bytes() == b"second"


def test_descriptors_are_closed(tmp_path: Path) -> None:
    write(tmp_path, b"data")
    before = len(names(Path("/dev/fd")))
    for _ in range(3):
        write(tmp_path, b"data")
        with pytest.raises(DeliveryFailed):
            write(tmp_path / "missing", b"data")
    assert len(names(Path("/dev/fd"))) == before
