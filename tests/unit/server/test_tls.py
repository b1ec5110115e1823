"""TLS on the port (server/tls.py; docs/operating/configure.md)."""

import asyncio
import logging
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest
from tests.support.forked import ForkedServer
from tests.support.http import Sender, Wire, encode_request
from tests.support.requests import BODIES, put_row_request
from tests.unit.server.test_http import Still

from widerow.auth.keyring import secret_digest
from widerow.server.admission import Admission
from widerow.server.headers import KeptHeaders
from widerow.server.http import Listener
from widerow.server.settings import SettingsInvalid
from widerow.server.tls import TlsFiles
from widerow.testing.clock import FakeClock
from widerow.testing.process import ServeFailed

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running


Serve = Callable[..., "Running"]
SENDER = Sender()
SECONDS = 20

pytestmark = [
    pytest.mark.skipif(
        shutil.which("openssl") is None, reason="needs openssl to make certificates"
    ),
    # The standard loop warns, some time later, of a transport whose handshake the client broke off.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Pair(NamedTuple):
    """A certificate for 127.0.0.1 and its key."""

    certificate: Path
    key: Path

    @property
    def flags(self) -> dict[str, str]:
        return {"tls_cert": str(self.certificate), "tls_key": str(self.key)}


def make_pair(folder: Path, name: str) -> Pair:
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    command = (
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"),
        *("-keyout", str(pair.key), "-out", str(pair.certificate)),
    )
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # openssl of the path
    return pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("tls"), "one")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("tls"), "two")


class Secured(Wire):
    """A connection that speaks TLS, to a server with this certificate."""

    def __init__(self, endpoint: str, pair: Pair) -> None:
        super().__init__(endpoint)
        context = ssl.create_default_context(cafile=str(pair.certificate))
        self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")


def ask_signed(endpoint: str, pair: Pair) -> None:
    with Secured(endpoint, pair) as wire:
        create = wire.ask(SENDER.request("CreateTable", BODIES["CreateTable"]("T")))
        assert create.status in {200, 409}
        large = put_row_request("T", "x" * 1_000_000).SerializeToString()
        answer = wire.ask(SENDER.request("PutRow", large))
        assert answer.status == 200
        assert SENDER.signed("PutRow", answer)
        assert len(wire.ask(SENDER.request("GetRow", BODIES["GetRow"]("T"))).body) > 1_000_000
        wire.send(SENDER.request("ListTable") * 50)
        assert [wire.read().status for _ in range(50)] == [200] * 50


@pytest.fixture
def secured(serve: Serve, pair: Pair) -> "Running":
    return serve(**pair.flags)


def test_signed_requests_are_answered_over_tls(secured: "Running", pair: Pair) -> None:
    assert secured.endpoint.startswith("https://127.0.0.1:")
    ask_signed(secured.endpoint, pair)
    assert secured.server.admission.connections <= 1


def test_so_they_are_by_the_process_with_its_own_loop(pair: Pair) -> None:
    flags = ("--tls-cert", str(pair.certificate), "--tls-key", str(pair.key))
    with ForkedServer("--memory", *flags) as server:
        assert server.endpoint.startswith("https://")
        for _ in range(20):  # whether a client's first bytes come early or late, differs
            ask_signed(server.endpoint, pair)
        assert server.stop() == 0


