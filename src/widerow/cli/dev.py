"""`widerow dev`: command a server that was started with `--dev` (docs/guide/testing.md).

Each command is one request to `/_widerow/`, and prints what it is answered: facts as
`name=value`, or JSON.
"""

import json
import sys
from typing import Final

from widerow.cli.answers import facts_lines, tell
from widerow.cli.command import (
    JSON_OUTPUT,
    CommandFailed,
    Flag,
    Given,
    Positional,
    command,
    group,
    switch,
)
from widerow.cli.flags import server_flags
from widerow.client.failures import no_answer_words
from widerow.client.http import NO_ANSWER, OK, HttpRequest, ask_url
from widerow.written_numbers import real_number, whole_number

__all__ = ["DEV"]

_TIMEOUT_SECONDS: Final = 30.0
_SERVER: Final = (
    *server_flags("The server to command.", "The instance that it is about."),
    JSON_OUTPUT,
)
_FAULT: Final = (
    Flag("error", "The code, such as OTSServerBusy.", "CODE"),
    Flag("message", "Another text than the service's.", "TEXT"),
    switch("drop", "Close the connection without an answer."),
    Flag("latency_ms", "Hold the answer back so long.", "MS", int),
    Flag("when", "before or after the request was carried out.", "WHEN"),
    Flag("rows", "Rows of a batch: their share, or numbers as in 0,2.", "ROWS"),
    Flag("action", "Only this action, such as PutRow.", "ACTION"),
    Flag("table", "Only this table.", "TABLE"),
    Flag("probability", "The share of requests that fail.", "SHARE", float),
    Flag("seed", "Which ones: the same for the same seed.", "NUMBER", int),
    Flag("skip", "So many pass first.", "NUMBER", int),
    Flag("count", "So many fail.", "NUMBER", int),
)


def _show(given: Given) -> None:
    _ask(given, "GET", "clock")


def _advance(span: str, given: Given) -> None:
    _ask(given, "POST", "clock", advance=_number(span))


def _set(moment: str, given: Given) -> None:
    _ask(given, "POST", "clock", set=_number(moment))


def _freeze(given: Given) -> None:
    _ask(given, "POST", "clock", freeze=True)


def _run(given: Given) -> None:
    _ask(given, "POST", "clock", run=True)


def _add(given: Given) -> None:
    fields = {flag.name: given[flag.name] for flag in _FAULT if given[flag.name] is not None}
    if "rows" in fields:
        fields["rows"] = _rows(fields["rows"])
    _ask(given, "POST", "faults", instance=given["instance"], **fields)


def _list(given: Given) -> None:
    _ask(given, "GET", "faults")


def _remove(number: int | None, given: Given) -> None:
    _ask(given, "DELETE", "faults" if number is None else f"faults/{number}")


def _keep(name: str, given: Given) -> None:
    _ask(given, "POST", "snapshots", instance=given["instance"], name=name)


def _reset(name: str | None, given: Given) -> None:
    _ask(given, "POST", "reset", instance=given["instance"], snapshot=name)


def _number(text: str) -> float | int | str:
    """A number where it is written as one, else the text: the server knows both."""
    try:
        return whole_number(text)
    except ValueError:
        try:
            return real_number(text)
        except ValueError:
            return text


def _rows(text: str) -> list[int] | float:
    """Numbers of rows, or a share of them; -1, which the server refuses, for what is neither."""
    try:
        if "." in text:
            return real_number(text)
        return [whole_number(part.strip()) for part in text.split(",")]
    except ValueError:
        return -1.0


def _ask(given: Given, method: str, page: str, **fields: object) -> None:
    """Send a command and print what the server answers. Raises: `CommandFailed`."""
    endpoint = str(given["endpoint"]).rstrip("/")
    body = json.dumps(fields).encode() if fields else None
    headers = {"content-type": "application/json"}
    request = HttpRequest(f"/_widerow/{page}", method, headers, body)
    try:
        answer = ask_url(endpoint, request, _TIMEOUT_SECONDS)
    except NO_ANSWER as error:
        raise CommandFailed(no_answer_words(endpoint, error)) from error
    if answer.status // 100 != OK // 100:  # what is made is answered 201
        raise CommandFailed(_refusal(endpoint, answer.body))
    document = json.loads(answer.body)
    lines = "".join(f"{line}\n" for line in facts_lines(document))
    tell(given, document, lambda: sys.stdout.write(lines))


