"""`help`: the list of commands, the sub-commands of a group, the usage of a command (cli §1)."""

from collections.abc import Sequence
from typing import Final

from widerow.cli.kv.command import Command, CommandEntry, Group, matching, understood
from widerow.cli.kv.faults import UsageFault, usage
from widerow.cli.kv.session import Session
from widerow.cli.shell.command import Arguments

__all__ = ["HELP", "HELP_WORDS", "command_list", "group_usage"]

HELP_WORDS: Final = frozenset(("-help", "--help", "help", "?"))


def command_list(entries: Sequence[CommandEntry]) -> str:
    """The names of all commands, one on each line."""
    names = sorted(entry.name for entry in entries)
    return "\n\t".join(("Commands:", *names))


def group_usage(name: str, entries: Sequence[CommandEntry], description: str = "") -> str:
    """The usage of the group `name` of commands; the commands of a mode have an empty name."""
    names = " |\n\t".join(sorted(entry.name for entry in entries))
    lines = f"Usage: {name} {names}" if name else f"Usage: {names}"
    return f"{description}\n{lines}" if description else lines


def _help(session: Session, given: Arguments) -> str:
    entries = understood(session)
    if not given.words:
        if session.mode.level is not None:
            return group_usage("", entries)
        return f"{command_list(entries)}\nhelp <command> says more of one."
    entry = matching(given.words[0], entries)
    if isinstance(entry, Group) and len(given.words) > 1:
        command = matching(given.words[1], entry.commands)
        if isinstance(command, Command):
            return usage(command.syntax(f"{entry.name} {command.name}"), command.description)
        entry = None
    if entry is None:
        asked = " ".join(given.words)
        raise UsageFault(f"Could not find command: {asked}", help_text=command_list(entries))
    if isinstance(entry, Group):
        return group_usage(entry.name, entry.commands, entry.description)
    return usage(entry.syntax(entry.name), entry.description)


HELP: Final = Command(
    name="help",
    shortest=1,
    description="Says which commands there are, or what one of them does.",
    run=_help,
    takes=(0, 2),
    words="[command [sub-command]]",
)
