"""Single-row requests in the form that nearly all have, read where they stand.

    request = 0A length name 12 length row rest

and the rest, which says how the row is meant, of a few bytes that the operation knows. A message of
that form lacks nothing, and holds nothing else. What differs in a byte (more fields, another order,
longer numbers, a name that is not UTF-8) is left to the protobuf runtime, which reads the same out
of it, or refuses it.
"""

from typing import Final

from mypy_extensions import i64

__all__ = ["short_form"]


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
