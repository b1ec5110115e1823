"""`widerow backup` and `widerow restore`: a store's copy, and a store from a copy."""

import json
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from widerow import __version__
from widerow.cli.answers import tell
from widerow.cli.backup_records import (
    back_up_as_records,
    backup_document,
    created_now,
    existing_backup,
    restore_into,
    restore_into_database,
    say,
    sized,
    tell_damage,
)
from widerow.cli.command import JSON_OUTPUT, Given, Positional, command, switch
from widerow.cli.doctor import STORE_SETTINGS, find
from widerow.cli.places import require_parent, require_store
from widerow.cli.setting_flags import asked_settings, setting_flags
from widerow.server.control import ASK, connect, new_checkpoint, remove_checkpoints
from widerow.server.settings import Settings, SettingsInvalid
from widerow.storage.backup import BackupFailed, restore_files, write_backup
from widerow.storage.directory import free_bytes, sync_directory
from widerow.storage.opener import is_in_database, open_store, shown_url, store_directory
from widerow.system import SystemEntropy

__all__ = ["BACKUP", "RESTORE", "backup_store", "restore_store"]

_ANSWER_SECONDS_MAX: Final = 600.0  # a checkpoint first writes out what is in memory
_ANSWER_BYTES_MAX: Final = 64 * 1024
_ROOM_SPARE_BYTES: Final = 64 * 1024 * 1024  # what a server needs free to take writes


def backup_store(target: Path, given: Given) -> int:
    """Copy the store that the settings name into the new directory `target`; 0.

    A store in a database, and with --records any store, is copied as records, and a backup of
    records that was broken off is gone on with.

    Raises: `WiderowError` where there is no such store, or the copy cannot be made.
    """
    settings, as_json = asked_settings(given), given["as_json"]
    if _is_database(settings):
        with open_store(settings.store) as store:
            return back_up_as_records(store, target, shown_url(settings.store), given)
    directory = _directory(settings)
    require_store(directory)
    if target.resolve().is_relative_to(directory.resolve()):
        raise BackupFailed(f"{target} lies inside the store; name a directory elsewhere")
    if given["records"]:
        with (
            _checkpoint(settings, directory) as (checkpoint, _),
            open_store(f"rocksdb:{checkpoint}") as store,
        ):
            return back_up_as_records(store, target, str(directory.resolve()), given)
    if target.exists() or target.is_symlink():
        raise BackupFailed(f"{target} exists; name a new directory")
    with _checkpoint(settings, directory) as (checkpoint, online):
        size = sum(each.stat().st_size for each in checkpoint.iterdir())
        with _progress("backing up", size, as_json=as_json) as progress:
            backup = write_backup(
                checkpoint,
                target,
                created=created_now(),
                version=__version__,
                progress=progress,
            )
    how = "while its server goes on" if online else "no server has it open"
    words = f"{target} holds {sized(backup)} of {directory} ({how})"
    document = backup_document(backup, {"backup": str(target), "online": online})
    tell(given, document, lambda: say(words))
    return 0


def restore_store(source: Path, given: Given) -> int:
    """Make the store that the settings name, which must not exist, from the backup in `source`.

    Every byte is compared with the manifest and every record is verified before the store gets its
    name. With --check all that is done, and the store thrown away again. 0, or 1 on findings. No
    directory is made but the store's own: where its parent is missing, its name is taken for
    mistyped.

    Raises: `WiderowError`.
    """
    settings, check, as_json = asked_settings(given), given["check"], given["as_json"]
    if _is_database(settings):
        return restore_into_database(source, settings.store, given)
    directory = _directory(settings)
    if not check and (directory.exists() or directory.is_symlink()):
        raise BackupFailed(f"{directory} exists; stop its server and move it away first")
    backup = existing_backup(source)
    require_parent(directory)
    free = free_bytes(directory.parent)
    if free < backup.size + _ROOM_SPARE_BYTES:
        raise BackupFailed(
            f"{backup.size + _ROOM_SPARE_BYTES} bytes are needed at {directory.parent}, "
            f"{free} are free; make room"
        )
    scratch = directory.with_name(f".{directory.name}-{SystemEntropy().token_bytes(8).hex()}")
    try:
        if backup.facts is None:
            with _progress("restoring", backup.size, as_json=as_json) as progress:
                restore_files(source, scratch, progress)
        with open_store(f"rocksdb:{scratch}") as store:
            if backup.facts is None:
                findings = find(store, lambda _: None)
            else:
                findings = restore_into(store, source, backup, as_json=as_json)
        if not findings and not check:
            scratch.rename(directory)
            sync_directory(directory.parent)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    tell_damage(source, findings)
    facts = {"backup": str(source), "store": str(directory), "clean": not findings}
    done = "is whole" if check else f"is restored to {directory}"
    words = f"{source}, {sized(backup)} of {backup.created}, {done}; every record was verified"
    tell(given, backup_document(backup, facts), lambda: None if findings else say(words))
    return 1 if findings else 0


