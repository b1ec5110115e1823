"""`widerow nodes`: the servers of a shared store, as one of them sees the others."""

import sys
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

_COLUMNS: Final = ("node", "state", "up", "last beat", "clock", "req/s", "keeper")
_RIGHT: Final = ("up", "last beat", "clock", "req/s")


def _nodes(given: Given) -> None:
    found = ask_server("WiderowNodes", {}, given)
    tell(given, found, lambda: _print(found))


def _print(found: Json) -> None:
    if not found["shared"]:
        sys.stdout.write("The store is this server's own; no other server can have it open.\n")
        return
    rows = found["nodes"]
    shown = Table(title=Text(f"{len(rows)} node" + ("" if len(rows) == 1 else "s")))
    for heading in _COLUMNS:
        right = heading in _RIGHT
        shown.add_column(
            heading,
            overflow="fold",
            justify="right" if right else "left",
            no_wrap=heading != "node",
        )
    for row in rows:
        shown.add_row(*map(Text, _row(row, asked=row["id"] == found["asked"])))
    console = Console()
    console.print(shown)
    if found["clock"] is not None:
        console.print(Text(f"Takes no writes: {found['clock']}"))


def _row(node: Json, *, asked: bool) -> tuple[str, ...]:
    return (
        node["name"],
        node["state"],
        str(timedelta(seconds=round(node["up_seconds"]))),
        "asked" if asked else f"{node['beat_age_seconds']:.1f} s ago",
        "" if asked else _skew(node["skew"]),
        f"{node['requests_per_second']:.0f}",
        "yes" if node["keeper"] else "",
    )


def _skew(bounds: list[float] | None) -> str:
    """How far ahead a clock is: the middle of the bounds, and how wide they are."""
    if bounds is None:
        return "not known yet"
    low, high = bounds
    return f"{(low + high) / 2:+.1f}±{(high - low) / 2:.1f} s"


NODES: Final = command(
    _nodes,
    *server_flags("Any of the servers.", "An instance that the key may use."),
    JSON_OUTPUT,
    examples="""
`widerow nodes` — as the server at 127.0.0.1:8087 sees them
`widerow nodes --endpoint http://db1:8087 --instance shop --json`
""",
)
