"""`widerow man`: the manual page of the program, made of its commands and settings."""

import re
import sys
from collections.abc import Iterator
from typing import Final

import click

from widerow import __version__
from widerow.cli.command import CliCommand, Given, command
from widerow.cli.shells import PROGRAM_NAME
from widerow.server.settings import DESCRIPTIONS, PREFIX

__all__ = ["MAN"]

_FILES: Final = (
    ("widerow.toml", "Settings, read from the working directory; --config FILE names another."),
    ("widerow-data", "The directory of the store, in the working directory; --path names another."),
)
_EXIT: Final = (
    ("0", "The command has done what it says."),
    ("1", "It found something, or is not ready; the help of the command says what."),
    ("2", "It could not run; one line on standard error says why."),
    ("130", "Ctrl-C ended it."),
)


def _print_page(_: Given) -> None:
    """Write the page to stdout, as groff(7) and mandoc(1) read it."""
    root = click.get_current_context().find_root()
    sys.stdout.write("\n".join(_lines(root)) + "\n")


def _lines(root: click.Context) -> Iterator[str]:
    about = _text(root.command.help or "")
    yield f'.TH WIDEROW 1 "" "{PROGRAM_NAME} {__version__}" "User Commands"'
    yield from (".SH NAME", rf"{PROGRAM_NAME} \- {about.rstrip('.')}")
    yield from (".SH SYNOPSIS", f".B {PROGRAM_NAME}", r".I COMMAND", "[words and flags]")
    yield from (".SH DESCRIPTION", about)
    yield _text("Every command and group has --help, with all flags and examples.")
    yield ".SH COMMANDS"
    for path, each in _commands(root, PROGRAM_NAME):
        pieces = each.collect_usage_pieces(click.Context(each, parent=root, info_name=path))
        yield from _entry(" ".join([path, *pieces]), each.help or "")
    yield from (".SH SETTINGS", _text("Each is a flag of `widerow serve`, and a variable."))
    for name, told in DESCRIPTIONS.items():
        flag = name.replace("_", "-")
        yield from _entry(f"--{flag}, {PREFIX}{name.upper()}", told)
    for title, entries in ((".SH FILES", _FILES), (".SH EXIT STATUS", _EXIT)):
        yield title
        for name, told in entries:
            yield from _entry(name, told)


def _commands(context: click.Context, path: str) -> Iterator[tuple[str, click.Command]]:
    """The commands below a group and what is typed for each, in the order of help."""
    group = context.command
    assert isinstance(group, click.Group), "only groups are looked into"
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None, "it was listed"
        yield f"{path} {name}", found
        if isinstance(found, click.Group):
            yield from _commands(click.Context(found, parent=context), f"{path} {name}")


def _entry(term: str, told: str) -> Iterator[str]:
    yield from (".TP", rf"\fB{_text(term)}\fR", _text(told))


def _text(text: str) -> str:
    r"""A paragraph in one line: hyphens that are typed, and no line that begins a request.

    Commands between backticks are bold.
    """
    escaped = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    shown = re.sub("`([^`]*)`", r"\\fB\1\\fR", escaped)
    return rf"\&{shown}" if shown.startswith((".", "'")) else shown


MAN: Final[CliCommand] = command(
    _print_page,
    examples="""
`widerow man | man -l -` — read it
`widerow man > ~/.local/share/man/man1/widerow.1` — for `man widerow`
""",
)
