"""Citations that can be followed: every section that is cited stands in a page under `docs`.

A citation is a word and one or more sections, `semantics §4.8, §5.1-§5.4`. The word is the stem of
a page's file name or one of the short names that `docs/spec/README.md` lists in a table. Sections
behind a comma, a semicolon, a slash or `and` belong to the word before them. Within a page of
`docs`, a section without a word is one of its own; anywhere else it needs one.

`tools/tidy.py` runs the check over the whole repository.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final, NamedTuple

__all__ = ["TABLE", "Citation", "Wrong", "citations", "sections", "short_names", "wrong_citations"]

SIGN: Final = "\N{SECTION SIGN}"  # not written out: this file is looked through as well
TABLE: Final = "docs/spec/README.md"  # where the short names are listed
NEAREST: Final = 4  # how many sections a message names

NUMBER: Final = r"(?:[A-Z]\d*|\d+)(?:\.\d+)*(?![A-Za-z])"
GAP: Final = r"\s*(?:\n\s*(?:#:?|//|\*)\s*)?"  # white space, a comment's next line too
SEPARATOR: Final = rf"{GAP}(?:[,;/]{GAP}(?:and\b)?|and\b|or\b){GAP}"
RANGE: Final = rf"(?:[-–]{SIGN}?|{GAP}to{GAP}{SIGN})"
CITED: Final = rf"(?P<first>{NUMBER})(?:{RANGE}(?P<last>{NUMBER}))?"
MARK: Final = rf"(?P<mark>{SIGN}{SIGN}?) ?"
MARKED: Final = re.compile(MARK + CITED)
UNNUMBERED: Final = re.compile(rf"(?<!{SIGN}){MARK}(?!{NUMBER}|{SIGN})(?P<cited>\S*)")
NEXT_MARKED: Final = re.compile(SEPARATOR + MARK + CITED)
NEXT_NUMBER: Final = re.compile(rf"{SEPARATOR}{CITED}")
WORD_BEFORE: Final = re.compile(rf"(?P<word>[A-Za-z][A-Za-z-]*)(?:\.md)?[`*)\]]*{GAP}$")
WORD_CHARS: Final = 100  # how far back a word and the white space behind it may reach

FENCE: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING: Final = re.compile(
    r"^#{2,6} +(?P<number>[A-Z](?=\. )|[A-Z]?\d+(?:\.\d+)*)(?=\.? )", re.MULTILINE
)
ROW: Final = re.compile(r"^\| *`(?P<name>[a-z-]+)` *\| *\[[^]]*\]\((?P<page>[\w./-]+)\) *\|")
PARTS: Final = re.compile(r"[A-Z]|\d+")


class Citation(NamedTuple):
    """What one mark cites: a section, or all from `first` to `last`, both with them."""

    line: int
    word: str  # in lower case; nothing if there is none
    first: str
    last: str  # `first` itself if a single section is cited

    def __str__(self) -> str:
        ends = SIGN + self.first + (f"-{SIGN}{self.last}" if self.last != self.first else "")
        return f"{self.word} {ends}".lstrip()


class Wrong(NamedTuple):
    """A citation, or a row of the table of names, that leads nowhere."""

    path: str
    line: int
    message: str


def wrong_citations(texts: Mapping[str, str]) -> Iterator[Wrong]:
    """Every citation in `texts` (by path) that does not lead to a section of a page."""
    pages = {path: sections(text) for path, text in texts.items() if is_page(path)}
    names = {PurePosixPath(path).stem: path for path in pages}
    for name, (line, path) in short_names(texts.get(TABLE, "")).items():
        if path not in pages:
            yield Wrong(TABLE, line, f"the name {name} stands for {path}, which does not exist")
        names[name] = path
    for path, text in texts.items():
        for cited in citations(text):
            page = names.get(cited.word, path if path in pages else "")
            if message := fault(cited, page, pages.get(page, [])):
                yield Wrong(path, cited.line, message)
        for found in UNNUMBERED.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield Wrong(path, line, f"{found.group()}: cite a section by its number")


def is_page(path: str) -> bool:
    """Whether a file may be cited by its stem."""
    return path.startswith("docs/") and path.endswith(".md") and not path.endswith("/README.md")


def short_names(table: str) -> dict[str, tuple[int, str]]:
    """The names that `docs/spec/README.md` lists: each one's line and the path of its page."""
    found = ((number, ROW.match(line)) for number, line in enumerate(table.splitlines(), 1))
    folder = PurePosixPath(TABLE).parent
    return {row["name"]: (number, str(folder / row["page"])) for number, row in found if row}


def sections(page: str) -> list[str]:
    """The numbers of a page's headings below its title, in their order. Code has none."""
    return [found["number"] for found in HEADING.finditer(FENCE.sub("", page))]


def citations(text: str) -> Iterator[Citation]:
    """Every citation in a text, in order."""
    found = MARKED.search(text)
    while found:
        before = WORD_BEFORE.search(text[max(0, found.start() - WORD_CHARS) : found.start()])
        word = before["word"].lower() if before else ""
        plural = found["mark"] == SIGN * 2
        cited: re.Match[str] | None = found
        while cited:
            line = text.count("\n", 0, cited.start("first")) + 1
            yield Citation(line, word, cited["first"], cited["last"] or cited["first"])
            found = cited
            cited = NEXT_MARKED.match(text, found.end())
            if cited is None and plural:
                cited = NEXT_NUMBER.match(text, found.end())
        found = MARKED.search(text, found.end())


def fault(cited: Citation, page: str, present: list[str]) -> str:
    """What is wrong with a citation of a page with these sections; nothing if it is right."""
    if not page:
        what = f"{cited.word} names no page" if cited.word else "no page is named"
        return f"{cited}: {what}; put a name from {TABLE} in front of the section"
    for number in (cited.first, cited.last):
        if number not in present:
            near = ", ".join(SIGN + each for each in nearest(number, present))
            return f"{cited}: {page} has no section {number}; nearest: {near or 'none at all'}"
    if present.index(cited.first) > present.index(cited.last):
        return f"{cited}: the first section stands behind the last one in {page}"
    return ""


def nearest(number: str, present: list[str]) -> list[str]:
    """The sections around where `number` would stand."""
    ordered = sorted(present, key=rank)
    place = bisect(ordered, rank(number), key=rank)
    start = max(0, min(place - NEAREST // 2, len(ordered) - NEAREST))
    return ordered[start : start + NEAREST]


def rank(number: str) -> list[tuple[str, int]]:
    """What orders sections: `4.10` behind `4.9`, letters behind numbers."""
    parts = PARTS.findall(number)
    return [("", int(part)) if part.isdigit() else (part, 0) for part in parts]
