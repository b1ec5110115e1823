"""Filter trees: every rule of the module's docstring (semantics §5.3)."""

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.model.tablestore.filter import (
    Comparator,
    Comparison,
    Composite,
    Filter,
    LogicalOperator,
    TransferRule,
    columns_of,
    passes,
)
from widerow.model.values import ColumnType, Value

PYTHON: dict[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.NOT_EQUAL: operator.ne,
    Comparator.GREATER_THAN: operator.gt,
    Comparator.GREATER_EQUAL: operator.ge,
    Comparator.LESS_THAN: operator.lt,
    Comparator.LESS_EQUAL: operator.le,
}
# Per type: small, middle, large in the order of the model.
LADDERS: list[tuple[Value, Value, Value]] = [
    (-(2**63), 0, 2**63 - 1),
    (-1.5, 0.0, 1e300),
    ("", "Z", "a"),
    ("\uffff", "\U00010000", "\U0001f600"),
    (b"", b"\x7f", b"\x7f\x00"),
]
ONE_OF_EACH: list[Value] = [1, 1.0, True, "1", b"1"]
AND, OR, NOT = LogicalOperator.AND, LogicalOperator.OR, LogicalOperator.NOT


def row(**columns: Sequence[Value]) -> Callable[[str], Sequence[Value]]:
    """Columns by name, newest version first."""
    return lambda name: columns.get(name, ())


# --- comparators -----------------------------------------------------------------------------


@pytest.mark.parametrize("comparator", PYTHON)
@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: type(ladder[0]).__name__)
def test_values_compare_in_the_order_of_their_type(
    comparator: Comparator, ladder: tuple[Value, Value, Value]
) -> None:
    for left, value in enumerate(ladder):
        for right, constant in enumerate(ladder):
            wanted = PYTHON[comparator](left, right)
            leaf = Comparison("c", comparator, constant)
            assert passes(leaf, row(c=[value])) is wanted


@pytest.mark.parametrize("comparator", PYTHON)
def test_false_is_below_true(comparator: Comparator) -> None:
    for value in (False, True):
        for constant in (False, True):
            leaf = Comparison("c", comparator, constant)
            assert passes(leaf, row(c=[value])) is PYTHON[comparator](value, constant)


@given(st.text(max_size=4), st.text(max_size=4))
def test_strings_compare_as_their_utf8_bytes(value: str, constant: str) -> None:
    leaf = Comparison("c", Comparator.LESS_THAN, constant)
    assert passes(leaf, row(c=[value])) is (value.encode() < constant.encode())


@pytest.mark.parametrize("comparator", PYTHON)
@pytest.mark.parametrize("pass_if_missing", [True, False])
def test_values_of_other_types_never_match(
    comparator: Comparator, *, pass_if_missing: bool
) -> None:
    """All twenty cross-type pairs, INTEGER and DOUBLE and INTEGER and BOOLEAN among them."""
    for value in ONE_OF_EACH:
        for constant in ONE_OF_EACH:
            if type(value) is not type(constant):
                leaf = Comparison("c", comparator, constant, pass_if_missing=pass_if_missing)
                assert not passes(leaf, row(c=[value]))


@pytest.mark.parametrize("value", ONE_OF_EACH)
@pytest.mark.parametrize("pass_if_missing", [True, False])
def test_presence_is_all_that_exist_asks(value: Value, *, pass_if_missing: bool) -> None:
    exist = Comparison("c", Comparator.EXIST, b"", pass_if_missing=pass_if_missing)
    absent = Comparison("c", Comparator.NOT_EXIST, b"", pass_if_missing=pass_if_missing)
    assert passes(exist, row(c=[value]))
    assert not passes(exist, row(other=[value]))
    assert passes(absent, row(other=[value]))
    assert not passes(absent, row(c=[value]))


def test_nothing_compares_with_nan() -> None:
    for comparator in PYTHON:
        leaf = Comparison("c", comparator, float("nan"))
        assert passes(leaf, row(c=[1.0])) is (comparator is Comparator.NOT_EQUAL)


# --- missing columns and versions --------------------------------------------------------------


