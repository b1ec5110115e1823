"""Several processes on one port over PostgreSQL, killed, stopped and replaced.

docs/operating/cluster.md, Workers.
"""

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import tablestore
from tablestore.retry import WriteRetryPolicy
from tests.postgres import fresh_url
from tests.support.http import Answer, Sender, Wire, cookie_in, send_form, token_in
from urllib3.exceptions import HTTPError

from widerow.limits import WORKER_HUNG_SECONDS, WORKER_QUICK_DEATHS_MAX
from widerow.testing.process import WiderowProcess

THREADS = 6
PATIENCE_SECONDS = 60
# This SDK does not repeat what ended with its connection, and its HTTP library says so.
FAILURES = (tablestore.OTSClientError, tablestore.OTSServiceError, HTTPError)
KEYS = '[[key]]\nid = "boss"\nsecret = "another secret"\n'


@pytest.fixture
def url() -> str:
    return fresh_url()


@pytest.fixture
def server(url: str) -> Iterator[WiderowProcess]:
    """Two workers that are ready."""
    with WiderowProcess("--store", url, "--workers", "2", "--metrics-open") as process:
        yield process


def wait_for(what: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "waited too long"
        threading.Event().wait(0.05)


def workers(server: WiderowProcess) -> list[int]:
    """The processes of the workers, the older first."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return sorted(map(int, children))


def figures(server: WiderowProcess) -> dict[str, float]:
    with Wire(server.endpoint) as wire:
        if server.endpoint.startswith("https"):
            wire.socket = any_certificate().wrap_socket(wire.socket)
        answer = wire.ask(b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    assert answer.status == 200, answer.body
    lines = [line.rpartition(" ") for line in answer.body.decode().splitlines() if line[0] != "#"]
    assert len({name for name, _, _ in lines}) == len(lines), "each sample stands once"
    return {name: float(value) for name, _, value in lines}


def spread(server: WiderowProcess) -> list[float]:
    """The connections of each worker, as it said a moment ago."""
    told = figures(server)
    return [told[f'widerow_worker_connections{{worker="{number}"}}'] for number in (1, 2)]


def client_of(server: WiderowProcess) -> tablestore.OTSClient:
    return tablestore.OTSClient(
        server.endpoint, "widerow", "widerow", "shop", retry_policy=WriteRetryPolicy()
    )


def make_table(server: WiderowProcess) -> None:
    client_of(server).create_table(
        tablestore.TableMeta("t", [("thread", "INTEGER"), ("n", "INTEGER")]),
        tablestore.TableOptions(time_to_live=-1, max_version=1),
        tablestore.ReservedThroughput(tablestore.CapacityUnit(0, 0)),
    )


class Writers:
    """Threads that put rows and read them back, each row after the one before it was answered."""

    def __init__(self, server: WiderowProcess) -> None:
        self._server = server
        self._over = threading.Event()
        self.acknowledged = [0] * THREADS
        self.failures: list[str] = []

    def _write(self, thread: int) -> None:
        client = client_of(self._server)
        number = 0
        while not self._over.is_set():
            key = [("thread", thread), ("n", number)]
            try:
                client.put_row("t", tablestore.Row(key, [("v", number)]))
                self.acknowledged[thread] = number + 1
                _, row, _ = client.get_row("t", key, max_version=1)
            except FAILURES as error:
                self.failures.append(repr(error))
                self._over.wait(0.05)
                continue  # the same row again
            assert row is not None, "what was answered is there"
            assert row.attribute_columns[0][1] == number
            number += 1

    @contextmanager
    def running(self) -> Iterator[None]:
        with ThreadPoolExecutor(THREADS) as threads:
            done: list[Future[None]] = [threads.submit(self._write, n) for n in range(THREADS)]
            try:
                yield
            finally:
                self._over.set()
            for each in done:
                each.result()

    def go_on(self, rows: int = 20) -> None:
        """Wait until every thread has had so many more rows answered."""
        before = self.acknowledged.copy()
        pairs = list(enumerate(before))
        wait_for(lambda: all(self.acknowledged[n] >= had + rows for n, had in pairs))


def rows_of(client: tablestore.OTSClient, thread: int) -> set[int]:
    low, high = (
        [("thread", thread), ("n", bound)] for bound in (tablestore.INF_MIN, tablestore.INF_MAX)
    )
    found = client.xget_range(
        "t", tablestore.Direction.FORWARD, low, high, tablestore.CapacityUnit(0, 0)
    )
    return {row.primary_key[1][1] for row in found}


def test_nothing_acknowledged_is_lost_while_workers_are_killed_replaced_and_stopped(
    url: str, server: WiderowProcess
) -> None:
    make_table(server)
    writers = Writers(server)
    with writers.running():
        writers.go_on()
        first, second = workers(server)
        os.kill(first, signal.SIGKILL)
        writers.go_on()
        assert len(writers.failures) <= THREADS  # those whose requests it had, or sent it one more
        wait_for(lambda: figures(server)["widerow_workers"] == 2)
        counted = figures(server)["widerow_committed_writes_total"]

        writers.failures.clear()
        os.kill(server.pid, signal.SIGHUP)
        wait_for(lambda: "the restart of the workers has ended" in server.written())
        writers.go_on()
        assert not {first, second} & set(workers(server))
        assert figures(server)["widerow_committed_writes_total"] >= counted  # never goes back
        assert not writers.failures

        os.kill(workers(server)[0], signal.SIGTERM)  # by somebody else than the supervisor
        wait_for(lambda: figures(server)['widerow_worker_ends_total{end="drained"}'] == 3)
        writers.go_on()
        assert not writers.failures
        assert server.stop() == 0
    with WiderowProcess("--store", url) as again:
        for thread, count in enumerate(writers.acknowledged):
            assert rows_of(client_of(again), thread) >= set(range(count))


@pytest.mark.night
def test_one_that_hangs_gets_no_connections_and_is_replaced(server: WiderowProcess) -> None:
    hangs, _ = workers(server)
    os.kill(hangs, signal.SIGSTOP)
    try:
        asked = 0
        began = time.monotonic()
        while time.monotonic() < began + 3:  # until it is seen to say nothing
            threading.Event().wait(0.1)
        while asked < 20:
            with Wire(server.endpoint, timeout=1) as wire:
                asked += wire.ask(b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").status == 200
        assert figures(server)["widerow_workers"] == 2  # with its last figures
        wait_for(
            lambda: figures(server)['widerow_worker_ends_total{end="killed"}'] == 1,
            2 * WORKER_HUNG_SECONDS,
        )
    finally:
        if hangs in workers(server):
            os.kill(hangs, signal.SIGCONT)
    wait_for(lambda: figures(server)["widerow_workers"] == 2)
    assert f"it has said nothing for {WORKER_HUNG_SECONDS} s" in server.written()


def test_connections_are_spread_evenly_and_metrics_are_of_all(server: WiderowProcess) -> None:
    make_table(server)
    row = tablestore.Row([("thread", 0), ("n", 0)], [("v", 0)])
    client_of(server).put_row("t", row)
    before = figures(server)
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server.endpoint)) for _ in range(32)]
        for wire in wires * 3:
            assert wire.ask(Sender(instance="shop").request("ListTable")).status == 200
        wait_for(lambda: all(15 <= each <= 17 for each in spread(server)))  # one more asks
        after = figures(server)
    name = 'widerow_requests_total{action="ListTable",code="OK"}'
    assert after[name] - before.get(name, 0) == 96
    assert after['widerow_request_seconds_count{action="ListTable"}'] == after[name]
    assert after['widerow_request_seconds_bucket{action="ListTable",le="+Inf"}'] == after[name]
    info = [value for sample, value in after.items() if sample.startswith("widerow_build_info")]
    assert info == [1]
    partitions = 'widerow_partitions{table="shop/t"}'
    wait_for(lambda: figures(server).get(partitions))  # with the first count of the store
    assert figures(server)[partitions] == 1


def test_workers_are_nodes_of_one_server_and_one_of_them_has_the_lease(
    server: WiderowProcess,
) -> None:
    def told() -> dict[str, Any]:
        with Wire(server.endpoint) as wire:
            answer = wire.ask(b"GET /console/nodes.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        found: dict[str, Any] = json.loads(answer.body)
        return found

    wait_for(lambda: len(told()["nodes"]) == 2 and told()["lease"] is not None)
    found = told()
    (whole,) = found["servers"]
    name = urlsplit(server.endpoint).netloc
    assert (whole["server"], sorted(each["worker"] for each in found["nodes"])) == (name, [1, 2])
    assert {each["name"] for each in found["nodes"]} == {f"{name}/1", f"{name}/2"}
    assert sum(each["load"]["memory_bytes"] for each in found["nodes"]) == whole["memory_bytes"]
    wait_for(lambda: figures(server)["widerow_lease_held"] == 1)
    assert figures(server)['widerow_nodes{state="serves"}'] == 2  # as each of them sees both


def test_the_log_is_one_and_has_one_start_and_one_end(url: str) -> None:
    process = WiderowProcess("--store", url, "--workers", "2", "--log-format", "json")
    process.start()
    pid = process.pid
    assert process.ready_line.endswith(f"pid={pid}")
    wait_for(lambda: process.written().count('"event": "a worker has started"') == 2)
    os.kill(pid, signal.SIGTERM)
    wait_for(lambda: not process.running)  # no second signal meets it on its way out
    said = process.written()
    assert process.stop() == 0
    events = re.findall(r'"event": "([^"]+)"', said)
    assert events == [
        *("a worker has started", "a worker has started", "the server has started"),
        *("the server stops", "a worker has ended", "a worker has ended", "the server has stopped"),
    ]
    assert said.count("--credentials FILE replaces it") == 1


def test_workers_end_with_their_supervisor_and_leave_the_port(url: str) -> None:
    process = WiderowProcess("--store", url, "--workers", "2")
    process.start()
    mine, port = workers(process), urlsplit(process.endpoint).port
    process.kill()
    wait_for(lambda: not [each for each in mine if Path(f"/proc/{each}").exists()])
    with WiderowProcess("--store", url, "--port", str(port)) as again:
        assert urlsplit(again.endpoint).port == port


@pytest.mark.night
def test_workers_that_die_again_and_again_end_the_server_with_the_reason(
    url: str, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(KEYS)
    keys.chmod(0o600)
    process = WiderowProcess("--store", url, "--workers", "2", "--credentials", str(keys))
    process.start()
    keys.unlink()
    for each in workers(process):
        os.kill(each, signal.SIGKILL)
    wait_for(lambda: not process.running, 2 * PATIENCE_SECONDS)
    said = process.written()
    assert said.count("a worker has died") >= WORKER_QUICK_DEATHS_MAX
    assert f"{WORKER_QUICK_DEATHS_MAX} workers in a row ended within" in said.splitlines()[-1]
    assert "cannot read credentials" in said.splitlines()[-1]
    assert process.stop() == 2


@pytest.mark.night
def test_a_restart_that_cannot_be_made_leaves_the_former_workers(url: str, tmp_path: Path) -> None:
    """And the keys in force: a mistake in their file must lock nobody out."""
    keys = tmp_path / "keys.toml"
    keys.write_text(KEYS)
    keys.chmod(0o600)
    with WiderowProcess("--store", url, "--workers", "2", "--credentials", str(keys)) as server:
        before = workers(server)
        keys.write_text("no keys")
        os.kill(server.pid, signal.SIGHUP)
        wait_for(lambda: "a worker has not started: the former one stays" in server.written())
        assert workers(server) == before
        for _ in range(4):
            with Wire(server.endpoint) as wire:
                answer = wire.ask(Sender("boss", "another secret", "shop").request("ListTable"))
                assert answer.status == 200


@pytest.mark.night
def test_the_port_speaks_tls_and_takes_a_new_certificate(url: str, tmp_path: Path) -> None:
    """Handshakes are made by the workers, and count as connections; SIGHUP is for all of them."""
    files = "--tls-cert", str(tmp_path / "c.pem"), "--tls-key", str(tmp_path / "k.pem")
    make_certificate(tmp_path, "one")
    with WiderowProcess("--store", url, "--workers", "2", "--metrics-open", *files) as server:
        assert server.endpoint.startswith("https://")
        assert {subject_of(server) for _ in range(4)} == {"one"}
        make_certificate(tmp_path, "two")
        os.kill(server.pid, signal.SIGHUP)
        wait_for(lambda: server.written().count("certificate read again") == 2)
        assert {subject_of(server) for _ in range(4)} == {"two"}
        with ExitStack() as stack:
            address = "127.0.0.1", urlsplit(server.endpoint).port or 0
            for _ in range(6):
                stack.enter_context(socket.create_connection(address))
            wait_for(lambda: sum(spread(server)) >= 6)


def make_certificate(folder: Path, name: str) -> None:
    made = (
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", f"/CN={name}"),
        *("-keyout", str(folder / "k.pem"), "-out", str(folder / "c.pem")),
    )
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make certificates")
    subprocess.run(made, check=True, capture_output=True)  # noqa: S603  # openssl of the path


def any_certificate() -> ssl.SSLContext:
    """A client that asks for no certain one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def subject_of(server: WiderowProcess) -> str:
    """The name in the certificate of a new connection, on which a request is answered."""
    place = urlsplit(server.endpoint)
    with (
        socket.create_connection(("127.0.0.1", place.port or 0)) as plain,
        any_certificate().wrap_socket(plain) as secured,
    ):
        secured.sendall(b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert secured.recv(1000).startswith(b"HTTP/1.1 200")
        certificate = secured.getpeercert(binary_form=True)
        assert certificate is not None
        return "one" if b"one" in certificate else "two"


# --- the console ----------------------------------------------------------------------------------


def ask(
    server: WiderowProcess,
    target: str,
    headers: Mapping[str, str],
    form: Mapping[str, str] | None = None,
) -> Answer:
    """One request on a connection of its own, so that the next one goes to the other worker."""
    method = "GET" if form is None else "POST"
    return send_form(server.endpoint, method, target, {"origin": server.endpoint, **headers}, form)


@pytest.mark.night
def test_a_session_of_the_console_is_one_of_all_workers(url: str, tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(KEYS)
    keys.chmod(0o600)
    flags = ("--store", url, "--workers", "2", "--credentials", str(keys))
    with WiderowProcess(*flags) as server:
        form = ask(server, "/console/sign-in", {})
        entry = {"cookie": cookie_in(form)}
        given = {"id": "boss", "secret": "another secret", "token": "", "csrf": token_in(form)}
        answer = ask(server, "/console/sign-in", entry, given)
        assert answer.status == 303
        session = {"cookie": cookie_in(answer)}
        pages = [ask(server, "/console/", session) for _ in range(6)]
        assert [page.status for page in pages] == [200] * 6
        seen = {found for page in pages for found in re.findall(rb"worker (\d of 2)", page.body)}
        assert seen == {b"1 of 2", b"2 of 2"}
        assert ask(server, "/console/sign-out", session, {"csrf": token_in(pages[0])}).status == 303
        wait_for(lambda: ask(server, "/console/", session).status == 303)
        assert [ask(server, "/console/", session).status for _ in range(6)] == [303] * 6
        # A worker that starts later knows of it, too.
        for each in workers(server):
            os.kill(each, signal.SIGTERM)
        wait_for(lambda: server.written().count("a worker has started") == 4)
        assert [ask(server, "/console/", session).status for _ in range(4)] == [303] * 4