def _is_database(settings: Settings) -> bool:
    try:
        return is_in_database(settings.store)
    except ValueError as error:
        raise SettingsInvalid(str(error)) from error


def _directory(settings: Settings) -> Path:
    try:
        return store_directory(settings.store)
    except ValueError as error:
        raise SettingsInvalid(str(error)) from error


@contextmanager
def _checkpoint(settings: Settings, directory: Path) -> Iterator[tuple[Path, bool]]:
    """A checkpoint of the store for as long as the block lasts, and whether a server made it."""
    try:
        client = connect(directory)
    except OSError as error:
        raise BackupFailed(
            f"cannot talk to the server of {directory}: {error.strerror}; "
            "run as the user that the server runs as"
        ) from error
    if client is not None:
        with client:
            yield directory / _lent(client), True
        return
    with open_store(settings.store, cache_bytes=settings.cache_bytes) as store:
        checkpoint = new_checkpoint(directory, SystemEntropy())
        try:
            store.checkpoint(checkpoint)
            yield checkpoint, False
        finally:
            remove_checkpoints(directory)


def _lent(client: socket.socket) -> str:
    """The name of the checkpoint that the server made for this connection."""
    client.settimeout(_ANSWER_SECONDS_MAX)
    client.sendall(ASK)
    answer = b""
    while not answer.endswith(b"\n") and len(answer) < _ANSWER_BYTES_MAX:
        piece = client.recv(_ANSWER_BYTES_MAX)
        if not piece:
            raise BackupFailed("the server ended before the backup began; look at its log")
        answer += piece
    told: dict[str, str] = json.loads(answer)
    if "error" in told:
        raise BackupFailed(told["error"])
    return told["checkpoint"]


@contextmanager
def _progress(what: str, size: int, *, as_json: bool) -> Iterator[Callable[[int], None]]:
    """A bar of bytes on the terminal, if stderr is one; else nothing is shown."""
    if as_json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import (  # noqa: PLC0415  # only to show something
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=size)
        yield lambda count: bar.advance(task, count)


BACKUP: Final = command(
    backup_store,
    Positional("target", "DIR", "New directory for the backup.", kind=Path),
    switch("records", "Copy records, for any kind of store; of a database always."),
    JSON_OUTPUT,
    *setting_flags(STORE_SETTINGS),
    examples="""
`widerow backup /backups/monday --path /srv/widerow` — the server may go on
`widerow backup /backups/monday --path /srv/widerow --json`
`widerow backup /backups/monday --store postgresql://db/widerow` — the same again after a kill
`widerow backup /backups/move --records --path /srv/widerow` — for a store of another kind
""",
)
RESTORE: Final = command(
    restore_store,
    Positional("source", "DIR", "Directory of the backup.", kind=Path),
    switch("check", "Verify the backup and keep nothing."),
    JSON_OUTPUT,
    *setting_flags(STORE_SETTINGS),
    examples="""
`widerow restore /backups/monday --path /srv/widerow` — into a directory that does not exist
`widerow restore /backups/move --store hbase://node1.example:16020/widerow` — into an empty store
`widerow restore /backups/monday --check` — verify a backup, keep nothing
""",
)
