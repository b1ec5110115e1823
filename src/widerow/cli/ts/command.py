"""What a command of the vendor's is, and how words become its arguments (ts-cli). Pure."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from widerow.cli.ts.faults import TsUsage
from widerow.limits import INT32_MAX

if TYPE_CHECKING:
    from widerow.cli.ts.session import TsSession

__all__ = [
    "LineReader",
    "TsArguments",
    "TsCommand",
    "TsFlag",
    "line_words",
    "parse_arguments",
]

_HELP: Final = frozenset(("help", "-h", "--help"))
_COMMENT: Final = "#"


@dataclass(frozen=True, slots=True)
class TsFlag:
    """A flag: its names, the short one first; `value`: what usages call its value, empty for none.

    `tables` and `columns`: what completion offers for the value.
    """

    names: tuple[str, ...]
    value: str = ""
    help: str = ""
    required: bool = False
    tables: bool = False
    columns: bool = False

    @property
    def key(self) -> str:
        """How arguments call it: the longest name without its dashes."""
        return max(self.names, key=len).lstrip("-")


@dataclass(frozen=True, slots=True)
class TsArguments:
    """The values of the flags that were given, by the keys of the flags; empty without a value."""

    values: Mapping[str, str]
    words: tuple[str, ...] = ()

    def get(self, key: str) -> str | None:
        """The value of a flag; None if it was not given."""
        return self.values.get(key)

    def has(self, key: str) -> bool:
        """Whether the flag was given."""
        return key in self.values

    def number(self, key: str) -> int | None:
        """The value of a flag as a whole number of 32 bits. Raises: `TsUsage`."""
        text = self.values.get(key)
        if text is None:
            return None
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or int(digits[:11]) > INT32_MAX:
            raise TsUsage(f"--{key} {text}: that is no number")
        return int(text)


Run = Callable[["TsSession", TsArguments], None]


@dataclass(frozen=True, slots=True)
class TsCommand:
    """A command. `aliases`: older names. `takes`: words without a flag that it takes at most."""

    name: str
    help: str
    run: Run
    flags: tuple[TsFlag, ...] = ()
    aliases: tuple[str, ...] = ()
    takes: int = 0
    example: str = field(default="")

    def flag(self, name: str) -> TsFlag | None:
        """The flag of this name; None if it has none."""
        return next((each for each in self.flags if name in each.names), None)

    @property
    def usage(self) -> str:
        """What the command does, its flags and an example."""
        lines = [self.help]
        if self.flags:
            shown = [(", ".join(each.names), each) for each in self.flags]
            width = max(len(f"{names} {each.value}") for names, each in shown)
            lines += [
                f"  {f'{names} {each.value}'.strip():<{width}}  {each.help}".rstrip()
                for names, each in shown
            ]
        return "\n".join([*lines, *([f"Example: {self.example}"] if self.example else [])])


def line_words(line: str) -> list[str]:
    """The words of a line, quoted as shells quote. Raises: `ValueError` for an open quote."""
    return shlex.split(line)


def parse_arguments(command: TsCommand, words: Sequence[str]) -> TsArguments | None:
    """The arguments that words are; None where they ask for help. Raises: `TsUsage`."""
    if any(word in _HELP for word in words[:1]):
        return None
    flags = {name: each for each in command.flags for name in each.names}
    values: dict[str, str] = {}
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, told = word.partition("=")
        flag = flags.get(name) if equals else flags.get(word)
        if flag is None:
            plain.append(_plain(command, word, plain))
        elif not flag.value:
            values[flag.key] = ""
        else:
            values[flag.key] = told if equals else _next(flag, rest)
    missing = [max(each.names, key=len) for each in command.flags if each.required]
    for name in missing:
        if name.lstrip("-") not in values:
            raise TsUsage(f"{command.name} needs {name}")
    return TsArguments(values, tuple(plain))


def _plain(command: TsCommand, word: str, plain: Sequence[str]) -> str:
    if word.startswith("-") or len(plain) >= command.takes:
        raise TsUsage(
            f"{command.name} does not take {word}; `help {command.name}` says what it takes"
        )
    return word


def _next(flag: TsFlag, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise TsUsage(f"{flag.names[-1]} needs a value: {flag.value}")
    return value


class LineReader:
    """Joins lines to commands: a line whose quote is open goes on in the next one.

    Blank lines and lines that begin with `#` are no commands.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self._open: list[str] = []

    @property
    def pending(self) -> bool:
        """Whether a command was begun whose end is still to come."""
        return bool(self._open)

    def take(self, line: str) -> str | None:
        """The command that ends with this line; None if there is none."""
        if not self._open and (not line.strip() or line.lstrip().startswith(_COMMENT)):
            return None
        self._open.append(line.rstrip("\r\n"))
        text = "\n".join(self._open)
        try:
            line_words(text)
        except ValueError:
            return None
        self._open = []
        return text

    def reset(self) -> None:
        """Forget what was begun."""
        self._open = []

    def commands(self, lines: Iterable[str]) -> Iterator[str]:
        """The commands of all lines; one whose quote is never closed comes as it is."""
        for line in lines:
            if (command := self.take(line)) is not None:
                yield command
        if self._open:
            yield "\n".join(self._open)
            self._open = []
