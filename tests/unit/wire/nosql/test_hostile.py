"""Frames and values that no driver sends are refused, each with its code (nosql-wire §1, §7, §8).

`tests/fuzz/nson.py` looks for more of them.
"""

from collections.abc import Mapping
from decimal import Decimal
from itertools import permutations, product
from typing import Any, Final

import pytest
from tests.fuzz.nson import SEEDS, answered, request

from widerow.auth.keyring import Permission
from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_REQUEST_BYTES_MAX, NSON_DEPTH_MAX
from widerow.model.typed.rules import TypedRule
from widerow.wire.nosql.dialect import NOSQL_DIALECT, NOSQL_ONPREM_DIALECT
from widerow.wire.nosql.envelope import read_frame
from widerow.wire.nosql.faults import fault_of
from widerow.wire.nosql.nson import TimestampText, encode
from widerow.wire.nosql.operations.query import permission_of_query
from widerow.wire.nosql.rules import NosqlRule

KEY: Final = {"s": 1, "id": "a"}
INFINITE: Final = float("inf")
NOT_A_NUMBER: Final = float("nan")
ILLEGAL: Final = 4
ROW_SIZE: Final = 5
KEY_SIZE: Final = 6
REQUEST_SIZE: Final = 8
BAD_PROTOCOL: Final = 17
NOT_SUPPORTED: Final = 21
SERVER_ERROR: Final = 101


def nested(depth: int) -> Any:  # noqa: ANN401  # lists in lists
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


VALUES: Final[tuple[tuple[str, Any, int], ...]] = (
    # what is too large or too small for its column, or no number
    ("s", Decimal("1E999999"), ILLEGAL),
    ("s", Decimal("1E-999999"), ILLEGAL),
    ("s", NOT_A_NUMBER, ILLEGAL),
    ("s", INFINITE, ILLEGAL),
    ("s", "٣", ILLEGAL),  # a digit, but none of ASCII
    ("s", 2**63, ILLEGAL),  # wraps, as the driver that sends it wraps it
    ("d", Decimal("1E999999"), 0),  # infinite
    ("d", 2**63 - 1, ILLEGAL),
    ("d", NOT_A_NUMBER, 0),
    ("n", Decimal("1E999999999"), 0),
    ("n", NOT_A_NUMBER, ILLEGAL),
    ("n", INFINITE, ILLEGAL),
    ("n", "9" * 20_000, ILLEGAL),
    ("n", "1e99999999999999999999", ILLEGAL),
    # depth
    ("j", nested(125), 0),
    ("j", nested(138), ILLEGAL),
    ("j", nested(NSON_DEPTH_MAX), BAD_PROTOCOL),
    ("j", INFINITE, ILLEGAL),
    ("a", nested(50), ILLEGAL),
    # instants
    ("at", 2**62, ILLEGAL),
    ("at", -(2**62), ILLEGAL),
    ("at", "2024-02-30", ILLEGAL),
    ("at", "9999-12-31T23:59:59.9999", 0),
    ("at", TimestampText("-6384-01-01"), ILLEGAL),
    # bytes
    ("bin", "AAA", ILLEGAL),
    ("bin", "====", ILLEGAL),
    ("bin", "A===", ILLEGAL),
    # sizes
    ("id", "x" * 65, KEY_SIZE),
    ("id", "x" * 1_000_000, KEY_SIZE),
    ("j", "x" * 600_000, ROW_SIZE),
    ("j", "x" * NOSQL_REQUEST_BYTES_MAX, REQUEST_SIZE),
)
MEMBERS: Final[tuple[tuple[int, dict[str, Any], int], ...]] = (
    (2, {}, BAD_PROTOCOL),
    (2, {"k": 5}, BAD_PROTOCOL),
    (2, {"k": {}}, ILLEGAL),
    (2, {"k": KEY, "co": [1]}, ILLEGAL),
    (3, {"l": 5}, ILLEGAL),
    (3, {"l": KEY, "ut": True, "tt": "99999999999999999 DAYS"}, ILLEGAL),
    (3, {"l": KEY, "ut": 1}, BAD_PROTOCOL),
    (3, {"l": KEY, "tt": "1 é"}, ILLEGAL),
    (3, {"l": KEY, "rv": b""}, ILLEGAL),
    (6, {"l": KEY, "rv": b"x" * 17}, ILLEGAL),
    (9, {"os": 5}, BAD_PROTOCOL),
    (9, {"os": [5]}, BAD_PROTOCOL),
    (9, {"os": [{}]}, ILLEGAL),
    (9, {"os": [{"o": 2, "k": KEY}]}, BAD_PROTOCOL),
    (10, {"k": {"s": 1}, "mw": -1}, BAD_PROTOCOL),
    (10, {"k": {"s": 1}, "rg": {"rp": "id"}}, ILLEGAL),
    (10, {"k": {"s": 1}, "ck": b"\xff" * 40}, ILLEGAL),
    (11, {"od": ""}, ILLEGAL),
    (13, {"sr": 2**62}, ILLEGAL),
    (14, {"lx": 2**62, "ls": -1}, BAD_PROTOCOL),
    (
        15,
        {"st": "CREATE TABLE other:t (k LONG, PRIMARY KEY(k))", "lm": {"ru": 1, "wu": 1, "sg": 1}},
        ILLEGAL,
    ),
    (23, {"st": b"show tables"}, BAD_PROTOCOL),
    (33, {}, NOT_SUPPORTED),
    (15, {"st": "(" * 100_000}, ILLEGAL),
    (15, {"lm": 5}, ILLEGAL),
)


