"""Filters and conditions: the vectors of wire §3, the bounds of semantics §5.3, and damage."""

import re
import warnings
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import AnyRule, InvalidRequest
from widerow.limits import FILTER_NODES_MAX, FILTER_PATTERN_BYTES_MAX, VALUE_BYTES_MAX
from widerow.model.tablestore.filter import (
    Comparator,
    Comparison,
    Composite,
    Filter,
    LogicalOperator,
    Pagination,
    TransferRule,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import ColumnType, Value
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import filters, messages
from widerow.wire.tablestore.filters import decode_condition, decode_read_filter

A_OVER_5 = Comparison("a", Comparator.GREATER_THAN, 5)

# wire §3
VECTORS: dict[str, tuple[Filter | None, Pagination | None]] = {
    "0801121408031201611a0900050000000000000020002801": (A_OVER_5, None),
    "0801122608011201611a090001000000000000002001280132100a0c74313a285b302d395d2b292c1000": (
        Comparison(
            "a",
            Comparator.EQUAL,
            1,
            pass_if_missing=False,
            transfer=TransferRule("t1:([0-9]+),", ColumnType.INTEGER, re.compile("t1:([0-9]+),")),
        ),
        None,
    ),
    "08021233080212180801121408031201611a090005000000000000002000280112150801121108021201621a06"
    "03010000007820012801": (
        Composite(
            LogicalOperator.AND,
            (A_OVER_5, Comparison("b", Comparator.NOT_EQUAL, "x", pass_if_missing=False)),
        ),
        None,
    ),
    "080312040800100a": (None, Pagination(0, 10)),
}


def filter_bytes(kind: int, body: bytes) -> bytes:
    return messages.Filter(type=kind, filter=body).SerializeToString()


def leaf(  # the fields of the message, each with the default of SDKs
    column: str = "a",
    *,
    comparator: int = 1,
    value: bytes = encode_variant(1),
    filter_if_missing: bool = False,
    latest_version_only: bool = True,
    regex: str | None = None,
    cast: int | None = None,
) -> bytes:
    rule = None if regex is None else messages.ValueTransferRule(regex=regex, cast_type=cast)
    message = messages.SingleColumnValueFilter(
        comparator=comparator,
        column_name=column,
        column_value=value,
        filter_if_missing=filter_if_missing,
        latest_version_only=latest_version_only,
        value_trans_rule=rule,
    )
    return filter_bytes(1, message.SerializeToString())


def composite(combinator: int, *children: bytes) -> bytes:
    message = messages.CompositeColumnValueFilter(
        combinator=combinator,
        sub_filters=[messages.Filter.FromString(child) for child in children],
    )
    return filter_bytes(2, message.SerializeToString())


def pagination(offset: int, limit: int) -> bytes:
    message = messages.ColumnPaginationFilter(offset=offset, limit=limit)
    return filter_bytes(3, message.SerializeToString())


def comparison(data: bytes) -> Comparison:
    tree = decode_condition(data)
    assert isinstance(tree, Comparison)
    return tree


def refusal(decode: Callable[[bytes], object], data: bytes) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        decode(data)
    return caught.value


both = pytest.mark.parametrize("decode", [decode_read_filter, decode_condition])


# --- vectors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("data", VECTORS)
def test_vectors_decode(data: str) -> None:
    assert decode_read_filter(bytes.fromhex(data)) == VECTORS[data]


@pytest.mark.parametrize("data", [data for data, wanted in VECTORS.items() if wanted[0]])
def test_conditions_decode_as_read_filters_do(data: str) -> None:
    """One encoding for both (wire §3)."""
    assert decode_condition(bytes.fromhex(data)) == VECTORS[data][0]


@pytest.mark.parametrize("data", VECTORS)
def test_every_shortened_vector_is_refused(data: str) -> None:
    whole = bytes.fromhex(data)
    for length in range(len(whole)):
        refusal(decode_read_filter, whole[:length])


@pytest.mark.parametrize("data", VECTORS)
def test_damaged_vectors_are_refused_or_another_filter(data: str) -> None:
    """No checksum guards a filter; damage must at least never escape as another error."""
    whole = bytes.fromhex(data)
    refused = 0
    for position in range(len(whole)):
        for flip in (0x01, 0x08, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[position] ^= flip
            try:
                tree, page = decode_read_filter(bytes(damaged))
            except InvalidRequest:
                refused += 1
            else:
                assert (tree is None) is not (page is None)
    assert refused > len(whole)


@given(data=st.binary(max_size=60))
def test_no_input_raises_anything_else(data: bytes) -> None:
    for decode in (decode_read_filter, decode_condition):
        for given_data in (data, filter_bytes(1, data), filter_bytes(2, data)):
            try:
                decode(given_data)
            except InvalidRequest:
                continue


# --- trees -----------------------------------------------------------------------------------


def test_trees_keep_their_shape_and_order() -> None:
    tree = decode_condition(
        composite(
            3,
            composite(1, leaf("a")),
            leaf("b"),
            composite(2, leaf("c"), composite(3, leaf("d"), leaf("e")), leaf("f")),
        )
    )
    names = [Comparison(name, Comparator.EQUAL, 1) for name in "abcdef"]
    a, b, c, d, e, f = names
    inner = Composite(LogicalOperator.OR, (d, e))
    assert tree == Composite(
        LogicalOperator.OR,
        (
            Composite(LogicalOperator.NOT, (a,)),
            b,
            Composite(LogicalOperator.AND, (c, inner, f)),
        ),
    )


def test_thirty_two_nodes_are_the_most() -> None:
    """Every composite and every leaf counts, at any depth (semantics §5.3)."""
    leaves = [leaf()] * 31
    tree = decode_condition(composite(3, *leaves))
    assert isinstance(tree, Composite)
    assert len(tree.filters) == 31
    error = refusal(decode_condition, composite(3, *leaves, leaf()))
    assert (error.rule, error.details) == (TablestoreRule.FILTER_COUNT, {"limit": FILTER_NODES_MAX})
    deep = composite(3, composite(1, composite(2, *[leaf()] * 15)), *[leaf()] * 14)
    assert isinstance(decode_condition(deep), Composite)
    deeper = composite(3, composite(1, composite(2, *[leaf()] * 15)), *[leaf()] * 15)
    assert refusal(decode_condition, deeper).rule is TablestoreRule.FILTER_COUNT


@pytest.mark.parametrize("operator", [1, 2, 3])
def test_nodes_are_counted_before_what_stands_below_an_operator(operator: int) -> None:
    """A NOT with two sub-filters, an AND or OR with one, in a tree of 33 nodes (semantics §5.3)."""
    many = composite(2, *[leaf()] * 29)
    wrong = composite(operator, leaf(), many) if operator == 1 else composite(operator, many)
    rules = {
        1: TablestoreRule.FILTER_NOT_ARITY,
        2: TablestoreRule.FILTER_LOGIC_ARITY,
        3: TablestoreRule.FILTER_LOGIC_ARITY,
    }
    assert refusal(decode_condition, wrong).rule is rules[operator]
    many = composite(2, *[leaf()] * (30 if operator == 1 else 31))
    wrong = composite(operator, leaf(), many) if operator == 1 else composite(operator, many)
    assert refusal(decode_condition, wrong).rule is TablestoreRule.FILTER_COUNT


def nested(depth: int) -> bytes:
    data = leaf()
    for _ in range(depth - 1):
        data = composite(1, data)
    return data


def test_chains_are_as_deep_as_the_count_allows() -> None:
    assert isinstance(decode_condition(nested(FILTER_NODES_MAX)), Composite)
    assert (
        refusal(decode_condition, nested(FILTER_NODES_MAX + 1)).rule is TablestoreRule.FILTER_COUNT
    )


def test_a_thousand_levels_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    data, parsed, parse = nested(1000), [0], filters._parse

    def counting(kind: type[messages.Filter], data: bytes, rule: TablestoreRule) -> messages.Filter:
        parsed[0] += 1
        return parse(kind, data, rule)

    monkeypatch.setattr(filters, "_parse", counting)
    assert refusal(decode_read_filter, data).rule is TablestoreRule.FILTER_COUNT
    assert parsed[0] == FILTER_NODES_MAX


@pytest.mark.parametrize("field", [b"\x12\x00", b"\x08\x02", b"\x1a\x00", b"\x21" + bytes(8)])
def test_crowds_are_refused_before_they_are_parsed(
    field: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two million empty sub-filters would be two million messages (measured: 0.36 s, 120 MB)."""
    data = filter_bytes(2, b"\x08\x02" + field * (5_000_000 // len(field)))
    described = SimpleNamespace(DESCRIPTOR=messages.CompositeColumnValueFilter.DESCRIPTOR)
    monkeypatch.setattr(messages, "CompositeColumnValueFilter", described)  # nothing that parses
    assert refusal(decode_read_filter, data).rule is TablestoreRule.FILTER_COUNT


def test_fields_of_newer_clients_are_skipped() -> None:
    body = messages.CompositeColumnValueFilter(combinator=1).SerializeToString()
    child = leaf()
    for unknown in (b"\x18\x96\x01", b"\x1a\x02ab", b"\x1d" + bytes(4), b"\x19" + bytes(8)):
        data = filter_bytes(2, body + unknown + b"\x12" + bytes((len(child),)) + child)
        assert isinstance(decode_condition(data), Composite)


@pytest.mark.parametrize(
    "body", [b"\x08", b"\x08\x02\x13", b"\x08\x02\x12\xff" + b"\xff" * 9, b"\x08\x02\x12\x05a"]
)
def test_composites_that_cannot_be_walked_are_refused(body: bytes) -> None:
    error = refusal(decode_condition, filter_bytes(2, body))
    assert error.rule is TablestoreRule.FILTER_COMPOSITE_DECODE


@both
@pytest.mark.parametrize(
    ("data", "rule", "details"),
    [
        (b"", TablestoreRule.FILTER_DECODE, {}),
        (b"\x08\x01", TablestoreRule.FILTER_DECODE, {}),
        (b"\xff\xff", TablestoreRule.FILTER_DECODE, {}),
        (filter_bytes(0, b""), TablestoreRule.FILTER_TYPE, {"type": 0}),
        (filter_bytes(9, b""), TablestoreRule.FILTER_TYPE, {"type": 9}),
        (filter_bytes(1, b""), TablestoreRule.FILTER_RELATION_DECODE, {}),
        (filter_bytes(2, b""), TablestoreRule.FILTER_COMPOSITE_DECODE, {}),
        (filter_bytes(2, b"\x08\x02\x12\x00"), TablestoreRule.FILTER_COMPOSITE_DECODE, {}),
        (composite(4, leaf(), leaf()), TablestoreRule.FILTER_COMPOSITE_DECODE, {"combinator": 4}),
        (composite(1), TablestoreRule.FILTER_NOT_ARITY, {"count": 0}),
        (composite(1, leaf(), leaf()), TablestoreRule.FILTER_NOT_ARITY, {"count": 2}),
        (composite(2, leaf()), TablestoreRule.FILTER_LOGIC_ARITY, {"count": 1}),
        (composite(3), TablestoreRule.FILTER_LOGIC_ARITY, {"count": 0}),
        (composite(2, leaf(), filter_bytes(7, b"")), TablestoreRule.FILTER_TYPE, {"type": 7}),
        (composite(2, leaf(), pagination(0, 1)), TablestoreRule.FILTER_PAGINATION_PLACE, {}),
        (leaf(comparator=0), TablestoreRule.FILTER_COMPARATOR, {"comparator": 0}),
        (leaf(comparator=9), TablestoreRule.FILTER_COMPARATOR, {"comparator": 9}),
    ],
)
def test_malformed_filters_break_their_rule(
    decode: Callable[[bytes], object], data: bytes, rule: AnyRule, details: dict[str, object]
) -> None:
    error = refusal(decode, data)
    assert (error.rule, error.details) == (rule, details)


# --- comparisons -----------------------------------------------------------------------------


@pytest.mark.parametrize("comparator", list(Comparator))
def test_all_comparators_decode(comparator: Comparator) -> None:
    assert comparison(leaf(comparator=comparator.value)).comparator is comparator


@pytest.mark.parametrize("value", [-7, 1.5, True, False, "", "杭州", b"", b"\x00\xff"])
def test_constants_of_all_types_decode(value: Value) -> None:
    decoded = comparison(leaf(value=encode_variant(value))).value
    assert (decoded, type(decoded)) == (value, type(value))


def test_flags_follow_the_wire() -> None:
    """`filter_if_missing` is the negation of what SDKs call pass_if_missing (wire §3)."""
    tree = comparison(leaf(filter_if_missing=True, latest_version_only=False))
    assert (tree.pass_if_missing, tree.latest_version_only) == (False, False)
    tree = comparison(leaf())
    assert (tree.pass_if_missing, tree.latest_version_only) == (True, True)


@pytest.mark.parametrize("comparator", [Comparator.EXIST, Comparator.NOT_EXIST])
def test_tests_of_presence_need_no_constant(comparator: Comparator) -> None:
    assert comparison(leaf(comparator=comparator.value, value=b"")).value == b""
    error = refusal(decode_condition, leaf(comparator=comparator.value, value=b"\x55"))
    assert error.rule is TablestoreRule.FILTER_RELATION_DECODE


@pytest.mark.parametrize(
    "value", [b"", b"\x06", b"\x00\x01", b"\x03\xff\xff\xff\x7fa", b"\x03\x01\x00\x00\x00\xff"]
)
def test_constants_are_whole_values(value: bytes) -> None:
    assert (
        refusal(decode_condition, leaf(value=value)).rule is TablestoreRule.FILTER_RELATION_DECODE
    )


@pytest.mark.parametrize("marker", [b"\x09", b"\x0a", b"\x0b"])
def test_markers_are_no_constants(marker: bytes) -> None:
    error = refusal(decode_condition, leaf(value=marker))
    assert error.rule is TablestoreRule.FILTER_RELATION_DECODE
    assert error.details["column"] == "a"


@pytest.mark.parametrize("letter", ["x", b"x"])
def test_constants_are_as_long_as_a_cell_may_be(letter: str | bytes) -> None:
    """Semantics §5.3: 2 MB, also inside composites."""
    longest = leaf("big", value=encode_variant(letter * VALUE_BYTES_MAX))
    assert len(str(comparison(longest).value)) >= VALUE_BYTES_MAX
    longer = leaf("big", value=encode_variant(letter * (VALUE_BYTES_MAX + 1)))
    for data in (longer, composite(1, longer)):
        error = refusal(decode_condition, data)
        assert error.rule is TablestoreRule.VALUE_LENGTH
        assert error.details == {"column": "big", "length": VALUE_BYTES_MAX + 1}


def test_column_names_are_utf8() -> None:
    data = bytes.fromhex("0801121408031201ff1a0900050000000000000020002801")
    assert refusal(decode_condition, data).rule is TablestoreRule.FILTER_RELATION_DECODE


# --- transfer rules (wire §3) ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cast", "kind"),
    [
        (0, ColumnType.INTEGER),
        (1, ColumnType.DOUBLE),
        (3, ColumnType.STRING),
        (7, ColumnType.BINARY),
        (None, ColumnType.STRING),
    ],
)
def test_casts_are_those_of_the_wire(cast: int | None, kind: ColumnType) -> None:
    transfer = comparison(leaf(regex="(a+)", cast=cast)).transfer
    assert transfer == TransferRule("(a+)", kind, re.compile("(a+)"))


@pytest.mark.parametrize("cast", [2, 4, 6, 8, -1])
def test_other_casts_are_refused(cast: int) -> None:
    error = refusal(decode_condition, leaf(regex="(a+)", cast=cast))
    assert (error.rule, error.details) == (
        TablestoreRule.FILTER_RELATION_DECODE,
        {"cast_type": cast},
    )


@pytest.mark.parametrize(
    "regex",
    [
        "(",
        "(a",
        "a{2,1}(b)",
        "(?<=a)(b)",
        "(a)\\1",
        "((a{100}){100}){100}",
    ],
)
def test_patterns_compile(regex: str) -> None:
    error = refusal(decode_condition, leaf(regex=regex, cast=0))
    assert error.rule is TablestoreRule.FILTER_REGEX
    assert error.details["reason"]


def test_patterns_are_short() -> None:
    longest = "(" + "é" * ((FILTER_PATTERN_BYTES_MAX - 2) // 2) + ")"
    assert comparison(leaf(regex=longest, cast=3)).transfer is not None
    error = refusal(decode_condition, leaf(regex=longest + "a", cast=3))
    assert error.rule is TablestoreRule.FILTER_REGEX
    assert error.details == {"length": FILTER_PATTERN_BYTES_MAX + 1, "limit": 1024}


def test_patterns_that_python_warns_about_are_taken_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert comparison(leaf(regex="([[a])", cast=3)).transfer is not None


def test_patterns_that_are_not_utf8_are_refused() -> None:
    data = leaf(regex="(zz)", cast=3).replace(b"(zz)", b"(\xff\xfe)")
    assert refusal(decode_condition, data).rule is TablestoreRule.FILTER_REGEX


# --- pagination (semantics §5.3) -----------------------------------------------------------------


def test_pagination_is_a_filter_of_its_own() -> None:
    assert decode_read_filter(pagination(7, 1)) == (None, Pagination(7, 1))
    error = refusal(decode_condition, pagination(0, 1))
    assert error.rule is TablestoreRule.FILTER_PAGINATION_PLACE


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (pagination(-1, 1), TablestoreRule.FILTER_PAGINATION_OFFSET),
        (pagination(0, 0), TablestoreRule.FILTER_PAGINATION_LIMIT),
        (pagination(0, -5), TablestoreRule.FILTER_PAGINATION_LIMIT),
        (filter_bytes(3, b""), TablestoreRule.FILTER_PAGINATION_DECODE),
        (filter_bytes(3, b"\x08\x00"), TablestoreRule.FILTER_PAGINATION_DECODE),
    ],
)
def test_pagination_has_bounds(data: bytes, rule: AnyRule) -> None:
    assert refusal(decode_read_filter, data).rule is rule


def test_matching_takes_time_linear_in_the_text() -> None:
    # a pattern that costs a backtracking matcher 2^n steps; here it must simply end
    transfer = comparison(leaf(regex="(a+)+$", cast=3)).transfer
    assert transfer is not None
    assert transfer.pattern.search("a" * 1_000_000 + "b") is None
