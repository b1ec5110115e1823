"""Attacks on what a server has little of: time, connections, memory (wire §1.7, §1.8).

After each attack the server answers a healthy request on another connection.
"""

import resource
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from typing import Final

import pytest
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Answer, Sender, Wire, assert_healthy, digest, encode_request
from tests.support.requests import ANY, BODIES, KEY, get_range_request, get_row_request

from widerow.limits import BODY_BYTES_MAX, CONNECTIONS_MAX
from widerow.server.admission import Admission
from widerow.server.shared import Timeouts
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m

FAST: Final = 0.1  # seconds that a bound of tens of seconds is set to here
SOON: Final = 2.0  # seconds within which what is due at once has happened


def resident_bytes() -> int:
    """What this process, server and all, has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.fixture
def wire(server: WiderowServer, sender: Sender) -> Iterator[Wire]:
    """A connection to a server that is well when the test is over."""
    with Wire(server.endpoint) as attacking:
        yield attacking
    assert_healthy(server.endpoint, sender)


# --- clients that are slow -----------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[WiderowServer]:
    """A server that waits a fraction of a second where it would wait for tens."""
    monkeypatch.setattr("widerow.server.http._TICK_SECONDS", FAST / 4)
    monkeypatch.setattr("widerow.server.http._TIMEOUTS", Timeouts(FAST, FAST, FAST, FAST))
    with WiderowServer() as started:
        yield started


def assert_timed_out(wire: Wire) -> None:
    assert wire.read().error == (408, "OTSRequestTimeout", "Request timeout.")
    assert wire.ended()


def test_slow_headers_time_out(hasty: WiderowServer, sender: Sender) -> None:
    with Wire(hasty.endpoint) as wire:
        wire.send(b"POST /ListTable HTTP/1.1\r\nhost:")
        assert_timed_out(wire)
        assert_healthy(hasty.endpoint, sender)


def test_headers_that_drip_time_out(hasty: WiderowServer, sender: Sender) -> None:
    """A byte now and then does not buy more time."""
    started = time.monotonic()
    with Wire(hasty.endpoint, timeout=FAST / 4) as wire:
        wire.send(b"POST /ListTable HTTP/1.1\r\nhost: ")
        answer = None
        while answer is None:
            assert time.monotonic() - started < SOON
            wire.send(b"h")
            try:
                answer = wire.read()
            except TimeoutError:
                continue
        assert answer.status == 408
        assert_healthy(hasty.endpoint, sender)


def test_a_slow_body_times_out(hasty: WiderowServer, sender: Sender) -> None:
    with Wire(hasty.endpoint) as wire:
        wire.send(sender.request("GetRow", b"abcdef")[:-3])
        assert_timed_out(wire)
        assert_healthy(hasty.endpoint, sender)


def test_a_silent_connection_is_ended(hasty: WiderowServer, sender: Sender) -> None:
    with Wire(hasty.endpoint) as wire:
        assert wire.ended()
    with Wire(hasty.endpoint) as wire:
        assert wire.ask(sender.request("ListTable")).status == 200
        assert wire.ended()


def test_a_client_that_never_reads_is_cut_off(hasty: WiderowServer, sender: Sender) -> None:
    with Wire(hasty.endpoint, timeout=SOON) as wire:
        with pytest.raises(ConnectionError):
            flood(wire)
        assert_healthy(hasty.endpoint, sender)


def flood(wire: Wire) -> None:
    """Ask without end and read nothing."""
    requests = encode_request("/NoSuchAction", {}) * 1000
    for _ in range(256 * 1024 * 1024 // len(requests)):
        wire.send(requests)


def test_a_pipeline_that_nobody_reads_is_bounded(
    start: Callable[[], WiderowServer], sender: Sender
) -> None:
    """A client that asks and never reads is stopped by full sockets, not by the server's memory."""
    with start() as server, Wire(server.endpoint, timeout=FAST) as wire:
        before = resident_bytes()
        with pytest.raises(TimeoutError):
            flood(wire)
        assert resident_bytes() - before < 16 * 1024 * 1024
        assert_healthy(server.endpoint, sender)


# --- too many ------------------------------------------------------------------------------------


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch, sender: Sender) -> None:
    assert CONNECTIONS_MAX > 3
    monkeypatch.setattr("widerow.server.lifecycle.Admission", partial(Admission, connections_max=3))
    with WiderowServer() as server:
        wires = [Wire(server.endpoint) for _ in range(3)]
        for wire in wires:
            assert wire.ask(sender.request("ListTable")).status == 200
        with Wire(server.endpoint) as late:
            assert late.read().error == (503, "OTSServerBusy", "Server is busy.")
            assert late.ended()
        for wire in wires:  # those that were there are served on
            assert wire.ask(sender.request("ListTable")).status == 200
            wire.socket.close()
        eventually(lambda: assert_healthy(server.endpoint, sender))


