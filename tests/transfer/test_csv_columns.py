"""`widerow export --format csv`: columns for a spreadsheet (docs/formats/export.md)."""

import csv
import json
import shlex
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.row_files.spreadsheet import as_cell, begins_formula, from_cell
from widerow.text_lines import text_lines
from widerow.transfer.failures import TransferFailed

Widerow = Callable[..., Result]
ROWS = [
    {
        "k": "a",
        "n": 1,
        "@cells": {
            "Amount": [[1_700_000_000_001, 12.5], [1_700_000_000_000, 12]],
            "Note": [[1_700_000_000_000, '=1+"1", x']],
        },
    },
    {"k": "b", "n": 2, "@cells": {"Paid": [[1_700_000_000_000, True]]}},
    {"k": "c", "n": 3, "@cells": {}},
]


@pytest.fixture
def export(widerow: Widerow, tmp_path: Path) -> Callable[..., tuple[str, Result]]:
    """The text of an export with these flags, and what was said."""
    file = tmp_path / "given.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    widerow("import", "t", "--input", file, "--create")

    def exported(*flags: str) -> tuple[str, Result]:
        out = tmp_path / "out.csv"
        said = widerow("export", "t", "--output", out, "--format", "csv", "--overwrite", *flags)
        return out.read_bytes().decode(), said

    return exported


def test_each_column_has_its_newest_value(export: Callable[..., tuple[str, Result]]) -> None:
    text, said = export()
    assert text == ('k,n,Amount,Note,Paid\r\na,1,12.5,"=1+""1"", x",\r\nb,2,,,true\r\nc,3,,,\r\n')
    assert "--types k:string,n:integer,Amount:double,Note:string,Paid:boolean" in said.stdout
    assert "1 text begins as formulas do" in said.stderr


def test_versions_have_lines_and_types_have_columns(
    export: Callable[..., tuple[str, Result]],
) -> None:
    found = [line.split(",") for line in export("--versions")[0].splitlines()]
    assert found[0] == ["k", "n", "@version", "Amount", "Note", "Paid"]
    assert [line[:4] for line in found[1:]] == [
        ["a", "1", "1700000000001", "12.5"],
        ["a", "1", "1700000000000", "12"],
        ["b", "2", "1700000000000", ""],
        ["c", "3", "", ""],
    ]
    heading, *lines = csv.reader(export("--versions", "--types")[0].splitlines())
    assert heading[3:5] == ["Amount:double", "Amount:integer"]
    assert [line[3:5] for line in lines][:2] == [["12.5", ""], ["", "12"]]
    # Types are those of what is written: of the newest values alone.
    assert export("--types")[0].splitlines()[0].split(",")[2] == "Amount:double"


def test_a_spreadsheet_computes_no_text_and_sees_utf_8(
    export: Callable[..., tuple[str, Result]],
) -> None:
    text, said = export("--spreadsheet")
    assert text.startswith("\ufeffk,n,")
    assert ""","'=1+""1"", x",""" in text
    assert "formulas" not in said.stderr


VALUES = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "d": st.floats(allow_nan=False, allow_infinity=False),
    "b": st.booleans(),
    "s": st.text(st.sampled_from("'=+-@\t\r\n\",;07 é\u2028"), min_size=1, max_size=6),
    "x": st.binary(min_size=1, max_size=6).map(lambda value: {"binary": b64encode(value).decode()}),
}
TABLES = st.lists(st.fixed_dictionaries({}, optional=VALUES), min_size=1, max_size=4)


@pytest.mark.parametrize("flags", [(), ("--spreadsheet",)], ids=["plain", "spreadsheet"])
def test_newest_values_are_read_back_with_the_types_that_are_printed(
    widerow: Widerow, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """docs/formats/export.md: every key, and every newest value that is not an empty text."""

    def printed(table: str) -> list[dict[str, object]]:
        return list(map(json.loads, text_lines(widerow("row", "scan", table).stdout)))

    @given(rows=TABLES)
    @example(rows=[{"d": -0.0}, {"d": 1e300, "i": -1}, {"x": {"binary": "+A=="}}])
    @settings(max_examples=examples(20), deadline=None)
    def law(rows: list[dict[str, object]]) -> None:
        for table in ("t", "back"):
            widerow("table", "drop", table, "--yes", "--if-exists")
        given_rows, out = tmp_path / "given.jsonl", tmp_path / "out.csv"
        whole = [{"k": f"=k{number}", **row} for number, row in enumerate(rows)]
        given_rows.write_text("".join(f"{json.dumps(row)}\n" for row in whole))
        widerow("import", "t", "--input", given_rows, "--create", "--key", "k")
        form = ("--format", "csv", "--overwrite", *flags)
        said = widerow("export", "t", "--output", out, *form).stdout
        types = shlex.split(said.partition("--types ")[2])
        key = ("--create", "--key", "k", "--types", *types)
        widerow("import", "back", "--input", out, *key, *flags)
        assert repr(printed("back")) == repr(printed("t"))

    law()


@given(text=st.text(st.sampled_from("'=+-@\t\ra1"), max_size=5) | st.text())
def test_a_guarded_text_begins_no_formula_and_comes_back(text: str) -> None:
    assert not begins_formula(as_cell(text))
    assert from_cell(as_cell(text)) == text


def test_options_of_columns_are_refused_for_other_forms(widerow: Widerow, tmp_path: Path) -> None:
    widerow("table", "create", "t", "k:string")
    for flags, words in (
        (("x.csv", "--types"), "for --format csv"),
        (("x.csv", "--format", "xlsx"), "it is one of csv, csv-exact"),
        (("x.dat",), "or give --format"),
    ):
        with pytest.raises(TransferFailed, match=words):
            widerow("export", "t", "--output", tmp_path / flags[0], *flags[1:])
