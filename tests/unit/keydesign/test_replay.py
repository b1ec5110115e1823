"""Replays: partitions, nodes and load in time, under rules made for the test and the server's."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.partitions.rules import Thresholds
from widerow.keydesign.placement import IMBALANCE, Placement
from widerow.keydesign.replay import STEPS, KeyLoad, Replay, ReplayDecision, ReplayScript, replay
from widerow.keydesign.server_rules import ServerRules
from widerow.keydesign.sketch import mixed


class Timetable:
    """Rules that do at a second what a table says: a bound comes, or goes if it is there."""

    def __init__(self, changes: dict[int, bytes]) -> None:
        self.bounds: list[bytes] = []
        self.noted = 0
        self._changes = changes

    def note(self, load: KeyLoad) -> None:
        self.noted += load.read_units + load.write_units

    def decide(self, second: float) -> Sequence[ReplayDecision]:
        at = self._changes.get(round(second))
        if at is None:
            return ()
        if at in self.bounds:
            self.bounds.remove(at)
            return [ReplayDecision("merge", "because")]
        self.bounds = sorted([*self.bounds, at])
        return [ReplayDecision("split", "because"), ReplayDecision("report", "always the same")]


def key(number: int) -> bytes:
    return number.to_bytes(2, "big")


def even(seconds: int, each: int = 40) -> list[KeyLoad]:
    """Load on 16 keys, evenly."""
    return [
        KeyLoad(second + at / each, key(mixed(second * each + at) % 16), 1, 2)
        for second in range(seconds)
        for at in range(each)
    ]


# --- placement -----------------------------------------------------------------------------------

bounds = st.lists(st.binary(min_size=1, max_size=3), max_size=12, unique=True).map(sorted)


@given(st.integers(1, 9), bounds, bounds, st.integers(0, 5))
def test_every_partition_is_on_a_node_and_parts_stay_where_the_whole_was(
    nodes: int, before: list[bytes], after: list[bytes], seed: int
) -> None:
    placement = Placement(nodes, before, seed)
    starts = [b"", *before]
    was = {start: placement.node(start) for start in starts}
    assert set(was.values()) <= set(range(nodes))
    placement.follow(after)
    for start in [b"", *after]:
        whole = starts[bisect_right(starts, start) - 1]
        assert placement.node(start) == was[whole]


@given(
    st.integers(1, 6),
    bounds,
    st.lists(st.integers(0, 100), min_size=13, max_size=13),
    st.integers(),
)
def test_a_move_makes_the_worst_of_two_nodes_better(
    nodes: int, cuts: list[bytes], units: list[int], seed: int
) -> None:
    placement = Placement(nodes, cuts, abs(seed))
    load = dict(zip([b"", *cuts], units, strict=False))
    before = placement.loads(load)
    assert sum(before) == pytest.approx(sum(load.values()))
    move = placement.balance(load)
    after = placement.loads(load)
    if move is None:
        assert after == before
        return
    assert before[move.source] > IMBALANCE * sum(before) / nodes
    assert max(after[move.source], after[move.target]) < before[move.source]
    assert placement.node(move.partition) == move.target


def test_an_idle_node_is_given_what_others_can_give() -> None:
    """The busiest has one partition, which helps nobody elsewhere; the next has two."""
    placement = Placement(3, [b"b", b"c"], seed=0)
    load = {b"": 10.0, b"b": 0.0, b"c": 0.0}
    placement.follow([b"b", b"c", b"d", b"e"])
    # All parts of c stay together until they move.
    load |= {b"c": 4.0, b"d": 4.0, b"e": 1.0}
    move = placement.balance(load)
    assert move is not None
    assert move.partition in {b"c", b"d"}


def test_there_is_at_least_one_node() -> None:
    with pytest.raises(ValueError, match="at least one node"):
        Placement(0, [])


# --- replays -------------------------------------------------------------------------------------


def test_all_load_is_noted_and_shown_where_it_was() -> None:
    loads = even(120)
    rules = Timetable({10: key(8), 60: key(4), 90: key(8)})
    told: list[int] = []
    run = replay(ReplayScript(loads, 120, (key(4), key(8))), rules, 3, told=told.append)
    assert rules.noted == sum(load.read_units + load.write_units for load in loads)
    assert told[-1] == len(loads)
    assert len(run.steps) == STEPS
    for step in run.steps:
        assert step.units == pytest.approx(sum(step.pieces))
        assert step.units * step.seconds == pytest.approx(40 * 3 * 2)
        assert 1 <= step.skew <= 3
    assert [run.count(what) for what in ("splits", "merges")] == [2, 1]
    assert [(second, each.what) for second, each in run.decisions if each.what != "report"] == [
        (10, "split"),
        (60, "split"),
        (90, "merge"),
    ]
    assert run.reports == ["always the same"]
    assert [len(step.bounds) for step in (run.steps[3], run.steps[40], run.steps[-1])] == [0, 2, 1]


def test_one_partition_is_on_one_node() -> None:
    run = replay(ReplayScript(even(60), 60), Timetable({}), 4)
    assert run.mean_skew == pytest.approx(4)
    assert run.count("moves") == 0


def test_nothing_to_replay_is_even() -> None:
    run = replay(ReplayScript([], 60), Timetable({}), 4)
    assert run.mean_skew == 1
    assert {step.units for step in run.steps} == {0}


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_a_seed_gives_the_same_replay_again(seed: int) -> None:
    script = ReplayScript(even(90), 90, (key(8),))
    changes = {10: key(8), 20: key(4), 30: key(12)}
    runs = [replay(script, Timetable(changes), 3, seed) for _ in range(2)]
    assert runs[0] == runs[1]


# --- the server's rules --------------------------------------------------------------------------


def served(keys: Sequence[int], nodes: int = 4, rows: int = 1) -> Replay:
    """Keys at a steady 4000 units a second for twenty minutes, under the server's own rules."""
    seconds = 1200
    share = 4000 * seconds // len(keys)
    loads = [
        KeyLoad(number * seconds / len(keys), number_key(each), 0, share, rows, 100)
        for number, each in enumerate(keys)
    ]
    return replay(ReplayScript(loads, seconds), ServerRules(Thresholds()), nodes)


