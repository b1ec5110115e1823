"""The progress of an import, in files beside its input, so that it can be resumed after a kill.

    FILE.progress   one JSON object a line: first the settings of the run, then each finished part
    FILE.rejected   one JSON object a line: a row that was put aside, and the reason

The first line is synced before the first row is sent. A part is noted after the server has said
that it is stored. A note that is lost (a kill between the two, a torn last line) only means that
the part is sent again, and as the run fixed the versions of its cells, that changes nothing.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from widerow.storage.directory import sync_directory
from widerow.transfer.failures import TransferFailed

__all__ = ["Journal", "Rejects"]

_FORMAT: Final = 2  # 1 numbered parts that had rows which later rows replace
_SYNC_NOTES: Final = (
    64  # notes between two syncs; parts whose notes a power cut loses are sent again
)

Part = tuple[int, int]
"""A batch: the number of its window, its number in it."""


class Journal:
    """The notes of one run; `run` holds the settings in its first line."""

    def __init__(self, path: Path, run: Mapping[str, Any]) -> None:
        """Open the notes of a run that was broken off, or begin them with `run`.

        Raises: `TransferFailed` if another process has the file open, or if the notes are of
        another run: all settings in `run` except `versions_ms` must be equal.
        """
        self.path = path
        self._parts: set[Part] = set()
        self._windows: set[int] = set()
        self.rows = 0
        self._notes = 0
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise TransferFailed(f"cannot write {path}: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise TransferFailed(f"another import works on this file: {path} is locked") from error
        try:
            self.run, self.resumed = self._begin({"format": _FORMAT, **run})
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file; the notes stay unless `forget` was called."""
        self._file.close()

    def has(self, part: Part) -> bool:
        """Whether this part is finished."""
        return part[0] in self._windows or part in self._parts

    def has_window(self, window: int) -> bool:
        """Whether every part of this window is finished."""
        return window in self._windows

    def note(self, part: Part, rows: int) -> None:
        """This part, of which so many rows were stored, is finished."""
        self._parts.add(part)
        self.rows += rows
        self._write({"part": part, "rows": rows})
        self._notes += 1
        if self._notes % _SYNC_NOTES == 0:
            os.fsync(self._file.fileno())

    def note_window(self, window: int) -> None:
        """Every part of this window is finished."""
        self._windows.add(window)
        self._parts = {part for part in self._parts if part[0] != window}
        self._write({"window": window})

    def forget(self) -> None:
        """The run is at its end: nothing is left to go on with."""
        self.path.unlink(missing_ok=True)
        sync_directory(self.path.parent)

    def _begin(self, run: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        self._file.seek(0)
        lines = self._file.read().split(b"\n")
        whole = [_parsed(line) for line in lines[:-1]]
        if not whole or not whole[0]:
            self._file.truncate(0)
            self._write(run)
            os.fsync(self._file.fileno())
            sync_directory(self.path.parent)
            return run, False
        if lines[-1]:
            self._file.truncate(sum(len(line) + 1 for line in lines[:-1]))
        before = whole[0]
        for name in run.keys() | before.keys():
            if name != "versions_ms" and run.get(name) != before.get(name):
                raise TransferFailed(
                    f"{self.path} is of a run with another {name} ({before.get(name)!r}, not "
                    f"{run.get(name)!r}); give what that run was given, or delete the file to "
                    "begin anew"
                )
        for note in whole[1:]:
            self._take(note)
        return before, True

    def _take(self, note: Mapping[str, Any]) -> None:
        if "window" in note:
            self._windows.add(note["window"])
        elif "part" in note:
            window, number = note["part"]
            self._parts.add((window, number))
            self.rows += note["rows"]

    def _write(self, note: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(note).encode() + b"\n")
        self._file.flush()


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        note = json.loads(line)
    except ValueError:
        return {}  # what a power cut left of a note: the part is sent again
    return note if isinstance(note, dict) else {}


class Rejects:
    """Rows put aside, each once, however often its part is sent."""

    def __init__(self, path: Path, most: int, *, resumed: bool) -> None:
        """Nothing is written until the first row comes. More than `most` end the run."""
        self.path = path
        self._most = most
        self.places: set[int] = set()
        self._first: tuple[int, str] | None = None
        if not resumed:
            path.unlink(missing_ok=True)
        elif path.exists():
            self._reopen()

    @property
    def first(self) -> str:
        """Place and reason of the row that stands first in the file; empty without rows."""
        return ": ".join(map(str, self._first or ()))

    def add(self, place: int, reason: str, row: object) -> None:
        """Put a row aside. Raises: `TransferFailed` if that is one too many."""
        if place in self.places:
            return
        if len(self.places) == self._most:
            raise TransferFailed(
                f"line {place}: {reason}. More than {self._most} rows were rejected, see "
                f"{self.path}; mend the file, or raise --max-rejected and run the command again"
            )
        self.places.add(place)
        self._first = min(self._first or (place, reason), (place, reason))
        document = {"line": place, "reason": reason, "row": row}
        with self.path.open("ab") as file:
            # In ASCII: what is wrong may be that a text cannot be encoded.
            file.write(json.dumps(document, default=repr).encode() + b"\n")

    def _reopen(self) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))
        rows = [json.loads(line) for line in whole.splitlines()]
        self.places = {row["line"] for row in rows}
        self._first = min(((row["line"], row["reason"]) for row in rows), default=None)
