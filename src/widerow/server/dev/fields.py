"""Reads the JSON bodies of dev mode, by tables of their fields.

A field is a function that converts a value or raises, and a text that says what is allowed. Unknown
fields are refused.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from widerow.errors import WiderowError
from widerow.limits import (
    DEV_NAME_CHARACTERS_MAX,
    FAULT_DELAY_MS_MAX,
    INT64_MAX,
)

__all__ = [
    "CLOCK_MS_MAX",
    "CLOCK_SECONDS_MAX",
    "BodyField",
    "FieldRefused",
    "choice",
    "duration_seconds",
    "read_document",
    "read_fields",
]

CLOCK_MS_MAX: Final = INT64_MAX // 1_000_000
"""The last time of the clock: the last version that a cell can have (semantics §1.6)."""
CLOCK_SECONDS_MAX: Final = CLOCK_MS_MAX // 1000
_ROW_NUMBERS_MAX: Final = 200  # rows of the largest batch
_ROW_NUMBER_MAX: Final = 9_999  # no batch has so many rows
_COUNT_MAX: Final = 1_000_000_000
_SEED_MAX: Final = 2**63 - 1
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SPAN: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m|h|d)")


class FieldRefused(WiderowError):
    """A body is not allowed. `field`: the part that is wrong; `allowed`: what it may be."""

    def __init__(self, field: str, allowed: str) -> None:
        """One field of the body, or `body` for the whole."""
        super().__init__(f"{field}: {allowed}")
        self.field = field
        self.allowed = allowed


class BodyField(NamedTuple):
    """A field: what it may hold, in words, and the check, which raises `ValueError`."""

    allowed: str
    read: Callable[[Any], Any]


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise FieldRefused(_shown(name), "is given twice; once is allowed")
        found[name] = value
    return found


def read_document(body: bytes) -> dict[str, Any]:
    """The JSON object of a body; {} for an empty body. Raises `FieldRefused`."""
    if not body.strip():
        return {}
    try:
        found = json.loads(body.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise FieldRefused("body", "must be a JSON object in UTF-8") from error
    if not isinstance(found, dict):
        raise FieldRefused("body", "must be a JSON object")
    return found


def read_fields(document: Mapping[str, Any], fields: Mapping[str, BodyField]) -> dict[str, Any]:
    """The given fields, converted. A null counts as not given.

    Raises `FieldRefused` for the first one that is unknown or not allowed.
    """
    for name in document:
        if name not in fields:
            raise FieldRefused(_shown(name), f"is not a field here; known are {', '.join(fields)}")
    found = {}
    for name, value in document.items():
        if value is None:
            continue
        try:
            found[name] = fields[name].read(value)
        except (ValueError, OverflowError) as error:
            raise FieldRefused(name, f"must be {fields[name].allowed}") from error
    return found


def _shown(name: str) -> str:
    return name[:DEV_NAME_CHARACTERS_MAX].encode("ascii", "backslashreplace").decode()


# --- what fields may hold -------------------------------------------------------------------------


def _refused(value: object) -> ValueError:
    return ValueError(type(value).__name__)


def _text(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= DEV_NAME_CHARACTERS_MAX:
        raise _refused(value)
    value.encode()  # refuses lone surrogates
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _refused(value)
    return value


def _set(value: object) -> bool:
    if value is not True:
        raise _refused(value)
    return True


def _whole(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _refused(value)
        return value

    return read


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _refused(value)
    return float(value)


def _part(value: object) -> float | frozenset[int]:
    if isinstance(value, list):
        if not 0 < len(value) <= _ROW_NUMBERS_MAX:
            raise _refused(value)
        number = _whole(0, _ROW_NUMBER_MAX)
        return frozenset(number(each) for each in value)
    share = _share(value)
    if share == 0:
        raise _refused(value)
    return share


def _moment_ms(value: object) -> int:
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise _refused(value)
        value = round(moment.timestamp() * 1000)
    return _whole(0, CLOCK_MS_MAX)(value)


def duration_seconds(value: object) -> float:
    """A span: a number of seconds, or a text such as `1h30m`, `500ms`, `-10s`. May be negative.

    Raises: `ValueError`.
    """
    if isinstance(value, str):
        value = _span_seconds(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refused(value)
    if not math.isfinite(value) or abs(value) > CLOCK_SECONDS_MAX:
        raise _refused(value)
    return float(value)


def _span_seconds(text: str) -> float:
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text)
    parts = _SPAN.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        raise _refused(text)
    return sign * sum(float(number) * _UNITS[unit] for number, unit in parts)


def choice(words: Iterable[str]) -> BodyField:
    """A field for one of `words`."""
    known = tuple(words)

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise _refused(value)
        return value

    return BodyField(f"one of {', '.join(known)}", read)


NAME: Final = BodyField(f"a text of 1 to {DEV_NAME_CHARACTERS_MAX} characters", _text)
FLAG: Final = BodyField("true or false", _flag)
SET: Final = BodyField("true", _set)
COUNT: Final = BodyField(f"a whole number from 1 to {_COUNT_MAX}", _whole(1, _COUNT_MAX))
SKIP: Final = BodyField(f"a whole number from 0 to {_COUNT_MAX}", _whole(0, _COUNT_MAX))
SEED: Final = BodyField(f"a whole number from 0 to {_SEED_MAX}", _whole(0, _SEED_MAX))
SHARE: Final = BodyField("a number from 0 to 1", _share)
DELAY_MS: Final = BodyField(
    f"a whole number of milliseconds from 0 to {FAULT_DELAY_MS_MAX}",
    _whole(0, FAULT_DELAY_MS_MAX),
)
PART: Final = BodyField(
    "a share above 0 and up to 1 of the batch's rows, or a list of numbers of rows, the first is 0",
    _part,
)
MOMENT: Final = BodyField(
    "milliseconds since 1970, or a time as 2026-01-31T12:00:00Z with its zone", _moment_ms
)
SPAN: Final = BodyField("seconds, or a text such as 1h30m, 500ms or -10s", duration_seconds)
