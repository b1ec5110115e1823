"""Requests that others may read otherwise than we do: what request smuggling is made of (RFC 9112).

Each must be refused, and nothing behind it on its connection may run.
"""

from typing import Final

__all__ = ["FRAMES", "HEAD", "raw"]


def raw(*lines: bytes, body: bytes = b"") -> bytes:
    """A request of these lines, each ended by CR LF, the empty line, and `body` as it is."""
    return b"\r\n".join((*lines, b"", b"")) + body


HEAD: Final = (b"POST /ListTable HTTP/1.1", b"host: localhost")
FRAMES: Final = {
    "both lengths": raw(
        *HEAD, b"content-length: 4", b"transfer-encoding: chunked", body=b"0\r\n\r\n"
    ),
    "both lengths, turned": raw(
        *HEAD, b"transfer-encoding: chunked", b"content-length: 4", body=b"0\r\n\r\n"
    ),
    "two lengths": raw(*HEAD, b"content-length: 1", b"content-length: 2", body=b"ab"),
    "two equal lengths": raw(*HEAD, b"content-length: 1", b"content-length: 1", body=b"a"),
    "a list of lengths": raw(*HEAD, b"content-length: 1, 1", body=b"a"),
    "a negative length": raw(*HEAD, b"content-length: -1"),
    "a signed length": raw(*HEAD, b"content-length: +1", body=b"a"),
    "a length in hexadecimal": raw(*HEAD, b"content-length: 0x10"),
    "a length of a text": raw(*HEAD, b"content-length: many"),
    "a length beyond 64 bits": raw(*HEAD, b"content-length: 99999999999999999999999"),
    "another coding": raw(*HEAD, b"transfer-encoding: gzip"),
    "two codings": raw(*HEAD, b"transfer-encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "chunked twice": raw(
        *HEAD, b"transfer-encoding: chunked", b"transfer-encoding: chunked", body=b"0\r\n\r\n"
    ),
    "a chunk of a text": raw(*HEAD, b"transfer-encoding: chunked", body=b"zz\r\nab\r\n"),
    "a negative chunk": raw(*HEAD, b"transfer-encoding: chunked", body=b"-1\r\nab\r\n"),
    "a chunk beyond 64 bits": raw(
        *HEAD, b"transfer-encoding: chunked", body=b"fffffffffffffffff\r\nab\r\n"
    ),
    "a chunk that goes on": raw(*HEAD, b"transfer-encoding: chunked", body=b"1\r\nabc\r\n"),
    "a chunk without a size": raw(*HEAD, b"transfer-encoding: chunked", body=b"\r\nab\r\n"),
    "an upgrade": raw(*HEAD, b"connection: upgrade", b"upgrade: h2c", b"content-length: 0"),
    "a web socket": raw(
        b"GET / HTTP/1.1", b"host: localhost", b"connection: Upgrade", b"upgrade: websocket"
    ),
    "HTTP/2 at once": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/3": raw(b"POST /ListTable HTTP/3.0", b"host: localhost", b"content-length: 0"),
    "HTTP/0.9": b"GET /\r\n\r\n",
    "no version": raw(b"POST /ListTable", b"host: localhost"),
    "no method": raw(b"/ListTable HTTP/1.1", b"host: localhost"),
    "an unknown method": raw(b"FROB /ListTable HTTP/1.1", b"host: localhost"),
    "a NUL in the path": raw(
        b"POST /List\x00Table HTTP/1.1", b"host: localhost", b"content-length: 0"
    ),
    "a NUL in a name": raw(*HEAD, b"x-ots-\x00: v", b"content-length: 0"),
    "a NUL in a value": raw(*HEAD, b"x-ots-date: \x00", b"content-length: 0"),
    "a line feed alone": b"POST /ListTable HTTP/1.1\nhost: h\ncontent-length: 0\n\n",
    "a carriage return alone": b"POST /ListTable HTTP/1.1\rhost: h\r\r",
    "a folded header": raw(*HEAD, b"x-ots-date: a", b" b", b"content-length: 0"),
    "a space before the colon": raw(*HEAD, b"content-length : 0"),
    "no colon": raw(*HEAD, b"content-length 0"),
    "an empty name": raw(*HEAD, b": value"),
    "TLS": bytes.fromhex("16030100a5010000a10303") + bytes(64),
    "zeros": bytes(256),
    "high bytes": b"\xff" * 256,
    "another expectation": raw(*HEAD, b"content-length: 1", b"expect: 200-ok", body=b"a"),
}
"""By what is wrong with it."""
