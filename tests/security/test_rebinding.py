"""A web page whose name is made to resolve to 127.0.0.1 reaches the port, and nothing behind it.

Such a page can sign: everybody knows the default key. Its browser says in `host` which name it
asked for, and no script can say otherwise (server/dispatch.py, `own_names_only`).
"""

from collections.abc import Callable

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES

from widerow.errors import Rule
from widerow.testing.server import WiderowServer

FOREIGN = ("evil.example", "evil.example:8087", "127.0.0.1.evil.example", "localhost.evil.example")
OWN = ("127.0.0.1:8087", "127.0.0.2", "localhost", "LOCALHOST.:80", "[::1]:8087")


def named(request: bytes, host: str) -> bytes:
    return request.replace(b"host: 127.0.0.1", f"host: {host}".encode())


def tables(endpoint: str, sender: Sender) -> bytes:
    with Wire(endpoint) as wire:
        return wire.ask(sender.request("ListTable")).body


def test_a_foreign_name_drops_no_table(
    start: Callable[[], WiderowServer], fill: Callable[[str, Sender], None], sender: Sender
) -> None:
    drop = sender.request("DeleteTable", BODIES["DeleteTable"]("T"))
    with start() as server:
        fill(server.endpoint, sender)
        before = tables(server.endpoint, sender)
        with Wire(server.endpoint) as wire:
            for host in (*FOREIGN, "127.0.0.1\r\nhost: evil.example"):
                answer = wire.ask(named(drop, host))
                told = (403, "OTSAuthFailed", "The host of the request is not this machine.")
                assert answer.error == told, host
                assert answer.headers["x-widerow-hint"] == Rule.HOST_FOREIGN.value
        assert tables(server.endpoint, sender) == before
        with Wire(server.endpoint) as wire:
            assert wire.ask(drop).status == 200


@pytest.mark.parametrize("page", ["/livez", "/metrics", "/nothing", "/_widerow/clock"])
def test_a_foreign_name_reads_no_page(server: WiderowServer, page: str) -> None:
    with Wire(server.endpoint) as wire:
        for host in FOREIGN:
            answer = wire.ask(f"GET {page} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
            assert answer.status in (403, 421)
            assert b"widerow_" not in answer.body
        if page == "/livez":
            for host in OWN:
                answer = wire.ask(f"GET {page} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
                assert answer.status == 200, host


def test_a_fault_of_dev_mode_does_nothing_for_a_foreign_name(
    start: Callable[[], WiderowServer], fill: Callable[[str, Sender], None], sender: Sender
) -> None:
    """A fault may carry a request out before it is struck."""
    with start() as server:
        fill(server.endpoint, sender)
        before = tables(server.endpoint, sender)
        server.faults.add("OTSTimeout", action="DeleteTable", when="after")
        with Wire(server.endpoint) as wire:
            drop = sender.request("DeleteTable", BODIES["DeleteTable"]("T"))
            assert wire.ask(named(drop, "evil.example")).status == 403
        assert tables(server.endpoint, sender) == before


def test_where_keys_are_secret_every_name_is_answered(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Behind a proxy, and under names that only the operator knows."""
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    file.write_text('[[key]]\nid = "a"\nsecret = "b"\n')
    file.chmod(0o600)
    for more, key in (
        ({"credentials": str(file)}, Sender("a", "b")),
        ({"host": "0.0.0.0", "dev": False}, Sender()),  # noqa: S104  # other machines ask, too
    ):
        with (
            WiderowServer(settings=more) as server,
            Wire(
                server.endpoint.replace("0.0.0.0", "127.0.0.1")  # noqa: S104  # other machines ask, too
            ) as wire,
        ):
            assert wire.ask(named(key.request("ListTable"), "tables.example")).status == 200
