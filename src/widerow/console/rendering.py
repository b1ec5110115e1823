"""Renders documents as HTML by templates; formats numbers, sizes and times.

Everything that a template is given is escaped; templates are ours and are loaded once.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from widerow.console.parts import ROOT, ConsolePage, PageDocument, address
from widerow.console.statics import static_mark

__all__ = ["Rendering"]

_TEMPLATES: Final = Path(__file__).with_name("templates")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SPANS: Final = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_LARGE: Final = ((1e9, "G"), (1e6, "M"), (1e4, "k"))


class Rendering:
    """The templates, and what every one of them gets besides its document."""

    def __init__(self, pages: Sequence[ConsolePage]) -> None:
        """`pages`: in the order of the menu."""
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= _FILTERS
        environment.globals |= {
            "address": address,
            "root": ROOT,
            "static": _static_address,
            "menu": [page for page in pages if page.nav],
        }
        self._environment = environment

    def page(self, template: str, document: PageDocument, frame: PageDocument) -> bytes:
        """A whole page; `frame`: what surrounds the document (the visitor, since when)."""
        made = self._environment.get_template(template).render(**frame, d=document)
        return made.encode("utf-8", "replace")


def _static_address(name: str) -> str:
    return f"{ROOT}static/{name}?v={static_mark(name)}"


def _size_text(size: float) -> str:
    """Bytes in the unit that leaves one to three digits."""
    number = float(size)
    for unit in _UNITS:
        if number < 1000 or unit == _UNITS[-1]:
            return (
                f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
            )
        number /= 1024
    raise AssertionError(size)


def _count_text(number: float) -> str:
    """A number with at most seven digits: 12,345, 1.2M."""
    for least, letter in _LARGE:
        if abs(number) >= least * 1000 or (letter != "k" and abs(number) >= least * 10):
            return f"{number / least:,.1f}{letter}"
    whole = number == int(number)
    return f"{number:,.0f}" if whole or abs(number) >= 100 else f"{number:,.1f}"


def _span_text(seconds: float) -> str:
    """A length of time in its two largest units."""
    rest = int(seconds)
    words = []
    for length, unit in _SPANS:
        if rest >= length:
            words.append(f"{rest // length} {unit}")
            rest %= length
    return " ".join(words[:2]) or "0 s"


def _moment_text(milliseconds: int) -> str:
    """A moment in UTC, to the second; a number that is not a date unchanged."""
    try:
        return f"{_EPOCH + timedelta(milliseconds=milliseconds):%Y-%m-%d %H:%M:%S}"
    except OverflowError:
        return str(milliseconds)


def _clock_text(milliseconds: int, *, seconds: bool = False) -> str:
    """The time of day of a moment, in UTC."""
    form = "%H:%M:%S" if seconds else "%H:%M"
    return format(_EPOCH + timedelta(milliseconds=milliseconds), form)


def _percent_text(part: float) -> str:
    """A part of 1 in per cent."""
    return f"{100 * part:.0f} %" if part >= 0.0995 or part == 0 else f"{100 * part:.1f} %"


_FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "size": _size_text,
    "number": _count_text,
    "span": _span_text,
    "moment": _moment_text,
    "clock": _clock_text,
    "percent": _percent_text,
}
