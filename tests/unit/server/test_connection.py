"""One connection, fed by hand: HTTP/1.1 as clients write it and attackers do (wire §1.1, §1.7)."""

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import Rule
from widerow.limits import (
    BODY_BYTES_MAX,
    BODY_SECONDS_MAX,
    HEADER_SECONDS_MAX,
    HEADERS_BYTES_MAX,
    HEADERS_COUNT_MAX,
    IDLE_SECONDS_MAX,
    JOINED_BYTES_MAX,
    LINGER_BYTES_MAX,
    PIPELINE_DEPTH_MAX,
    TURN_REQUESTS_MAX,
)
from widerow.server import http1 as module

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.server.conftest import Side

    from widerow.server.message import Request

    MakeSide = Callable[[], Side]


def post(path: str = "/GetRow", body: bytes = b"abc", *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: h", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(*chunks: bytes, trailer: bytes = b"") -> bytes:
    head = b"POST /GetRow HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head + body + b"0\r\n" + trailer + b"\r\n"


def bodies(sent: bytes) -> list[bytes]:
    """The bodies of the answers, in order."""
    found = []
    while sent:
        if sent.startswith(b"HTTP/1.1 100"):
            sent = sent.partition(b"\r\n\r\n")[2]
            continue
        head, _, rest = sent.partition(b"\r\n\r\n")
        match = re.search(rb"content-length: (\d+)", head)
        assert match is not None
        found.append(rest[: int(match[1])])
        sent = rest[int(match[1]) :]
    return found


def end(side: "Side") -> str:
    """How the server ended the connection; "" if it did not."""
    return side.wire.closed


def reads(side: "Side") -> bool:
    """Whether the server reads what the client sends."""
    return side.wire.reading


def rule(side: "Side") -> Rule:
    """The rule of the only refusal."""
    (error,) = side.handler.refused
    found = getattr(error, "rule", None)
    assert isinstance(found, Rule)
    return found


# --- ordinary requests -------------------------------------------------------------------------


@pytest.mark.parametrize("piece", [None, 1, 2, 7])
def test_a_request_is_whole_however_it_is_cut(side: "Side", piece: int | None) -> None:
    answer = side.send(post("/GetRow", b"hello", "X-Ots-Date: now "), piece=piece)
    assert answer == (
        b"HTTP/1.1 200 OK\r\ncontent-length: 18\r\ndate: today\r\n\r\nPOST /GetRow hello"
    )
    assert side.handler.requests[0].headers["x-ots-date"] == "now"


def test_an_answer_is_one_write(side: "Side") -> None:
    side.send(post())
    assert side.wire.writes == 1


def test_a_large_answer_is_not_copied_behind_its_head(side: "Side") -> None:
    for size, pieces in ((JOINED_BYTES_MAX - 100, 1), (JOINED_BYTES_MAX, 2)):
        head, _, answered = side.send(post("/", bytes(size))).partition(b"\r\n\r\n")
        assert answered == b"POST / " + bytes(size)
        assert b"content-length: %d\r\n" % len(answered) in head
        assert side.wire.pieces[-1] == pieces


@pytest.mark.parametrize("piece", [None, 1, 3])
def test_chunked_bodies_are_joined_and_trailers_dropped(side: "Side", piece: int | None) -> None:
    trailer = b"x-ots-late: 1\r\n"
    sent = chunked(b"ab", b"cde", trailer=trailer) + post("/ListTable", b"")
    assert bodies(side.send(sent, piece=piece)) == [b"POST /GetRow abcde", b"POST /ListTable "]
    assert all("x-ots-late" not in each.headers for each in side.handler.requests)


def test_a_body_is_the_same_bytes_in_any_number_of_pieces(side: "Side") -> None:
    body = bytes(range(256)) * 100
    side.send(post("/PutRow", body), piece=1000)
    assert side.handler.requests[0].body == body
    assert isinstance(side.handler.requests[0].body, bytes)


@given(st.lists(st.sampled_from([1, 2, 100, 4095, 4096, 4097, 20_000]), min_size=1, max_size=40))
def test_a_body_is_joined_of_large_and_small_pieces_and_none_costs_more_than_its_bytes(
    make_side: "Callable[[], Side]", sizes: list[int]
) -> None:
    side = make_side()
    pieces = [bytes((number % 251,)) * size for number, size in enumerate(sizes)]
    sent = chunked(*pieces)
    side.connection.data_received(sent[:-5])  # all but the end
    held = side.connection._http._pieces
    assert len(held) <= 2 * sum(sizes) // 4096 + 1
    side.connection.data_received(sent[-5:])
    (request,) = side.handler.requests
    assert request.body == b"".join(pieces)
    assert (side.connection._http._pieces, side.connection._http._body_bytes) == ([], 0)


def test_a_large_first_request_may_come_in_one_piece(side: "Side") -> None:
    side.send(post("/PutRow", b"x" * 100_000))
    assert len(side.handler.requests[0].body) == 100_000


def test_many_requests_follow_each_other_on_one_connection(side: "Side") -> None:
    for number in range(5):
        assert bodies(side.send(post("/A", b"%d" % number))) == [b"POST /A %d" % number]
    assert not end(side)


@pytest.mark.parametrize(
    ("request_line", "header", "answered", "ended"),
    [
        ("POST /A HTTP/1.1", "Connection: close", b"connection: close", "closed"),
        ("POST /A HTTP/1.1", "Connection: keep-alive", b"connection: keep-alive", ""),
        ("POST /A HTTP/1.0", "X: y", b"connection: close", "closed"),
        ("POST /A HTTP/1.0", "Connection: keep-alive", b"connection: keep-alive", ""),
    ],
)
def test_the_client_says_whether_the_connection_stays(
    side: "Side", request_line: str, header: str, answered: bytes, ended: str
) -> None:
    answer = side.send(f"{request_line}\r\n{header}\r\nContent-Length: 0\r\n\r\n".encode())
    assert answered in answer
    assert end(side) == ended


def test_bytes_behind_a_closing_request_are_ignored(side: "Side") -> None:
    answer = side.send(post("/A", b"", "Connection: close") + b"anything\x00")
    assert bodies(answer) == [b"POST /A "]
    assert side.handler.refused == []


def test_head_is_answered_without_the_body(side: "Side") -> None:
    answer = side.send(b"HEAD /livez HTTP/1.1\r\nHost: h\r\n\r\n")
    assert b"content-length: 12\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_header_values_are_utf8_or_latin1(side: "Side") -> None:
    side.send(post("/A", b"", "x-ots-a: grün"))
    side.send(post("/A", b"").replace(b"Host: h", b"x-ots-a: gr\xfcn"))
    assert [each.headers["x-ots-a"] for each in side.handler.requests] == ["grün", "grün"]


def test_a_header_without_a_value_does_not_swallow_the_next(side: "Side") -> None:
    side.send(post("/A", b"", "x-ots-a:", "x-ots-b: 2"))
    headers = side.handler.requests[0].headers
    assert (headers["x-ots-a"], headers["x-ots-b"]) == ("", "2")


def test_a_repeated_signed_header_is_reported(side: "Side") -> None:
    side.send(post("/A", b"", "x-ots-a: 1", "X-OTS-A: 2") + post("/A", b"", "x-ots-a: 1"))
    assert [each.repeated for each in side.handler.requests] == ["x-ots-a", ""]


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
    make_side: "MakeSide", sent: list[tuple[list[str], bool]]
) -> None:
    """Names are compared with those of the request before: it is understood as by a new one."""
    side = make_side()
    for number, (names, in_chunks) in enumerate(sent):
        lines = [f"{name}: {number}-{at}" for at, name in enumerate(names)]
        head = "\r\n".join(["POST /A HTTP/1.1", *lines, ""]).encode()
        tail = b"content-length: 0\r\n\r\n"
        if in_chunks:
            tail = b"transfer-encoding: chunked\r\n\r\n0\r\nx-ots-a: late\r\n\r\n"
        fresh = make_side()
        side.send(head + tail)
        fresh.send(head + tail)
        mine, theirs = side.handler.requests[-1], fresh.handler.requests[-1]
        assert mine.headers == theirs.headers
        assert mine.repeated == theirs.repeated
        assert mine.names == theirs.names == tuple(mine.headers)


