"""Figures of keys against counting by hand, exact and estimated."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.keydesign.sketch import FrequentItems, KeyCounts, RowSample, gini, mixed

rows = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 50)), max_size=300)


def brute_gini(amounts: list[int]) -> float:
    """The definition: the mean difference of all pairs, by twice the mean."""
    if not sum(amounts):
        return 0.0
    apart = sum(abs(one - other) for one, other in product(amounts, amounts))
    return apart / (2 * len(amounts) * sum(amounts))


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60))
def test_gini_is_the_mean_difference_of_all_pairs(amounts: list[int]) -> None:
    assert gini((amount, 1) for amount in amounts) == pytest.approx(brute_gini(amounts), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 5)), min_size=1, max_size=20))
def test_a_weight_is_so_many_keys(weighted: list[tuple[int, int]]) -> None:
    every = [amount for amount, count in weighted for _ in range(count)]
    assert gini(weighted) == pytest.approx(brute_gini(every), abs=1e-9)


def test_gini_is_0_evenly_and_near_1_on_one() -> None:
    assert gini([(5, 1000)]) == pytest.approx(0, abs=1e-9)
    assert gini([(0, 999), (1, 1)]) == pytest.approx(0.999)
    assert gini([]) == 0


@given(rows)
def test_few_keys_are_counted_exactly(stream: list[tuple[int, int]]) -> None:
    counted = KeyCounts()
    for key, size in stream:
        counted.add(key, size)
    by_rows = Counter(key for key, _ in stream)
    by_bytes: Counter[int] = Counter()
    for key, size in stream:
        by_bytes[key] += size
    total = max(1, sum(by_bytes.values()))
    assert counted.exact
    assert counted.distinct.value == len(by_rows)
    assert counted.distinct.error == 0
    assert counted.top_share.value == max(by_rows.values(), default=0) / max(1, len(stream))
    assert counted.largest_share.value == max(by_bytes.values(), default=0) / total
    assert counted.gini == pytest.approx(brute_gini([*by_rows.values()] or [0]), abs=1e-9)
    if stream:
        assert isinstance(counted.busiest, int)
        assert by_rows[counted.busiest] == max(by_rows.values())


@settings(max_examples=examples(60))
@given(rows, st.integers(1, 30), st.integers(2, 30))
def test_many_keys_are_counted_within_the_error_that_is_said(
    stream: list[tuple[int, int]], keys: int, counters: int
) -> None:
    counted = KeyCounts(keys, counters)
    for key, size in stream:
        counted.add(key, size)
    by_rows = Counter(key for key, _ in stream)
    top = max(by_rows.values(), default=0) / max(1, len(stream))
    share = counted.top_share
    assert share.value - share.error - 1e-9 <= top <= share.value + 1e-9
    assert counted.exact is (len(by_rows) <= keys)


@given(rows, st.integers(2, 20))
def test_frequent_items_are_low_by_no_more_than_was_taken_off(
    stream: list[tuple[int, int]], counters: int
) -> None:
    found = FrequentItems(counters)
    exact: Counter[int] = Counter()
    for key, amount in stream:
        found.add(key, amount)
        exact[key] += amount
    _, most = found.largest()
    top = max(exact.values(), default=0)
    assert most.value - most.error <= top <= most.value
    assert found.taken_off <= 2 * sum(exact.values()) / counters
    for each, middle in found.certain().items():
        assert isinstance(each, int)
        assert abs(exact[each] - middle) <= found.taken_off


def test_a_long_stream_is_estimated_well() -> None:
    """200,000 keys with one row each, and one with a tenth of all rows."""
    counted = KeyCounts(exact_keys=4096, counters=1024)
    for number in range(200_000):
        counted.add(f"key{number}", 100)
        if number % 9 == 0:
            counted.add("hot", 1000)
    assert not counted.exact
    assert counted.distinct.value == pytest.approx(200_001, rel=0.08)
    assert counted.distinct.error < 0.04 * counted.distinct.value
    assert counted.busiest == "hot"
    assert counted.top_share.value == pytest.approx(0.1, abs=0.003)
    assert counted.largest_share.value == pytest.approx(10 / 19, abs=0.01)
    # A tenth of the rows on one key, the rest evenly: the area is that tenth.
    assert counted.gini == pytest.approx(0.1, abs=0.01)


def test_a_sample_is_uniform_bounded_and_the_same_every_time() -> None:
    samples = [RowSample(rows=1000, seed=seed) for seed in (0, 0, 1)]
    for number in range(50_000):
        for sample in samples:
            sample.add(number)
    first, again, other = (sample.rows for sample in samples)
    assert first == again
    assert first != other
    assert first == sorted(first)
    assert 900 < len(first) < 2000
    thirds = Counter(number * 3 // 50_000 for number in first)
    assert all(abs(count / len(first) - 1 / 3) < 0.06 for count in thirds.values())


@given(st.lists(st.integers(), max_size=1000))
def test_a_short_stream_is_sampled_whole(stream: list[int]) -> None:
    sample = RowSample(rows=1000)
    for each in stream:
        sample.add(each)
    assert sample.rows == stream


def test_mixed_numbers_are_as_if_drawn() -> None:
    drawn = [mixed(number) for number in range(10_000)]
    assert len(set(drawn)) == 10_000
    assert abs(sum(drawn) / len(drawn) / 2**64 - 0.5) < 0.01
    assert mixed(1, seed=1) != mixed(1, seed=2)
