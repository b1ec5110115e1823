"""The rules, on made-up statistics (semantics §1.2; seeds 000 and 003)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.partitions.rules import (
    CHANGES_MAX,
    Merge,
    PartitionFacts,
    Reason,
    Report,
    Split,
    Thresholds,
    decide,
    is_cold,
    is_hot,
)

LIMITS = Thresholds(split_bytes=1000, split_units=100, key_bytes=500, partitions_max=64)
EVEN = tuple((b"%c" % letter, 10.0) for letter in b"abcdefgh")
HOT = PartitionFacts(
    b"", None, write_rate=200, hot_seconds=60, age_seconds=60, load=EVEN, append_share=0.1
)


def only(facts: PartitionFacts, limits: Thresholds = LIMITS) -> Any:  # noqa: ANN401  # any kind
    decisions = decide([facts], limits)
    assert len(decisions) == 1
    return decisions[0]


def test_a_hot_partition_splits_at_the_key_that_divides_its_load() -> None:
    split = only(HOT)
    assert (split.start, split.at, split.reason) == (b"", b"e", Reason.TOO_HOT)
    assert "200 units" in split.words
    skewed = ((b"a", 1.0), (b"b", 1.0), (b"c", 30.0), (b"d", 34.0))
    assert only(replace(HOT, load=skewed)).at == b"d"


@pytest.mark.parametrize(
    "facts",
    [
        replace(HOT, hot_seconds=59),
        replace(HOT, age_seconds=9),
        replace(HOT, load=()),
        replace(HOT, start=b"a", load=((b"a", 10.0),)),
    ],
)
def test_a_partition_is_left_alone(facts: PartitionFacts) -> None:
    assert decide([facts], LIMITS) == []


def test_a_large_partition_splits_at_the_key_that_divides_its_bytes() -> None:
    large = PartitionFacts(b"", None, size=1001, sizes=((b"", 500), (b"m", 300), (b"t", 201)))
    assert only(large) == Split(b"", b"m", Reason.TOO_LARGE, "1001 bytes, more than 1000")
    assert decide([replace(large, size=1000)], LIMITS) == []


def test_a_partition_of_one_key_is_reported_and_never_split() -> None:
    alone = PartitionFacts(b"k", b"l", size=2000, sizes=((b"k", 2000),), largest=(b"k", 2000))
    report = only(alone)
    assert (report.key, report.reason) == (b"k", Reason.KEY_TOO_LARGE)
    hot = replace(HOT, start=b"k", load=((b"k", 99.0),), top=((b"k", 0.99),))
    assert only(hot).reason is Reason.KEY_TOO_HOT


def test_the_advice_of_one_gigabyte_can_be_chosen() -> None:
    gibibyte = 1024**3
    facts = PartitionFacts(b"", None, size=2 * gibibyte, largest=(b"k", 2 * gibibyte))
    assert decide([facts], Thresholds()) == []
    assert only(facts, Thresholds(key_bytes=gibibyte)).reason is Reason.KEY_TOO_LARGE


def test_keys_that_only_grow_are_reported_instead_of_split() -> None:
    # Seed 003: sequential keys send every write to one partition; a split moves all of it.
    growing = replace(HOT, append_share=0.95)
    assert only(growing).reason is Reason.KEYS_GROW


def test_more_than_twice_its_share_of_a_busy_table_is_uneven() -> None:
    assert is_hot(60, 220, 8, LIMITS)
    assert not is_hot(54, 220, 8, LIMITS)
    assert not is_hot(60, 99, 8, LIMITS)  # the table is not busy
    assert not is_hot(49, 110, 8, LIMITS)  # half of what splits is always allowed
    assert only(replace(HOT, write_rate=60)).reason is Reason.UNEVEN


COLD = PartitionFacts(b"", b"m", cold_seconds=600, age_seconds=600, size=10, write_rate=1)
NEXT = replace(COLD, start=b"m", stop=None)


def test_cold_neighbours_merge() -> None:
    assert decide([COLD, NEXT], LIMITS) == [
        Merge(b"m", Reason.COLD, "2.0 units a second over 20 bytes")
    ]


@pytest.mark.parametrize(
    "right",
    [
        replace(NEXT, pinned=True),
        replace(NEXT, cold_seconds=599),
        replace(NEXT, age_seconds=599),
        replace(NEXT, size=490),
        replace(NEXT, write_rate=24),
    ],
)
def test_neighbours_that_stay_apart(right: PartitionFacts) -> None:
    assert decide([COLD, right], LIMITS) == []


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_what_merges_is_far_from_splitting_again(left: float, right: float) -> None:
    # Hysteresis: no load makes partitions come and go.
    pair = [replace(COLD, write_rate=left), replace(NEXT, write_rate=right)]
    if decide(pair, LIMITS):
        together = left + right
        assert together < LIMITS.split_units / 4
        assert not is_hot(together, together, 1, LIMITS)
    assert not (is_hot(left, left + right, 2, LIMITS) and is_cold(left, LIMITS))


facts = st.builds(
    PartitionFacts,
    start=st.just(b""),
    stop=st.none(),
    size=st.integers(0, 2000),
    write_rate=st.floats(0, 500),
    hot_seconds=st.floats(0, 100),
    cold_seconds=st.floats(0, 1000),
    age_seconds=st.floats(0, 1000),
    append_share=st.floats(0, 1),
    pinned=st.booleans(),
    load=st.just(EVEN),
    sizes=st.just(tuple((key, int(units)) for key, units in EVEN)),
)


@given(st.lists(facts, min_size=1, max_size=30))
def test_decisions_never_meet(found: list[PartitionFacts]) -> None:
    starts = [b"", *(b"k%02d" % number for number in range(1, len(found)))]
    partitions = [
        replace(
            each,
            start=start,
            stop=stop,
            load=tuple((start + key, units) for key, units in each.load),
            sizes=tuple((start + key, size) for key, size in each.sizes),
        )
        for each, start, stop in zip(found, starts, [*starts[1:], None], strict=True)
    ]
    decisions = decide(partitions, LIMITS)
    changes = [each for each in decisions if not isinstance(each, Report)]
    assert len(changes) <= CHANGES_MAX
    touched: list[bytes] = []
    for change in changes:
        touched.append(change.start)
        if isinstance(change, Merge):
            touched.append(starts[starts.index(change.start) - 1])
        else:
            index = starts.index(change.start)
            assert change.start < change.at
            assert index + 1 == len(starts) or change.at < starts[index + 1]
    assert len(touched) == len(set(touched))
    assert decisions == decide(partitions, LIMITS)  # pure
