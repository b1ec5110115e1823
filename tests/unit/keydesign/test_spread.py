"""Where accesses go in time: sequential keys against even ones."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.keydesign.sketch import mixed
from widerow.keydesign.spread import RANGES, appended_share, hot_range_share, range_starts

ROWS = 20_000
EVEN = [mixed(number) for number in range(ROWS)]


@given(st.lists(st.integers(0, 100), min_size=1), st.integers(2, 12))
def test_pieces_never_cut_a_key_and_hold_equally_many_rows(keys: list[int], pieces: int) -> None:
    starts = range_starts(keys, pieces)
    assert starts == sorted(set(starts))
    assert len(starts) < pieces
    assert set(starts) <= set(keys) - {min(keys)}
    bounds = [min(keys), *starts, max(keys) + 1]
    counts = Counter(keys)
    for low, high in pairwise(bounds):
        inside = sum(count for key, count in counts.items() if low <= key < high)
        # More than its part only by the keys at its ends, which cannot be cut.
        assert inside <= len(keys) / pieces + 1 + 2 * max(counts.values())


def test_an_even_key_keeps_all_ranges_at_work() -> None:
    assert hot_range_share(EVEN) < 2 / RANGES
    assert appended_share(EVEN) == pytest.approx(0.1, abs=0.01)


def test_a_growing_key_keeps_one_at_work() -> None:
    growing = list(range(ROWS))
    assert hot_range_share(growing) > 0.5
    assert appended_share(growing) == 1.0
    assert appended_share(growing[::-1]) == 0.0


def test_a_hash_in_front_is_even_again() -> None:
    keys = [f"{mixed(number):016x}{number}" for number in range(ROWS)]
    assert hot_range_share(keys) < 2 / RANGES
    assert appended_share(keys) == pytest.approx(0.1, abs=0.01)


def test_one_key_is_one_range() -> None:
    assert hot_range_share([7] * ROWS) == 1
    assert appended_share([7] * ROWS) == 0  # equal to all before: in their middle


def test_a_wandering_place_is_hot_though_nothing_is_appended() -> None:
    wandering = [(number * 7919 // 1000) % 8 * 1000 + mixed(number) % 100 for number in range(ROWS)]
    batches = sorted(range(ROWS), key=lambda number: (number // 2500, number))
    there = [wandering[number] % 1000 + (number // 2500 * 3 % 8) * 1000 for number in batches]
    assert hot_range_share(there) > 3 / RANGES


@pytest.mark.parametrize("keys", [[], [1], [1, 2, 3]])
def test_few_rows_are_no_error(keys: list[int]) -> None:
    assert 0 <= hot_range_share(keys) <= 1
    assert appended_share(keys) == 0
