"""Checks of tunnels, and their changes of a table's definition."""

import re
import uuid
from collections.abc import Callable

from widerow.clock import Entropy
from widerow.engine.tunnels.hooks import TunnelledTable
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.limits import STREAM_HOURS_MAX, TUNNEL_START_MARGIN_SECONDS, TUNNELS_PER_TABLE_MAX
from widerow.model.tunnels import CreateTunnel, StreamStart, Tunnel, TunnelRule

__all__ = [
    "check_create_tunnel",
    "is_expired",
    "new_tunnel",
    "new_tunnel_id",
    "other_tunnels",
    "start_us",
    "table_id_of",
    "tunnel_named",
]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")  # as tables (change §C2.1)
_ID_BYTES = 16
_TABLE_BYTES = 4


def new_tunnel_id(table_id: int, entropy: Entropy) -> str:
    """A new UUID (version 8) that begins with the number of its table, to find the table by."""
    chance = entropy.token_bytes(_ID_BYTES - _TABLE_BYTES)
    data = bytearray(table_id.to_bytes(_TABLE_BYTES, "big") + chance)
    data[6] = data[6] & 0x0F | 0x80
    data[8] = data[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(data)))


def table_id_of(tunnel_id: str) -> int:
    """The number of a tunnel's table, from the tunnel's id; 0 for a malformed id."""
    try:
        return int.from_bytes(uuid.UUID(tunnel_id).bytes[:_TABLE_BYTES], "big")
    except ValueError:
        return 0


def check_create_tunnel(request: CreateTunnel) -> None:
    """Check what does not depend on the table of a tunnel. Raises `InvalidRequest`."""
    if not _NAME.fullmatch(request.name):
        raise InvalidRequest(TunnelRule.TUNNEL_NAME, name=request.name)
    _, start_ns, end_ns = request.config
    if end_ns and start_ns and end_ns < start_ns:
        raise InvalidRequest(TunnelRule.TUNNEL_RANGE)


def new_tunnel(
    table: TunnelledTable,
    request: CreateTunnel,
    number: Callable[[], int],
    tunnel_id: str,
    now_us: int,
) -> Tunnel:
    """One more tunnel of a table. `number` gives a number that was never used.

    Raises: `Conflict(TUNNEL_EXISTS)`, `InvalidRequest`.
    """
    if any(each.name == request.name for each in table.tunnels):
        raise Conflict(TunnelRule.TUNNEL_EXISTS, name=request.name)
    if len(table.tunnels) >= TUNNELS_PER_TABLE_MAX:
        raise InvalidRequest(TunnelRule.TUNNEL_COUNT, limit=TUNNELS_PER_TABLE_MAX)
    if request.kind.has_stream:
        _check_start(table, request.config.start_ns, now_us)
    return Tunnel(tunnel_id, number(), request.name, request.kind, request.config, now_us)


def _check_start(table: TunnelledTable, start_ns: int, now_us: int) -> None:
    if not start_ns:
        return
    hours = STREAM_HOURS_MAX if table.stream is None else table.stream.expiration_hours
    oldest_us = now_us - (hours * 3600 - TUNNEL_START_MARGIN_SECONDS) * 1_000_000
    if not oldest_us <= start_ns // 1000 <= now_us:
        raise InvalidRequest(TunnelRule.TUNNEL_START)


def other_tunnels(table: TunnelledTable, tunnel: Tunnel) -> tuple[Tunnel, ...]:
    """The tunnels of a table but one. Raises `NotFound(TUNNEL_NOT_FOUND)` if it is not of them."""
    kept = tuple(each for each in table.tunnels if each.number != tunnel.number)
    if len(kept) == len(table.tunnels):
        raise NotFound(TunnelRule.TUNNEL_NOT_FOUND)
    return kept


def tunnel_named(table: TunnelledTable, name: str) -> Tunnel:
    """The tunnel of that name. Raises `NotFound(TUNNEL_NOT_FOUND)`."""
    for tunnel in table.tunnels:
        if tunnel.name == name:
            return tunnel
    raise NotFound(TunnelRule.TUNNEL_NOT_FOUND, table=table.name, name=name)


def start_us(tunnel: Tunnel) -> int | None:
    """The time of a tunnel's first change, microseconds since 1970; None: the oldest one kept."""
    config = tunnel.config
    if config.start_ns:
        return config.start_ns // 1000
    return None if config.start is StreamStart.EARLIEST else tunnel.created_us


def is_expired(table: TunnelledTable, tunnel: Tunnel, now_us: int) -> bool:
    """Whether changes that follow the rows were trimmed already.

    To be asked while rows are left.
    """
    if not tunnel.kind.has_base or not tunnel.kind.has_stream or table.stream is None:
        return False
    return now_us - tunnel.created_us > table.stream.expiration_hours * 3600 * 1_000_000
