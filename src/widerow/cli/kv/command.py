"""Commands of this shell: names that may be shortened, groups, checks of arguments (cli §1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from widerow.cli.kv.faults import ArgumentFault, UsageFault
from widerow.cli.kv.session import Session
from widerow.cli.shell.command import Arguments, Language, ShellCommand, ShellFlag, parse_words

__all__ = [
    "Command",
    "CommandEntry",
    "Group",
    "matching",
    "missing_argument",
    "number_of",
    "refuse_both",
    "understood",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(ShellCommand):
    """A command without sub-commands.

    `shortest`: the number of characters of the name that are enough to call it. `words`: what
    usages call the words without a flag. `check` refuses arguments before the command runs.
    `unknown`: the beginning of the message about an unknown argument.
    """

    shortest: int
    words: str = ""
    check: Callable[[Session, Arguments], None] | None = None
    unknown: str = "Unknown argument"

    def syntax(self, path: str) -> str:
        """The usage; `path` is the name of the command with that of its group."""
        return " ".join(part for part in (path, self.words, *map(_shown, self.flags)) if part)

    def parse(self, session: Session, words: Sequence[str]) -> Arguments:
        """The arguments that `words` give.

        Raises: `UsageFault` for unknown and for missing words; the faults of `check`.
        """
        given = parse_words(self, words, _LANGUAGE)
        if self.check is not None:
            self.check(session, given)
        return given


@dataclass(frozen=True, slots=True)
class Group:
    """A command with sub-commands. `shortest` is that of `Command`."""

    name: str
    shortest: int
    description: str
    commands: tuple[Command, ...]


CommandEntry = Command | Group


def _lacks(command: ShellCommand, flag: ShellFlag | None) -> UsageFault:
    if flag is not None:
        return missing_argument(flag.name, command.name)
    message = f"Incorrect number of arguments for command: {command.name}"
    return UsageFault(message, incomplete=True)


_LANGUAGE: Final = Language(
    joins=False,
    unknown=lambda command, word: UsageFault(f"{command.unknown}: {word}"),
    lacks_value=lambda flag: UsageFault(f"Flag {flag.name} requires an argument", incomplete=True),
    lacks=_lacks,
    repeated=lambda flag: UsageFault(f"Flag {flag.name} is given twice"),
)


def _shown(flag: ShellFlag) -> str:
    text = f"{flag.name} <{flag.value}>" if flag.value else flag.name
    text = text if flag.required else f"[{text}]"
    return f"{text}…" if flag.repeated else text


def matching(typed: str, entries: Sequence[CommandEntry]) -> CommandEntry | None:
    """The first entry in alphabetical order that `typed` abbreviates, in any case of letters.

    None if there is none.
    """
    wanted = typed.lower()
    for entry in sorted(entries, key=lambda each: each.name):
        enough = len(wanted) >= min(entry.shortest, len(entry.name))
        if enough and entry.name.startswith(wanted):
            return entry
    return None


def understood(session: Session) -> list[CommandEntry]:
    """The commands and groups of the innermost mode."""
    return [each for each in session.mode.commands if isinstance(each, (Command, Group))]


def missing_argument(what: str, command: str) -> UsageFault:
    """The fault of a required argument that is missing; the next line may bring it."""
    return UsageFault(f"Missing required argument ({what}) for command: {command}", incomplete=True)


def refuse_both(given: Arguments, first: str, second: str) -> None:
    """Raise `ArgumentFault` if both flags were given: they exclude each other."""
    if given.has(first) and given.has(second):
        raise ArgumentFault(f"{first} and {second} cannot be used together")


def number_of(given: Arguments, flag: str) -> int | None:
    """The value of a flag as a number of 1 to 18 digits; None if the flag was not given.

    Raises: `ArgumentFault` for any other value.
    """
    value = given.get(flag)
    if value is None:
        return None
    if not value.isascii() or not value.isdigit() or len(value) > 18:
        raise ArgumentFault(value)
    return int(value)
