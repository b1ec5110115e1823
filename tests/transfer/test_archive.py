"""`widerow archive`: cold rows leave the table only once a verified file has them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from widerow.client.connection import Client
from widerow.client.rows import encode_put
from widerow.client.tables import known_table, make_target_table, scan_table
from widerow.client.writing import PUT, UPDATE, Change, send
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.row_files.source import FileSource
from widerow.rows.plain_values import VersionedValue
from widerow.transfer.failures import TransferFailed

pytest.importorskip("pyarrow", reason="archives are Parquet: pip install pyarrow")

Widerow = Callable[..., Result]
OLD_MS = 1_500_000_000_000  # July 2017
NEW_MS = 1_700_000_000_000  # November 2023


def write(client: Client, number: int, cells: list[tuple[str, int, Any]], kind: int = PUT) -> None:
    row = encode_put([("k", number)], [VersionedValue(*cell) for cell in cells])
    assert send(client, "t", [Change(kind, row)]) == {}


@pytest.fixture
def table(client: Client) -> str:
    """250 rows: 0 to 199 of 2017, of which 5 has a new version too; the others of 2023."""
    make_target_table(client, "t", [KeyColumn("k", KeyType.INTEGER)], 3, 365_000 * 86_400)
    for number in range(250):
        written = OLD_MS if number < 200 else NEW_MS
        write(client, number, [("a", written, number), ("day", written, "2017-07-14")])
    write(client, 5, [("a", NEW_MS, "again")], UPDATE)
    write(client, 999, [])
    return "t"


def keys(client: Client) -> list[object]:
    return [row.key[0][1] for row in scan_table(client, known_table(client, "t"))]


def test_nothing_is_deleted_unless_it_is_asked_for(
    widerow: Widerow, client: Client, table: str, tmp_path: Path
) -> None:
    file = tmp_path / "cold.parquet"
    before = list(scan_table(client, known_table(client, table)))
    said = widerow("archive", table, "--before", "2020-01-01", "--output", file).stdout
    assert "199 rows" in said
    assert "Nothing was deleted" in said
    assert list(scan_table(client, known_table(client, table))) == before


def test_cold_rows_move_to_the_file_and_come_back(
    widerow: Widerow, client: Client, table: str, tmp_path: Path
) -> None:
    file = tmp_path / "cold.parquet"
    before = list(scan_table(client, known_table(client, table)))
    words = ("archive", table, "--before", "2020-01-01", "--output", file, "--json")
    assert json.loads(widerow(*words).stdout)["written"]
    told = json.loads(widerow(*words, "--delete").stdout)
    assert (told["written"], told["rows"]) == (False, 199)
    assert (told["deleted"], told["changed"], told["gone"]) == (199, 0, 0)
    assert keys(client) == [5, *range(200, 250), 999]  # 999 has no cell, and so no time
    again = json.loads(widerow(*words, "--delete").stdout)
    assert (again["deleted"], again["gone"]) == (0, 199)
    widerow("import", table, "--input", file)
    assert list(scan_table(client, known_table(client, table))) == before


def test_rows_that_changed_since_stay(
    widerow: Widerow, client: Client, table: str, tmp_path: Path
) -> None:
    file = tmp_path / "cold.parquet"
    words = ("archive", table, "--before", "2020-01-01", "--output", file, "--json")
    widerow(*words)
    write(client, 7, [("a", NEW_MS, "changed")], UPDATE)
    write(client, 8, [("another", OLD_MS, 1)], UPDATE)
    write(client, 9, [("a", OLD_MS, 9)])  # a column less
    told = json.loads(widerow(*words, "--delete", expect=1).stdout)
    assert (told["deleted"], told["changed"]) == (196, 3)
    assert keys(client) == [5, 7, 8, 9, *range(200, 250), 999]


def test_a_column_may_say_how_old_a_row_is(
    widerow: Widerow, client: Client, table: str, tmp_path: Path
) -> None:
    file = tmp_path / "cold.parquet"
    words = ("--before", "2017-07-15", "--column", "day", "--output", file, "--delete")
    widerow("archive", table, *words)
    assert keys(client) == [999]
    assert len(list(FileSource(file).records())) == 250


def test_a_file_that_is_not_what_was_exported_deletes_nothing(
    widerow: Widerow, client: Client, table: str, tmp_path: Path
) -> None:
    file, other = tmp_path / "cold.parquet", tmp_path / "other.parquet"
    widerow("archive", table, "--before", "2020-01-01", "--output", file)
    widerow("archive", table, "--before", "2017-01-01", "--output", other)
    data = bytearray(file.read_bytes())
    middle = data.index(b"2017-07-14")
    data[middle + 9] ^= 1
    (tmp_path / "damaged.parquet").write_bytes(data)
    for name, date in (("other", "2020-01-01"), ("damaged", "2020-01-01")):
        words = ("--before", date, "--output", tmp_path / f"{name}.parquet", "--delete")
        with pytest.raises(TransferFailed):
            widerow("archive", table, *words)
    assert len(keys(client)) == 251
