"""Keys built from columns and taken apart again (semantics §1.2)."""

import hashlib
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.keydesign import HashPrefix, KeyDesign, KeyDesignInvalid, KeyPart, KeyRefused, PartKind
from widerow.keydesign.key import ALGORITHMS, PartValue
from widerow.limits import INT64_MAX, INT64_MIN

INTEGER: Final = PartKind.INTEGER
CONNECTORS: Final = ",:-#~é"

integers = st.integers(INT64_MIN, INT64_MAX)
texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def parts(draw: st.DrawFn) -> tuple[KeyPart, ...]:
    kinds = draw(st.lists(st.sampled_from(("text", "integer", "padded")), min_size=1, max_size=4))
    return tuple(draw(part(f"c{at}", kind)) for at, kind in enumerate(kinds))


def part(name: str, kind: str) -> st.SearchStrategy[KeyPart]:
    if kind == "padded":
        return st.builds(KeyPart, st.just(name), st.just(INTEGER), st.integers(1, 19))
    return st.just(KeyPart(name, INTEGER if kind == "integer" else PartKind.TEXT))


@st.composite
def designs(draw: st.DrawFn) -> KeyDesign:
    chosen = draw(parts())
    free = all(part.width for part in chosen[:-1])
    numbers = any(part.kind is INTEGER for part in chosen[:-1])
    connectors = [each for each in CONNECTORS if not (numbers and each == "-")]
    connector = draw(st.sampled_from([*connectors, *([""] if free else [])]))
    algorithm = draw(st.sampled_from([None, "md5", "sha256", "blake2b"]))
    if algorithm is None:
        return KeyDesign(chosen, connector)
    over = draw(st.sampled_from([None, *range(1, len(chosen) + 1)]))
    prefix = HashPrefix(algorithm, draw(st.integers(1, 32)), over, draw(st.booleans()))
    return KeyDesign(chosen, connector, prefix)


def values(part: KeyPart) -> st.SearchStrategy[PartValue]:
    if part.kind is PartKind.TEXT:
        return texts
    return integers if part.width is None else st.integers(0, min(10**part.width - 1, INT64_MAX))


@given(st.data(), designs())
def test_what_is_built_is_taken_apart_to_what_it_was(
    data: st.DataObject, design: KeyDesign
) -> None:
    row = tuple(data.draw(values(part)) for part in design.parts)
    try:
        key = design.build(row)
    except KeyRefused:
        held = [str(value) for value in row[:-1]]
        assert design.connector
        assert any(design.connector in text for text in held)
        return
    assert design.parse(key) == row


@given(designs(), texts)
def test_a_text_that_was_never_built_is_refused(design: KeyDesign, text: str) -> None:
    try:
        row = design.parse(text)
    except KeyRefused:
        return
    assert design.build(row) == text


def test_a_connector_inside_a_value_is_refused_with_the_reason() -> None:
    design = KeyDesign((KeyPart("a"), KeyPart("b")), ",")
    with pytest.raises(KeyRefused, match=r"a: 'x,y' holds the connector ','"):
        design.build(("x,y", "z"))
    assert design.parse(design.build(("x", "y,z"))) == ("x", "y,z")  # behind the last is nothing


def test_two_rows_that_would_share_a_key_are_the_reason_for_refusing() -> None:
    # ('a', 'b,c') and ('a,b', 'c') would both be 'a,b,c'.
    design = KeyDesign((KeyPart("x"), KeyPart("y"), KeyPart("z")), ",")
    assert design.build(("a", "b", "c")) == "a,b,c"
    for row in (("a,b", "c", ""), ("", "a,b", "c")):
        with pytest.raises(KeyRefused):
            design.build(row)


@pytest.mark.parametrize(
    ("parts", "connector", "words"),
    [
        ((), ",", "at least one column"),
        ((KeyPart("a"), KeyPart("a")), ",", "named twice"),
        ((KeyPart("a"), KeyPart("b")), "::", "one character"),
        ((KeyPart("a"), KeyPart("b")), "", "where a ends"),
        ((KeyPart("n", INTEGER), KeyPart("b")), "", "where n ends"),
        ((KeyPart("n", INTEGER, 4), KeyPart("b")), "7", "inside the integer n"),
        ((KeyPart("n", INTEGER), KeyPart("b")), "-", "inside the integer n"),
    ],
)
def test_a_design_whose_keys_cannot_be_taken_apart_is_refused(
    parts: tuple[KeyPart, ...], connector: str, words: str
) -> None:
    with pytest.raises(KeyDesignInvalid, match=words):
        KeyDesign(parts, connector)


