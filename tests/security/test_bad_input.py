"""What a client may get wrong around a message, and bytes that are none, for every action.

Each case is a request that is right but for one thing. The answer is the service's own, status,
code and text (semantics §18; wire §1.2, §1.7); nothing is written by it, and the server goes on:
the fixture `wire` looks. Messages and PlainBuffers have files of their own beside this one.
"""

from collections.abc import Callable, Sequence
from typing import Final

import pytest
from tests.support.http import Sender, Wire, assert_refused, digest, encode_request
from tests.support.requests import (
    BODIES,
    DELIVERY_BODIES,
    SEARCH_BODIES,
    SERIES_BODIES,
    SQL_BODIES,
    STREAM_BODIES,
    TUNNEL_BODIES,
)

from widerow.limits import BODY_BYTES_MAX
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED

TABLE: Final = "T"
NEW: Final = "New"  # what CreateTable asks for
ACTIONS: Final = tuple(BODIES)
ON_TRANSACTIONS: Final = ("CommitTransaction", "AbortTransaction")

Error = tuple[int, str, str]


def body_of(action: str) -> bytes:
    return BODIES[action](NEW if action == "CreateTable" else TABLE)


def test_every_action_is_attacked() -> None:
    tables = (
        *(BODIES, DELIVERY_BODIES, SEARCH_BODIES, SERIES_BODIES),
        *(SQL_BODIES, STREAM_BODIES, TUNNEL_BODIES),
    )
    assert {action for bodies in tables for action in bodies} == set(OPERATIONS)


# --- who asks (wire §1.2, §1.3) ------------------------------------------------------------------


def denied(message: str) -> Error:
    return 403, "OTSAuthFailed", message


def invalid(message: str) -> Error:
    return 400, "OTSParameterInvalid", message


def unreadable() -> Error:
    return invalid("Failed to parse the ProtoBuf message.")


Headers = dict[str, str]


def wrong_signature(sender: Sender, action: str, headers: Headers) -> Headers:
    signed = sender.sign(action, headers)
    return signed | {"x-ots-signature": signed["x-ots-signature"].swapcase()}


def no_signature(_: Sender, __: str, headers: Headers) -> Headers:
    return headers | {"x-ots-signature": ""}


def other_secret(_: Sender, action: str, headers: Headers) -> Headers:
    return Sender(access_key_secret="guess").sign(action, headers)


def other_action(sender: Sender, action: str, headers: Headers) -> Headers:
    return sender.sign("ListTable" if action != "ListTable" else "GetRow", headers)


def unsigned_header(sender: Sender, action: str, headers: Headers) -> Headers:
    return sender.sign(action, headers) | {"x-ots-request-tag": "added"}


@pytest.mark.parametrize(
    "spoil", [wrong_signature, no_signature, other_secret, other_action, unsigned_header]
)
def test_a_wrong_signature_is_refused(
    wire: Wire, sender: Sender, spoil: Callable[[Sender, str, Headers], Headers]
) -> None:
    for action in ACTIONS:
        body = body_of(action)
        headers = spoil(sender, action, sender.headers(body))
        answer = wire.ask(encode_request(f"/{action}", headers, body))
        assert_refused(sender, action, answer, denied("Signature mismatch."), signed=False)


@pytest.mark.parametrize("minutes", [-16, 16, -60 * 24 * 365])
def test_a_stale_date_is_refused(wire: Wire, sender: Sender, minutes: int) -> None:
    for action in ACTIONS:
        body = body_of(action)
        headers = sender.headers(body, late_seconds=minutes * 60)
        answer = wire.ask(encode_request(f"/{action}", sender.sign(action, headers), body))
        message = f"Mismatch between system time and x-ots-date: {headers['x-ots-date']}."
        assert_refused(sender, action, answer, denied(message), signed=False)


@pytest.mark.parametrize("minutes", [-14, 14])
def test_a_date_inside_the_window_is_accepted(
    start: Callable[[], WiderowServer],
    fill: Callable[[str, Sender], None],
    sender: Sender,
    minutes: int,
) -> None:
    """And with it the requests that all cases here are made from."""
    with start() as server, Wire(server.endpoint) as wire:
        fill(server.endpoint, sender)
        for action in sorted(ACTIONS, key=lambda name: name == "DeleteTable"):
            request = sender.request(action, body_of(action), late_seconds=minutes * 60)
            # Nobody was given the id of a transaction yet.
            status = 400 if action in ON_TRANSACTIONS else 200
            assert wire.ask(request).status == status, action


@pytest.mark.parametrize("date", ["yesterday", "2026-01-01", "2026-13-01T00:00:00.000Z", "0"])
def test_what_is_no_date_is_refused(wire: Wire, sender: Sender, date: str) -> None:
    answer = wire.ask(sender.request("GetRow", body_of("GetRow"), date=date))
    message = f"Invalid date format: {date}."
    assert_refused(sender, "GetRow", answer, invalid(message), signed=False)