def test_a_request_sent_with_the_end_of_the_handshake_is_not_lost(
    secured: "Running", pair: Pair
) -> None:
    # The client's last message of the handshake and its first request in one segment.
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=str(pair.certificate))
    speaking = context.wrap_bio(inward, outward, server_hostname="127.0.0.1")
    with Wire(secured.endpoint) as wire:
        while True:
            try:
                speaking.do_handshake()
                break
            except ssl.SSLWantReadError:
                wire.send(outward.read())
                inward.write(wire.socket.recv(65536))
        speaking.write(b"GET /livez HTTP/1.1\r\n\r\n")
        wire.send(outward.read())
        answer = b""
        while b"alive" not in answer:
            inward.write(wire.socket.recv(65536))
            try:
                answer += speaking.read(65536)
            except ssl.SSLWantReadError:
                continue
        assert answer.startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    "sent", [b"GET /livez HTTP/1.1\r\n\r\n", bytes(100), b"\x16\x03\x01\xff\xff"]
)
def test_what_is_no_tls_is_cut_off_and_others_are_served(
    secured: "Running", pair: Pair, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with Wire(secured.endpoint) as wire:
        wire.send(sent)
        wire.finish()
        while not is_cut_off(wire):
            pass  # an alert of TLS may come first
    ask_signed(secured.endpoint, pair)
    assert [each for each in caplog.records if each.name.startswith("widerow")] == []


def test_handshakes_under_way_are_bounded_and_silent_ones_keep_nobody_out(
    serve: Serve, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.server.http.HANDSHAKES_MAX", 5)
    running = serve(**pair.flags)
    oldest, *silent = [Wire(running.endpoint) for _ in range(6)]
    assert is_cut_off(oldest)
    for _ in range(3):
        ask_signed(running.endpoint, pair)  # in whose place another silent one goes
    for wire in (oldest, *silent):
        wire.socket.close()


def test_a_silent_handshake_is_ended(
    serve: Serve, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.server.tls.HANDSHAKE_SECONDS_MAX", 0.1)
    running = serve(**pair.flags)
    with Wire(running.endpoint) as wire:
        assert is_cut_off(wire)
    ask_signed(running.endpoint, pair)


def test_a_connection_that_was_handed_over_counts_while_its_handshake_is_under_way(
    pair: Pair,
) -> None:
    """Else a worker with many such would be given more (docs/internals/serving.md)."""

    async def run() -> None:
        admission = Admission()
        listener = Listener(Still(), admission, FakeClock(), KeptHeaders(()))
        listener.begin(TlsFiles(pair.certificate, pair.key).context)

        def counted() -> tuple[int, int]:
            return admission.connections, listener.in_the_making()

        async def until(counts: tuple[int, int]) -> None:
            while counted() != counts:
                assert sum(counted()) >= sum(counts), "each is in one of the two"
                await asyncio.sleep(0.01)

        speaking, silent = (socket.socketpair() for _ in range(2))
        for _, accepted in (speaking, silent):
            accepted.settimeout(0)
            listener.take(accepted)
        assert counted() == (0, 2)
        context = ssl.create_default_context(cafile=str(pair.certificate))
        _, writer = await asyncio.open_connection(
            sock=speaking[0], ssl=context, server_hostname="127.0.0.1"
        )
        async with asyncio.timeout(SECONDS):
            await until((1, 1))
            silent[0].close()
            await until((1, 0))
            writer.close()
            await until((0, 0))
        listener.close()

    asyncio.run(run())


def is_cut_off(wire: Wire) -> bool:
    try:
        return wire.socket.recv(1) == b""
    except ConnectionError:
        return True


def test_old_versions_are_not_spoken(secured: "Running") -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    place = urlsplit(secured.endpoint)
    with (
        socket.create_connection((place.hostname, place.port), 10) as plain,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        context.wrap_socket(plain)


# --- API keys ------------------------------------------------------------------------------------

KEYS = """
[[key]]
id = "widerow"
secret = "widerow"

[[api_key]]
name = "reader"
sha256 = "{digest}"
instances = ["inst"]
permissions = ["read"]
"""
TOLD = "API keys are refused: the port speaks no TLS; see --api-keys-behind-proxy"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A credentials file with the API key `canary`, which may read."""
    path = tmp_path / "keys.toml"
    path.write_text(KEYS.format(digest=secret_digest("canary").hex()))
    return path


def with_key(action: str, text: str = "canary", instance: str = "inst") -> bytes:
    headers = {"x-ots-instancename": instance, "x-ots-apikey": text}
    return encode_request(f"/{action}", headers, BODIES[action]("T"))


def ask_with_keys(wire: Wire) -> None:
    answer = wire.ask(with_key("ListTable"))
    assert answer.status == 200
    assert "authorization" not in answer.headers
    assert "x-ots-requestid" in answer.headers
    no_permission = wire.ask(with_key("DeleteTable")).error
    assert no_permission[:2] == (403, "OTSNoPermissionAccess")
    for request in (with_key("ListTable", "wrong"), with_key("ListTable", instance="other")):
        assert wire.ask(request).error == (403, "OTSAuthFailed", "The API key is invalid.")
    twice = with_key("ListTable").replace(b"x-ots-apikey", b"x-ots-apikey: x\r\nx-ots-apikey")
    assert wire.ask(twice).error[:2] == (400, "OTSParameterInvalid")


def test_api_keys_are_taken_over_tls(
    serve: Serve, pair: Pair, keys: Path, caplog: pytest.LogCaptureFixture
) -> None:  # change §D5
    running = serve(**pair.flags, credentials=str(keys))
    with Secured(running.endpoint, pair) as wire:
        ask_with_keys(wire)
    assert TOLD not in caplog.messages


def test_without_tls_api_keys_are_refused_and_the_log_says_so(
    serve: Serve, keys: Path, caplog: pytest.LogCaptureFixture
) -> None:  # change §D5
    running = serve(credentials=str(keys))
    with Wire(running.endpoint) as wire:
        refused = wire.ask(with_key("ListTable")).error
        assert refused == (403, "OTSAuthFailed", "The API key is invalid.")
        assert wire.ask(SENDER.request("ListTable")).status == 200
    assert caplog.messages.count(TOLD) == 1


def test_behind_a_proxy_that_is_vouched_for_they_are_taken(
    serve: Serve, keys: Path, caplog: pytest.LogCaptureFixture
) -> None:  # change §D5
    running = serve(credentials=str(keys), api_keys_behind_proxy=True)
    with Wire(running.endpoint) as wire:
        ask_with_keys(wire)
    assert TOLD not in caplog.messages


def test_an_api_key_that_is_taken_out_is_refused_while_its_connection_stays(
    serve: Serve, pair: Pair, keys: Path
) -> None:
    running = serve(**pair.flags, credentials=str(keys))
    with Secured(running.endpoint, pair) as wire:
        assert wire.ask(with_key("ListTable")).status == 200
        keys.write_text(keys.read_text().partition("[[api_key]]")[0])
        while wire.ask(with_key("ListTable")).status == 200:
            pass  # the connection's timeout and the test's bound this
        assert wire.ask(with_key("ListTable")).error[2] == "The API key is invalid."


# --- files ---------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, pair: Pair) -> Pair:
    """A pair that a test may change."""
    return Pair(
        Path(shutil.copy(pair.certificate, tmp_path / "c.pem")),
        Path(shutil.copy(pair.key, tmp_path / "k.pem")),
    )


def test_another_certificate_is_taken_when_asked(
    serve: Serve, files: Pair, pair: Pair, other: Pair
) -> None:
    running = serve(**files.flags)
    with Secured(running.endpoint, pair) as before:
        shutil.copy(other.certificate, files.certificate)
        shutil.copy(other.key, files.key)
        running.loop.call_soon_threadsafe(running.server.reload)
        while True:  # the test's own bound ends this
            try:
                ask_signed(running.endpoint, other)
            except OSError:  # still the other one
                continue
            break
        assert before.ask(SENDER.request("ListTable")).status == 200  # it goes on as it began


def test_half_a_pair_changes_nothing(
    serve: Serve, files: Pair, pair: Pair, other: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    running = serve(**files.flags)
    shutil.copy(other.certificate, files.certificate)
    running.loop.call_soon_threadsafe(running.server.reload)
    while "the certificate stays as it was" not in caplog.messages:
        pass  # the test's own bound ends this
    worse = [each.levelno for each in caplog.records if each.levelno > logging.INFO]
    assert worse == [logging.ERROR]
    ask_signed(running.endpoint, pair)


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_files_that_do_not_work_are_named(files: Pair, content: str | None) -> None:
    if content is None:
        files.certificate.unlink()
    else:
        files.certificate.write_text(content)
    with pytest.raises(SettingsInvalid, match="cannot use certificate") as raised:
        TlsFiles(*files)
    assert str(files.certificate) in str(raised.value)


def test_a_key_with_a_password_is_refused_and_nobody_is_asked(files: Pair) -> None:
    command = ("openssl", "ec", "-aes256", "-passout", "pass:secret", "-in", str(files.key))
    done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # openssl
    files.key.write_bytes(done.stdout)
    with pytest.raises(SettingsInvalid, match="has a password"):
        TlsFiles(*files)


def test_a_certificate_without_its_key_is_refused(pair: Pair) -> None:
    with (
        pytest.raises(ServeFailed, match="give both files, or neither"),
        ForkedServer("--memory", "--tls-cert", str(pair.certificate)),
    ):
        pass
