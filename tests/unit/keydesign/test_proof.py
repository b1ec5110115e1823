"""What is said of the order of keys is true of all of them (semantics §1.2)."""

from typing import Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.keydesign import (
    Alphabet,
    HashPrefix,
    KeyDesign,
    KeyDesignInvalid,
    KeyPart,
    KeyRefused,
    PartKind,
    compare_orders,
    prove,
)
from widerow.keydesign.key import PartValue
from widerow.keydesign.proof import ColumnProof, Counterexample, suggest_connector

INTEGER: Final = PartKind.INTEGER
LETTERS: Final = "!+,/09:Aaz~é"
Row = tuple[PartValue, ...]


@st.composite
def designs(draw: st.DrawFn) -> tuple[KeyDesign, dict[str, Alphabet]]:
    """A design, and what its texts are made of."""
    parts, alphabets = [], {}
    for at, kind in enumerate(draw(st.lists(st.sampled_from("tip"), min_size=1, max_size=3))):
        name = f"c{at}"
        letters = draw(st.sets(st.sampled_from(LETTERS), min_size=1))
        alphabets[name] = Alphabet.observed(letters)
        width = draw(st.integers(1, 3)) if kind == "p" else None
        parts.append(KeyPart(name, PartKind.TEXT if kind == "t" else INTEGER, width))
    connector = draw(st.sampled_from("!,:~"))
    prefix = draw(st.sampled_from([None, HashPrefix(digits=1), HashPrefix("sha1", 3, 1)]))
    return KeyDesign(tuple(parts), connector, prefix), alphabets


def rows(design: KeyDesign, alphabets: dict[str, Alphabet]) -> st.SearchStrategy[Row]:
    """Rows over the alphabets, alike enough to be near each other."""

    def one(part: KeyPart) -> st.SearchStrategy[PartValue]:
        if part.kind is INTEGER:
            return st.integers(0, 999 if part.width is None else 10**part.width - 1)
        letters = [each for each in LETTERS if each in alphabets[part.column]]
        return st.text(alphabet=letters, max_size=4)

    return st.tuples(*map(one, design.parts))


def buildable(design: KeyDesign, row: Row) -> bool:
    try:
        design.build(row)
    except KeyRefused:
        return False
    return True


@settings(max_examples=examples(300))
@given(st.data(), designs())
def test_a_column_whose_order_is_proved_has_no_counterexample(
    data: st.DataObject, made: tuple[KeyDesign, dict[str, Alphabet]]
) -> None:
    design, alphabets = made
    proofs = prove(design, alphabets)
    some = data.draw(st.lists(rows(design, alphabets), min_size=2, max_size=40))
    some = [row for row in some if buildable(design, row)]
    for found in compare_orders(design, some).inversions:
        assert not proofs[found.column].kept, found


@settings(max_examples=examples(300))
@given(st.data(), designs())
def test_a_column_whose_order_is_lost_has_one_that_breaks_it(
    data: st.DataObject, made: tuple[KeyDesign, dict[str, Alphabet]]
) -> None:
    design, alphabets = made
    example = data.draw(rows(design, alphabets))
    for at, proof in enumerate(prove(design, alphabets, example)):
        assert (proof.counterexample is None) is proof.kept
        if proof.counterexample:
            assert breaks(design, at, proof.counterexample)


def breaks(design: KeyDesign, column: int, found: Counterexample) -> bool:
    """Whether two rows differ in this column first, and their keys sort the other way round."""
    assert (design.build(found.lower), design.build(found.upper)) == (
        found.lower_key,
        found.upper_key,
    )
    return (
        found.column == column
        and found.lower < found.upper
        and found.lower_key.encode() > found.upper_key.encode()
    )


@given(st.data(), designs())
def test_the_check_of_rows_is_the_definition(
    data: st.DataObject, made: tuple[KeyDesign, dict[str, Alphabet]]
) -> None:
    design, alphabets = made
    some = data.draw(st.lists(rows(design, alphabets), max_size=12))
    some = [row for row in some if buildable(design, row)]
    different = sorted(set(some))
    checked = compare_orders(design, some)
    assert checked.rows == len(different)
    by_key = sorted(different, key=lambda row: design.build(row).encode())
    assert checked.kept is (by_key == different)
    for found in checked.inversions:
        assert breaks(design, found.column, found)


def test_a_key_that_begins_with_the_next_one_is_an_inversion() -> None:
    design = KeyDesign((KeyPart("n", INTEGER),))
    checked = compare_orders(design, [(-10,), (-1,), (-1,)])
    assert (checked.rows, checked.inverted) == (2, 1)
    assert breaks(design, 0, checked.inversions[0])


# --- the cases one by one ------------------------------------------------------------------------