def test_columns_of_fixed_width_need_no_connector() -> None:
    design = KeyDesign((KeyPart("a", INTEGER, 3), KeyPart("b", INTEGER, 2), KeyPart("c")), "")
    assert design.build((7, 8, "x")) == "00708x"
    assert design.parse("00708x") == (7, 8, "x")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1000, "more than 3 digits"),
        (-1, "negative"),
        (INT64_MAX + 1, "more than 64 bits"),
        ("7", "is an integer, not '7'"),
    ],
)
def test_integers_that_do_not_fit_their_width_are_refused(value: PartValue, words: str) -> None:
    with pytest.raises(KeyRefused, match=words):
        KeyDesign((KeyPart("n", INTEGER, 3),)).build((value,))


@pytest.mark.parametrize("width", [0, 20, -1])
def test_widths_are_1_to_19(width: int) -> None:
    with pytest.raises(KeyDesignInvalid):
        KeyPart("n", INTEGER, width)


def test_texts_have_no_width() -> None:
    with pytest.raises(KeyDesignInvalid, match="integers only"):
        KeyPart("s", PartKind.TEXT, 3)


@pytest.mark.parametrize("key", ["1,x", "0000001,x", "00001x,y", "000001", "-00001,x", "٠٠٠٠٠١,x"])
def test_keys_of_another_shape_are_refused(key: str) -> None:
    with pytest.raises(KeyRefused):
        KeyDesign((KeyPart("n", INTEGER, 6), KeyPart("s"))).parse(key)


def test_a_key_has_at_most_1024_bytes() -> None:  # semantics §1.1
    design = KeyDesign((KeyPart("a"),), prefix=HashPrefix(digits=4))
    assert len(design.build(("x" * 1020,))) == 1024
    with pytest.raises(KeyRefused, match="1025 bytes"):
        design.build(("x" * 1021,))
    with pytest.raises(KeyRefused, match="UTF-8"):
        design.build(("\ud800",))


# --- hash prefixes -------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_prefix_is_the_first_digits_of_the_hash(algorithm: str) -> None:
    design = KeyDesign((KeyPart("s"),), prefix=HashPrefix(algorithm, 6))
    expected = hashlib.new(algorithm, "näme".encode()).hexdigest()[:6]
    assert design.build(("näme",)) == expected + "näme"


def test_a_prefix_of_leading_columns_keeps_their_rows_together() -> None:
    parts = (KeyPart("d", INTEGER, 4), KeyPart("s"))
    design = KeyDesign(parts, prefix=HashPrefix(columns=1))
    keys = [design.build((7, text)) for text in ("b", "a", "c")]
    assert {key[:4] for key in keys} == {hashlib.md5(b"0007").hexdigest()[:4]}  # noqa: S324  # no secret
    assert sorted(keys) == [keys[1], keys[0], keys[2]]


def test_a_wrong_prefix_is_refused() -> None:
    design = KeyDesign((KeyPart("n", INTEGER),), prefix=HashPrefix())
    key = design.build((200001,))
    with pytest.raises(KeyRefused, match="does not begin with the md5 of its rest"):
        design.parse(key[:3] + ("0" if key[3] != "0" else "1") + key[4:])


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ({"algorithm": "md6"}, "known are"),
        ({"algorithm": "shake_128"}, "known are"),
        ({"digits": 33}, "1 to 32 digits"),
        ({"digits": 0}, "1 to 32 digits"),
        ({"columns": 0}, "at least one column"),
    ],
)
def test_a_hash_that_is_none_is_refused(prefix: dict[str, str | int], words: str) -> None:
    with pytest.raises(KeyDesignInvalid, match=words):
        HashPrefix(**prefix)  # type: ignore[arg-type]  # any of them


def test_a_hash_of_more_columns_than_there_are_is_refused() -> None:
    with pytest.raises(KeyDesignInvalid, match="2 columns, and the key has 1"):
        KeyDesign((KeyPart("a"),), prefix=HashPrefix(columns=2))
