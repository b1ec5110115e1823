"""Makes the tunnels of an engine from the engine's parts."""

from collections.abc import Callable, Sequence
from operator import attrgetter

from widerow.clock import Clock, Entropy
from widerow.engine.catalog.catalog import Tables
from widerow.engine.partitions.balance import Partitions
from widerow.engine.tablestore.tunnels.changes import ChangeLog
from widerow.engine.tablestore.tunnels.service import Tunnels
from widerow.engine.tablestore.tunnels.tunnel_reads import TunnelReads, channel_bounds
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.tunnel import Tunnel
from widerow.storage.interface import Store

__all__ = ["open_tunnels"]


def open_tunnels(
    tables: Tables[Table],
    given: tuple[Store, Clock, Entropy],
    partitions: Partitions,
    note_read: Callable[[Table, bytes, int], None],
    log: ChangeLog,
    held: Callable[[Table], Sequence[Tunnel]] = attrgetter("tunnels"),
) -> Tunnels:
    """The tunnels of these tables. `note_read` is told read units; `log`: the streams.

    `held`: the tunnels of a table; those of its clients unless given.
    """
    store, clock, _ = given

    def bounds(table: Table) -> list[bytes]:
        sizes = partitions.load_of(table).sizes
        return channel_bounds(store.snapshot(), table, sizes)

    reads = TunnelReads(store, clock, log, note_read)
    return Tunnels(tables, given, reads, log, bounds, held)
