"""The state of a tunnel as records under its shard (docs/formats/tunnels.md).

    05 table tunnel 00           the state is there: clients and channels have begun
    05 table tunnel 01 client    one client
    05 table tunnel 02 channel   one channel
    05 table tunnel 03           why a delivery task cannot write its files

JSON, so that a person with a dump can read it. A change writes only the records that it touches.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from widerow.engine.stored_json import decode_json
from widerow.engine.tunnels.state import (
    Channel,
    ChannelPosition,
    ChannelStatus,
    TunnelClient,
    TunnelState,
)
from widerow.errors import StoreDamaged
from widerow.keys.layout import tunnel_prefix
from widerow.storage.interface import Reader, Transaction

__all__ = [
    "DeliveryTrouble",
    "channel_in",
    "check_tunnel_record",
    "client_in",
    "decode_channel",
    "decode_client",
    "decode_trouble",
    "encode_channel",
    "encode_client",
    "encode_trouble",
    "read_state",
    "trouble_in",
    "write_state",
    "write_trouble",
]

_FORMAT: Final = 1
_BEGUN: Final = b"\x00"
_CLIENT: Final = b"\x01"
_CHANNEL: Final = b"\x02"
_TROUBLE: Final = b"\x03"
_HEAD: Final = b'{"format":1}'
_NUMBERS_BYTES: Final = len(tunnel_prefix(0, 0))

T = TypeVar("T")


class DeliveryTrouble(NamedTuple):
    """Why a delivery task cannot write its files: the error's number in the protocol, a text."""

    code: int
    detail: str


def encode_trouble(trouble: DeliveryTrouble) -> bytes:
    """The record of a delivery task's trouble."""
    return _json({"code": trouble.code, "detail": trouble.detail})


def decode_trouble(record: bytes) -> DeliveryTrouble:
    """The trouble of a record. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> DeliveryTrouble:
        return DeliveryTrouble(int(found.pop("code")), str(found.pop("detail")))

    return _read(record, read)


def encode_client(client: TunnelClient) -> bytes:
    """The record of a client."""
    return _json({"tag": client.tag, "timeout_s": client.timeout_s, "seen_us": client.seen_us})


def decode_client(client_id: str, record: bytes) -> TunnelClient:
    """The client of a record. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> TunnelClient:
        tag, timeout_s, seen_us = found.pop("tag"), found.pop("timeout_s"), found.pop("seen_us")
        return TunnelClient(client_id, str(tag), int(timeout_s), int(seen_us))

    return _read(record, read)


def encode_channel(channel: Channel) -> bytes:
    """The record of a channel."""
    position = channel.position
    record: dict[str, Any] = {
        "owner": channel.owner,
        "status": channel.status.name,
        "version": channel.version,
        "number": channel.number,
        "consumed_us": channel.consumed_us,
        "moved_us": channel.moved_us,
        "suspended": channel.suspended,
        "position": [
            *(position.key.hex(), position.iterator),
            *(position.time_ms, position.count, position.finished),
        ],
    }
    if channel.shard:
        record |= {"shard": channel.shard, "parents": list(channel.parents)}
    else:
        record |= {"start": channel.start.hex(), "stop": channel.stop.hex()}
    return _json(record)


