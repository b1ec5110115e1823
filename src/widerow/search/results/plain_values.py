"""Frozen values of orders and queries as plain lists and back, for tokens (search §5.2).

A value is the name of its class and its fields in their order; enumerations are their numbers.
Values read are checked against the types that the classes declare, so that a forged token can hold
nothing that a request could not.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import IntEnum
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from widerow.limits import SEARCH_TOKEN_DEPTH_MAX
from widerow.model.search import highlight, query

__all__ = ["plain_form", "read_plain"]

_CLASSES: Final[Mapping[str, type]] = MappingProxyType(
    {
        name: each
        for module in (highlight, query)
        for name, each in vars(module).items()
        if isinstance(each, type) and is_dataclass(each)
    }
)
_Kind = Any  # a type, or a type annotation
_TUPLE: Final[object] = tuple
_SCALARS: Final = (NoneType, bool, int, float, str, bytes)


def plain_form(value: object) -> object:
    """A frozen value as lists, texts, bytes, numbers and None."""
    if isinstance(value, IntEnum):
        return int(value)
    if isinstance(value, tuple):
        return [plain_form(each) for each in value]
    if isinstance(value, _SCALARS):
        return value
    held = [plain_form(getattr(value, each.name)) for each in fields(value)]  # type: ignore[arg-type]  # a frozen value
    return [type(value).__name__, *held]


def read_plain(kind: _Kind, data: object, depth: int = 0) -> Any:  # noqa: ANN401  # of that type
    """The value of a type that `plain_form` made `data` of.

    Raises `ValueError` for anything else, and for values too deep within each other.
    """
    if depth > SEARCH_TOKEN_DEPTH_MAX:
        raise ValueError("too deep")
    origin: object = get_origin(kind)
    if origin in (Union, UnionType):
        kind = _alternative(get_args(kind), data)
    if get_origin(kind) is _TUPLE:
        if not isinstance(data, list):
            raise ValueError("not a list")
        return tuple(read_plain(get_args(kind)[0], each, depth + 1) for each in data)
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        if type(data) is not int:
            raise ValueError("not a number")
        return kind(data)
    if kind in _SCALARS:
        if type(data) is not kind:
            raise ValueError("another type")
        return data
    return _read_value(kind, data, depth)


def _read_value(kind: _Kind, data: object, depth: int) -> object:
    hints = _hints(kind)
    if not isinstance(data, list) or data[:1] != [kind.__name__] or len(data) != len(hints) + 1:
        raise ValueError("another class")
    pairs = zip(hints, data[1:], strict=True)
    return kind(*(read_plain(hint, each, depth + 1) for hint, each in pairs))


@cache
def _hints(kind: type) -> tuple[_Kind, ...]:
    hints = get_type_hints(kind)
    return tuple(hints[each.name] for each in fields(kind))


def _alternative(kinds: tuple[_Kind, ...], data: object) -> _Kind:
    """The alternative of a union that `data` is of."""
    if isinstance(data, list) and data and isinstance(data[0], str):
        found = _CLASSES.get(data[0])
        if found in kinds:
            return found
    for kind in kinds:
        if kind is type(data):
            return kind
        if isinstance(kind, type) and issubclass(kind, IntEnum) and type(data) is int:
            return kind
    raise ValueError("none of the types")
