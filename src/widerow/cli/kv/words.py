"""From text to words: quotes, comments, `;` (cli §1).

One scanner reads a text once and says where it is: outside everything, in a quote, in a comment.
Cost: linear in the text.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

__all__ = ["Scan", "scan", "split_words"]

_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
}
_OCTAL: Final = "01234567"


class Scan(NamedTuple):
    """What a text holds: its commands without comments, and how it ends.

    `commands` has no empty ones. `ended`: its last word is followed by a `;`. `open_quote`: a quote
    is not closed, so that the last command is not whole.
    """

    commands: tuple[str, ...]
    ended: bool
    open_quote: bool


class _Place(Enum):
    """Where a character stands."""

    OUTSIDE = "outside"
    QUOTED = "quoted"
    COMMENT = "comment"


def scan(text: str) -> Scan:
    """Take comments out of `text` and cut it at each `;` outside quotes.

    Lines are joined with a space.
    """
    commands: list[str] = []
    piece: list[str] = []
    ended = False
    place = _Place.OUTSIDE
    for character, place in _places(text):
        if place is _Place.COMMENT:
            continue
        if place is _Place.OUTSIDE and character == ";":
            commands.append("".join(piece).strip())
            piece, ended = [], True
            continue
        if not character.isspace():
            ended = False
        piece.append(" " if character == "\n" else character)
    commands.append("".join(piece).strip())
    open_quote = place is _Place.QUOTED
    return Scan(tuple(each for each in commands if each), ended and not open_quote, open_quote)


def split_words(command: str) -> list[str]:
    """The words of one command: bare ones end at white space or a quote, quoted ones at theirs.

    In quotes a backslash escapes as in C. A quote that is not closed ends with the text.
    """
    words: list[str] = []
    position = 0
    while position < len(command):
        character = command[position]
        if character.isspace():
            position += 1
        elif character in "\"'":
            word, position = _quoted(command, position)
            words.append(word)
        else:
            start = position
            while position < len(command) and not _ends_word(command[position]):
                position += 1
            words.append(command[start:position])
    return words


def _places(text: str) -> Iterator[tuple[str, _Place]]:
    """Each character and where it stands; the closing quote stands outside."""
    place = _Place.OUTSIDE
    quote = ""
    escaped = False
    for character in text:
        if place is _Place.COMMENT:
            if character == "\n":
                place = _Place.OUTSIDE
        elif place is _Place.QUOTED:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == quote:
                place = _Place.OUTSIDE
        elif character in "\"'":
            place, quote = _Place.QUOTED, character
        elif character == "#":
            place = _Place.COMMENT
        yield character, place


def _ends_word(character: str) -> bool:
    return character.isspace() or character in "\"'"


def _quoted(command: str, start: int) -> tuple[str, int]:
    """The word in quotes at `start`, and where it ends."""
    quote = command[start]
    position = start + 1
    word: list[str] = []
    while position < len(command) and command[position] != quote:
        if command[position] == "\\" and position + 1 < len(command):
            character, position = _escape(command, position + 1)
            word.append(character)
        else:
            word.append(command[position])
            position += 1
    return "".join(word), position + 1


def _escape(command: str, position: int) -> tuple[str, int]:
    """The character that the escape at `position` (behind its backslash) stands for."""
    character = command[position]
    if character not in _OCTAL:
        return _ESCAPES.get(character, character), position + 1
    end = position + 1
    most = position + (3 if character in "0123" else 2)
    while end < min(most, len(command)) and command[end] in _OCTAL:
        end += 1
    return chr(int(command[position:end], 8)), end
