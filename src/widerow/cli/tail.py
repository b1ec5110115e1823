"""`widerow tail`: the changes of a table, as they come.

Over the protocol, so of any endpoint that speaks Tablestore. One line, or one row of a table, for
each change; how shards are followed stands in `transfer/changes.py`.
"""

import re
import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.cli.answers import print_row
from widerow.cli.command import CommandFailed, Flag, Given, command, switch
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import server_flags
from widerow.cli.names import TABLE_NAME
from widerow.client.connection import Client
from widerow.model.values import Value
from widerow.rows.plain_values import CellDeletion, VersionedValue
from widerow.system import SystemClock
from widerow.transfer.changes import (
    START,
    TAIL,
    FollowedChange,
    Follower,
    StreamFacts,
    enable_stream,
    find_stream,
)

__all__ = ["TAIL_COMMAND", "change_document", "pause_seconds", "start_time"]

Json = dict[str, Any]
_Print = Callable[[Sequence[FollowedChange]], None]

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_AGO: Final = re.compile(r"(\d{1,9})([smhd])", re.ASCII)
_PAUSE_GROWTH_MAX: Final = 8  # a quiet table is asked so many times less often
_INTERVAL_MIN: Final = 0.05
_INTERVAL_MAX: Final = 60.0
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_CHARS: Final = 27
_ACTION_CHARS: Final = 6


def _tail(table: str, given: Given) -> None:
    _check(given)
    now_us = SystemClock().now_us()
    begin = start_time(given["from_"], now_us)
    count = 0
    try:
        with Client(endpoint_of(given)) as client:
            stream = _stream(client, table, given["enable"])
            follower = Follower(client, stream.id, begin, now_us)
            shown = _json_lines if given["as_json"] else _rows(stream)
            for page in _pages(follower, given):
                shown(page)
                count += len(page)
    except KeyboardInterrupt:
        pass  # the usual end
    sys.stderr.write(f"{count:,} change{'' if count == 1 else 's'} of {table}\n")


def _check(given: Given) -> None:
    if given["limit"] is not None and given["limit"] < 1:
        raise click.BadParameter(f"--limit is 1 or more, not {given['limit']}")
    if not _INTERVAL_MIN <= given["interval"] <= _INTERVAL_MAX:
        raise click.BadParameter(
            f"--interval is {_INTERVAL_MIN} to {_INTERVAL_MAX:g} seconds, not {given['interval']}"
        )