MISMATCH: Final = "Mismatch between MD5 value of request body and x-ots-contentmd5 in header."


def test_a_wrong_digest_is_refused(wire: Wire, sender: Sender) -> None:
    """That of another body, in lower case, and what is not base64."""
    for action in ACTIONS:
        body = body_of(action)
        for wrong in (digest(body + b"\x00"), digest(body).lower(), "!"):
            answer = wire.ask(sender.request(action, body, contentmd5=wrong))
            assert_refused(sender, action, answer, denied(MISMATCH), signed=False)


def test_a_changed_body_is_refused(wire: Wire, sender: Sender) -> None:
    for action in ACTIONS:
        body = body_of(action)
        headers = sender.sign(action, sender.headers(body))
        answer = wire.ask(encode_request(f"/{action}", headers, body + b"\x00"))
        assert_refused(sender, action, answer, denied(MISMATCH), signed=False)


@pytest.mark.parametrize(
    "name", ["date", "apiversion", "accesskeyid", "instancename", "contentmd5", "signature"]
)
def test_a_missing_header_is_named(wire: Wire, sender: Sender, name: str) -> None:
    for action in ACTIONS:
        body = body_of(action)
        headers = sender.sign(action, sender.headers(body))
        del headers[f"x-ots-{name}"]
        answer = wire.ask(encode_request(f"/{action}", headers, body))
        error = (400, "OTSMissingHeader", f"Missing header: 'x-ots-{name}'.")
        assert_refused(sender, action, answer, error, signed=False)


def test_an_unknown_access_key_is_refused(wire: Wire, sender: Sender) -> None:
    message = "The AccessKeyID does not exist."
    for action in ACTIONS:
        answer = wire.ask(Sender(access_key_id="stranger").request(action, body_of(action)))
        assert_refused(sender, action, answer, denied(message), signed=False)


def test_what_is_no_instance_name_is_refused(wire: Wire, sender: Sender) -> None:
    message = "Invalid instance name: 'in/st'."
    for action in ACTIONS:
        answer = wire.ask(Sender(instance="in/st").request(action, body_of(action)))
        assert_refused(sender, action, answer, invalid(message), signed=False)


# --- what is asked for (wire §1.1) ---------------------------------------------------------------


UNKNOWN: Final = ("HelloWorld", "getrow", "GETROW", "GetRow2", "GetRo", "GetRow%20", "GetRow;x")


def test_an_unknown_action_is_named(wire: Wire, sender: Sender) -> None:
    for action in (*UNKNOWN, *UNSUPPORTED):
        answer = wire.ask(sender.request(action, body_of("GetRow")))
        error = (400, "OTSUnsupportOperation", f"Unsupported operation: '{action}'.")
        assert_refused(sender, action, answer, error, signed=False)


# --- bytes that are no message (wire §1.7) -------------------------------------------------------

GARBAGE: Final = {
    "a tag that goes on for ever": b"\xff" * 40,
    "a length behind the end": b"\x0a\x7fabc",
    "the length of 2 GiB": b"\x0a\xff\xff\xff\xff\x07",
    "field number zero": b"\x00\x01",
    "an end of a group": b"\x0c",
    "text": b'{"table_name": "T"}',
    "zlib": bytes.fromhex("789c4b4c4a06000249012 7".replace(" ", "")),
    "an unknown wire type": b"\x0f\x00",
}


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_is_refused(wire: Wire, sender: Sender, garbage: str) -> None:
    for action in ACTIONS:
        answer = wire.ask(sender.request(action, GARBAGE[garbage]))
        assert_refused(sender, action, answer, unreadable())


@pytest.mark.parametrize("action", ACTIONS)
def test_a_message_cut_anywhere_is_refused(wire: Wire, sender: Sender, action: str) -> None:
    """Where the cut leaves a whole message, it is one that misses something."""
    body = body_of(action) or b"\x0a\x05table"  # ListTable has no field; unknown ones are skipped
    for length in range(1, len(body)):
        answer = wire.ask(sender.request(action, body[:length]))
        status, code, _ = answer.error
        assert (status, code) == (400, "OTSParameterInvalid"), length
    answer = wire.ask(sender.request(action, body[:-1]))
    if action in {"BatchGetRow", "BatchWriteRow", "ListTable", "CreateTable", "UpdateTable"}:
        assert_refused(sender, action, answer, unreadable())


NAMELESS: Final = ("ListTable", "ListTimeseriesTable")  # their requests have no field
EMPTY: Final = {
    "BatchGetRow": invalid("No row specified in the request of BatchGetRow."),
    "BatchWriteRow": invalid("No row is specified in BatchWriteRow."),
}


