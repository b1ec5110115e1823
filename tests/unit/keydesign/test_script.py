"""Scripts: a sample's rows as load, and a recorded history."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.keydesign.script import ScriptInvalid, Tempo, recorded_script, sampled_script
from widerow.keys.encode import encode_key_value
from widerow.row_files.source import FileSource


def source(folder: Path, rows: list[tuple[int, int]]) -> FileSource:
    path = folder / "a.csv"
    path.write_text("k,t\n" + "".join(f"{key},{time}\n" for key, time in rows))
    return FileSource(path)


@given(
    rows=st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 10**9)), min_size=1, max_size=40),
    rate=st.floats(0.5, 5000),
    rhythm=st.booleans(),
)
def test_the_load_of_a_sample_is_what_the_tempo_says(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[int, int]],
    rate: float,
    *,
    rhythm: bool,
) -> None:
    made = sampled_script(
        source(tmp_path_factory.mktemp("s"), rows), ("k", "t"), Tempo(rate, 100, rhythm)
    )
    loads = made.script.loads
    assert made.rows == len(rows)
    assert abs(sum(load.write_units for load in loads) - rate * 100) < 1.001
    assert [load.second for load in loads] == sorted(load.second for load in loads)
    assert all(0 <= load.second < 100 for load in loads)
    assert sum(load.rows for load in loads) == len(rows)
    in_time = [key for key, _ in sorted(rows, key=lambda row: row[1])]
    assert [made.names[load.key] for load in loads] == [str(key) for key in in_time]
    assert set(made.script.pieces) <= {encode_key_value(key) for key, _ in rows}


def test_a_rhythm_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    made = source(tmp_path, [(1, 0), (2, 90), (3, 100)])
    steady = sampled_script(made, ("k", "t"), Tempo(3, 30)).script
    assert [load.second for load in steady.loads] == [0, 10, 20]
    rhythm = sampled_script(made, ("k", "t"), Tempo(3, 30, rhythm=True)).script
    assert [round(load.second) for load in rhythm.loads] == [0, 27, 30]


def test_expected_rows_scale_sizes(tmp_path: Path) -> None:
    made = source(tmp_path, [(1, 0), (2, 1)])
    loads = sampled_script(made, ("k", "t"), Tempo(1, 10, expected_rows=1000)).script.loads
    assert sum(load.rows for load in loads) == 1000
    assert loads[0].size == 500 * len("1,0\n")


@pytest.mark.parametrize(("rate", "seconds"), [(0, 10), (-1, 10), (10, 0)])
def test_a_replay_has_load_and_time(tmp_path: Path, rate: float, seconds: float) -> None:
    with pytest.raises(ScriptInvalid, match="above 0"):
        sampled_script(source(tmp_path, [(1, 1)]), ("k", "t"), Tempo(rate, seconds))


# --- what a server recorded ----------------------------------------------------------------------


def interval(start: int, *bins: tuple[int, float]) -> dict[str, Any]:
    named = [[encode_key_value(key).hex(), units] for key, units in bins]
    return {"start_s": start, "seconds": 10, "partitions": [["", 0, 0]], "bins": named}


def test_a_history_is_spread_over_its_seconds() -> None:
    script = recorded_script([interval(1000, (1, 25), (9, 5)), interval(1030, (5, 100))])
    assert script.seconds == 40
    units: dict[bytes, int] = {}
    for load in script.loads:
        units[load.key] = units.get(load.key, 0) + load.write_units
    assert units == {encode_key_value(1): 25, encode_key_value(9): 5, encode_key_value(5): 100}
    late = [load.second for load in script.loads if load.key == encode_key_value(5)]
    assert (min(late), max(late)) == (30, 39)
    assert [load.second for load in script.loads] == sorted(load.second for load in script.loads)


def test_nothing_recorded_is_said() -> None:
    with pytest.raises(ScriptInvalid, match="no load was recorded"):
        recorded_script([])
