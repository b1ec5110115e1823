"""The `widerow` command with all that people may ask of it: commands, their flags, help.

The commands are in `commands.py`. Rich is loaded only to show something.
"""

import os
from typing import Annotated, Final

import typer

from widerow import __version__
from widerow.cli.commands import CommandGroup
from widerow.cli.ending import run_to_end
from widerow.cli.shells import COMPLETE_VARIABLE, PROGRAM

__all__ = ["app", "main"]

app: Final = typer.Typer(
    name=PROGRAM,
    cls=CommandGroup,
    epilog="Start with: widerow serve --memory",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _show_version(asked: bool) -> None:  # noqa: FBT001  # as typer hands it over
    if asked:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def _widerow(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit. The command `version` shows more.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """A self-hosted wide-column table store that speaks the Alibaba Tablestore protocol."""
    del version  # the callback has ended the program where it was asked for


def main() -> None:
    """Run the command line of this process to its end (`ending.py`)."""
    if COMPLETE_VARIABLE in os.environ:
        from typer.completion import get_completion_inspect_parameters  # noqa: PLC0415  # only then

        get_completion_inspect_parameters()  # makes typer know the shells
    run_to_end(lambda: app(prog_name=PROGRAM))
