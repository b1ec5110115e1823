"""Which server a command talks to: flag, environment, profile, default (docs/guide/shell.md)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.connection import CONNECTION_FIELDS, resolve_connection
from widerow.cli.environment import VARIABLES, masked, variable_documents
from widerow.cli.profiles import (
    ProfileInvalid,
    Profiles,
    load_profiles,
    parse_profiles,
    profiles_text,
    save_profiles,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
FIELDS = st.dictionaries(
    st.sampled_from([field.name for field in CONNECTION_FIELDS]), TEXTS, max_size=5
)


def test_the_nearest_wins_and_says_where_it_is_from() -> None:
    environment = {"TABLESTORE_ENDPOINT": "http://env", "OTS_INSTANCE_NAME": "env"}
    profile = {"endpoint": "http://profile", "instance": "profile"}
    found = resolve_connection({"endpoint": "http://flag"}, environment, profile, "shop")
    assert (found.values["endpoint"], found.sources["endpoint"]) == ("http://flag", "flag")
    assert (found.values["instance"], found.sources["instance"]) == ("env", "OTS_INSTANCE_NAME")
    found = resolve_connection({}, {}, profile, "shop")
    assert (found.values["endpoint"], found.sources["endpoint"]) == (
        "http://profile",
        "profile shop",
    )
    assert found.sources["access_key_id"] == "default"
    assert resolve_connection({}, {}, {}).values == {
        "endpoint": "http://127.0.0.1:8087",
        "instance": "widerow",
        "access_key_id": "widerow",
        "access_key_secret": "widerow",
        "security_token": "",
    }


def test_our_own_variables_come_before_the_vendors() -> None:
    environment = {name: name for field in CONNECTION_FIELDS for name in reversed(field.variables)}
    found = resolve_connection({}, environment, {})
    assert all(value.startswith("WIDEROW_") for value in found.values.values())


def test_an_empty_variable_counts_as_none() -> None:
    found = resolve_connection({"instance": ""}, {"WIDEROW_INSTANCE": ""}, {"instance": "p"}, "p")
    assert found.values["instance"] == "p"


def test_id_secret_and_token_are_of_one_place() -> None:
    environment = {
        "WIDEROW_ACCESS_KEY_SECRET": "left over",
        "TABLESTORE_ACCESS_KEY_ID": "id",
        "TABLESTORE_ACCESS_KEY_SECRET": "secret",
        "OTS_TEST_STS_TOKEN": "of another",
    }
    found = resolve_connection({}, environment, {"security_token": "of a third"}, "p")
    assert found.values["access_key_id"] == "id"
    assert found.values["access_key_secret"] == "secret"
    assert found.values["security_token"] == ""
    environment = {"OTS_AK_ENV": "id", "OTS_SK_ENV": "secret", "OTS_ACCESS_KEY_SECRET": "other"}
    assert resolve_connection({}, environment, {}).values["access_key_secret"] == "secret"


def test_a_secret_may_come_from_elsewhere_where_the_id_has_none_beside_it() -> None:
    environment = {"WIDEROW_ACCESS_KEY_SECRET": "secret", "WIDEROW_SECURITY_TOKEN": "token"}
    found = resolve_connection({"access_key_id": "id"}, environment, {})
    assert found.values["access_key_secret"] == "secret"
    assert found.values["security_token"] == "token"
    assert resolve_connection({"security_token": "t"}, {}, {}).values["security_token"] == "t"
    alone = resolve_connection({}, {"WIDEROW_ACCESS_KEY_SECRET": "secret"}, {})
    assert (alone.values["access_key_id"], alone.values["access_key_secret"]) == (
        "widerow",
        "secret",
    )


# --- profiles ------------------------------------------------------------------------------------


@given(st.dictionaries(TEXTS.filter(bool), FIELDS, max_size=3), st.data())
def test_profiles_are_read_as_they_were_written(
    named: dict[str, dict[str, str]], data: st.DataObject
) -> None:
    profiles = Profiles(data.draw(st.sampled_from(["", *named])), named)
    assert parse_profiles(profiles_text(profiles)) == profiles


def test_the_first_profile_is_used_until_another_is_named() -> None:
    profiles = Profiles("", {}).changed("a", {"endpoint": "x", "instance": ""})
    profiles = profiles.changed("b", {"endpoint": "y"})
    assert profiles.named_or_current("") == ("a", {"endpoint": "x"})
    assert profiles.using("b").named_or_current("") == ("b", {"endpoint": "y"})
    assert profiles.named_or_current("b")[0] == "b"
    assert profiles.without("a") == Profiles("", {"b": {"endpoint": "y"}})
    with pytest.raises(ProfileInvalid, match=r"no profile c \(there are: a, b\)"):
        profiles.using("c")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "not TOML"),
        ("colour = 1", "unknown keys: colour"),
        ("current = 'a'", "the current profile a is not in it"),
        ("current = 1", 'write current = "NAME"'),
        ("profile = 1", 'write current = "NAME"'),
        ("profile.a = 1", "not a table"),
        ("[profile.a]\nendpiont = 'x'", "unknown key endpiont; it has endpoint"),
        ("[profile.a]\nendpoint = 1", "not a text"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(text: str, told: str) -> None:
    with pytest.raises(ProfileInvalid, match=told):
        parse_profiles(text)


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "profiles.toml"
    assert load_profiles(path) == Profiles("", {})
    profiles = Profiles("a", {"a": {"access_key_secret": "s"}})
    save_profiles(path, profiles)
    save_profiles(path, profiles)
    assert load_profiles(path) == profiles
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["profiles.toml"]


# --- the environment -----------------------------------------------------------------------------


def test_every_variable_is_there_once() -> None:
    names = [each.name for each in VARIABLES]
    assert len(names) == len(set(names))
    assert {name for field in CONNECTION_FIELDS for name in field.variables} <= set(names)


def test_secrets_are_masked_and_everything_else_is_shown() -> None:
    environment = {each.name: "canary" for each in VARIABLES}
    shown = {each["name"] for each in variable_documents(environment) if each["value"] == "canary"}
    hidden = {each.name for each in VARIABLES} - shown
    assert {name for name in hidden if "SECRET" not in name.upper()} == {
        *("WIDEROW_SECURITY_TOKEN", "OTS_TEST_STS_TOKEN", "OTS_SK_ENV", "TABLESTORE_API_KEY"),
        *("stsToken", "ALIBABA_CLOUD_SECURITY_TOKEN"),
    }
    assert masked("WIDEROW_ACCESS_KEY_SECRET", "") == ""
    assert "canary" not in masked("WIDEROW_STORE", "postgresql://me:canary@db/widerow")
