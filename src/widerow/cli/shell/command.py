"""What a command of a shell is, and how words become its arguments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Arguments", "Language", "ShellCommand", "ShellFlag", "offered_words", "parse_words"]


@dataclass(frozen=True, slots=True)
class ShellFlag:
    """A flag, which must be typed in full, by its name or its `short` name.

    If `value` is not empty the flag takes a word, which usages show as `value`. A `repeated` flag
    may be given several times. `help`: what a usage says of it.
    """

    name: str
    value: str = ""
    help: str = ""
    short: str = ""
    required: bool = False
    repeated: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the short one first."""
        return (self.short, self.name) if self.short else (self.name,)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a command.

    `pairs` are its flags, by their names, with their values, in the order typed; `words` the words
    without a flag.
    """

    pairs: tuple[tuple[str, str], ...]
    words: tuple[str, ...] = ()

    def has(self, flag: str) -> bool:
        """Whether the flag was given."""
        return any(name == flag for name, _ in self.pairs)

    def get(self, flag: str) -> str | None:
        """The last value of a flag (empty for a flag without value); None if it was not given."""
        return next((value for name, value in reversed(self.pairs) if name == flag), None)

    def need(self, flag: str) -> str:
        """The value of a flag that the command requires."""
        value = self.get(flag)
        assert value is not None
        return value

    def all(self, flag: str) -> list[str]:
        """Every value of a repeated flag, in order."""
        return [value for name, value in self.pairs if name == flag]


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command. `takes`: the least and the greatest number of words without a flag.

    `run` carries the command out in the shell's session and returns the text to print, or None.
    """

    name: str
    description: str
    run: Callable[[Any, Arguments], str | None]
    flags: tuple[ShellFlag, ...] = ()
    takes: tuple[int, int] = (0, 0)

    @property
    def own_flags(self) -> Mapping[str, ShellFlag]:
        """The flags of this command by each of their names."""
        return {name: flag for flag in self.flags for name in flag.names}


class Language(NamedTuple):
    """How a shell reads words, and the errors of those that are not a command's.

    `joins`: a flag and its value may be one word, `--flag=value`; then a word that begins with a
    dash is a flag, and a flag that is given again replaces the one before. `unknown`: of a word
    that the command does not take; `lacks_value`: of a flag without the word that it takes;
    `lacks`: of a required flag that is missing, or of a word if it is None; `repeated`: of a flag
    that is given twice.
    """

    joins: bool
    unknown: Callable[[Any, str], Exception]
    lacks_value: Callable[[ShellFlag], Exception]
    lacks: Callable[[Any, ShellFlag | None], Exception]
    repeated: Callable[[ShellFlag], Exception]


def parse_words(command: ShellCommand, words: Iterable[str], language: Language) -> Arguments:
    """The arguments that `words` give. Raises: the errors of `language`."""
    flags = command.own_flags
    pairs: list[tuple[str, str]] = []
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        name, joined, told = word.partition("=") if language.joins else (word, "", "")
        flag = flags.get(name)
        if flag is None or (joined and not flag.value):
            is_flag = language.joins and word.startswith("-")
            if is_flag or len(plain) == command.takes[1]:
                raise language.unknown(command, word)
            plain.append(word)
            continue
        if not (language.joins or flag.repeated) and flag.name in dict(pairs):
            raise language.repeated(flag)
        value = told if joined or not flag.value else next(rest, None)
        if value is None:
            raise language.lacks_value(flag)
        pairs.append((flag.name, value))
    if len(plain) < command.takes[0]:
        raise language.lacks(command, None)
    given = Arguments(tuple(pairs), tuple(plain))
    for flag in command.flags:
        if flag.required and not given.has(flag.name):
            raise language.lacks(command, flag)
    return given


def offered_words(
    command: ShellCommand, typed: Sequence[str], values: Callable[[ShellFlag], Iterable[str]]
) -> Iterable[str]:
    """What Tab offers behind the words `typed` of a command.

    These are the `values` of a flag that waits for its value, else the flags that may still come.
    """
    last = command.own_flags.get(typed[-1]) if typed else None
    if last is not None and last.value:
        return values(last)
    return [
        name
        for flag in command.flags
        if flag.repeated or not set(flag.names) & set(typed)
        for name in flag.names
    ]
