"""Credentials files: what is read from them, and what is said about a mistake."""

import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.auth.keyring import (
    ALL_PERMISSIONS,
    AccessKey,
    ApiKey,
    CredentialsInvalid,
    Keyring,
    Permission,
    is_instance_name,
    secret_digest,
)
from widerow.errors import NotPermitted, Rule
from widerow.limits import API_KEYS_MAX

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
    assert (key.token_sha256, key.parent, key.expires_us) == (None, None, None)


def test_a_file_says_what_each_key_may() -> None:
    keyring = Keyring.load(FILE)
    assert len(keyring) == 2
    assert keyring.find("admin") == AccessKey("admin", "canary-one")
    assert keyring.find("reporting") == AccessKey(
        "reporting",
        "canary-two",
        frozenset({"shop", "stock-2"}),
        frozenset({Permission.READ}),
        secret_digest("canary-token"),
    )


@pytest.mark.parametrize("name", ["", "Admin", "admin ", "nobody", "\udc80"])
def test_an_unknown_key_is_not_found(name: str) -> None:  # semantics §18.1, 403
    with pytest.raises(NotPermitted) as caught:
        Keyring.load(FILE).find(name)
    assert caught.value.rule is Rule.ACCESS_KEY_UNKNOWN


NOON = 1_801_396_800_000_000  # 2027-01-31T12:00:00Z
TEMPORARY = """
[[temporary_key]]
id = "tmp"
secret = "canary-three"
parent = "reporting"
expires = 2027-01-31T12:00:00Z
security_token = "canary-token"
"""


def test_a_temporary_key_may_do_what_its_parent_may() -> None:  # change §D6
    assert Keyring.load(FILE + TEMPORARY).find("tmp") == AccessKey(
        "tmp",
        "canary-three",
        frozenset({"shop", "stock-2"}),
        frozenset({Permission.READ}),
        secret_digest("canary-token"),
        "reporting",
        NOON,
    )


@pytest.mark.parametrize(
    ("parent", "instances", "permissions", "expected"),
    [
        ("admin", '["a"]', '["read", "write"]', ({"a"}, {Permission.READ, Permission.WRITE})),
        ("reporting", '["shop", "a"]', '["read", "write"]', ({"shop"}, {Permission.READ})),
        ("reporting", '["a"]', '["manage"]', (set(), set())),
    ],
)
def test_what_it_lists_is_cut_to_what_its_parent_may(
    parent: str, instances: str, permissions: str, expected: tuple[set[str], set[Permission]]
) -> None:  # change §D6
    own = f"instances = {instances}\npermissions = {permissions}\n"
    key = Keyring.load(FILE + TEMPORARY.replace("reporting", parent) + own).find("tmp")
    assert key.instances is not None
    assert (set(key.instances), set(key.permissions)) == expected


def test_the_token_of_a_temporary_key_may_be_kept_as_its_digest() -> None:  # change §D6
    digest = secret_digest("canary-token").hex()
    hashed = TEMPORARY.replace('security_token = "canary-token"', f'token_sha256 = "{digest}"')
    assert "canary-token" not in hashed
    plain, kept = (Keyring.load(FILE + each).find("tmp") for each in (TEMPORARY, hashed))
    assert plain == kept


def test_who_takes_a_key_out_takes_out_what_was_made_of_it() -> None:
    rest = Keyring.load(FILE.replace('id = "reporting"', 'id = "other"') + TEMPORARY)
    with pytest.raises(NotPermitted) as caught:
        rest.find("tmp")
    assert caught.value.rule is Rule.ACCESS_KEY_UNKNOWN
    assert len(rest) == 2


DIGEST = secret_digest("canary-key").hex()
API_KEY = f"""
[[api_key]]
name = "notebook"
sha256 = "{DIGEST}"
instances = ["shop"]
permissions = ["read"]
expires = 2027-01-31T13:00:00+01:00
"""


def test_an_api_key_is_found_by_what_is_sent() -> None:  # change §D5
    keyring = Keyring.load(FILE + API_KEY, takes_api_keys=True)
    expected = ApiKey(
        "notebook",
        secret_digest("canary-key"),
        frozenset({"shop"}),
        frozenset({Permission.READ}),
        NOON,
    )
    assert keyring.api_keys == (expected,)
    assert keyring.find_api_key("canary-key", NOON - 1) is keyring.api_keys[0]


