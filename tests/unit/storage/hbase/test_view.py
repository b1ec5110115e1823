"""What a view leaves open on servers, against one in the test (storage/hbase/view.py)."""

import socket

import pytest
from tests.unit.storage.hbase.fake import FakeServer, Received, answer_frame, failure_frame

from widerow.errors import StoreBusy
from widerow.keys.layout import SPACE_ROWS
from widerow.storage.hbase.messages import ScanRequest, ScanResponse
from widerow.storage.hbase.regions import Region, Regions, Servers
from widerow.storage.hbase.view import HBaseView, SharedReads

FIRST, SECOND = (SPACE_ROWS + each for each in (b"a", b"m"))


class Holder:
    """A server of two regions that knows which scanners are open, and refuses one region at first.

    `away`: the name of that region, and how often it is refused.
    """

    def __init__(self, away: bytes, times: int) -> None:
        self.away, self.times = away, times
        self.opened = 0
        self.open: set[int] = set()
        self.server = FakeServer(self._serve)

    def regions(self) -> list[Region]:
        names = ((b"one", b"", b"dm"), (b"two", b"dm", b""))
        return [Region(*each, self.server.address) for each in names]

    def _serve(self, server: FakeServer, connection: socket.socket) -> None:
        while True:
            connection.sendall(self._answer(server.receive(connection)))

    def _answer(self, call: Received) -> bytes:
        asked = ScanRequest.FromString(call.body)
        if asked.close_scanner:
            self.open.discard(asked.scanner_id)
        elif asked.number_of_rows == 0 and asked.HasField("scan"):  # a pin
            if asked.region.value == self.away and self.times:
                self.times -= 1
                return failure_frame(call.number, "org.x.NotServingRegionException")
            self.opened += 1
            self.open.add(self.opened)
        return answer_frame(call.number, ScanResponse(scanner_id=self.opened))


@pytest.mark.parametrize("away", [b"one", b"two"])
def test_no_scanner_stays_open_where_one_of_two_regions_was_away(
    away: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that stays open keeps its region from being split until it ends by itself."""
    holder = Holder(away, times=3)
    servers = Servers([holder.server.address])
    regions = Regions(servers, "t")
    monkeypatch.setattr(regions, "_known", holder.regions())
    monkeypatch.setattr(Regions, "forget", lambda _: None)
    shared = SharedReads(regions)
    view = HBaseView(shared)
    assert view.read_many([FIRST, SECOND]) == [None, None]
    assert (holder.times, holder.opened) == (0, 2)
    assert len(holder.open) == 2
    view.close()
    shared.close_unwanted()
    assert HBaseView(shared).read_many([FIRST]) == [None]  # answered behind what was closed
    assert len(holder.open) == 1
    servers.close()
    holder.server.close()


def test_who_is_not_patient_waits_for_no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of writes waits by itself, so its reads must not: others would wait with it."""
    holder = Holder(b"one", times=1)
    servers = Servers([holder.server.address])
    regions = Regions(servers, "t")
    monkeypatch.setattr(regions, "_known", holder.regions())
    monkeypatch.setattr(Regions, "forget", lambda _: None)
    view = HBaseView(SharedReads(regions), patient=False)
    with pytest.raises(StoreBusy):
        view.read_many([FIRST])
    assert view.read_many([FIRST]) == [None]
    servers.close()
    holder.server.close()
