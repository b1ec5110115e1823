"""What a driver of a database across a network gives, and nothing more.

Keys, values and order are those of `storage/interface.py`, rule 1. Every call is one round trip.
Calls come from several threads at once. Every call raises `StorageFailure` once the driver is
closed, and `StoreBusy` where the database cannot be reached or asks to be left alone for a moment;
then nothing was read and nothing was written.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from widerow.storage.interface import Capabilities
from widerow.storage.page import Page, PageWanted
from widerow.storage.placement import DataPlacement
from widerow.storage.server_state import ServerState
from widerow.storage.sockets import LoopReads, Sockets

__all__ = ["Driver", "DriverView", "ShardChange"]


class ShardChange(NamedTuple):
    """A change of one shard, and the condition that it is made under.

    `expected`: what must stand under the key `revision_key` (None: nothing), and `revision` what
    stands there afterwards, whatever else the change removes. The `ranges` (start ≤ key < stop) are
    removed first, then the `deletes`, then the `puts` are made; no key is both deleted and put.
    """

    revision_key: bytes
    expected: bytes | None
    revision: bytes
    puts: Mapping[bytes, bytes]
    deletes: Sequence[bytes] = ()
    ranges: Sequence[tuple[bytes, bytes]] = ()


class DriverView(Protocol):
    """Reads that belong together. One call at a time.

    **Each shard, with its revision, is shown as it was at one moment**, at which it was current,
    and which is not before the view's first read was asked for. The moments of two shards may
    differ. Once something of a shard was read, the view shows nothing newer of it. A view that can
    no longer keep this raises `ViewLost`.
    """

    def read_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        ...

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """The first pairs with start ≤ key < stop, at most `rows_max`; the last when `reverse`.

        A driver ends a page that becomes large earlier.
        """
        ...

    def read_pages(self, wanted: Sequence[PageWanted], bytes_max: int) -> list[Page]:
        """What `read_page` gives for each of these, in about the time of one.

        Each page ends when it has about `bytes_max` bytes, or earlier.
        """
        ...

    def close(self) -> None:
        """Give up what the view holds. Idempotent; never waits, never raises."""
        ...


class Driver(Protocol):
    """An open connection to a database."""

    capabilities: Capabilities

    @property
    def placement(self) -> DataPlacement | None:
        """What divides the data into ranges; None where the database does not, or not by keys."""
        ...

    def view(self, *, patient: bool = True) -> DriverView:
        """A view that has read nothing yet. Costs nothing. `patient` as of `read_many`."""
        ...

    def read_many(self, keys: Sequence[bytes], *, patient: bool = True) -> list[bytes | None]:
        """What a new view's first `read_many` would give, without a view to read on.

        `patient`: whether to wait for a part that is away for a moment. Raises `StoreBusy` where it
        stays away, or is away and nobody waits.
        """
        ...

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """What a new view's first `read_page` would give, without a view to read on."""
        ...

    def read_pages(self, wanted: Sequence[PageWanted]) -> list[Page]:
        """What `read_page` gives for each of these, all of them in about the time of one.

        Does not wait: raises `StoreBusy` where a part of the keys is away.
        """
        ...

    def loop_reads(self, sockets: Sockets) -> LoopReads | None:
        """Reads like `read_many(patient=False)`, on a loop; None if the driver needs threads."""
        ...

    def home(self, revision_key: bytes) -> bytes:
        """What names the place where a shard is kept; it may change at any time.

        Only changes of shards that have the same home can be committed together.
        """
        ...

    def server(self, key: bytes) -> str:
        """The server that has a key now, as far as is known; asks nobody, and so never waits.

        What is slow or hangs is so for all keys of a server. Empty where it is not known, and
        where the database is not divided.
        """
        ...

    def try_home(self, revision_key: bytes) -> None:
        """Raise `StoreBusy` unless changes of a shard would be taken now. Costs a read.

        Does not wait for a part of the database that is away for a moment.
        """
        ...

    def commit(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        """Make all of these changes, durably, or none; the `revision_key`s whose condition failed.

        If there is any, nothing was written. No two changes are of one revision. Where their homes
        are no longer the same, it raises `StoreBusy`. The ranges of a whole table, index, stream or
        tunnel, which hold nothing that anybody reads any more (`keys/layout.py`), may be removed
        in parts before the rest is made, so also where the rest is not.

        Nothing is waited for that is away for a moment.

        Raises: `OutcomeUnknown` where it is not known whether the changes were made, or will be.
        After a later commit under the condition of one of the same revisions has succeeded, they
        are made no more.
        """
        ...

    def statistics(self) -> dict[str, int]:
        """Numbers by name, since opening or now: what this driver alone can tell."""
        ...

    def server_states(self) -> Sequence[ServerState]:
        """The servers of a divided database that were asked so far."""
        ...

    def close(self) -> None:
        """Close every connection. Idempotent."""
        ...
