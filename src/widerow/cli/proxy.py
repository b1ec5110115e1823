"""`widerow proxy`: its flags. What it does is in `proxying.py`."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from widerow.cli.flags import JSON_OUTPUT, Flag, with_flags

__all__ = ["proxy_app"]

_EXAMPLES: Final = """Examples:

`widerow proxy --upstream http://127.0.0.1:8087 --mode diff` — against a widerow that starts empty

`widerow proxy --upstream https://shop.example.com --mode diff --against http://127.0.0.1:8087
--profile service --report differences.md`

`widerow proxy --upstream http://127.0.0.1:8087 --mode record --recording monday`

`widerow proxy replay monday --against http://127.0.0.1:8087 --report differences.md`

Exit codes: 0 no differences, 1 differences, 2 it could not be done.
"""
_REPLAY_EXAMPLES: Final = """Examples:

`widerow proxy replay monday --against http://127.0.0.1:8087` — as fast as it is answered

`widerow proxy replay monday --against http://127.0.0.1:8087 --speed 1` — as it was recorded

`widerow proxy replay monday --memory --json` — against a widerow that starts empty

Exit codes: 0 no differences, 1 differences, 2 it could not be done.
"""

_REPORTS: Final = (
    Flag(
        "report",
        str,
        "Write the report to a file: .md for people, .json for programs; may be repeated.",
        "FILE",
        [],
    ),
    Flag(
        "ignore",
        str,
        "Classes that make no answer a different one: capacity, message, order and others.",
        "A,B",
        None,
    ),
    JSON_OUTPUT,
)
_AUTHORITIES: Final = "Certificates that may have signed those of the servers; else the system's."

proxy_app: Final = typer.Typer(
    help="Stand between clients and a server: record what they say, or compare two servers.",
    rich_markup_mode="markdown",
)


@proxy_app.callback(invoke_without_command=True, epilog=_EXAMPLES)
@with_flags(
    Flag("upstream", str, "The server that answers the clients.", "URL", None),
    Flag("mode", str, "What to do with what goes by: diff or record.", "MODE", "diff"),
    Flag("against", str, "diff: the server to compare with; else one in memory.", "URL", None),
    Flag("recording", str, "record: the directory to append to.", "DIR", "recording"),
    Flag("part_mb", int, "record: megabytes of one file, before the next begins.", "NUMBER", 64),
    Flag("parts", int, "record: files to keep; the oldest goes.", "NUMBER", 64),
    Flag("host", str, "Address to listen on.", "ADDRESS", "127.0.0.1"),
    Flag("port", int, "Port to listen on; 0 takes any.", "NUMBER", 8088),
    Flag(
        "profile_for_upstream",
        str,
        "Ask the upstream with the keys of this profile; clients then sign with those of "
        "--credentials.",
        "NAME",
        None,
    ),
    Flag(
        "profile_for_against",
        str,
        "Ask the other server with the keys of this profile; else as the client signed.",
        "NAME",
        None,
    ),
    Flag(
        "credentials",
        str,
        "File of the keys that clients sign with, as `widerow serve` has it; else widerow/widerow.",
        "FILE",
        None,
    ),
    Flag("authorities", str, _AUTHORITIES, "FILE", None),
    *_REPORTS,
)
def _proxy(context: typer.Context, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Listen like a server, and pass each request on to another one.

    Without a command: until SIGTERM or SIGINT.
    """
    if context.invoked_subcommand is not None:
        return
    from widerow.cli.proxying import run_proxy  # noqa: PLC0415  # only this command

    raise typer.Exit(run_proxy(given))


@proxy_app.command("replay", epilog=_REPLAY_EXAMPLES)
@with_flags(
    Flag("against", str, "The server to ask.", "URL", None),
    Flag("memory", bool, "Ask a widerow that starts empty, in memory.", default=False),
    Flag(
        "profile",
        str,
        "Sign as this profile; else as widerow/widerow.",
        "NAME",
        None,
    ),
    Flag("instance", str, "Ask this instance; else the recorded one.", "NAME", None),
    Flag(
        "speed",
        float,
        "So many times as fast as recorded; else as fast as it is answered.",
        "NUMBER",
        None,
    ),
    Flag("concurrency", int, "Requests at a time, where they touch different rows.", "NUMBER", 1),
    Flag("authorities", str, _AUTHORITIES, "FILE", None),
    *_REPORTS,
)
def _replay(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="Directory, or a part.")],
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Ask a server what was recorded, and compare its answers with the recorded ones."""
    from widerow.cli.proxying import run_replay  # noqa: PLC0415  # only this command

    raise typer.Exit(run_replay(recording, given))
