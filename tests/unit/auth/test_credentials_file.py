"""Credentials files are changed in one place each (docs/operating/keys.md)."""

import tomllib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.auth.credentials_file import (
    API_KEYS,
    TEMPORARY_KEYS,
    add_key,
    key_names,
    remove_keys,
)
from widerow.auth.keyring import CredentialsInvalid, Keyring

OWNER = """# who owns it
[[key]]
id = "owner"  # ours
secret = "o"
"""
END = datetime(2027, 1, 31, 12, tzinfo=UTC)


def api_key(number: int) -> dict[str, str | list[str] | datetime]:
    return {"name": f"page-{number}", "sha256": f"{number + 1:064x}", "instances": ["a", "b"]}


def temporary(number: int) -> dict[str, str | list[str] | datetime]:
    return {
        "id": f"tmp-{number}",
        "secret": 'with " and \\ and é',
        "parent": "owner",
        "expires": END,
        "token_sha256": f"{number + 1:064x}",
    }


def made(kinds: list[bool]) -> str:
    text = OWNER
    for number, is_api_key in enumerate(kinds):
        if is_api_key:
            text = add_key(text, API_KEYS, api_key(number))
        else:
            text = add_key(text, TEMPORARY_KEYS, temporary(number))
    return text


def test_what_is_added_is_read_back() -> None:
    keyring = Keyring.load(made([True, False]))
    (page,) = keyring.api_keys
    assert (page.name, page.instances) == ("page-0", frozenset({"a", "b"}))
    key = keyring.find("tmp-1")
    assert (key.secret, key.parent) == ('with " and \\ and é', "owner")
    assert key.expires_us == int(END.timestamp()) * 1_000_000


@given(st.lists(st.booleans(), max_size=6), st.data())
def test_the_rest_stays_as_it_was_written(kinds: list[bool], data: st.DataObject) -> None:
    text = made(kinds)
    names = sorted(key_names(text) - {("key", "owner")})
    assert len(names) == len(kinds)
    gone = data.draw(st.sets(st.sampled_from(names)) if names else st.just(set()))
    rest = remove_keys(text, gone)
    assert rest.startswith(OWNER)
    assert key_names(rest) == key_names(text) - gone
    known = {"key", *dict.fromkeys(kind for kind, _ in names)}
    before, after = tomllib.loads(text), tomllib.loads(rest)
    for kind in known:
        name = "name" if kind == API_KEYS else "id"
        kept = [each for each in before[kind] if (kind, each[name]) not in gone]
        assert after.get(kind, []) == kept
    assert remove_keys(text, []) == text


def test_comments_before_the_next_key_stay() -> None:
    text = made([True]) + "# a comment within\n\n# of the next one\n" + OWNER.replace("owner", "b")
    rest = remove_keys(text, [(API_KEYS, "page-0")])
    assert "# of the next one\n# who owns it\n[[key]]" in rest
    assert "page-0" not in rest


def test_keys_in_other_forms_are_left_to_hands() -> None:
    other = (
        f"api_key = [{{name = 'a', sha256 = '{1:064x}'}}, {{name = 'b', sha256 = '{2:064x}'}}]\n"
    )
    text = other + OWNER
    assert (API_KEYS, "a") in key_names(text)
    with pytest.raises(CredentialsInvalid, match="edit it by hand"):
        remove_keys(text, [(API_KEYS, "a")])


def test_a_name_is_given_once() -> None:
    text = made([True])
    for kind, fields in ((API_KEYS, api_key(0)), (TEMPORARY_KEYS, temporary(0) | {"id": "owner"})):
        with pytest.raises(CredentialsInvalid, match="already"):
            add_key(text, kind, fields)


def test_the_first_key_of_a_file() -> None:
    assert key_names("") == frozenset()
    assert key_names(add_key("", API_KEYS, api_key(0))) == {(API_KEYS, "page-0")}


@pytest.mark.parametrize("text", ["[[key]]\nid = 'a'\n", "not toml"])
def test_a_file_that_does_not_do_is_not_changed(text: str) -> None:
    with pytest.raises(CredentialsInvalid):
        add_key(text, API_KEYS, api_key(0))


def test_the_last_key_is_not_taken_out() -> None:
    only = add_key("", API_KEYS, api_key(0))
    with pytest.raises(CredentialsInvalid, match=r"no \[\[key\]\]"):
        remove_keys(only, [(API_KEYS, "page-0")])


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_what_toml_takes_for_no_end_of_a_line_is_none(end: str) -> None:
    """TOML 1.0, "Spec": a line ends at LF or CRLF."""
    text = OWNER.replace("who", f"of{end}[[{API_KEYS}]]{end}who")
    changed = add_key(text, API_KEYS, api_key(0))
    assert remove_keys(changed, [(API_KEYS, "page-0")]).rstrip() == text.rstrip()