def test_what_is_kept_of_strangers_names_is_bounded(side: "Side") -> None:
    kept = module._SHARED_NAMES
    for number in range(module._SHARED_NAMES_MAX + 9):
        side.send(post("/A", b"", f"x-ots-{number}: 1"))
        assert len(kept) <= module._SHARED_NAMES_MAX
        assert side.handler.requests[-1].names in kept
    side.send(post("/A", b"", f"x-ots-{'n' * module._SHARED_NAMES_CHARS_MAX}: 1"))
    assert side.handler.requests[-1].names not in kept


def test_a_request_that_let_its_body_go_gives_its_room_back(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"x" * 1000, "Connection: keep-alive"))
    side.handler.requests[0].let_go()
    assert (side.handler.requests[0].body, side.handler.requests[0].headers) == (b"", {})
    assert side.admission.bytes_in_flight == 1000
    side.handler.release()
    assert side.admission.bytes_in_flight == 0
    assert b"connection: keep-alive\r\n" in side.wire.sent


def test_headers_nobody_reads_are_not_kept(side: "Side") -> None:
    side.send(post("/A", b"", "User-Agent: sdk", "Accept: */*"))
    assert set(side.handler.requests[0].headers) == {"content-length"}


@given(st.lists(st.integers(1, 400), max_size=40))
def test_answers_do_not_depend_on_how_the_bytes_are_cut(
    make_side: "MakeSide", steps: list[int]
) -> None:
    stream = b"".join(
        (
            post("/A", b"x" * 300, "x-ots-a: 1"),
            chunked(b"ab", b"c" * 100, trailer=b"t: u\r\n"),
            b"GET /livez HTTP/1.1\r\n\r\n",
            post("/B", b"", "Connection: close"),
        )
    )
    whole, cut = make_side(), make_side()
    whole.send(stream)
    for step in steps:
        cut.send(stream[:step])
        stream = stream[step:]
    cut.send(stream)
    assert cut.wire.sent == whole.wire.sent
    assert _told(cut.handler.requests) == _told(whole.handler.requests)