def _refusal(endpoint: str, body: bytes) -> str:
    try:
        told = json.loads(body)["error"]
        return f"{told['field']}: {told['message']}"
    except (ValueError, LookupError, TypeError):
        return f"{endpoint} is not a server in dev mode; start it with widerow serve --dev"


# --- the commands --------------------------------------------------------------------------------

_CLOCK_EXAMPLES: Final = """
`widerow dev clock advance 1h30m`
`widerow dev clock set 2030-01-01T00:00:00Z`
"""
_RUN_EXAMPLES: Final = """
`widerow dev clock freeze`, then `widerow dev clock show`, and `widerow dev clock run` again
"""
_FAULTS_EXAMPLES: Final = """
`widerow dev faults list` — each with its number
`widerow dev faults remove 3`, or without a number all of them
"""
_RESET_EXAMPLES: Final = """
`widerow dev reset --instance shop` — nothing is left
`widerow dev keep ten --instance shop` and later `widerow dev reset ten --instance shop`
"""
_FAULT_EXAMPLES: Final = """
`widerow dev faults add --error OTSServerBusy --action PutRow --count 2 --instance shop`
`widerow dev faults add --error OTSTimeout --when after --probability 0.1 --seed 7`
`widerow dev faults add --error OTSPartitionUnavailable --action BatchWriteRow --rows 0,2`
"""
_SPAN: Final = Positional("span", "SPAN", "As in 90s, 1h30m or 500ms.")
_TIME: Final = Positional("moment", "TIME", "Milliseconds since 1970, or with date and zone.")
_ID: Final = Positional("number", "ID", "The fault; all of them if left out.", "?", kind=int)
_KEPT: Final = Positional("name", "NAME", "What to call the snapshot.")
_SNAPSHOT: Final = Positional("name", "NAME", "A snapshot; nothing if left out.", "?")
_CLOCK: Final = group(
    "Example: `widerow dev clock advance 1h`",
    {
        "show": command(
            _show, *_SERVER, examples=_RUN_EXAMPLES, help="Show the time, and whether it runs."
        ),
        "advance": command(
            _advance, _SPAN, *_SERVER, examples=_CLOCK_EXAMPLES, help="Let time pass."
        ),
        "set": command(_set, _TIME, *_SERVER, examples=_CLOCK_EXAMPLES, help="Set the time."),
        "freeze": command(
            _freeze, *_SERVER, examples=_RUN_EXAMPLES, help="Let the clock stand still."
        ),
        "run": command(
            _run, *_SERVER, examples=_RUN_EXAMPLES, help="Let the clock go on by itself."
        ),
    },
    help="The clock that dates rows.",
)
_FAULTS: Final = group(
    "Example: `widerow dev faults add --error OTSServerBusy --count 2`",
    {
        "add": command(
            _add,
            *_FAULT,
            *_SERVER,
            examples=_FAULT_EXAMPLES,
            help="Let requests to the instance fail.",
        ),
        "list": command(
            _list,
            *_SERVER,
            examples=_FAULTS_EXAMPLES,
            help="Show every fault, and how often it struck.",
        ),
        "remove": command(
            _remove,
            _ID,
            *_SERVER,
            examples=_FAULTS_EXAMPLES,
            help="Remove a fault, or all of them.",
        ),
    },
    help="Requests that fail on demand.",
)
DEV: Final = group(
    "Example: `widerow dev clock advance 1h`, of a server that runs with `--dev`",
    {
        "clock": _CLOCK,
        "faults": _FAULTS,
        "keep": command(
            _keep,
            _KEPT,
            *_SERVER,
            examples=_RESET_EXAMPLES,
            help="Keep a snapshot of the instance, for `reset`.",
        ),
        "reset": command(
            _reset,
            _SNAPSHOT,
            *_SERVER,
            examples=_RESET_EXAMPLES,
            help="Let the instance hold nothing, or what a snapshot holds.",
        ),
    },
)