def test_an_empty_message_is_refused(wire: Wire, sender: Sender) -> None:
    for action in (name for name in ACTIONS if name not in NAMELESS):
        answer = wire.ask(sender.request(action, b""))
        assert_refused(sender, action, answer, EMPTY.get(action, unreadable()))


def test_a_name_that_is_no_text_is_refused(wire: Wire, sender: Sender) -> None:
    for action in (name for name in ACTIONS if name not in NAMELESS):
        body = BODIES[action]("QQQQ").replace(b"QQQQ", b"\xff\xfe\xfd\xfc")
        answer = wire.ask(sender.request(action, body))
        assert_refused(sender, action, answer, unreadable())


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[" * 100_000, b'{"table": 1}', b'{"table": "T", "x": 1}', b"\xff", b"1e999"],
)
def test_json_that_is_not_as_it_must_be_is_refused(wire: Wire, sender: Sender, body: bytes) -> None:
    answer = wire.ask(sender.request("WiderowPartitions", body))
    assert_refused(sender, "WiderowPartitions", answer, unreadable())


# --- too much (wire §1.7) ------------------------------------------------------------------------

TOO_LARGE: Final[Error] = (413, "OTSRequestBodyTooLarge", "The size of POST data is too large.")


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("size", [BODY_BYTES_MAX + 1, 2**31, 2**63 - 1])
def test_a_large_body_is_refused_before_it_is_sent(
    wire: Wire, sender: Sender, action: str, size: int
) -> None:
    headers = sender.sign(action, sender.headers()) | {"content-length": str(size)}
    answer = wire.ask(encode_request(f"/{action}", headers))
    assert_refused(sender, action, answer, TOO_LARGE, signed=False)
    assert wire.ended()


@pytest.mark.parametrize("action", ACTIONS)
def test_a_body_that_grows_too_large_is_refused(wire: Wire, sender: Sender, action: str) -> None:
    headers = sender.sign(action, sender.headers()) | {"transfer-encoding": "chunked"}
    wire.send(encode_request(f"/{action}", headers))
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    for _ in range(BODY_BYTES_MAX // 0x10000):
        wire.send(chunk)
    wire.send(b"1\r\n\x00\r\n")
    assert_refused(sender, action, wire.read(), TOO_LARGE, signed=False)
    assert wire.ended()


@pytest.mark.parametrize("action", ACTIONS)
def test_a_body_at_the_limit_is_looked_at(wire: Wire, sender: Sender, action: str) -> None:
    answer = wire.ask(sender.request(action, b"\xff" * BODY_BYTES_MAX))
    assert_refused(sender, action, answer, unreadable())


# --- tables that are not there (semantics §1.4, §20) ---------------------------------------------

ON_TABLES: Final = tuple(
    name for name in ACTIONS if name not in {*NAMELESS, *ON_TRANSACTIONS, "CreateTable"}
)
ROW_BY_ROW: Final = ("BatchGetRow", "BatchWriteRow", "BulkImport")
NOT_FOUND: Final[Error] = (404, "OTSObjectNotExist", "Requested table does not exist.")


def _rows(
    action: str, body: bytes
) -> Sequence[m.RowInBulkImportResponse | m.RowInBatchGetRowResponse]:
    if action == "BulkImport":
        return m.BulkImportResponse.FromString(body).rows
    return m.BatchGetRowResponse.FromString(body).tables[0].rows


@pytest.mark.parametrize("table", ["Missing", "t", "T_", "a" * 255])
def test_an_unknown_table_is_refused(wire: Wire, sender: Sender, table: str) -> None:
    for action in ON_TABLES:
        answer = wire.ask(sender.request(action, BODIES[action](table)))
        if action not in ROW_BY_ROW:
            assert_refused(sender, action, answer, NOT_FOUND)
            continue
        assert answer.status == 200  # each row fails by itself (semantics §4.8, §5.5; change §D1)
        assert sender.signed(action, answer)
        (row,) = _rows(action, answer.body)
        assert not row.is_ok
        assert (row.error.code, row.error.message) == NOT_FOUND[1:]


@pytest.mark.parametrize("table", ["", "3t", "T#", "中文", "-", "a" * 256, "a\x00", "a b", "T\n"])
def test_what_is_no_table_name_is_refused(wire: Wire, sender: Sender, table: str) -> None:
    message = f"Invalid table name: '{table}'."
    for action in (*ON_TABLES, "CreateTable"):
        answer = wire.ask(sender.request(action, BODIES[action](table)))
        assert_refused(sender, action, answer, invalid(message))


def test_tables_of_another_instance_are_not_there(wire: Wire, sender: Sender) -> None:
    other = Sender(instance="other")
    for action in ON_TABLES:
        answer = wire.ask(other.request(action, BODIES[action](TABLE)))
        if action in ROW_BY_ROW:
            assert NOT_FOUND[1].encode() in answer.body
        else:
            assert_refused(sender, action, answer, NOT_FOUND)
