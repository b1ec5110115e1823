"""Records of tunnels are those of docs/formats/tunnels.md, both ways."""

import re
from pathlib import Path

import pytest

from widerow.engine.tunnels.records import (
    DeliveryTrouble,
    decode_channel,
    decode_client,
    decode_trouble,
    encode_channel,
    encode_client,
    encode_trouble,
)
from widerow.engine.tunnels.state import (
    Channel,
    ChannelPosition,
    ChannelStatus,
    TunnelClient,
)
from widerow.errors import StoreDamaged

PAGE = Path(__file__).parents[2] / "docs" / "formats" / "tunnels.md"
CLIENT = TunnelClient("worker_1", "worker", 300, 1_468_944_000_000_000)
BASE = Channel(
    "BaseData_0000",
    stop=b"m\x00\x01",
    owner="worker_1",
    status=ChannelStatus.OPEN,
    version=3,
    number=2,
    position=ChannelPosition(key=b"k15\x00\x01", count=1000),
)
STREAM = Channel(
    "s1",
    shard="s1",
    parents=("s0",),
    position=ChannelPosition(iterator="it-1", time_ms=1_468_944_000_000),
)


def _shown(name: str) -> bytes:
    found = re.search(rf"```{name}\n(.+)\n```", PAGE.read_text(encoding="utf-8"))
    assert found is not None
    return found[1].encode()


def test_a_client_is_as_shown() -> None:
    assert encode_client(CLIENT) == _shown("client")
    assert decode_client("worker_1", _shown("client")) == CLIENT


@pytest.mark.parametrize(("name", "channel"), [("base", BASE), ("stream", STREAM)])
def test_a_channel_is_as_shown(name: str, channel: Channel) -> None:
    assert encode_channel(channel) == _shown(name)
    assert decode_channel(channel.id, _shown(name)) == channel


def test_trouble_is_as_shown() -> None:
    trouble = DeliveryTrouble(2, "bucket/out: No space left on device")
    assert encode_trouble(trouble) == _shown("trouble")
    assert decode_trouble(_shown("trouble")) == trouble
    with pytest.raises(StoreDamaged):
        decode_trouble(b'{"format":1,"code":2}')


@pytest.mark.parametrize(
    "record",
    [
        *(b"", b"[]", b'{"format":2}', b'{"format":1}', b"\xff", b'{"format":1,"tag":1}'),
        b'{"format":1,"tag":"a","timeout_s":Infinity,"seen_us":1}',
        b"[" * 100_000,
    ],
)
def test_other_records_are_damage(record: bytes) -> None:
    for decode in (decode_client, decode_channel):
        with pytest.raises(StoreDamaged):
            decode("x", record)


def test_fields_that_nobody_knows_are_refused() -> None:
    with pytest.raises(StoreDamaged):
        decode_client("x", _shown("client")[:-1] + b',"new":1}')
