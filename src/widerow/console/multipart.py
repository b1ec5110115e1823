"""Reads forms with a file: `multipart/form-data` as browsers send it (RFC 7578)."""

import re
from typing import Final, NamedTuple

from widerow.console.parts import ConsoleRefused, Upload
from widerow.limits import CONSOLE_FIELDS_MAX, CONSOLE_IMPORT_BYTES_MAX

__all__ = ["FORM_BYTES_MAX", "is_multipart", "read_multipart"]

FORM_BYTES_MAX: Final = CONSOLE_IMPORT_BYTES_MAX + 16 * 1024
"""Bytes of a form with the largest file."""

_BOUNDARY: Final = re.compile(
    r'multipart/form-data;.*?boundary="?([0-9A-Za-z\'()+_,./:=? -]{1,70})"?'
)
_NAME: Final = re.compile(rb'[; ]name="([^"]*)"')
_FILE: Final = re.compile(rb'filename="([^"]*)"')


class _Part(NamedTuple):
    name: str
    file: str | None
    data: bytes


def is_multipart(content_type: str) -> bool:
    """Whether a request has such a form."""
    return content_type.lower().startswith("multipart/form-data")


def read_multipart(content_type: str, body: bytes) -> tuple[dict[str, str], Upload | None]:
    """The fields of a form, and its file; of two with one name the last counts.

    Cost: linear in the bytes. Raises: `ConsoleRefused`.
    """
    found = _BOUNDARY.fullmatch(content_type.strip())
    if found is None:
        raise _unreadable()
    first, *pieces = (b"\r\n" + body).split(b"\r\n--" + found[1].encode(), CONSOLE_FIELDS_MAX)
    if first or not pieces or not pieces[-1].startswith(b"--"):
        raise _unreadable()
    fields: dict[str, str] = {}
    upload = None
    for piece in pieces[:-1]:
        part = _part(piece)
        if part.file is not None:
            upload = Upload(part.file, part.data)
        else:
            fields[part.name] = _text(part.data)
    return fields, upload


def _part(piece: bytes) -> _Part:
    head, found, data = piece.partition(b"\r\n\r\n")
    name, file = _NAME.search(head), _FILE.search(head)
    if not found or name is None:
        raise _unreadable()
    return _Part(_text(name[1]), None if file is None else _text(file[1]), data)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _unreadable() from error


def _unreadable() -> ConsoleRefused:
    return ConsoleRefused(400, "The form cannot be read.", "Send it again from its page.")
