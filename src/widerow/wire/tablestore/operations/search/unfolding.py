"""What stands in bytes in bytes, unfolded within bounds (wire §1.7, search §4).

A query, an aggregation or a group-by is a type and the bytes of that type's message, so that they
nest where protobuf's own bound on depth does not look. One `Unfolding` belongs to one request: it
counts before anything is parsed.
"""

import sys
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Final, TypeVar, final

from google.protobuf.message import DecodeError, Message

from widerow.errors import InvalidRequest
from widerow.limits import (
    SEARCH_REQUEST_FIELDS_MAX,
    SEARCH_TREE_DEPTH_MAX,
    SEARCH_TREE_NODES_MAX,
    SEARCH_UNFOLDED_BYTES_MAX,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyMarker, Value
from widerow.wire.tablestore.bounds import Crowded, FieldCounts, Unreadable
from widerow.wire.tablestore.operations.bodies import initialized, text
from widerow.wire.tablestore.plainbuffer import decode_variant_value

__all__ = [
    "Unfolding",
    "invalid_field",
    "member",
    "members",
    "named",
    "number",
    "optional_variant",
    "request_decoder",
    "variant",
    "variants",
    "weight",
]

M = TypeVar("M", bound=Message)
E = TypeVar("E", bound=IntEnum)
R = TypeVar("R")

_LARGEST: Final = sys.float_info.max
_SMALLEST: Final = 5e-324  # above 0


@final
class Unfolding:
    """The bounds of one request, and how much of them is used."""

    __slots__ = ("_bytes", "_counts", "_depth", "_nodes")

    def __init__(self) -> None:
        self._bytes = 0
        self._counts = FieldCounts(SEARCH_REQUEST_FIELDS_MAX)
        self._depth = 0
        self._nodes = 0

    def parse(
        self, kind: type[M], data: bytes, rule: TablestoreRule = TablestoreRule.SEARCH_MESSAGE
    ) -> M:
        """The message that `data` is. Raises `InvalidRequest`: SEARCH_TREE_SIZE, or `rule`."""
        self._bytes += len(data)
        if self._bytes > SEARCH_UNFOLDED_BYTES_MAX:
            raise InvalidRequest(TablestoreRule.SEARCH_TREE_SIZE)
        try:
            self._counts.add(kind.DESCRIPTOR, data)
            return kind.FromString(data)
        except Crowded as error:
            raise InvalidRequest(TablestoreRule.SEARCH_TREE_SIZE) from error
        except (DecodeError, Unreadable) as error:
            raise InvalidRequest(rule, kind=kind.DESCRIPTOR.name) from error

    def below(self, make: Callable[[], R]) -> R:
        """One more node of a tree, and what `make` unfolds below it.

        Raises `InvalidRequest`: SEARCH_TREE_SIZE, SEARCH_TREE_DEPTH, or what `make` raises.
        """
        self._nodes += 1
        if self._nodes > SEARCH_TREE_NODES_MAX:
            raise InvalidRequest(TablestoreRule.SEARCH_TREE_SIZE)
        if self._depth == SEARCH_TREE_DEPTH_MAX:
            raise InvalidRequest(TablestoreRule.SEARCH_TREE_DEPTH, limit=SEARCH_TREE_DEPTH_MAX)
        self._depth += 1
        made = make()
        self._depth -= 1
        return made


def request_decoder(kind: type[M]) -> Callable[[Callable[[M, Unfolding], R]], Callable[[bytes], R]]:
    """Make a function of a message, and of the bounds of its request, one of a request's body.

    As `bodies.decoder`, for messages with trees inside them. The result raises `InvalidRequest`:
    BODY_UNREADABLE where the body is no such message, SEARCH_TREE_SIZE where it has too many parts.
    """

    def wrap(read: Callable[[M, Unfolding], R]) -> Callable[[bytes], R]:
        def decode(body: bytes) -> R:
            unfolding = Unfolding()
            sent = unfolding.parse(kind, body, TablestoreRule.BODY_UNREADABLE)
            return read(initialized(sent), unfolding)

        return decode

    return wrap


def named(sent: Message, name: str = "field_name") -> str:
    """A text that has to be there. Raises `InvalidRequest(SEARCH_MESSAGE_VALUE)`."""
    found = text(getattr(sent, name))
    if not found:
        raise invalid_field(sent, name)
    return found


def members(kind: type[E]) -> Mapping[int, E]:
    """The members of an enumeration by the numbers of the wire."""
    return {each.value: each for each in kind}


def member(sent: Message, name: str, known: Mapping[int, E], absent: E | None = None) -> E:
    """A member of an enumeration; `absent` where the field is not there.

    Raises `InvalidRequest(SEARCH_MESSAGE_VALUE)` for other numbers, and for none without `absent`.
    """
    if absent is not None and not sent.HasField(name):
        return absent
    found = known.get(getattr(sent, name)) if sent.HasField(name) else None
    if found is None:
        raise invalid_field(sent, name)
    return found


def number(sent: Message, name: str, absent: float, least: float = -_LARGEST) -> float:
    """A finite number, not below `least`; `absent` where the field is not there.

    Raises `InvalidRequest(SEARCH_MESSAGE_VALUE)`.
    """
    if not sent.HasField(name):
        return absent
    found: float = getattr(sent, name)
    if not least <= found <= _LARGEST:
        raise invalid_field(sent, name)
    return found


def weight(sent: Message) -> float:
    """What the score of a query is multiplied by: above 0 (search §4)."""
    return number(sent, "weight", 1.0, least=_SMALLEST)


def variant(sent: Message, name: str) -> Value:
    """A value (wire §2.5) that has to be there. Raises `InvalidRequest(SEARCH_MESSAGE_VALUE)`."""
    return _value(sent, name, getattr(sent, name))


def optional_variant(sent: Message, name: str) -> Value | None:
    """A value, or None where the field is not there. Raises as `variant`."""
    return variant(sent, name) if sent.HasField(name) else None


def variants(sent: Message, name: str) -> tuple[Value, ...]:
    """All values of a repeated field. Raises as `variant`."""
    return tuple([_value(sent, name, data) for data in getattr(sent, name)])


def _value(sent: Message, name: str, data: bytes) -> Value:
    try:
        value = decode_variant_value(data, TablestoreRule.SEARCH_MESSAGE_VALUE)
    except InvalidRequest as error:
        raise invalid_field(sent, name) from error
    if isinstance(value, KeyMarker):
        raise invalid_field(sent, name)
    return value


def invalid_field(sent: Message, name: str) -> InvalidRequest:
    """The error of a field of a message."""
    return InvalidRequest(TablestoreRule.SEARCH_MESSAGE_VALUE, kind=sent.DESCRIPTOR.name, name=name)
