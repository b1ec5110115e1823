"""The Markdown pages of the repository, and what they link to.

Whether links lead somewhere is checked by `tools/tidy.py`, over the whole repository.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from tools.tidy import LINK, unfenced

__all__ = ["ROOT", "linked_files", "pages"]

ROOT: Final = Path(__file__).resolve().parent.parent


def pages() -> list[Path]:
    """Every page that people read: those of docs, those beside the README, and reports."""
    places = (ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"), *map(_beside, ("bench", "deploy")))
    return [page for each in places for page in sorted(each)]


def linked_files(text: str, folder: Path) -> Iterator[Path]:
    """The files of the repository that a page of `folder` links to, outside of code blocks."""
    for found in LINK.finditer(unfenced(text)):
        parts = urlsplit(found["target"])
        if parts.path and not parts.scheme:
            file = (folder / unquote(parts.path)).resolve()
            if file.is_file():
                yield file


def _beside(folder: str) -> Iterator[Path]:
    return (ROOT / folder).glob("*.md")
