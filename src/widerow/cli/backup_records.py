"""Backups of records: the part of `widerow backup` and `widerow restore` for stores of any kind."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final

from widerow import __version__
from widerow.backups.making import ToldRecords, back_up_records
from widerow.backups.restoring import restore_records
from widerow.cli.answers import tell
from widerow.cli.command import Given
from widerow.engine.check import Finding
from widerow.storage.backup import Backup, BackupFailed, read_backup
from widerow.storage.interface import Store
from widerow.storage.opener import open_store, shown_url
from widerow.system import SystemClock, SystemEntropy

__all__ = [
    "back_up_as_records",
    "backup_document",
    "created_now",
    "existing_backup",
    "restore_into",
    "restore_into_database",
    "say",
    "sized",
    "tell_damage",
]

_MIB: Final = 1024 * 1024


def back_up_as_records(store: Store, target: Path, of: str, given: Given) -> int:
    """Copy the records of a store, which is called `of`, into the directory `target`; 0."""
    with _progress("backing up", None, as_json=given["as_json"]) as told:
        backup = back_up_records(
            store, target, of, created=created_now(), version=__version__, told=told
        )
    assert backup.facts is not None, "it was made of records"
    is_one = backup.facts.one_moment
    moment = "of one moment" if is_one else "each partition key value of a moment of its own"
    words = f"{target} holds {sized(backup)} of {of}, {backup.facts.records:,} records, {moment}"
    tell(given, backup_document(backup, {"backup": str(target)}), lambda: say(words))
    return 0


def restore_into_database(source: Path, url: str, given: Given) -> int:
    """Restore a backup of records into the store that `url` names; 0, or 1 on findings.

    With --check it is restored into a directory that is thrown away. Raises: `WiderowError`.
    """
    backup = existing_backup(source)
    if backup.facts is None:
        raise BackupFailed(
            f"{source} has the files of an embedded store: restore it to a directory, and make a "
            "backup of that with --records"
        )
    shown = shown_url(url)
    with TemporaryDirectory() as folder:
        place = f"rocksdb:{folder}/store" if given["check"] else url
        with open_store(place) as store:
            findings = restore_into(store, source, backup, as_json=given["as_json"])
    tell_damage(source, findings)
    facts = {"backup": str(source), "store": shown, "clean": not findings}
    done = "is whole" if given["check"] else f"is restored to {shown}"
    words = f"{source}, {sized(backup)} of {backup.created}, {done}; every record was verified"
    tell(given, backup_document(backup, facts), lambda: None if findings else say(words))
    return 1 if findings else 0


def restore_into(store: Store, source: Path, backup: Backup, *, as_json: bool) -> list[Finding]:
    """Restore a backup of records into an empty store; what is wrong with it then."""
    assert backup.facts is not None, "the backup is one of records"
    with _progress("restoring", backup.facts.records, as_json=as_json) as told:
        return restore_records(store, source, backup, SystemClock(), SystemEntropy(), told)


def existing_backup(source: Path) -> Backup:
    """What the manifest in `source` says. Raises `BackupFailed`."""
    if not source.exists():
        raise BackupFailed(f"there is no backup at {source}: no such directory; correct the name")
    return read_backup(source)


def created_now() -> str:
    """The date of a backup that is made now, in ISO 8601."""
    moment = datetime.fromtimestamp(SystemClock().now_us() / 1e6, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def tell_damage(source: Path, findings: list[Finding]) -> None:
    """Say on stderr that the store in a backup is damaged, if it is."""
    if findings:
        first = findings[0]
        sys.stderr.write(
            f"widerow: {source} was copied as it was backed up, but the store in it is damaged: "
            f"{len(findings)} findings, first {first.table} {first.key}: {first.problem}\n"
        )


@contextmanager
def _progress(what: str, total: int | None, *, as_json: bool) -> Iterator[ToldRecords]:
    """A bar of records, of which there are `total`, if stderr is a terminal; else nothing."""
    if as_json or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import (  # noqa: PLC0415  # only to show something
        BarColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} records, {task.fields[size]:,.0f} MiB"),
        TextColumn("{task.fields[rate]:,.1f} MiB/s"),
        TimeRemainingColumn(),
    )
    began, size = monotonic(), 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, size=0.0, rate=0.0)

        def told(records: int, more: int) -> None:
            nonlocal size
            size += more
            rate = size / _MIB / max(monotonic() - began, 1e-3)
            bar.update(task, advance=records, size=size / _MIB, rate=rate)

        yield told


def backup_document(backup: Backup, facts: Mapping[str, object]) -> dict[str, object]:
    """A backup as JSON, with `facts` before it."""
    found: dict[str, object] = {
        **facts,
        "created": backup.created,
        "files": len(backup.files),
        "bytes": backup.size,
        "digest": backup.digest,
    }
    if backup.facts is not None:
        found |= {"records": backup.facts.records, "one_moment": backup.facts.one_moment}
    return found


def sized(backup: Backup) -> str:
    """How large a backup is, for people."""
    return f"{backup.size / _MIB:,.1f} MiB in {len(backup.files)} files"


def say(words: str) -> None:
    """Write a line to stdout."""
    sys.stdout.write(words + os.linesep)
