"""Keys as they are typed, and ranges of them (docs/guide/shell.md; semantics §5.6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.tablestore.keys import (
    KeyBounds,
    json_key,
    key_range,
    split_row_words,
    text_after_prefix,
    text_before,
)
from widerow.cli.tablestore.words import WordInvalid
from widerow.client.tables import TableFacts
from widerow.limits import KEY_VALUE_BYTES_MAX
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyInput, KeyMarker, KeyType
from widerow.wire.tablestore.plainbuffer import decode_primary_key

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
NEAR = st.text("ab\x00\x7f\ud7ff\ue000\uffff\U00010000\U0010ffff", max_size=3)
"""Characters at the edges of UTF-8 and of what can be a character."""

DIRECTIONS = st.sampled_from(["forward", "backward"])


def table(*columns: tuple[str, KeyType], auto: str | None = None) -> TableFacts:
    key = tuple(KeyColumn(name, kind, name == auto) for name, kind in columns)
    return TableFacts("cards", key, {}, 1, 86_400, 0)


CARDS = table(("card", KeyType.STRING), ("n", KeyType.INTEGER))
NAMES = table(("first", KeyType.STRING), ("last", KeyType.STRING))
COUNTED = table(("host", KeyType.STRING), ("id", KeyType.INTEGER), auto="id")


def nothing(name: str) -> bytes:
    raise AssertionError(f"{name} was read")


def key_of(words: list[str], of: TableFacts = CARDS) -> list[KeyInput]:
    return [value for _, value in split_row_words(words, of, nothing)[0]]


@pytest.mark.parametrize(
    "words",
    [
        ["c-1", "7"],
        ["card=c-1", "n=7"],
        ["n=7", "card=c-1"],
        ["c-1", "n=7"],
        ['["c-1",7]'],
    ],
)
def test_a_key_is_given_in_order_by_name_or_as_json(words: list[str]) -> None:
    assert key_of(words) == ["c-1", 7]


def test_columns_stand_behind_the_key() -> None:
    key, others = split_row_words(["c-1", "7", "a=1", "b:double=2"], CARDS, nothing)
    assert dict(key) == {"card": "c-1", "n": 7}
    assert [(each.name, each.kind, each.text) for each in others] == [
        ("a", None, "1"),
        ("b", "double", "2"),
    ]


def test_a_value_with_an_equals_sign_is_given_by_name() -> None:
    assert key_of(["card=a=b", "n=1"]) == ["a=b", 1]


@pytest.mark.parametrize("words", [["h"], ["host=h"], ["h", "auto"], ['["h",null]']])
def test_a_column_that_is_counted_up_may_be_left_out(words: list[str]) -> None:
    assert key_of(words, COUNTED) == ["h", KeyMarker.AUTO_INCREMENT]
    assert key_of(["h", "5"], COUNTED) == ["h", 5]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], r"no value of card, n; the key of cards is card \(string\), n \(integer\)"),
        (["c-1"], "no value of n"),
        (["c-1", "7", "8"], "'8' is one value too many"),
        (["c-1", "7", "n=8"], "n is given twice"),
        (["c-1", "x"], "n is not an integer: 'x'"),
        (['["c-1"]'], "1 values; the key of cards"),
        (['["c-1","7"]'], r'"7" is not a value of n \(integer\)'),
        (['["c-1",true]'], "true is not a value"),
        (["[nonsense"], "not a JSON list"),
    ],
)
def test_a_key_that_is_none_says_what_the_key_is(words: list[str], told: str) -> None:
    with pytest.raises(WordInvalid, match=told):
        key_of(words)


def test_a_binary_value_is_hexadecimal_in_words_and_base64_in_json() -> None:
    binary = table(("b", KeyType.BINARY))
    assert key_of(["0x6869"], binary) == [b"hi"]
    assert json_key('["aGk="]', binary) == (("b", b"hi"),)
    assert json_key('[{"binary": "aGk="}]', binary) == (("b", b"hi"),)


# --- texts that begin with something ---------------------------------------------------------


@given(st.one_of(TEXTS, NEAR), st.one_of(TEXTS, NEAR))
def test_texts_with_a_prefix_are_those_from_it_to_the_text_after_it(text: str, prefix: str) -> None:
    after = text_after_prefix(prefix)
    inside = prefix <= text and (after is None or text < after)
    assert inside is text.startswith(prefix)


@given(st.one_of(TEXTS, NEAR), st.one_of(TEXTS, NEAR).filter(bool))
def test_the_text_before_another_is_the_greatest_below_it(text: str, other: str) -> None:
    before = text_before(other)
    assert before < other
    assert len(before.encode()) <= KEY_VALUE_BYTES_MAX
    assert (text <= before) is (text < other)


# --- ranges ----------------------------------------------------------------------------------


def place(value: KeyInput | None) -> tuple[int, object]:
    """What orders values of one type and the two ends."""
    ends = {KeyMarker.INF_MIN: -1, KeyMarker.INF_MAX: 1}
    return (ends[value], 0) if isinstance(value, KeyMarker) else (0, value)


def inside(bounds: KeyBounds, key: tuple[KeyInput, ...], of: TableFacts) -> bool:
    """Whether a range of the protocol has this key: from its start on and before its end."""
    asked = key_range(bounds, of, nothing)
    start, end = (
        [place(value) for _, value in decode_primary_key(bound).columns]
        for bound in (asked.start, asked.end)
    )
    at = [place(value) for value in key]
    return start >= at > end if bounds.backward else start <= at < end


@given(NEAR, NEAR, NEAR.filter(lambda text: not text.startswith("[")), DIRECTIONS)
def test_a_prefix_of_text_holds_what_begins_so(
    first: str, last: str, prefix: str, way: str
) -> None:
    bounds = KeyBounds(prefix=f"{prefix}*", backward=way == "backward")
    assert inside(bounds, (first, last), NAMES) is first.startswith(prefix)


@given(NEAR, NEAR, NEAR, DIRECTIONS)
def test_a_prefix_of_the_last_column_holds_what_begins_so(
    first: str, last: str, prefix: str, way: str
) -> None:
    bounds = KeyBounds(prefix=f"a,{prefix}*", backward=way == "backward")
    assert inside(bounds, (first, last), NAMES) is (first == "a" and last.startswith(prefix))


@given(st.sampled_from("abc"), st.integers(-2, 2), st.sampled_from("abc"), DIRECTIONS)
def test_a_prefix_of_whole_values_holds_the_keys_with_these(
    card: str, n: int, prefix: str, way: str
) -> None:
    bounds = KeyBounds(prefix=prefix, backward=way == "backward")
    assert inside(bounds, (card, n), CARDS) is (card == prefix)


@given(
    st.sampled_from("abc"),
    st.integers(-2, 2),
    st.lists(st.sampled_from(["a", "b", "b,0", "c,-1", ""]), min_size=2, max_size=2),
    DIRECTIONS,
)
def test_a_range_holds_what_is_from_its_begin_on_and_before_its_end(
    card: str, n: int, words: list[str], way: str
) -> None:
    """Of a bound with fewer values all rows with these are in at the begin, out at the end."""

    def against(word: str) -> int:
        """-1 if the key is below all that the word stands for, 0 if it is among them, else 1."""
        name, _, number = word.partition(",")
        if card != name or not number:
            return (card > name) - (card < name)
        return (n > int(number)) - (n < int(number))

    sign = -1 if way == "backward" else 1
    begins = not words[0] or against(words[0]) * sign >= 0
    ends = not words[1] or against(words[1]) * sign < 0
    bounds = KeyBounds(first=words[0], end=words[1], backward=way == "backward")
    assert inside(bounds, (card, n), CARDS) is (begins and ends)


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        (KeyBounds(prefix="a", first="b"), "not both"),
        (KeyBounds(prefix="a,1"), "whole key"),
        (KeyBounds(prefix="a,1,2"), "3 values"),
        (KeyBounds(prefix="a,1*"), "only text can begin"),
        (KeyBounds(first="a,x"), "not an integer"),
        (KeyBounds(first='"a'), "unexpected end"),
        (KeyBounds(first="[1"), "not a JSON list"),
        (KeyBounds(first="[1]"), "1 is not a value of card"),
        (KeyBounds(first='["a",1,2]'), "3 values"),
    ],
)
def test_a_range_that_is_none_says_why(bounds: KeyBounds, told: str) -> None:
    with pytest.raises(WordInvalid, match=told):
        key_range(bounds, CARDS, nothing)


def test_a_bound_of_json_may_hold_the_ends() -> None:
    assert inside(KeyBounds(first='["a","INF_MAX"]'), ("b", 0), CARDS)
    assert not inside(KeyBounds(first='["a","INF_MAX"]'), ("a", 2**63 - 1), CARDS)
