"""Files that pages load: styles and scripts of ours, and two libraries, all from this package.

`static/vendored.json` says of each file of somebody else which package and version it is from, and
its SHA-256; a test compares. Their licences lie beside them.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

__all__ = ["STATIC", "find_static", "static_mark"]

STATIC: Final = Path(__file__).with_name("static")
"""Where the files are."""

_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def _names() -> frozenset[str]:
    return frozenset(each.name for each in STATIC.iterdir() if each.suffix in _KINDS)


@cache
def _data(name: str) -> bytes:
    return (STATIC / name).read_bytes()


def find_static(name: str) -> tuple[str, bytes] | None:
    """Content type and bytes of a file, or None. Only what lies in the folder has a name."""
    if name not in _names():
        return None
    return _KINDS[Path(name).suffix], _data(name)


@cache
def static_mark(name: str) -> str:
    """A few digits that change when the file does, so that browsers may keep it."""
    return sha256(_data(name)).hexdigest()[:10]
