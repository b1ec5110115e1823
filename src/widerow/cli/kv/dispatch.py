"""Running one command: find it, parse its arguments, run it, print its answer or fault (cli §1)."""

from collections.abc import Callable, Sequence
from traceback import format_exception
from typing import Any, Final, NamedTuple

from widerow.cli.kv.command import Command, Group, matching, understood
from widerow.cli.kv.faults import EXIT_OK, Call, CommandFault, Fault, UsageFault, usage, worded
from widerow.cli.kv.help import HELP, HELP_WORDS, command_list, group_usage
from widerow.cli.kv.scanner import split_words
from widerow.cli.kv.session import Mode, Session
from widerow.errors import WiderowError
from widerow.model.typed.json_rows import dumps

__all__ = ["execute", "execute_words", "incomplete"]

_SWITCHES: Final = ("-verbose", "-debug", "-json", "-json-v1")
_SUCCEEDED, _FAILED = 5000, 5100  # the return codes in the vendor's JSON reports
# The names of the members of a JSON report: the vendor's names of today, and the older ones.
_MEMBERS: Final = {
    "-json": ("operation", "returnCode", "description", "returnValue"),
    "-json-v1": ("operation", "return_code", "description", "return_value"),
}


class _Found(NamedTuple):
    """A command that was found: `path` is its name with that of its group, `words` follow it."""

    command: Command
    path: str
    words: list[str]

    @property
    def syntax(self) -> str:
        """The usage of the command."""
        return self.command.syntax(self.path)

    def call(self, line: str) -> Call:
        """The command as a fault prints it."""
        return Call(line, self.syntax, self.command.description)


def incomplete(session: Session, line: str) -> bool:
    """Whether `line` lacks an argument that the next line may bring. Runs nothing."""
    try:
        found = _find(session, split_words(line))
        if found is not None and not _asks_help(found):
            found.command.parse(session, _without_switches(found)[0])
    except UsageFault as fault:
        return fault.incomplete
    except Fault:
        return False
    return False


def execute(session: Session, line: str) -> int:
    """Run one command and print its answer; returns its exit code."""
    return execute_words(session, line, split_words(line))


def execute_words(session: Session, line: str, words: Sequence[str]) -> int:
    """Run the command whose words these are; `line` is its text for the history and for faults."""
    session.history.append(line)
    session.value = None
    started = session.clock.monotonic_ns()
    timed = session.timing
    code = _execute(session, line, words)
    if timed:
        seconds, rest = divmod(session.clock.monotonic_ns() - started, 1_000_000_000)
        session.write(f"\nTime: {seconds}sec {rest // 1_000_000}ms")
    return code


def _execute(session: Session, line: str, words: Sequence[str]) -> int:
    mode = session.mode
    try:
        found = _find(session, words)
    except Fault as fault:
        session.write(fault.text(Call(line)))
        return fault.exit_code
    if found is None:
        return EXIT_OK
    if _asks_help(found):
        session.write(usage(found.syntax, found.command.description))
        return EXIT_OK
    kept, switches = _without_switches(found)
    members = next((_MEMBERS[name] for name in switches if name in _MEMBERS), None)
    verbose, collects = session.verbose, session.collects
    session.verbose = verbose or "-verbose" in switches
    session.collects = collects or members is not None
    command = found.command
    code, text = _guarded(
        line,
        found,
        lambda: command.run(session, command.parse(session, kept)),
        debug="-debug" in switches,
    )
    session.collects = collects
    if "-verbose" in switches:
        session.verbose = verbose
    if members is not None:
        text = _report(found.path, members, code, text, session.value)
    if text:
        session.write(text)
    return code or _afterwards(session, mode, found, line)


def _guarded(
    line: str,
    found: _Found,
    act: Callable[[], str | None] | Callable[[], None],
    *,
    debug: bool = False,
) -> tuple[int, str | None]:
    """Call `act`; returns the exit code, and the answer or the text of the fault.

    With `debug` the text of a fault includes the Python traceback.
    """
    fault: Fault
    try:
        return EXIT_OK, act()
    except Fault as error:
        fault = error
    except WiderowError as error:
        fault = _caused(CommandFault(worded(error)), error)
    except OSError as error:
        message = f"{error.strerror or error}: {error.filename or found.path}"
        fault = _caused(CommandFault(message), error)
    text = fault.text(found.call(line))
    if debug:
        text += "\n" + "".join(format_exception(fault)).rstrip()
    return fault.exit_code, text


def _caused(fault: Fault, error: Exception) -> Fault:
    fault.__cause__ = error
    return fault


def _afterwards(session: Session, mode: Mode, found: _Found, line: str) -> int:
    """Check the level of the mode after a command of it; prints a fault (cli §3)."""
    check = mode.after
    if check is None or found.command is HELP:
        return EXIT_OK
    code, text = _guarded(line, found, check)
    if text is not None:
        session.write(text)
    return code


def _find(session: Session, words: Sequence[str]) -> _Found | None:
    """The command that `words` call; None if there are no words. Raises `UsageFault`."""
    if not words:
        return None
    mode = session.mode
    name = "help" if words[0] == "?" else words[0]
    entries = understood(session)
    entry = matching(name, entries)
    if entry is None:
        if mode.level is None:
            listed = command_list(entries)
            raise UsageFault(f"Could not find command: {words[0]}", help_text=listed)
        # The name of a group stands between the two spaces; a mode has none.
        raise UsageFault(
            f"Could not find  subcommand: {words[0]}", help_text=group_usage("", entries)
        )
    if isinstance(entry, Command):
        return _Found(entry, entry.name, list(words[1:]))
    return _find_in(entry, words)


def _find_in(group: Group, words: Sequence[str]) -> _Found:
    shown = group_usage(group.name, group.commands, group.description)
    if len(words) == 1:
        message = f"Incorrect number of arguments for command: {group.name}"
        raise UsageFault(message, incomplete=True, help_text=shown)
    if words[1] in HELP_WORDS:
        return _Found(HELP, "help", [group.name, *words[2:3]])
    command = matching(words[1], group.commands)
    if not isinstance(command, Command):
        raise UsageFault(f"Could not find {group.name} subcommand: {words[1]}", help_text=shown)
    return _Found(command, f"{group.name} {command.name}", list(words[2:]))


def _asks_help(found: _Found) -> bool:
    return found.command is not HELP and not HELP_WORDS.isdisjoint(found.words[:1])


def _without_switches(found: _Found) -> tuple[list[str], list[str]]:
    """The words of a command without the switches that every command takes, and these switches."""
    own = {flag.name for flag in found.command.flags}
    taken = [word for word in found.words if word in _SWITCHES and word not in own]
    return [word for word in found.words if word not in taken], taken


def _report(
    operation: str,
    members: tuple[str, ...],
    code: int,
    text: str | None,
    value: Any,  # noqa: ANN401  # any JSON document
) -> str:
    """The answer or the fault of a command as a JSON document with these `members`."""
    succeeded = code == EXIT_OK
    answer = value if value is not None else (text or "").strip("\n") or None
    described = "Operation ends successfully" if succeeded else (text or "")
    values = (
        operation,
        _SUCCEEDED if succeeded else _FAILED,
        described,
        answer if succeeded else None,
    )
    return dumps(dict(zip(members, values, strict=True)), pretty=True)
