"""The command `widerow kv` and its flags; what it does is in `kv`."""

from typing import Annotated, Final

import typer

__all__ = ["KV_EXAMPLES", "kv"]

KV_EXAMPLES: Final = """Examples:

`widerow kv --path ./products --create` — a conversation, in a new store; `help` lists the commands

`widerow kv --path ./products show tables` — one command

`widerow kv --path ./products load -file create-tables.kv` — a script, until a command fails

`widerow kv --path ./products < create-tables.kv` — a script, to its end

Exit codes: 0 done, 1 the command failed, 64 wrong usage, 65 wrong argument or unreadable file.
"""


def kv(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND]...", help="One command of the shell.", show_default=False
        ),
    ] = None,
    *,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The store, which no server may have open; widerow-data if left out.",
            show_default=False,
        ),
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the store if it is not there.")
    ] = False,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A server to work through. Not possible yet: no server speaks a NoSQL protocol.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Work on typed tables (Oracle NoSQL's model) with the commands of its admin shell."""
    from widerow.cli.kv.start import run_kv  # noqa: PLC0415  # only this command

    raise typer.Exit(run_kv(path, endpoint, words or (), create=create))