def _told(requests: "list[Request]") -> list[tuple[object, ...]]:
    """All of them but the time."""
    return [
        (each.method, each.target, each.headers, each.body, each.repeated, each.keep_alive)
        for each in requests
    ]


_PIECES = st.sampled_from(
    [
        b"POST /A HTTP/1.1\r\n",
        b"GET / HTTP/1.0\r\n",
        b"Content-Length: 5\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Connection: close\r\n",
        b"x-ots-date: 1\r\n",
        b"\r\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"hello",
    ]
)


@given(st.lists(_PIECES | st.binary(max_size=30), max_size=40), st.booleans())
def test_whatever_comes_nothing_raises_and_nothing_stays_counted(
    make_side: "MakeSide",
    pieces: list[bytes],
    held: bool,  # noqa: FBT001  # drawn
) -> None:
    side = make_side()
    side.handler.held = held
    for piece in pieces:
        side.send(piece)
        if side.handler.replies:
            side.handler.release()
    if side.handler.refused:
        assert b"connection: close" in side.wire.sent or side.handler.replies
    side.connection.connection_lost(None)
    while side.handler.replies:
        side.handler.release()
    assert (side.admission.requests_in_flight, side.admission.bytes_in_flight) == (0, 0)


# --- expect, pipelining, back-pressure ---------------------------------------------------------


def test_a_client_that_asks_is_told_to_go_on(side: "Side") -> None:
    head, _, body = post("/A", b"abc", "Expect: 100-continue").partition(b"\r\n\r\n")
    assert side.send(head + b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert bodies(side.send(body)) == [b"POST /A abc"]


def test_go_on_waits_for_the_answers_before_it(side: "Side") -> None:
    side.handler.held = True
    head = post("/B", b"abc", "Expect: 100-continue")[:-3]
    assert side.send(post("/A", b"1") + head) == b""
    side.handler.release()
    assert side.wire.sent.endswith(b"HTTP/1.1 100 Continue\r\n\r\n")
    side.send(b"abc")
    side.handler.release()
    assert bodies(side.wire.sent) == [b"POST /A 1", b"POST /B abc"]


def test_other_expectations_are_refused(side: "Side") -> None:
    side.send(post("/A", b"abc", "Expect: miracles"))
    assert rule(side) is Rule.HTTP_MALFORMED


def test_pipelined_requests_take_effect_in_order(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"1") + post("/B", b"2") + post("/C", b"3"))
    for running in ("/A", "/B", "/C"):
        assert side.handler.requests[-1].target == running.encode()
        side.handler.release()
    assert bodies(side.wire.sent) == [b"POST /A 1", b"POST /B 2", b"POST /C 3"]


