"""Which headers of a request the listener keeps, and their names however they are spelt.

Kept are headers of HTTP that the listener acts on, and headers that dialects name. All others are
counted against the bounds and dropped.
"""

from collections.abc import Iterable
from typing import Final, final

from widerow.wire.dialect import HeaderNames

__all__ = ["HTTP_HEADERS", "PAGE_HEADERS", "PORT_HEADERS", "KeptHeaders", "Spelling"]

HTTP_HEADERS: Final = frozenset(("connection", "content-length", "expect", "transfer-encoding"))
"""The headers that the listener acts on. They may be repeated; values are joined."""

PAGE_HEADERS: Final = frozenset(
    (
        *("cookie", "forwarded", "host", "hx-request", "origin", "sec-fetch-site", "via"),
        *("x-csrf-token", "x-forwarded-for", "x-real-ip"),
    )
)
"""The headers that web pages read: who asks, and from where. They may be repeated."""

PORT_HEADERS: Final = PAGE_HEADERS | {"authorization"}
"""The headers that pages of the port read: those, and the key of who asks for `/metrics`."""

_SPELLINGS_MAX: Final = 512  # spellings of header names remembered; clients use a few dozen


@final
class Spelling:
    """A header's name as it is sent, and as the server acts on it: "" if it does not.

    `text` is the last value, as bytes in `value`: most headers repeat their value.
    """

    __slots__ = ("name", "raw", "text", "value")

    def __init__(self, raw: bytes, name: str) -> None:
        """`raw` is a spelling of `name`."""
        self.raw = raw
        self.name = name
        self.value = b""
        self.text = ""

    def read(self, value: bytes) -> str:
        """The text of `value`: UTF-8, or Latin-1 if it is not UTF-8."""
        if value != self.value:
            self.text = _text_of(value)
            self.value = value
        return self.text


@final
class KeptHeaders:
    """The headers that one listener keeps. Lives on the loop's thread."""

    __slots__ = ("_kept", "_spellings")

    def __init__(self, kept: Iterable[HeaderNames]) -> None:
        """Keeps headers of HTTP, and all of `kept`."""
        self._kept = tuple(kept)
        self._spellings: dict[bytes, Spelling] = {}

    def spelling(self, raw: bytes) -> Spelling:
        """The name of a header that was sent as `raw`. Remembered, within a bound."""
        found = self._spellings.get(raw)
        if found is None:
            lowered = raw.lower().decode("latin-1")
            found = Spelling(raw, lowered if self._keeps(lowered) else "")
            if len(self._spellings) < _SPELLINGS_MAX:
                self._spellings[raw] = found
        return found

    def _keeps(self, name: str) -> bool:
        for each in self._kept:
            if each.has(name):
                return True
        return name in HTTP_HEADERS


def _text_of(value: bytes) -> str:
    try:
        return value.decode().strip()
    except UnicodeDecodeError:
        return value.decode("latin-1").strip()