def decode_channel(channel_id: str, record: bytes) -> Channel:
    """The channel of a record. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> Channel:
        key, iterator, time_ms, count, finished = found.pop("position")
        return Channel(
            id=channel_id,
            shard=str(found.pop("shard", "")),
            parents=tuple(map(str, found.pop("parents", ()))),
            start=bytes.fromhex(found.pop("start", "")),
            stop=bytes.fromhex(found.pop("stop", "")),
            owner=str(found.pop("owner")),
            status=ChannelStatus[found.pop("status")],
            version=int(found.pop("version")),
            position=ChannelPosition(
                bytes.fromhex(key), str(iterator), int(time_ms), int(count), bool(finished)
            ),
            number=int(found.pop("number")),
            consumed_us=int(found.pop("consumed_us")),
            moved_us=int(found.pop("moved_us")),
            suspended=bool(found.pop("suspended")),
        )

    return _read(record, read)


def _json(record: dict[str, Any]) -> bytes:
    return json.dumps({"format": _FORMAT, **record}, separators=(",", ":")).encode()


def _read(record: bytes, read: Callable[[dict[str, Any]], T]) -> T:
    return decode_json(record, "state of a tunnel", read, form=_FORMAT, whole=True)


# --- where they stand ------------------------------------------------------------------------


def read_state(reader: Reader, prefix: bytes) -> TunnelState | None:
    """The state of the tunnel whose shard is `prefix`; None where it has not begun.

    Cost: all its records. Raises `StoreDamaged`.
    """
    if reader.get(prefix + _BEGUN) is None:
        return None
    clients: dict[str, TunnelClient] = {}
    channels: dict[str, Channel] = {}
    for key, record in reader.scan(prefix + _CLIENT, prefix + _TROUBLE):
        kind, name = key[len(prefix) : len(prefix) + 1], key[len(prefix) + 1 :].decode()
        if kind == _CLIENT:
            clients[name] = decode_client(name, record)
        else:
            channels[name] = decode_channel(name, record)
    return TunnelState(clients, channels)


def channel_in(reader: Reader, prefix: bytes, channel_id: str) -> Channel | None:
    """One channel, or None. Raises `StoreDamaged`."""
    record = reader.get(prefix + _CHANNEL + channel_id.encode())
    return None if record is None else decode_channel(channel_id, record)


def client_in(reader: Reader, prefix: bytes, client_id: str) -> TunnelClient | None:
    """One client, or None. Raises `StoreDamaged`."""
    record = reader.get(prefix + _CLIENT + client_id.encode())
    return None if record is None else decode_client(client_id, record)


def write_state(
    txn: Transaction, prefix: bytes, before: TunnelState | None, after: TunnelState
) -> None:
    """Write the records that differ between two states."""
    if before is None:
        txn.put(prefix + _BEGUN, _HEAD)
        before = TunnelState()
    _write(txn, prefix + _CLIENT, before.clients, after.clients, encode_client)
    _write(txn, prefix + _CHANNEL, before.channels, after.channels, encode_channel)


def trouble_in(reader: Reader, prefix: bytes) -> DeliveryTrouble | None:
    """Why a delivery task cannot write its files, or None. Raises `StoreDamaged`."""
    record = reader.get(prefix + _TROUBLE)
    return None if record is None else decode_trouble(record)


def write_trouble(txn: Transaction, prefix: bytes, trouble: DeliveryTrouble | None) -> None:
    """Store why a delivery task cannot write its files; None: remove it."""
    if trouble is None:
        txn.delete(prefix + _TROUBLE)
    else:
        txn.put(prefix + _TROUBLE, encode_trouble(trouble))


def _write(
    txn: Transaction,
    prefix: bytes,
    before: Mapping[str, T],
    after: Mapping[str, T],
    encode: Callable[[T], bytes],
) -> None:
    for name, value in after.items():
        if before.get(name) != value:
            txn.put(prefix + name.encode(), encode(value))
    for name in before.keys() - after.keys():
        txn.delete(prefix + name.encode())


def check_tunnel_record(numbers: frozenset[int], key: bytes, record: bytes) -> None:
    """Check a record of a table whose tunnels have these `numbers`.

    Raises `StoreDamaged`.
    """
    number = int.from_bytes(key[_NUMBERS_BYTES - 4 : _NUMBERS_BYTES], "big")
    if number not in numbers:
        raise StoreDamaged(f"state of tunnel {number}, which the table does not have")
    kind, name = key[_NUMBERS_BYTES : _NUMBERS_BYTES + 1], key[_NUMBERS_BYTES + 1 :]
    if kind == _CLIENT:
        decode_client(name.decode(), record)
    elif kind == _CHANNEL:
        decode_channel(name.decode(), record)
    elif kind + name == _TROUBLE:
        decode_trouble(record)
    elif kind + name != _BEGUN or record != _HEAD:
        raise StoreDamaged(f"a record of a tunnel that is none of its kinds: {key.hex()}")
