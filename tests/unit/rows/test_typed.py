"""Rows are read by whatever schema their table has by now; damage is told (formats/rows.md)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.typed_values import kinds, values_of
from tests.support.volume import examples

from widerow.errors import StoreDamaged
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.coerce import coerce
from widerow.model.typed.evolve import TableEvolver
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import (
    LONG,
    STRING,
    FieldType,
)
from widerow.rows.typed import (
    ValueForm,
    pack_value,
    typed_header,
    typed_record,
    typed_table_and_expiry,
    unpack_value,
)

unhurried = settings(deadline=None, max_examples=examples(60))  # machines under load are slow


@unhurried
@given(data=st.data(), kind=kinds)
def test_values_of_every_type_are_read_as_they_were_stored(
    data: st.DataObject, kind: FieldType
) -> None:
    value = coerce(data.draw(values_of(kind)), kind, "f")
    assert unpack_value(pack_value(value, kind), kind) == value


@unhurried
@example(kind=LONG, damage=b"\x81\x80\x00")  # a map whose key is a map
@given(kind=kinds, damage=st.binary(max_size=12))
def test_any_bytes_are_a_value_or_damage(kind: FieldType, damage: bytes) -> None:
    try:
        unpack_value(damage, kind)
    except StoreDamaged:
        return


def table() -> TypedTable:
    builder = TableBuilder("t").add_field("k", LONG).add_field("a", STRING).add_field("b", LONG)
    return replace(builder.primary_key("k").build(), id=7, path=(7,))


def record(schema: int, values: bytes) -> bytes:
    made = typed_record(table(), 5, 6, bytes(16), values)
    return made[:2] + schema.to_bytes(2, "big") + made[4:]


def read(form: ValueForm, stored: bytes) -> list[Any]:
    row = form.empty
    form.unpack(typed_header(stored).schema, stored, row)
    return row


def test_rows_outlive_the_columns_of_their_schema() -> None:
    first = table()
    stored = record(1, ValueForm(first).pack([1, "x", 2]))
    second = TableEvolver(first).remove_field("a").add_field("c", STRING, default="d").build()
    third = TableEvolver(second).add_field("e", LONG).build()
    assert read(ValueForm(first), stored) == [None, "x", 2]
    assert read(ValueForm(second), stored) == [None, 2, "d"]
    assert read(ValueForm(third), stored) == [None, 2, "d", None]
    newer = record(2, ValueForm(second).pack([1, 3, "e"]))
    assert read(ValueForm(third), newer) == [None, 3, "e", None]
    again = TableEvolver(second).add_field("a", STRING).build()
    assert read(ValueForm(again), stored) == [None, 2, "d", "x"]
    assert read(ValueForm(again), newer) == [None, 3, "e", None]
    forgotten = TableEvolver(replace(second, dropped=())).add_field("a", STRING).build()
    assert read(ValueForm(forgotten), stored) == [None, 2, "d", None]  # by an earlier version


@pytest.mark.parametrize(
    "stored",
    [
        record(0, b"\x92\xc0\xc0"),
        record(2, b"\x92\xc0\xc0"),
        record(1, b"\x91\xc0"),
        record(1, b"\xc0"),
        record(1, b""),
        record(1, b"\x92\xc0\xc0\xc0"),
        record(1, b"\x92\xc0\xd4\x7f\x00"),
        record(1, b"\x92\xc0\xd6\x01zzzz"),
        b"\x01" + record(1, b"\x92\xc0\xc0")[1:],
        record(1, b"")[:-1],
    ],
)
def test_what_no_writer_wrote_is_damage(stored: bytes) -> None:
    with pytest.raises(StoreDamaged):
        read(ValueForm(table()), stored)


def test_table_and_expiry_are_read_alone() -> None:
    stored = record(1, b"\x92\xc0\xc0")
    assert typed_table_and_expiry(stored) == (7, 5)
    for damaged in (stored[:20], b"\x03" + stored[1:]):
        with pytest.raises(StoreDamaged):
            typed_table_and_expiry(damaged)
