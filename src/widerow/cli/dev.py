"""`widerow dev`: command a server that was started with `--dev` (docs/guide/testing.md).

Each command is one request to `/_widerow/`, and prints the JSON that it is answered.
"""

import json
import sys
from typing import Annotated, Any, Final

import typer

from widerow.cli.ending import CommandFailed
from widerow.cli.flags import Flag, server_flags, with_flags

__all__ = ["dev_app"]

_TIMEOUT_SECONDS: Final = 30.0
_MARKDOWN: Final = "markdown"
dev_app: Final = typer.Typer(
    help="Command a server that was started with `--dev`: its clock, faults, instances.",
    epilog="Example: `widerow dev clock advance 1h`, of a server that runs with `--dev`",
    no_args_is_help=True,
    rich_markup_mode=_MARKDOWN,
)
_clock_app: Final = typer.Typer(
    help="The clock that dates rows.",
    epilog="Example: `widerow dev clock advance 1h`",
    no_args_is_help=True,
    rich_markup_mode=_MARKDOWN,
)
_faults_app: Final = typer.Typer(
    help="Requests that fail on demand.",
    epilog="Example: `widerow dev faults add --error OTSServerBusy --count 2`",
    no_args_is_help=True,
    rich_markup_mode=_MARKDOWN,
)
dev_app.add_typer(_clock_app, name="clock")
dev_app.add_typer(_faults_app, name="faults")

_SERVER: Final = server_flags("The server to command.", "The instance that it is about.")
_FAULT: Final = (
    Flag("error", str, "The code, such as OTSServerBusy.", "CODE", None),
    Flag("message", str, "Another text than the service's.", "TEXT", None),
    Flag("drop", bool, "Close the connection without an answer.", None, default=False),
    Flag("latency_ms", int, "Hold the answer back so long.", "MS", None),
    Flag("when", str, "before or after the request was carried out.", "WHEN", None),
    Flag("rows", str, "Rows of a batch: their share, or numbers as in 0,2.", "ROWS", None),
    Flag("action", str, "Only this action, such as PutRow.", "ACTION", None),
    Flag("table", str, "Only this table.", "TABLE", None),
    Flag("probability", float, "The share of requests that fail.", "SHARE", None),
    Flag("seed", int, "Which ones: the same for the same seed.", "NUMBER", None),
    Flag("skip", int, "So many pass first.", "NUMBER", None),
    Flag("count", int, "So many fail.", "NUMBER", None),
)
_CLOCK_EXAMPLES: Final = """Examples:

`widerow dev clock advance 1h30m`

`widerow dev clock set 2030-01-01T00:00:00Z`
"""
_RUN_EXAMPLES: Final = """Examples:

`widerow dev clock freeze`, then `widerow dev clock show`, and `widerow dev clock run` again
"""
_FAULTS_EXAMPLES: Final = """Examples:

`widerow dev faults list` — each with its number

`widerow dev faults remove 3`, or without a number all of them
"""
_FAULT_EXAMPLES: Final = """Examples:

`widerow dev faults add --error OTSServerBusy --action PutRow --count 2 --instance shop`

`widerow dev faults add --error OTSTimeout --when after --probability 0.1 --seed 7`

`widerow dev faults add --error OTSPartitionUnavailable --action BatchWriteRow --rows 0,2`
"""
_RESET_EXAMPLES: Final = """Examples:

`widerow dev reset --instance shop` — nothing is left

`widerow dev keep ten --instance shop` and later `widerow dev reset ten --instance shop`
"""