@pytest.mark.parametrize(
    ("text", "now_us", "taken"),
    [
        ("canary-key", NOON, True),  # expired
        ("canary-key", 0, False),  # not enabled
        ("", 0, True),
        ("canary-ke", 0, True),
        ("canary-keyy", 0, True),
        ("notebook", 0, True),
        (DIGEST, 0, True),
        ("canary-one", 0, True),  # the secret of an access key
        ("\udc80", 0, True),
    ],
)
def test_other_api_keys_are_refused_in_one_way(text: str, now_us: int, *, taken: bool) -> None:
    keyring = Keyring.load(FILE + API_KEY, takes_api_keys=taken)
    with pytest.raises(NotPermitted) as caught:  # change §D5: one text for all
        keyring.find_api_key(text, now_us)
    assert (caught.value.rule, caught.value.details) == (Rule.API_KEY, {})


def test_a_file_may_have_api_keys_alone() -> None:
    assert len(Keyring.load(API_KEY)) == 1
    assert Keyring.load(API_KEY.partition("expires")[0]).api_keys[0].expires_us is None


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
    "too many": (
        "".join(
            f'[[api_key]]\nname = "{number}"\nsha256 = "{number:064x}"\n'
            for number in range(API_KEYS_MAX + 1)
        ),
        f"more than {API_KEYS_MAX} API keys",
    ),
    "one name": (API_KEY + API_KEY, "two API keys have the name 'notebook'"),
    "one key": (
        API_KEY + API_KEY.replace("notebook", "other"),
        "'notebook' and 'other' are the same key",
    ),
    "no digest": ('[[api_key]]\nname = "a"\nkey = "canary"', "api key 1: unknown field 'key'"),
    "short digest": (API_KEY.replace(DIGEST, DIGEST[1:]), "sha256 must be 64 hexadecimal digits"),
    "odd digest": (API_KEY.replace(DIGEST, "g" * 64), "sha256 must be 64 hexadecimal digits"),
    "of nothing": (API_KEY.replace(DIGEST, secret_digest("").hex()), "sha256 is that of an empty"),
    "no zone": (API_KEY.replace("+01:00", ""), "api key 1 (notebook): expires must be a time"),
    "temporary alone": (TEMPORARY, "no [[key]]"),
    "no parent": (KEY + TEMPORARY.replace("parent", "# "), "temporary key 1 (tmp): parent must be"),
    "no end": (KEY + TEMPORARY.replace("expires", "# "), "temporary key 1 (tmp): expires is"),
    "no token": (KEY + TEMPORARY.replace("security_token", "# "), "token_sha256 is missing"),
    "two tokens": (KEY + TEMPORARY + f'token_sha256 = "{DIGEST}"', "not both"),
    "of one's own id": (
        KEY + TEMPORARY.replace('"tmp"', '"a"').replace("reporting", "a"),
        "two keys have the id 'a'",
    ),
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
    st.sampled_from([f'"{DIGEST}"', "1979-05-27T07:32:00Z", "1979-05-27T07:32:00"]),
)
FIELDS = (
    *("id", "secret", "instances", "permissions", "security_token", "key"),
    *("name", "sha256", "parent", "expires", "token_sha256"),
)
HEADS = ("[[key]]", "[key]", "", "[[key.key]]", "[[temporary_key]]", "[[api_key]]")


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, VALUES)),
    st.sampled_from(HEADS),
)
def test_any_file_is_read_or_refused(fields: dict[str, str], head: str) -> None:
    text = "\n".join([head, *(f"{name} = {value}" for name, value in fields.items())])
    with suppress(CredentialsInvalid):
        assert len(Keyring.load(text)) == 1


def test_secrets_do_not_show() -> None:
    keyring = Keyring.load(FILE + TEMPORARY + API_KEY)
    shown = [f"{keyring!r} {keyring!s}"]
    shown += [f"{each!r} {each!s}" for each in (*keyring.access_keys, *keyring.api_keys)]
    assert "canary" not in " ".join(shown)
    assert DIGEST not in " ".join(shown)
    assert all(name in shown[0] for name in ("reporting", "tmp", "notebook"))


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
