"""TLS of a connection, without its socket: `hbase.server.netty.tls.enabled` of HBase 2.6.

Python's `SSLSocket` must not be read by one thread while another one writes, as `rpc.py` does with
a socket. So the records are made and read in memory, under a lock that nobody holds while it waits.
"""

import ssl
import threading
from typing import TYPE_CHECKING, Final, NamedTuple, final

if TYPE_CHECKING:
    import socket

__all__ = ["PeerFiles", "TlsSealing"]

_PART_BYTES: Final = 256 * 1024


class PeerFiles(NamedTuple):
    """Paths of PEM files; empty: the system's authorities, and no certificate of our own."""

    authorities: str = ""
    certificate: str = ""
    key: str = ""

    def context(self) -> ssl.SSLContext:
        """What connections are made by, with the files as they are now. Raises `OSError`."""
        context = ssl.create_default_context(cafile=self.authorities or None)
        if self.certificate:
            context.load_cert_chain(self.certificate, self.key or None)
        return context


@final
class TlsSealing:
    """The client's side of one connection (`sealing.py`)."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        """`host`: what the server's certificate must name."""
        self._came = ssl.MemoryBIO()
        self._goes = ssl.MemoryBIO()
        self._records = context.wrap_bio(self._came, self._goes, server_hostname=host)
        self._lock = threading.Lock()

    def shake_hands(self, connected: "socket.socket") -> None:
        """Agree with the server, which proves who it is. Waits; raises `OSError`."""
        whole = False
        while not whole:
            try:
                self._records.do_handshake()
                whole = True
            except ssl.SSLWantReadError:
                pass
            if self._goes.pending:
                connected.sendall(self._goes.read())
            if not whole:
                part = connected.recv(_PART_BYTES)
                if not part:
                    raise ConnectionResetError("the server closed the connection in the handshake")
                self._came.write(part)

    def seal(self, plain: bytes) -> bytes:
        """The records that hold `plain`."""
        left = memoryview(plain)
        with self._lock:
            while left:
                left = left[self._records.write(left) :]
            return self._goes.read()

    def open(self, part: bytes) -> bytes:
        """What the records hold that are whole by now."""
        plain = bytearray()
        with self._lock:
            self._came.write(part)
            while True:
                try:
                    read = self._records.read(_PART_BYTES)
                except ssl.SSLWantReadError:
                    return bytes(plain)
                if not read:
                    raise ConnectionResetError("the server has ended TLS")
                plain += read
