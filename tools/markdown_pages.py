"""The Markdown pages of the repository: what they link to, and the anchors of their headings.

    python tools/markdown_pages.py

prints each link that leads nowhere: a file or a folder that is not there, a heading that the page
does not have, an address that is none. Addresses of other hosts are looked at and not asked for.
Anchors are those that a code host makes: the heading in small letters, without punctuation, with
hyphens for blanks, and numbered where they come again.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

__all__ = ["ROOT", "Link", "anchors", "broken_links", "links", "pages", "target"]

ROOT: Final = Path(__file__).resolve().parent.parent
FENCE: Final = re.compile(r"^(?P<fence>```+).*?^(?P=fence)$", re.MULTILINE | re.DOTALL)
CODE: Final = re.compile(r"(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)")
LINK: Final = re.compile(r"\]\(<?(?P<address>[^()\s>]+(?:\([^()\s]*\))?)>?(?: \"[^\"]*\")?\)")
HEADING: Final = re.compile(r"^#{1,6} +(?P<text>.+?)(?: +#+)?$", re.MULTILINE)
LINKED_TEXT: Final = re.compile(r"!?\[(?P<text>[^]]*)\]\([^)]*\)")
SCHEMES: Final = frozenset(("http", "https", "mailto"))


class Link(NamedTuple):
    """An address in a page, and the line where it stands."""

    page: Path
    line: int
    address: str

    def __str__(self) -> str:
        """As editors find it."""
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.address}"


def pages() -> list[Path]:
    """Every page that people read: those of docs, those beside the README, and reports."""
    places = (ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"), *map(_beside, ("bench", "deploy")))
    return [page for each in places for page in sorted(each)]


def links(page: Path) -> Iterator[Link]:
    """The links and pictures of a page, outside of code."""
    text = FENCE.sub(_blank, page.read_text(encoding="utf-8"))
    for found in LINK.finditer(CODE.sub(_blank, text)):
        yield Link(page, text.count("\n", 0, found.start()) + 1, found["address"])


def target(link: Link) -> Path | None:
    """The file or folder that a link leads to, there or not; None for an address of a host."""
    parts = urlsplit(link.address)
    if parts.scheme or parts.netloc:
        return None
    return (link.page.parent / unquote(parts.path)).resolve() if parts.path else link.page


def anchors(page: Path) -> set[str]:
    """What may stand behind the `#` of a link to this page."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    times: dict[str, int] = {}
    made = set()
    for found in HEADING.finditer(text):
        words = LINKED_TEXT.sub(r"\g<text>", found["text"]).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        made.add(f"{slug}-{times[slug]}" if slug in times else slug)
        times[slug] = times.get(slug, 0) + 1
    return made


def broken_links() -> Iterator[str]:
    """A line for each link that leads nowhere: where it stands, and what is wrong."""
    for page in pages():
        for link in links(page):
            if fault := _fault(link):
                yield f"{link}: {fault}"


def _beside(folder: str) -> Iterator[Path]:
    return (ROOT / folder).glob("*.md")


def _fault(link: Link) -> str:
    parts = urlsplit(link.address)
    found = target(link)
    if found is None:
        named = parts.scheme in SCHEMES and (parts.scheme == "mailto" or "." in parts.netloc)
        return "" if named else "this is no address"
    if not found.is_relative_to(ROOT):
        return "it leads out of the repository"
    if not found.exists():
        return "there is no such file"
    if parts.fragment and found.suffix == ".md" and parts.fragment not in anchors(found):
        return f"the page has no heading #{parts.fragment}"
    return ""


def _blank(found: re.Match[str]) -> str:
    """As many lines and characters, and nothing in them."""
    return re.sub(r"[^\n]", " ", found[0])


if __name__ == "__main__":
    faults = list(broken_links())
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else 0)
