"""Moments of points as people type and read them: in UTC, microseconds since 1970."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from widerow.console.parts import ConsoleRefused
from widerow.limits import INT64_MAX

__all__ = ["moment_asked", "moment_text", "tick_text"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TYPED: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?Z?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_FRACTION: Final = re.compile(r"\.(\d{1,5})(?=Z?$)")
_SECOND: Final = 1_000_000
_DAY: Final = 86_400 * _SECOND


def moment_asked(name: str, text: str) -> int:
    """The microseconds since 1970 of a date with or without a time, or of such a number.

    Raises: `ConsoleRefused` with the name of the field.
    """
    text = text.strip()
    if _NUMBER.fullmatch(text) and int(text) <= INT64_MAX:
        return int(text)
    try:
        if _TYPED.fullmatch(text):
            whole = _FRACTION.sub(lambda found: "." + found[1].ljust(6, "0"), text)
            moment = datetime.fromisoformat(whole.removesuffix("Z")).replace(tzinfo=UTC)
            if moment >= _EPOCH:
                return (moment - _EPOCH) // timedelta(microseconds=1)
    except ValueError:
        pass  # no such day, or no such hour: refused below
    raise ConsoleRefused(
        400,
        f"{name}: {text[:60]!r} is not a time from 1970 on.",
        "Write 2026-09-21 or 2026-09-21 13:30:00 (UTC), or microseconds since 1970.",
    )


def moment_text(time_us: int, between: str = " ") -> str:
    """A moment as `moment_asked` reads it; behind the year 9999, the number."""
    try:
        moment = _EPOCH + timedelta(microseconds=time_us)
    except OverflowError:
        return str(time_us)
    fraction = f".{moment:%f}".rstrip("0") if time_us % _SECOND else ""
    return f"{moment:%Y-%m-%d}{between}{moment:%H:%M:%S}{fraction}"


def tick_text(time_us: int, step_us: int) -> str:
    """A moment below a picture, no longer than times a step apart need."""
    text = moment_text(time_us)
    if len(text) < len("2026-09-21 00:00:00") or step_us >= _DAY:
        return text.partition(" ")[0]
    if time_us % _DAY == 0 and step_us >= 60 * _SECOND:
        return text[5:10]
    return text[11:16] if step_us >= 60 * _SECOND else text[11:]
