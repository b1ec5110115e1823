"""Single-row requests in the form that nearly all have, read where they stand.

    request = 0A length name 12 length row rest

and the rest, which says how the row is meant, of a few bytes that the operation knows. A message of
that form lacks nothing, and holds nothing else. What differs in a byte (more fields, another order,
longer numbers, a name that is not UTF-8) is left to the protobuf runtime, which reads the same out
of it, or refuses it.
"""

from typing import final

from mypy_extensions import i64, mypyc_attr

__all__ = ["ShortForm", "short_form"]


@mypyc_attr(acyclic=True)
@final
class ShortForm:
    """A request in this form: its table, and from where to where its row's PlainBuffer stands."""

    __slots__ = ("end", "start", "table")

    def __init__(self, table: str, start: int, end: int) -> None:
        """Of these parts; the rest begins at `end`."""
        self.table = table
        self.start = start
        self.end = end


def short_form(body: bytes, rest: int) -> ShortForm | None:
    """What `body` says, if it has the form with `rest` bytes behind the row; None if not."""
    size: i64 = len(body)
    if size < 4 + rest or body[0] != 0x0A:
        return None
    row_tag = _end_of(body, 1)
    if row_tag < 0 or row_tag + 2 > size or body[row_tag] != 0x12:
        return None
    end = _end_of(body, row_tag + 1)
    if end != size - rest:
        return None
    try:
        table = body[_content(body, 1) : row_tag].decode()
    except UnicodeDecodeError:
        return None
    return ShortForm(table, _content(body, row_tag + 1), end)


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
