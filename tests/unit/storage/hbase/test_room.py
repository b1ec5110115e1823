"""No commit is sent to a server that has no room for it in memory (storage/hbase/room.py)."""

import socket
import threading
from collections.abc import Callable, Iterator
from time import monotonic, sleep

import pytest
from tests.unit.storage.hbase.fake import FakeServer, Received, answer_frame, failure_frame

from widerow.errors import StoreBusy
from widerow.storage.hbase import rpc
from widerow.storage.hbase.messages import MutateRequest, MutateRowsResponse
from widerow.storage.hbase.regions import Region
from widerow.storage.hbase.room import ServerRoom
from widerow.storage.hbase.rpc import RpcConnection

MEGABYTE = 1024 * 1024


class Full:
    """A region server that answers what it is asked for when it is told to, and a region of it."""

    def __init__(self) -> None:
        self.asked: list[Received] = []
        self.arrived = threading.Semaphore(0)
        self._accepted = threading.Semaphore(0)
        self._connections: list[socket.socket] = []
        self.server = FakeServer(self._serve)
        self.connection = RpcConnection(self.server.address, "ClientService")
        assert self._accepted.acquire(timeout=5)
        self.region = Region(b"t,m,1.digest.", b"m", b"", self.server.address)
        self.room = ServerRoom()

    def _serve(self, server: FakeServer, connection: socket.socket) -> None:
        self._connections.append(connection)
        self._accepted.release()
        while True:
            self.asked.append(server.receive(connection))
            self.arrived.release()

    def commit(self, size: int) -> None:
        self.room.check(self.region.address)
        self.room.committed(self.region, self.connection, size)

    def has_room(self) -> None:
        number = self.asked[-1].number
        self._connections[0].sendall(answer_frame(number, MutateRowsResponse(processed=False)))

    def is_taken(self) -> bool:
        """Whether a commit would be sent."""
        try:
            self.room.check(self.region.address)
        except StoreBusy:
            return False
        return True

    def fail(self) -> None:
        self._connections[0].sendall(failure_frame(self.asked[-1].number, "a.NotServingRegion"))

    def close(self) -> None:
        self.connection.close()
        self.server.close()


@pytest.fixture
def full() -> Iterator[Full]:
    made = Full()
    yield made
    made.close()


def soon(holds: Callable[[], bool]) -> None:
    """An answer that was sent is read by the connection's thread."""
    until = monotonic() + 5
    while not holds():
        assert monotonic() < until
        sleep(0.001)


def test_a_server_is_asked_behind_a_few_megabytes(full: Full) -> None:
    for _ in range(3):
        full.commit(MEGABYTE)
    assert not full.arrived.acquire(blocking=False)
    full.commit(MEGABYTE)
    assert full.arrived.acquire(timeout=5)
    (asked,) = full.asked
    assert asked.method == "Mutate"
    request = MutateRequest.FromString(asked.body)
    assert request.region.value == full.region.name
    assert request.mutation.row == request.condition.row == b"m"
    (column,) = request.mutation.column_value
    assert column.qualifier_value[0].qualifier == request.condition.qualifier
    assert len(request.condition.qualifier) > 1, "no key stands there"


def test_as_much_again_is_committed_and_no_more_until_it_says_that_it_has_room(full: Full) -> None:
    full.commit(4 * MEGABYTE)
    for _ in range(4):
        full.commit(MEGABYTE)
    for _ in range(2):
        with pytest.raises(StoreBusy, match="no room in memory"):
            full.commit(1)
    assert full.arrived.acquire(timeout=5)
    assert len(full.asked) == 1
    full.has_room()
    soon(full.is_taken)
    full.commit(1)
    assert full.arrived.acquire(timeout=5), "and it is asked again"


def test_a_server_that_is_lost_or_refuses_holds_nothing_up(full: Full) -> None:
    full.commit(4 * MEGABYTE)
    full.commit(4 * MEGABYTE)
    assert full.arrived.acquire(timeout=5)
    full.fail()
    soon(full.is_taken)
    full.commit(4 * MEGABYTE)
    full.commit(4 * MEGABYTE)
    assert full.arrived.acquire(timeout=5)
    full.connection.close()
    soon(full.is_taken)
    full.commit(4 * MEGABYTE)
    full.commit(1)


def test_a_server_that_hangs_holds_nothing_up_for_long(
    full: Full, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is lost as soon as it answers nothing at all, though no call but this waits for it."""
    monkeypatch.setattr(rpc, "QUIET_SECONDS_MAX", 0.05)
    monkeypatch.setattr(rpc, "HUNG_SECONDS", 0.05)
    full.commit(4 * MEGABYTE)
    full.commit(4 * MEGABYTE)
    soon(full.is_taken)
    assert full.connection.hung


def test_other_servers_are_not_waited_for(full: Full) -> None:
    full.commit(4 * MEGABYTE)
    full.commit(4 * MEGABYTE)
    full.room.check(full.region.address._replace(port=1))
