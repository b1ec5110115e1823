"""Functions of JSON, of UUIDs, of places on the earth (ddl §4; corrections B, "4 other")."""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final
from uuid import UUID

from widerow.limits import VALUE_BYTES_MAX
from widerow.model.typed.types import Kind
from widerow.model.typed.values import JSON_NULL, plain_number
from widerow.wire.nosql.sql.functions.kinds import (
    CALL,
    NULL_ITEMS,
    ArgumentItems,
    Env,
    FunctionFault,
    FunctionRule,
    Items,
    SqlFunction,
    promote_text,
)

__all__ = ["OTHER_FUNCTIONS"]

_LONG: Final = range(-(2**63), 2**63)


def _parse_json(arguments: ArgumentItems, _: Env) -> Items:
    text = promote_text(arguments, 0)
    if text is None:
        return NULL_ITEMS
    if len(text) > VALUE_BYTES_MAX:
        raise FunctionFault(FunctionRule.TEXT_SIZE, CALL, name="parse_json", limit=VALUE_BYTES_MAX)
    try:
        value = json.loads(text, parse_int=_whole, parse_float=_real, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FunctionFault(FunctionRule.JSON, None, text=str(error)) from error
    return (JSON_NULL if value is None else value,)


def _whole(digits: str) -> int | Decimal:
    """A whole number: beyond 64 bits it is a NUMBER."""
    if len(digits) <= 20 and int(digits) in _LONG:
        return int(digits)
    return plain_number(Decimal(digits))


def _real(digits: str) -> float | Decimal:
    """A number with a point or an exponent: beyond a DOUBLE it is a NUMBER."""
    value = float(digits)
    return plain_number(Decimal(digits)) if math.isinf(value) else value


def _no_constant(word: str) -> None:
    """JSON has no NaN and no Infinity."""
    raise ValueError(f"Unrecognized token '{word}'")


def _random_uuid(_: ArgumentItems, env: Env) -> Items:
    return (str(UUID(bytes=env.random(16), version=4)),)


def _geo(_: ArgumentItems, __: Env) -> Items:
    """The Community Edition has none."""
    raise FunctionFault(FunctionRule.GEO, None)


def _geo_function(count: int) -> SqlFunction:
    return SqlFunction(count, count, _geo, Kind.BOOLEAN)


OTHER_FUNCTIONS: Final[Mapping[str, SqlFunction]] = MappingProxyType(
    {
        "parse_json": SqlFunction(1, 1, _parse_json, Kind.JSON),
        "random_uuid": SqlFunction(0, 0, _random_uuid, Kind.STRING),
        "geo_intersect": _geo_function(2),
        "geo_inside": _geo_function(2),
        "geo_near": _geo_function(3),
        "geo_within_distance": _geo_function(3),
        "geo_distance": SqlFunction(2, 2, _geo, Kind.DOUBLE),
        "geo_is_geometry": _geo_function(1),
    }
)
"""By their names, which are compared exactly."""
