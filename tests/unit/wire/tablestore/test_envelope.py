"""The envelope: what opens, what is refused and why, what answers carry."""

import base64
import hashlib
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablestore.auth import RequestContext, SignV2, SignV4
from tablestore.credentials import Credentials

from widerow.auth.keyring import AccessKey, Keyring, secret_digest
from widerow.auth.policy import ANY_INSTANCE
from widerow.auth.signing import (
    SIGN_DATE,
    SIGN_REGION,
    SIGNATURE_V2,
    SIGNATURE_V4,
    Mac,
    canonical_request,
    derive_v4,
)
from widerow.errors import AnyRule, InvalidRequest, NotPermitted, Rule, Unsupported
from widerow.limits import BODY_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.dialect import Opened
from widerow.wire.tablestore.envelope import (
    answer_date,
    open_request,
    response_headers,
)
from widerow.wire.tablestore.errors.answers import foreign

PATH = "/GetRow"
NOW = 1_704_164_645_123_456  # 2024-01-02T03:04:05.123456Z
TOKEN_KEY = AccessKey("temporary", "sk", token_sha256=secret_digest("the-token"))
ENDED_KEY = AccessKey(
    "ended", "sk", token_sha256=secret_digest("the-token"), parent="ak", expires_us=NOW
)
OWN_KEY = AccessKey("ak", "sk")
KEYRING = Keyring([OWN_KEY, TOKEN_KEY, ENDED_KEY])
REQUEST_ID = "0005f1d2-0000-0000-0000-000000000001"


