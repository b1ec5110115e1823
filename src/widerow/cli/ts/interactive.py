"""`widerow ts` at a terminal: prompt, history that is kept, completion."""

from collections.abc import Callable, Iterable, Sequence

from widerow.cli.ts.command import LineReader, TsCommand
from widerow.cli.ts.commands import find_ts_command
from widerow.cli.ts.dispatch import run_ts_line
from widerow.cli.ts.session import TsSession
from widerow.client.tables import list_tables
from widerow.errors import WiderowError

__all__ = ["talk", "ts_completions"]


def talk(session: TsSession, commands: Sequence[TsCommand], read: Callable[[str], str]) -> None:
    """Read lines and run them until `exit` or the end of input.

    `read` shows a prompt and returns a line, or raises `EOFError`. An interrupt (Control-C) drops
    the line being typed, or stops the command that runs.
    """
    lines = LineReader()
    while not session.finished:
        prompt = "> ".rjust(len(session.prompt)) if lines.pending else session.prompt
        try:
            command = lines.take(read(prompt))
            if command is not None:
                run_ts_line(session, commands, command)
        except EOFError:
            session.write("")
            if not lines.pending:
                return
            lines.reset()
        except KeyboardInterrupt:
            session.write("^C")
            session.close()  # an answer may be on its way
            lines.reset()


def ts_completions(session: TsSession, commands: Sequence[TsCommand], line: str) -> list[str]:
    """The words that may end `line`, where the cursor is, each with a space behind it.

    Names of commands, of flags, of tables behind `-t`, and of columns that were seen.
    """
    words = line.split()
    typed = "" if not words or line[-1:].isspace() else words.pop()
    begun, _, last = typed.rpartition(",")
    found = _candidates(session, commands, words)
    front = f"{begun}," if begun else ""
    return [f"{front}{each} " for each in sorted(found) if each.startswith(last)]


def _candidates(
    session: TsSession, commands: Sequence[TsCommand], words: Sequence[str]
) -> Iterable[str]:
    names = [name for each in commands for name in (each.name, *each.aliases)]
    if not words or (words == ["help"]):
        return names
    command = find_ts_command(words[0], commands)
    if command is None:
        return []
    flag = command.flag(words[-1])
    if flag is None or not flag.value:
        return [name for each in command.flags for name in each.names if each.names[0] not in words]
    if flag.tables:
        return _tables(session)
    return session.columns.get(session.table, set()) if flag.columns else []


def _tables(session: TsSession) -> list[str]:
    try:
        return list_tables(session.client)
    except WiderowError:  # nothing to offer, and no place to say why
        return []
