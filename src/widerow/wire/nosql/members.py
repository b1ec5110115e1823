"""Members of a request's payload, checked for their types (nosql-wire §3.2)."""

from collections.abc import Mapping
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.wire.nosql.convert import sent_type
from widerow.wire.nosql.rules import NosqlRule

__all__ = ["Payload", "absolute", "binary_member", "flag_member", "number_member", "text_member"]

_ABSOLUTE: Final = 0
_EVENTUAL: Final = 1

Payload = Mapping[str, Any]


def number_member(payload: Payload, name: str, default: int = 0) -> int:
    """An INTEGER or LONG; `default` where it is left out. Raises `InvalidRequest`."""
    value = payload.get(name, default)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name, "INTEGER", value)
    return value


def flag_member(payload: Payload, name: str) -> bool:
    """A BOOLEAN; false where it is left out. Raises `InvalidRequest`."""
    value = payload.get(name, False)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise _wrong(name, "BOOLEAN", value)
    return value


def text_member(payload: Payload, name: str) -> str | None:
    """A STRING; None where it is left out. Raises `InvalidRequest`."""
    value = payload.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(name, "STRING", value)
    return value


def binary_member(payload: Payload, name: str) -> bytes | None:
    """A BINARY; None where it is left out. Raises `InvalidRequest`."""
    value = payload.get(name)
    if value is not None and not isinstance(value, bytes):
        raise _wrong(name, "BINARY", value)
    return value


def absolute(payload: Payload) -> bool:
    """Whether a read asks for absolute consistency; without `co` it does not (nosql-wire §4.1)."""
    given = payload.get("co")
    if given is None:
        return False
    value = given.get("y") if isinstance(given, dict) else given
    if value == _ABSOLUTE and isinstance(value, int):
        return True
    if value == _EVENTUAL and isinstance(value, int):
        return False
    raise InvalidRequest(NosqlRule.CONSISTENCY, value=str(value)[:20])


def _wrong(name: str, kind: str, value: Any) -> InvalidRequest:  # noqa: ANN401  # any value
    return InvalidRequest(NosqlRule.MEMBER_TYPE, name=name, type=kind, found=sent_type(value))
