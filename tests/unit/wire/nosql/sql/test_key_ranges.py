"""Ranges of keys hold every row for which their conditions are true (ddl §3: comparison)."""

import operator
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.typed.form import TableForm
from widerow.model.typed import types
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.values import Timestamp
from widerow.wire.nosql.sql.access_path import AccessPath, KeyCondition, equal_columns
from widerow.wire.nosql.sql.key_ranges import (
    ANYTHING,
    KeyInterval,
    KeyPiece,
    KeyPoint,
    PrimarySpace,
    met,
    pieces_of,
    ranges_of,
)
from widerow.wire.nosql.sql.scans import ranges_left

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SMALL = st.integers(-4, 4)
HALVES = st.integers(-8, 8).map(lambda number: number / 2)
KINDS: dict[types.FieldType, st.SearchStrategy[Any]] = {
    types.INTEGER: SMALL,
    types.LONG: SMALL,
    types.DOUBLE: st.one_of(HALVES, st.just(-0.0)),
    types.FLOAT: HALVES,
    types.NUMBER: HALVES.map(Decimal),
    types.STRING: st.text("ab", max_size=2),
    types.enum_of(["z", "a"]): st.sampled_from(["z", "a"]),
    types.BOOLEAN: st.booleans(),
    types.timestamp(0): st.integers(-2, 2).map(Timestamp),
}
OPERANDS = {
    kind: st.one_of(values, SMALL, HALVES, HALVES.map(Decimal))
    if kind in (types.INTEGER, types.LONG, types.DOUBLE, types.FLOAT, types.NUMBER)
    else values
    for kind, values in KINDS.items()
}


def form_of(kind: types.FieldType) -> TableForm:
    builder = TableBuilder("t").add_field("a", types.INTEGER).add_field("b", kind)
    table = builder.primary_key("a", "b").shard_key("a").build()
    return TableForm(replace(table, id=1, path=(1,)))


def compares(kind: types.FieldType, name: str, pair: tuple[Any, Any]) -> bool:
    value, operand = pair
    if kind.symbols:
        value, operand = kind.symbols.index(value), kind.symbols.index(operand)
    return OPERATORS[name](value, operand)


@given(st.data(), st.sampled_from(list(KINDS)), st.sampled_from(list(OPERATORS)))
def test_no_row_that_a_condition_holds_for_is_outside_of_its_ranges(
    data: st.DataObject, kind: types.FieldType, name: str
) -> None:
    operand = data.draw(OPERANDS[kind])
    heads = data.draw(st.lists(SMALL, max_size=3))
    rows = data.draw(st.lists(st.tuples(SMALL, KINDS[kind]), max_size=8))
    form = form_of(kind)
    pieces = pieces_of(name, operand, kind)
    columns: list[list[KeyPiece]] = [[KeyPoint(head) for head in heads]]
    columns.append([ANYTHING] if pieces is None else pieces)
    ranges = ranges_of(PrimarySpace(form), columns)
    assert ranges == sorted(ranges)
    for a, b in rows:
        if a in heads and compares(kind, name, (b, operand)):
            key = form.key.encode([a, b])
            assert any(start <= key < stop for start, stop in ranges), (a, b, operand)


def test_conditions_of_one_column_meet() -> None:
    below, above = KeyInterval(high=5), KeyInterval(low=2, low_inclusive=False)
    assert met([below], [above]) == [KeyInterval(2, low_inclusive=False, high=5)]
    assert met([KeyPoint(1), KeyPoint(2)], [KeyPoint(2), KeyPoint(3)]) == [KeyPoint(2)]
    assert met([KeyPoint(None), KeyPoint(2)], [ANYTHING]) == [KeyPoint(2)]


@given(
    st.lists(SMALL, max_size=6),
    st.tuples(st.booleans(), st.booleans()),
    st.lists(SMALL, max_size=4),
)
def test_a_scan_goes_on_behind_any_position(
    numbers: list[int], ways: tuple[bool, bool], heads: list[int]
) -> None:
    reverse, inclusive = ways
    form = form_of(types.INTEGER)
    ranges = ranges_of(PrimarySpace(form), [[KeyPoint(head) for head in heads]])
    keys = sorted({form.key.encode([number, 0]) for number in numbers}, reverse=reverse)

    def scanned(position: bytes) -> list[bytes]:
        left = ranges_left(ranges, position, inclusive=inclusive, reverse=reverse)
        return [key for start, stop in left for key in keys if start <= key < stop]

    whole = scanned(b"")
    assert whole == [key for key in keys if any(start <= key < stop for start, stop in ranges)]
    for at, key in enumerate(whole):
        assert scanned(key) == whole[at if inclusive else at + 1 :]


class Given:
    """An expression whose items are known."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def evaluate(self, frame: object) -> list[Any]:  # noqa: ARG002  # needs no row
        return self._items


ITEMS = st.one_of(
    SMALL,
    st.sampled_from([2**31, -(2**31), 2**63, -(2**63) - 1, True, None]),
    HALVES,
    HALVES.map(Decimal),
    st.text("a1", max_size=2),
)


@given(
    st.tuples(st.lists(ITEMS, max_size=2), st.lists(ITEMS, max_size=2)),
    st.sampled_from([types.INTEGER, types.LONG, types.STRING]),
)
def test_the_key_of_one_row_is_the_range_of_its_conditions(
    items: tuple[list[Any], list[Any]], kind: types.FieldType
) -> None:
    form = form_of(kind)
    conditions = tuple((KeyCondition("=", (Given(each),)),) for each in items)
    equal = equal_columns(form, conditions)
    assert len(equal) == 2
    path = AccessPath(form, None, conditions, equal=equal)
    assert path.ranges(None) == replace(path, equal=()).ranges(None)


def test_only_one_equality_for_each_column_makes_the_key_of_one_row() -> None:
    form = form_of(types.INTEGER)
    equal, other = KeyCondition("=", (Given([1]),)), KeyCondition(">", (Given([1]),))
    either = KeyCondition("in", (Given([1]), Given([2])))
    assert equal_columns(form, [[equal], [equal]])
    for second in ([], [other], [either], [equal, equal]):
        assert equal_columns(form, [[equal], second]) == ()
    assert equal_columns(form, [[equal]]) == ()
    assert equal_columns(form_of(types.DOUBLE), [[equal], [equal]]) == ()