def test_a_deep_pipeline_is_read_no_further(side: "Side") -> None:
    side.handler.held = True
    side.admission.requests_max = 10_000
    tiny = b"GET / HTTP/1.1\r\n\r\n"
    count = 4 * 4096 // len(tiny)
    side.send(tiny * count)
    assert not reads(side)
    # What one slice holds may come on top of the bound, and no more.
    assert side.admission.requests_in_flight <= PIPELINE_DEPTH_MAX + 4096 // len(tiny) + 1
    side.handler.held = False
    side.handler.release()
    while side.connection._http._unread or side.connection._http._waiting:
        side.turn()
    assert len(bodies(side.wire.sent)) == count
    assert reads(side)


def test_a_slow_reader_is_asked_nothing_more(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"1") + post("/B", b"2"))
    side.connection.pause_writing()
    assert not reads(side)
    side.handler.release()
    assert len(side.handler.requests) == 1
    side.connection.resume_writing()
    assert len(side.handler.requests) == 2
    assert reads(side)
    side.handler.release()


def test_a_reader_that_never_reads_is_cut_off(side: "Side") -> None:
    side.connection.pause_writing()
    assert side.connection.deadline == BODY_SECONDS_MAX
    side.connection.expire()
    assert end(side) == "aborted"


# --- ends --------------------------------------------------------------------------------------


def test_a_half_closed_client_still_gets_its_answers(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"1") + post("/B", b"2"))
    assert side.connection.eof_received() is True
    side.handler.release()
    assert not end(side)
    side.handler.release()
    assert end(side) == "closed"
    assert bodies(side.wire.sent) == [b"POST /A 1", b"POST /B 2"]


def test_a_client_that_leaves_in_the_middle_is_let_go(side: "Side") -> None:
    side.send(post("/A", b"abc")[:-1])
    assert side.connection.eof_received() is False


def test_an_answer_for_a_client_that_left_is_dropped(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"123") + post("/B", b"45") + post("/C", b"678")[:-1])
    assert (side.admission.requests_in_flight, side.admission.bytes_in_flight) == (3, 7)
    side.connection.connection_lost(None)
    assert (side.admission.requests_in_flight, side.admission.bytes_in_flight) == (1, 3)
    side.handler.release()
    assert (side.admission.requests_in_flight, side.admission.bytes_in_flight) == (0, 0)
    assert side.wire.sent == b""


def test_idle_connections_are_closed_in_silence(side: "Side") -> None:
    side.shared.now = 1.0
    side.send(post())
    assert side.connection.deadline == 1.0 + IDLE_SECONDS_MAX
    before = side.wire.sent
    side.connection.expire()
    assert (end(side), side.wire.sent) == ("closed", before)


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [(b"POST /A HTT", HEADER_SECONDS_MAX), (post("/A", b"abc")[:-1], BODY_SECONDS_MAX)],
)
def test_slow_requests_are_told_so(side: "Side", sent: bytes, seconds: int) -> None:
    side.shared.now = 5.0
    side.send(sent)
    assert side.connection.deadline == 5.0 + seconds
    side.connection.expire()
    assert rule(side) is Rule.BODY_TIMEOUT
    assert b"connection: close" in side.wire.sent
    assert side.wire.half_closed


def test_a_running_request_has_no_deadline(side: "Side") -> None:
    side.handler.held = True
    side.send(post())
    assert side.connection.deadline == float("inf")
    side.handler.release()


def test_while_stopping_a_connection_ends_with_its_last_answer(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"1") + post("/B", b"2"))
    side.admission.stopping = True
    side.connection.close_if_idle()
    assert not end(side)
    side.handler.release()
    side.handler.release()
    assert end(side) == "closed"
    assert side.wire.sent.count(b"connection: close") == 1


def test_while_stopping_idle_connections_end_at_once(side: "Side") -> None:
    side.connection.close_if_idle()
    assert end(side) == "closed"


# --- refusals ----------------------------------------------------------------------------------

