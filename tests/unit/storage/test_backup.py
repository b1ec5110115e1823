"""A backup comes back byte by byte, or is refused (storage/backup.py; docs/operating/backup.md)."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from widerow.storage.backup import BackupFailed, read_backup, restore_files, write_backup

FILES: Final = {
    "CURRENT": b"MANIFEST-000005\n",
    "000009.sst": bytes(range(256)) * 10_000,
    "000010.log": b"",
}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    directory = tmp_path / "checkpoint"
    directory.mkdir()
    for name, content in FILES.items():
        (directory / name).write_bytes(content)
    return directory


def write(checkpoint: Path, target: Path, copied: list[int] | None = None) -> None:
    progress = ([] if copied is None else copied).append
    write_backup(
        checkpoint, target, created="2026-01-02T03:04:05Z", version="1.2.3", progress=progress
    )


@pytest.fixture
def backup(checkpoint: Path, tmp_path: Path) -> Path:
    write(checkpoint, tmp_path / "backup")
    return tmp_path / "backup"


def restore(backup: Path) -> Path:
    target = backup.with_name("restored")
    restore_files(backup, target, lambda _: None)
    return target


def assert_refused(backup: Path, words: str) -> None:
    with pytest.raises(BackupFailed, match=words):
        restore(backup)
    assert not backup.with_name("restored").exists()


def test_what_was_backed_up_comes_back(checkpoint: Path, tmp_path: Path) -> None:
    copied: list[int] = []
    write(checkpoint, tmp_path / "backup", copied)
    shutil.rmtree(checkpoint)
    told = read_backup(tmp_path / "backup")
    assert (told.created, told.version) == ("2026-01-02T03:04:05Z", "1.2.3")
    assert told.size == sum(copied) == sum(map(len, FILES.values()))
    restored = restore(tmp_path / "backup")
    assert {each.name: each.read_bytes() for each in restored.iterdir()} == FILES


def test_a_backup_is_for_its_owner_alone(backup: Path) -> None:
    restored = restore(backup)
    for top in (backup, restored):
        for entry in (top, *top.rglob("*")):
            assert entry.stat().st_mode & 0o077 == 0, entry


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_nothing_that_exists_is_written_over(
    checkpoint: Path, backup: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    target = tmp_path / "taken"
    make(target)
    with pytest.raises(BackupFailed, match="exists"):
        write(checkpoint, target)
    with pytest.raises(BackupFailed, match="exists"):
        restore_files(backup, target, lambda _: None)
    assert target.is_symlink() or target.exists()


# --- backups that are not what they were ---------------------------------------------------------


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("at", [0, 1, 4096, 1_234_567, 2_559_999])
def test_a_flipped_bit_is_refused(backup: Path, at: int) -> None:
    flip(backup / "data" / "000009.sst", at)
    assert_refused(backup, r"000009\.sst is not what was backed up")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_longer_shorter_or_missing_is_refused(backup: Path, name: str) -> None:
    path = backup / "data" / name
    content = path.read_bytes()
    path.write_bytes(content + b"\0")
    assert_refused(backup, "not what was backed up")
    if content:
        path.write_bytes(content[:-1])
        assert_refused(backup, "not what was backed up")
    path.unlink()
    assert_refused(backup, "No such file")
    path.write_bytes(content)
    restore(backup)


def test_files_that_changed_places_are_refused(backup: Path) -> None:
    data = backup / "data"
    (data / "CURRENT").rename(data / "x")
    (data / "000010.log").rename(data / "CURRENT")
    (data / "x").rename(data / "000010.log")
    assert_refused(backup, "not what was backed up")


def test_a_file_that_the_manifest_does_not_name_is_refused(backup: Path) -> None:
    (backup / "data" / "000011.log").write_bytes(b"stowaway")
    assert_refused(backup, r"holds 000011\.log, which its manifest does not name")


def outside_link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def twin_link(path: Path) -> None:
    path.symlink_to("CURRENT")


@pytest.mark.parametrize("make", [outside_link, twin_link, os.mkfifo, Path.mkdir])
def test_what_is_no_plain_file_is_refused_and_not_waited_for(
    backup: Path, make: Callable[[Path], None]
) -> None:
    path = backup / "data" / "000010.log"
    path.unlink()
    make(path)
    assert_refused(backup, r".")


@pytest.mark.parametrize("make", [outside_link, os.mkfifo, Path.mkdir])
def test_only_plain_files_are_backed_up(
    checkpoint: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(checkpoint / "000012.sst")
    with pytest.raises(BackupFailed):
        write(checkpoint, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


def test_a_directory_that_is_a_link_is_refused(backup: Path) -> None:
    (backup / "data").rename(backup / "elsewhere")
    (backup / "data").symlink_to("elsewhere")
    assert_refused(backup, r".")


# --- manifests -----------------------------------------------------------------------------------


def test_a_backup_without_a_manifest_is_unfinished(backup: Path) -> None:
    (backup / "manifest.json").unlink()
    assert_refused(backup, "not a finished backup")
    assert_refused(backup / "absent", "not a finished backup")


def test_a_backup_that_fails_half_way_leaves_nothing(checkpoint: Path, tmp_path: Path) -> None:
    def fail(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_backup(checkpoint, tmp_path / "b", created="", version="", progress=fail)
    assert not (tmp_path / "b").exists()


def test_every_changed_character_of_a_manifest_is_refused(backup: Path) -> None:
    manifest = backup / "manifest.json"
    content = manifest.read_bytes()
    for at in range(len(content)):
        if chr(content[at]).isspace():
            continue  # between words they mean nothing
        flip(manifest, at)
        with pytest.raises(BackupFailed):
            read_backup(backup)
        manifest.write_bytes(content)
    read_backup(backup)


def change(document: dict[str, Any], name: str, value: object) -> None:
    document["files"][0][name] = value


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda it: it.update(format=3), "format 3"),
        (lambda it: it.update(format=2), "damaged"),
        (lambda it: it.pop("format"), "damaged"),
        (lambda it: it.update(files=None), "damaged"),
        (lambda it: it.update(digest=None), "damaged"),
        (lambda it: it.update(created=5), "damaged"),
        (lambda it: change(it, "name", "../../etc/cron.d/x"), "damaged"),
        (lambda it: change(it, "name", "/etc/passwd"), "damaged"),
        (lambda it: change(it, "name", ".."), "damaged"),
        (lambda it: change(it, "name", "a" * 200), "damaged"),
        (lambda it: change(it, "size", -1), "damaged"),
        (lambda it: change(it, "size", "1"), "damaged"),
        (lambda it: change(it, "size", 1e300), "damaged"),
        (lambda it: change(it, "sha256", "x" * 64), "damaged"),
    ],
)
def test_a_manifest_that_says_odd_things_is_refused(
    backup: Path, spoil: Callable[[dict[str, Any]], object], words: str
) -> None:
    manifest = backup / "manifest.json"
    document = json.loads(manifest.read_text())
    spoil(document)
    manifest.write_text(json.dumps(document))
    assert_refused(backup, words)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\0", '"x"', "1e999"])
def test_a_manifest_that_is_none_is_refused(backup: Path, text: str) -> None:
    (backup / "manifest.json").write_text(text)
    assert_refused(backup, "damaged")
