"""Requests with an API key in place of a signature (change §D5)."""

import hmac
import zlib
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.http import Sender, digest

from widerow.auth.keyring import AccessKey, ApiKey, Keyring, Permission, secret_digest
from widerow.auth.policy import ANY_INSTANCE, InstancePolicy
from widerow.auth.signing import SIGN_DATE, SIGN_REGION, SIGNATURE_V4, Mac, derive_v4
from widerow.auth.signing import canonical_request as canonical
from widerow.errors import AnyRule, InvalidRequest, NotPermitted, Rule
from widerow.limits import BODY_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.dialect import Opened
from widerow.wire.tablestore.envelope import answer_date, open_request, response_headers
from widerow.wire.tablestore.errors.answers import foreign, hint

PATH: Final = "/GetRow"
END: Final = 4_102_444_800_000_000  # 2100-01-01: the requests of `Sender` have the time of now
SHOP: Final = ApiKey(
    "shop", secret_digest("the key"), frozenset({"shop"}), frozenset({Permission.READ}), END
)
ANYWHERE: Final = ApiKey("anywhere", secret_digest("another key"))
OWNER: Final = AccessKey("widerow", "widerow")
KEYRING: Final = Keyring([OWNER], [SHOP, ANYWHERE], takes_api_keys=True)
CLOSED: Final = Keyring([OWNER], [SHOP, ANYWHERE])
GOOD: Final = {"x-ots-instancename": "shop", "x-ots-apikey": "the key"}

Headers = dict[str, str]


def opened(
    headers: Headers, body: bytes = b"", now_us: int = 0, keyring: Keyring = KEYRING
) -> tuple[Opened, bytes]:
    return open_request(PATH, headers, body, keyring, ANY_INSTANCE, now_us)


def rule_of(headers: Headers, body: bytes = b"", now_us: int = 0) -> AnyRule:
    with pytest.raises((InvalidRequest, NotPermitted)) as caught:
        opened(headers, body, now_us)
    assert isinstance(caught.value, InvalidRequest | NotPermitted)
    return caught.value.rule


def test_a_key_opens_its_instance_without_date_digest_or_access_key() -> None:
    request, body = opened(GOOD, b"body")
    assert (request.key, request.instance, body) == (SHOP, "shop", b"body")
    assert opened(GOOD | {"x-ots-apikey": "another key"})[0].key is ANYWHERE