def digest(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


Changes = dict[str, str | None]


def signed(body: bytes = b"", changes: Changes | None = None, secret: str = "sk") -> dict[str, str]:
    """Headers of a V2 request; `changes` (names without `x-ots-`) are made before signing."""
    headers = {
        "x-ots-date": "2024-01-02T03:04:05.000Z",
        "x-ots-apiversion": "2015-12-31",
        "x-ots-accesskeyid": "ak",
        "x-ots-instancename": "inst",
        "x-ots-contentmd5": digest(body),
    }
    for name, value in (changes or {}).items():
        headers.pop(f"x-ots-{name}", None)
        if value is not None:
            headers[f"x-ots-{name}"] = value
    message = canonical_request(PATH, headers)
    headers[SIGNATURE_V2] = Mac(secret.encode(), "sha1").sign(message).decode()
    return headers


def signed_v4(
    date: str = "2024-01-02T03:04:05.000Z", sign_date: str = "20240102"
) -> dict[str, str]:
    headers = signed(b"", {"date": date, "signdate": sign_date, "signregion": "cn-hangzhou"})
    del headers[SIGNATURE_V2]
    key = derive_v4(b"sk", sign_date, "cn-hangzhou")
    message = canonical_request(PATH, headers) + b"ots"
    headers[SIGNATURE_V4] = Mac(key, "sha256").sign(message).decode()
    return headers


def opened(headers: dict[str, str], body: bytes = b"", now_us: int = NOW) -> Opened:
    return open_request(PATH, headers, body, KEYRING, ANY_INSTANCE, now_us)[0]


def inflated(headers: dict[str, str], body: bytes) -> bytes:
    return open_request(PATH, headers, body, KEYRING, ANY_INSTANCE, NOW)[1]


def refusal(
    headers: dict[str, str], body: bytes = b"", now_us: int = NOW
) -> InvalidRequest | NotPermitted:
    with pytest.raises((InvalidRequest, NotPermitted)) as caught:
        opened(headers, body, now_us)
    assert isinstance(caught.value, InvalidRequest | NotPermitted)
    return caught.value


def rule_of(headers: dict[str, str], body: bytes = b"", now_us: int = NOW) -> AnyRule:
    return refusal(headers, body, now_us).rule


# --- requests ----------------------------------------------------------------------------------


def test_a_signed_request_opens() -> None:
    request = opened(signed(b"body"), b"body")
    assert (request.key, request.instance) == (OWN_KEY, "inst")
    assert inflated(signed(b"body"), b"body") == b"body"


def test_a_v4_request_opens() -> None:  # wire §1.4
    assert opened(signed_v4()).key is OWN_KEY


@pytest.mark.parametrize(
    "name", ["date", "apiversion", "accesskeyid", "instancename", "contentmd5"]
)
def test_each_mandatory_header_is_asked_for_by_name(name: str) -> None:  # wire §1.2
    error = refusal(signed(b"", {name: None}))
    assert (error.rule, error.details) == (TablestoreRule.HEADER_MISSING, {"name": f"x-ots-{name}"})


def test_without_any_header_the_date_is_asked_for_first() -> None:  # wire §1.2
    assert refusal({}).details == {"name": "x-ots-date"}


def test_a_request_without_any_signature_is_asked_for_one() -> None:
    headers = signed()
    del headers[SIGNATURE_V2]
    assert refusal(headers).details == {"name": SIGNATURE_V2}


@pytest.mark.parametrize("name", [SIGN_DATE, SIGN_REGION])
def test_a_v4_signature_needs_its_scope(name: str) -> None:  # wire §1.4
    headers = signed_v4()
    del headers[name]
    assert refusal(headers).details == {"name": name}


@pytest.mark.parametrize(
    "date",
    [
        "2024-01-02T03:04:05.000Z",  # Python
        "2024-01-02T03:04:05.678Z",  # Node, Java
        "2024-01-02T03:04:05.112112Z",  # Go: month, day and hour where a fraction would be
        "2024-01-02T03:04:05.123Z",
        "2024-01-02T03:04:05.Z",
        "2024-01-02T03:04:05Z",
    ],
)
def test_the_dates_of_every_client_are_read(date: str) -> None:  # wire §1.2
    opened(signed(b"", {"date": date}))


@pytest.mark.parametrize(
    "date",
    [
        "",
        "Z",
        "yesterday",
        "2024-01-02T03:04:05",
        "2024-01-02T03:04:05.000",
        "2024-01-02T03:04:05+00:00",
        "2024-01-02 03:04:05.000Z",
        "2024-1-2T3:4:5.000Z",
        "2024-W01-2T03:04:05Z",
        "2024-13-02T03:04:05.000Z",
        "2024-02-30T03:04:05.000Z",
        "2024-01-02T24:04:05.000Z",
        "2024-01-02T03:04:60.000Z",
        "0000-01-02T03:04:05.000Z",
        "-024-01-02T03:04:05.000Z",
        "+024-01-02T03:04:05.000Z",
        "٢٠٢٤-01-02T03:04:05.000Z",
        "2024-01-02T03:04:05.000Z ",
        "Tue, 02 Jan 2024 03:04:05 GMT",
    ],
)
def test_other_dates_are_named_in_the_refusal(date: str) -> None:  # wire §1.2
    error = refusal(signed(b"", {"date": date}))
    assert (error.rule, error.details) == (TablestoreRule.DATE_FORMAT, {"date": date})


@pytest.mark.parametrize("version", ["2014-08-08", "2013-05-10"])
def test_a_client_of_the_protocol_before_is_told_so_by_name(version: str) -> None:
    # docs/protocol/differences.md
    headers = signed(b"", {"date": "Thu, 26 Nov 2026 16:11:20 GMT", "apiversion": version})
    with pytest.raises(Unsupported) as caught:
        opened(headers)
    assert (caught.value.rule, caught.value.details) == (
        TablestoreRule.API_VERSION_OLD,
        {"version": version},
    )
    assert "newVersion" in foreign(caught.value)[2]
    later = signed(b"", {"date": "Thu, 26 Nov 2026 16:11:20 GMT"})
    assert rule_of(later) is TablestoreRule.DATE_FORMAT


def test_a_long_date_is_not_echoed_whole() -> None:
    error = refusal(signed(b"", {"date": "x" * 30_000}))
    assert error.details == {"date": "x" * 64}


@pytest.mark.parametrize(
    ("minutes", "allowed"), [(-16, False), (-14, True), (0, True), (14, True), (16, False)]
)
def test_the_clock_may_be_fifteen_minutes_off(minutes: int, *, allowed: bool) -> None:  # wire §1.2
    now = NOW + minutes * 60_000_000
    if allowed:
        opened(signed(), now_us=now)
    else:
        error = refusal(signed(), now_us=now)
        assert error.rule is TablestoreRule.DATE_SKEW
        assert error.details == {"date": "2024-01-02T03:04:05.000Z"}


def test_the_window_is_closed_at_exactly_fifteen_minutes() -> None:  # wire §1.2
    opened(signed(), now_us=1_704_164_645_000_000 + 900_000_000)
    assert rule_of(signed(), now_us=1_704_164_645_000_000 + 901_000_000) is TablestoreRule.DATE_SKEW


@pytest.mark.parametrize(
    ("sign_date", "allowed"),
    [
        ("20231231", False),
        ("20240101", True),
        ("20240102", True),
        ("20240103", True),
        ("20240104", False),
        ("2024-01-02", False),
        ("", False),
    ],
)
def test_a_v4_key_is_good_for_its_day_and_the_next_ones(  # wire §1.4
    sign_date: str, *, allowed: bool
) -> None:
    headers = signed_v4(sign_date=sign_date)
    if allowed:
        opened(headers)
    else:
        assert rule_of(headers) is Rule.SIGNATURE_MISMATCH


MISTAKES: dict[str, Changes] = {
    "header": {"apiversion": None},
    "date": {"date": "never"},
    "key": {"accesskeyid": "nobody"},
    "instance": {"instancename": ".."},
}


def broken(*what: str) -> tuple[dict[str, str], bytes, int]:
    """A request with several things wrong at once."""
    changes: Changes = {}
    for each in what:
        changes |= MISTAKES.get(each, {})
    headers = signed(b"", changes, "wrong" if "signature" in what else "sk")
    return headers, b"x" if "digest" in what else b"", 0 if "skew" in what else NOW


def test_the_first_thing_wrong_is_the_answer() -> None:  # wire §1.2, last line
    order = {
        "header": TablestoreRule.HEADER_MISSING,
        "date": TablestoreRule.DATE_FORMAT,
        "key": Rule.ACCESS_KEY_UNKNOWN,
        "instance": Rule.INSTANCE_NAME,
        "skew": TablestoreRule.DATE_SKEW,
        "signature": Rule.SIGNATURE_MISMATCH,
        "digest": TablestoreRule.BODY_DIGEST,
    }
    names = list(order)
    for place, name in enumerate(names):
        assert rule_of(*broken(*names[place:])) is order[name]


def test_a_body_above_the_bound_is_refused() -> None:  # wire §1.7
    largest = bytes(BODY_BYTES_MAX)
    assert inflated(signed(largest), largest) == largest
    assert rule_of(signed(largest + b"x"), largest + b"x") is Rule.BODY_TOO_LARGE


def test_the_security_token_must_be_the_keys_own() -> None:  # wire §1.3
    assert (
        opened(signed(b"", {"accesskeyid": "temporary", "ststoken": "the-token"})).key is TOKEN_KEY
    )
    for headers in (
        signed(b"", {"accesskeyid": "temporary", "ststoken": "another"}),
        signed(b"", {"accesskeyid": "temporary", "ststoken": ""}),
        signed(b"", {"accesskeyid": "temporary"}),
        signed(b"", {"ststoken": "the-token"}),
    ):
        assert rule_of(headers) is TablestoreRule.SECURITY_TOKEN


def test_who_has_both_secret_and_token_is_told_of_the_end() -> None:  # change §D6
    headers = signed(b"", {"accesskeyid": "ended", "ststoken": "the-token"})
    assert opened(headers, now_us=NOW - 1).key is ENDED_KEY
    assert rule_of(headers) is TablestoreRule.SECURITY_TOKEN_EXPIRED
    another = signed(b"", {"accesskeyid": "ended", "ststoken": "another"})
    assert rule_of(another) is TablestoreRule.SECURITY_TOKEN
    guessed = signed(b"", {"accesskeyid": "ended", "ststoken": "the-token"}, "guess")
    assert rule_of(guessed) is Rule.SIGNATURE_MISMATCH


NAMES = st.sampled_from([*signed_v4(), SIGNATURE_V2, "x-ots-ststoken", "x-ots-apikey", "host"])
TEXTS = st.one_of(st.text(max_size=30), st.sampled_from(sorted(signed_v4().values())))


@given(st.dictionaries(NAMES, TEXTS), st.binary(max_size=10), st.text(max_size=10))
def test_whatever_comes_is_opened_or_refused(
    headers: dict[str, str], body: bytes, path: str
) -> None:
    for base in ({}, signed(), signed_v4()):
        with pytest.raises((InvalidRequest, NotPermitted, Unsupported)):
            open_request(path, {**base, **headers, "x-ots-x": ""}, body, KEYRING, ANY_INSTANCE, NOW)


# --- compressed bodies ---------------------------------------------------------------------------


def deflated(body: bytes, size: str | None = None, kind: str | None = "deflate") -> dict[str, str]:
    return signed(body, {"request-compress-type": kind, "request-compress-size": size})


@given(st.binary(max_size=5000))
def test_a_deflated_body_is_inflated(body: bytes) -> None:  # wire §1.8
    packed = zlib.compress(body)
    assert inflated(deflated(packed, str(len(body))), packed) == body


PACKED = zlib.compress(b"a" * 1000)


@pytest.mark.parametrize(
    ("body", "size", "kind"),
    [
        (PACKED, "999", "deflate"),
        (PACKED, "1001", "deflate"),
        (PACKED, "0", "deflate"),
        (PACKED, "-1000", "deflate"),
        (PACKED, "+1000", "deflate"),
        (PACKED, "1_000", "deflate"),
        (PACKED, "١٠٠٠", "deflate"),
        (PACKED, "", "deflate"),
        (PACKED, "many", "deflate"),
        (PACKED, None, "deflate"),
        (PACKED, "1000", "gzip"),
        (PACKED, "1000", None),
        (PACKED[:-1], "1000", "deflate"),
        (PACKED + b"x", "1000", "deflate"),
        (PACKED[2:], "1000", "deflate"),
        (b"", "1000", "deflate"),
        (b"not zlib", "8", "deflate"),
    ],
)
def test_a_body_that_is_not_what_was_announced_is_refused(  # wire §1.8
    body: bytes, size: str | None, kind: str | None
) -> None:
    assert rule_of(deflated(body, size, kind), body) is TablestoreRule.BODY_COMPRESSION


@pytest.mark.parametrize("size", [str(BODY_BYTES_MAX + 1), "9" * 5000])
def test_more_than_a_body_may_hold_cannot_be_announced(size: str) -> None:  # wire §1.7
    assert rule_of(deflated(PACKED, size), PACKED) is Rule.BODY_TOO_LARGE


def test_a_bomb_costs_no_more_memory_than_a_body() -> None:
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(128)) + packer.flush()
    headers = deflated(packed, str(BODY_BYTES_MAX))
    tracemalloc.start()
    try:
        assert rule_of(headers, packed) is TablestoreRule.BODY_COMPRESSION
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * BODY_BYTES_MAX


