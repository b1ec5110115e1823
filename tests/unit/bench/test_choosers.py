# Issue "Performance", item 1: YCSB's distributions.

from collections import Counter
from random import Random  # noqa: TID251  # with a fixed seed

import pytest
from bench.choosers import THETA, Latest, Ranks, Uniform, Zipfian, scatter
from hypothesis import given
from hypothesis import strategies as st

DRAWS = 40_000


def seeded(seed: int = 1) -> Random:
    return Random(seed)  # noqa: S311  # no secret


@given(count=st.integers(1, 300), seed=st.integers(0, 2**32))
def test_every_choice_is_a_row_that_is_there(count: int, seed: int) -> None:
    for chooser in (
        Uniform(seeded(seed)),
        Zipfian(seeded(seed), count),
        Latest(seeded(seed), count),
    ):
        assert all(0 <= chooser.choose(count) < count for _ in range(20))


def test_a_rank_is_drawn_as_often_as_zipf_says() -> None:
    count = 1000
    ranks = Ranks(seeded(), count)
    drawn = Counter(ranks.draw() for _ in range(DRAWS))
    zeta = sum(1 / rank**THETA for rank in range(1, count + 1))
    for rank in (0, 1):
        assert drawn[rank] / DRAWS == pytest.approx(1 / (rank + 1) ** THETA / zeta, rel=0.1)
    # The approximation is of the sum over ranks: half of all draws fall where Zipf has them.
    half = sum(1 / rank**THETA for rank in range(1, 33)) / zeta
    assert sum(drawn[rank] for rank in range(32)) / DRAWS == pytest.approx(half, rel=0.15)


def test_the_two_and_only_ranks_share_the_draws() -> None:
    ranks = Ranks(seeded(), 2)
    assert set(Counter(ranks.draw() for _ in range(1000))) == {0, 1}


def test_popular_rows_are_not_neighbours() -> None:
    chooser = Zipfian(seeded(), 10_000)
    drawn = Counter(chooser.choose(10_000) for _ in range(DRAWS))
    (first, _), (second, _) = drawn.most_common(2)
    assert abs(first - second) > 1
    assert first == scatter(0) % 10_000


def test_the_latest_row_is_the_likeliest_and_moves_as_rows_are_added() -> None:
    chooser = Latest(seeded(), 100)
    for count in (100, 150):
        drawn = Counter(chooser.choose(count) for _ in range(DRAWS // 10))
        assert drawn.most_common(1)[0][0] == count - 1


def test_the_same_seed_asks_the_same() -> None:
    first, second = (Zipfian(seeded(9), 500) for _ in range(2))
    assert [first.choose(500) for _ in range(50)] == [second.choose(500) for _ in range(50)]


def test_scattering_is_fnv_1a() -> None:
    # Computed by hand from the published constants: eight zero bytes leave only the products.
    value = 0xCBF29CE484222325
    for _ in range(8):
        value = value * 0x100000001B3 % 2**64
    assert scatter(0) == value
