"""`widerow nodes`: the servers of a shared store, as one of them sees the others."""

import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.cli.answers import tell
from widerow.cli.asking import ask_server
from widerow.cli.command import JSON_OUTPUT, Given, command
from widerow.cli.flags import server_flags

__all__ = ["NODES"]

Json = dict[str, Any]

_LOAD: Final = ("node", "state", "req/s", "p99", "cores", "in hand", "lease")
_CLOCKS: Final = ("node", "last beat", "clock", "up", "version")
_LEFT: Final = ("node", "state", "lease", "version")
_UNKNOWN: Final = "?"  # of a server of an earlier version


def _nodes(given: Given) -> None:
    found = ask_server("WiderowNodes", {}, given)
    tell(given, found, lambda: _print(found))


def _print(found: Json) -> None:
    if not found["shared"]:
        sys.stdout.write("The store is this server's own; no other server can have it open.\n")
        return
    nodes = {each["id"]: each for each in found["nodes"]}
    load = _table(f"{len(nodes)} node" + ("" if len(nodes) == 1 else "s"), _LOAD)
    clocks = _table("", _CLOCKS)
    for server in found["servers"]:
        members = [nodes[each] for each in server["nodes"]]
        if members[0]["worker"] is not None:
            load.add_row(*_server_row(server, len(members)))
        for node in members:
            load.add_row(*_load_row(node))
            clocks.add_row(*_clock_row(node, asked=node["id"] == found["asked"]))
    console = Console()
    console.print(load)
    console.print(clocks)
    for line in _lines(found):
        console.print(Text(line))


def _table(title: str, headings: tuple[str, ...]) -> Table:
    """A table whose names of nodes are folded where there is no room; its figures never are."""
    made = Table(title=Text(title) if title else None)
    for heading in headings:
        made.add_column(
            heading,
            overflow="fold",
            justify="left" if heading in _LEFT else "right",
            no_wrap=heading != "node",
        )
    return made


def _server_row(server: Json, workers: int) -> Iterator[Text]:
    state = f"{workers} worker" + ("" if workers == 1 else "s")
    return map(
        Text, (server["server"], state, *_figures(server, server["requests_per_second"]), "")
    )


def _load_row(node: Json) -> Iterator[Text]:
    number = node["worker"]
    name = node["name"] if number is None else f"  /{number}"
    figures = _figures(node["load"] or {}, node["requests_per_second"])
    if node["state"] != "serves":  # what it told last is long ago
        figures = ("",) * len(figures)
    return map(Text, (name, node["state"], *figures, "yes" if node["keeper"] else ""))


def _clock_row(node: Json, *, asked: bool) -> Iterator[Text]:
    beat = "asked" if asked else f"{node['beat_age_seconds']:.1f} s ago"
    up = str(timedelta(seconds=round(node["up_seconds"])))
    clock = "" if asked else _skew(node["skew"])
    return map(Text, (node["name"], beat, clock, up, node["version"]))


def _figures(load: Json, rate: float) -> tuple[str, ...]:
    """Requests a second, 99th percentile, cores, requests in hand."""
    p99_ms, cores, in_flight = (load.get(name) for name in ("p99_ms", "cores", "in_flight"))
    if not load:
        return f"{rate:.0f}", _UNKNOWN, _UNKNOWN, _UNKNOWN
    return (
        f"{rate:.0f}",
        "" if p99_ms is None else f"{p99_ms:.1f} ms",
        "" if cores is None else f"{cores:.2f}",
        "" if in_flight is None else f"{in_flight:.0f}",
    )


def _skew(bounds: list[float] | None) -> str:
    """How far ahead a clock is: the middle of the bounds, and how wide they are."""
    if bounds is None:
        return "not known yet"
    low, high = bounds
    return f"{(low + high) / 2:+.1f}±{(high - low) / 2:.1f} s"


def _lines(found: Json) -> Iterator[str]:
    """What stands below the table: a wrong clock, the lease, the slowest server, what is behind."""
    if found["clock"] is not None:
        yield f"Takes no writes: {found['clock']}"
    lease = found["lease"]
    if lease is None:
        yield "No server has the lease now: nobody looks after the store."
    elif lease["held_seconds"] is not None:
        held = timedelta(seconds=round(lease["held_seconds"]))
        yield f"{lease['name']} has had the lease for {held}; {_end(lease['expires_seconds'])}."
    for node in found["nodes"]:
        if node["slowest"] is not None:
            yield f"Slowest is {node['name']}: {node['slowest']}."
    for lag in found["lags"]:
        if lag["seconds"] or lag["rows"]:
            yield _behind(lag)


def _end(left: float) -> str:
    """When a lease ends unless it is renewed."""
    return f"it ends in {left:.0f} s unless renewed" if left > 0 else "it has run out"


def _behind(lag: Json) -> str:
    of = "of another instance" if lag["table"] is None else f"{lag['name']} of {lag['table']}"
    much = f"{lag['rows']} rows" if lag["seconds"] is None else f"{lag['seconds']:.1f} s"
    return f"Furthest behind as {lag['kind']}: {of}, {much}; {lag['node']} works on it."


NODES: Final = command(
    _nodes,
    *server_flags("Any of the servers.", "An instance that the key may use."),
    JSON_OUTPUT,
    examples="""
`widerow nodes` — as the server at 127.0.0.1:8087 sees them
`widerow nodes --endpoint http://db1:8087 --instance shop --json`
""",
)
