"""The examples of deploy/: the proxy in front of real servers (docs/operating/cluster.md)."""

import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import tablestore
import urllib3
from tests.console.conftest import Asker
from tests.postgres import fresh_url
from tests.support.forked import ForkedServer
from tools.cluster.ports import free_ports
from urllib3.exceptions import HTTPError

from widerow.server.settings import CLIENT_VARIABLES, DESCRIPTIONS, PREFIX
from widerow.testing.server import WiderowServer

DEPLOY = Path(__file__).parents[2] / "deploy"
HAPROXY = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
SECONDS = 20.0
SO_ATTACH_FILTER = 26  # of Linux; Python has no name for it

needs_haproxy = pytest.mark.skipif(HAPROXY is None, reason="haproxy is not installed")


@pytest.fixture
def servers() -> Iterator[list[ForkedServer]]:
    url = fresh_url()
    with ExitStack() as running:
        yield [
            running.enter_context(ForkedServer("--store", url, "--node-name", name))
            for name in ("one", "two", "three")
        ]


@contextmanager
def _in_front(endpoints: Sequence[str]) -> Iterator[str]:
    """The endpoint of the proxy of deploy/, in front of three servers."""
    assert HAPROXY is not None
    address = f"127.0.0.1:{free_ports(1)[0]}"
    names = ("WIDEROW_ONE", "WIDEROW_TWO", "WIDEROW_THREE")
    places = [each.removeprefix("http://") for each in endpoints]
    settings = dict(zip(names, places, strict=True)) | {"WIDEROW_PROXY_ADDRESS": address}
    process = subprocess.Popen(  # noqa: S603  # the program that is looked up above
        [HAPROXY, "-db", "-q", "-f", str(DEPLOY / "haproxy.cfg")], env={**os.environ, **settings}
    )
    try:
        while not _listens(address):
            assert process.poll() is None, "haproxy has ended"
        yield f"http://{address}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def proxy(servers: list[ForkedServer]) -> Iterator[str]:
    with _in_front([each.endpoint for each in servers]) as endpoint:
        yield endpoint


def _listens(address: str) -> bool:
    host, _, port = address.partition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
        return True
    return False


def _client(endpoint: str) -> tablestore.OTSClient:
    return tablestore.OTSClient(endpoint, "widerow", "widerow", "inst", socket_timeout=10)


@needs_haproxy
@pytest.mark.timeout(180)
def test_a_server_that_is_killed_costs_the_requests_in_its_hands(
    servers: list[ForkedServer], proxy: str
) -> None:
    """They end without an answer; all others go to a server that is ready, nothing is lost.

    The last server stands still for two seconds: it is late, and not dead, so its client waits.
    """
    client = _client(proxy)
    meta = tablestore.TableMeta("t", [("k", "INTEGER")])
    none = tablestore.ReservedThroughput(tablestore.CapacityUnit(0, 0))
    client.create_table(meta, tablestore.TableOptions(), none)
    kept: list[int] = []
    unanswered: list[int] = []
    over = threading.Event()

    def write() -> None:
        own = _client(proxy)
        number = 0
        while not over.is_set():
            number += 1
            try:
                own.put_row("t", tablestore.Row([("k", number)], [("v", number)]))
            except (HTTPError, tablestore.OTSClientError):
                unanswered.append(number)
            else:
                kept.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for server in servers[:2]:
            before = len(kept)
            server.kill()
            while len(kept) < before + 30:
                assert writer.is_alive(), "the writer was answered an error"
                over.wait(0.05)
    finally:
        over.set()
        writer.join(timeout=SECONDS)
    assert len(unanswered) <= 2
    for number in kept:
        _, row, _ = client.get_row("t", [("k", number)], max_version=1)
        assert row is not None, number
    os.kill(servers[2].pid, signal.SIGSTOP)
    later = threading.Timer(2.0, os.kill, (servers[2].pid, signal.SIGCONT))
    later.start()
    assert client.get_row("t", [("k", kept[0])], max_version=1)[1] is not None
    later.join()


def _drop(packets_of: socket.socket, above: int) -> None:
    """Let the system drop each TCP packet of more than `above` bytes, with its header.

    It is neither taken nor acknowledged, also on connections that are accepted from now on. The
    filter is one of socket(7), SO_ATTACH_FILTER.
    """
    load_length, jump_if_greater, result = 0x80, 0x25, 0x06
    steps = struct.pack(
        "HBBI" * 4,
        *(load_length, 0, 0, 0),
        *(jump_if_greater, 0, 1, above),
        *(result, 0, 0, 0),
        *(result, 0, 0, 0xFFFFFFFF),
    )
    buffer = ctypes.create_string_buffer(steps)
    packets_of.setsockopt(
        socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 4, ctypes.addressof(buffer))
    )


@needs_haproxy
def test_a_machine_that_has_gone_is_found_while_requests_wait_for_it() -> None:
    """One has taken the request, the other one has never acknowledged it: each is over in 10 s."""
    with ExitStack() as stack:
        taking, deaf = (
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)
        )
        _drop(deaf, above=40)  # a SYN has 40, an acknowledgement 32
        endpoints = [
            stack.enter_context(_in_front([f"127.0.0.1:{each.getsockname()[1]}"] * 3))
            for each in (taking, deaf)
        ]
        pool = stack.enter_context(ThreadPoolExecutor())
        answers = [
            pool.submit(urllib3.request, "POST", f"{each}/GetRow", retries=False, timeout=10)
            for each in endpoints
        ]
        request = b""
        while b"/GetRow" not in request:  # and no question of the proxy for itself
            connection = stack.enter_context(taking.accept()[0])
            request = connection.recv(4096)
            _drop(connection, above=0)
        assert [each.result().status for each in answers] == [502, 502]


@needs_haproxy
def test_people_sign_in_to_the_console_and_stay_signed_in(tmp_path: Path) -> None:
    """Each server has sessions of its own (docs/operating/console.md, "Who may come in")."""
    keys = tmp_path / "keys.toml"
    keys.write_text('[[key]]\nid = "ada"\nsecret = "a long secret"\n', encoding="utf-8")
    keys.chmod(0o600)
    with ExitStack() as stack:
        servers = [WiderowServer(settings={"credentials": str(keys)}) for _ in range(3)]
        endpoints = [stack.enter_context(each).endpoint for each in servers]
        asker = Asker(stack.enter_context(_in_front(endpoints)))
        page = asker.get("sign-in")
        asker.cookie = page.headers["set-cookie"].partition(";")[0]
        given = {"id": "ada", "secret": "a long secret", "csrf": asker.token("sign-in")}
        answer = asker.post("sign-in", given)
        assert answer.status == 303
        asker.cookie = answer.headers["set-cookie"].partition(";")[0]
        assert [asker.get("health").status for _ in servers] == [200] * 3


def test_every_setting_of_the_examples_is_one() -> None:
    """Names of variables, as `widerow serve` reads them."""
    known = {PREFIX + name.upper() for name in DESCRIPTIONS} | set(CLIENT_VARIABLES)
    own = {"WIDEROW_ONE", "WIDEROW_TWO", "WIDEROW_THREE", "WIDEROW_PROXY_ADDRESS"}
    for file in (
        DEPLOY / "compose.yaml",
        DEPLOY / "systemd" / "widerow.env",
        DEPLOY / "Containerfile",
    ):
        words = file.read_text(encoding="utf-8").replace("=", " ").replace(":", " ").split()
        named = {word.strip("{},") for word in words if word.strip("{},").startswith("WIDEROW_")}
        assert named - own <= known, file
        assert named or file.name == "widerow.env"
