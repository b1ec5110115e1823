"""Entries of indexes are what docs/formats/keys.md says, vectors read out of the page."""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from widerow.engine.typed.index_form import IndexForm
from widerow.errors import StoreDamaged
from widerow.keys.typed import KeyForm
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.index_paths import EMPTY
from widerow.model.typed.table import Index, IndexField
from widerow.model.typed.types import INTEGER, LONG, STRING
from widerow.model.typed.values import JSON_NULL

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats" / "keys.md"
SECTION = PAGE.read_text(encoding="utf-8").partition("## Index entries")[2]
VECTORS = re.findall(r"^\| `(.*)` \| `(.*)` \| `([0-9a-f]+)` \|$", SECTION, re.MULTILINE)
SPECIAL = {"EMPTY": EMPTY, "JSON_NULL": JSON_NULL}


def form() -> tuple[IndexForm, bytes]:
    """The index of the page, and the key of its row."""
    builder = TableBuilder("t").add_field("id", LONG).add_field("n", INTEGER)
    table = builder.add_field("s", STRING).primary_key("id").build()
    table = replace(table, id=7, path=(7,))
    index = IndexForm(table, Index("i", (IndexField("n"), IndexField("s")), id=9))
    return index, KeyForm(table).encode((5,))


def value(text: str) -> Any:  # noqa: ANN401  # whatever the page shows
    return SPECIAL[text] if text in SPECIAL else ast.literal_eval(text)


@pytest.mark.parametrize(("n", "s", "code"), VECTORS)
def test_entries(n: str, s: str, code: str) -> None:
    index, row_key = form()
    values = (value(n), value(s))
    assert (index.prefix_of(values) + row_key[1:]).hex() == code
    assert index.decode(bytes.fromhex(code)) == (values, row_key)


def test_entries_stand_in_their_order() -> None:
    codes = [bytes.fromhex(code) for _, _, code in VECTORS]
    assert len(codes) == 4
    assert codes == sorted(codes)


@pytest.mark.parametrize("code", ["14000000095000", "1400000009", "140000000910800000"])
def test_what_is_no_entry_is_damage(code: str) -> None:
    with pytest.raises(StoreDamaged):
        form()[0].decode(bytes.fromhex(code))
