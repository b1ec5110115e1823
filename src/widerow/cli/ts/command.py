"""A command of the vendor's program, and how lines become its arguments (ts-cli). Pure."""

import difflib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from widerow.cli.shell.command import Arguments, Language, ShellCommand, parse_words
from widerow.errors import WiderowError
from widerow.limits import INT32_MAX

__all__ = [
    "COLUMNS_VALUE",
    "TABLE_VALUE",
    "TsCommand",
    "TsLines",
    "TsUsage",
    "find_ts_command",
    "int32_of",
    "known_command",
    "line_words",
    "parse_arguments",
]

TABLE_VALUE: Final = "TABLE"
"""The value of a flag that names a table."""

COLUMNS_VALUE: Final = "A,B"
"""The value of a flag that names columns."""


_HELP: Final = frozenset(("help", "-h", "--help"))
_COMMENT: Final = "#"


class TsUsage(WiderowError):
    """A command does not exist, or its words are not its flags; the message says what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TsCommand(ShellCommand):
    """A command. `aliases`: older names."""

    aliases: tuple[str, ...] = ()
    example: str = ""

    @property
    def usage(self) -> str:
        """What the command does, its flags and an example."""
        lines = [self.description]
        if self.flags:
            shown = [f"{', '.join(each.names)} {each.value}".strip() for each in self.flags]
            width = max(map(len, shown))
            lines += [
                f"  {flag:<{width}}  {each.help}".rstrip()
                for flag, each in zip(shown, self.flags, strict=True)
            ]
        return "\n".join([*lines, *([f"Example: {self.example}"] if self.example else [])])


_LANGUAGE: Final = Language(
    joins=True,
    unknown=lambda command, word: TsUsage(
        f"{command.name} does not take {word}; `help {command.name}` says what it takes"
    ),
    lacks_value=lambda flag: TsUsage(f"{flag.name} needs a value: {flag.value}"),
    lacks=lambda command, flag: TsUsage(f"{command.name} needs {flag.name if flag else 'a word'}"),
    repeated=lambda flag: TsUsage(f"{flag.name} is given twice"),
)


def find_ts_command(name: str, commands: Sequence[TsCommand]) -> TsCommand | None:
    """The command of this name, or of this older name, in any case of letters."""
    wanted = name.lower()
    return next((each for each in commands if wanted in (each.name, *each.aliases)), None)


def known_command(name: str, commands: Sequence[TsCommand]) -> TsCommand:
    """The command of this name. Raises: `TsUsage` where there is none."""
    command = find_ts_command(name, commands)
    if command is None:
        near = difflib.get_close_matches(name.lower(), [each.name for each in commands], 1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise TsUsage(f"there is no command {name}; {meant}`help` lists them")
    return command


def line_words(line: str) -> list[str]:
    """The words of a line, quoted as shells quote. Raises: `ValueError` for an open quote."""
    return shlex.split(line)


def parse_arguments(command: TsCommand, words: Sequence[str]) -> Arguments | None:
    """The arguments that words are; None where they ask for help. Raises: `TsUsage`."""
    if any(word in _HELP for word in words[:1]):
        return None
    return parse_words(command, words, _LANGUAGE)


def int32_of(given: Arguments, flag: str) -> int | None:
    """The value of a flag as a whole number of 32 bits; None if it was not given.

    Raises: `TsUsage`.
    """
    text = given.get(flag)
    if text is None:
        return None
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or int(digits[:11]) > INT32_MAX:
        raise TsUsage(f"{flag} {text}: that is not a number")
    return int(text)


class TsLines:
    """Joins lines to commands: a line whose quote is open goes on in the next one.

    Blank lines and lines that begin with `#` are not commands.
    """

    def __init__(self) -> None:
        self._open: list[str] = []

    @property
    def pending(self) -> bool:
        """Whether a command was begun whose end is still to come."""
        return bool(self._open)

    def take(self, line: str) -> tuple[str, ...]:
        """The command that ends with this line, if there is one."""
        if not self._open and (not line.strip() or line.lstrip().startswith(_COMMENT)):
            return ()
        self._open.append(line)
        try:
            line_words("\n".join(self._open))
        except ValueError:
            return ()
        return self.end()

    def end(self) -> tuple[str, ...]:
        """The command that was begun, as it is; starts anew."""
        command = "\n".join(self._open)
        self._open = []
        return (command,) if command else ()
