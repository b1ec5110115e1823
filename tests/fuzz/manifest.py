"""Any bytes as a backup's manifest name plain files, or are refused; there is no other error."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from widerow.storage.backup import (
    Backup,
    BackupFailed,
    BackupFile,
    RecordsFacts,
    read_backup,
    write_backup,
    write_backup_manifest,
)

__all__ = ["SEEDS", "check"]


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="widerow-fuzz-")


def _seeds() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder, "checkpoint")
        checkpoint.mkdir()
        (checkpoint / "CURRENT").write_bytes(b"MANIFEST-1\n")
        target = Path(folder, "backup")
        write_backup(checkpoint, target, created="2026", version="1", progress=lambda _: None)
        files = (target / "manifest.json").read_bytes()
        (target / "manifest.json").unlink()
        part = BackupFile("000000.part", 1, "0" * 64)
        facts = RecordsFacts(one_moment=True, records=1, longest_key=2, since={7: 0})
        write_backup_manifest(target, Backup("2026", "1", (part,), facts))
        return (files, (target / "manifest.json").read_bytes(), b'{"format": 2}', b"[]", b"{}")


SEEDS: Final = _seeds()


def check(data: bytes) -> None:
    """Read a backup with this manifest."""
    directory = Path(_folder().name)
    (directory / "manifest.json").write_bytes(data)
    try:
        backup = read_backup(directory)
    except BackupFailed:
        return
    assert backup.size >= 0
    for file in backup.files:
        assert "/" not in file.name
        assert file.name not in {".", ".."}
