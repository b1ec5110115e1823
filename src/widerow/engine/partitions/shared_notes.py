"""Load notes: what each server of a shared store tells the others of the load that it has seen.

Every server reads the notes of all others, so that each knows the whole load of a table, and the
keeper of the store decides by it. A message is bounded: where a server has seen many keys in a
second, neighbouring keys are joined. Lost notes make estimates too low.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from widerow.engine.stored_json import decode_json
from widerow.limits import NODE_NOTES_MAX

__all__ = ["LoadNote", "SharedNotes", "decode_notes", "encode_notes", "merged"]

_FORMAT: Final = 1
NOTES_MAX: Final = 65_536  # waiting to be sent; beyond that the oldest are dropped


class LoadNote(NamedTuple):
    """Capacity units under an encoded partition key value, and by how much the table grew there."""

    table_id: int
    key: bytes
    reads: int
    writes: int
    rows: int
    size: int


def merged(notes: Iterable[LoadNote], most: int) -> list[LoadNote]:
    """At most `most` notes (but one a table at least) with unchanged sums for each table.

    Joined neighbours get the key that has most of their units. `notes`: at most one of a key.
    """
    ordered = sorted(notes)
    tables = [list(group) for _, group in groupby(ordered, key=itemgetter(0))]
    room = max(1, most - len(tables))
    length = -(-len(ordered) // room)
    return [
        _one(group[first : first + length])
        for group in tables
        for first in range(0, len(group), length)
    ]


def _one(notes: list[LoadNote]) -> LoadNote:
    busiest = max(notes, key=_units)
    sums = [sum(column) for column in list(zip(*notes, strict=True))[2:]]
    return LoadNote(busiest.table_id, busiest.key, *sums)


def _units(note: LoadNote) -> int:
    return note.reads + note.writes


def encode_notes(notes: Iterable[LoadNote]) -> bytes:
    """The record of some notes (docs/formats/statistics.md)."""
    listed = [[each.table_id, each.key.hex(), *each[2:]] for each in notes]
    return json.dumps({"format": _FORMAT, "notes": listed}, separators=(",", ":")).encode()


def decode_notes(record: bytes) -> list[LoadNote]:
    """The notes of a record. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> list[LoadNote]:
        return [
            LoadNote(int(table_id), bytes.fromhex(key), int(r), int(w), int(rows), int(size))
            for table_id, key, r, w, rows, size in found["notes"]
        ]

    return decode_json(record, "a record of a node's notes", read, form=_FORMAT)


class SharedNotes:
    """Notes that are to be sent to the other servers.

    One thread adds and one takes, at any time.
    """

    def __init__(self) -> None:
        self._waiting: deque[LoadNote] = deque(maxlen=NOTES_MAX)

    def heard(self, notes: Iterable[tuple[int, bytes, int, int, int, int]]) -> Iterator[LoadNote]:
        """Yields `notes`; each is queued for the other servers as it is yielded."""
        for note in notes:
            kept = LoadNote(*note)
            self._waiting.append(kept)
            yield kept

    def take(self) -> bytes | None:
        """A record of the notes added since the last call; None: there were none."""
        waiting = self._waiting
        if not waiting:
            return None
        sums: dict[tuple[int, bytes], LoadNote] = {}
        for _ in range(len(waiting)):
            note = waiting.popleft()
            known = sums.get(note[:2])
            sums[note[:2]] = note if known is None else _one([known, note])
        return encode_notes(merged(sums.values(), NODE_NOTES_MAX))
