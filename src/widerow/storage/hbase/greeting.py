"""How a connection to a server begins: reached, encrypted, told who asks, and for which service.

Bytes go through the connection's *sealing* from then on, where it has one: TLS (`tls.py`), what
Kerberos was asked to protect (`sasl.py`), or the one inside the other.
"""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from widerow.storage.hbase.messages import ConnectionHeader, UserInformation
from widerow.storage.hbase.sasl import GssContext, SaslPeer, SaslSealing, agreed_sealing
from widerow.storage.hbase.sealing import Sealing, SealingInside
from widerow.storage.hbase.tls import PeerFiles, TlsSealing

__all__ = ["UNSECURED", "Address", "Greeted", "Security", "ServerLost", "greeted"]

CONNECT_SECONDS_MAX: Final = 3
# A server that takes longer for a part of the greeting hangs; above the pauses of a JVM.
GREETING_SECONDS_MAX: Final = 3.0
_LENGTH: Final = struct.Struct("!I")
# "HBas", version 0, and how it is known who asks: that is believed, or Kerberos tells.
_BELIEVED: Final = b"HBas\x00\x50"
_KERBEROS: Final = b"HBas\x00\x51"
_USER: Final = "widerow"


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class ServerLost(Exception):
    """No answer will come. `sent`: whether the server may have got the call.

    `hung`: it keeps the connection, and does not answer.
    """

    def __init__(self, reason: object, *, sent: bool, hung: bool = False) -> None:
        super().__init__(str(reason))
        self.sent = sent
        self.hung = hung


@dataclass(frozen=True, slots=True)
class Security:
    """What protects connections: nothing, TLS with these files, Kerberos, or both.

    `kerberos`: begins to prove to the server on a host who asks; raises `OSError`.
    """

    tls: PeerFiles | None = None
    kerberos: Callable[[str], GssContext] | None = None


UNSECURED: Final = Security()


class Greeted(NamedTuple):
    """A connection that takes calls, and what is made of its bytes."""

    connected: socket.socket
    sealing: Sealing | None = None


def greeted(address: Address, service: str, security: Security = UNSECURED) -> Greeted:
    """A connection for a service of a server, with the greeting sent. Raises `ServerLost`."""
    made: socket.socket | None = None
    try:
        made = socket.create_connection(address, timeout=CONNECT_SECONDS_MAX)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.settimeout(GREETING_SECONDS_MAX)
        return Greeted(made, _greet(made, address.host, service, security))
    except OSError as error:
        if made is not None:
            made.close()
        hung = isinstance(error, TimeoutError)
        raise ServerLost(f"{address}: {error}", sent=False, hung=hung) from error


def _greet(connected: socket.socket, host: str, service: str, security: Security) -> Sealing | None:
    """Send the greeting; the sealing of what follows it."""
    sealing: Sealing | None = None
    header = ConnectionHeader(service_name=service)
    if security.tls is not None:
        tls = TlsSealing(security.tls.context(), host)
        tls.shake_hands(connected)
        sealing = tls
    if security.kerberos is None:
        header.user_info.CopyFrom(UserInformation(effective_user=_USER))
        greeting = _BELIEVED
    else:
        peer = SaslPeer(connected, sealing)
        peer.send(_KERBEROS)
        sasl: SaslSealing | None = agreed_sealing(peer, security.kerberos(host))
        if sasl is not None:
            sealing = sasl if sealing is None else SealingInside(sasl, sealing)
        greeting = b""
    told = header.SerializeToString()
    last = greeting + _LENGTH.pack(len(told)) + told
    connected.sendall(last if sealing is None else sealing.seal(last))
    return sealing
