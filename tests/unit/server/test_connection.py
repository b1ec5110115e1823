"""One connection, fed by hand: turns, pauses, deadlines, and how it ends (wire §1.1, §1.7).

What bytes mean is tested without a connection, in `test_http1.py`."""

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.errors import AnyRule, Rule
from widerow.limits import (
    BODY_SECONDS_MAX,
    EXCESS_SECONDS_MAX,
    HEADER_SECONDS_MAX,
    IDLE_SECONDS_MAX,
    JOINED_BYTES_MAX,
    LINGER_BYTES_MAX,
    PIPELINE_DEPTH_MAX,
    REFUSALS_MAX,
    STRANGER_SECONDS,
    TURN_REQUESTS_MAX,
    WRITTEN_BYTES_MAX,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.server.conftest import Side
    from tests.unit.server.conftest import Wire as Transport

    MakeSide = Callable[[], Side]


def post(path: str = "/GetRow", body: bytes = b"abc", *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: h", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


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


def rule(side: "Side") -> AnyRule:
    """The rule of the only refusal."""
    (error,) = side.handler.refused
    found = getattr(error, "rule", None)
    assert isinstance(found, AnyRule)
    return found


# --- ordinary requests -------------------------------------------------------------------------


def test_an_answer_is_one_write(side: "Side") -> None:
    side.send(post())
    assert side.wire.writes == 1


def test_a_large_answer_is_not_copied_behind_its_head(side: "Side") -> None:
    for size, pieces in ((JOINED_BYTES_MAX - 100, 1), (JOINED_BYTES_MAX, 2)):
        head, _, answered = side.send(post("/", bytes(size))).partition(b"\r\n\r\n")
        assert answered == b"POST / " + bytes(size)
        assert b"content-length: %d\r\n" % len(answered) in head
        assert side.wire.pieces[-1] == pieces


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


def test_a_request_that_let_its_body_go_gives_its_room_back(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"x" * 1000, "Connection: keep-alive"))
    side.handler.requests[0].let_go()
    assert (side.handler.requests[0].body, side.handler.requests[0].headers) == (b"", {})
    assert side.admission.bytes_in_flight == 1000
    side.handler.release()
    assert side.admission.bytes_in_flight == 0
    assert b"connection: keep-alive\r\n" in side.wire.sent


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


def test_a_request_knows_whether_its_client_is_there(side: "Side") -> None:
    side.handler.held = True
    side.send(post("/A", b"1") + post("/B", b"2"))
    (first,) = side.handler.requests
    assert (first.half_closed, first.gone) == (False, False)
    side.connection.eof_received()
    assert (first.half_closed, first.gone) == (True, False)
    side.handler.release()
    _, second = side.handler.requests
    assert (second.half_closed, second.gone) == (True, False)
    side.connection.connection_lost(None)
    assert second.gone


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


def test_who_says_nothing_has_the_time_of_a_head(side: "Side") -> None:
    assert side.connection.deadline == side.shared.now + HEADER_SECONDS_MAX
    side.connection.expire()
    assert (end(side), side.wire.sent) == ("closed", b"")


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
    side.admission.stop()
    side.connection.close_if_idle()
    assert not end(side)
    side.handler.release()
    side.handler.release()
    assert end(side) == "closed"
    assert side.wire.sent.count(b"connection: close") == 1


def test_while_parting_a_new_connection_is_answered_once(side: "Side") -> None:
    """One of several processes is replaced: its clients are told to connect again, to another."""
    side.admission.parting = True
    side.send(post("/A", b"1"))
    assert b"connection: close" in side.wire.sent
    assert b" 200 " in side.wire.sent
    assert end(side) == "closed"


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


def crowd(side: "Side", *sent: bytes) -> "list[Transport]":
    """As many connections as are served, each of which has sent one of these."""
    wires = [side.wire]
    side.send(sent[0])
    for data in sent[1:]:
        wire, connection = side.connect()
        connection.data_received(data)
        wires.append(wire)
    side.shared.now += STRANGER_SECONDS
    return wires


GET = b"GET /livez HTTP/1.1\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST /A HT", HEAD, post("/A", b"abc")[:-1], GET])
def test_who_has_shown_no_key_makes_room_for_others(side: "Side", sent: bytes) -> None:
    first, second = crowd(side, sent, sent)
    wire, connection = side.connect()
    connection.data_received(post())
    assert [each.closed for each in (first, second, wire)] == ["aborted", "", ""]
    assert wire.sent.startswith(b"HTTP/1.1 200 ")
    assert (side.admission.connections, side.admission.refused) == (2, 1)


def test_who_has_shown_a_key_or_waits_for_an_answer_stays(side: "Side") -> None:
    first, second = crowd(side, post(), post())
    side.handler.held = True
    side.connection.data_received(post())
    wire, connection = side.connect()
    connection.data_received(post("/A", b"abc")[:5])
    assert [each.closed for each in (first, second)] == ["", ""]
    assert rule(side) is Rule.SERVER_BUSY
    assert b"x-kind: refusal" in wire.sent
    assert wire.half_closed


def test_above_the_bound_one_page_is_answered(side: "Side") -> None:
    """A server that is busy has to answer those who ask whether it is alive."""
    crowd(side, post(), post())
    wire, connection = side.connect()
    for piece in (GET[:2], GET[2:] + post("/A")):
        connection.data_received(piece)
    assert wire.sent.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in wire.sent
    assert [each.target for each in side.handler.requests] == [b"/GetRow", b"/GetRow", b"/livez"]
    assert side.handler.refused == []


