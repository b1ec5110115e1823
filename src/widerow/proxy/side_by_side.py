"""Two JSON values as text in two columns, with a mark where they differ."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Final

__all__ = ["compact_lines", "side_by_side"]

_WIDTH: Final = 60  # characters of a column: two of them fit a wide screen
_FIT: Final = 48  # of a value on one line: its name and a comma come on top
_INDENT: Final = "  "


def compact_lines(tree: Any, indent: str = "") -> list[str]:  # noqa: ANN401  # whatever JSON has
    """The value as lines of JSON: on one line what fits, else an element or a field on each."""
    whole = json.dumps(tree, ensure_ascii=False)
    if len(indent) + len(whole) <= _FIT or not isinstance(tree, dict | list) or not tree:
        return [indent + whole]
    inner = indent + _INDENT
    lines: list[str] = []
    if isinstance(tree, dict):
        for name, value in tree.items():
            first, *rest = compact_lines(value, inner)
            lines += [f"{inner}{json.dumps(name)}: {first.removeprefix(inner)}", *rest]
            lines[-1] += ","
    else:
        for value in tree:
            lines += compact_lines(value, inner)
            lines[-1] += ","
    lines[-1] = lines[-1].removesuffix(",")
    opening, closing = ("{", "}") if isinstance(tree, dict) else ("[", "]")
    return [indent + opening, *lines, indent + closing]


def side_by_side(left: Any, right: Any) -> list[str]:  # noqa: ANN401  # whatever JSON has
    """Lines of two columns; `|` stands between lines that differ.

    Quadratic in the number of lines at worst: for values of a bounded length.
    """
    ours, theirs = _wrapped(compact_lines(left)), _wrapped(compact_lines(right))
    return [
        f"{one:<{_WIDTH}} {' ' if same else '|'} {other}".rstrip()
        for one, other, same in _aligned(ours, theirs)
    ]


def _aligned(ours: list[str], theirs: list[str]) -> Iterator[tuple[str, str, bool]]:
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for tag, begin, end, their_begin, their_end in matcher.get_opcodes():
        pairs = zip_longest(ours[begin:end], theirs[their_begin:their_end], fillvalue="")
        for one, other in pairs:
            yield one, other, tag == "equal"


def _wrapped(lines: list[str]) -> list[str]:
    return [
        line[start : start + _WIDTH]
        for line in lines
        for start in range(0, max(1, len(line)), _WIDTH)
    ]
