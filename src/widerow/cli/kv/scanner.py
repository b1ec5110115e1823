"""From lines to commands, and from a command to words (cli §1).

`Lines` collects lines until they make commands, with the help of `Scanner`, which removes comments
and cuts text at each `;`. `split_words` then cuts one command into words.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final

__all__ = ["Lines", "Scanner", "split_words"]

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}
_OCTAL: Final = "01234567"


class _Place(Enum):
    """Where in a command a character stands."""

    OUTSIDE = "outside"
    QUOTED = "quoted"
    COMMENT = "comment"


class Scanner:
    """Removes comments from text and cuts the text into commands at each `;` outside quotes.

    Text is fed in parts of any size; the cost is linear in the length of all parts together.
    """

    def __init__(self) -> None:
        self._commands: list[str] = []
        self._piece: list[str] = []
        self._begun = False  # whether the piece has more than white space
        self._place = _Place.OUTSIDE
        self._quote = ""
        self._escaped = False
        self.ended = False  # whether the last character that counts was a `;`

    @property
    def open_quote(self) -> bool:
        """Whether a quote is open, so that the last command is not complete."""
        return self._place is _Place.QUOTED

    @property
    def count(self) -> int:
        """The number of commands, including the one that no `;` has ended."""
        return len(self._commands) + self._begun

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands without comments; empty commands are left out."""
        last = "".join(self._piece).strip()
        return (*self._commands, last) if last else tuple(self._commands)

    def feed(self, text: str) -> None:
        """Take the next part of the text; line ends outside of comments become spaces."""
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
        """Remove a backslash at the end; False if there is none, or if it is part of a comment."""
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
        """Note where the next character stands; a closing quote counts as outside."""
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


class Lines:
    """Collects lines until they make commands.

    `incomplete` tells whether a command lacks an argument that the next line may bring. With
    `blank_ends` a blank line ends a command that was begun, as in scripts; at a terminal a person
    may leave lines blank.
    """

    def __init__(self, incomplete: Callable[[str], bool], *, blank_ends: bool) -> None:
        """Start without any line."""
        self._incomplete = incomplete
        self._blank_ends = blank_ends
        self.reset()

    def reset(self) -> None:
        """Forget the lines of a command that is not complete."""
        self._scanner = Scanner()
        self._waiting = False  # whether only a `;` can end the command
        self.pending = False  # whether a command was begun and needs another line

    def take(self, line: str) -> tuple[str, ...]:
        """The commands that this line completes, in order; none if more lines are needed."""
        stripped = line.strip()
        scanner = self._scanner
        if stripped.startswith("#") and not scanner.open_quote:
            return ()
        if not stripped and (not self.pending or self._blank_ends):
            return self.end()
        scanner.feed(f"\n{stripped}" if self.pending else stripped)
        self.pending = True
        if scanner.drop_backslash():
            return ()
        return self.end() if self._complete() else ()

    def end(self) -> tuple[str, ...]:
        """The commands so far, as if a `;` ended the last one; starts anew."""
        commands = self._scanner.commands
        self.reset()
        return commands

    def _complete(self) -> bool:
        scanner = self._scanner
        if scanner.ended or not scanner.count:
            return True
        if self._waiting or scanner.open_quote or scanner.count > 1:
            self._waiting = True
        else:
            self._waiting = self._incomplete(scanner.commands[0])
        return not self._waiting


def split_words(command: str) -> list[str]:
    """The words of one command.

    A bare word ends at white space or at a quote, a quoted word at the same quote. Inside quotes a
    backslash begins an escape as in C. The end of the text closes an open quote.
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
    """The quoted word that begins at `start`, and the position behind its closing quote."""
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
    """The character that an escape stands for, and the position behind the escape.

    `position` is that of the character after the backslash.
    """
    character = command[position]
    if character not in _OCTAL:
        return _ESCAPES.get(character, character), position + 1
    end = position + 1
    most = position + (3 if character in "0123" else 2)
    while end < min(most, len(command)) and command[end] in _OCTAL:
        end += 1
    return chr(int(command[position:end], 8)), end
