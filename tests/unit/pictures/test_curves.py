"""Laws of curves: spikes survive thinning, all values lie inside the axis, gaps stay gaps."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from widerow.pictures.curves import Sample, curve, in_runs, thinned, time_ticks

TIMES = st.integers(0, 10**15)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats()
FINITE = NUMBERS.filter(math.isfinite)
SAMPLES = st.lists(st.tuples(TIMES | st.integers(0, 50), FINITE), min_size=1, max_size=60)


def _sorted(found: list[tuple[int, int | float]]) -> list[Sample]:
    return in_runs(sorted(found, key=lambda each: each[0]))


@given(SAMPLES, st.integers(1, 20))
def test_the_least_and_the_greatest_value_of_each_column_survive(
    found: list[tuple[int, int | float]], columns: int
) -> None:
    samples = _sorted(found)
    since, until = samples[0].time_us, samples[-1].time_us
    width = max(1, until - since)

    def by_column(given: list[Sample]) -> dict[int, list[int | float]]:
        values: dict[int, list[int | float]] = {}
        for each in given:
            at = min(columns - 1, (each.time_us - since) * columns // width)
            values.setdefault(at, []).append(each.value)
        return values

    kept = thinned(samples, since, until, columns)
    before, after = by_column(samples), by_column(kept)
    assert before.keys() == after.keys()
    for at, values in before.items():
        assert (min(after[at]), max(after[at])) == (min(values), max(values))
        assert len(after[at]) <= 2
    rest = iter(samples)
    assert all(any(each is other for other in rest) for each in kept)  # in their order


@given(SAMPLES)
def test_a_curve_lies_in_its_picture_and_its_axis_has_all_values(
    found: list[tuple[int, int | float]],
) -> None:
    samples = _sorted(found)
    drawn = curve(samples, (samples[0].time_us, samples[-1].time_us), (900, 120), 30)
    axis = drawn.axis
    assert axis.low <= min(each.value for each in samples)
    assert axis.high >= max(each.value for each in samples)
    assert all(0 <= each.x < 900 and 0 <= each.y <= 120 for each in drawn.marks)
    assert 2 <= len(axis.ticks) <= 7
    assert list(axis.ticks) == sorted(axis.ticks)
    assert len(set(axis.labels)) == len(set(axis.ticks))


def test_missing_values_are_gaps() -> None:
    times = [0, 10, 20, 30, 80, 90, 100, 110]
    values = [1, 2, 3, 4, 5, math.nan, 6, 7]
    samples = in_runs(zip(times, values, strict=True))
    drawn = curve(samples, (0, 110), (111, 10), 1000)
    assert [each.time_us for each in samples] == [0, 10, 20, 30, 80, 100, 110]
    assert drawn.path.count("M") == 2  # 0 to 30, 100 to 110; 80 is a mark alone
    assert len(drawn.marks) == 7


@given(TIMES, st.integers(0, 10**17))
def test_times_below_a_curve_are_even_and_few(since: int, span: int) -> None:
    step, ticks = time_ticks(since, since + span)
    assert len(ticks) <= 5
    assert all(each % step == 0 and since <= each <= since + span for each in ticks)
    assert all(later - earlier == step for earlier, later in pairwise(ticks))
