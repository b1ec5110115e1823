"""Whether a region server has room for what is to be written: it holds that in memory at first.

Above a part of its heap (`hbase.regionserver.global.memstore.size`) a region server writes what it
has into files, and lets writers wait. It looks at that before it takes a `Mutate` or a `Multi`, and
not before it takes a call of a coprocessor, as all our commits are. Between those only a thread
looks, every ten seconds (`hbase.server.thread.wakefrequency`). By then a server that takes commits
quickly can have far more than its part, up to an `OutOfMemoryError`, which ends it.

So behind every few megabytes of commits a server is asked for a `Mutate` that changes nothing. It
begins to write files then if need be, and answers when it has room (docs/spec/hbase.md §3). Where
there is room, the answer comes long before as much again is committed; a server that has not
answered by then is sent no more until it has. Nobody waits here.
"""

import threading
from contextlib import suppress
from typing import Final, final

from widerow.errors import StoreBusy
from widerow.storage.hbase.greeting import Address, ServerLost
from widerow.storage.hbase.regions import Region
from widerow.storage.hbase.requests import change_nothing
from widerow.storage.hbase.rpc import PendingCall, RpcConnection

__all__ = ["ServerRoom"]

_BYTES_UNASKED_MAX: Final = 4 * 1024 * 1024


@final
class ServerRoom:
    """Which region servers may have too little memory for more commits. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unasked: dict[Address, int] = {}  # bytes that were committed since the last question
        self._asked: dict[Address, PendingCall] = {}

    def check(self, address: Address) -> None:
        """Raise `StoreBusy` while a server owes its answer and many bytes were committed since."""
        asked = self._asked.get(address)
        if asked is None:
            return
        if asked.has_ended():
            with self._lock:
                if self._asked.get(address) is asked:
                    del self._asked[address]
        elif self._unasked.get(address, 0) >= _BYTES_UNASKED_MAX:
            raise StoreBusy(f"the region server {address} has no room in memory for more writes")

    def committed(self, region: Region, connection: RpcConnection, size: int) -> None:
        """Count `size` committed bytes; ask the server every few megabytes whether it has room."""
        address = region.address
        with self._lock:
            unasked = self._unasked.get(address, 0) + size
            asks = unasked >= _BYTES_UNASKED_MAX and address not in self._asked
            self._unasked[address] = 0 if asks else unasked
        if asks:
            with suppress(ServerLost):  # the next commit finds out that the server is lost
                asked = connection.send("Mutate", change_nothing(region))
                with self._lock:
                    self._asked[address] = asked
