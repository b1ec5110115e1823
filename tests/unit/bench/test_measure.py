# Issue "Performance", item 1: medians of repeats, percentiles, requests in their shares.

from collections import Counter

import pytest
from bench import rows, ycsb
from bench.disk import processor_us
from bench.load import Outcome
from bench.machine import processor
from bench.measure import Case, combine, percentile, times
from bench.workloads import scattered
from hypothesis import given
from hypothesis import strategies as st

from widerow.wire.tablestore import messages as m


def outcome(requests: int, middle: float) -> Outcome:
    return Outcome(requests, 2.0, middle, middle * 10, middle * 20, "wrk")


def test_each_figure_of_a_case_is_the_median_of_its_repeats() -> None:
    case = Case("read", "GetRow", (), 32, rows=4)
    runs = [(outcome(200, 9.0), 50.0), (outcome(400, 1.0), 80.0), (outcome(300, 5.0), 10.0)]
    result = combine(case, runs)
    assert (result.per_second, result.p50_us, result.p99_us, result.cpu_us) == (150, 5, 50, 50)
    assert (result.repeats, result.cpu_us_each, result.generator) == (3, (50, 80, 10), "wrk")
    assert result.rows_per_cpu_second == 4 / 50e-6


def test_what_took_turns_is_compared_turn_by_turn() -> None:
    """The machine was twice as slow in the second turn, and the third is an exception."""
    assert times((40.0, 80.0, 90.0), (10.0, 20.0, 10.0)) == 4.0


@given(st.lists(st.floats(0, 1e9), min_size=1), st.floats(0, 1))
def test_a_percentile_is_one_of_the_values_and_grows_with_the_share(
    values: list[float], share: float
) -> None:
    assert percentile(values, share) in values
    assert min(values) <= percentile(values, share / 2) <= percentile(values, share)
    assert percentile(values, 1) == max(values)


def test_the_99th_of_a_hundred_values_is_the_hundredth_in_order() -> None:
    assert percentile(range(100), 0.99) == 99
    assert percentile(range(100), 0.5) == 50


@given(st.integers(1, 3000))
def test_scattered_numbers_lie_in_the_table(table_rows: int) -> None:
    numbers = scattered(50, table_rows)
    assert all(0 <= number < table_rows for number in numbers)


def test_scattered_numbers_do_not_repeat_in_a_table_that_is_large_enough() -> None:
    assert len(set(scattered(2000, 100_000))) == 2000


def test_neighbours_in_number_are_neighbours_in_order() -> None:
    keys = [(text[1], position[1]) for text, position in map(rows.key, range(500))]
    assert keys == sorted(keys)
    assert len({text for text, _ in keys}) == 500 / rows.PARTITION_ROWS


def test_a_row_is_ten_columns_of_a_hundred_bytes() -> None:
    body = rows.put(12_345).partition(b"\r\n\r\n")[2]
    row = m.PutRowRequest.FromString(body).row
    values = rows.texts()[(12_345 + 1) % rows.VARIANTS]
    assert [len(text) for text in values] == [100] * 10
    assert all(text.encode() in row for text in values)


@pytest.mark.parametrize("workload", ycsb.WORKLOADS, ids=lambda each: each.name)
def test_a_workload_sends_its_operations_in_their_shares(workload: ycsb.Workload) -> None:
    requests = ycsb.mix(workload, 1000, 3000)
    actions = Counter(request.split(b" ", 2)[1].decode() for request in requests)
    operations = len(requests) / (1 + workload.modify / 100)
    expected = {
        "/GetRow": workload.read + workload.modify,
        "/UpdateRow": workload.update + workload.modify,
        "/PutRow": workload.insert,
        "/GetRange": workload.scan,
    }
    for action, hundredths in expected.items():
        assert actions[action] / operations == pytest.approx(hundredths / 100, abs=0.03)
    assert (
        workload.read + workload.update + workload.insert + workload.scan + workload.modify == 100
    )


def test_the_first_step_is_not_counted() -> None:
    steps = iter(range(10**9))
    assert processor_us(steps) > 0
    assert next(steps) > 1


def test_the_processor_is_named_as_the_kernel_names_it() -> None:
    assert processor("processor\t: 0\nmodel name\t: AMD EPYC\nflags\t: a b\n") == "AMD EPYC"
