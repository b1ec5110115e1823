"""The state of tunnels in the walk of a store (`engine/check.py`).

Verified: each record is of a tunnel that its table has, or of one that was deleted, and decodes; no
channel is held by a client that is not known.
"""

from collections.abc import Iterable

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.check_part import CheckPart
from widerow.engine.streams.logged import LoggedTable
from widerow.engine.tunnels.records import check_tunnel_record, read_state
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import tunnel_prefix, tunnels_prefix
from widerow.model.tunnels import Tunnel
from widerow.storage.interface import Snapshot

__all__ = ["tunnel_part"]


def tunnel_part(
    catalog: Catalog, snapshot: Snapshot, table: LoggedTable, tunnels: Iterable[Tunnel]
) -> CheckPart:
    """What a walk visits of a table: everything in the space of its tunnels. `tunnels`: all."""
    gone = {prefix for left in catalog.leftovers() for prefix in left.prefixes}
    prefix = tunnels_prefix(table.id)
    walk = _TunnelWalk(table.id, frozenset([each.number for each in tunnels]), gone, snapshot)
    return CheckPart(table.qualified, prefix, after_prefix(prefix), walk.visit, walk.close)


class _TunnelWalk:
    """The walk through the tunnels of one table."""

    def __init__(
        self, table_id: int, numbers: frozenset[int], gone: set[bytes], snapshot: Snapshot
    ) -> None:
        self._table_id = table_id
        self._gone = tuple(each for each in gone if each.startswith(tunnels_prefix(table_id)))
        self._numbers = numbers
        self._snapshot = snapshot

    def visit(self, key: bytes, record: bytes) -> None:
        """Check one record. Raises `StoreDamaged`."""
        if not key.startswith(self._gone):
            check_tunnel_record(self._numbers, key, record)

    def close(self) -> None:
        """Check that each channel's client exists. Raises `StoreDamaged`."""
        for number in self._numbers:
            state = read_state(self._snapshot, tunnel_prefix(self._table_id, number))
            owners = {each.owner for each in state.channels.values()} if state else set()
            if state is not None and not owners - {""} <= state.clients.keys():
                raise StoreDamaged(f"a channel of tunnel {number} is held by an unknown client")
