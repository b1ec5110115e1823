"""The benchmark of typed tables meets every row it counts."""

import pytest
from bench import nosql as bench


def test_every_case_is_measured() -> None:
    lines = bench.lines([bench.run_once(1000)])
    assert [line.case for line in lines] == [
        *("put_many", "put_many", "multi_get", "multi_get", "multi_get", "get")
    ]
    assert all(line.rows_per_cpu_second > 0 for line in lines)


def test_a_case_that_misses_rows_is_no_figure() -> None:
    with pytest.raises(RuntimeError):
        bench.measure(lambda: 999, 1000)
