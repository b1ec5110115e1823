"""What a consumer of one tunnel can do to those of others (change §C2): nothing."""

import pytest
from tests.support.changes import create

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tunnels import service
from widerow.engine.tunnels.service import TunnelCall
from widerow.errors import Exhausted
from widerow.limits import TUNNEL_TIMEOUT_SECONDS_MIN
from widerow.model.tunnels import CreateTunnel, TunnelKind
from widerow.model.values import KeyType
from widerow.testing.clock import FakeClock

TIMEOUT = TUNNEL_TIMEOUT_SECONDS_MIN


@pytest.fixture
def tunnels(engine: TablestoreEngine) -> list[str]:
    """The ids of two tunnels of one table."""
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    return [
        engine.core.run(engine.tunnels.create("i", CreateTunnel("t", name, TunnelKind.STREAM)))
        for name in ("one", "other")
    ]


def connect(engine: TablestoreEngine, tunnel: str) -> str:
    return engine.core.run(engine.tunnels.connect("i", tunnel, "tag", TIMEOUT))


def channels(engine: TablestoreEngine, tunnel: str, client: str) -> int:
    return len(engine.core.run(engine.tunnels.heartbeat("i", TunnelCall(tunnel, client), ())))


def test_who_holds_all_channels_of_a_tunnel_holds_none_of_another_one(
    engine: TablestoreEngine, tunnels: list[str]
) -> None:
    one, other = tunnels
    assert channels(engine, one, connect(engine, one)) == 1
    assert channels(engine, one, connect(engine, one)) == 0
    assert channels(engine, other, connect(engine, other)) == 1


def test_who_is_refused_again_and_again_leaves_nothing_that_is_kept(
    engine: TablestoreEngine, tunnels: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "TUNNEL_CLIENTS_MAX", 3)
    for _ in range(3):
        connect(engine, tunnels[0])
    for _ in range(20):
        with pytest.raises(Exhausted):
            connect(engine, tunnels[0])
    assert len(engine.tunnels._heard) == 3


def test_who_comes_and_goes_leaves_nothing_that_is_kept(
    engine: TablestoreEngine, clock: FakeClock, tunnels: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_HEARD_MAX", 8)
    engine.tunnels._heard_max = 8
    staying = connect(engine, tunnels[1])
    for _ in range(50):
        connect(engine, tunnels[0])
        clock.advance(TIMEOUT / 2)
        assert channels(engine, tunnels[1], staying) == 1
    assert len(engine.tunnels._heard) <= 8