def start_time(text: str, now_us: int) -> int:
    """Where `--from` says to begin, as `Follower` takes it.

    `now_us`: the time, in microseconds since 1970. Raises `click.BadParameter` for what is no time,
    and for one that is still to come.
    """
    if text in ("start", "now"):
        return START if text == "start" else TAIL
    if ago := _AGO.fullmatch(text):
        return max(1, now_us - int(ago[1]) * _UNITS[ago[2]] * 1_000_000)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(
            f"--from {text}: write start, now, 10m (s, m, h or d ago) or 2025-01-01T12:00"
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    found = (moment - _EPOCH) // timedelta(microseconds=1)
    if found > now_us:
        raise click.BadParameter(f"--from {text}: that is still to come; write now")
    return max(1, found)


def pause_seconds(interval: float, quiet: int) -> float:
    """How long to wait after so many looks that found nothing: `interval`, and up to 8 times it."""
    return interval * min(_PAUSE_GROWTH_MAX, (1 << min(quiet, _PAUSE_GROWTH_MAX)))


def _stream(client: Client, table: str, hours: int | None) -> StreamFacts:
    found = find_stream(client, table)
    if found is None and hours is not None:
        enable_stream(client, table, hours)
        found = find_stream(client, table)
    if found is None:
        raise CommandFailed(
            f"the stream of {table} is off, so no change of it is kept; switch it on with "
            f"`widerow tail {table} --enable 24` (hours that changes are kept, 1 to 168)"
        )
    return found


def _pages(follower: Follower, given: Given) -> Any:  # noqa: ANN401  # an iterator of pages
    """Pages of changes, with pauses between looks, until the flags say to end."""
    left: int | None = given["limit"]
    quiet, never = 0, Event()
    while left is None or left > 0:
        page = follower.read(left)
        if page:
            yield page
            quiet = 0
            left = None if left is None else left - len(page)
        if not follower.at_tail:
            continue
        if given["once"]:
            return
        if left is None or left > 0:
            never.wait(pause_seconds(given["interval"], quiet))
            quiet += not page


# --- JSON ----------------------------------------------------------------------------------------


def change_document(change: FollowedChange) -> Json:
    """A change as a line of `--json` has it (docs/guide/streams.md names the fields)."""
    return {
        "time": _time(change.time_us),
        "timestamp_us": change.time_us,
        "row_index": change.row_index,
        "shard": change.shard,
        "action": change.action,
        "primary_key": [{"name": name, **_value(value)} for name, value in change.key],
        "columns": [_column(cell) for cell in change.cells],
        "origin": None if change.origin is None else [_column(cell) for cell in change.origin],
    }


def _column(cell: VersionedValue | CellDeletion) -> Json:
    if isinstance(cell, CellDeletion):
        deleted = "all" if cell.version is None else "one"
        version = {} if cell.version is None else {"version": cell.version}
        return {"name": cell.column, "deleted": deleted, **version}
    return {"name": cell.column, **_value(cell.value), "version": cell.version}


def _value(value: Value) -> Json:
    if isinstance(value, bytes):
        return {"type": "binary", "value": b64encode(value).decode()}
    return {"type": _type(value), "value": value}


def _type(value: Value) -> str:
    names = {bool: "boolean", int: "integer", float: "double", str: "string", bytes: "binary"}
    return names[type(value)]


def _time(time_us: int) -> str:
    return f"{_EPOCH + timedelta(microseconds=time_us):%Y-%m-%dT%H:%M:%S.%fZ}"


def _json_lines(page: Sequence[FollowedChange]) -> None:
    for each in page:
        print_row(change_document(each))
    sys.stdout.flush()


# --- a table -------------------------------------------------------------------------------------


def _rows(stream: StreamFacts) -> _Print:
    """What shows pages as parts of one table; `before` is a column where former values are kept."""
    console = Console()
    begun = False

    def show(page: Sequence[FollowedChange]) -> None:
        nonlocal begun
        part = Table(box=None, expand=True, show_header=not begun, pad_edge=False)
        begun = True
        part.add_column("time", width=_TIME_CHARS, no_wrap=True)
        part.add_column("action", width=_ACTION_CHARS, no_wrap=True)
        for heading, ratio in (("primary key", 1), ("columns", 2)):
            part.add_column(heading, ratio=ratio, overflow="fold")
        if stream.columns:
            part.add_column("before", ratio=1, overflow="fold")
        for each in page:
            key = "\n".join(f"{name}={_shown(value)}" for name, value in each.key)
            words = [_time(each.time_us), each.action, key, "\n".join(map(_words, each.cells))]
            if stream.columns:
                words.append("\n".join(map(_words, each.origin or ())))
            part.add_row(*map(Text, words))
        console.print(part)

    return show


def _words(cell: VersionedValue | CellDeletion) -> str:
    if not isinstance(cell, CellDeletion):
        return f"{cell.column}={_shown(cell.value)} ({_type(cell.value)}) @{cell.version}"
    if cell.version is None:
        return f"{cell.column}: all versions deleted"
    return f"{cell.column}: version {cell.version} deleted"


def _shown(value: Value) -> str:
    """A value on a terminal: no control character of a client reaches it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return value if isinstance(value, str) and value.isprintable() else repr(value)


TAIL_COMMAND: Final = command(
    _tail,
    TABLE_NAME,
    Flag("from_", "start, now, a time in UTC or how long ago: 10m, 2h.", "TIME", default="now"),
    Flag("limit", "End after so many changes.", "NUMBER", int),
    switch("once", "End when there is nothing more to read."),
    Flag(
        "interval",
        "Seconds between two looks; up to eight times as long while nothing changes.",
        "SECONDS",
        float,
        0.5,
    ),
    Flag(
        "enable",
        "Switch the table's stream on where it is off, to keep changes for 1 to 168 hours.",
        "HOURS",
        int,
    ),
    *server_flags("The server; any that speaks Tablestore."),
    switch("as_json", "One JSON document for each change, each on a line."),
    more="The table's stream must be on; --enable switches it on.",
    examples="""
`widerow tail orders` — what is changed from now on, until Ctrl-C
`widerow tail orders --from 10m --json` — JSON lines, from ten minutes ago on
`widerow tail orders --from start --once` — all that is kept, then end
`widerow tail orders --enable 24` — switch the stream on, to keep changes for 24 hours, and follow
""",
)
