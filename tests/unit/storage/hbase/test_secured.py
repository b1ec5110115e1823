"""Connections with TLS and with SASL, against servers in the test (storage/hbase/greeting.py).

Kerberos itself, and HBase's side of both, are in tests/conformance/test_hbase_secured.py.
"""

import shutil
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.unit.storage.hbase.fake import (
    FakeServer,
    Secured,
    answer_frame,
    exactly,
    failure_frame,
    unsecured,
)
from tests.unit.storage.hbase.test_loop import KEYS, cluster, everything, run

from widerow.storage.hbase.greeting import Security, ServerLost
from widerow.storage.hbase.messages import Cell, Result, ScanRequest, ScanResponse
from widerow.storage.hbase.opening import open_hbase
from widerow.storage.hbase.rpc import RpcConnection
from widerow.storage.hbase.tls import PeerFiles

LAYERS: Final = {"authentication": 1, "integrity": 2, "privacy": 4}
MIRROR: Final = bytes(range(255, -1, -1))
LONG: Final = b"x" * 300_000  # longer than a record of TLS, and than one read of a socket

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="needs openssl to make certificates"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> PeerFiles:
    """A certificate for 127.0.0.1, which is its own authority, for both sides."""
    folder = tmp_path_factory.mktemp("tls")
    found = PeerFiles(*(str(folder / name) for name in ("cert.pem", "cert.pem", "key.pem")))
    command = (
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"),
        *("-keyout", found.key, "-out", found.certificate),
    )
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # openssl of the path
    return found


def over_tls(files: PeerFiles, ours: PeerFiles, *, asks_back: bool = False) -> Secured:
    """A server with a certificate, which may ask for ours."""

    def secure(connection: socket.socket) -> socket.socket:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=files.authorities)
        context.load_cert_chain(files.certificate, files.key)
        if asks_back:
            context.verify_mode = ssl.CERT_REQUIRED
        return unsecured(context.wrap_socket(connection, server_side=True))

    return Secured(secure, Security(tls=ours))


class Tokens:
    """A mechanism that proves nothing: tokens are counted, and wrapping is a mark and a check."""

    def __init__(self) -> None:
        self.steps = 0
        self.wrapped: list[bool] = []

    @property
    def complete(self) -> bool:
        return self.steps == 2

    def step(self, token: bytes | None) -> bytes | None:
        assert token == (None if not self.steps else b"known")
        self.steps += 1
        return b"asks" if self.steps == 1 else None

    def wrap(self, plain: bytes, *, private: bool) -> bytes:
        self.wrapped.append(private)
        return wrapped(plain, private=private)

    def unwrap(self, sealed: bytes) -> bytes:
        return unwrapped(sealed)


def wrapped(plain: bytes, *, private: bool) -> bytes:
    return (b"p" if private else b"i") + plain.translate(MIRROR)


def unwrapped(sealed: bytes) -> bytes:
    return sealed[1:].translate(MIRROR)


def counted(told: bytes) -> bytes:
    return struct.pack("!i", len(told)) + told


def taken(connection: socket.socket) -> bytes:
    (size,) = struct.unpack("!i", exactly(connection, 4))
    return exactly(connection, size)


class Wrapped:
    """The server's side of a connection whose frames are wrapped."""

    def __init__(self, connection: socket.socket, *, private: bool) -> None:
        self._connection = connection
        self._private = private
        self._plain = b""

    def recv(self, size: int) -> bytes:
        if not self._plain:
            sealed = taken(self._connection)
            assert sealed[:1] == (b"p" if self._private else b"i")
            self._plain = unwrapped(sealed)
        found, self._plain = self._plain[:size], self._plain[size:]
        return found

    def sendall(self, plain: bytes) -> None:
        for part in (plain[:3], plain[3:]):  # a frame of HBase may lie in several wrapped ones
            self._connection.sendall(counted(wrapped(part, private=self._private)))

    def close(self) -> None:
        self._connection.close()


