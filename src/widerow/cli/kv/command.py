"""What a command is (name, flags, function), and how words become its arguments (cli §1)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from widerow.cli.kv.faults import ArgumentFault, UsageFault
from widerow.cli.kv.session import Session

__all__ = [
    "Arguments",
    "Command",
    "CommandEntry",
    "Group",
    "ShellFlag",
    "matching",
    "missing_argument",
    "understood",
]


@dataclass(frozen=True, slots=True)
class ShellFlag:
    """A flag, which must be typed in full.

    If `value` is not empty the flag takes a word, which usages show as `<value>`. A `repeated` flag
    may be given several times.
    """

    name: str
    value: str = ""
    required: bool = False
    repeated: bool = False

    @property
    def shown(self) -> str:
        """The flag as usages show it."""
        text = f"{self.name} <{self.value}>" if self.value else self.name
        text = text if self.required else f"[{text}]"
        return f"{text}…" if self.repeated else text


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a command.

    `pairs` are its flags with their values, in the order typed; `words` the words without a flag.
    """

    pairs: tuple[tuple[str, str], ...]
    words: tuple[str, ...] = ()

    def has(self, flag: str) -> bool:
        """Whether the flag was given."""
        return any(name == flag for name, _ in self.pairs)

    def get(self, flag: str) -> str | None:
        """The value of a flag (empty for a flag without value); None if the flag was not given."""
        return next((value for name, value in self.pairs if name == flag), None)

    def need(self, flag: str) -> str:
        """The value of a flag that the command requires."""
        value = self.get(flag)
        assert value is not None
        return value

    def all(self, flag: str) -> list[str]:
        """Every value of a repeated flag, in order."""
        return [value for name, value in self.pairs if name == flag]

    def refuse_both(self, first: str, second: str) -> None:
        """Raise `ArgumentFault` if both flags were given: they exclude each other."""
        if self.has(first) and self.has(second):
            raise ArgumentFault(f"{first} and {second} cannot be used together")

    def number(self, flag: str) -> int | None:
        """The value of a flag as a number of 1 to 18 digits; None if the flag was not given.

        Raises: `ArgumentFault` for any other value.
        """
        value = self.get(flag)
        if value is None:
            return None
        if not value.isascii() or not value.isdigit() or len(value) > 18:
            raise ArgumentFault(value)
        return int(value)


Run = Callable[[Session, Arguments], str | None]


@dataclass(frozen=True, slots=True)
class Command:
    """A command without sub-commands.

    `shortest`: the number of characters of the name that are enough to call it. `takes`: the least
    and the greatest number of words without a flag; usages show them as `words`. `check` refuses
    arguments before the command runs. `unknown`: the beginning of the message about an unknown
    argument. `run` carries the command out and returns the text to print, or None.
    """

    name: str
    shortest: int
    description: str
    run: Run
    flags: tuple[ShellFlag, ...] = ()
    takes: tuple[int, int] = (0, 0)
    words: str = ""
    check: Callable[[Session, Arguments], None] | None = None
    unknown: str = "Unknown argument"

    def syntax(self, path: str) -> str:
        """The usage; `path` is the name of the command with that of its group."""
        flags = [flag.shown for flag in self.flags]
        return " ".join(part for part in (path, self.words, *flags) if part)

    @property
    def own_flags(self) -> Mapping[str, ShellFlag]:
        """The flags of this command by their names."""
        return {flag.name: flag for flag in self.flags}

    def parse(self, session: Session, words: Sequence[str]) -> Arguments:
        """The arguments that `words` give.

        Raises: `UsageFault` for unknown and for missing words; the faults of `check`.
        """
        flags = self.own_flags
        pairs: list[tuple[str, str]] = []
        plain: list[str] = []
        rest = iter(words)
        for word in rest:
            flag = flags.get(word)
            if flag is not None:
                pairs.append((word, self._value(flag, pairs, rest)))
            elif len(plain) < self.takes[1]:
                plain.append(word)
            else:
                raise UsageFault(f"{self.unknown}: {word}")
        if len(plain) < self.takes[0]:
            raise UsageFault(
                f"Incorrect number of arguments for command: {self.name}", incomplete=True
            )
        given = Arguments(tuple(pairs), tuple(plain))
        for flag in self.flags:
            if flag.required and not given.has(flag.name):
                raise missing_argument(flag.name, self.name)
        if self.check is not None:
            self.check(session, given)
        return given

    def _value(self, flag: ShellFlag, pairs: Sequence[tuple[str, str]], rest: Iterator[str]) -> str:
        if not flag.repeated and any(name == flag.name for name, _ in pairs):
            raise UsageFault(f"Flag {flag.name} is given twice")
        if not flag.value:
            return ""
        value = next(rest, None)
        if value is None:
            raise UsageFault(f"Flag {flag.name} requires an argument", incomplete=True)
        return value


@dataclass(frozen=True, slots=True)
class Group:
    """A command with sub-commands. `shortest` is that of `Command`."""

    name: str
    shortest: int
    description: str
    commands: tuple[Command, ...]


CommandEntry = Command | Group


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
