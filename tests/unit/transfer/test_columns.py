"""What the columns of a file hold (docs/formats/export.md, "Plain rows")."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.client.tables import TableFacts
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.row_files.source import FileSource
from widerow.transfer.columns import kinds_of, parse_kinds, survey
from widerow.transfer.failures import TransferFailed

TABLE = TableFacts("t", (KeyColumn("k", KeyType.STRING),), {"defined": "double"}, 1, 86_400, 1)


def guessed(folder: Path, *values: str) -> str:
    file = folder / "r.csv"
    file.write_text("k,c\n" + "".join(f"a,{value}\n" for value in values))
    return kinds_of(FileSource(file), TABLE, {})["c"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("1", "-20", "0", ""), "integer"),
        (("9223372036854775807",), "integer"),
        (("9223372036854775808",), "string"),
        (("1", "1.5"), "double"),
        (("1.5", "9007199254740993"), "string"),  # a double would make ...992 of it
        (("0.30000000000000004", "1e-7"), "double"),
        (("0.12345678901234567890",), "string"),
        (("1e999",), "string"),
        (("true", "FALSE"), "boolean"),
        (("true", "1"), "string"),
        (("007",), "string"),
        (("+1",), "string"),
        (("nan",), "string"),
        (("", ""), "string"),
    ],
)
def test_columns_are_what_all_of_their_values_are(
    tmp_path: Path, values: tuple[str, ...], kind: str
) -> None:
    assert guessed(tmp_path, *values) == kind


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=1, max_size=5))
def test_doubles_as_they_are_written_are_doubles(
    tmp_path_factory: pytest.TempPathFactory, values: list[str]
) -> None:
    assert guessed(tmp_path_factory.mktemp("r"), *values) == "double"


def test_what_is_said_and_defined_comes_first(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("k,defined,said,looked\na,1,2,3\n")
    kinds = kinds_of(FileSource(tmp_path / "r.csv"), TABLE, {"said": "string"})
    assert kinds == {"defined": "double", "said": "string", "looked": "integer"}


def test_types_are_written_with_colons() -> None:
    assert parse_kinds(["a:int", "b:c:DOUBLE"]) == {"a": "integer", "b:c": "double"}
    for word in ("a", ":int", "a:date"):
        with pytest.raises(TransferFailed, match="COLUMN:TYPE"):
            parse_kinds([word])


def test_types_that_are_not_the_tables_are_refused(tmp_path: Path) -> None:
    source = FileSource(tmp_path / "r.csv")
    source.path.write_text("k,c\na,1\n")
    with pytest.raises(TransferFailed, match="is string"):
        kinds_of(source, TABLE, {"k": "integer"})
    with pytest.raises(TransferFailed, match="no column z"):
        kinds_of(source, TABLE, {"z": "integer"})


def test_a_new_table_keeps_as_many_versions_as_an_export_has(tmp_path: Path) -> None:
    source = FileSource(tmp_path / "r.jsonl")
    source.path.write_text(
        '{"k": 1, "@cells": {"a": [[9, 1]]}}\n{"k": 2, "@cells": {"a": [[7, 1], [6, 2], [5, 3]]}}\n'
    )
    found = survey(source, [], {}, lambda _: None)
    assert found == ((KeyColumn("k", KeyType.INTEGER),), 3, 5)
