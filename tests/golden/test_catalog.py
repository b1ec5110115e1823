"""The catalogue record of docs/formats/catalog.md, read out of the page."""

import json
import re
from pathlib import Path

import pytest

from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.errors import StoreDamaged
from widerow.model.tablestore.schema import KeyColumn, Throughput
from widerow.model.values import ColumnType, KeyType

PAGE = (Path(__file__).parents[2] / "docs" / "formats" / "catalog.md").read_text(encoding="utf-8")


def example() -> bytes:
    found = re.search(r"```json\n(.*)\n```", PAGE)
    assert found is not None
    return found[1].encode()


def test_the_example_is_what_is_written() -> None:
    table = decode_table(example())
    assert encode_table(table) == example()
    assert (table.instance, table.name, table.id) == ("demo", "cards", 7)
    assert table.key_columns[1] == KeyColumn("OrderNumber", KeyType.INTEGER, auto_increment=True)
    assert table.defined_columns[0].type is ColumnType.DOUBLE
    assert table.throughput.reserved == Throughput(0, 5)
    assert table.untrimmed


def test_the_page_names_every_field() -> None:
    rows = re.findall(r"^\| (.+?) \| ", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named >= set(json.loads(example()))


@pytest.mark.parametrize("field", ["format", "id", "options", "created_us", "key_columns"])
def test_a_record_without_a_field_is_refused(field: str) -> None:
    record = json.loads(example())
    del record[field]
    with pytest.raises(StoreDamaged):
        decode_table(json.dumps(record).encode())


@pytest.mark.parametrize(
    ("field", "value"), [("format", 2), ("id", "7"), ("id", True), ("splits", "36"), ("new", 1)]
)
def test_what_is_not_understood_is_refused(field: str, value: object) -> None:
    record = json.loads(example()) | {field: value}
    with pytest.raises(StoreDamaged):
        decode_table(json.dumps(record).encode())
