"""`widerow tunnels`: the tunnels of an instance, who consumes them, and how far they are behind.

Over the protocol, so of any endpoint that speaks Tablestore.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Given, command, switch
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import server_flags
from widerow.cli.names import OPTIONAL_TABLE
from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client
from widerow.system import SystemClock
from widerow.wire.tablestore import tunnel_messages as t
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.tunnel_messages import ChannelInfo, TunnelInfo

__all__ = ["TUNNELS", "tunnel_documents"]

Json = dict[str, Any]

_NS: Final = 10**9
_COLUMNS: Final = ("table", "tunnel", "type", "stage", "channels", "clients", "records", "behind")
_CHANNEL_COLUMNS: Final = ("tunnel", "channel", "type", "status", "client", "records", "behind")
_ENDED: Final = "TERMINATED"


def _tunnels(table: str | None, given: Given) -> None:
    with Client(endpoint_of(given), patience=FIRST_PATIENCE_SECONDS) as client:
        found = tunnel_documents(client, table)
    tell(given, {"tunnels": found}, lambda: _print(found, table, channels=given["channels"]))


def tunnel_documents(client: Client, table: str | None) -> list[Json]:
    """The tunnels of a table, or of all, as JSON shows them. Raises: `CommandFailed`."""
    asked = t.ListTunnelRequest() if table is None else t.ListTunnelRequest(table_name=table)
    found = client.call("tunnel/list", asked, t.ListTunnelResponse).tunnels
    documents = []
    for each in found:
        names = {"table_name": text(each.table_name), "tunnel_name": text(each.tunnel_name)}
        wish = t.DescribeTunnelRequest(**names)
        described = client.call("tunnel/describe", wish, t.DescribeTunnelResponse)
        now_ns = SystemClock().now_us() * 1000
        documents.append(
            _document(described.tunnel, described.channels, described.tunnel_rpo, now_ns)
        )
    return documents


def _document(
    tunnel: TunnelInfo, channels: Iterable[ChannelInfo], consumed_ns: int, now_ns: int
) -> Json:
    """A tunnel as JSON shows it. Times are in nanoseconds since 1970, `behind` in seconds."""
    shown = [
        {
            "id": text(each.channel_id),
            "type": text(each.channel_type),
            "status": text(each.channel_status),
            "client": text(each.client_id),
            "records": each.channel_count,
            "consumed_until": each.channel_rpo,
            "behind": _behind(each.channel_rpo, now_ns),
        }
        for each in channels
    ]
    return {
        "table": text(tunnel.table_name),
        "name": text(tunnel.tunnel_name),
        "id": text(tunnel.tunnel_id),
        "type": text(tunnel.tunnel_type),
        "stage": text(tunnel.stage),
        "expired": tunnel.expired,
        "created": tunnel.create_time,
        "consumed_until": consumed_ns,
        "behind": _behind(consumed_ns, now_ns),
        "channels": shown,
    }


def _behind(consumed_ns: int, now_ns: int) -> float | None:
    """Seconds between a time and now; None where nothing is known to be consumed."""
    return round(max(0, now_ns - consumed_ns) / _NS, 3) if consumed_ns > 0 else None


def _print(found: list[Json], table: str | None, *, channels: bool) -> None:

    count = f"{len(found)} tunnel" + ("" if len(found) == 1 else "s")
    shown = Table(title=Text(count if table is None else f"{table}: {count}"))
    for heading in _CHANNEL_COLUMNS if channels else _COLUMNS:
        right = heading in ("records", "behind")
        shown.add_column(heading, overflow="fold", justify="right" if right else "left")
    rows = [row for each in found for row in (_channel_rows(each) if channels else [_row(each)])]
    for row in rows:
        shown.add_row(*map(Text, row))
    Console().print(shown)


def _row(tunnel: Json) -> tuple[str, ...]:
    counts = Counter(each["status"] for each in tunnel["channels"])
    clients = {each["client"] for each in tunnel["channels"]} - {""}
    records = sum(each["records"] for each in tunnel["channels"])
    return (
        *(tunnel["table"], tunnel["name"], tunnel["type"]),
        "expired" if tunnel["expired"] else tunnel["stage"],
        ", ".join(f"{number} {status}" for status, number in sorted(counts.items())),
        *(str(len(clients)), f"{records:,}", _ago(tunnel["behind"])),
    )


def _channel_rows(tunnel: Json) -> list[tuple[str, ...]]:
    return [
        (
            *(tunnel["name"], each["id"], each["type"], each["status"]),
            *(each["client"] or "nobody", f"{each['records']:,}"),
            "at its end" if each["status"] == _ENDED else _ago(each["behind"]),
        )
        for each in tunnel["channels"]
    ]


def _ago(seconds: float | None) -> str:
    return "nothing read" if seconds is None else str(timedelta(seconds=round(seconds)))


TUNNELS: Final = command(
    _tunnels,
    OPTIONAL_TABLE,
    switch("channels", "Each channel in a row of its own."),
    *server_flags("The server; any that speaks Tablestore."),
    JSON_OUTPUT,
    examples="""
`widerow tunnels` — all of the instance widerow at 127.0.0.1:8087
`widerow tunnels orders --channels` — those of a table, each channel in a row of its own
`widerow tunnels orders --endpoint http://db:8087 --instance shop --json`
""",
)
