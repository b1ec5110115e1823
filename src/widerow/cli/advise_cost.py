"""`widerow advise cost`: capacity units of a recording, or of a running widerow."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Final

from widerow.advice.cost import CostInvalid, UnitPrices, WorkloadCost
from widerow.advice.counters import UnitCounters, read_counters
from widerow.advice.unit_rules import Units
from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, command
from widerow.cli.profiles import asked_connection
from widerow.cli.progress import progress_bar
from widerow.client.http import NO_ANSWER, OK, HttpRequest, ask_url, server_address
from widerow.proxy.recording import read_exchanges, recording_bytes
from widerow.server.loopback import is_loopback
from widerow.system import SystemClock

__all__ = ["ADVISE_COST"]

_SECONDS: Final = (1, 86_400)
_DEAREST: Final = (0, 1000)
_PAGE_BYTES_MAX: Final = 16 * 1024 * 1024  # of counters; a full page has 100 KB
_TIMEOUT_SECONDS: Final = 10.0
_NOT_LET_IN: Final = 401
_DEFAULT_PAIR: Final = "widerow:widerow"
_EVERY_ACTION: Final = "every action"  # counters of tables do not tell


def _advise_cost(given: Given) -> None:
    """Add up a workload and show it. Raises: `CostInvalid`, `RecordingInvalid`."""
    if (given["recording"] is None) == (given["live"] is None):
        raise CostInvalid("give a recording with --recording or a server with --live, one of them")
    for flag, bounds in (("seconds", _SECONDS), ("dearest", _DEAREST)):
        if not bounds[0] <= given[flag] <= bounds[1]:
            raise CostInvalid(f"--{flag} is {bounds[0]} to {bounds[1]}, not {given[flag]}")
    prices = UnitPrices(given["price_read"], given["price_write"], given["price_storage"])
    for price in prices:
        if price is not None and not 0 <= price < float("inf"):
            raise CostInvalid(f"a price is a number from 0 upwards, not {price:g}")
    cost = WorkloadCost(given["dearest"])
    counters = None
    if given["recording"] is not None:
        place = Path(given["recording"])
        with progress_bar(f"reading {place}", recording_bytes(place)) as told:
            for recorded in read_exchanges(place):
                cost.add(recorded.exchange)
                told(recorded.behind)
    else:
        counters = _watch(given["live"], _key_headers(given), given["seconds"], cost)
    document = cost.document(prices)
    if counters is not None:
        document["since_start"] = {
            name: units._asdict() for name, units in sorted(counters.actions.items())
        }
    tell(given, document, lambda: _print(cost, prices, counters))


def _key_headers(given: Given) -> dict[str, str]:
    """The headers that show a server our access key: what tables consume is for holders of one.

    The secret itself is sent, so a key that is not the public one stays here where somebody may
    read along: the server would not take it either.
    """
    flags = {name: given[name] for name in ("access_key_id", "access_key_secret")}
    known = asked_connection(flags, None).values
    pair = f"{known['access_key_id']}:{known['access_key_secret']}"
    place = server_address(given["live"])
    is_private = place.scheme == "https" or is_loopback(place.hostname or "")
    if not is_private and pair != _DEFAULT_PAIR:
        return {}
    return {"authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _watch(url: str, headers: Mapping[str, str], seconds: int, cost: WorkloadCost) -> UnitCounters:
    """Read the counters each second; what tables consumed goes into `cost`. The last counters."""
    clock, pause = SystemClock(), Event()
    counters = _fetch(url, headers)
    begun_ns = clock.monotonic_ns()
    with progress_bar(f"looking at {url}", seconds) as told:
        for number in range(1, seconds + 1):
            cost.reach(clock.now_us())
            pause.wait(max(0.0, number - (clock.monotonic_ns() - begun_ns) / 1e9))
            now = _fetch(url, headers)
            second = clock.now_us() // 1_000_000
            for table, units in now.tables.items():
                before = counters.tables.get(table, Units(0, 0))
                spent = Units(max(0, units.read - before.read), max(0, units.write - before.write))
                cost.note(table, _EVERY_ACTION, spent, second)
            counters = now
            told(number)
    return counters


def _fetch(url: str, headers: Mapping[str, str]) -> UnitCounters:
    """The counters of a server. Raises: `CostInvalid`, `RequestFailed`."""
    try:
        request = HttpRequest("/metrics", headers=headers)
        answer = ask_url(url, request, _TIMEOUT_SECONDS, limit=_PAGE_BYTES_MAX)
    except NO_ANSWER as error:
        raise CostInvalid(f"{url} does not tell its counters: {error}") from error
    if answer.status == _NOT_LET_IN:
        raise CostInvalid(f"{url} does not know the access key; name one with --access-key-id")
    if answer.status != OK or b"widerow_requests_total" not in answer.body:
        raise CostInvalid(f"{url} is not a server of widerow: it has no counters at /metrics")
    return read_counters(answer.body.decode("utf-8", "replace"))


def _print(cost: WorkloadCost, prices: UnitPrices, counters: UnitCounters | None) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    console = Console()
    table = Table("table", "action", "requests", "read units", "write units")
    for (name, action), units in sorted(cost.units.items()):
        requests = f"{cost.requests[name, action] or '':}"
        table.add_row(Text(name), action, requests, f"{units.read:,}", f"{units.write:,}")
    console.print(table)
    if counters is not None:
        since = Table("action, since the server's start", "read units", "write units")
        for name, units in sorted(counters.actions.items()):
            since.add_row(Text(name), f"{units.read:,}", f"{units.write:,}")
        console.print(since)
    reserves = Table("table", "kind", "most in a second", "in 99 of 100", "beyond that reserve")
    for each in cost.reserves():
        beyond = f"{each.additional:.1%}"
        reserves.add_row(Text(each.table), each.kind, f"{each.peak:,}", f"{each.p99:,}", beyond)
    console.print(reserves)
    for found in cost.dearest():
        spent = f"{found.units.read:,} read and {found.units.write:,} write units"
        console.print(Text(f"{found.action} of {found.table}: {spent}; {found.request}"))
        for hint in found.hints:
            console.print(Text(f"  {hint}"))
    total = cost.total()
    console.print(
        Text(f"{total.read:,} read and {total.write:,} write units in {cost.seconds:,} s")
    )
    for name, price in cost.prices(prices).items():
        console.print(Text(f"{name.replace('_', ' ')}: {price:,.4f}"))


_PRICE: Final = "Price of 10 000 {} units."
ADVISE_COST: Final = command(
    _advise_cost,
    Flag("recording", "What `widerow proxy` recorded.", "DIR"),
    Flag("live", "A running widerow, whose counters are read each second.", "URL"),
    Flag("access_key_id", "Whose tables to watch.", "ID"),
    Flag("access_key_secret", "The secret of that key.", "SECRET"),
    Flag("seconds", "How long to look at a running widerow.", "SECONDS", int, 10),
    Flag("dearest", "How many of the most expensive requests to show.", "NUMBER", int, 10),
    Flag("price_read", _PRICE.format("read"), "PRICE", float),
    Flag("price_write", _PRICE.format("write"), "PRICE", float),
    Flag("price_storage", "Price of a gigabyte for a month.", "PRICE", float),
    JSON_OUTPUT,
    examples="""
`widerow advise cost --recording monday` — what `widerow proxy --mode record` wrote
`widerow advise cost --recording monday --price-read 0.01 --price-write 0.02 --json`
`widerow advise cost --live http://127.0.0.1:8087 --seconds 60` — a running widerow, by its counters
""",
)
