"""Attacks on identity: each a change that someone without the secret could make.

Every test starts from a request that opens, so that what is refused is refused for the change.
Headers that come twice are refused before, where headers are read (server/connection.py).
"""

import base64
import hashlib
import hmac
import traceback
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.auth.keyring import AccessKey, Keyring, secret_digest
from widerow.auth.policy import ANY_INSTANCE, InstancePolicy
from widerow.auth.signing import (
    SIGN_DATE,
    SIGN_REGION,
    SIGNATURE_V2,
    SIGNATURE_V4,
    Mac,
    canonical_request,
    derive_v4,
)
from widerow.errors import InvalidRequest, NotPermitted, Rule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.dialect import Opened
from widerow.wire.tablestore.envelope import (
    answer_date,
    open_request,
    response_headers,
)

PATH = "/GetRow"
BODY = b"a body"
NOW = 1_704_164_645_000_000  # 2024-01-02T03:04:05Z
SECRET = "canary-secret-of-a"
TOKEN = "canary-token"
KEY_A = AccessKey("key-a", SECRET, frozenset({"instance-a"}))
KEY_B = AccessKey("key-b", "canary-secret-of-b", frozenset({"instance-b"}))
KEY_T = AccessKey("key-t", "canary-secret-of-t", token_sha256=secret_digest(TOKEN))
KEYRING = Keyring([KEY_A, KEY_B, KEY_T])

Headers = dict[str, str]
Version = str


