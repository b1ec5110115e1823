"""Hostile HTTP, byte by byte: frames, bounds of headers, targets, pipelines (wire §1.1, §1.7).

After each attack the server answers a healthy request on another connection.
"""

from collections.abc import Callable, Iterator
from typing import Final

import pytest
from tests.support.http import Answer, Sender, Wire, assert_healthy, encode_request
from tests.support.requests import BODIES, get_row_request, put_row_request
from tools.frames import FRAMES, HEAD, raw

from widerow.limits import (
    BODY_BYTES_MAX,
    HEADERS_BYTES_MAX,
    HEADERS_COUNT_MAX,
    PIPELINE_DEPTH_MAX,
)
from widerow.testing.server import WiderowServer

TABLE: Final = "T"
LIST: Final = "/ListTable"
TOO_LONG: Final = HEADERS_BYTES_MAX + 8192  # the bound is looked at every 4 KiB
ODD: Final = "The HTTP request is malformed."


@pytest.fixture
def wire(server: WiderowServer, sender: Sender) -> Iterator[Wire]:
    """A connection to a server that is well when the test is over."""
    with Wire(server.endpoint) as attacking:
        yield attacking
        assert_healthy(server.endpoint, sender)
    assert_healthy(server.endpoint, sender)


def signed_lines(sender: Sender, action: str, body: bytes = b"") -> list[bytes]:
    headers = sender.sign(action, sender.headers(body))
    return [f"{name}: {value}".encode() for name, value in headers.items()]


def assert_malformed(wire: Wire, answer: Answer) -> None:
    assert answer.error == (400, "OTSParameterInvalid", ODD)
    assert answer.headers["connection"] == "close"
    assert wire.ended()


# --- framing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_that_others_may_read_otherwise_is_refused(wire: Wire, name: str) -> None:
    wire.send(FRAMES[name])
    assert_malformed(wire, wire.read())


@pytest.mark.parametrize("name", FRAMES)
def test_nothing_behind_such_a_frame_is_answered(wire: Wire, sender: Sender, name: str) -> None:
    """What is smuggled in behind a refused frame must not run."""
    wire.send(FRAMES[name] + sender.request("CreateTable", BODIES["CreateTable"]("Smuggled")))
    assert_malformed(wire, wire.read())


@pytest.mark.parametrize("name", FRAMES)
def test_byte_by_byte_it_is_refused_too(wire: Wire, name: str) -> None:
    """The parser keeps its state between reads: no bound or check lives in one read only."""
    frame = FRAMES[name]
    for at in range(0, len(frame), 7):
        wire.send(frame[at : at + 7])
    assert_malformed(wire, wire.read())


def test_two_spellings_of_one_signed_header_are_refused(wire: Wire, sender: Sender) -> None:
    """Of two values one would go unsigned (wire §1.3)."""
    lines = [*signed_lines(sender, "ListTable"), b"X-Ots-Date: 2020-01-01T00:00:00.000Z"]
    answer = wire.ask(raw(b"POST /ListTable HTTP/1.1", b"content-length: 0", *lines))
    assert answer.error == (400, "OTSParameterInvalid", "Duplicated header: 'x-ots-date'.")


# --- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        raw(*HEAD, b"x-junk: " + b"a" * TOO_LONG),
        raw(*HEAD, b"a" * TOO_LONG + b": junk"),
        raw(b"POST /" + b"a" * TOO_LONG + b" HTTP/1.1", b"host: localhost"),
        raw(*HEAD, *(b"x-%d: junk" % number for number in range(10_000))),
        raw(*HEAD, *(b"x-%d:" % number for number in range(HEADERS_COUNT_MAX + 1))),
        raw(*HEAD, *[b"x-ots-date: 1"] * 10_000),
        raw(*HEAD, b"x-junk: " + b"a" * 10_000_000),
    ],
    ids=["value", "name", "path", "10 000", "one too many", "repeated", "10 MB"],
)
def test_headers_are_bounded(wire: Wire, head: bytes) -> None:
    try:
        wire.send(head)
    except ConnectionError:
        pytest.fail("the server cut the connection before its answer could be read")
    answer = wire.read()
    message = "The size of HTTP headers is too large."
    assert answer.error == (431, "OTSParameterInvalid", message)
    assert wire.ended()