def number_key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def test_an_even_key_is_split_until_its_nodes_are_even() -> None:
    run = served([mixed(number) % 5000 for number in range(24_000)])
    assert run.count("splits") >= 3
    assert max(step.skew for step in run.steps[-20:]) < 1.5
    assert 1 <= run.settled_skew < 1.3 < run.mean_skew
    assert run.reports == []


def test_a_growing_key_keeps_one_node_busy_and_is_reported() -> None:
    run = served(range(24_000))
    assert run.steps[-1].skew > 3
    assert [words for words in run.reports if words.startswith("keys-grow")]
    assert "hash in front" in run.reports[0]


def test_one_hot_key_is_reported_and_not_split() -> None:
    run = served([7 if number % 4 else mixed(number) % 5000 for number in range(24_000)])
    assert [words for words in run.reports if words.startswith("key-too-hot")]
    assert run.steps[-1].skew > 2.5


def test_partitions_merge_when_the_load_is_gone() -> None:
    busy = [
        KeyLoad(number / 40, number_key(mixed(number) % 5000), 0, 100, 1, 100)
        for number in range(24_000)
    ]
    run = replay(ReplayScript(busy, 3600), ServerRules(Thresholds()), 4)
    most = max(len(step.bounds) for step in run.steps)
    assert most >= 3
    assert run.count("merges") > 0
    assert len(run.steps[-1].bounds) < most


def test_bounds_stay_in_order_under_any_load() -> None:
    run = served([mixed(number) % 50 for number in range(24_000)])
    for step in run.steps:
        assert all(low < high for low, high in pairwise(step.bounds))
    counted = Counter(each.what for _, each in run.decisions)
    assert counted["split"] - counted["merge"] == len(run.steps[-1].bounds)