def digest(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def sign(headers: Headers, key: AccessKey, version: Version = "v2", path: str = PATH) -> Headers:
    """The request as its rightful sender would send it."""
    headers = dict(headers)
    if version == "v2":
        mac = Mac(key.secret.encode(), "sha1")
        headers[SIGNATURE_V2] = mac.sign(canonical_request(path, headers)).decode()
        return headers
    headers |= {SIGN_DATE: "20240102", SIGN_REGION: "home"}
    mac = Mac(derive_v4(key.secret.encode(), "20240102", "home"), "sha256")
    headers[SIGNATURE_V4] = mac.sign(canonical_request(path, headers) + b"ots").decode()
    return headers


def plain(key: AccessKey = KEY_A, instance: str = "instance-a", **changes: str) -> Headers:
    headers = {
        "x-ots-date": "2024-01-02T03:04:05.000Z",
        "x-ots-apiversion": "2015-12-31",
        "x-ots-accesskeyid": key.id,
        "x-ots-instancename": instance,
        "x-ots-contentmd5": digest(BODY),
    }
    return headers | {f"x-ots-{name}": value for name, value in changes.items()}


def attempt(
    headers: Headers,
    body: bytes = BODY,
    path: str = PATH,
    now_us: int = NOW,
    instances: InstancePolicy = ANY_INSTANCE,
) -> Opened:
    return open_request(path, headers, body, KEYRING, instances, now_us)[0]


def refusal(run: Callable[[], object]) -> InvalidRequest | NotPermitted:
    """The refusal that `run` ends in, after a look that it tells nobody a secret."""
    with pytest.raises((InvalidRequest, NotPermitted)) as caught:
        run()
    error = caught.value
    assert isinstance(error, InvalidRequest | NotPermitted)
    shown = "".join(traceback.format_exception_only(error)) + f"{error!r}{error!s}{error.details}"
    assert "canary" not in shown
    return error


@pytest.fixture(params=["v2", "v4"])
def version(request: pytest.FixtureRequest) -> Version:
    return str(request.param)


@pytest.fixture
def good(version: Version) -> Iterator[Headers]:
    headers = sign(plain(), KEY_A, version)
    assert attempt(headers).key is KEY_A
    yield headers
    assert attempt(headers).key is KEY_A  # what was tried on copies has changed nothing


def signature_name(version: Version) -> str:
    return SIGNATURE_V2 if version == "v2" else SIGNATURE_V4


# --- signatures ----------------------------------------------------------------------------------


SPOILT: list[Callable[[str], str]] = [
    lambda _: "",
    lambda _: " ",
    lambda text: text[:-1],
    lambda text: text[:4],
    lambda text: text.rstrip("="),
    lambda text: text + "=",
    lambda text: text + "A",
    lambda text: text.swapcase(),
    lambda text: text.lower(),
    lambda text: " " + text,
    lambda text: text + "\n",
    lambda text: text + "\0",
    lambda text: base64.b64decode(text).hex(),
    lambda text: base64.urlsafe_b64encode(base64.b64decode(text)).decode() + "_",
    lambda _: "*" * 28,
    lambda _: "=" * 28,
    lambda _: "ü" * 28,
    lambda _: "\udcff" * 28,
    lambda _: "\U0001f511",
    lambda _: "A" * 30_000,
    lambda _: base64.b64encode(bytes(20)).decode(),
    lambda _: base64.b64encode(bytes(32)).decode(),
]


def test_a_spoilt_signature_is_a_mismatch(good: Headers, version: Version) -> None:
    """One message for all of them (wire §1.3)."""
    name = signature_name(version)
    for spoil in SPOILT:
        spoilt = good | {name: spoil(good[name])}
        error = refusal(partial(attempt, spoilt))
        assert (error.rule, error.details) == (Rule.SIGNATURE_MISMATCH, {}), spoilt[name]


def test_base64_with_other_spare_bits_is_a_mismatch(good: Headers, version: Version) -> None:
    # The last character before the padding has bits that decoders drop: same bytes, other text.
    name = signature_name(version)
    stem, last = good[name][:-2], good[name][-2]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    twin = f"{stem}{alphabet[alphabet.index(last) ^ 1]}="
    assert base64.b64decode(twin) == base64.b64decode(good[name])
    assert refusal(lambda: attempt(good | {name: twin})).rule is Rule.SIGNATURE_MISMATCH


def test_no_signature_is_no_entry(good: Headers, version: Version) -> None:
    del good[signature_name(version)]
    error = refusal(lambda: attempt(good))
    assert error.rule is TablestoreRule.HEADER_MISSING
    good[signature_name(version)] = sign(plain(), KEY_A, version)[signature_name(version)]


def test_a_signature_made_with_another_keys_secret_is_a_mismatch(version: Version) -> None:
    headers = sign(plain(), KEY_B, version)  # says key-a, signed by key-b
    assert refusal(lambda: attempt(headers)).rule is Rule.SIGNATURE_MISMATCH


def test_a_guessed_secret_is_a_mismatch(version: Version) -> None:
    for secret in ("", "widerow", "key-a", SECRET.upper(), SECRET[:-1]):
        headers = sign(plain(), AccessKey("key-a", secret), version)
        assert refusal(partial(attempt, headers)).rule is Rule.SIGNATURE_MISMATCH, secret


def test_the_signature_of_one_action_does_not_serve_another(good: Headers) -> None:
    for path in ("/DeleteRow", "/getrow", "/GetRow/", "//GetRow", "/GetRow?", "/GetRow\nPOST\n"):
        error = refusal(partial(attempt, good, path=path))
        assert error.rule is Rule.SIGNATURE_MISMATCH


# --- headers -------------------------------------------------------------------------------------


def test_stripping_a_signed_header_is_refused(version: Version) -> None:
    extra = {"x-ots-request-tag": "t", "x-ots-sdk-traceid": "u"}
    headers = sign(plain() | extra, KEY_A, version)
    attempt(headers)
    for name in headers:
        stripped = {other: value for other, value in headers.items() if other != name}
        error = refusal(partial(attempt, stripped))
        assert error.rule in {TablestoreRule.HEADER_MISSING, Rule.SIGNATURE_MISMATCH}


@given(
    name=st.from_regex(r"x-ots-[a-z0-9-]{1,20}", fullmatch=True),
    value=st.text(max_size=20),
    version=st.sampled_from(["v2", "v4"]),
)
def test_adding_an_unsigned_header_is_refused(name: str, value: str, version: Version) -> None:
    headers = sign(plain(), KEY_A, version)
    added = headers | {name: value}
    if added != headers:
        assert refusal(lambda: attempt(added)).rule in {
            Rule.SIGNATURE_MISMATCH,
            TablestoreRule.HEADER_MISSING,
        }


def test_the_order_of_headers_does_not_matter(good: Headers) -> None:
    assert attempt(dict(reversed(good.items()))).key is KEY_A


def test_a_value_folded_inside_is_refused(good: Headers) -> None:
    folded = good | {"x-ots-instancename": "instance -a"}
    refusal(lambda: attempt(folded))


def test_two_headers_cannot_travel_as_one(version: Version) -> None:
    """Signed as two headers, sent as one whose value holds a line feed."""
    headers = sign(plain(tag="1", trace="2"), KEY_A, version)
    del headers["x-ots-trace"]
    for line_end in ("\n", "\r\n", "\n "):
        joined = headers | {"x-ots-tag": f"1{line_end}x-ots-trace:2"}
        assert refusal(partial(attempt, joined)).rule is Rule.SIGNATURE_MISMATCH


# --- bodies --------------------------------------------------------------------------------------


def test_a_changed_body_is_refused(good: Headers) -> None:
    for body in (b"", b"a bodY", BODY + b"\0", b"\0" + BODY, BODY[:-1]):
        assert refusal(partial(attempt, good, body)).rule is TablestoreRule.BODY_DIGEST, body


def test_a_changed_body_with_its_own_digest_is_refused(good: Headers) -> None:
    forged = good | {"x-ots-contentmd5": digest(b"forged")}
    assert refusal(lambda: attempt(forged, b"forged")).rule is Rule.SIGNATURE_MISMATCH


def test_a_body_without_digest_is_refused(version: Version) -> None:
    headers = plain()
    del headers["x-ots-contentmd5"]
    error = refusal(lambda: attempt(sign(headers, KEY_A, version)))
    assert error.details == {"name": "x-ots-contentmd5"}


def test_a_digest_of_something_else_is_refused_even_when_signed(version: Version) -> None:
    for text in ("", "x", digest(BODY).lower(), digest(b"other"), "é", "\udc80"):
        headers = sign(plain(contentmd5=text), KEY_A, version)
        assert refusal(partial(attempt, headers)).rule is TablestoreRule.BODY_DIGEST, text


# --- time ----------------------------------------------------------------------------------------


def test_impossible_dates_are_refused(version: Version) -> None:
    for date, rule in (
        ("9999-12-31T23:59:59.000Z", TablestoreRule.DATE_SKEW),
        ("0001-01-01T00:00:00.000Z", TablestoreRule.DATE_SKEW),
        ("10000-01-01T00:00:00.000Z", TablestoreRule.DATE_FORMAT),
        ("2024-01-02T03:04:05.000Z\0", TablestoreRule.DATE_FORMAT),
        ("\ud800" * 20, TablestoreRule.DATE_FORMAT),
    ):
        headers = sign(plain(date=date), KEY_A, version)
        assert refusal(partial(attempt, headers)).rule is rule, date


# --- who and where -------------------------------------------------------------------------------


def test_an_unknown_key_is_refused(version: Version) -> None:
    for name in ("nobody", "", "KEY-A", "key-a ", "key-a\0", "key-b,key-a"):
        headers = sign(plain(accesskeyid=name), KEY_A, version)
        assert refusal(partial(attempt, headers)).rule is Rule.ACCESS_KEY_UNKNOWN, name


def test_a_deleted_key_is_refused_with_the_next_keyring(good: Headers) -> None:
    without = Keyring([KEY_B])
    error = refusal(lambda: open_request(PATH, good, BODY, without, ANY_INSTANCE, NOW))
    assert error.rule is Rule.ACCESS_KEY_UNKNOWN


@pytest.mark.parametrize(("key", "instance"), [(KEY_A, "instance-b"), (KEY_B, "instance-a")])
def test_the_key_of_one_instance_does_not_open_another(
    version: Version, key: AccessKey, instance: str
) -> None:
    headers = sign(plain(key, instance), key, version)
    assert refusal(lambda: attempt(headers)).rule is Rule.INSTANCE_FORBIDDEN


def test_instance_names_are_compared_exactly(version: Version) -> None:
    for instance in ("INSTANCE-A", "Instance-A", "instance-a2", "instance"):
        headers = sign(plain(KEY_A, instance), KEY_A, version)
        assert refusal(partial(attempt, headers)).rule is Rule.INSTANCE_FORBIDDEN, instance


ODD_INSTANCES = [
    "",
    ".",
    "..",
    "../instance-a",
    "instance-a.",
    "instance-a/",
    "/instance-a",
    "instance\\a",
    "instance-a\0",
    "\x01\x02",
    "instance-a\x7f",
    "instance a",
    "instance%2da",
    "ınstance-a",
    "instance\u2010a",
    "\udc80",
    "a" * 256,
    "a" * 30_000,
]


def test_odd_instance_names_are_refused(version: Version) -> None:
    for instance in ODD_INSTANCES:
        headers = sign(plain(KEY_T, instance, ststoken=TOKEN), KEY_T, version)
        error = refusal(partial(attempt, headers))
        assert error.rule is Rule.INSTANCE_NAME, instance
        assert len(str(error.details["name"])) <= 255


def test_a_wrong_security_token_is_refused_even_when_signed(version: Version) -> None:
    for token in ("", "x", TOKEN.upper(), TOKEN + "x", "é", "\udc80"):
        headers = sign(plain(KEY_T, ststoken=token), KEY_T, version)
        assert refusal(partial(attempt, headers)).rule is TablestoreRule.SECURITY_TOKEN, token


def test_a_security_token_alone_opens_nothing(version: Version) -> None:
    headers = sign(plain(KEY_T, ststoken=TOKEN), AccessKey("key-t", "guess"), version)
    assert refusal(lambda: attempt(headers)).rule is Rule.SIGNATURE_MISMATCH


# --- what shows ----------------------------------------------------------------------------------


def test_no_secret_shows_in_anything_a_request_makes(good: Headers) -> None:
    opened = attempt(good)
    answer = response_headers(PATH, b"", "id", answer_date(NOW), opened)
    shown = f"{opened!r}{opened!s}{KEYRING!r}{KEY_A!r}{KEY_T!s}{answer!r}"
    assert "canary" not in shown
    assert SECRET.encode().hex() not in shown
    assert base64.b64encode(SECRET.encode()).decode() not in shown


def test_secrets_are_compared_in_constant_time(
    version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def watched(ours: bytes, theirs: bytes) -> bool:
        compared.append((ours, theirs))
        return real(ours, theirs)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    headers = sign(plain(KEY_T, ststoken=TOKEN), KEY_T, version)
    attempt(headers)
    expected = [
        headers[signature_name(version)].encode(),
        secret_digest(TOKEN),
        digest(BODY).encode(),
    ]
    assert compared == [(each, each) for each in expected]
