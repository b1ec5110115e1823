"""Any bytes as a record of streams, intents or tunnels keep their meaning, or are damage.

What decodes encodes to what decodes to the same. The row of a change record is read as a client
reads it.
"""

from contextlib import suppress
from typing import Final

from tests.fuzz.prepared import Prepared

from widerow.client.failures import RequestFailed
from widerow.client.rows import decode_change
from widerow.engine.entry_intents import decode_entry_intent
from widerow.engine.intents import Intent, IntentKind, decode_intent
from widerow.engine.streams.intents import decode_change_intent
from widerow.engine.streams.log import (
    LogHead,
    LogPosition,
    LogRecord,
    decode_head,
    decode_record,
    encode_head,
    encode_record,
)
from widerow.engine.tunnels.records import (
    decode_channel,
    decode_client,
    encode_channel,
    encode_client,
)
from widerow.engine.tunnels.state import (
    Channel,
    ChannelPosition,
    ChannelStatus,
    TunnelClient,
)
from widerow.errors import StoreDamaged

__all__ = ["SEEDS", "check"]

_CHANNEL: Final = Channel(
    id="c",
    owner="client",
    status=ChannelStatus.OPEN,
    version=3,
    number=2,
    position=ChannelPosition(b"\x00a", count=1),
    start=b"a",
    stop=b"b",
)
_ROWS: Final = Prepared().changes
_RECORDS: Final = tuple(encode_record(LogRecord(1, row, b"")) for row in _ROWS)
SEEDS: Final = (
    *_ROWS,
    *_RECORDS,
    *(bytes(12) + record for record in _RECORDS),
    encode_head(LogHead(LogPosition(5, 6), LogPosition(1, 2))),
    encode_head(LogHead(LogPosition(5, 6), LogPosition(1, 2), sealed=True, moved=(b"ab", b""))),
    bytes.fromhex("00000002 0001 6162 00000007 00000003 636465"),
    encode_client(TunnelClient("client", "tag", 60, 5)),
    encode_channel(_CHANNEL),
)


def check(data: bytes) -> None:
    """As each of them."""
    with suppress(RequestFailed):
        decode_change(data)
    with suppress(StoreDamaged):
        assert decode_head(encode_head(decode_head(data))) == decode_head(data)
    with suppress(StoreDamaged):
        assert encode_record(decode_record(data)) == data
    with suppress(StoreDamaged):
        decode_intent(data, data)
    for kind, decode in (
        (IntentKind.ENTRIES, decode_entry_intent),
        (IntentKind.CHANGE, decode_change_intent),
    ):
        with suppress(StoreDamaged):
            decode(Intent(b"key", kind, 1, data))
    with suppress(StoreDamaged):
        client = decode_client("client", data)
        assert decode_client("client", encode_client(client)) == client
    with suppress(StoreDamaged):
        channel = decode_channel("c", data)
        assert decode_channel("c", encode_channel(channel)) == channel