@_clock_app.command("show", epilog=_RUN_EXAMPLES)
@with_flags(*_SERVER)
def _show(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show the time, and whether it runs."""
    _ask(given, "GET", "clock")


@_clock_app.command("advance", epilog=_CLOCK_EXAMPLES)
@with_flags(*_SERVER)
def _advance(
    span: Annotated[str, typer.Argument(metavar="SPAN", help="As in 90s, 1h30m or 500ms.")],
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Let time pass."""
    _ask(given, "POST", "clock", advance=_number(span))


@_clock_app.command("set", epilog=_CLOCK_EXAMPLES)
@with_flags(*_SERVER)
def _set(
    moment: Annotated[
        str, typer.Argument(metavar="TIME", help="Milliseconds since 1970, or with date and zone.")
    ],
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Set the time."""
    _ask(given, "POST", "clock", set=_number(moment))


@_clock_app.command("freeze", epilog=_RUN_EXAMPLES)
@with_flags(*_SERVER)
def _freeze(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Let the clock stand still."""
    _ask(given, "POST", "clock", freeze=True)


@_clock_app.command("run", epilog=_RUN_EXAMPLES)
@with_flags(*_SERVER)
def _run(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Let the clock go on by itself."""
    _ask(given, "POST", "clock", run=True)


@_faults_app.command("add", epilog=_FAULT_EXAMPLES)
@with_flags(*_FAULT, *_SERVER)
def _add(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Let requests to the instance fail."""
    fields = {flag.name: given[flag.name] for flag in _FAULT if given[flag.name] is not None}
    if "rows" in fields:
        fields["rows"] = _rows(fields["rows"])
    _ask(given, "POST", "faults", instance=given["instance"], **fields)


@_faults_app.command("list", epilog=_FAULTS_EXAMPLES)
@with_flags(*_SERVER)
def _list(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show every fault, and how often it struck."""
    _ask(given, "GET", "faults")


@_faults_app.command("remove", epilog=_FAULTS_EXAMPLES)
@with_flags(*_SERVER)
def _remove(
    number: Annotated[
        int | None, typer.Argument(metavar="ID", help="The fault; all of them if left out.")
    ] = None,
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Remove a fault, or all of them."""
    _ask(given, "DELETE", "faults" if number is None else f"faults/{number}")


@dev_app.command("keep", epilog=_RESET_EXAMPLES)
@with_flags(*_SERVER)
def _keep(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the snapshot.")],
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Keep a snapshot of the instance, for `reset`."""
    _ask(given, "POST", "snapshots", instance=given["instance"], name=name)


@dev_app.command("reset", epilog=_RESET_EXAMPLES)
@with_flags(*_SERVER)
def _reset(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A snapshot; nothing if left out.")
    ] = None,
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Let the instance hold nothing, or what a snapshot holds."""
    _ask(given, "POST", "reset", instance=given["instance"], snapshot=name)


def _number(text: str) -> float | int | str:
    """A number where it is written as one, else the text: the server knows both."""
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _rows(text: str) -> list[int] | float:
    if "." in text:
        return float(text) if text.replace(".", "", 1).isdigit() else -1.0
    return [int(part) if part.strip().isdigit() else -1 for part in text.split(",")]


def _ask(given: dict[str, Any], method: str, page: str, **fields: object) -> None:
    """Send a command and print what the server answers. Raises: `CommandFailed`."""
    from widerow.client.http import NO_ANSWER, OK, HttpRequest, ask_url  # noqa: PLC0415  # only to ask

    endpoint = str(given["endpoint"]).rstrip("/")
    body = json.dumps(fields).encode() if fields else None
    headers = {"content-type": "application/json"}
    request = HttpRequest(f"/_widerow/{page}", method, headers, body)
    try:
        answer = ask_url(endpoint, request, _TIMEOUT_SECONDS)
    except NO_ANSWER as error:
        raise CommandFailed(f"no widerow answers at {endpoint} ({error})") from error
    if answer.status // 100 != OK // 100:  # what is made is answered 201
        raise CommandFailed(_refusal(endpoint, answer.body))
    sys.stdout.write(answer.body.decode())


def _refusal(endpoint: str, body: bytes) -> str:
    try:
        told = json.loads(body)["error"]
        return f"{told['field']}: {told['message']}"
    except (ValueError, LookupError, TypeError):
        return f"{endpoint} is no server in dev mode; start it with widerow serve --dev"