HEAD = b"POST /A HTTP/1.1\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"BREW /A HTTP/1.1\r\n\r\n",
        b"POST /A\r\n\r\n",
        b"POST /A HTTP/0.9\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
        b"POST /A HTTP/2.0\r\nContent-Length: 0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /\x00 HTTP/1.1\r\n\r\n",
        b"POST /\xff HTTP/1.1\r\n\r\n",
        b"POST /A HTTP/1.1\nContent-Length: 0\n\n",
        HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        HEAD + b"Content-Length: 3, 3\r\n\r\nabc",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: +3\r\n\r\nabc",
        HEAD + b"Content-Length: 0x3\r\n\r\nabc",
        HEAD + b"Content-Length: 99999999999999999999\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n",
        HEAD + b"x-ots-a : b\r\n\r\n",
        HEAD + b"x-ots-a: b\r\n c\r\n\r\n",
        HEAD + b"x-ots-a: b\x00c\r\n\r\n",
        HEAD + b"x-ots-a\x00: b\r\n\r\n",
        HEAD + b": b\r\n\r\n",
        HEAD + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n",
        b"CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n",
    ],
)
@pytest.mark.parametrize("piece", [None, 1])
def test_malformed_requests_are_refused_and_nothing_behind_them_runs(
    side: "Side", sent: bytes, piece: int | None
) -> None:
    smuggled = post("/Smuggled", b"")
    answer = side.send(post("/Before", b"") + sent + smuggled, piece=piece)
    assert rule(side) is Rule.HTTP_MALFORMED
    assert [each.target for each in side.handler.requests] == [b"/Before"]
    assert len(bodies(answer)) == 2
    assert answer.count(b"connection: close") == 1
    assert side.wire.half_closed


def test_a_refusal_comes_after_the_answers_before_it(side: "Side") -> None:
    side.handler.held = True
    assert side.send(post("/A", b"1") + b"garbage\r\n\r\n") == b""
    side.handler.release()
    assert bodies(side.wire.sent)[0] == b"POST /A 1"
    assert b"x-kind: refusal" in side.wire.sent


def test_a_body_announced_too_long_is_refused_before_it_comes(side: "Side") -> None:
    side.send(HEAD + b"Content-Length: %d\r\n\r\n" % (BODY_BYTES_MAX + 1))
    assert rule(side) is Rule.BODY_TOO_LARGE
    assert side.admission.bytes_in_flight == 0


def test_a_body_of_just_the_bound_is_taken(side: "Side") -> None:
    side.admission.bytes_max = BODY_BYTES_MAX
    side.send(post("/A", b"x" * BODY_BYTES_MAX), piece=65536)
    assert len(side.handler.requests[0].body) == BODY_BYTES_MAX


