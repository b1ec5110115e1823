"""Running lines that nobody types: `load -file` and standard input (cli §1)."""

from collections.abc import Iterable
from functools import partial

from widerow.cli.kv.dispatch import execute, incomplete
from widerow.cli.kv.faults import EXIT_OK
from widerow.cli.kv.lines import Lines
from widerow.cli.kv.session import Session

__all__ = ["run_lines"]


def run_lines(session: Session, lines: Iterable[str], *, stop: bool) -> int:
    """Run the commands of `lines`; with `stop` not beyond the first that fails.

    Returns the exit code of the first command that failed, or 0. What was begun in build mode when
    the lines end is forgotten (cli §7); a command that was begun is run as it is.
    """
    reader = Lines(partial(incomplete, session), blank_ends=True)
    depth = len(session.modes)
    first = EXIT_OK
    for commands in _commands(reader, lines):
        for command in commands:
            code = execute(session, command)
            first = first or code
            if session.finished:
                return first
            if code != EXIT_OK and stop:
                session.write(f'Script error in line "{command}", ending execution')
                del session.modes[depth:]
                return first
    del session.modes[depth:]
    return first


def _commands(reader: Lines, lines: Iterable[str]) -> Iterable[tuple[str, ...]]:
    for line in lines:
        yield reader.take(line.rstrip("\r\n"))
    yield reader.end()