def test_headers_that_never_end_are_bounded(wire: Wire) -> None:
    wire.send(b"POST /ListTable HTTP/1.1\r\n")
    for _ in range(HEADERS_BYTES_MAX // 1000 + 10):
        wire.send(b"x: " + b"a" * 995 + b"\r\n")
    assert wire.read().status == 431


def test_trailers_are_bounded(wire: Wire, sender: Sender) -> None:
    lines = signed_lines(sender, "ListTable")
    wire.send(raw(HEAD[0], *lines, b"transfer-encoding: chunked", body=b"0\r\n"))
    for _ in range(HEADERS_BYTES_MAX // 1000 + 10):
        wire.send(b"x: " + b"a" * 995 + b"\r\n")
    assert wire.read().status == 431


def test_chunk_extensions_are_bounded(wire: Wire, sender: Sender) -> None:
    lines = signed_lines(sender, "ListTable")
    wire.send(raw(HEAD[0], *lines, b"transfer-encoding: chunked", body=b"1;"))
    wire.send(b"a" * (2 * HEADERS_BYTES_MAX))
    assert wire.read().status in {400, 431}
    assert wire.ended()


def test_as_many_headers_as_allowed_are_read(wire: Wire, sender: Sender) -> None:
    lines = signed_lines(sender, "ListTable")
    more = [b"x-%d: junk" % number for number in range(HEADERS_COUNT_MAX - len(lines) - 1)]
    assert wire.ask(raw(HEAD[0], *lines, *more, b"content-length: 0")).status == 200


# --- targets and methods (wire §1.1) -------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["http://evil.example/ListTable", "/prefix/ListTable", "//ListTable", "/../ListTable"]
)
def test_the_last_segment_is_the_action(wire: Wire, sender: Sender, target: str) -> None:
    """Absolute targets and prefixes name the same action, which is what was signed (wire §1.1)."""
    headers = sender.sign("ListTable", sender.headers())
    answer = wire.ask(encode_request(target, headers))
    assert answer.status == 200
    assert sender.signed("ListTable", answer)


@pytest.mark.parametrize(
    "target", ["*", "/", "//", "/%2e%2e/%47etRow", "/GetRow%00", "/ListTable/"]
)
def test_other_targets_are_no_actions(wire: Wire, sender: Sender, target: str) -> None:
    headers = sender.sign("ListTable", sender.headers())
    status, code, _ = wire.ask(encode_request(target, headers)).error
    assert (status, code) == (400, "OTSUnsupportOperation")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_actions_are_posted(wire: Wire, sender: Sender, method: str) -> None:
    message = "Only POST method for requests is supported."
    for action in BODIES:
        request = sender.request(action, BODIES[action]("New"))
        answer = wire.ask(request.replace(b"POST", method.encode(), 1))
        assert answer.error == (405, "OTSMethodNotAllowed", message), action
        assert answer.headers["allow"] == "POST"
    assert wire.ask(sender.request("ListTable")).status == 200  # the connection is as good as new


def test_the_answer_to_head_is_headers_only(wire: Wire, sender: Sender) -> None:
    answer = wire.ask(raw(b"HEAD /ListTable HTTP/1.1", b"host: localhost"), head_only=True)
    assert answer.status == 405
    assert int(answer.headers["content-length"]) > 0
    assert wire.ask(sender.request("ListTable")).status == 200


def test_a_tunnel_to_elsewhere_is_refused(wire: Wire) -> None:
    wire.send(raw(b"CONNECT evil.example:443 HTTP/1.1", b"host: evil.example:443"))
    assert wire.read().status in {400, 405}


# --- connections as clients use them (wire §1.1) -------------------------------------------------


@pytest.mark.parametrize("count", [2, 100, PIPELINE_DEPTH_MAX * 10])
def test_pipelined_requests_are_answered_in_order(
    start: Callable[[], WiderowServer], sender: Sender, count: int
) -> None:
    """Reads and writes of one connection, in one piece: each read sees the write before it."""
    with start() as server, Wire(server.endpoint) as wire:
        create = BODIES["CreateTable"](TABLE)
        assert wire.ask(sender.request("CreateTable", create)).status == 200
        requests = []
        get = sender.request("GetRow", get_row_request(TABLE).SerializeToString())
        for number in range(count):
            put = put_row_request(TABLE, f"{number:07}").SerializeToString()
            requests += [sender.request("PutRow", put), get]
        wire.send(b"".join(requests))
        for number in range(count):
            assert wire.read().status == 200
            assert b"%07d" % number in wire.read().body


def test_half_a_connection_gets_its_answers(wire: Wire, sender: Sender) -> None:
    wire.send(sender.request("ListTable") * 3)
    wire.finish()
    assert [wire.read().status for _ in range(3)] == [200, 200, 200]
    assert wire.ended()


def test_half_a_request_on_half_a_connection_ends_it(wire: Wire, sender: Sender) -> None:
    wire.send(sender.request("GetRow", b"abcdef")[:-3])
    wire.finish()
    assert wire.ended()


def test_nothing_on_half_a_connection_ends_it(wire: Wire) -> None:
    wire.finish()
    assert wire.ended()


def test_the_body_waits_for_leave(wire: Wire, sender: Sender) -> None:
    body = get_row_request("Missing").SerializeToString()
    headers = sender.sign("GetRow", sender.headers(body)) | {
        "expect": "100-continue",
        "content-length": str(len(body)),
    }
    assert wire.ask(encode_request("/GetRow", headers)).status == 100
    assert wire.ask(body).status == 404


def test_a_body_that_is_too_large_gets_no_leave(wire: Wire, sender: Sender) -> None:
    headers = sender.sign("GetRow", sender.headers()) | {
        "expect": "100-continue",
        "content-length": str(BODY_BYTES_MAX + 1),
    }
    assert wire.ask(encode_request("/GetRow", headers)).status == 413


def test_the_old_version_is_answered_and_closed(wire: Wire, sender: Sender) -> None:
    request = sender.request("ListTable").replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    answer = wire.ask(request)
    assert answer.status == 200
    assert answer.headers["connection"] == "close"
    assert wire.ended()


def test_the_old_version_keeps_what_it_asks_to_keep(wire: Wire, sender: Sender) -> None:
    request = sender.request("ListTable").replace(
        b"HTTP/1.1\r\n", b"HTTP/1.0\r\nConnection: keep-alive\r\n", 1
    )
    for _ in range(3):
        assert wire.ask(request).headers["connection"] == "keep-alive"


def test_who_asks_to_close_is_closed(wire: Wire, sender: Sender) -> None:
    headers = sender.sign("ListTable", sender.headers()) | {"connection": "close"}
    assert wire.ask(encode_request(LIST, headers)).headers["connection"] == "close"
    assert wire.ended()


def test_a_body_in_chunks_is_put_together(wire: Wire, sender: Sender) -> None:
    body = get_row_request("Missing").SerializeToString()
    headers = sender.sign("GetRow", sender.headers(body)) | {"transfer-encoding": "chunked"}
    wire.send(encode_request("/GetRow", headers))
    for byte in body:
        wire.send(b"1;note=x\r\n%c\r\n" % byte)
    assert wire.ask(b"0\r\ntrailer: x\r\n\r\n").status == 404
