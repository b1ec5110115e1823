"""What a command answers when it cannot be done, with its exit code (cli §1).

| class | printed | exit code |
|---|---|---|
| `UsageFault` | the message, the usage, what the command does | 64 |
| `ArgumentFault` | `Invalid argument: …` and the usage | 65 |
| `CommandFault` | `Error handling command <line>: …` | 1 |
| `PlanFault` | the vendor's class name, a colon, the text | 1 |
"""

from typing import Final

__all__ = [
    "EXIT_ARGUMENT",
    "EXIT_FAILED",
    "EXIT_INTERRUPTED",
    "EXIT_OK",
    "EXIT_USAGE",
    "ArgumentFault",
    "CommandFault",
    "Fault",
    "PlainFault",
    "PlanFault",
    "ScriptFault",
    "UnreadableFault",
    "UsageFault",
    "usage",
]

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 64
EXIT_ARGUMENT: Final = 65
EXIT_INTERRUPTED: Final = 130  # as shells say of a process that an interrupt ended


class Fault(Exception):
    """A command was not done. `str` is the message without what surrounds it."""

    exit_code: int = EXIT_FAILED

    def text(self, line: str, syntax: str, description: str) -> str:
        """What is printed, given the line as typed and the help of its command."""
        raise NotImplementedError


class UsageFault(Fault):
    """The command was called in a way it cannot be, or there is no such command.

    `incomplete`: what is missing may still be typed, so the shell goes on reading (cli §1).
    `help_text` stands for the help of a command where there is none.
    """

    exit_code = EXIT_USAGE

    def __init__(self, message: str, *, incomplete: bool = False, help_text: str = "") -> None:
        """Carry the message."""
        super().__init__(message)
        self.incomplete = incomplete
        self.help_text = help_text

    def text(self, line: str, syntax: str, description: str) -> str:  # noqa: ARG002  # not shown here
        """The message and the whole help."""
        return f"{self}\n{self.help_text or usage(syntax, description)}"


class ArgumentFault(Fault):
    """An argument has a value that the command cannot take."""

    exit_code = EXIT_ARGUMENT

    def text(self, line: str, syntax: str, description: str) -> str:  # noqa: ARG002  # not shown here
        """The message and the syntax."""
        shown = f"Invalid argument: {self}"
        return f"{shown}\n\tUsage: {syntax}" if syntax else shown


class UnreadableFault(Fault):
    """A file that a command needs cannot be read; the message says which."""

    exit_code = EXIT_ARGUMENT

    def text(self, line: str, syntax: str, description: str) -> str:  # noqa: ARG002  # not shown here
        """The message alone."""
        return str(self)


class ScriptFault(Fault):
    """A command of a script failed, and said so; the script has its exit code."""

    def __init__(self, exit_code: int) -> None:
        """Carry the exit code."""
        super().__init__()
        self.exit_code = exit_code

    def text(self, line: str, syntax: str, description: str) -> str:  # noqa: ARG002  # was said
        """Nothing more."""
        return ""


class CommandFault(Fault):
    """The command was understood and failed."""

    def text(self, line: str, syntax: str, description: str) -> str:  # noqa: ARG002  # not shown here
        """The line as typed and the message."""
        return f"Error handling command {line}: {self}"


class PlainFault(Fault):
    """The command failed, and the message says so in its own words."""

    def text(self, line: str, syntax: str, description: str) -> str:  # noqa: ARG002  # not shown here
        """The message alone."""
        return str(self)


class PlanFault(Fault):
    """A plan was refused; `kind` is the vendor's class name, which scripts look for (cli §4)."""

    def __init__(self, kind: str, message: str) -> None:
        """Carry both."""
        super().__init__(message)
        self.kind = kind

    def text(self, line: str, syntax: str, description: str) -> str:  # noqa: ARG002  # not shown here
        """As the vendor's server reports it."""
        return f"oracle.kv.impl.admin.{self.kind}:{self}"


def usage(syntax: str, description: str) -> str:
    """The help of a command: its usage and what it does."""
    return f"Usage: {syntax}\n\t" + description.replace("\n", "\n\t")
