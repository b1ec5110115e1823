"""Connections of the client of Oracle NoSQL's protocol: repeats, doubts, and who answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from widerow.client import nosql_connection
from widerow.client.failures import OutcomeUnclear, Refused, RequestFailed, Unreachable
from widerow.client.nosql_connection import NosqlAsked, NosqlConnection, bearer_of
from widerow.wire.nosql.nson import encode
from widerow.wire.nosql.requests import GET_CODE, answer_of

PUT_CODE = 3
FINE = encode({"e": 0})
BUSY = encode({"e": 102, "x": "later"})


class Script:
    """A server that gives answers in their order; None: it closes without one."""

    def __init__(self) -> None:
        self.answers: list[bytes | int | None] = []
        self.asked: list[tuple[str, bytes]] = []
        self.url = ""


@contextmanager
def serving() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            script.asked.append((self.headers["authorization"], body))
            answer = script.answers.pop(0)
            if answer is None:
                self.close_connection = True
                return
            status, sent = (answer, b"no") if isinstance(answer, int) else (200, answer)
            self.send_response(status)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def script() -> Iterator[Script]:
    with serving() as found:
        yield found


@pytest.fixture
def connection(script: Script, monkeypatch: pytest.MonkeyPatch) -> Iterator[NosqlConnection]:
    monkeypatch.setattr(nosql_connection, "_IDLE_SECONDS_MAX", 3600.0)  # however slow the machine
    with NosqlConnection(script.url, bearer_of("ada", "secret")) as made:
        yield made


def test_a_request_has_its_frame_and_who_asks(script: Script, connection: NosqlConnection) -> None:
    script.answers = [FINE]
    assert connection.ask(GET_CODE, {"k": {"a": 1}}, "t") == {"e": 0}
    ((authorization, body),) = script.asked
    assert authorization == "Bearer ada:secret"
    assert body[:2] == b"\x00\x04"
    asked = answer_of(body[2:])
    assert asked["h"] == {"v": 4, "n": "t", "o": GET_CODE, "t": 60_000}
    assert asked["p"] == {"k": {"a": 1}}


def test_a_read_is_sent_again_over_a_new_connection(
    script: Script, connection: NosqlConnection
) -> None:
    script.answers = [FINE, None, FINE]
    connection.ask(GET_CODE, {}, reads=True)
    connection.ask(GET_CODE, {}, reads=True)
    assert len(script.asked) == 3


def test_a_read_that_a_new_connection_does_not_answer_ends(
    script: Script, connection: NosqlConnection
) -> None:
    script.answers = [None]
    with pytest.raises(Unreachable):
        connection.ask(GET_CODE, {}, reads=True)


def test_a_write_is_never_sent_twice(script: Script, connection: NosqlConnection) -> None:
    script.answers = [FINE, None, FINE]
    connection.ask(PUT_CODE, {})
    with pytest.raises(OutcomeUnclear, match="not known"):
        connection.ask(PUT_CODE, {})
    assert len(script.asked) == 2
    connection.ask(PUT_CODE, {})  # the next one has a connection of its own


def test_a_busy_server_is_asked_again(script: Script, connection: NosqlConnection) -> None:
    script.answers = [BUSY, BUSY, FINE]
    assert connection.ask(PUT_CODE, {}) == {"e": 0}


def test_a_server_that_stays_busy_ends_the_request(
    script: Script, connection: NosqlConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nosql_connection, "_PATIENCE_SECONDS", 0.0)
    script.answers = [BUSY]
    with pytest.raises(Refused) as caught:
        connection.ask(PUT_CODE, {})
    assert (caught.value.code, caught.value.message) == ("102", "later")


@pytest.mark.parametrize("answer", [404, b"\x06\x00\x00", b"", b"\x18"])
def test_what_is_no_answer_is_told(
    script: Script, connection: NosqlConnection, answer: bytes | int
) -> None:
    script.answers = [answer]
    with pytest.raises(RequestFailed, match="answers with the status"):
        connection.ask(GET_CODE, {}, reads=True)


def test_requests_that_are_sent_together_are_answered_each(
    script: Script, connection: NosqlConnection
) -> None:
    script.answers = [FINE, FINE, BUSY, FINE]
    asked = [NosqlAsked(PUT_CODE, {"n": n}, "t") for n in range(3)]
    assert connection.ask_together(asked) == [{"e": 0}] * 3
    sent = [answer_of(body[2:])["p"]["n"] for _, body in script.asked]
    assert sorted(set(sent)) == [0, 1, 2]
    assert len(sent) == 4  # the busy one came again


def test_an_error_stands_in_place_of_its_answer(
    script: Script, connection: NosqlConnection
) -> None:
    script.answers = [encode({"e": 4, "x": "no"}), None, 500]
    found = [connection.ask_together([NosqlAsked(PUT_CODE, {})])[0] for _ in range(3)]
    assert [type(each) for each in found] == [Refused, OutcomeUnclear, RequestFailed]
    assert len(script.asked) == 3
    with NosqlConnection("http://127.0.0.1:9", "x") as nobody:
        assert isinstance(nobody.ask_together([NosqlAsked(PUT_CODE, {})])[0], RequestFailed)


def test_a_refusal_in_the_older_form_is_read(script: Script, connection: NosqlConnection) -> None:
    script.answers = [b"\x11\x83none"]
    with pytest.raises(Refused) as caught:
        connection.ask(GET_CODE, {})
    assert (caught.value.code, caught.value.message) == ("17", "none")
