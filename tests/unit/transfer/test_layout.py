"""Records of files as rows (docs/formats/export.md)."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.rows.plain_values import Row, VersionedValue
from widerow.transfer.layout import Reading, row_of_record

PAGE = Path(__file__).resolve().parents[3] / "docs" / "formats" / "export.md"
KEY = (
    KeyColumn("CardID", KeyType.STRING),
    KeyColumn("OrderNumber", KeyType.INTEGER),
)
SHOWN = Row(
    (("CardID", "card 7"), ("OrderNumber", 1)),
    (
        VersionedValue("Amount", 1_700_000_000_001, 12.5),
        VersionedValue("Amount", 1_700_000_000_000, 12),
        VersionedValue("Photo", 1_700_000_000_000, b"\x00\xff"),
    ),
)


def example(kind: str) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_examples_of_the_page_are_the_row_they_say() -> None:
    reading = Reading(KEY, {}, 0)
    assert repr(row_of_record(json.loads(example("json")), reading)) == repr(SHOWN)
    (record,) = csv.DictReader(example("csv").splitlines())
    assert repr(row_of_record(record, reading)) == repr(SHOWN)


@pytest.mark.parametrize(
    ("fields", "kinds", "message"),
    [
        ({"OrderNumber": 1}, {}, "no value of the key column CardID"),
        ({"CardID": 1, "OrderNumber": 1}, {}, "the column is string"),
        ({"CardID": "a", "OrderNumber": True}, {}, "the column is integer"),
        ({"CardID": "a", "OrderNumber": "1.5"}, {}, "not an integer"),
        ({"CardID": "a", "OrderNumber": 2**63}, {}, "64 bits"),
        ({"CardID": "a", "OrderNumber": 1, "x": [1]}, {}, "not a value of a column"),
        ({"CardID": "a", "OrderNumber": 1, "x": float("nan")}, {}, "do not store"),
        ({"CardID": "a", "OrderNumber": 1, "x": "no"}, {"x": "boolean"}, "neither true nor"),
        ({"CardID": "a", "OrderNumber": 1, "x": "?"}, {"x": "binary"}, "base64"),
        ({"CardID": "a", "OrderNumber": 1, "x": "1e999"}, {"x": "double"}, "do not store"),
        ({"CardID": "a", "OrderNumber": 1, "x": 1, "@cells": {}}, {}, "neither in the key"),
        ({"CardID": "a", "OrderNumber": 1, "@cells": "{"}, {}, "not JSON"),
        ({"CardID": "a", "OrderNumber": 1, "@cells": 7}, {}, "holds 7"),
        ({"CardID": "a", "OrderNumber": 1, "@cells": {"x": 1}}, {}, "no list of versions"),
        ({"CardID": "a", "OrderNumber": 1, "@cells": {"x": [[1]]}}, {}, "not \\[milliseconds"),
        ({"CardID": "a", "OrderNumber": 1, "@cells": {"x": [[-1, 1]]}}, {}, "not a version"),
        ({"CardID": "a", "OrderNumber": 1, "@cells": [{"column": "x"}]}, {}, "lacks a field"),
    ],
)
def test_a_record_that_is_no_row_says_why(
    fields: dict[str, Any], kinds: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        row_of_record(fields, Reading(KEY, kinds, 0))


def test_an_empty_field_is_no_cell_in_csv_alone() -> None:
    fields = {"CardID": "", "OrderNumber": "7", "x": ""}
    kinds = {"x": "string"}
    assert row_of_record(fields, Reading(KEY, kinds, 5, texts=True)).cells == ()
    assert row_of_record(fields, Reading(KEY, kinds, 5)).cells == (VersionedValue("x", 5, ""),)
