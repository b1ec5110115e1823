"""Sort keys, the page of an order, and continuation keys (ddl §3: sorting; nosql-wire §6)."""

from decimal import Decimal
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_CONTINUATION_BYTES_MAX
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.wire.nosql.sql.order_keys import SortWay, group_key, sort_key
from widerow.wire.nosql.sql.ordered_page import OrderedPage, OrderedRow
from widerow.wire.nosql.sql.resume import (
    QUERY_START,
    QueryResume,
    read_resume,
    resume_bytes,
    statement_mark,
)

Number = int | float | Decimal
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30),
)

# In the order of ORDER BY … ASC: numbers, text, booleans, EMPTY, JSON null, SQL NULL.
ASCENDING: list[list[Any]] = [
    *([float("-inf")], [-1.5], [0], [Decimal("0.1")], [1], [2.5], [float("inf")]),
    *([float("nan")], [Timestamp(0)], [Timestamp(0, 1)], [""], ["B"], ["a"], ["\U0001f600"]),
    *(["\ue000"], [False], [True], [], [JSON_NULL], [None]),
]


def test_kinds_sort_as_documented_and_nulls_where_the_clause_wants_them() -> None:
    def ordered(*, descending: bool, nulls_first: bool | None) -> list[list[Any]]:
        order = SortWay(descending=descending, nulls_first=nulls_first)
        return sorted(ASCENDING, key=lambda items: sort_key(items, order))

    values, specials = ASCENDING[:-3], ASCENDING[-3:]
    assert ordered(descending=False, nulls_first=None) == ASCENDING
    assert ordered(descending=True, nulls_first=None) == ASCENDING[::-1]
    assert ordered(descending=False, nulls_first=True) == specials + values
    assert ordered(descending=True, nulls_first=False) == values[::-1] + specials[::-1]


def test_an_enum_sorts_by_the_order_of_its_symbols() -> None:
    order = SortWay(descending=False, nulls_first=None, symbols=["z", "a", "m"])
    assert sorted([["a"], ["m"], ["z"]], key=lambda items: sort_key(items, order)) == [
        ["z"],
        ["a"],
        ["m"],
    ]


@given(NUMBERS, NUMBERS)
def test_numbers_of_all_types_compare_by_value(one: Number, other: Number) -> None:
    first, second = group_key([one]), group_key([other])
    exact = Decimal(one), Decimal(other)
    assert (first < second) == (exact[0] < exact[1])
    assert (first == second) == (exact[0] == exact[1])


@given(st.lists(st.integers(0, 50)), st.integers(1, 7), st.integers(20, 200))
def test_pages_of_an_order_give_every_row_once_in_order(
    numbers: list[int], rows_max: int, bytes_max: int
) -> None:
    rows = [
        OrderedRow(number.to_bytes(2, "big") + at.to_bytes(2, "big"), {"n": number}, 9)
        for at, number in enumerate(numbers)
    ]
    found: list[OrderedRow] = []
    after = b""
    while True:
        page = OrderedPage(after, rows_max, bytes_max)
        for row in rows:
            page.take(row)
        got, more = page.rows()
        assert len(got) <= rows_max
        found += got
        if more is None:
            break
        after = got[-1].key
    assert found == sorted(rows, key=lambda row: row.key)


def test_a_page_of_an_order_keeps_no_more_than_twice_its_size() -> None:
    page = OrderedPage(b"", 10, 10**6)
    for number in reversed(range(10_000)):
        page.take(OrderedRow(number.to_bytes(4, "big"), {"n": number}, 1))
        assert len(page._kept) <= 23
    rows, more = page.rows()
    assert [row.row for row in rows] == [{"n": number} for number in range(10)]
    assert more is not None


# --- continuation keys ---------------------------------------------------------------------------

MARK = statement_mark("SELECT * FROM t")


@given(
    st.builds(
        QueryResume,
        *(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1), st.binary()),
        *(st.integers(-1, 2**40), st.integers(0, 2**63 - 1)),
    )
)
def test_a_continuation_key_says_what_was_put_into_it(resume: QueryResume) -> None:
    assert read_resume(MARK, resume_bytes(MARK, resume)) == resume


def test_no_key_is_the_start() -> None:
    assert read_resume(MARK, b"") == QUERY_START


@given(st.binary(min_size=1))
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest):
        read_resume(MARK, data)


HOSTILE: list[bytes] = [
    resume_bytes(statement_mark("SELECT a FROM t"), QueryResume()),
    b"\x00" * (NOSQL_CONTINUATION_BYTES_MAX + 1),
    *(
        msgpack.packb([1, MARK, *parts])
        for parts in (
            [-1, 0, b"", -1, 0],
            [0, -5, b"", -1, 0],
            [0, 0, "text", -1, 0],
            [0, 0, b"", -2, 0],
            [0, 0, b"", True, 0],
            [0, 2**63, b"", -1, 0],
            [0, 0.5, b"", -1, 0],
            [0, 0, b"", None, 0],
            [0, 0, b"", -1, 0, 0],
        )
    ),
    resume_bytes(MARK, QueryResume(position=b"key"))[:-1],
]


def test_hostile_keys_are_refused() -> None:
    for data in HOSTILE:
        with pytest.raises(InvalidRequest):
            read_resume(MARK, data)
