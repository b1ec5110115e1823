"""Conditions as they are typed, and the filters that they are (semantics §5.3, wire §3)."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.tablestore.conditions import encode_filter, parse_condition
from widerow.cli.tablestore.words import WordInvalid
from widerow.model.tablestore.filter import (
    Comparator,
    Comparison,
    Composite,
    Filter,
    LogicalOperator,
    passes,
)
from widerow.model.values import Value
from widerow.wire.tablestore.filters import decode_condition

SIGNS = {
    Comparator.EQUAL: "=",
    Comparator.NOT_EQUAL: "!=",
    Comparator.GREATER_THAN: ">",
    Comparator.GREATER_EQUAL: ">=",
    Comparator.LESS_THAN: "<",
    Comparator.LESS_EQUAL: "<=",
}
KINDS = {int: "integer", float: "double", bool: "boolean", str: "string", bytes: "binary"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    TEXTS,
    st.binary(max_size=4),
)


def compared(column: str, sign: Comparator, value: Value) -> Comparison:
    return Comparison(column, sign, value, pass_if_missing=False)


LEAVES = st.one_of(
    st.builds(compared, TEXTS.filter(bool), st.sampled_from(sorted(SIGNS)), VALUES),
    st.builds(
        lambda column, sign: Comparison(column, sign, b""),
        TEXTS.filter(bool),
        st.sampled_from([Comparator.EXIST, Comparator.NOT_EXIST]),
    ),
)


def composites(children: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(children, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Composite, st.just(LogicalOperator.NOT), st.tuples(children)),
        st.builds(Composite, st.just(LogicalOperator.AND), several),
        st.builds(Composite, st.just(LogicalOperator.OR), several),
    )


TREES = st.recursive(LEAVES, composites, max_leaves=8)


def typed(tree: Filter) -> str:
    """A condition that means this tree: every name quoted, every type said, all in parentheses."""
    if isinstance(tree, Composite):
        if tree.operator is LogicalOperator.NOT:
            return f"not ({typed(tree.filters[0])})"
        joint = f" {tree.operator.name} "
        return joint.join(f"({typed(each)})" for each in tree.filters)
    name = "`" + tree.column.replace("`", "``") + "`"
    if tree.comparator is Comparator.EXIST:
        return f"{name} is not null"
    if tree.comparator is Comparator.NOT_EXIST:
        return f"{name} IS NULL"
    return f"{name}:{KINDS[type(tree.value)]} {SIGNS[tree.comparator]} {literal(tree.value)}"


def literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


@given(TREES)
def test_a_condition_means_the_tree_that_it_was_written_from(tree: Filter) -> None:
    assert parse_condition(typed(tree), {}) == tree


@given(TREES)
def test_the_server_reads_the_filter_that_was_sent(tree: Filter) -> None:
    assert decode_condition(encode_filter(tree)) == tree


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age >= 18", "int double"),
        ("age >= 18.0", "double"),
        ("age:integer >= 18", "int"),
        ("age = 20 and city = 'Hangzhou'", "int"),
        ('age = 20 and city = "Hangzhou" or age = 3', "int"),
        ("not age >= 18", "text none"),
        ("age in (20, 'x')", "int double text"),
        ("age between 19 and 21", "int double"),
        ("age not between 19 and 21", "text none"),
        ("age is null", "none"),
        ("age is not null", "int double text"),
        ("city <> 'x'", "int"),
    ],
)
def test_a_condition_keeps_the_rows_that_people_mean(text: str, rows: str) -> None:
    stored: dict[str, dict[str, Value]] = {
        "int": {"age": 20, "city": "Hangzhou"},
        "double": {"age": 20.0},
        "text": {"age": "x"},
        "none": {},
    }
    tree = parse_condition(text, {})

    def kept(row: dict[str, Value]) -> bool:
        return passes(tree, lambda name: [row[name]] if name in row else [])

    assert [name for name, row in stored.items() if kept(row)] == rows.split()


def test_a_column_with_a_type_in_the_table_is_compared_as_that_type() -> None:
    assert parse_condition("score > 1", {"score": "double"}) == compared(
        "score", Comparator.GREATER_THAN, 1.0
    )
    with pytest.raises(WordInvalid, match="age is integer, and is compared with string"):
        parse_condition("age = 'x'", {"age": "integer"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "at its end it needs a column"),
        ("age", "at its end it needs =, <"),
        ("age >", "at its end it needs a value"),
        ("age > x", "at character 7 it needs a value; texts stand in quotes and not x"),
        ("age = 1 city = 2", "at character 9 it needs and, or, or the end"),
        ("(age = 1", "at its end it needs )"),
        ("age = 'x", "character 7 is not expected"),
        ("age not = 1", "in or between"),
        ("age:number = 1", "a type"),
        ("and = 1", "a column"),
        ("age = 99999999999999999999", "64 bits"),
        ("(" * 1000 + "a = 1" + ")" * 1000, "in each other"),
    ],
)
def test_what_is_no_condition_says_where_and_what_is_expected(text: str, told: str) -> None:
    with pytest.raises(WordInvalid, match=told.replace("(", r"\(").replace(")", r"\)")):
        parse_condition(text, {})


@given(st.text(max_size=30))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    with contextlib.suppress(WordInvalid):
        tree = parse_condition(text, {})
        assert decode_condition(encode_filter(tree)) == tree
