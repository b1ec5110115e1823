"""Rows copied from the store say what their values say (formats/rows.md, formats/nson.md)."""

from dataclasses import replace
from typing import Any

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from librt.strings import BytesWriter
from tests.support.typed_values import kinds, values_of
from tests.support.volume import examples

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import StoreDamaged
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.coerce import coerce
from widerow.model.typed.evolve import TableEvolver
from widerow.model.typed.types import INTEGER, LONG, STRING, FieldType
from widerow.rows.typed import packed_end, typed_record
from widerow.wire.nosql.answers import RowColumns
from widerow.wire.nosql.nson import decode_map
from widerow.wire.nosql.row_copy import RowCopy
from widerow.wire.nosql.sql.results import encoded_row_columns
from widerow.wire.nosql.typed_values import EncodedColumn

unhurried = settings(deadline=None, max_examples=examples(100))  # machines under load are slow


def form_of(*columns: FieldType, key: tuple[FieldType, ...] = (STRING, INTEGER)) -> TableForm:
    builder = TableBuilder("t")
    for number, kind in enumerate(key):
        builder = builder.add_field(f"k{number}", kind)
    for number, kind in enumerate(columns):
        builder = builder.add_field(f"c{number}", kind)
    names = [f"k{number}" for number in range(len(key))]
    return TableForm(replace(builder.primary_key(*names).build(), id=7, path=(7,)))


def stored(form: TableForm, values: list[Any]) -> StoredRow:
    made = [
        None if value is None else coerce(value, field.type, field.name)
        for value, field in zip(values, form.table.fields, strict=True)
    ]
    key = form.key.encode([made[index] for index in form.key_positions])
    return StoredRow(form, key, typed_record(form.table, 0, 1, bytes(16), form.values.pack(made)))


def copied(columns: RowColumns, row: StoredRow) -> bytes:
    return columns.encoded(row).data


def written(columns: RowColumns, row: StoredRow) -> bytes:
    """The row by way of its values, as rows of tables are sent that are not copied."""
    out = BytesWriter()
    columns.put_values(out, row, row.values_in_order())
    return out.getvalue()


def of_get(form: TableForm) -> RowColumns:
    return RowColumns(form.table, [EncodedColumn.of(field) for field in form.table.fields])


texts = st.text(max_size=3) | st.sampled_from(["\0", "a\0b", "\ud7ff\uffee", "\U0001f600", "퀀"])


@unhurried
@given(data=st.data(), columns=st.lists(kinds, min_size=1, max_size=20))
def test_a_copied_row_is_the_row_of_its_values(
    data: st.DataObject, columns: list[FieldType]
) -> None:
    form = form_of(*columns)
    key = [data.draw(texts), data.draw(st.integers(-(2**31), 2**31 - 1))]
    row = stored(form, [*key, *(data.draw(st.none() | values_of(kind)) for kind in columns)])
    assert RowCopy.can_copy(form.table)
    for made in (of_get(form), encoded_row_columns(form.table)):
        assert copied(made, row) == written(made, row)


@pytest.mark.parametrize("size", [0, 31, 32, 120, 121, 255, 256, 65_535, 65_536])
def test_texts_of_every_length_are_copied(size: int) -> None:
    form = form_of(STRING)
    row = stored(form, ["a" * size, 1, "é" * (size // 2) + "x" * (size % 2)])
    sent = decode_map(copied(of_get(form), row))
    assert (sent["k0"], sent["c0"]) == ("a" * size, "é" * (size // 2) + "x" * (size % 2))


@pytest.mark.parametrize("power", range(64))
def test_integers_of_every_length_are_copied(power: int) -> None:
    form = form_of(LONG, LONG, LONG)
    values = [2**power - 1, -(2**power), -(2**power) + 1]
    sent = decode_map(copied(of_get(form), stored(form, ["", 1, *values])))
    assert [sent["c0"], sent["c1"], sent["c2"]] == values


def test_rows_of_a_former_schema_and_of_other_orders_are_written_value_by_value() -> None:
    """A column that was added has its default in rows from before (model §8)."""
    before = form_of(STRING)
    row = stored(before, ["k", 1, "x"])
    evolved = TableEvolver(before.table).add_field("c1", INTEGER, default=5).build()
    after = TableForm(evolved)
    again = StoredRow(after, row.encoded_key, row.record)
    assert decode_map(copied(of_get(after), again)) == {"k0": "k", "k1": 1, "c0": "x", "c1": 5}
    turned = TableBuilder("t").add_field("a", INTEGER).add_field("b", STRING).primary_key("b", "a")
    table = replace(turned.build(), id=7, path=(7,))
    assert not RowCopy.can_copy(table)
    form = TableForm(table)
    assert decode_map(copied(of_get(form), stored(form, [1, "x"]))) == {"a": 1, "b": "x"}


@unhurried
@given(data=st.data(), columns=st.lists(kinds, min_size=1, max_size=4))
def test_a_row_that_was_cut_or_lengthened_is_damage(
    data: st.DataObject, columns: list[FieldType]
) -> None:
    form = form_of(*columns)
    row = stored(form, ["k", 1, *(data.draw(values_of(kind)) for kind in columns)])
    cut = data.draw(st.integers(36, len(row.record) - 1))
    for record in (row.record[:cut], row.record + b"\xc0"):
        with pytest.raises(StoreDamaged):
            copied(of_get(form), StoredRow(form, row.encoded_key, record))
    with pytest.raises(StoreDamaged):
        copied(of_get(form), StoredRow(form, row.encoded_key + b"\0", row.record))


@unhurried
@example(value=b"x" * 70_000)
@example(value={"x": [list(range(70_000)), "y" * 300, b"z" * 300]})
@example(value=msgpack.ExtType(1, b"x" * 300))
@given(
    value=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats()
        | st.text()
        | st.binary()
        | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=20)),
        lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    )
)
def test_a_packed_value_ends_where_the_next_one_begins(value: Any) -> None:  # noqa: ANN401  # of MessagePack
    packed = msgpack.packb(value)
    assert packed_end(b"\xc0" + packed + b"\xc0", 1) == 1 + len(packed)
