"""What tunnels ask of a table model."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from widerow.engine.catalog.catalog import Tables
from widerow.engine.streams.logged import LoggedTable
from widerow.engine.streams.stream_reads import ChangePage, ShardInfo
from widerow.engine.tunnels.pages import TunnelPage
from widerow.engine.tunnels.state import Channel, ChannelPosition
from widerow.model.tunnels import Tunnel, TunnelKind

__all__ = ["ChangeLog", "TunnelHooks", "TunnelledTable"]


class TunnelledTable(LoggedTable, Protocol):
    """A table that may have tunnels."""

    @property
    def tunnels(self) -> tuple[Tunnel, ...]:
        """Those of clients, by their names."""
        ...


T = TypeVar("T", bound=TunnelledTable)
T_contra = TypeVar("T_contra", bound=LoggedTable, contravariant=True)


class ChangeLog(Protocol[T_contra]):
    """The streams of all tables. Raises `NotFound` for unknown shards and trimmed records."""

    def shards(self, table: T_contra) -> Sequence[ShardInfo]:
        """The shards of the table's stream, parents before children."""
        ...

    def iterator(self, table: T_contra, shard_id: str, from_us: int | None) -> str:
        """An iterator at a time, or at the oldest change; "" if a closed shard ends before it."""
        ...

    def read(self, table: T_contra, iterator: str, limit: int | None) -> ChangePage:
        """A page of changes from an iterator on.

        Raises `InvalidRequest` for a malformed iterator.
        """
        ...

    def end_us(self, table: T_contra, shard_id: str) -> int:
        """The time of the last change of a shard."""
        ...


@dataclass(frozen=True, slots=True)
class TunnelHooks(Generic[T]):
    """A model's part of tunnels.

    `check_name`: raises `InvalidRequest` for what no table is named. `check`: raises it for a table
    that has no tunnels. `with_stream`: a table, with a new stream if tunnels of that kind need one
    and it has none; the third and the fourth value give numbers that were never used, and the time.
    `with_tunnels`: a table with other tunnels. `bounds`: where to cut a table into channels of
    rows. `read_rows`: the page of a channel of rows that begins at a position. `held`: the tunnels
    of a table: those of its clients, or those of its delivery tasks.
    """

    tables: Tables[T]
    log: ChangeLog[T]
    check_name: Callable[[str], None]
    check: Callable[[T], None]
    with_stream: Callable[[T, TunnelKind, Callable[[], int], int], T]
    with_tunnels: Callable[[T, tuple[Tunnel, ...]], T]
    bounds: Callable[[T], Iterable[bytes]]
    read_rows: Callable[[T, Channel, ChannelPosition], TunnelPage]
    held: Callable[[T], Sequence[Tunnel]]
