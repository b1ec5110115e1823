"""Which characters the values of a column are made of.

UTF-8 sorts as code points do, so characters are compared instead of bytes: a character is less than
another exactly if its bytes are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from widerow.keydesign.key import KeyDesignInvalid

__all__ = ["Alphabet"]


@dataclass(frozen=True, slots=True)
class Alphabet:
    """A set of characters, as ranges that include both ends."""

    ranges: tuple[tuple[str, str], ...]

    @classmethod
    def parsed(cls, text: str) -> "Alphabet":
        """From words such as `0-9A-Za-z_`; a hyphen as a character stands first or last.

        Raises `KeyDesignInvalid` for an empty text, or a range whose end is before its start.
        """
        ranges, at = [], 0
        while at < len(text):
            end = at + 2 if text[at + 1 : at + 2] == "-" and at + 2 < len(text) else at
            if text[end] < text[at]:
                raise KeyDesignInvalid(f"the range {text[at : end + 1]} of an alphabet is reversed")
            ranges.append((text[at], text[end]))
            at = end + 1
        if not ranges:
            raise KeyDesignInvalid("an alphabet has at least one character")
        return cls(tuple(sorted(ranges)))

    @classmethod
    def observed(cls, values: Iterable[str]) -> "Alphabet":
        """The characters that occur in some values."""
        characters: set[str] = set()
        for value in values:
            characters.update(value)
        return cls(_joined(sorted(characters)))

    def without(self, character: str) -> "Alphabet":
        """The alphabet without one character."""
        kept = []
        for low, high in self.ranges:
            if not low <= character <= high:
                kept.append((low, high))
                continue
            if low < character:
                kept.append((low, chr(ord(character) - 1)))
            if character < high:
                kept.append((chr(ord(character) + 1), high))
        return Alphabet(tuple(kept))

    def __contains__(self, character: str) -> bool:
        return any(low <= character <= high for low, high in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    @property
    def smallest(self) -> str:
        """The character that sorts first; for an empty alphabet, the last code point."""
        return min((low for low, _ in self.ranges), default=chr(0x10FFFF))

    def __str__(self) -> str:
        """The ranges as `parsed` takes them; a range that begins with a hyphen comes first."""
        ordered = sorted(self.ranges, key=lambda each: (each[0] != "-", each))
        return "".join(_words(ordered))


def _words(ranges: Iterable[tuple[str, str]]) -> Iterator[str]:
    for low, high in ranges:
        yield low if low == high else f"{low}-{high}"


def _joined(characters: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Neighbouring characters as ranges."""
    ranges: list[tuple[str, str]] = []
    for each in characters:
        if ranges and ord(each) == ord(ranges[-1][1]) + 1:
            ranges[-1] = (ranges[-1][0], each)
        else:
            ranges.append((each, each))
    return tuple(ranges)