# --- answers -------------------------------------------------------------------------------------


def parsed(lines: bytes) -> dict[str, str]:
    assert lines.endswith(b"\r\n")
    pairs = [line.partition(": ") for line in lines.decode().split("\r\n")[:-1]]
    assert len({name for name, _, _ in pairs}) == len(pairs)
    return {name: value for name, _, value in pairs}


def test_an_answer_says_when_what_and_which() -> None:  # wire §1.5
    headers = parsed(response_headers(PATH, b"body", REQUEST_ID, answer_date(NOW), None))
    assert headers == {
        "x-ots-contentmd5": digest(b"body"),
        "x-ots-contenttype": "protocol buffer",
        "x-ots-date": "2024-01-02T03:04:05.123456Z",
        "x-ots-requestid": REQUEST_ID,
    }


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31, 23, 59, 59)))  # noqa: DTZ001  # hypothesis wants naive bounds
def test_the_date_of_an_answer_is_the_time(moment: datetime) -> None:  # wire §1.5
    moment = moment.replace(tzinfo=UTC)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    now_us = (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds
    headers = parsed(response_headers(PATH, b"", REQUEST_ID, answer_date(now_us), None))
    read = datetime.strptime(headers["x-ots-date"], "%Y-%m-%dT%H:%M:%S.%fZ")  # noqa: DTZ007  # Z is UTC
    assert read.replace(tzinfo=UTC) == moment


def vendors_signature_v2(headers: dict[str, str]) -> str:
    context = RequestContext(Credentials("ak", "sk"))
    signer = SignV2("utf-8")
    key = signer.get_signing_key(context)
    return str(signer.make_response_signature(PATH, headers, key))


def vendors_signature_v4(headers: dict[str, str]) -> str:
    context = RequestContext(Credentials("ak", "sk"), "20240102")
    signer = SignV4("utf-8", region="cn-hangzhou", sign_date="20240102")
    key = signer.get_signing_key(context)
    return str(signer.make_response_signature(PATH, headers, key))


@pytest.mark.parametrize(
    ("request_headers", "theirs"),
    [(signed(), vendors_signature_v2), (signed_v4(), vendors_signature_v4)],
    ids=["v2", "v4"],
)
def test_the_vendors_client_accepts_the_answers_signature(  # wire §1.5
    request_headers: dict[str, str], theirs: Callable[[dict[str, str]], str]
) -> None:
    request = opened(request_headers)
    headers = parsed(response_headers(PATH, b"answer", REQUEST_ID, answer_date(NOW), request))
    authorization = headers.pop("Authorization")
    assert authorization == f"OTS ak:{theirs(headers)}"
