"""Why a command was not carried out: what is printed, and the exit code (cli §1).

| class | printed | exit code |
|---|---|---|
| `UsageFault` | the message, the usage, what the command does | 64 |
| `ArgumentFault` | `Invalid argument: …` and the usage | 65 |
| `UnreadableFault` | the message | 65 |
| `CommandFault` | `Error handling command <line>: …` | 1 |
| `PlainFault` | the message | 1 |
| `PlanFault` | the vendor's class name, a colon, the text | 1 |
| `ScriptFault` | nothing: the command of the script has printed its fault | that of the command |
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from widerow.client.failures import Refused
from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound, WiderowError
from widerow.model.typed.rules import TypedRule

__all__ = [
    "EXIT_ARGUMENT",
    "EXIT_FAILED",
    "EXIT_OK",
    "EXIT_USAGE",
    "ArgumentFault",
    "Call",
    "CommandFault",
    "Fault",
    "PlainFault",
    "PlanFault",
    "ScriptFault",
    "UnreadableFault",
    "UsageFault",
    "usage",
    "worded",
]

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 64
EXIT_ARGUMENT: Final = 65


class Call(NamedTuple):
    """A command as it was typed, with its usage and description where the command is known."""

    line: str = ""
    syntax: str = ""
    description: str = ""


class Fault(Exception):
    """A command was not carried out. `str` is the message alone."""

    exit_code: int = EXIT_FAILED

    def text(self, call: Call) -> str:  # noqa: ARG002  # subclasses add parts of the call
        """The text to print for this fault of `call`."""
        return str(self)


class UsageFault(Fault):
    """The command does not exist, or its arguments do not fit its usage.

    `incomplete`: the missing argument may be on the next line, so the shell continues reading
    (cli §1). `help_text` is printed in place of the help of the command if there is no command.
    """

    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, incomplete: bool = False, help_text: str = "") -> None:
        super().__init__(message)
        self.incomplete = incomplete
        self.help_text = help_text

    def text(self, call: Call) -> str:
        """The message, and the help of the command."""
        return f"{self}\n{self.help_text or usage(call.syntax, call.description)}"


class ArgumentFault(Fault):
    """An argument has a value that the command cannot take."""

    exit_code = EXIT_ARGUMENT

    def text(self, call: Call) -> str:
        """The message, and the usage of the command."""
        message = f"Invalid argument: {self}"
        return f"{message}\n\tUsage: {call.syntax}" if call.syntax else message


class UnreadableFault(Fault):
    """A file that a command needs cannot be read; the message names the file."""

    exit_code = EXIT_ARGUMENT


class ScriptFault(Fault):
    """A command of a script failed and has printed why; the script takes its exit code."""

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


class CommandFault(Fault):
    """The command was understood and failed."""

    def text(self, call: Call) -> str:
        """The line as typed, and the message."""
        return f"Error handling command {call.line}: {self}"


class PlainFault(Fault):
    """The command was understood and failed, and the vendor prints the message alone."""


class PlanFault(Fault):
    """A plan was refused; `kind` is the vendor's class name, which scripts look for (cli §4)."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def text(self, call: Call) -> str:  # noqa: ARG002  # the vendor's text has no part of the call
        """The text of the vendor's server."""
        return f"oracle.kv.impl.admin.{self.kind}:{self}"


def usage(syntax: str, description: str) -> str:
    """The help of a command: its usage and what it does."""
    return f"Usage: {syntax}\n\t" + description.replace("\n", "\n\t")


# What a server's text begins with where an argument of an operation is wrong (nosql-wire §7).
_OPERATION: Final = re.compile(r"\A[A-Z_]+: Illegal Argument: ")
# The shell's texts for errors of the store, where they differ from the store's own (cli §3, §6).
_TEXTS: Final[Mapping[AnyRule, str]] = {
    TypedRule.NOT_NULL_WITHOUT_DEFAULT: "Not nullable field {field} must have a default value",
    TypedRule.NOT_NULLABLE: "The field can not be null: {field}",
    TypedRule.JSON_NULL: "The field can not be null: {field}",
    TypedRule.TABLE_MISSING: "Table not found: {table}",
}


def worded(error: WiderowError) -> str:
    """The shell's text for an error of the store, or of a server."""
    if isinstance(error, Refused):
        return _OPERATION.sub("", error.message)
    if isinstance(error, (InvalidRequest, NotFound, Conflict)):
        text = _TEXTS.get(error.rule)
        if text is not None:
            return text.format_map(error.details)
    return str(error)
