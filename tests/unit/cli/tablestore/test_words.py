"""Values and columns as they are typed (docs/guide/shell.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.tablestore.words import (
    Assignment,
    WordInvalid,
    parse_assignment,
    parse_value,
    shown_value,
)
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.values import Value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
INTEGERS = st.integers(INT64_MIN, INT64_MAX)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
LOOKALIKES = st.sampled_from(
    [
        "",
        "42",
        "007",
        "-1",
        "1.5",
        "1e3",
        "true",
        "False",
        '"',
        '"x"',
        "0x12",
        " x ",
        "a\nb",
        "\x1b[",
    ]
)


def nothing(name: str) -> bytes:
    raise AssertionError(f"{name} was read")


def same(one: Value, other: Value) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)


@given(st.one_of(INTEGERS, DOUBLES, st.booleans(), TEXTS, LOOKALIKES))
def test_what_is_shown_is_read_as_the_same_value(value: Value) -> None:
    assert same(parse_value("c", shown_value(value), None, nothing), value)


@given(st.binary(max_size=20))
def test_a_binary_is_shown_as_it_is_typed_with_its_type(value: bytes) -> None:
    assert parse_value("c", shown_value(value), "binary", nothing) == value


@given(st.one_of(TEXTS, LOOKALIKES))
def test_a_text_column_takes_every_text_as_it_stands(text: str) -> None:
    assert parse_value("c", text, "string", nothing) == text


@given(st.one_of(TEXTS, LOOKALIKES))
def test_nothing_that_is_shown_moves_the_cursor(text: str) -> None:
    assert shown_value(text).isprintable()
    assert shown_value(text, typed=True).isprintable()


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("a=1", ("a", None, None, "1")),
        ("a=b=c", ("a", None, None, "b=c")),
        ("a:double=1", ("a", "double", None, "1")),
        ("a:int@5=1", ("a", "integer", 5, "1")),
        ("a@1626860801604=x", ("a", None, 1626860801604, "x")),
        ("a@b=x", ("a@b", None, None, "x")),
        ("größe:str=", ("größe", "string", None, "")),
    ],
)
def test_a_column_has_a_name_a_type_and_a_version(
    word: str, parts: tuple[str, str | None, int | None, str]
) -> None:
    assert parse_assignment(word) == Assignment(*parts)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("a", "NAME=VALUE"),
        ("=1", "names no column"),
        ("a:number=1", "is not a type; they are integer, double"),
        ("a:b:c=1", "is not a type"),
        (f"a@{2**63}=1", "64 bits"),
    ],
)
def test_a_word_that_is_no_column_says_what_to_write(word: str, told: str) -> None:
    with pytest.raises(WordInvalid, match=told):
        parse_assignment(word)


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("x", "integer", "not an integer"),
        (str(2**63), "integer", "64 bits"),
        ("x", "double", "not a number"),
        ("NaN", "double", "do not store"),
        ("1", "boolean", "neither true nor false"),
        ("x", "binary", "@FILE"),
        ("0x123", "binary", "hex"),
        ('"open', None, "not a JSON text"),
    ],
)
def test_a_value_that_is_not_of_the_type_is_refused(text: str, kind: str | None, told: str) -> None:
    with pytest.raises(WordInvalid, match=told):
        parse_value("c", text, kind, nothing)


def test_a_binary_may_come_from_a_file() -> None:
    assert parse_value("c", "@photo.png", "binary", lambda name: f"of {name}".encode()) == (
        b"of photo.png"
    )
