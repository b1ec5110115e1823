"""Requests of tests are signed as clients sign, answers checked as clients check (wire §1)."""

import threading
from collections.abc import Iterator
from socket import create_server, socket

import pytest
from tests.support.http import Answer, Sender, Wire, digest, encode_request

# The vectors of wire §1.3 and §1.5.
SENDER = Sender("testak", "testsk", "inst")
DATE = "2024-01-02T03:04:05.000Z"


def test_a_request_is_signed_as_the_vector_is() -> None:
    signed = SENDER.sign("ListTable", SENDER.headers(date=DATE))
    assert signed["x-ots-contentmd5"] == "1B2M2Y8AsgTpgAmY7PhCfg=="
    assert signed["x-ots-signature"] == "bApfbUuRC0kYRFEfbzjNTBH5PTc="


def test_an_answer_is_checked_as_the_vector_is() -> None:
    headers = {
        "x-ots-requestid": "0005f1d2-0000-0000-0000-000000000001",
        "x-ots-contenttype": "protocol buffer",
        "x-ots-date": DATE,
        "x-ots-contentmd5": digest(b""),
        "authorization": "OTS testak:uHs1cAWM4O0CNqhRKgukfjTypCM=",
        "date": "Tue, 02 Jan 2024 03:04:05 GMT",
    }
    answer = Answer(200, headers, b"")
    assert SENDER.signed("ListTable", answer)
    assert not SENDER.signed("GetRow", answer)
    assert not Sender("testak", "other").signed("ListTable", answer)


def test_headers_are_left_out_or_replaced() -> None:
    headers = SENDER.headers(b"body", date="", request_tag="t", instancename="other")
    assert headers == {
        "x-ots-apiversion": "2015-12-31",
        "x-ots-accesskeyid": "testak",
        "x-ots-instancename": "other",
        "x-ots-contentmd5": digest(b"body"),
        "x-ots-request-tag": "t",
    }


def test_a_body_is_measured_unless_it_is_framed() -> None:
    assert encode_request("/A", {}, b"abc") == (
        b"POST /A HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 3\r\n\r\nabc"
    )
    assert b"content-length" not in encode_request("/A", {"transfer-encoding": "chunked"})


@pytest.fixture
def peers() -> Iterator[tuple[Wire, socket]]:
    with create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        with Wire(f"http://{host}:{port}", timeout=5) as wire:
            peer, _ = listener.accept()
            with peer:
                yield wire, peer


def test_answers_are_taken_one_by_one(peers: tuple[Wire, socket]) -> None:
    wire, peer = peers
    peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab")
    thread = threading.Thread(target=peer.sendall, args=(b"cHTTP/1.1 204 No Content\r\n\r\n",))
    thread.start()
    assert wire.read().status == 100
    assert wire.read() == Answer(200, {"content-length": "3"}, b"abc")
    assert wire.read().status == 204
    thread.join()


def test_an_end_is_told_from_an_answer(peers: tuple[Wire, socket]) -> None:
    wire, peer = peers
    peer.sendall(b"HTTP/1.1 200 OK\r\n")
    assert not wire.ended()
    peer.close()
    with pytest.raises(ConnectionError):
        wire.read()


def test_a_wait_ends(peers: tuple[Wire, socket]) -> None:
    wire, _ = peers
    wire.socket.settimeout(0.01)
    with pytest.raises(TimeoutError):
        wire.read()
