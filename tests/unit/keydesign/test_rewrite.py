"""Files with spliced keys, and back: nothing is lost on the way."""

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from widerow.keydesign import HashPrefix, KeyDesign, KeyDesignInvalid, KeyPart, PartKind
from widerow.keydesign.rewrite import OUTPUTS, parse_column, splice_columns, write_records
from widerow.row_files.source import FileInvalid, FileSource

DESIGN: Final = KeyDesign(
    (KeyPart("d", PartKind.INTEGER, 6), KeyPart("s")), ",", HashPrefix(columns=1)
)
ROWS: Final = [{"d": 16, "s": "a100", "x": "one"}, {"d": 54, "s": 'q"', "x": "=1+1"}]


def write(path: Path, rows: list[dict[str, Any]]) -> FileSource:
    assert write_records(rows, path, io.StringIO()) == len(rows)
    return FileSource(path)


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_what_was_spliced_is_taken_apart_again(tmp_path: Path, suffix: str) -> None:
    source = write(tmp_path / f"a{suffix}", ROWS)
    spliced = tmp_path / f"b{suffix}"
    write_records(splice_columns(source, DESIGN, "key"), spliced, io.StringIO())
    first = next(FileSource(spliced).records()).fields
    assert [*first.items()] == [("key", DESIGN.build((16, "a100"))), ("x", "one")]
    again = tmp_path / f"c{suffix}"
    write_records(parse_column(FileSource(spliced), DESIGN, "key"), again, io.StringIO())
    assert again.read_bytes() == (tmp_path / f"a{suffix}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 3  # nothing unfinished stays


def test_csv_goes_out_as_it_came_in(tmp_path: Path) -> None:
    """A cell that a spreadsheet would compute is data here, and stays what it is."""
    out = io.StringIO()
    write_records(ROWS, None, out)
    assert list(csv.reader(out.getvalue().splitlines()))[2] == ["54", 'q"', "=1+1"]
    assert list(tmp_path.iterdir()) == []


def test_a_large_file_is_written_in_batches(tmp_path: Path) -> None:
    rows = [{"d": number, "s": "x"} for number in range(20_000)]
    source = write(tmp_path / "a.parquet", rows)
    assert sum(1 for _ in source.records()) == 20_000


def test_a_row_that_has_no_key_is_said_with_its_line_and_leaves_no_file(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", [{"d": 1, "s": "x"}, {"d": 1_000_000, "s": "x"}])
    with pytest.raises(FileInvalid, match=r"a\.csv, line 3: d: 1000000 has more than 6 digits"):
        write_records(splice_columns(source, DESIGN, "key"), tmp_path / "b.csv", io.StringIO())
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_key_of_another_design_is_said_with_its_line(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", [{"key": "000016,a100"}])
    with pytest.raises(FileInvalid, match=r"line 2: "):
        list(parse_column(source, DESIGN, "key"))
    with pytest.raises(FileInvalid, match="line 2: no column other; it has key"):
        list(parse_column(source, DESIGN, "other"))
    (tmp_path / "a.jsonl").write_text(json.dumps({"key": 5}))
    with pytest.raises(FileInvalid, match="line 1: key is not a text: 5"):
        list(parse_column(FileSource(tmp_path / "a.jsonl"), DESIGN, "key"))


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", ROWS)
    with pytest.raises(KeyDesignInvalid, match="has a column x already"):
        list(splice_columns(source, DESIGN, "x"))
    assert next(iter(splice_columns(source, DESIGN, "d")))["d"] == DESIGN.build((16, "a100"))


def test_rows_that_do_not_fit_csv_are_refused() -> None:
    with pytest.raises(FileInvalid, match="row 2 has other columns"):
        write_records([{"a": 1}, {"b": 1}], None, io.StringIO())


def test_a_format_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileInvalid, match="name the file by its format"):
        write_records(ROWS, tmp_path / "a.xlsx", io.StringIO())
    with pytest.raises(FileInvalid, match="cannot write"):
        write_records(ROWS, tmp_path / "absent" / "a.csv", io.StringIO())


@pytest.mark.parametrize("suffix", OUTPUTS)
def test_texts_with_ends_of_lines_are_read_back(tmp_path: Path, suffix: str) -> None:
    ends = "\n\r\v\f\x85\u2028"
    rows = [{"k": f"{number}", "t": f"a{end}b{end}"} for number, end in enumerate(ends)]
    source = write(tmp_path / f"rows{suffix}", rows)
    assert [dict(record.fields) for record in source.records()] == rows