def over_sasl(offer: int, chosen: list[int], tokens: Tokens) -> Secured:
    """A server that proves itself as RFC 4752 says, and offers these layers."""

    def secure(connection: socket.socket) -> socket.socket:
        assert exactly(connection, 6) == b"HBas\x00\x51"
        assert taken(connection) == b"asks"
        connection.sendall(struct.pack("!i", 0) + counted(b"known"))
        assert taken(connection) == b""  # each challenge has an answer
        told = wrapped(bytes((offer, 0, 0xFF, 0xFF)), private=False)
        connection.sendall(struct.pack("!i", 0) + counted(told))
        layer, *size = unwrapped(taken(connection))
        chosen.append(layer)
        assert bool(any(size)) is (layer != LAYERS["authentication"])
        if layer == LAYERS["authentication"]:
            return connection
        return Wrapped(connection, private=layer == LAYERS["privacy"])  # type: ignore[return-value]  # as much of one as is used

    return Secured(secure, Security(kerberos=lambda _: tokens))


def echo_all(server: FakeServer, connection: socket.socket) -> None:
    """Answer each call with the scanner that it names; and the row where it begins."""
    while True:
        call = server.receive(connection)
        asked = ScanRequest.FromString(call.body)
        results = [Result(cell=[Cell(row=asked.scan.start_row)])]
        answer = ScanResponse(scanner_id=asked.scanner_id, results=results)
        connection.sendall(answer_frame(call.number, answer))


@pytest.fixture
def connect() -> Iterator[Callable[[Secured], tuple[RpcConnection, FakeServer]]]:
    opened: list[FakeServer | RpcConnection] = []

    def start(secured: Secured) -> tuple[RpcConnection, FakeServer]:
        server = FakeServer(echo_all, secured.secure)
        opened.append(server)
        connection = RpcConnection(server.address, "ClientService", secured.security)
        opened.append(connection)
        return connection, server

    yield start
    for each in opened:
        each.close()


Connect = Callable[[Secured], tuple[RpcConnection, FakeServer]]


def asked(number: int, *, long: bool = False) -> ScanRequest:
    request = ScanRequest(scanner_id=number)
    if long:
        request.scan.start_row = LONG
    return request


