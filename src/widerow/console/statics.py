"""The files that pages load: styles and scripts, and two libraries, all from this package.

`static/vendored.json` has the package, the version and the SHA-256 of each file from a library; a
test compares. The licences are in the same folder.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

__all__ = ["STATIC", "find_static", "static_mark"]

STATIC: Final = Path(__file__).with_name("static")
"""The folder of the files."""

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
    """Content type and bytes of a file in the folder, or None."""
    if name not in _names():
        return None
    return _KINDS[Path(name).suffix], _data(name)


@cache
def static_mark(name: str) -> str:
    """Some digits that change with the file, so that browsers may cache it."""
    return sha256(_data(name)).hexdigest()[:10]
