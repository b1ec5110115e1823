"""Drop notes as records: what is still to be removed (docs/formats/catalog.md, "Drop notes")."""

import json
from typing import Any, Final

from widerow.engine.catalog.state import Leftover
from widerow.engine.stored_json import decode_json

__all__ = ["decode_note", "encode_note"]

_FORMAT: Final = 1


def encode_note(leftover: Leftover) -> bytes:
    """The record of a drop note."""
    prefixes = [prefix.hex() for prefix in leftover.prefixes]
    note = {"format": _FORMAT, "prefixes": prefixes, "top": leftover.top}
    if leftover.due_us:
        note["due_us"] = leftover.due_us
    return json.dumps(note).encode()


def decode_note(number: int, key: bytes, record: bytes) -> Leftover:
    """The drop note of a record. Raises `StoreDamaged`."""

    def read(note: dict[str, Any]) -> Leftover:
        prefixes = tuple(bytes.fromhex(prefix) for prefix in note["prefixes"])
        return Leftover(number, key, prefixes, int(note["top"]), int(note.get("due_us", 0)))

    return decode_json(record, "a note of a dropped table", read, form=_FORMAT)