def verdicts(design: KeyDesign, alphabets: dict[str, Alphabet] | None = None) -> list[bool]:
    return [proof.kept for proof in prove(design, alphabets)]


@pytest.mark.parametrize(
    ("connector", "kept"), [(",", True), ("!", True), ("/", True), (":", False), ("~", False)]
)
def test_a_connector_has_to_be_below_what_may_follow(connector: str, *, kept: bool) -> None:
    design = KeyDesign((KeyPart("s"), KeyPart("t")), connector)
    assert verdicts(design) == [kept, True]


def test_a_narrow_alphabet_allows_a_higher_connector() -> None:
    design = KeyDesign((KeyPart("s"), KeyPart("t")), ":")
    assert verdicts(design, {"s": Alphabet.parsed("a-z")}) == [True, True]
    assert verdicts(design, {"s": Alphabet.parsed("a-z0")}) == [False, True]


def test_the_connector_does_not_count_as_a_character_of_what_it_joins() -> None:
    design = KeyDesign((KeyPart("s"), KeyPart("t")), ",")
    assert verdicts(design, {"s": Alphabet.parsed(",a-z")}) == [True, True]


def test_integers_need_zeros_in_front_even_at_the_end() -> None:
    assert verdicts(KeyDesign((KeyPart("n", INTEGER),))) == [False]
    assert verdicts(KeyDesign((KeyPart("n", INTEGER, 6),))) == [True]


def test_a_hash_takes_the_order_of_what_it_is_computed_of_and_no_more() -> None:
    parts = (KeyPart("a", INTEGER, 4), KeyPart("b", INTEGER, 4))
    assert verdicts(KeyDesign(parts, prefix=HashPrefix())) == [False, False]
    assert verdicts(KeyDesign(parts, prefix=HashPrefix(columns=1))) == [False, True]


@pytest.mark.parametrize("value", [0, 9, 10**18, 2**63 - 1, -5])
def test_counterexamples_are_made_of_the_row_that_is_given(value: int) -> None:
    design = KeyDesign((KeyPart("a"), KeyPart("n", INTEGER)), ",")
    found = prove(design, example=("x", value))[1].counterexample
    assert found is not None
    assert found.lower[0] == "x"
    assert breaks(design, 1, found)


def test_a_row_without_room_for_more_is_not_used() -> None:
    design = KeyDesign((KeyPart("a"), KeyPart("b")), "~")
    found = prove(design, example=("x" * 1020, "y"))[0].counterexample
    assert found is not None
    assert breaks(design, 0, found)


def test_a_proof_says_why() -> None:
    reasons: list[ColumnProof] = [
        *prove(KeyDesign((KeyPart("a"), KeyPart("n", INTEGER, 3)), ":")),
        *prove(KeyDesign((KeyPart("a"), KeyPart("n", INTEGER)), "+", HashPrefix())),
    ]
    words = ["':' is above '0'", "n has 3 digits", "md5 prefix scatters the values of a", "md5"]
    for proof, expected in zip(reasons, words, strict=True):
        assert expected in proof.reason


# --- alphabets and connectors --------------------------------------------------------------------


@given(st.sets(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_an_alphabet_is_what_was_observed(characters: set[str]) -> None:
    made = Alphabet.observed(characters)
    assert all(each in made for each in characters)
    assert made.smallest == min(characters)
    assert Alphabet.parsed(str(made)) == made
    around = {chr(ord(each) + 1) for each in characters if ord(each) not in (0xD7FF, 0x10FFFF)}
    assert not any(each in made for each in around - characters)


@given(st.sets(st.sampled_from(LETTERS), min_size=1), st.sampled_from(LETTERS))
def test_a_character_can_be_taken_out(characters: set[str], out: str) -> None:
    made = Alphabet.observed(characters).without(out)
    assert {each for each in LETTERS if each in made} == characters - {out}
    assert bool(made) is bool(characters - {out})


@pytest.mark.parametrize("words", ["", "z-a"])
def test_an_alphabet_that_is_none_is_refused(words: str) -> None:
    with pytest.raises(KeyDesignInvalid):
        Alphabet.parsed(words)


@given(st.lists(st.sets(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_a_suggested_connector_is_below_everything(alphabets: list[set[str]]) -> None:
    found = suggest_connector([Alphabet.observed(each) for each in alphabets])
    assume(found is not None)
    assert found is not None
    assert found < min(min(each) for each in alphabets)


def test_the_usual_suggestion_is_the_comma() -> None:
    assert suggest_connector([Alphabet.parsed("0-9A-Za-z")]) == ","
    assert suggest_connector([Alphabet.parsed("-0-9")]) == ","
    assert suggest_connector([Alphabet.parsed("+,0-9")]) == "%"
    assert suggest_connector([Alphabet.parsed(" -~")]) is None
