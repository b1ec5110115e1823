"""Signatures against the protocol's vectors, the standard library and the vendor's own signer."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablestore.auth import RequestContext, SignV2, SignV4
from tablestore.credentials import Credentials

from widerow.auth.signing import (
    SIGN_DATE,
    SIGN_REGION,
    SIGNATURE_V2,
    SIGNATURE_V4,
    Mac,
    SigningKeys,
    canonical_request,
    canonical_response,
    derive_v4,
)
from widerow.errors import NotPermitted, Rule
from widerow.limits import SCOPED_KEYS_MAX

REQUEST = {
    "x-ots-accesskeyid": "testak",
    "x-ots-apiversion": "2015-12-31",
    "x-ots-contentmd5": "1B2M2Y8AsgTpgAmY7PhCfg==",
    "x-ots-date": "2024-01-02T03:04:05.000Z",
    "x-ots-instancename": "inst",
}
SCOPE = {SIGN_DATE: "20240102", SIGN_REGION: "cn-hangzhou"}
V2 = "bApfbUuRC0kYRFEfbzjNTBH5PTc="
V4 = "vjfJKE1+UXQ/9Te4L3/lmfBAH4cI2Sy2BnHNizFxfHo="
RESPONSE = (
    ("x-ots-contentmd5", "1B2M2Y8AsgTpgAmY7PhCfg=="),
    ("x-ots-contenttype", "protocol buffer"),
    ("x-ots-date", "2024-01-02T03:04:05.000Z"),
    ("x-ots-requestid", "0005f1d2-0000-0000-0000-000000000001"),
)

# What a header may hold without the HTTP layer refusing it: no control characters.
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40)
# Of one length: clients disagree on the order where one name begins another (wire §1.3).
NAMES = st.from_regex(r"x-ots-[a-z0-9]{6}", fullmatch=True).filter(
    lambda name: name not in {SIGNATURE_V2, SIGNATURE_V4, SIGN_DATE, SIGN_REGION}
)


def refused(keys: SigningKeys, headers: dict[str, str], path: str = "/ListTable") -> bool:
    with pytest.raises(NotPermitted) as caught:
        keys.verify(path, headers)
    return caught.value.rule is Rule.SIGNATURE_MISMATCH


def test_the_canonical_request_of_the_vector() -> None:  # wire §1.3
    assert canonical_request("/ListTable", {**REQUEST, SIGNATURE_V2: V2}) == (
        b"/ListTable\nPOST\n\nx-ots-accesskeyid:testak\nx-ots-apiversion:2015-12-31\n"
        b"x-ots-contentmd5:1B2M2Y8AsgTpgAmY7PhCfg==\nx-ots-date:2024-01-02T03:04:05.000Z\n"
        b"x-ots-instancename:inst\n"
    )


def test_the_canonical_request_leaves_out_what_is_not_the_protocols() -> None:  # wire §1.3
    foreign = {"host": "h", "user-agent": "a", "x-other": "b"}
    assert canonical_request("/A", REQUEST | foreign) == canonical_request("/A", REQUEST)


def test_values_lose_their_outer_whitespace() -> None:  # wire §1.3
    assert canonical_request("/A", {"x-ots-a": " \t1 2 "}) == b"/A\nPOST\n\nx-ots-a:1 2\n"


@pytest.mark.parametrize("smuggled", ["1\nx-ots-b:2", "\n1\n2", "1\n2"])
def test_a_value_cannot_pass_for_two_headers(smuggled: str) -> None:
    with pytest.raises(NotPermitted):
        canonical_request("/A", {"x-ots-a": smuggled})
    with pytest.raises(NotPermitted):
        canonical_request(f"/{smuggled}", {"x-ots-a": "1"})


def test_the_v2_vector_verifies_and_its_response_is_signed() -> None:  # wire §1.3, §1.5
    reply = SigningKeys("testsk").verify("/ListTable", {**REQUEST, SIGNATURE_V2: V2})
    assert reply.sign(canonical_response("/ListTable", RESPONSE)) == b"uHs1cAWM4O0CNqhRKgukfjTypCM="


def test_the_v4_vector_verifies_and_its_response_is_signed() -> None:  # wire §1.4, §1.5
    reply = SigningKeys("testsk").verify("/ListTable", {**REQUEST, **SCOPE, SIGNATURE_V4: V4})
    assert reply.sign(canonical_response("/ListTable", RESPONSE)) == b"Pp1llVfvIdCvRJkxFox4rBfvQJk="


def test_the_v4_key_of_the_vector() -> None:  # wire §1.4
    key = derive_v4(b"testsk", "20240102", "cn-hangzhou")
    assert key == b"5orKAGtjeIqZfSjBrWBgTj+RZINQQiWTagcSAs2EAmA="


@given(st.binary(max_size=200), st.binary(max_size=300), st.sampled_from(["sha1", "sha256"]))
def test_mac_is_hmac_for_keys_of_any_length(key: bytes, message: bytes, algorithm: str) -> None:
    mac = Mac(key, "sha1" if algorithm == "sha1" else "sha256")
    expected = base64.b64encode(hmac.digest(key, message, algorithm))
    assert mac.sign(message) == expected
    assert mac.sign(message) == expected  # the states are copied, not used up


@given(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=12),
    st.text("abAB12", min_size=1, max_size=20),
)
def test_what_the_vendors_signer_signs_under_v2_verifies(
    headers: dict[str, str], secret: str
) -> None:
    signer, context = SignV2("utf-8"), RequestContext(Credentials("ak", secret))
    signed = dict(headers)
    signer.make_request_signature_and_add_headers("/GetRow", signed, context)
    reply = SigningKeys(secret).verify("/GetRow", signed)
    ours = reply.sign(canonical_response("/GetRow", RESPONSE))
    theirs = signer.make_response_signature(
        "/GetRow", dict(RESPONSE), signer.get_signing_key(context)
    )
    assert ours.decode() == theirs


@given(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=12),
    st.text("abAB12", min_size=1, max_size=20),
)
def test_what_the_vendors_signer_signs_under_v4_verifies(
    headers: dict[str, str], secret: str
) -> None:
    signer = SignV4("utf-8", region="cn-hangzhou", sign_date="20240102")
    context = RequestContext(Credentials("ak", secret))
    signed = dict(headers)
    signer.make_request_signature_and_add_headers("/GetRow", signed, context)
    reply = SigningKeys(secret).verify("/GetRow", signed)
    ours = reply.sign(canonical_response("/GetRow", RESPONSE))
    theirs = signer.make_response_signature(
        "/GetRow", dict(RESPONSE), signer.get_signing_key(context)
    )
    assert ours.decode() == theirs


@given(st.data())
def test_changing_any_one_signed_thing_refuses(data: st.DataObject) -> None:  # wire §1.3
    headers = {**REQUEST, SIGNATURE_V2: V2}
    name = data.draw(st.sampled_from(sorted(headers)))
    place = data.draw(st.integers(0, len(headers[name]) - 1))
    other = data.draw(st.characters(min_codepoint=33, max_codepoint=126))
    changed = headers[name][:place] + other + headers[name][place + 1 :]
    if changed != headers[name]:
        assert refused(SigningKeys("testsk"), headers | {name: changed})


def test_a_v4_signature_does_not_hold_for_another_day_or_region() -> None:  # wire §1.4
    signed = {**REQUEST, **SCOPE, SIGNATURE_V4: V4}
    keys = SigningKeys("testsk")
    assert refused(keys, signed | {SIGN_DATE: "20240103"})
    assert refused(keys, signed | {SIGN_REGION: "cn-shanghai"})


def test_two_kinds_of_signature_at_once_are_refused() -> None:
    headers = {**REQUEST, **SCOPE}
    message = canonical_request("/ListTable", headers)
    headers[SIGNATURE_V2] = Mac(b"testsk", "sha1").sign(message).decode()
    headers[SIGNATURE_V4] = V4
    assert refused(SigningKeys("testsk"), headers)
    del headers[SIGNATURE_V4]
    SigningKeys("testsk").verify("/ListTable", headers)


def test_a_v2_signature_does_not_pass_as_v4_nor_the_other_way() -> None:
    assert refused(SigningKeys("testsk"), {**REQUEST, **SCOPE, SIGNATURE_V4: V2})
    assert refused(SigningKeys("testsk"), {**REQUEST, **SCOPE, SIGNATURE_V2: V4})


def sign_v4(secret: str, region: str) -> dict[str, str]:
    headers = {**REQUEST, SIGN_DATE: "20240102", SIGN_REGION: region}
    key = derive_v4(secret.encode(), "20240102", region)
    message = canonical_request("/ListTable", headers) + b"ots"
    headers[SIGNATURE_V4] = Mac(key, "sha256").sign(message).decode()
    return headers


def kept_scopes(keys: SigningKeys) -> int:
    return len(keys._scoped)


def test_derived_keys_are_kept_in_a_bounded_number() -> None:
    keys = SigningKeys("s")
    for number in range(SCOPED_KEYS_MAX * 2):
        for _ in range(2):  # the second time from what was kept
            keys.verify("/ListTable", sign_v4("s", f"r{number}"))
        assert kept_scopes(keys) == min(number + 1, SCOPED_KEYS_MAX)


def test_derived_keys_of_refused_requests_are_not_kept() -> None:
    keys = SigningKeys("s")
    keys.verify("/ListTable", sign_v4("s", "home"))
    for number in range(SCOPED_KEYS_MAX * 2):
        assert refused(keys, sign_v4("guess", f"r{number}"))
    assert kept_scopes(keys) == 1


def test_nothing_of_a_key_shows() -> None:
    keys = SigningKeys("canary-secret")
    reply = keys.verify("/ListTable", sign_v4("canary-secret", "home"))
    shown = f"{keys!r} {keys!s} {reply!r} {reply!s}"
    assert "canary" not in shown
    assert hashlib.sha1(b"canary-secret", usedforsecurity=False).hexdigest() not in shown
