"""The command `widerow ts` and its flags; what it does is in `vendor`."""

from typing import Annotated, Any, Final

import typer

from widerow.cli.flags import Flag, server_flags, with_flags

__all__ = ["TS_EXAMPLES", "ts"]

TS_EXAMPLES: Final = """Examples:

`widerow ts` — a conversation: `help` lists the commands, Tab completes

`widerow ts list` — one command

`widerow ts -t cards get --pk '["c-1",7]'` — one command about a table

`widerow ts < script.ts` — a script, a command on each line; so does `--file script.ts`

`widerow ts config --endpoint http://db:8087 --instance shop --id reporting --key SECRET` — kept as
the profile that is used from then on

Exit codes: 0 done, 1 the server's answer is an error, 2 the command cannot be understood or there
was no answer; of a script that of the first command that failed.
"""


@with_flags(
    Flag("file", str, "Run the commands of this file.", "FILE", None),
    *server_flags("The server; any that speaks Tablestore."),
)
def ts(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND]...", help="One command of the shell.", show_default=False
        ),
    ] = None,
    *,
    table: Annotated[
        str | None,
        typer.Option("--table", "-t", metavar="TABLE", help="The table.", show_default=False),
    ] = None,
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Work on tables and rows with the commands of the vendor's command line."""
    from widerow.cli.ts.start import run_ts  # noqa: PLC0415  # only this command

    raise typer.Exit(run_ts(words or (), {**given, "table": table}))
