"""Who may ask (docs/protocol/nosql.md, "Authorization"; nosql-wire §1)."""

from hashlib import sha256
from typing import Final

import pytest

from widerow.auth.keyring import AccessKey, ApiKey, Keyring
from widerow.auth.policy import ANY_INSTANCE, InstancePolicy
from widerow.errors import InvalidRequest, NotPermitted
from widerow.wire.nosql.dialect import NOSQL_DIALECT
from widerow.wire.nosql.envelope import HEALTH_PATH, open_frame, open_frame_onprem

SIGNATURE: Final = (
    'Signature algorithm="rsa-sha256",headers="date",keyId="ocid/user/aa:bb",signature="abc",'
    'version="1"'
)
OWN: Final = Keyring(
    [AccessKey("ada", "secret")],
    [ApiKey("notebook", sha256(b"long text").digest())],
    takes_api_keys=True,
)
OPEN: Final = Keyring([AccessKey("ada", "secret")])  # a port on which somebody may read along


def opened(keyring: Keyring, authorization: str, instances: InstancePolicy = ANY_INSTANCE) -> str:
    """The name of the key that a request is opened by."""
    headers = {"x-nosql-request-id": "7"}
    if authorization:
        headers["authorization"] = authorization
    found, body = open_frame("/", headers, b"body", keyring, instances, 0)
    assert (body, found.instance, found.reply) == (b"body", "sysdefault", "7")
    return found.key.id if isinstance(found.key, AccessKey) else found.key.name


def refused(keyring: Keyring, authorization: str) -> tuple[int, str]:
    """Code and text of the refusal."""
    with pytest.raises(NotPermitted) as caught:
        opened(keyring, authorization)
    refusal = NOSQL_DIALECT.refuse(caught.value, "GET", "")
    return int(refusal.code), refusal.body.decode("latin-1")


def test_with_the_default_key_any_name_will_do() -> None:
    for authorization in ("Bearer anybody", "Bearer test_tenant", "Bearer widerow", SIGNATURE):
        assert opened(Keyring.default(), authorization) == "widerow"


def test_with_keys_of_its_own_a_server_takes_these_alone() -> None:
    assert opened(OWN, "Bearer ada:secret") == "ada"
    assert opened(OWN, "Bearer long text") == "notebook"
    for token in ("ada", "ada:", "ada:other", "eve:secret", "widerow", ":", "long text2"):
        assert refused(OWN, f"Bearer {token}")[0] == 11, token
    assert refused(OWN, SIGNATURE)[0] == 11


def test_no_secret_travels_where_somebody_may_read_along() -> None:
    for token in ("ada:secret", "long text"):
        assert refused(OPEN, f"Bearer {token}")[0] == 11


def test_headers_of_another_form_are_refused_in_the_vendors_words() -> None:
    for keyring in (Keyring.default(), OWN):
        code, text = refused(keyring, "")
        assert code == 11
        assert "Authorization header is missing" in text
        for authorization in ("Basic abc", "Bearer", "Bearer  ", "bearer x", "Signature x"):
            code, text = refused(keyring, authorization)
            assert (code, authorization in text) == (11, True)


def test_a_server_whose_list_has_no_typed_tables_refuses() -> None:
    """`sysdefault` stands for them in the list of instances."""
    assert opened(Keyring.default(), "Bearer x", InstancePolicy(frozenset({"sysdefault"})))
    with pytest.raises(NotPermitted):
        opened(Keyring.default(), "Bearer x", InstancePolicy(frozenset({"shop"})))


def test_a_request_has_an_id_and_a_look_at_the_health_needs_none() -> None:
    with pytest.raises(InvalidRequest) as caught:
        open_frame("/", {"authorization": "Bearer x"}, b"", OWN, ANY_INSTANCE, 0)
    assert NOSQL_DIALECT.refuse(caught.value, "", "").body[0] == 17
    anybody = open_frame(HEALTH_PATH, {}, b"", OWN, ANY_INSTANCE, 0)[0].key
    assert isinstance(anybody, AccessKey)
    assert anybody not in OWN.access_keys


def opened_onprem(keyring: Keyring, **headers: str) -> tuple[str, str]:
    """The key that a request to a store of one's own is opened by, and its namespace."""
    sent = {"x-nosql-request-id": "7"} | {
        name.replace("_", "-"): each for name, each in headers.items()
    }
    found, _ = open_frame_onprem("/", sent, b"", keyring, ANY_INSTANCE, 0)
    return getattr(found.key, "id", ""), found.instance


def test_a_store_of_ones_own_asks_for_a_sender_where_it_has_keys_of_its_own() -> None:
    assert opened_onprem(Keyring.default()) == ("widerow", "sysdefault")
    assert opened_onprem(Keyring.default(), authorization="Bearer x") == ("widerow", "sysdefault")
    assert opened_onprem(OWN, authorization="Bearer ada:secret") == ("ada", "sysdefault")
    for headers in ({}, {"authorization": ""}, {"authorization": "Bearer anybody"}):
        with pytest.raises(NotPermitted):
            opened_onprem(OWN, **headers)
    with pytest.raises(NotPermitted):
        opened_onprem(Keyring.default(), authorization="Basic abc")


def test_the_namespace_of_a_request_is_a_name_and_no_instance() -> None:
    assert opened_onprem(Keyring.default(), x_nosql_default_ns="shop.a") == ("widerow", "shop.a")
    for wrong in ("1shop", "a b", "a/b", "n" * 129):
        with pytest.raises(InvalidRequest):
            opened_onprem(Keyring.default(), x_nosql_default_ns=wrong)
    own = AccessKey("eve", "secret", instances=frozenset({"shop"}))
    with pytest.raises(NotPermitted):  # to the policy all namespaces are `sysdefault`
        opened_onprem(
            Keyring([own], takes_api_keys=True),
            authorization="Bearer eve:secret",
            x_nosql_default_ns="shop",
        )
