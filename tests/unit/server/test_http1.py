"""HTTP/1.1 without a connection: bytes in, requests and refusals out; answers in, bytes out.

As clients write it, and attackers do (wire §1.1, §1.7).
"""

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import AnyRule, Rule, WiderowError
from widerow.limits import (
    BODY_BYTES_MAX,
    HEADERS_BYTES_MAX,
    HEADERS_COUNT_MAX,
    LINGER_BYTES_MAX,
    PIPELINE_DEPTH_MAX,
)
from widerow.server import http1 as module
from widerow.server.admission import Admission
from widerow.server.headers import KeptHeaders
from widerow.server.http1 import BODY, CLOSING, HEAD, LAST, LINGERING, NOTHING, READING, Http1
from widerow.server.message import Request, Response
from widerow.testing.clock import FakeClock
from widerow.wire.dialects import DIALECTS

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
POST_A: Final = b"POST /A HTTP/1.1\r\n"


class Peer:
    """What a transport does with the protocol, without one: answers at once, unless `held`."""

    def __init__(self) -> None:
        self.admission = Admission(requests_max=100, bytes_max=1_000_000)
        self.http = Http1(
            self.admission, FakeClock(), KeptHeaders(each.headers for each in DIALECTS)
        )
        self.requests: list[Request] = []
        self.refused: list[WiderowError] = []
        self.answers: list[bytes] = []  # their bodies
        self.sent = b""
        self.held = False

    def send(self, data: bytes, *, piece: int | None = None) -> bytes:
        """Hand in `data`, whole or in pieces; the bytes that came out."""
        before = len(self.sent)
        step = piece or max(1, len(data))
        for start in range(0, len(data), step):
            self.http.receive(data[start : start + step])
            self._run()
        return self.sent[before:]

    def ask(self, data: bytes, *, piece: int | None = None) -> list[bytes]:
        """`send`; the bodies of the answers."""
        before = len(self.answers)
        self.send(data, piece=piece)
        return self.answers[before:]

    def release(self) -> None:
        """Answer the request that is kept back."""
        self._answer(self.requests[-1])
        self._run()

    def rule(self) -> AnyRule:
        """The rule of the only refusal."""
        (error,) = self.refused
        found = getattr(error, "rule", None)
        assert isinstance(found, AnyRule)
        return found

    def _run(self) -> None:
        http = self.http
        self.sent += http.interim()
        if http.refusal is not None and not self.refused:
            self.refused.append(http.refusal)
        while http.is_due():
            if http.has_next():
                self.requests.append(http.next_request())
                if not self.held:
                    self._answer(self.requests[-1])
            else:
                (error,) = self.refused
                refusal = Response(400, b"x-kind: refusal\r\n", str(error).encode())
                self._write(http.answer_last(refusal, b""))
            if http.is_held_up() and http.has_room():
                http.go_on()
        self.sent += http.interim()

    def _answer(self, request: Request) -> None:
        body = b" ".join((request.method, request.target, request.body))
        self._write(self.http.answer(Response(200, b"", body), b"date: today\r\n"))

    def _write(self, pieces: list[bytes]) -> None:
        self.answers.append(pieces[-1])
        self.sent += b"".join(pieces)


@pytest.fixture
def peer() -> Peer:
    return Peer()


