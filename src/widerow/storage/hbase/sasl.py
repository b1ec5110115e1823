"""SASL of a connection: who asks is proven by Kerberos (RFC 4752, in the frames of HBase).

The sides exchange tokens until each knows the other; each token of the server stands behind a
status. Then the server offers layers, and the strongest one is taken: none, integrity, or privacy
as well (`hbase.rpc.protection`: authentication, integrity, privacy). With a layer, whatever is sent
stands wrapped in frames of its own.
"""

import socket
import struct
import threading
from typing import Final, Protocol, final

from widerow.storage.hbase.sealing import Sealing

__all__ = ["GssContext", "SaslPeer", "SaslSealing", "agreed_sealing"]

_INT: Final = struct.Struct("!i")
_SUCCESS: Final = 0
_SIMPLE: Final = -88  # instead of a token's length: the server asks nobody who he is
_TOKEN_BYTES_MAX: Final = 64 * 1024  # one holds a ticket, and with it the groups of a user
_FRAME_BYTES_MAX: Final = 256 * 1024 * 1024 + 1024
_NO_LAYER, _INTEGRITY, _PRIVACY = 1, 2, 4
_SIZE_MAX: Final = b"\xff\xff\xff"  # of what we take in one frame, as the layer's choice can say it
_PART_BYTES: Final = 64 * 1024


class GssContext(Protocol):
    """The client's side of Kerberos (RFC 2743). Each call raises `OSError` where it fails."""

    @property
    def complete(self) -> bool:
        """Whether both sides know each other."""
        ...

    def step(self, token: bytes | None) -> bytes | None:
        """Take the server's token, None at first; the next one for it, if there is one."""
        ...

    def wrap(self, plain: bytes, *, private: bool) -> bytes:
        """Protected against changes, and where `private` encrypted."""
        ...

    def unwrap(self, sealed: bytes) -> bytes:
        """What `wrap` of the other side was given."""
        ...


@final
class SaslPeer:
    """A socket that is read and written in turn, before it takes calls. Raises `OSError`."""

    def __init__(self, connected: socket.socket, sealing: Sealing | None) -> None:
        self._connected = connected
        self._sealing = sealing
        self._came = b""

    def send(self, plain: bytes) -> None:
        """Send all of it."""
        self._connected.sendall(plain if self._sealing is None else self._sealing.seal(plain))

    def exactly(self, size: int) -> bytes:
        """The next `size` bytes."""
        while len(self._came) < size:
            part = self._connected.recv(_PART_BYTES)
            if not part:
                raise ConnectionResetError("the server closed the connection in the greeting")
            self._came += part if self._sealing is None else self._sealing.open(part)
        found, self._came = self._came[:size], self._came[size:]
        return found

    def number(self) -> int:
        """The next number of four bytes."""
        found: int = _INT.unpack(self.exactly(_INT.size))[0]
        return found

    def counted(self) -> bytes:
        """The next bytes, which stand behind their number. Raises `OSError` where they are many."""
        size = self.number()
        if size == _SIMPLE:
            raise PermissionError(
                "the server verifies nobody (hbase.security.authentication=simple): leave kerberos "
                "out of the store's URL"
            )
        if not 0 <= size <= _TOKEN_BYTES_MAX:
            raise ConnectionResetError(f"a token of {size} bytes")
        return self.exactly(size)


@final
class SaslSealing:
    """A layer of integrity or privacy (`sealing.py`)."""

    def __init__(self, context: GssContext, *, private: bool) -> None:
        self._context = context
        self._private = private
        self._came = bytearray()
        self._lock = threading.Lock()  # a context is used by one thread at a time

    def seal(self, plain: bytes) -> bytes:
        """A frame that holds `plain`."""
        with self._lock:
            wrapped = self._context.wrap(plain, private=self._private)
        return _INT.pack(len(wrapped)) + wrapped

    def open(self, part: bytes) -> bytes:
        """What the frames hold that are whole by now. For one thread at a time."""
        came, plain = self._came, bytearray()
        came += part
        while len(came) >= _INT.size:
            size = _INT.unpack_from(came)[0]
            if not 0 <= size <= _FRAME_BYTES_MAX:
                raise ConnectionResetError(f"a wrapped frame of {size} bytes")
            end = _INT.size + size
            if len(came) < end:
                break
            with self._lock:
                plain += self._context.unwrap(bytes(came[_INT.size : end]))
            del came[:end]
        return bytes(plain)


def agreed_sealing(server: SaslPeer, context: GssContext) -> SaslSealing | None:
    """Prove who asks, and agree on a layer; None: nothing is wrapped. Raises `OSError`."""
    token = context.step(None)
    _answer(server, token)
    while not context.complete:
        token = context.step(_challenge(server))
        _answer(server, token)
    offer = context.unwrap(_challenge(server))
    layer = _strongest(offer)
    size_max = b"\x00\x00\x00" if layer == _NO_LAYER else _SIZE_MAX
    _answer(server, context.wrap(bytes((layer,)) + size_max, private=False))
    return None if layer == _NO_LAYER else SaslSealing(context, private=layer == _PRIVACY)


def _answer(server: SaslPeer, token: bytes | None) -> None:
    """Send a token; an empty one where there is none, because each challenge has an answer."""
    told = token or b""
    server.send(_INT.pack(len(told)) + told)


def _challenge(server: SaslPeer) -> bytes:
    """The next token of the server. Raises `PermissionError` where it refuses."""
    if server.number() == _SUCCESS:
        return server.counted()
    kind, told = server.counted(), server.counted()
    shown = kind.decode(errors="replace").rpartition(".")[2]
    raise PermissionError(f"the server refuses ({shown}): {told.decode(errors='replace')}")


def _strongest(offer: bytes) -> int:
    """The strongest layer among those offered. Raises `OSError`."""
    if len(offer) == 4:
        for layer in (_PRIVACY, _INTEGRITY, _NO_LAYER):
            if offer[0] & layer:
                return layer
    raise ConnectionResetError(f"the server offers no layer that is known: {offer.hex()}")