@pytest.mark.parametrize("said", [b"", b"POST /ListT", b"POST /ListTable HTTP/1.1\r\nhost: "])
def test_a_crowd_that_says_nothing_keeps_nobody_out(
    monkeypatch: pytest.MonkeyPatch, sender: Sender, said: bytes
) -> None:
    """Nobody waits for the others' time to end: not a probe, and not a client with a key."""
    small = partial(Admission, connections_max=8)
    monkeypatch.setattr("widerow.server.lifecycle.Admission", small)
    monkeypatch.setattr("widerow.server.admission.REFUSALS_MAX", 8)
    with WiderowServer() as server, Wire(server.endpoint) as regular, ExitStack() as crowd:
        assert regular.ask(sender.request("ListTable")).status == 200
        for _ in range(40):
            with suppress(OSError):
                crowd.enter_context(Wire(server.endpoint)).send(said)
            assert regular.ask(sender.request("ListTable")).status == 200
        for _ in range(20):
            with Wire(server.endpoint) as probe:
                assert probe.ask(b"GET /livez HTTP/1.1\r\n\r\n").status == 200
        eventually(lambda: assert_healthy(server.endpoint, sender))


def test_bytes_in_flight_are_bounded(monkeypatch: pytest.MonkeyPatch, sender: Sender) -> None:
    limit = 1024 * 1024
    monkeypatch.setattr("widerow.server.lifecycle.Admission", partial(Admission, bytes_max=limit))
    request = sender.request("ListTable", bytes(limit))
    with WiderowServer() as server:
        with Wire(server.endpoint) as first, Wire(server.endpoint) as second:
            first.send(request[:-1])
            second.send(request[:-1])
            # Which of the two is one too many depends on how their bytes arrive.
            answer = first_answer(first, second)
            assert answer.error == (503, "OTSServerBusy", "Server is busy.")
        eventually(lambda: assert_healthy(server.endpoint, sender))


def test_answers_that_nobody_reads_are_bounded(
    monkeypatch: pytest.MonkeyPatch, sender: Sender
) -> None:
    """Beyond the bound the slowest readers are cut off; others are served as before."""
    limit = 8 * 1024 * 1024

    def strict() -> Admission:
        admission = Admission()
        admission.unsent_max = limit
        return admission

    monkeypatch.setattr("widerow.server.lifecycle.Admission", strict)
    with WiderowServer() as server:
        fill_with(server.endpoint, sender, rows=15, size=256 * 1024)
        ask = sender.request("GetRange", everything())
        with ExitStack() as stack:
            slow = [stack.enter_context(Wire(server.endpoint)) for _ in range(20)]
            for wire in slow:
                wire.send(ask * 8)
            with Wire(server.endpoint) as healthy:
                page = b""
                while b"widerow_refused_total 0" in page or not page:
                    page = healthy.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body
                for _ in range(20):
                    assert healthy.ask(sender.request("ListTable")).status == 200
                page = healthy.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body
        (line,) = [each for each in page.splitlines() if each.startswith(b"widerow_unsent_bytes ")]
        assert int(line.split()[1]) <= limit


def fill_with(endpoint: str, sender: Sender, *, rows: int, size: int) -> None:
    with Wire(endpoint) as wire:
        wire.ask(sender.request("CreateTable", BODIES["CreateTable"]("T")))
        for number in range(rows):
            row = row_buffer((("k", str(number)), ("n", number)), [cell("c", "x" * size)])
            put = m.PutRowRequest(table_name="T", row=row, condition=ANY)
            assert wire.ask(sender.request("PutRow", put.SerializeToString())).status == 200


def everything() -> bytes:
    message = get_range_request("T")
    message.inclusive_start_primary_key = key_buffer((("k", ""), ("n", -(2**63))))
    message.exclusive_end_primary_key = key_buffer((("k", "\U0010ffff"), ("n", 0)))
    return message.SerializeToString()