@pytest.mark.parametrize("comparator", PYTHON)
def test_a_missing_column_passes_unless_the_leaf_says_otherwise(comparator: Comparator) -> None:
    assert passes(Comparison("c", comparator, 1), row())
    assert not passes(Comparison("c", comparator, 1, pass_if_missing=False), row())


def test_only_the_missing_columns_own_flag_counts() -> None:
    """Two columns, one absent (semantics §5.3)."""
    for present_flag in (True, False):
        for missing_flag in (True, False):
            tree = Composite(
                AND,
                (
                    Comparison("here", Comparator.EQUAL, 1, pass_if_missing=present_flag),
                    Comparison("gone", Comparator.EQUAL, 1, pass_if_missing=missing_flag),
                ),
            )
            assert passes(tree, row(here=[1])) is missing_flag


def test_versions_beyond_the_newest_count_where_the_leaf_says_so() -> None:
    """Ten versions 9…0: latest only, `= 1` fails; any version, `= 1` and `> 3` succeed.

    semantics §19 row 8.
    """
    lookup = row(c=list(range(9, -1, -1)))

    def any_version(comparator: Comparator, constant: int) -> bool:
        leaf = Comparison("c", comparator, constant, latest_version_only=False)
        return passes(leaf, lookup)

    assert not passes(Comparison("c", Comparator.EQUAL, 1), lookup)
    assert passes(Comparison("c", Comparator.EQUAL, 9), lookup)
    assert any_version(Comparator.EQUAL, 1)
    assert any_version(Comparator.GREATER_THAN, 3)
    assert not any_version(Comparator.EQUAL, 10)
    assert any_version(Comparator.NOT_EQUAL, 9)


def test_versions_of_other_types_are_passed_over() -> None:
    lookup = row(c=["1", 1, 1.0])
    leaf = Comparison("c", Comparator.EQUAL, 1, latest_version_only=False)
    assert passes(leaf, lookup)
    assert not passes(Comparison("c", Comparator.EQUAL, 1), lookup)


# --- composites ------------------------------------------------------------------------------


def leaf(*, holds: bool) -> Comparison:
    return Comparison("c", Comparator.EQUAL, 1 if holds else 2)