def test_values_that_no_column_takes_are_refused() -> None:
    for column, value, code in VALUES:
        answer = answered(request(3, {"l": {**KEY, column: value}}))
        assert answer.get("e", 0) == code, (column, str(value)[:40], answer)


def test_members_of_another_type_are_refused() -> None:
    for operation, payload, code in MEMBERS:
        answer = answered(request(operation, payload))
        assert answer.get("e", 0) == code, (operation, payload, answer)
        assert answer["x"]


@pytest.mark.parametrize("body", [b"", b"\0\3" + encode({}), b"\0\6" + encode({}), b"\xff\xff"])
def test_what_has_no_version_of_ours_is_refused_in_the_older_form(body: bytes) -> None:
    """nosql-wire §1: a byte and a text, since the version is not known."""
    answer = answered(body)
    code, text = answer["e"], answer["x"]
    assert (code, text) in {
        (BAD_PROTOCOL, "empty request content"),
        *[
            (24, f"Invalid driver serial version {version}, proxy serial version is 5")
            for version in (3, 6, 0xFFFF)
        ],
    }


def test_no_prefix_of_a_request_is_carried_out() -> None:
    for seed in SEEDS[:6]:
        for size in range(2, len(seed)):
            assert answered(seed[:size]).get("e", 0) in {BAD_PROTOCOL, 24}, (seed, size)


def test_a_message_that_something_follows_is_refused() -> None:
    assert answered(SEEDS[0])["e"] == 0
    assert answered(SEEDS[0] + b"\0")["e"] == BAD_PROTOCOL


def test_reading_costs_what_is_there_and_not_what_is_promised() -> None:
    """A message of nine bytes may not make a list of two thousand million members."""
    promised = b"\0\4\6\x7f\xff\xff\xf0\x7f\xff\xff\xff"
    assert answered(promised)["e"] in {BAD_PROTOCOL, 24}
    inner = bytearray(encode({"h": {"o": 2, "n": "t"}, "p": {"k": [None] * 8}}))
    at = bytes(inner).rindex(b"\0\0\0\x08" + b"\x0b" * 8)
    inner[at : at + 4] = b"\x7f\xff\xff\xff"
    assert answered(b"\0\4" + bytes(inner))["e"] == BAD_PROTOCOL


def test_a_request_to_the_system_is_bytes_of_text_and_needs_what_its_statement_does() -> None:
    for given in (None, 5, 2**31, "show tables", b"\xff", [1], True):
        payload = {} if given is None else {"st": given}
        assert answered(request(23, payload), NOSQL_ONPREM_DIALECT)["e"] == BAD_PROTOCOL, given
    assert answered(request(23, {"st": b"show tables"}))["e"] == BAD_PROTOCOL  # the cloud's
    operation = NOSQL_ONPREM_DIALECT.operations["SYSTEM_REQUEST"]
    for statement, permission in (
        (b" /* x */ Show tables", Permission.READ),
        (b"describe table t", Permission.READ),
        (b"create namespace n", Permission.MANAGE),
        (b"/* show */ drop table t", Permission.MANAGE),
    ):
        assert operation.permission_for(request(23, {"st": statement})) is permission


def test_an_operation_that_is_not_known_is_told_as_the_vendor_does() -> None:
    for given in ("", "9999", "n-", "c-", "c-1-x y", "q-1", "i-1-nosuch\n"):
        found = answered(request(24, {"od": given}), NOSQL_ONPREM_DIALECT)
        assert found["e"] == SERVER_ERROR
        assert found["x"].startswith("SYSTEM_STATUS_REQUEST: Server too busy: Plan id")
    found = answered(request(24, {"od": "i-1-gone"}), NOSQL_ONPREM_DIALECT)
    assert found["e"] == ILLEGAL
    assert found["x"].endswith("the index was dropped")
    assert answered(request(24, {"od": "d-77"}), NOSQL_ONPREM_DIALECT) == {"ta": 0, "od": "d-77"}


