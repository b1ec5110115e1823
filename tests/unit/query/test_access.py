"""Ranges of a key: every row that comparisons let through lies in one, and they keep its order."""

from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.scan import Bound, RowAccess
from widerow.query.access import KeyComparator as C
from widerow.query.access import KeyComparison, key_ranges, text_after

NAMES = ("a", "b")
ROWS = list(product(range(5), range(5)))
VALUES = st.integers(0, 4)
COMPARISONS = st.one_of(
    st.builds(
        KeyComparison,
        st.sampled_from(NAMES),
        st.sampled_from([C.EQUAL, C.LESS, C.AT_MOST, C.GREATER, C.AT_LEAST]),
        VALUES,
    ),
    st.builds(
        KeyComparison, st.sampled_from(NAMES), st.just(C.ONE_OF), st.lists(VALUES, max_size=4)
    ),
)
HOLDS: dict[C, Any] = {
    C.EQUAL: lambda a, b: a == b,
    C.LESS: lambda a, b: a < b,
    C.AT_MOST: lambda a, b: a <= b,
    C.GREATER: lambda a, b: a > b,
    C.AT_LEAST: lambda a, b: a >= b,
    C.ONE_OF: lambda a, b: a in b,
}


def inside(row: tuple[int, ...], access: RowAccess) -> bool:
    """Whether a row lies between the bounds of an access, as `Bound` defines them."""

    def compared(bound: Bound) -> int:
        part = row[: len(bound.values)]
        return (part > bound.values) - (part < bound.values)

    low, high = compared(access.low), compared(access.high)
    above = low > 0 or (low == 0 and (access.low.inclusive or not access.low.values))
    below = high < 0 or (high == 0 and (access.high.inclusive or not access.high.values))
    return above and below


@given(st.lists(COMPARISONS, max_size=4))
def test_no_row_that_the_comparisons_let_through_lies_outside(
    comparisons: list[KeyComparison],
) -> None:
    found = key_ranges(NAMES, comparisons)
    for row in ROWS:
        values = dict(zip(NAMES, row, strict=True))
        wanted = all(HOLDS[c.comparator](values[c.column], c.value) for c in comparisons)
        covering = [access for access in found.accesses if inside(row, access)]
        assert len(covering) <= 1, "ranges are apart from each other"
        assert covering or not wanted
        if found.points:
            assert bool(covering) == wanted
        if covering:
            exact = [c for c in comparisons if c.column in NAMES[: found.exact]]
            assert all(HOLDS[c.comparator](values[c.column], c.value) for c in exact)


@given(st.lists(COMPARISONS, max_size=4))
def test_ranges_follow_each_other_in_the_order_of_the_key(
    comparisons: list[KeyComparison],
) -> None:
    found = key_ranges(NAMES, comparisons)
    read = [row for access in found.accesses for row in ROWS if inside(row, access)]
    assert read == sorted(read)
    backwards = found.reversed()
    assert [each.low for each in backwards.accesses] == [e.low for e in found.accesses][::-1]
    assert all(each.reverse for each in backwards.accesses)


def test_many_given_values_are_read_as_the_range_they_lie_in() -> None:
    some = key_ranges(("a",), [KeyComparison("a", C.ONE_OF, list(range(100)))])
    many = key_ranges(("a",), [KeyComparison("a", C.ONE_OF, list(range(101)))])
    assert (len(some.accesses), some.points, some.exact, many.exact) == (100, True, 1, 0)
    assert many.accesses == (RowAccess("", Bound((0,)), Bound((100,))),)


@given(st.text(), st.text())
def test_what_begins_with_a_text_lies_before_the_text_after_it(prefix: str, rest: str) -> None:
    after = text_after(prefix)
    assert after is None or prefix + rest < str(after)


@given(st.binary(), st.binary())
def test_what_begins_with_bytes_lies_before_the_bytes_after_them(
    prefix: bytes, rest: bytes
) -> None:
    after = text_after(prefix)
    assert after is None or (isinstance(after, bytes) and prefix + rest < after)
