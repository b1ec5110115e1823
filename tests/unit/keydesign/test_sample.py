"""Rows of files as the advisor of keys sees them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.keydesign.key import PartKind
from widerow.keydesign.sample import accesses, kinds
from widerow.row_files.source import FileInvalid, FileSource

INTEGER, TEXT = PartKind.INTEGER, PartKind.TEXT


def source(folder: Path, content: str, name: str = "a.csv") -> FileSource:
    path = folder / name
    path.write_bytes(content.encode())
    return FileSource(path)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["0", "-5", "9223372036854775807"], INTEGER),
        (["1", "007"], TEXT),
        (["1", "-0"], TEXT),
        (["1", "+2"], TEXT),
        (["1", ""], TEXT),
        (["1", " 2"], TEXT),
        (["1", "9223372036854775808"], TEXT),
        (["1", "٣"], TEXT),
        (["1", "1.0"], TEXT),
    ],
)
def test_a_column_of_csv_holds_integers_if_all_are_written_so(
    tmp_path: Path, values: list[str], kind: PartKind
) -> None:
    made = source(tmp_path, "a,b\n" + "".join(f'"{value}",x\n' for value in values))
    assert kinds(made, ["a", "b"]) == {"a": kind, "b": TEXT}
    assert kinds(made, ["a"], texts=["a"]) == {"a": TEXT}


def test_json_knows_its_types(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": "1"}, {"a": 2, "b": "2"}]
    made = source(tmp_path, "\n".join(map(json.dumps, rows)), "a.jsonl")
    assert kinds(made, ["a", "b"]) == {"a": INTEGER, "b": TEXT}


def test_no_rows_have_no_kinds(tmp_path: Path) -> None:
    with pytest.raises(FileInvalid, match="has no rows"):
        kinds(source(tmp_path, "a\n"), ["a"])


def test_a_late_text_among_integers_is_said_with_its_line(tmp_path: Path) -> None:
    made = source(tmp_path, "a\n1\nx\n")
    with pytest.raises(FileInvalid, match=r"line 3: a holds 'x'.*--text a"):
        list(accesses(made, {"a": INTEGER}))


@pytest.mark.parametrize("value", ["null", "1.5", "true", "[1]"])
def test_other_values_are_no_keys(tmp_path: Path, value: str) -> None:
    made = source(tmp_path, f'{{"a": {value}}}\n', "a.jsonl")
    with pytest.raises(FileInvalid, match="line 1: a holds"):
        list(accesses(made, {"a": TEXT}))


def test_without_a_time_the_number_of_the_row_is_one(tmp_path: Path) -> None:
    found = list(accesses(source(tmp_path, "a\n5\n6\n"), {"a": INTEGER}))
    assert [(each.values, each.time) for each in found] == [((5,), 0.0), ((6,), 1.0)]


def test_a_bad_time_is_said_with_its_line(tmp_path: Path) -> None:
    made = source(tmp_path, "a,t\n5,2017-08-01\n6,then\n")
    with pytest.raises(FileInvalid, match="line 3: t is not a time: 'then'"):
        list(accesses(made, {"a": INTEGER}, "t"))


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_integer_of_64_bits_is_one(tmp_path_factory: pytest.TempPathFactory, n: int) -> None:
    made = source(tmp_path_factory.mktemp("one"), f"a\n{n}\n")
    assert [each.values for each in accesses(made, kinds(made, ["a"]))] == [(n,)]
