"""Credentials files: what is read from them, and what is said about a mistake."""

import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.auth.keyring import (
    ALL_PERMISSIONS,
    AccessKey,
    CredentialsInvalid,
    Keyring,
    Permission,
    is_instance_name,
)
from widerow.errors import NotPermitted, Rule

FILE = """
[[key]]
id = "admin"
secret = "canary-one"

[[key]]
id = "reporting"
secret = "canary-two"
instances = ["shop", "stock-2"]
permissions = ["read"]
security_token = "canary-token"
"""


def test_the_default_pair_opens_everything() -> None:
    key = Keyring.default().find("widerow")
    assert (key.id, key.secret, key.instances) == ("widerow", "widerow", None)
    assert key.permissions == ALL_PERMISSIONS
    assert key.security_token is None


def test_a_file_says_what_each_key_may() -> None:
    keyring = Keyring.load(FILE)
    assert len(keyring) == 2
    assert keyring.find("admin") == AccessKey("admin", "canary-one")
    assert keyring.find("reporting") == AccessKey(
        "reporting",
        "canary-two",
        frozenset({"shop", "stock-2"}),
        frozenset({Permission.READ}),
        "canary-token",
    )


@pytest.mark.parametrize("name", ["", "Admin", "admin ", "nobody", "\udc80"])
def test_an_unknown_key_is_not_found(name: str) -> None:  # semantics §18.1, 403
    with pytest.raises(NotPermitted) as caught:
        Keyring.load(FILE).find(name)
    assert caught.value.rule is Rule.ACCESS_KEY_UNKNOWN


KEY = '[[key]]\nid = "a"\nsecret = "canary"\n'

MISTAKES = {
    "broken": (KEY + "instances = ?\nx = 1", "line 4"),
    "empty": ("", "no [[key]]"),
    "no key": ("key = []", "no [[key]]"),
    "not tables": ('key = ["a"]', "[[key]]"),
    "one table": ('[key]\nid = "a"', "[[key]]"),
    "top level": ('id = "a"\n' + KEY, "'id'"),
    "unknown field": (KEY + 'secrets = "x"', "key 1: unknown field 'secrets'"),
    "second key": (KEY + '[[key]]\nid = "b"', "key 2 (b): secret must be"),
    "no id": ('[[key]]\nsecret = "canary"', "key 1: id must be"),
    "id with colon": ('[[key]]\nid = "a:b"\nsecret = "canary"', "key 1: id"),
    "id with space": ('[[key]]\nid = "a b"\nsecret = "canary"', "key 1: id"),
    "foreign id": ('[[key]]\nid = "é"\nsecret = "canary"', "key 1: id"),
    "number": ('[[key]]\nid = "a"\nsecret = 5', "key 1 (a): secret must be"),
    "empty secret": ('[[key]]\nid = "a"\nsecret = ""', "key 1 (a): secret must be"),
    "long secret": (f'[[key]]\nid = "a"\nsecret = "{"canary" * 60}"', "1 to 256 bytes"),
    "line in secret": ('[[key]]\nid = "a"\nsecret = "canary\\n"', "control characters"),
    "padded secret": ('[[key]]\nid = "a"\nsecret = " canary"', "outer spaces"),
    "twice": (KEY + KEY, "two keys have the id 'a'"),
    "instance text": (KEY + 'instances = "shop"', "key 1 (a): instances must be a list"),
    "no instance": (KEY + "instances = []", "key 1 (a): instances is empty"),
    "odd instance": (KEY + 'instances = [".."]', "'..' is not an instance name"),
    "permission": (KEY + 'permissions = ["admin"]', "unknown permission 'admin'"),
    "no permission": (KEY + "permissions = []", "key 1 (a): permissions is empty"),
    "token number": (KEY + "security_token = 1", "key 1 (a): security_token must be"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_by_place_and_never_by_secret(mistake: str) -> None:
    text, message = MISTAKES[mistake]
    with pytest.raises(CredentialsInvalid) as caught:
        Keyring.load(text)
    assert message in str(caught.value)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


# What means something in TOML, and what is refused there.
SIGNS = "a1_-.,=#\"'\\[]{} \t\n\r\x00\x1f\x7fé雪\U0001f600"
VALUES = st.one_of(
    st.text(SIGNS, max_size=5).map(repr),
    st.sampled_from(["1", "true", "[]", "{}", "[1]", '["a"]', '"a"', '["read"]', "1979-05-27"]),
)
FIELDS = ("id", "secret", "instances", "permissions", "security_token", "key")
HEADS = ("[[key]]", "[key]", "", "[[key.key]]")


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, VALUES)),
    st.sampled_from(HEADS),
)
def test_any_file_is_read_or_refused(fields: dict[str, str], head: str) -> None:
    text = "\n".join([head, *(f"{name} = {value}" for name, value in fields.items())])
    with suppress(CredentialsInvalid):
        assert len(Keyring.load(text)) == 1


def test_secrets_do_not_show() -> None:
    keyring = Keyring.load(FILE)
    shown = [f"{keyring!r} {keyring!s}"]
    shown += [f"{keyring.find(name)!r} {keyring.find(name)!s}" for name in ("admin", "reporting")]
    assert "canary" not in " ".join(shown)
    assert "reporting" in shown[0]


PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
# The neighbours of the plain ones, and letters and digits of other scripts.
OTHERS = "@[`{/:,. \x00\n\x7f\xaa\u017f\xb2\u0663\xdf\u0130\u212a\uff21雪"


@given(st.text(PLAIN, max_size=8) | st.text(PLAIN + OTHERS, max_size=8))
def test_instance_names_are_plain(name: str) -> None:
    assert is_instance_name(name) == (bool(name) and set(name) <= set(PLAIN))


def test_names_that_are_too_long_are_not_remembered() -> None:
    # They come before a signature is verified: whoever sends them is unknown (SECURITY.md).
    tracemalloc.start()
    try:
        for number in range(2000):
            assert not is_instance_name(f"{number:032000}")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000


def test_instance_names_end_at_255() -> None:
    assert is_instance_name("a" * 255)
    assert not is_instance_name("a" * 256)