def test_above_the_bound_silence_is_refused_in_a_moment(side: "Side") -> None:
    crowd(side, post(), post())
    wire, connection = side.connect()
    assert connection.deadline == side.shared.now + EXCESS_SECONDS_MAX
    connection.expire()
    assert rule(side) is Rule.SERVER_BUSY
    assert b"x-kind: refusal" in wire.sent


def test_a_flood_of_connections_is_bounded_and_the_last_is_heard(side: "Side") -> None:
    wires = [side.wire, *[side.connect()[0] for _ in range(2000)]]
    left = [wire for wire in wires if wire.closed != "aborted"]
    assert len(left) == side.admission.connections == 2 + REFUSALS_MAX
    assert left[-1] is wires[-1]


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


# --- long answers are written in parts -----------------------------------------------------------

LONG = b"x" * (3 * WRITTEN_BYTES_MAX + 1)  # four parts


SHORT = post("/b", b"")


def long_request(*headers: str) -> bytes:
    return post("/a", LONG, *headers)


@pytest.fixture
def roomy(side: "Side") -> "Side":
    side.admission.bytes_max = 100 * len(LONG)
    return side


def test_a_long_answer_leaves_turns_to_others(roomy: "Side") -> None:
    """One call of the system would copy all of it, while the loop waits."""
    wire, other = roomy.connect()
    assert len(roomy.send(long_request())) < WRITTEN_BYTES_MAX
    for part in range(1, 4):
        other.data_received(SHORT)
        assert len(bodies(wire.sent)) == part
        roomy.turn()
        assert part * WRITTEN_BYTES_MAX < len(roomy.wire.sent) < (part + 1) * WRITTEN_BYTES_MAX
    roomy.turn()
    assert bodies(roomy.wire.sent) == [b"POST /a " + LONG]


def test_a_request_behind_a_long_answer_waits_for_it(roomy: "Side") -> None:
    roomy.send(long_request() + SHORT)
    assert [each.target for each in roomy.handler.requests] == [b"/a"]
    for _ in range(4):
        roomy.turn()
    assert bodies(roomy.wire.sent) == [b"POST /a " + LONG, b"POST /b "]


def test_a_slow_reader_of_a_long_answer_is_not_written_to(roomy: "Side") -> None:
    roomy.send(long_request())
    roomy.turn()
    before = len(roomy.wire.sent)
    roomy.wire.unsent = 70_000
    roomy.connection.pause_writing()
    assert roomy.admission.unsent_bytes == 70_000 + 2 * WRITTEN_BYTES_MAX + len("POST /a ") + 1
    for _ in range(3):
        roomy.turn()
    assert len(roomy.wire.sent) == before
    roomy.connection.resume_writing()
    assert roomy.admission.unsent_bytes == 0
    for _ in range(4):
        roomy.turn()
    assert bodies(roomy.wire.sent) == [b"POST /a " + LONG]


def test_who_does_not_read_a_long_answer_in_time_is_cut_off(roomy: "Side") -> None:
    """The time runs from its beginning: parts that are read do not begin it anew."""
    roomy.send(long_request())
    deadline = roomy.connection.deadline
    roomy.shared.now += 1
    roomy.turn()
    roomy.connection.pause_writing()
    roomy.connection.resume_writing()
    assert roomy.connection.deadline == deadline
    roomy.connection.expire()
    assert roomy.wire.closed == "aborted"


@pytest.mark.parametrize("end", ["asked", "eof", "stopping"])
def test_a_connection_ends_behind_its_long_answer(roomy: "Side", end: str) -> None:
    roomy.send(long_request(*(("Connection: close",) if end == "asked" else ())))
    if end == "eof":
        assert roomy.connection.eof_received()
    elif end == "stopping":
        roomy.admission.stop()
        roomy.connection.close_if_idle()
    assert not roomy.connection.is_flushed()
    for _ in range(3):
        roomy.turn()
        assert not roomy.wire.closed
    roomy.turn()
    assert bodies(roomy.wire.sent) == [b"POST /a " + LONG]
    assert roomy.wire.closed == "closed"
    assert roomy.connection.is_flushed()


def test_nothing_is_written_to_a_connection_that_is_gone(roomy: "Side") -> None:
    roomy.send(long_request())
    before = roomy.wire.sent
    roomy.connection.connection_lost(None)
    roomy.turn()
    assert roomy.wire.sent == before


@given(st.lists(st.sampled_from(["turn", "pause", "resume", "long", "short"]), max_size=25))
@settings(deadline=None, max_examples=examples(40))
def test_answers_are_whole_and_in_order_whatever_happens(
    make_side: "MakeSide", events: list[str]
) -> None:
    side = make_side()
    side.admission.bytes_max = 100 * len(LONG)
    paused = False
    expected: list[bytes] = []
    for event in events:
        if event == "turn":
            side.turn()
        elif event == "pause" and not paused:
            side.connection.pause_writing()
            paused = True
        elif event == "resume" and paused:
            side.connection.resume_writing()
            paused = False
        elif event in ("long", "short"):
            side.send(long_request() if event == "long" else SHORT)
            expected.append(b"POST /a " + LONG if event == "long" else b"POST /b ")
    if paused:
        side.connection.resume_writing()
    for _ in range(6 * len(events)):
        side.turn()
    assert bodies(side.wire.sent) == expected
    side.connection.connection_lost(None)


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
