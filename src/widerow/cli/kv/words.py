"""From text to words: quotes, comments, `;` (cli §1)."""

from enum import Enum
from typing import Final

__all__ = ["Scanner", "split_words"]

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


class _Place(Enum):
    """Where a character stands."""

    OUTSIDE = "outside"
    QUOTED = "quoted"
    COMMENT = "comment"


class Scanner:
    """Takes comments out of text and cuts it at each `;` outside quotes, piece by piece.

    Cost: linear in what is fed, however often.
    """

    def __init__(self) -> None:
        """Begin outside everything."""
        self._commands: list[str] = []
        self._piece: list[str] = []
        self._begun = False  # the piece has more than white space
        self._place = _Place.OUTSIDE
        self._quote = ""
        self._escaped = False
        self.ended = False

    @property
    def open_quote(self) -> bool:
        """Whether a quote is not closed, so that the last command is not whole."""
        return self._place is _Place.QUOTED

    @property
    def count(self) -> int:
        """How many commands there are, with the one that is not ended."""
        return len(self._commands) + self._begun

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands without comments, none of them empty."""
        last = "".join(self._piece).strip()
        return (*self._commands, last) if last else tuple(self._commands)

    def feed(self, text: str) -> None:
        """Go on with `text`; line ends outside of comments become spaces."""
        for character in text:
            self._step(character)
            if self._place is _Place.COMMENT:
                continue
            if character == ";" and self._place is _Place.OUTSIDE:
                self._end()
                continue
            if not character.isspace():
                self.ended, self._begun = False, True
            self._piece.append(" " if character == "\n" else character)

    def drop_backslash(self) -> bool:
        """Take a backslash at the end away; False where there is none, or it is a comment's."""
        if self._place is _Place.COMMENT or self._piece[-1:] != ["\\"]:
            return False
        self._piece.pop()
        self._escaped = False
        return True

    def _end(self) -> None:
        if self._begun:
            self._commands.append("".join(self._piece).strip())
        self._piece, self._begun, self.ended = [], False, True

    def _step(self, character: str) -> None:
        """Where the next character stands; a closing quote stands outside."""
        if self._place is _Place.COMMENT:
            if character == "\n":
                self._place = _Place.OUTSIDE
        elif self._place is _Place.QUOTED:
            if self._escaped:
                self._escaped = False
            elif character == "\\":
                self._escaped = True
            elif character == self._quote:
                self._place = _Place.OUTSIDE
        elif character in "\"'":
            self._place, self._quote = _Place.QUOTED, character
        elif character == "#":
            self._place = _Place.COMMENT


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
