"""Rows with the same key are found, whatever their number (docs/operating/transfer.md)."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.row_files.source import FileSource
from widerow.transfer import repeats
from widerow.transfer.failures import TransferFailed
from widerow.transfer.repeats import Repeats, find_repeats, last_rows

KEY = (KeyColumn("k", KeyType.INTEGER),)
FIRST_LINE = 2  # behind the header


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A partition is written to its file after two rows."""
    with monkeypatch.context() as patched:
        patched.setattr(repeats, "_HELD_BYTES", 48)
        yield


def source_of(folder: Path, keys: list[int]) -> FileSource:
    path = folder / "r.csv"
    path.write_text("k\n" + "".join(f"{key}\n" for key in keys))
    return FileSource(path)


@given(st.lists(st.integers(0, 20), max_size=80))
def test_every_row_but_the_last_of_its_key_is_found(keys: list[int]) -> None:
    last = {key: place for place, key in enumerate(keys, FIRST_LINE)}
    expected = {place for place, key in enumerate(keys, FIRST_LINE) if last[key] != place}
    with tempfile.TemporaryDirectory() as folder:
        found = find_repeats(source_of(Path(folder), keys), KEY)
        assert [path.name for path in Path(folder).iterdir()] == ["r.csv"]
    assert {place for place in range(len(keys) + 20) if place in found} == expected
    assert found.count == len(expected)
    if found.first is None:
        assert not expected
    else:
        place, later = found.first
        assert place == min(expected) < later
        assert keys[place - FIRST_LINE] == keys[later - FIRST_LINE]


@given(st.lists(st.integers(0, 5), max_size=30), st.sets(st.integers(FIRST_LINE, 31)))
def test_the_last_row_that_was_not_put_aside_is_found(keys: list[int], aside: set[int]) -> None:
    wanted = {key for place, key in enumerate(keys, FIRST_LINE) if place in aside}
    expected = {
        key: place
        for place, key in enumerate(keys, FIRST_LINE)
        if key in wanted and place not in aside
    }
    with tempfile.TemporaryDirectory() as folder:
        rows = last_rows(source_of(Path(folder), keys), KEY, aside)
    assert {row.place for row in rows} == set(expected.values())


def test_rows_without_a_readable_key_are_none(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("k,a\nx,1\nx,2\n1\n1,2\n,\n,\n")
    assert find_repeats(FileSource(path), KEY).count == 0


def test_a_folder_that_takes_no_files_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(tmp_path, [1, 1, 1])
    monkeypatch.setattr(repeats, "TemporaryFile", _full)
    with pytest.raises(TransferFailed, match=r"beside .*r\.csv: no room; .*24 bytes"):
        find_repeats(source, KEY)


def _full(**_: object) -> None:
    raise OSError(28, "no room")


def test_no_place_is_replaced_before_one_was_noted() -> None:
    assert 0 not in Repeats()