REFUSED: dict[str, tuple[Headers, int, Keyring, InstancePolicy]] = {
    "wrong": (GOOD | {"x-ots-apikey": "the kez"}, 0, KEYRING, ANY_INSTANCE),
    "empty": (GOOD | {"x-ots-apikey": ""}, 0, KEYRING, ANY_INSTANCE),
    "its digest": (GOOD | {"x-ots-apikey": SHOP.sha256.hex()}, 0, KEYRING, ANY_INSTANCE),
    "an access key": (GOOD | {"x-ots-apikey": "widerow"}, 0, KEYRING, ANY_INSTANCE),
    "long": (GOOD | {"x-ots-apikey": "the key" * 4000}, 0, KEYRING, ANY_INSTANCE),
    "no text": (GOOD | {"x-ots-apikey": "\udcff"}, 0, KEYRING, ANY_INSTANCE),
    "expired": (GOOD, END, KEYRING, ANY_INSTANCE),
    "another instance": (GOOD | {"x-ots-instancename": "audit"}, 0, KEYRING, ANY_INSTANCE),
    "in another spelling": (GOOD | {"x-ots-instancename": "Shop"}, 0, KEYRING, ANY_INSTANCE),
    "unknown instance": (GOOD, 0, KEYRING, InstancePolicy(frozenset({"audit"}))),
    "no TLS": (GOOD, 0, CLOSED, ANY_INSTANCE),
    "not enabled": (GOOD, 0, Keyring([OWNER], takes_api_keys=True), ANY_INSTANCE),
    "with a token": (GOOD | {"x-ots-ststoken": "t"}, 0, KEYRING, ANY_INSTANCE),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_whatever_is_wrong_is_refused_in_the_same_words(reason: str) -> None:
    headers, now_us, keyring, policy = REFUSED[reason]
    with pytest.raises(NotPermitted) as caught:
        open_request(PATH, headers, b"", keyring, policy, now_us)
    assert foreign(caught.value) == (403, "OTSAuthFailed", "The API key is invalid.")
    assert hint(caught.value) == hint(NotPermitted(Rule.API_KEY))  # nor does the hint tell


def test_a_key_is_good_until_its_end() -> None:
    assert opened(GOOD, now_us=END - 1)[0].key is SHOP


def test_the_instance_is_asked_for_by_name() -> None:
    with pytest.raises(InvalidRequest) as caught:
        opened({"x-ots-apikey": "the key"})
    assert caught.value.rule is TablestoreRule.HEADER_MISSING
    assert caught.value.details == {"name": "x-ots-instancename"}


def test_a_digest_that_is_sent_is_verified() -> None:
    assert opened(GOOD | {"x-ots-contentmd5": digest(b"body")}, b"body")[1] == b"body"
    assert (
        rule_of(GOOD | {"x-ots-contentmd5": digest(b"other")}, b"body")
        is TablestoreRule.BODY_DIGEST
    )
    assert rule_of(GOOD | {"x-ots-contentmd5": ""}, b"body") is TablestoreRule.BODY_DIGEST


def test_bounds_and_compression_are_those_of_signed_requests() -> None:
    assert rule_of(GOOD, bytes(BODY_BYTES_MAX + 1)) is Rule.BODY_TOO_LARGE
    deflated = GOOD | {"x-ots-request-compress-type": "deflate"}
    announced = deflated | {"x-ots-request-compress-size": "4"}
    assert opened(announced, zlib.compress(b"body"))[1] == b"body"
    assert rule_of(deflated, zlib.compress(b"body")) is TablestoreRule.BODY_COMPRESSION


NOW: Final = 1_800_000_000_000_000


def signed(apikey: str, *, v4: bool) -> Headers:
    headers = Sender(instance="shop").headers(date="2027-01-15T08:00:00.000Z", apikey=apikey)
    if not v4:
        return Sender().sign("GetRow", headers)
    headers |= {SIGN_DATE: "20270115", SIGN_REGION: "r"}
    mac = Mac(derive_v4(b"widerow", "20270115", "r"), "sha256")
    return headers | {SIGNATURE_V4: mac.sign(canonical(PATH, headers) + b"ots").decode()}


@pytest.mark.parametrize("v4", [False, True])
@pytest.mark.parametrize("apikey", ["the key", "wrong"])
def test_beside_a_signature_the_signature_decides(apikey: str, *, v4: bool) -> None:
    headers = signed(apikey, v4=v4)
    assert opened(headers, now_us=NOW)[0].key is OWNER
    spoiled = headers | {"x-ots-apikey": "the key", "x-ots-date": "2027-01-15T08:00:01.000Z"}
    assert rule_of(spoiled, now_us=NOW) is Rule.SIGNATURE_MISMATCH


def test_answers_are_not_signed() -> None:  # there is nothing that both sides know
    request, _ = opened(GOOD)
    told = response_headers(PATH, b"", "id", answer_date(0), request).decode()
    assert "authorization" not in told.lower()
    assert response_headers(PATH, b"", "id", answer_date(0), None).decode() == told


def test_every_key_is_compared_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    # Neither the place of a key nor how far it agrees may be seen in the time of an answer.
    compared: list[bytes] = []
    compare = hmac.compare_digest

    def watched(left: bytes, right: bytes) -> bool:
        compared.append(left)
        return compare(left, right)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    for text in ("the key", "another key"):
        compared.clear()
        KEYRING.find_api_key(text, 0)
        assert compared == [SHOP.sha256, ANYWHERE.sha256]


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("x-ots-instancename", "x-ots-apikey", "x-ots-contentmd5", "x-ots-ststoken"),
                *("x-ots-request-compress-size", "x-ots-request-compress-type", "x-ots-date"),
            ]
        ),
        st.text(max_size=30) | st.sampled_from(["the kez", "shop", "deflate", "9"]),
    ),
    st.binary(max_size=10),
)
def test_nothing_but_the_key_opens_anything(headers: Headers, body: bytes) -> None:
    with pytest.raises((InvalidRequest, NotPermitted)):
        opened(headers, body)
