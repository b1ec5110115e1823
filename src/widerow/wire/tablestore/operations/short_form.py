"""Requests of rows in the form that nearly all have, read where they stand.

    request = 0A length name 12 length row rest

and the rest, which says how the row is meant, of a few bytes that the operation knows. And batches
of writes, with what is to be done to a row, whether it is to exist and what is to be returned:

    batch = table+ [18 atomic]        table = 0A length (0A length name entry+)
    entry = 12 length (08 modification 12 length row 1A 02 08 expectation [22 02 08 returned])

A message of that form lacks nothing, and holds nothing else. What differs in a byte (more fields,
another order, longer numbers, a name that is not UTF-8) is left to the protobuf runtime, which
reads the same out of it, or refuses it.
"""

from typing import Final, NamedTuple

from mypy_extensions import i64

from widerow.limits import BATCH_WRITE_ROWS_MAX

__all__ = ["ShortBatch", "ShortEntry", "short_batch", "short_form"]

ShortEntry = tuple[int, int, int, int, int]
"""From where to where a row's PlainBuffer stands; its modification, expectation, what to return.

The last three are the protocol's numbers: 1 to 3, and 0 to 2.
"""


class ShortBatch(NamedTuple):
    """The names of a batch's tables, the entries of each, and whether all or none is to be."""

    tables: list[tuple[str, list[ShortEntry]]]
    atomic: bool


def short_form(body: bytes, rest: int) -> tuple[str, int, int]:
    """The table, and from where to where the row's PlainBuffer stands, `rest` bytes before the end.

    The last of them is -1 where `body` has another form.
    """
    size: i64 = len(body)
    if size < 4 + rest or body[0] != 0x0A:
        return _ANOTHER
    row_tag = _end_of(body, 1)
    if row_tag < 0 or row_tag + 2 > size or body[row_tag] != 0x12:
        return _ANOTHER
    end = _end_of(body, row_tag + 1)
    if end != size - rest:
        return _ANOTHER
    try:
        table = body[_content(body, 1) : row_tag].decode()
    except UnicodeDecodeError:
        return _ANOTHER
    return table, _content(body, row_tag + 1), end


_ANOTHER: Final = ("", 0, -1)


def short_batch(body: bytes) -> ShortBatch | None:
    """The batch, of one or more tables with one or more rows; None: `body` has another form.

    Or it has more rows than a batch may have: the caller says so, and nothing is kept for them.
    """
    tables: list[tuple[str, list[ShortEntry]]] = []
    size: i64 = len(body)
    room: i64 = BATCH_WRITE_ROWS_MAX
    at: i64 = 0
    while at < size and body[at] == 0x0A:
        end = _end_of(body, at + 1)
        if end < 0 or end > size:
            return None
        table = _short_table(body, _content(body, at + 1), end, room)
        if table is None:
            return None
        tables.append(table)
        room -= len(table[1])
        at = end
    atomic = False
    if at + 2 == size and body[at] == 0x18 and body[at + 1] <= 1:
        atomic = body[at + 1] == 1
        at = size
    return ShortBatch(tables, atomic) if tables and at == size else None


def _short_table(body: bytes, at: i64, stop: i64, room: i64) -> tuple[str, list[ShortEntry]] | None:
    """The table that stands from `at` to `stop`, of at most `room` rows."""
    if at >= stop or body[at] != 0x0A:
        return None
    end = _end_of(body, at + 1)
    if end < 0 or end >= stop:
        return None
    try:
        name = body[_content(body, at + 1) : end].decode()
    except UnicodeDecodeError:
        return None
    entries: list[ShortEntry] = []
    at = end
    while at < stop:
        if body[at] != 0x12 or len(entries) == room:
            return None
        end = _end_of(body, at + 1)
        if end < 0 or end > stop:
            return None
        entry = _short_entry(body, _content(body, at + 1), end)
        if entry is None:
            return None
        entries.append(entry)
        at = end
    return name, entries


def _short_entry(body: bytes, at: i64, stop: i64) -> ShortEntry | None:
    """The entry that stands from `at` to `stop`."""
    if stop - at < 8 or body[at] != 0x08 or body[at + 2] != 0x12:
        return None
    modification: i64 = body[at + 1]
    if modification == 0 or modification > 3:
        return None
    end = _end_of(body, at + 3)
    if end < 0 or end + 4 > stop or not _is_number(body, end, 0x1A):
        return None
    returned: i64 = 0
    if end + 8 == stop and _is_number(body, end + 4, 0x22):
        returned = body[end + 7]
    elif end + 4 != stop:
        return None
    return _content(body, at + 3), end, modification, body[end + 3], returned


def _is_number(body: bytes, at: i64, tag: i64) -> bool:
    """Whether a message whose first field is 0, 1 or 2 stands at `at` under `tag`, with no more."""
    return body[at] == tag and body[at + 1] == 2 and body[at + 2] == 8 and body[at + 3] <= 2


def _content(body: bytes, at: i64) -> i64:
    """Where what a length at `at` measures begins, if `_end_of` says where it ends."""
    at += 1
    while body[at - 1] >= 0x80:
        at += 1
    return at


def _end_of(body: bytes, at: i64) -> i64:
    """Where what the length at `at` measures would end; -1 where the length is not in short form.

    A length has at most three bytes, 2 MiB; its last byte is not zero unless it is the only one.
    """
    size: i64 = len(body)
    length: i64 = 0
    shift: i64 = 0
    while at < size and shift <= 14:
        byte: i64 = body[at]
        at += 1
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            if byte == 0 and shift > 0:
                return -1
            return at + length
        shift += 7
    return -1
