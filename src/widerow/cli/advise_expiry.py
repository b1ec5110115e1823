"""`widerow advise ttl`: samples tables of an endpoint and says what expiry would give back."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from widerow.advice.expiry import (
    ExpiryAdvice,
    ExpiryFinding,
    TableOptionsSeen,
    advise_expiry,
    expiry_document,
)
from widerow.advice.sampling import SampleBounds, sample_table
from widerow.advice.version_reads import count_version_reads
from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, CommandFailed, Flag, Given, Positional, command
from widerow.cli.connection import CONNECTION_FIELDS, endpoint_of
from widerow.cli.flags import server_flags
from widerow.cli.progress import progress_bar
from widerow.client.connection import Client
from widerow.client.tables import about_table
from widerow.keydesign.figures import decimal_size
from widerow.proxy.recording import read_exchanges
from widerow.system import SystemClock
from widerow.wire.tablestore import messages as m

__all__ = ["ADVISE_TTL"]

_ROWS: Final = (1, 10_000_000)
_SECONDS: Final = (0.1, 86_400.0)
_DAYS: Final = (1, 36_500)
_DEFAULTS: Final = {field.name: field.default for field in CONNECTION_FIELDS}

_Judged = tuple[str, TableOptionsSeen, ExpiryAdvice]


def _advise_ttl(place: str | None, table: str | None, given: Given) -> None:
    """Judge one table, or all of an instance.

    Raises: `CommandFailed`, `RecordingInvalid`, `RequestFailed`.
    """
    for flag, bounds in (("rows", _ROWS), ("seconds", _SECONDS), ("old_days", _DAYS)):
        if not bounds[0] <= given[flag] <= bounds[1]:
            name = flag.replace("_", "-")
            raise CommandFailed(f"--{name} is {bounds[0]:g} to {bounds[1]:g}, not {given[flag]}")
    given = given if place is None else {**given, "instance": place}
    reads = None
    if given["recording"] is not None:
        recorded = (each.exchange for each in read_exchanges(Path(given["recording"])))
        reads = count_version_reads(recorded, given["instance"])
    with Client(endpoint_of(given)) as client:
        names = [table] if table is not None else _tables(client)
        judged = [_judge(client, name, reads, given) for name in names]
    documents = _documents(judged, given)
    tell(given, {"tables": documents}, lambda: _show(judged, given))


def _tables(client: Client) -> list[str]:
    found = client.call("ListTable", m.ListTableRequest(), m.ListTableResponse)
    return [str(name) for name in found.table_names]


def _judge(client: Client, table: str, reads: Mapping[str, int] | None, given: Given) -> _Judged:
    request = m.DescribeTableRequest(table_name=table)
    with about_table(client, table):
        described = client.call("DescribeTable", request, m.DescribeTableResponse)
    options = TableOptionsSeen(
        described.table_options.time_to_live, described.table_options.max_versions
    )
    bounds = SampleBounds(given["rows"], given["seconds"])
    with progress_bar(f"reading {table}", given["rows"]) as told:
        sample = sample_table(client, table, bounds, told)
    now_ms = SystemClock().now_us() // 1000
    version_reads = None if reads is None else reads.get(table, 0)
    return table, options, advise_expiry(options, sample, now_ms, given["old_days"], version_reads)


def _command(table: str, options: str, given: Given) -> str:
    """The command line that makes a change; of a connection what is not the default, no secret."""
    words = ["widerow", "table", "update", table, *options.split()]
    for name in ("endpoint", "instance"):
        if given[name] != _DEFAULTS[name]:
            words += [f"--{name}", given[name]]
    return shlex.join(words)


def _documents(judged: Sequence[_Judged], given: Given) -> list[dict[str, Any]]:
    documents = []
    for table, options, advice in judged:
        document = expiry_document(table, options, advice)
        for finding in document["findings"]:
            change = finding.pop("options")
            finding["command"] = _command(table, change, given) if change else None
        documents.append(document)
    return documents


def _show(judged: Sequence[_Judged], given: Given) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    shown = Table("table", "rows read", "bytes", "from", "time to live", "versions", "findings")
    for name, options, advice in judged:
        ttl = "never" if options.time_to_live == -1 else f"{options.time_to_live:,} s"
        part = "all of it" if advice.whole else f"{advice.places} places"
        cells = (name, f"{advice.rows:,}", decimal_size(advice.bytes), part, ttl)
        findings = f"{len(advice.findings)}"
        shown.add_row(*map(Text, cells), f"{options.max_versions}", findings)
    console = Console()
    console.print(shown)
    for name, _, advice in judged:
        for each in advice.findings:
            console.print(Text(f"{name}, {each.kind}: {each.text}."))
            if each.options:
                console.print(Text(_gain(advice, each)))
                console.print(Text(f"  {_command(name, each.options, given)}"), soft_wrap=True)


def _gain(advice: ExpiryAdvice, finding: ExpiryFinding) -> str:
    if not finding.bytes:
        return "  The bytes that it would give back are not in a sample."
    share = f"{finding.share:.0%}"
    if finding.error:
        share += f" ± {finding.error:.0%}"
    whole = advice.reclaimable(finding)
    size = f", {decimal_size(whole)}" if whole is not None else ""
    return f"  It would give back {share} of the table{size}."


ADVISE_TTL: Final = command(
    _advise_ttl,
    Positional("place", "INSTANCE", "The instance, as --instance.", "?"),
    Positional("table", "TABLE", "The table; all if left out.", "?"),
    Flag("rows", "Rows of a table to read.", "NUMBER", int, 10_000),
    Flag("seconds", "Seconds that reading a table may take.", "SECONDS", float, 30.0),
    Flag("old_days", "Days after which a row that nobody wrote is old.", "DAYS", int, 365),
    Flag("recording", "What `widerow proxy` recorded of the tables' use.", "DIR"),
    *server_flags("The server; any that speaks Tablestore."),
    JSON_OUTPUT,
    examples="""
`widerow advise ttl shop orders` — one table of the instance shop
`widerow advise ttl shop --old-days 90 --json` — all of its tables
`widerow advise ttl shop orders --recording monday` — and which versions a workload reads
""",
)
