"""A shell from its start to its end: one command, a script, or a person at a terminal.

Lines are edited, kept and completed by `readline`, which is imported only for a person, and which
not every platform has: without it lines are read as they are typed.
"""

import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from widerow.cli.answers import print_document
from widerow.cli.standard_output import drop_output

__all__ = ["LineReader", "Shell", "ShellState", "converse", "print_line", "run_lines", "run_shell"]

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


class ShellState(Protocol):
    """The state of a shell, as far as its runner sees it."""

    finished: bool  # whether a command has ended the shell

    @property
    def prompt(self) -> str:
        """The text before a line that is typed."""
        ...

    @property
    def write(self) -> Callable[[str], None]:
        """Prints a line."""
        ...


class Shell(NamedTuple):
    """What a shell does, for its runner.

    `history`: the name of the file with the lines that persons typed. `mark`: the end of a prompt,
    which stands alone before a line that continues a command. `reader` and `script_reader` make a
    reader of lines, of a person and of a script. `run` and `run_words` run a command, print its
    answer or what is wrong, and return its exit code. `completions`: the words that may end a line,
    where the cursor is, each with a space behind it. `meet` prepares for a person at a terminal;
    `interrupted` is told that a person has stopped the command that runs, wherever it was. `answer`
    is what the last command found, as JSON has it; None where that is what it printed.
    """

    session: ShellState
    history: str
    mark: str
    reader: Callable[[], LineReader]
    script_reader: Callable[[], LineReader]
    run: Callable[[str], int]
    run_words: Callable[[Sequence[str]], int]
    completions: Callable[[str], list[str]]
    meet: Callable[[], None]
    interrupted: Callable[[], None] = lambda: None
    answer: Callable[[], Any] = lambda: None


def run_shell(
    shell: Shell,
    words: Sequence[str],
    script: Iterable[str] | None = None,
    *,
    as_json: bool = False,
) -> int:
    """Run `words` as one command, or a script, or what standard input has; the exit code.

    `as_json`: each command answers with a JSON document on a line of its own.
    """
    if as_json:
        shell = _with_documents(shell)
    try:
        if words:
            return shell.run_words(words)
        if script is not None or not sys.stdin.isatty():
            return run_lines(shell, _piped_lines() if script is None else script)
        shell.meet()
        with _edited_lines(shell.history, shell.completions):
            converse(shell, input)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        drop_output()  # the reader of the answers has closed the pipe
        return _PIPE_CLOSED
    return 0


def _with_documents(shell: Shell) -> Shell:
    """A shell whose commands print documents: the command, its exit code, and what it printed.

    `answer` is there where the shell has one, or a command prints JSON; `output` and `errors` are
    texts.
    """

    def told(command: str, run: Callable[[], int]) -> int:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = run()
        document: dict[str, Any] = {"command": command, "code": code, "output": out.getvalue()}
        found = shell.answer()
        if found is not None:
            document["answer"] = found
        else:
            with suppress(ValueError, RecursionError):
                document["answer"] = json.loads(out.getvalue())
        if err.getvalue():
            document["errors"] = err.getvalue()
        print_document(document)
        return code

    return shell._replace(
        run=lambda command: told(command, lambda: shell.run(command)),
        run_words=lambda words: told(" ".join(words), lambda: shell.run_words(words)),
    )


def _piped_lines() -> Iterable[str]:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(newline="\n")  # a carriage return may stand in a text
    return sys.stdin


def run_lines(shell: Shell, lines: Iterable[str], *, stop: bool = False) -> int:
    """Run the commands of a script to its end, or to the command that ends the shell.

    Returns the first exit code that is not 0; with `stop` it ends the script. At the end of the
    lines a command that was begun is run as it is.
    """
    first = 0
    for command in _commands(shell.script_reader(), lines):
        code = shell.run(command)
        first = first or code
        if shell.session.finished:
            break
        if code and stop:
            shell.session.write(f'Script error in line "{command}", ending execution')
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
    lines = shell.reader()
    while not shell.session.finished:
        prompt = shell.session.prompt
        try:
            shown = shell.mark.rjust(len(prompt)) if lines.pending else prompt
            for command in lines.take(read(shown)):
                shell.run(command)
        except EOFError:
            shell.session.write("")
            if not lines.pending:
                return
            lines = shell.reader()
        except KeyboardInterrupt:
            shell.session.write("^C")
            shell.interrupted()
            lines = shell.reader()


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