def test_pipelines_that_nobody_reads_leave_room_for_others(
    monkeypatch: pytest.MonkeyPatch, sender: Sender
) -> None:
    """A few connections with many requests each must not use up what all may have in hand."""
    few = partial(Admission, requests_max=64)
    monkeypatch.setattr("widerow.server.lifecycle.Admission", few)
    with WiderowServer() as server:
        fill_with(server.endpoint, sender, rows=15, size=256 * 1024)
        ask = sender.request("GetRange", everything())
        with ExitStack() as stack:
            for _ in range(10):
                stack.enter_context(Wire(server.endpoint)).send(ask * 64)
            with Wire(server.endpoint) as healthy:
                for _ in range(200):
                    assert healthy.ask(sender.request("ListTable")).status == 200


def eventually(check: Callable[[], None]) -> None:
    """Try until it holds: the server hears of a closed connection a moment later."""
    end = time.monotonic() + SOON
    while True:
        try:
            check()
        except (AssertionError, ConnectionError):
            if time.monotonic() > end:
                raise
        else:
            return


def first_answer(*wires: Wire) -> Answer:
    for wire in wires:
        wire.socket.settimeout(SOON / 2)
        try:
            return wire.read()
        except TimeoutError:
            continue
    raise AssertionError("no answer")


# --- bombs (wire §1.8; semantics §5.3) -----------------------------------------------------------


def compressed(sender: Sender, body: bytes, size: str, kind: str = "deflate") -> bytes:
    headers = sender.headers(body) | {
        "x-ots-request-compress-type": kind,
        "x-ots-request-compress-size": size,
    }
    return encode_request("/GetRow", sender.sign("GetRow", headers), body)


def bomb() -> bytes:
    """Gigabytes of zeros in just less than a body may have: one block, over and over."""
    squeeze = zlib.compressobj(9)
    start = squeeze.compress(b"") + squeeze.flush(zlib.Z_FULL_FLUSH)
    block = squeeze.compress(bytes(1024 * 1024)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    times = (BODY_BYTES_MAX - len(start)) // len(block)
    assert times > 4096  # megabytes
    return start + block * times


@pytest.fixture(scope="module")
def packed() -> bytes:
    return bomb()


@pytest.mark.parametrize("size", [100, BODY_BYTES_MAX, BODY_BYTES_MAX + 1, 2**30, 2**64])
def test_a_bomb_costs_little(wire: Wire, sender: Sender, packed: bytes, size: int) -> None:
    """Whatever it claims: memory stays within a body's bound, the loop within 100 ms."""
    request = compressed(sender, packed, str(size))
    before, started = resident_bytes(), time.process_time()
    status, code, _ = wire.ask(request).error
    if size > BODY_BYTES_MAX:
        assert (status, code) == (413, "OTSRequestBodyTooLarge")
    else:
        assert (status, code) == (400, "OTSParameterInvalid")
    assert time.process_time() - started < 0.1
    assert resident_bytes() - before < 64 * 1024 * 1024


@pytest.mark.parametrize(
    ("size", "kind"),
    [("6", "deflate"), ("4", "deflate"), ("5", "gzip"), ("-5", "deflate"), ("", "")],
)
def test_a_compressed_body_is_what_it_says(
    wire: Wire, sender: Sender, size: str, kind: str
) -> None:
    answer = wire.ask(compressed(sender, zlib.compress(b"a" * 5), size, kind))
    message = "Cannot deserialize the request data."
    assert answer.error == (400, "OTSParameterInvalid", message)


def test_a_compressed_body_is_read(wire: Wire, sender: Sender) -> None:
    body = get_row_request("Missing").SerializeToString()
    assert wire.ask(compressed(sender, zlib.compress(body), str(len(body)))).status == 404


def nested(depth: int) -> bytes:
    """NOT in NOT in NOT: messages in bytes, which protobuf's own bound does not see."""
    inner = m.Filter(type=3, filter=b"\x08\x00\x10\x01").SerializeToString()
    for _ in range(depth):
        composite = m.CompositeColumnValueFilter(combinator=1)
        composite.sub_filters.add().ParseFromString(inner)
        inner = m.Filter(type=2, filter=composite.SerializeToString()).SerializeToString()
    return inner


@pytest.mark.parametrize("depth", [33, 1000])
def test_a_deep_filter_is_refused_at_once(wire: Wire, sender: Sender, depth: int) -> None:
    read = m.GetRowRequest(
        table_name="Missing",
        primary_key=key_buffer(KEY),
        max_versions=1,
        filter=nested(depth),
    )
    request = sender.request("GetRow", read.SerializeToString())
    started = time.process_time()
    answer = wire.ask(request)
    assert time.process_time() - started < 0.05
    message = "The count of filter exceeds the max: 32."
    assert answer.error == (400, "OTSParameterInvalid", message)
    assert answer.headers["x-ots-contentmd5"] == digest(answer.body)
