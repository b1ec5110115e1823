"""Wildcards: `*` any run of characters, `?` any one, backslash escapes either (search §4.1).

The pattern is cut at each `*`, and each piece is searched after the one before, at its first
occurrence; no piece is tried again, so that no pattern is slow.
"""

from typing import Final, final

__all__ = ["Wildcard"]

_ANY: Final = ""  # stands for any character


@final
class Wildcard:
    """A pattern. `prefix`: its fixed beginning; `longest`: its longest fixed part.

    `is_prefix`, `is_part`: a text matches exactly if it begins with `prefix`, or contains
    `longest`.
    """

    def __init__(self, pattern: str) -> None:
        """Read a pattern; every text is one. A backslash at the end stands for itself."""
        self._pieces = _pieces(pattern)
        first = self._pieces[0]
        self.prefix = "".join(first[: first.index(_ANY)] if _ANY in first else first)
        self.longest = max(
            (run for each in self._pieces for run in _runs(each)), key=len, default=""
        )

        plain = all(_ANY not in each for each in self._pieces)
        counts = [len(each) for each in self._pieces]
        self.is_prefix = plain and len(counts) == 2 and counts[1] == 0
        self.is_part = plain and len(counts) == 3 and counts[0] == counts[2] == 0 < counts[1]

    def matches(self, text: str) -> bool:
        """Whether the whole text has this form. Cost: the text's length times the pattern's."""
        first, *rest = self._pieces
        if not _fits(first, text, 0):
            return False
        if not rest:
            return len(text) == len(first)
        at = len(first)
        *middle, last = rest
        for piece in middle:
            found = _find(piece, text, at)
            if found is None:
                return False
            at = found + len(piece)
        end = len(text) - len(last)
        return end >= at and _fits(last, text, end)


def _pieces(pattern: str) -> list[list[str]]:
    """The characters between the `*` of a pattern."""
    pieces: list[list[str]] = [[]]
    escaped = False
    for at, character in enumerate(pattern):
        if escaped:
            pieces[-1].append(character)
            escaped = False
        elif character == "\\" and at + 1 < len(pattern):
            escaped = True
        elif character == "*":
            pieces.append([])
        else:
            pieces[-1].append(_ANY if character == "?" else character)
    return pieces


def _runs(piece: list[str]) -> list[str]:
    """The texts between the `?` of a piece."""
    runs = [""]
    for character in piece:
        if character == _ANY:
            runs.append("")
        else:
            runs[-1] += character
    return runs


def _fits(piece: list[str], text: str, at: int) -> bool:
    if at + len(piece) > len(text):
        return False
    return all(
        character in (_ANY, found)
        for character, found in zip(piece, text[at : at + len(piece)], strict=True)
    )


def _find(piece: list[str], text: str, at: int) -> int | None:
    if _ANY not in piece:
        found = text.find("".join(piece), at)
        return None if found < 0 else found
    last = len(text) - len(piece)
    return next((start for start in range(at, last + 1) if _fits(piece, text, start)), None)
