"""A shell from its start to its end: one command, a script, or a person at a terminal.

Lines are edited, kept and completed by `readline`, which is imported only for a person, and which
not every platform has: without it lines are read as they are typed.
"""

import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar, Final, Protocol

__all__ = ["LineReader", "Shell", "converse", "print_line", "run_lines", "run_shell"]

_HISTORY_LINES: Final = 1000
_INTERRUPTED: Final = 130  # the code of a process that an interrupt (signal 2) ended: 128 + 2
_PIPE_CLOSED: Final = 1


class LineReader(Protocol):
    """Collects lines until they make commands."""

    @property
    def pending(self) -> bool:
        """Whether a command was begun and needs another line."""
        ...

    def take(self, line: str) -> Sequence[str]:
        """The commands that this line completes, in order; none if more lines are needed."""
        ...

    def end(self) -> Sequence[str]:
        """The commands so far, as if they were complete; starts anew."""
        ...


class Shell(ABC):
    """A shell as its runner sees it.

    `history`: the name of the file with the lines that persons typed. `mark`: the end of a prompt,
    which stands alone before a line that continues a command.
    """

    history: ClassVar[str]
    mark: ClassVar[str]

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether a command has ended the shell."""

    @property
    @abstractmethod
    def prompt(self) -> str:
        """The text before a line that is typed."""

    @abstractmethod
    def reader(self, *, scripted: bool) -> LineReader:
        """A new reader of lines, of a script or of a person."""

    @abstractmethod
    def run(self, command: str) -> int:
        """Run a command and print its answer or what is wrong; its exit code, 0 for done."""

    @abstractmethod
    def run_words(self, words: Sequence[str]) -> int:
        """Run the command whose words these are; its exit code."""

    @abstractmethod
    def write(self, line: str) -> None:
        """Print a line."""

    @abstractmethod
    def completions(self, line: str) -> list[str]:
        """The words that may end `line`, where the cursor is, each with a space behind it."""

    @abstractmethod
    def meet(self) -> None:
        """Prepare for a person at a terminal."""

    def interrupted(self) -> None:  # noqa: B027  # most shells have nothing to do
        """A person has stopped the command that runs, wherever it was."""


def run_shell(shell: Shell, words: Sequence[str], script: Iterable[str] | None = None) -> int:
    """Run `words` as one command, or a script, or what standard input has; the exit code."""
    try:
        if words:
            return shell.run_words(words)
        if script is not None or not sys.stdin.isatty():
            return run_lines(shell, sys.stdin if script is None else script)
        shell.meet()
        with _edited_lines(shell.history, shell.completions):
            converse(shell, input)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the answers has closed the pipe. Without the next line Python would write
        # to it once more, and report the error, when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    return 0


def run_lines(shell: Shell, lines: Iterable[str], *, stop: bool = False) -> int:
    """Run the commands of a script to its end, or to the command that ends the shell.

    Returns the first exit code that is not 0; with `stop` it ends the script. At the end of the
    lines a command that was begun is run as it is.
    """
    first = 0
    for command in _commands(shell.reader(scripted=True), lines):
        code = shell.run(command)
        first = first or code
        if shell.finished:
            break
        if code and stop:
            shell.write(f'Script error in line "{command}", ending execution')
            break
    return first


def _commands(reader: LineReader, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from reader.take(line.rstrip("\r\n"))
    yield from reader.end()


def converse(shell: Shell, read: Callable[[str], str]) -> None:
    """Read lines and run their commands until the shell is ended or the input.

    `read` shows a prompt and returns a line, or raises `EOFError`. An interrupt (Control-C) drops
    the command being typed, or stops the command that runs.
    """
    lines = shell.reader(scripted=False)
    while not shell.finished:
        prompt = shell.prompt
        try:
            shown = shell.mark.rjust(len(prompt)) if lines.pending else prompt
            for command in lines.take(read(shown)):
                shell.run(command)
        except EOFError:
            shell.write("")
            if not lines.pending:
                return
            lines = shell.reader(scripted=False)
        except KeyboardInterrupt:
            shell.write("^C")
            shell.interrupted()
            lines = shell.reader(scripted=False)


def print_line(line: str) -> None:
    """Print a line on standard output at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def _edited_lines(name: str, complete: Callable[[str], list[str]]) -> Iterator[None]:
    """Load the history file of this name and complete lines; at the end the history is kept.

    Interrupts are handled even if the parent process has switched them off, as it does for a job in
    the background.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        import readline  # noqa: PLC0415  # only a person needs it, and not every platform has it
    except ImportError:
        yield
        return
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    file = Path(base) / "widerow" / name
    with suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(_HISTORY_LINES)
    readline.set_completer_delims(" \t\n;")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")

    def completer(_: str, state: int) -> str | None:
        found = complete(readline.get_line_buffer()[: readline.get_endidx()])
        return found[state] if state < len(found) else None

    readline.set_completer(completer)
    try:
        yield
    finally:
        with suppress(OSError):  # the shell works without a history file
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            readline.write_history_file(file)
            file.chmod(0o600)