@pytest.mark.parametrize("flags", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
def test_and_or_not_are_those_of_logic(flags: tuple[int, int, int]) -> None:
    leaves = tuple(leaf(holds=bool(flag)) for flag in flags)
    lookup = row(c=[1])
    assert passes(Composite(AND, leaves), lookup) is all(flags)
    assert passes(Composite(OR, leaves), lookup) is any(flags)
    assert passes(Composite(NOT, leaves[:1]), lookup) is not flags[0]
    nested = Composite(OR, (Composite(NOT, leaves[:1]), Composite(AND, leaves[1:])))
    assert passes(nested, lookup) is bool(not flags[0] or (flags[1] and flags[2]))


def test_not_reverses_missing_columns_and_other_types_too() -> None:
    missing = Composite(NOT, (Comparison("gone", Comparator.EQUAL, 1),))
    assert not passes(missing, row())
    other_type = Composite(NOT, (Comparison("c", Comparator.EQUAL, "1"),))
    assert passes(other_type, row(c=[1]))


leaves = st.builds(leaf, holds=st.booleans())


def _composites(children: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    two_or_more = st.lists(children, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Composite, st.just(NOT), st.tuples(children)),
        st.builds(Composite, st.sampled_from([AND, OR]), two_or_more),
    )


trees: st.SearchStrategy[Filter] = st.recursive(leaves, _composites, max_leaves=12)


def negated(tree: Filter) -> Filter:
    """De Morgan, down to the leaves."""
    if isinstance(tree, Comparison):
        return Composite(NOT, (tree,))
    if tree.operator is NOT:
        return tree.filters[0]
    return Composite(OR if tree.operator is AND else AND, tuple(map(negated, tree.filters)))


@given(trees)
def test_de_morgan(tree: Filter) -> None:
    lookup = row(c=[1])
    assert passes(negated(tree), lookup) is not passes(tree, lookup)
    assert passes(Composite(NOT, (tree,)), lookup) is not passes(tree, lookup)


def test_columns_are_named_once() -> None:
    a, b = Comparison("a", Comparator.EQUAL, 1), Comparison("b", Comparator.EXIST, b"")
    assert columns_of(a) == {"a"}
    assert columns_of(Composite(OR, (a, Composite(AND, (b, a, Composite(NOT, (a,))))))) == {
        "a",
        "b",
    }


# --- transfer rules --------------------------------------------------------------------------


def transferred(cast: ColumnType, constant: Value, *, pass_if_missing: bool = False) -> Comparison:
    return Comparison(
        "c",
        Comparator.EQUAL,
        constant,
        pass_if_missing=pass_if_missing,
        transfer=TransferRule(r"v=([^;]*);", cast, re.compile(r"v=([^;]*);")),
    )


@pytest.mark.parametrize(
    ("cast", "text", "value"),
    [
        (ColumnType.INTEGER, "v=42;", 42),
        (ColumnType.INTEGER, "left v=-42; right", -42),
        (ColumnType.INTEGER, f"v={2**63 - 1};", 2**63 - 1),
        (ColumnType.DOUBLE, "v=1.5e3;", 1500.0),
        (ColumnType.DOUBLE, "v=7;", 7.0),
        (ColumnType.STRING, "v=杭州; v=no;", "杭州"),
        (ColumnType.STRING, "v=;", ""),
        (ColumnType.BINARY, "v=é;", b"\xc3\xa9"),
    ],
)
def test_the_first_capture_group_is_cast_and_compared(
    cast: ColumnType, text: str, value: Value
) -> None:
    assert passes(transferred(cast, value), row(c=[text]))
    assert not passes(transferred(cast, "no such value"), row(c=[text]))


@pytest.mark.parametrize(
    ("cast", "value"),
    [
        (ColumnType.INTEGER, "nothing to find"),
        (ColumnType.INTEGER, "v=x;"),
        (ColumnType.INTEGER, "v=;"),
        (ColumnType.INTEGER, "v=1.5;"),
        (ColumnType.INTEGER, "v=1_000;"),
        (ColumnType.INTEGER, "v=٣;"),
        (ColumnType.INTEGER, f"v={2**63};"),
        (ColumnType.INTEGER, "v=" + "9" * 5000 + ";"),
        (ColumnType.DOUBLE, "v=x;"),
        (ColumnType.DOUBLE, "v=1_0.0;"),
        (ColumnType.DOUBLE, "v=nan;"),
        (ColumnType.DOUBLE, "v=1e999;"),
        (ColumnType.BOOLEAN, "v=true;"),
        (ColumnType.INTEGER, 42),
        (ColumnType.STRING, b"v=1;"),
    ],
)
def test_what_cannot_be_extracted_counts_as_missing(cast: ColumnType, value: Value) -> None:
    for flag in (True, False):
        assert passes(transferred(cast, 1, pass_if_missing=flag), row(c=[value])) is flag


def test_a_group_that_took_no_part_counts_as_missing() -> None:
    rule = TransferRule("a(b)?", ColumnType.STRING, re.compile("a(b)?"))
    tree = Comparison("c", Comparator.EQUAL, "b", pass_if_missing=False, transfer=rule)
    assert not passes(tree, row(c=["a"]))
    assert passes(tree, row(c=["ab"]))


@pytest.mark.parametrize("regex", ["[0-9]+", "(?:[0-9])+"])
def test_an_expression_without_groups_takes_the_whole_match(regex: str) -> None:
    # wire §3
    rule = TransferRule(regex, ColumnType.INTEGER, re.compile(regex))
    tree = Comparison("c", Comparator.EQUAL, 42, pass_if_missing=False, transfer=rule)
    assert passes(tree, row(c=["left 42 right"]))
    assert not passes(tree, row(c=["left 421 right"]))


def test_versions_that_cannot_be_extracted_are_passed_over() -> None:
    rule = transferred(ColumnType.INTEGER, 5)
    tree = Comparison("c", Comparator.EQUAL, 5, latest_version_only=False, transfer=rule.transfer)
    assert passes(tree, row(c=["none", 7, "v=4;", "v=5;"]))
    assert not passes(tree, row(c=["none", 7, "v=4;"]))
    assert passes(tree, row(c=["none", 7]))  # nothing left: missing
