"""A look at the fields of a protobuf message before it is parsed: five megabytes hold two million.

The parser makes an object of every message that it meets. Whoever bounds how many there may be
counts them here first, and stops where they are too many.
"""

from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

__all__ = ["Unreadable", "count_fields", "field_key", "skip_field"]

_FIXED_BYTES: Final = {1: 8, 5: 4}  # protobuf wire types of fixed size
_SIZED: Final = 2  # the wire type of bytes, texts and messages


class Unreadable(Exception):  # no error of the package: callers say what it means
    """The bytes are no fields, or hold a group, which no client sends."""


def count_fields(descriptor: Any, data: bytes, limit: int) -> int:  # noqa: ANN401  # a Descriptor
    """How many fields a message has with the messages inside it; `limit` + 1 for any more.

    Fields inside bytes are not looked at. Raises `Unreadable`. Costs as much as it counts.
    """
    count = 0
    parts = [(0, len(data), descriptor)]
    while parts:
        position, end, kind = parts.pop()
        below = _messages_of(kind)
        while position < end:
            count += 1
            if count > limit:
                return count
            key, start = field_key(data, position)
            position = skip_field(data, start, key & 7)
            inner = below.get(key)
            if inner is not None:
                parts.append((_varint(data, start)[1], position, inner))
        if position > end:
            raise Unreadable
    return count


@cache
def _messages_of(descriptor: Any) -> dict[int, Any]:  # noqa: ANN401  # Descriptors
    """The keys of the fields that are messages, with the descriptors of these."""
    return {
        field.number << 3 | _SIZED: field.message_type
        for field in descriptor.fields
        if field.type == FieldDescriptor.TYPE_MESSAGE
    }


def field_key(data: bytes, position: int) -> tuple[int, int]:
    """The key of the field at `position`, and where its value begins. Raises `Unreadable`."""
    return _varint(data, position)


def skip_field(data: bytes, position: int, wire_type: int) -> int:
    """Where the value ends that begins at `position`. Raises `Unreadable`, also for groups."""
    if wire_type == 0:
        return _varint(data, position)[1]
    if wire_type == _SIZED:
        size, position = _varint(data, position)
        return position + size
    if wire_type not in _FIXED_BYTES:
        raise Unreadable
    return position + _FIXED_BYTES[wire_type]


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise Unreadable