def answers_from_threads(connection: RpcConnection) -> None:
    """Threads share the connection, and some calls and answers are longer than a record."""
    wrong: list[int] = []

    def ask(first: int) -> None:
        for number in range(first, first + 20):
            request = asked(number, long=number % 10 == 0)
            answer = connection.call("Scan", request, ScanResponse)
            row = answer.results[0].cell[0].row
            if (answer.scanner_id, row) != (number, request.scan.start_row):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(1000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert connection.call("Scan", asked(1), ScanResponse).scanner_id == 1


@needs_openssl
def test_threads_share_a_connection_of_tls(files: PeerFiles, connect: Connect) -> None:
    connection, server = connect(over_tls(files, PeerFiles(files.authorities)))
    answers_from_threads(connection)
    assert server.users == ["widerow"]


@needs_openssl
def test_a_server_whose_certificate_nobody_vouches_for_is_left(
    files: PeerFiles, connect: Connect
) -> None:
    with pytest.raises(ServerLost, match="CERTIFICATE_VERIFY_FAILED") as lost:
        connect(over_tls(files, PeerFiles()))
    assert not lost.value.sent
    assert not lost.value.hung


@needs_openssl
def test_a_server_may_ask_for_our_certificate(files: PeerFiles, connect: Connect) -> None:
    """`hbase.server.netty.tls.client.auth.mode`, which is NEED unless it is set."""
    connection, _ = connect(over_tls(files, files, asks_back=True))
    assert connection.call("Scan", asked(3), ScanResponse).scanner_id == 3
    with pytest.raises(ServerLost):  # TLS 1.3 refuses behind the handshake
        connect(over_tls(files, PeerFiles(files.authorities), asks_back=True))[0].call(
            "Scan", asked(3), ScanResponse
        )


@needs_openssl
def test_the_loop_reads_through_tls(files: PeerFiles) -> None:
    with cluster(everything, (b"m",), over_tls(files, PeerFiles(files.authorities))) as made:
        assert run(made, KEYS, KEYS[:1]) == [KEYS, KEYS[:1]]


@pytest.mark.parametrize("protection", LAYERS)
def test_calls_are_wrapped_as_the_server_asks(protection: str, connect: Connect) -> None:
    """hbase.rpc.protection; RFC 4752, section 3.1."""
    chosen: list[int] = []
    tokens = Tokens()
    connection, server = connect(over_sasl(LAYERS[protection], chosen, tokens))
    answers_from_threads(connection)
    assert chosen == [LAYERS[protection]]
    choice, *calls = tokens.wrapped
    assert choice is False
    assert (
        set(calls) == {"authentication": set(), "integrity": {False}, "privacy": {True}}[protection]
    )
    assert server.users == [""], "the server takes the name that Kerberos has proven"


def test_the_strongest_of_several_layers_is_taken(connect: Connect) -> None:
    chosen: list[int] = []
    connect(over_sasl(1 | 2 | 4, chosen, Tokens()))[0].call("Scan", asked(1), ScanResponse)
    assert chosen == [LAYERS["privacy"]]


def test_the_loop_reads_wrapped_answers() -> None:
    secured = over_sasl(4, [], Tokens())._replace(security=Security(kerberos=lambda _: Tokens()))
    with cluster(everything, (b"m",), secured) as made:
        assert run(made, KEYS, KEYS[:1]) == [KEYS, KEYS[:1]]


@needs_openssl
def test_tls_may_be_around_kerberos(files: PeerFiles, connect: Connect) -> None:
    tls, sasl = over_tls(files, PeerFiles(files.authorities)), over_sasl(4, [], Tokens())

    def secure(connection: socket.socket) -> socket.socket:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(files.certificate, files.key)
        return sasl.secure(context.wrap_socket(connection, server_side=True))

    security = Security(tls.security.tls, sasl.security.kerberos)
    answers_from_threads(connect(Secured(secure, security))[0])


@pytest.mark.parametrize(
    ("told", "match"),
    [
        (struct.pack("!i", 1) + counted(b"a.b.SaslException") + counted(b"no key"), "no key"),
        (struct.pack("!ii", 0, -88), "verifies nobody"),
        (struct.pack("!ii", 0, 2**30), "a token of"),
    ],
)
def test_a_refusal_is_told(told: bytes, match: str, connect: Connect) -> None:
    def secure(connection: socket.socket) -> socket.socket:
        exactly(connection, 6)
        taken(connection)
        connection.sendall(told)
        exactly(connection, 1)  # until the other side has gone
        raise AssertionError("nothing is sent behind a refusal")

    with pytest.raises(ServerLost, match=match) as lost:
        connect(Secured(secure, Security(kerberos=lambda _: Tokens())))
    assert not lost.value.sent


def test_why_a_connection_is_refused_is_told(connect: Connect) -> None:
    """A cluster with Kerberos refuses one without in an answer to no call, and ends it."""

    def secure(connection: socket.socket) -> socket.socket:
        unsecured(connection)
        connection.sendall(failure_frame(2**32 - 1, "a.b.AccessDeniedException"))
        return connection

    refused = Secured(secure, Security())
    with pytest.raises(ServerLost, match="AccessDeniedException"):
        connect(refused)[0].call("Scan", asked(1), ScanResponse)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ("tls=off", "tls is on"),
        ("ca=a.pem", "ca means nothing without tls"),
        ("tls=on&key=a.pem", "key means nothing without cert"),
        ("keytab=a", "keytab means nothing without kerberos"),
        ("tls=on&tls=on", "may be given once"),
        ("tls=", "with a value"),
        ("ssl=on", "'ssl=on': each of tls, ca"),
        ("tls=on&ca=nowhere.pem", "TLS cannot be had with nowhere.pem"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        open_hbase(f"hbase://127.0.0.1:1/t?{options}")


def test_kerberos_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gssapi.py").write_text("raise ImportError('libgssapi_krb5.so.2')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "gssapi", raising=False)
    monkeypatch.delitem(__import__("sys").modules, "widerow.storage.hbase.kerberos", raising=False)
    with pytest.raises(ValueError, match=r"pip install gssapi.*libgssapi_krb5"):
        open_hbase("hbase://127.0.0.1:1/t?kerberos=hbase")