def test_a_time_to_live_that_is_no_number_is_refused_with_its_text() -> None:
    found = answered(request(3, {"l": {"s": 1, "id": "a"}, "tt": "x DAYS"}))
    assert (found["e"], found["x"]) == (
        ILLEGAL,
        "PUT: Illegal Argument: Invalid time to live: x DAYS",
    )


def test_a_prepared_query_of_the_other_way_is_refused() -> None:
    prepare = request(8, {"qv": 4, "st": "SELECT id FROM t"})
    kinds = (NOSQL_DIALECT, NOSQL_ONPREM_DIALECT)
    for own, other in (kinds, kinds[::-1]):
        made = answered(prepare, own)["pq"]
        asked = request(7, {"qv": 4, "is": True, "iq": True, "pq": made})
        assert answered(asked, own)["e"] == 0
        assert answered(asked, other)["e"] == BAD_PROTOCOL


DEFINITIONS: Final = (
    ("CREATE TABLE x (a LONG, A LONG, PRIMARY KEY(a))", 13, "Column already exists: A"),
    (f"CREATE TABLE x (a{'b' * 64} LONG, PRIMARY KEY(a))", ILLEGAL, "Illegal name: abbb"),
    ("CREATE TABLE x (a TIMESTAMP(10), PRIMARY KEY(a))", ILLEGAL, "Error: Timestamp precision"),
    (
        "CREATE TABLE x (a STRING GENERATED ALWAYS AS IDENTITY, PRIMARY KEY(a))",
        ILLEGAL,
        "Error: Identity field must be",
    ),
    ("ALTER TABLE t (ADD d LONG)", ILLEGAL, "Error: at (1, 19) Cannot add field, d"),
    ("ALTER TABLE t (MODIFY d LONG)", ILLEGAL, "Error: at (1, 15) MODIFY <type> is not supported"),
    ("CREATE USER ada", ILLEGAL, "Unsupported query operation CREATE_USER"),
    ("desc table t", ILLEGAL, "Unsupported query operation DESCRIBE"),
)


def test_definitions_that_cannot_be_are_told_in_the_vendors_words() -> None:
    for statement, code, text in DEFINITIONS:
        limits = {"ru": 1, "wu": 1, "sg": 1} if statement.startswith("CREATE TABLE") else None
        found = answered(request(15, {"st": statement, "lm": limits}))
        assert found["e"] == code, statement
        assert found["x"].startswith(text), found


def test_errors_that_are_causes_of_each_other_are_told_too() -> None:
    """An error that is raised from itself is its own cause."""
    first, second = (
        InvalidRequest(TypedRule.DDL_FAULT, line=1, column=0, text=text) for text in ("a", "b")
    )
    for error, cause in ((first, first), (first, second), (second, first)):
        error.__cause__ = cause
        assert fault_of(error, "TABLE_REQUEST").code == ILLEGAL


def written(name: str, value: bytes) -> bytes:
    return bytes((127 + len(name),)) + name.encode() + value


def of_members(*members: bytes) -> bytes:
    """A MAP of members, also of several with one name."""
    inside = len(members).to_bytes(4, "big") + b"".join(members)
    return b"\x06" + len(inside).to_bytes(4, "big") + inside


def test_a_statement_needs_the_permission_of_the_text_that_is_run() -> None:
    """Of members that come twice the last counts, for the permission as for what is run."""
    texts = ("SELECT * FROM t", "DELETE FROM t")
    members = [
        *[written("st", encode({"": text})[10:]) for text in texts],
        *[written("pq", encode({"": b"WIDEROW01" + text.encode()})[10:]) for text in texts],
        written("bv", encode({"pq": 1})),
    ]
    header = written("h", of_members(written("o", b"\x04\x86")))
    for length in (1, 2, 3):
        for chosen in product(members, repeat=length):
            payloads = [of_members(*chosen), of_members(*chosen[::-1])]
            for order in permutations([header, *[written("p", each) for each in payloads]]):
                body = b"\0\x04" + of_members(*order)
                try:
                    whole = permission_of_text(read_frame(body).payload)
                except InvalidRequest:
                    continue
                assert permission_of_query(body) is whole


def permission_of_text(payload: Mapping[str, Any]) -> Permission:
    """Of the statement that `run_query` takes."""
    text = payload["pq"][9:].decode() if "pq" in payload else payload.get("st")
    if text is None:
        raise InvalidRequest(NosqlRule.QUERY_MISSING)
    return Permission.WRITE if text.startswith("DELETE") else Permission.READ
