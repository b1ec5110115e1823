"""Rows as a grid: which columns it has, of what types, and where its rows stand among all.

Parameters of an address: `show.NAME` for each column that was chosen (without any: the usual ones),
`seen` for the number of rows on the pages before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from widerow.console.parts import PageDocument, Visit, address

__all__ = [
    "FILE_FORMS",
    "MIXED",
    "files_of",
    "grid_columns",
    "grid_place",
    "names_chosen",
    "next_address",
    "usual_columns",
]

FILE_FORMS: Final = {"csv": "CSV", "json": "JSON", "jsonl": "JSON lines"}
"""Forms of files with rows: what their names end with, and what people call them."""

MIXED: Final = "mixed"
"""The type of a column whose values have several."""

_NUMBERS: Final = frozenset(("integer", "double", "float", "long", "number"))
_CHOICE: Final = "show."
_USUAL_MAX: Final = 8  # of attributes, beside the key's; a row has all of them on its own page
_MOVED: Final = ("after", "seen")  # of an address: which page of the rows
_UNBOUNDED: Final = frozenset(
    (*("instance", "table", "model", "order", "limit", "imported", "repeated"), *_MOVED)
)


def names_chosen(asked: Mapping[str, str]) -> list[str]:
    """The columns that the address asks for, in its order."""
    return [name.removeprefix(_CHOICE) for name in asked if name.startswith(_CHOICE)]


def grid_columns(kinds: Iterable[tuple[str, Iterable[str]]]) -> list[PageDocument]:
    """Columns for a grid, of their names and the types that their values have."""
    found = []
    for name, several in kinds:
        types = set(several)
        number = bool(types) and all(each.lower() in _NUMBERS for each in types)
        one = types.pop() if len(types) == 1 else MIXED if types else ""
        found.append({"name": name, "type": one, "number": number})
    return found


def usual_columns(rows: Sequence[Iterable[str]]) -> list[str]:
    """The columns that most rows of a page have, as many as fit, by name."""
    count = Counter(name for row in rows for name in row)
    return sorted(sorted(count, key=lambda name: (-count[name], name))[:_USUAL_MAX])


def grid_place(visit: Visit, count: int, more: str, size: PageDocument | None) -> PageDocument:
    """Which rows a page has: the first and the last number, and of how many.

    `of`: None where nobody counted. `exact`: whether they were counted; otherwise they are a
    statistic, in `size`, which tells something about all rows only.
    """
    first = visit.number("seen", 0, 10**9)
    last = first + count
    bounded = any(
        text and name not in _UNBOUNDED and not name.startswith(_CHOICE)
        for name, text in visit.asked.items()
    )
    if not more:
        return {"first": first + 1, "last": last, "of": last, "exact": True}
    rows = 0 if bounded or size is None else size["rows"]
    known = rows if rows > last else None
    return {"first": first + 1, "last": last, "of": known, "exact": False}


def next_address(visit: Visit, page: str, after: str, count: int) -> str:
    """The address of the page behind one with so many rows, maybe none, that begins at `after`."""
    asked = {name: text for name, text in visit.asked.items() if name not in _MOVED}
    seen = visit.number("seen", 0, 10**9) + count
    return address(page, **asked, after=after, seen=seen or "")


def files_of(visit: Visit, page: str = "rows") -> PageDocument:
    """Addresses of the rows as files: those of this page as JSON, and all that are asked for.

    `page`: which shows them.
    """
    asked = {name: text for name, text in visit.asked.items() if name not in ("format", "all")}
    every = {n: text for n, text in asked.items() if n not in (*_MOVED, "limit")}
    return {
        "first": address(page, **{n: text for n, text in asked.items() if n not in _MOVED}),
        "page": address("download", **asked, format="json"),
        "all": [
            {"name": title, "address": address("download", **every, format=form, all=1)}
            for form, title in FILE_FORMS.items()
        ],
    }
