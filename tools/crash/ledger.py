"""What a client wrote, what it was told, and what may therefore be found after a crash.

A change is entered before it is sent (`intend`), and again when its answer has been read: it
happened (`acknowledge`), it did not (`refuse`), or nobody knows (`leave_open`). A ledger belongs to
one client, which sends one request at a time and is the only one to write its rows, so for every
row the ledger knows the few states in which it may be. A file gets a line for each entry; it lies
outside the file system under test.

Values carry client, sequence number and a checksum that covers the row's key and the column's
name, so a value in the wrong place or of two halves shows.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import IO, Final, NamedTuple

from widerow.model.values import Value

__all__ = [
    "COUNTER",
    "Change",
    "Columns",
    "Key",
    "Ledger",
    "Violation",
    "content",
    "stamp_of",
]

COUNTER: Final = "count"
"""The column whose value is a number, changed by increments only."""

Key = tuple[str, int]
"""Primary key of a row: a STRING and an INTEGER."""

Columns = Mapping[str, int]
"""For each column the sequence number that wrote it; for the counter, its value."""


class Change(NamedTuple):
    """What one request does to one row.

    `kind` is put (the whole row), update (these columns), delete, or increment (the counter).
    """

    kind: str
    key: Key
    columns: tuple[str, ...] = ()


class Violation(NamedTuple):
    """Something found that must not be: lost, resurrected, torn, alien, backwards, unsound."""

    kind: str
    key: Key
    told: str


class _State(NamedTuple):
    """A state of a row, and the sequence number of the change that led to it."""

    sequence: int
    columns: Columns | None


def content(client: str, sequence: int, key: Key, column: str, pages: int = 1) -> str:
    """The value that a change writes: stamp, checksum, and `pages` times 128 letters."""
    letters = blake2b(f"{client} {sequence} {column}".encode()).hexdigest() * pages
    checksum = zlib.crc32(f"{client} {sequence} {key} {column} {letters}".encode())
    return f"{client} {sequence} {checksum:08x} {letters}"


def stamp_of(client: str, key: Key, column: str, value: Value) -> int | None:
    """The sequence number of a value, None if it is not one that `client` wrote there whole."""
    if column == COUNTER:
        return value if isinstance(value, int) else None
    parts = value.split(" ") if isinstance(value, str) else []
    if len(parts) != 4 or parts[0] != client or not parts[1].isdigit():
        return None
    sequence = int(parts[1])
    pages = len(parts[3]) // 128
    return sequence if value == content(client, sequence, key, column, pages) else None


@dataclass
class _Row:
    """What is known of one row."""

    possible: list[_State] = field(default_factory=lambda: [_State(0, None)])
    intended: set[int] = field(default_factory=lambda: {0})
    versions: dict[str, int] = field(default_factory=dict)
    seen: int = 0  # some reader saw this sequence number before the crash


class Ledger:
    """The ledger of one client. For the thread of that client; `seen` may come from another."""

    def __init__(self, client: str, file: Path) -> None:
        """An empty ledger that writes to `file`."""
        self.client = client
        self.sequence = 0
        self.acknowledged = 0
        self.indeterminate = 0
        self.refused = 0
        self._rows: dict[Key, _Row] = {}
        self._open: dict[int, Sequence[Change]] = {}
        self._file: IO[str] = file.open("a", encoding="utf-8")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def keys(self) -> list[Key]:
        """Every row that was ever meant to be written."""
        return list(self._rows)

    def columns(self, key: Key) -> Columns | None:
        """What a row is most likely like: the newest of its possible states."""
        return self._rows[key].possible[-1].columns

    def next(self) -> int:
        """The sequence number of the next request, whose values need it."""
        self.sequence += 1
        return self.sequence

    def intend(self, sequence: int, changes: Sequence[Change]) -> None:
        """`changes` are about to be sent, each about another row."""
        self._open[sequence] = changes
        for change in changes:
            self._row(change.key).intended.add(sequence)
        self._write("intent", sequence, changes)

    def acknowledge(self, sequence: int) -> None:
        """The answer said that they happened."""
        for change in self._open.pop(sequence):
            row = self._row(change.key)
            row.possible = [_after(state, sequence, change) for state in row.possible]
        self.acknowledged += 1
        self._write("acknowledged", sequence)

    def refuse(self, sequence: int) -> None:
        """The answer said that nothing was changed."""
        del self._open[sequence]
        self.refused += 1
        self._write("refused", sequence)

    def leave_open(self, sequence: int) -> None:
        """No answer, one that came too late, or one that says that nobody knows."""
        for change in self._open.pop(sequence):
            row = self._row(change.key)
            happened = [_after(state, sequence, change) for state in row.possible]
            row.possible += [state for state in happened if state not in row.possible]
        self.indeterminate += 1
        self._write("open", sequence)

    def seen(self, key: Key, sequence: int) -> None:
        """A reader was shown this change before the crash: nobody may be shown less later."""
        row = self._rows.get(key)
        if row is not None:
            row.seen = max(row.seen, sequence)

    def verify(
        self, found: Mapping[Key, Mapping[str, tuple[int, Value]]], *, settle: bool = True
    ) -> Iterable[Violation]:
        """Compare with what a read of everything found: for each row its columns with versions.

        What was open is settled by it: from now on the row is what was found. Not so with `settle`
        false: before the store was opened again, a change that is open may still appear.
        """
        for key in self._rows.keys() | found.keys():
            violation = self.verify_row(key, found.get(key), settle=settle)
            if violation is not None:
                yield violation

    def verify_row(
        self, key: Key, found: Mapping[str, tuple[int, Value]] | None, *, settle: bool = True
    ) -> Violation | None:
        """As `verify`, one row."""
        row = self._row(key)
        columns: dict[str, int] | None = None
        if found is not None:
            columns = {}
            for name, (version, value) in found.items():
                stamp = stamp_of(self.client, key, name, value)
                if stamp is None:
                    return Violation("torn", key, f"{name} holds {str(value)[:80]!r}")
                columns[name] = stamp
                if version < row.versions.get(name, 0):
                    return Violation("backwards", key, f"the version of {name} went back")
                row.versions[name] = version
        fitting = [state for state in row.possible if state.columns == columns]
        if not fitting:
            return self._judge(key, row, columns)
        if settle:
            row.possible = fitting[-1:]
        if columns and COUNTER not in columns and max(columns.values()) < row.seen:
            return Violation("lost", key, f"a reader had seen change {row.seen}, now {columns}")
        return None

    def _judge(self, key: Key, row: _Row, columns: Columns | None) -> Violation:
        """What kind of wrong this is."""
        allowed = [state.columns for state in row.possible]
        row.possible = [_State(self.sequence, columns)]  # told once, not after every crash
        told = f"found {columns}, possible are {allowed}"
        if columns is None:
            return Violation("lost", key, told)
        if COUNTER not in columns and not set(columns.values()) <= row.intended:
            return Violation("alien", key, told)
        if all(each is None for each in allowed):
            return Violation("resurrected", key, told)
        newest = max((max(each.values()) for each in allowed if each), default=0)
        if max(columns.values(), default=0) < newest:
            return Violation("lost", key, told)
        return Violation("torn", key, told)

    def _row(self, key: Key) -> _Row:
        return self._rows.setdefault(key, _Row())

    def _write(self, what: str, sequence: int, changes: Sequence[Change] = ()) -> None:
        told = " ".join(f"{each.kind}:{each.key[0]}/{each.key[1]}" for each in changes)
        self._file.write(f"{self.client} {sequence} {what} {told}\n")


def _after(state: _State, sequence: int, change: Change) -> _State:
    """The state that `change` makes of another."""
    columns = dict(state.columns or {})
    match change.kind:
        case "put":
            return _State(sequence, dict.fromkeys(change.columns, sequence))
        case "update":
            return _State(sequence, columns | dict.fromkeys(change.columns, sequence))
        case "increment":
            return _State(sequence, columns | {COUNTER: columns.get(COUNTER, 0) + 1})
        case _:
            return _State(sequence, None)