def test_a_chunked_body_is_refused_as_it_grows_too_long(side: "Side") -> None:
    side.admission.bytes_max = 2 * BODY_BYTES_MAX
    half = b"x" * (BODY_BYTES_MAX // 2 + 1)
    side.send(chunked(half, half), piece=65536)
    assert rule(side) is Rule.BODY_TOO_LARGE
    assert side.handler.requests == []


def test_too_many_headers_are_refused(side: "Side") -> None:
    names = [f"a{number}: 1" for number in range(HEADERS_COUNT_MAX + 1)]
    side.send(post("/A", b"", *names))
    assert rule(side) is Rule.HTTP_HEADERS_TOO_LARGE


@pytest.mark.parametrize(
    "endless",
    [
        HEAD + b"x-ots-a: ",
        HEAD + b"x",
        b"POST /",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx-t: ",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n3;",
    ],
)
def test_endless_lines_are_refused_at_the_bound(side: "Side", endless: bytes) -> None:
    side.send(endless)
    fed = 0
    while not side.handler.refused:
        side.send(b"y" * 1000)
        fed += 1000
        assert fed < HEADERS_BYTES_MAX + 10_000
    assert rule(side) is Rule.HTTP_HEADERS_TOO_LARGE


def test_headers_of_just_below_the_bound_are_taken(side: "Side") -> None:
    side.send(post("/A", b"", "x-ots-a: " + "y" * (HEADERS_BYTES_MAX - 500)), piece=1000)
    assert len(side.handler.requests) == 1


def test_what_follows_a_refusal_is_thrown_away_up_to_a_bound(side: "Side") -> None:
    side.send(b"garbage\r\n\r\n")
    block = b"x" * (1 << 20)
    for _ in range(LINGER_BYTES_MAX >> 20):
        side.send(block)
        assert not end(side)
    side.send(b"x")
    assert end(side) == "aborted"


def test_a_lingering_connection_is_cut_off_in_the_end(side: "Side") -> None:
    side.send(b"garbage\r\n\r\n")
    side.connection.expire()
    assert end(side) == "aborted"


# --- room --------------------------------------------------------------------------------------


def test_a_connection_too_many_is_told_so(side: "Side") -> None:
    side.connect()
    wire, _ = side.connect()
    assert rule(side) is Rule.SERVER_BUSY
    assert b"x-kind: refusal" in wire.sent
    assert wire.half_closed


def test_a_flood_of_connections_is_not_even_told(side: "Side") -> None:
    wires = [side.connect()[0] for _ in range(300)]
    assert wires[-1].sent == b""
    assert wires[-1].closed == "aborted"


def test_a_request_too_many_is_refused_and_gives_nothing_back_twice(side: "Side") -> None:
    side.admission.requests_max = 1
    side.handler.held = True
    side.send(post("/A", b"1") + post("/B", b"2"))
    side.handler.release()
    assert rule(side) is Rule.SERVER_BUSY
    assert side.admission.requests_in_flight == 0


def test_bodies_beyond_the_bytes_in_hand_are_refused(side: "Side") -> None:
    side.admission.bytes_max = 1000
    side.send(post("/A", b"x" * 1001), piece=100)
    assert rule(side) is Rule.SERVER_BUSY
    assert (side.admission.requests_in_flight, side.admission.bytes_in_flight) == (0, 0)


def test_bytes_are_counted_as_they_come_not_as_they_are_announced(side: "Side") -> None:
    side.send(HEAD + b"Content-Length: 900000\r\n\r\nabc")
    assert side.admission.bytes_in_flight == 3


def test_while_stopping_new_requests_are_refused(side: "Side") -> None:
    side.admission.stopping = True
    side.send(post())
    assert rule(side) is Rule.SERVER_STOPPING


# --- what slow readers leave unsent --------------------------------------------------------------


def test_unsent_answers_are_counted_until_they_are_sent(side: "Side") -> None:
    side.wire.unsent = 70_000
    side.connection.pause_writing()
    assert side.admission.unsent_bytes == 70_000
    assert not side.wire.closed
    side.connection.resume_writing()
    assert side.admission.unsent_bytes == 0


@pytest.mark.parametrize("end", ["abort", "connection_lost"])
def test_unsent_answers_are_forgotten_with_their_connection(side: "Side", end: str) -> None:
    side.wire.unsent = 70_000
    side.connection.pause_writing()
    if end == "abort":
        side.connection.abort()
    else:
        side.connection.connection_lost(None)
        side.wire, side.connection = side.connect()
    assert side.admission.unsent_bytes == 0


def test_too_much_unsent_calls_for_relief(side: "Side") -> None:
    """Whoever has read nothing for longest is cut off, and nobody else."""
    side.admission.unsent_max = 100_000
    wire, other = side.connect()
    for each, connection in ((side.wire, side.connection), (wire, other)):
        assert not side.wire.closed
        each.unsent = 60_000
        connection.pause_writing()
        side.shared.now += 1
    assert (side.wire.closed, wire.closed) == ("aborted", "")
    assert side.admission.unsent_bytes == 60_000
    assert side.admission.refused == 1


def test_requests_that_come_in_small_pieces_do_not_wait_without_end(side: "Side") -> None:
    side.handler.held = True
    side.admission.requests_max = 10_000
    request = b"POST /a HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
    for _ in range(10 * PIPELINE_DEPTH_MAX):
        side.send(request)
        if not side.wire.reading:
            break
    assert not side.wire.reading
    assert side.admission.requests_in_flight <= PIPELINE_DEPTH_MAX + 1


def test_who_waits_behind_others_of_his_own_takes_half_the_room(side: "Side") -> None:
    side.handler.held = True
    request = b"POST /a HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
    side.send(request)
    side.send(request * 60)  # in one piece: more than half of a hundred
    assert side.admission.requests_in_flight == side.admission.requests_max // 2
    assert [str(error).split()[0] for error in side.handler.refused] == ["server_busy"]
    wire, connection = side.connect()
    side.handler.held = False
    connection.data_received(request)
    assert wire.sent.startswith(b"HTTP/1.1 200")
    side.connection.connection_lost(None)
    side.handler.release()
    side.wire, side.connection = side.connect()


def test_a_pipeline_takes_turns_with_others(side: "Side") -> None:
    wire, other = side.connect()
    request = b"POST /a HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
    side.send(request * 30)
    assert len(bodies(side.wire.sent)) == TURN_REQUESTS_MAX
    other.data_received(request)
    assert wire.sent.startswith(b"HTTP/1.1 200")
    side.turn()
    assert len(bodies(side.wire.sent)) == 2 * TURN_REQUESTS_MAX
    while side.connection._http._waiting:
        side.turn()
    assert len(bodies(side.wire.sent)) == 30