def post(path: str = "/GetRow", body: bytes = b"abc", *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: h", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(*chunks: bytes, trailer: bytes = b"") -> bytes:
    head = b"POST /GetRow HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head + body + b"0\r\n" + trailer + b"\r\n"


def test_a_target_may_begin_with_scheme_and_host() -> None:
    """RFC 9112, absolute form: clients of proxies, and Oracle's NoSQL driver for Java."""
    targets = {
        "/A?b=http://c/d": "/A?b=http://c/d",
        "http://127.0.0.1:8087/V2/nosql/data": "/V2/nosql/data",
        "HTTPS://host/A?b=/c": "/A?b=/c",
        "http://host": "/",
        "ftp://host/A": "ftp://host/A",
        "*": "*",
    }
    for sent, target in targets.items():
        peer = Peer()
        method = "OPTIONS" if sent == "*" else "POST"
        peer.ask(f"{method} {sent} HTTP/1.1\r\nhost: h\r\n\r\n".encode(), piece=7)
        assert [each.target for each in peer.requests] == [target.encode()], sent


@pytest.mark.parametrize("piece", [None, 1, 2, 7])
def test_a_request_is_whole_however_it_is_cut(peer: Peer, piece: int | None) -> None:
    answer = peer.send(post("/GetRow", b"hello", "X-Ots-Date: now "), piece=piece)
    assert answer == (
        b"HTTP/1.1 200 OK\r\ncontent-length: 18\r\ndate: today\r\n\r\nPOST /GetRow hello"
    )
    assert peer.requests[0].headers["x-ots-date"] == "now"


@pytest.mark.parametrize("piece", [None, 1, 3])
def test_chunked_bodies_are_joined_and_trailers_dropped(peer: Peer, piece: int | None) -> None:
    trailer = b"x-ots-late: 1\r\n"
    sent = chunked(b"ab", b"cde", trailer=trailer) + post("/ListTable", b"")
    assert peer.ask(sent, piece=piece) == [b"POST /GetRow abcde", b"POST /ListTable "]
    assert all("x-ots-late" not in each.headers for each in peer.requests)


def test_a_body_is_the_same_bytes_in_any_number_of_pieces(peer: Peer) -> None:
    body = bytes(range(256)) * 100
    peer.send(post("/PutRow", body), piece=1000)
    assert peer.requests[0].body == body
    assert isinstance(peer.requests[0].body, bytes)


@given(st.lists(st.sampled_from([1, 2, 100, 4095, 4096, 4097, 20_000]), min_size=1, max_size=40))
def test_a_body_is_joined_of_large_and_small_pieces_and_none_costs_more_than_its_bytes(
    sizes: list[int],
) -> None:
    peer = Peer()
    pieces = [bytes((number % 251,)) * size for number, size in enumerate(sizes)]
    sent = chunked(*pieces)
    peer.send(sent[:-5])  # all but the end
    held = peer.http._pieces
    assert len(held) <= 2 * sum(sizes) // 4096 + 1
    peer.send(sent[-5:])
    (request,) = peer.requests
    assert request.body == b"".join(pieces)
    assert (peer.http._pieces, peer.http._body_bytes) == ([], 0)


def test_a_large_first_request_may_come_in_one_piece(peer: Peer) -> None:
    peer.send(post("/PutRow", b"x" * 100_000))
    assert len(peer.requests[0].body) == 100_000


def test_many_requests_follow_each_other_on_one_connection(peer: Peer) -> None:
    for number in range(5):
        assert peer.ask(post("/A", b"%d" % number)) == [b"POST /A %d" % number]
    assert peer.http.state == READING


def test_bytes_behind_a_closing_request_are_ignored(peer: Peer) -> None:
    peer.send(post("/A", b"", "Connection: close") + b"anything\x00")
    assert peer.answers == [b"POST /A "]
    assert peer.refused == []


def test_head_is_answered_without_the_body(peer: Peer) -> None:
    answer = peer.send(b"HEAD /livez HTTP/1.1\r\nHost: h\r\n\r\n")
    assert b"content-length: 12\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_header_values_are_utf8_or_latin1(peer: Peer) -> None:
    peer.send(post("/A", b"", "x-ots-a: grün"))
    peer.send(post("/A", b"").replace(b"Host: h", b"x-ots-a: gr\xfcn"))
    assert [each.headers["x-ots-a"] for each in peer.requests] == ["grün", "grün"]


def test_a_header_without_a_value_does_not_swallow_the_next(peer: Peer) -> None:
    peer.send(post("/A", b"", "x-ots-a:", "x-ots-b: 2"))
    headers = peer.requests[0].headers
    assert (headers["x-ots-a"], headers["x-ots-b"]) == ("", "2")


def test_a_repeated_signed_header_is_reported(peer: Peer) -> None:
    peer.send(post("/A", b"", "x-ots-a: 1", "X-OTS-A: 2") + post("/A", b"", "x-ots-a: 1"))
    assert [each.repeated for each in peer.requests] == ["x-ots-a", ""]


_HEADERS = ("X-Ots-A", "x-ots-a", "X-Ots-B", "x-ots-date", "Accept", "Connection")


_POOLS = st.lists(st.lists(st.sampled_from(_HEADERS), max_size=6), min_size=1, max_size=3)


@given(
    _POOLS.flatmap(
        lambda pool: st.lists(
            st.tuples(st.sampled_from(pool), st.booleans()), min_size=2, max_size=6
        )
    )
)
def test_what_came_before_changes_nothing_about_a_request(
    sent: list[tuple[list[str], bool]],
) -> None:
    """Names are compared with those of the request before: it is understood as by a new one."""
    peer = Peer()
    for number, (names, in_chunks) in enumerate(sent):
        lines = [f"{name}: {number}-{at}" for at, name in enumerate(names)]
        head = "\r\n".join(["POST /A HTTP/1.1", *lines, ""]).encode()
        tail = b"content-length: 0\r\n\r\n"
        if in_chunks:
            tail = b"transfer-encoding: chunked\r\n\r\n0\r\nx-ots-a: late\r\n\r\n"
        fresh = Peer()
        peer.send(head + tail)
        fresh.send(head + tail)
        mine, theirs = peer.requests[-1], fresh.requests[-1]
        assert mine.headers == theirs.headers
        assert mine.repeated == theirs.repeated
        assert mine.names == theirs.names == tuple(mine.headers)


def test_what_is_kept_of_strangers_names_is_bounded(peer: Peer) -> None:
    kept = module._SHARED_NAMES
    for number in range(module._SHARED_NAMES_MAX + 9):
        peer.send(post("/A", b"", f"x-ots-{number}: 1"))
        assert len(kept) <= module._SHARED_NAMES_MAX
        assert peer.requests[-1].names in kept
    peer.send(post("/A", b"", f"x-ots-{'n' * module._SHARED_NAMES_CHARS_MAX}: 1"))
    assert peer.requests[-1].names not in kept


def test_headers_nobody_reads_are_not_kept(peer: Peer) -> None:
    peer.send(post("/A", b"", "User-Agent: sdk", "Accept: */*"))
    assert set(peer.requests[0].headers) == {"content-length"}


def test_a_client_that_asks_is_told_to_go_on(peer: Peer) -> None:
    head, _, body = post("/A", b"abc", "Expect: 100-continue").partition(b"\r\n\r\n")
    assert peer.send(head + b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert peer.ask(body) == [b"POST /A abc"]


def test_go_on_waits_for_the_answers_before_it(peer: Peer) -> None:
    peer.held = True
    head = post("/B", b"abc", "Expect: 100-continue")[:-3]
    assert peer.send(post("/A", b"1") + head) == b""
    peer.release()
    assert peer.sent.endswith(b"HTTP/1.1 100 Continue\r\n\r\n")
    peer.send(b"abc")
    peer.release()
    assert peer.answers == [b"POST /A 1", b"POST /B abc"]


def test_other_expectations_are_refused(peer: Peer) -> None:
    peer.send(post("/A", b"abc", "Expect: miracles"))
    assert peer.rule() is Rule.HTTP_MALFORMED


def test_pipelined_requests_take_effect_in_order(peer: Peer) -> None:
    peer.held = True
    peer.send(post("/A", b"1") + post("/B", b"2") + post("/C", b"3"))
    for running in ("/A", "/B", "/C"):
        assert peer.requests[-1].target == running.encode()
        peer.release()
    assert peer.answers == [b"POST /A 1", b"POST /B 2", b"POST /C 3"]


def test_a_refusal_comes_after_the_answers_before_it(peer: Peer) -> None:
    peer.held = True
    assert peer.send(post("/A", b"1") + b"garbage\r\n\r\n") == b""
    peer.release()
    assert peer.answers[0] == b"POST /A 1"
    assert b"x-kind: refusal" in peer.sent


def test_a_body_announced_too_long_is_refused_before_it_comes(peer: Peer) -> None:
    peer.send(POST_A + b"Content-Length: %d\r\n\r\n" % (BODY_BYTES_MAX + 1))
    assert peer.rule() is Rule.BODY_TOO_LARGE
    assert peer.admission.bytes_in_flight == 0


def test_a_body_of_just_the_bound_is_taken(peer: Peer) -> None:
    peer.admission.bytes_max = BODY_BYTES_MAX
    peer.send(post("/A", b"x" * BODY_BYTES_MAX), piece=65536)
    assert len(peer.requests[0].body) == BODY_BYTES_MAX


def test_a_chunked_body_is_refused_as_it_grows_too_long(peer: Peer) -> None:
    peer.admission.bytes_max = 2 * BODY_BYTES_MAX
    half = b"x" * (BODY_BYTES_MAX // 2 + 1)
    peer.send(chunked(half, half), piece=65536)
    assert peer.rule() is Rule.BODY_TOO_LARGE
    assert peer.requests == []


def test_too_many_headers_are_refused(peer: Peer) -> None:
    names = [f"a{number}: 1" for number in range(HEADERS_COUNT_MAX + 1)]
    peer.send(post("/A", b"", *names))
    assert peer.rule() is Rule.HTTP_HEADERS_TOO_LARGE


@pytest.mark.parametrize(
    "endless",
    [
        POST_A + b"x-ots-a: ",
        POST_A + b"x",
        b"POST /",
        POST_A + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx-t: ",
        POST_A + b"Transfer-Encoding: chunked\r\n\r\n3;",
    ],
)
def test_endless_lines_are_refused_at_the_bound(peer: Peer, endless: bytes) -> None:
    peer.send(endless)
    fed = 0
    while not peer.refused:
        peer.send(b"y" * 1000)
        fed += 1000
        assert fed < HEADERS_BYTES_MAX + 10_000
    assert peer.rule() is Rule.HTTP_HEADERS_TOO_LARGE


def test_headers_of_just_below_the_bound_are_taken(peer: Peer) -> None:
    peer.send(post("/A", b"", "x-ots-a: " + "y" * (HEADERS_BYTES_MAX - 500)), piece=1000)
    assert len(peer.requests) == 1


def test_a_request_too_many_is_refused_and_gives_nothing_back_twice(peer: Peer) -> None:
    peer.admission.requests_max = 1
    peer.held = True
    peer.send(post("/A", b"1") + post("/B", b"2"))
    peer.release()
    assert peer.rule() is Rule.SERVER_BUSY
    assert peer.admission.requests_in_flight == 0


def test_bodies_beyond_the_bytes_in_hand_are_refused(peer: Peer) -> None:
    peer.admission.bytes_max = 1000
    peer.send(post("/A", b"x" * 1001), piece=100)
    assert peer.rule() is Rule.SERVER_BUSY
    assert (peer.admission.requests_in_flight, peer.admission.bytes_in_flight) == (0, 0)


def test_bytes_are_counted_as_they_come_not_as_they_are_announced(peer: Peer) -> None:
    peer.send(POST_A + b"Content-Length: 900000\r\n\r\nabc")
    assert peer.admission.bytes_in_flight == 3


def test_while_stopping_new_requests_are_refused(peer: Peer) -> None:
    peer.admission.stop()
    peer.send(post())
    assert peer.rule() is Rule.SERVER_STOPPING


# --- what the transport is told ------------------------------------------------------------------


def test_what_is_awaited_is_known_after_every_byte(peer: Peer) -> None:
    seen = [peer.http.awaited]
    for byte in post("/A", b"abc"):
        peer.send(bytes((byte,)))
        seen.append(peer.http.awaited)
    steps = [seen[0], *[after for before, after in pairwise(seen) if before != after]]
    assert steps == [NOTHING, HEAD, BODY, NOTHING]
    assert peer.http.changes == 3


def test_the_state_says_how_it_ends(peer: Peer) -> None:
    peer.held = True
    assert peer.http.state == READING
    peer.send(post("/A", b"", "Connection: close"))
    assert peer.http.state == LAST
    peer.release()
    assert peer.http.state == CLOSING
    refused = Peer()
    refused.send(b"garbage\r\n\r\n")
    assert refused.http.state == LINGERING


def test_what_comes_after_the_end_has_a_bound(peer: Peer) -> None:
    peer.send(b"garbage\r\n\r\n")
    peer.http.receive(bytes(LINGER_BYTES_MAX))
    assert not peer.http.is_flooded()
    peer.http.receive(b"x")
    assert peer.http.is_flooded()


def test_a_deep_pipeline_is_held_up_and_goes_on(peer: Peer) -> None:
    peer.held = True
    peer.admission.requests_max = 10_000
    tiny = b"GET / HTTP/1.1\r\n\r\n"
    count = 4 * 4096 // len(tiny)
    peer.send(tiny * count)
    assert peer.http.is_held_up()
    assert not peer.http.has_room()
    assert peer.admission.requests_in_flight <= PIPELINE_DEPTH_MAX + 4096 // len(tiny) + 1
    peer.held = False
    peer.release()
    assert len(peer.answers) == count
    assert not peer.http.is_held_up()


@pytest.mark.parametrize("half_closed", [False, True])
def test_the_last_answer_says_so_where_nothing_can_follow(
    peer: Peer,
    half_closed: bool,  # noqa: FBT001  # drawn
) -> None:
    """The client sends no more, or the server is stopping."""
    peer.held = True
    peer.send(post("/A", b"1") + post("/B", b"2"))
    if half_closed:
        assert peer.http.end() is True
    else:
        peer.admission.stop()
    peer.release()
    assert b"connection: close" not in peer.sent
    peer.release()
    assert b"connection: close" in peer.sent
    assert peer.http.state == CLOSING


# --- laws ----------------------------------------------------------------------------------------

_STREAM = st.sampled_from(
    [
        post("/A", b"x" * 300, "x-ots-a: 1"),
        post("/B", b"", "Connection: close"),
        post("/C", b"abc", "x-ots-a: 1", "X-Ots-A: 2"),
        post("/D", b"abc", "Expect: 100-continue"),
        post("/E", b"abc", "Expect: miracles"),
        post("/F", b"y" * 9000),
        chunked(b"ab", b"c" * 100, trailer=b"t: u\r\n"),
        b"GET /livez HTTP/1.1\r\n\r\n",
        b"HEAD /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        b"garbage\r\n\r\n",
        POST_A + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST_A + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        POST_A + b"x-ots-a: b\r\n c\r\n\r\n",
        POST_A + b"Content-Length: 99999999\r\n\r\n",
        POST_A,
    ]
)


@given(st.lists(_STREAM | st.binary(max_size=30), max_size=8), st.lists(st.integers(1, 5000)))
def test_however_the_input_is_cut_requests_refusals_and_answers_are_the_same(
    streams: list[bytes], steps: list[int]
) -> None:
    """But for leave to send a body, which is of no use where the body is there already."""
    stream = b"".join(streams)
    whole, cut, bytewise = Peer(), Peer(), Peer()
    whole.send(stream)
    rest = stream
    for step in steps:
        cut.send(rest[:step])
        rest = rest[step:]
    cut.send(rest)
    bytewise.send(stream, piece=1)
    assert _seen(cut) == _seen(whole)
    assert _seen(bytewise) == _seen(whole)


@given(st.lists(_STREAM, max_size=8), st.lists(st.integers(1, 5000)))
def test_answers_that_come_late_are_the_same_bytes(streams: list[bytes], steps: list[int]) -> None:
    """Whether a request is answered at once or when all have come, the client reads the same."""
    stream = b"".join(streams)
    soon, late = Peer(), Peer()
    late.held = True
    soon.send(stream)
    for step in steps:
        late.send(stream[:step])
        stream = stream[step:]
    late.send(stream)
    while late.http.is_busy():
        late.release()
    assert _seen(late) == _seen(soon)


@given(st.lists(_STREAM | st.binary(max_size=30), max_size=8), st.booleans())
def test_nothing_stays_counted(
    streams: list[bytes],
    held: bool,  # noqa: FBT001  # drawn
) -> None:
    peer = Peer()
    peer.held = held
    for stream in streams:
        peer.send(stream)
    running = peer.http.is_busy()
    peer.http.abandon()
    if running:
        peer.release()
    assert (peer.admission.requests_in_flight, peer.admission.bytes_in_flight) == (0, 0)


def _seen(peer: Peer) -> tuple[object, ...]:
    """What a client and the server see of it."""
    told = [
        (each.method, each.target, each.headers, each.body, each.repeated, each.keep_alive)
        for each in peer.requests
    ]
    rules = [getattr(error, "rule", None) for error in peer.refused]
    return told, rules, peer.sent.replace(CONTINUE, b""), peer.http.state, peer.http.awaited
