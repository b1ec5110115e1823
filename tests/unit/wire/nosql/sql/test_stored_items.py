"""Values that are of their column's type are stored as a cast would leave them (ddl §3)."""

from hypothesis import given
from hypothesis import strategies as st

from widerow.model.typed import types
from widerow.wire.nosql.sql.casts import cast_item, sql_type
from widerow.wire.nosql.sql.items import LongInt
from widerow.wire.nosql.sql.key_ranges import has_plain_values, is_value_of
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.stored_items import stored_item

INTEGERS = st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from([0, 2**31 - 1, -(2**31)]))
LONGS = st.integers(-(2**63), 2**63 - 1)
VALUES = {
    types.INTEGER: INTEGERS | INTEGERS.map(LongInt),
    types.LONG: LONGS | LONGS.map(LongInt),
    types.STRING: st.text(max_size=3),
}


@given(st.data(), st.sampled_from(list(VALUES)))
def test_a_value_of_the_columns_type_is_what_its_cast_gives(
    data: st.DataObject, kind: types.FieldType
) -> None:
    item = data.draw(VALUES[kind])
    assert has_plain_values(kind)
    assert is_value_of([item], kind.kind)
    assert stored_item([item], kind, TextPlace()) == cast_item(item, sql_type(kind), TextPlace())


def test_other_values_and_columns_are_cast() -> None:
    assert not any(has_plain_values(kind) for kind in (types.DOUBLE, types.BOOLEAN, types.UUID))
    assert stored_item([1], types.STRING, TextPlace()) == "1"
    assert stored_item([True], types.STRING, TextPlace()) == "true"
    assert stored_item(["12"], types.INTEGER, TextPlace()) == 12
    assert stored_item([2**31], types.INTEGER, TextPlace()) == -(2**31)  # as the vendor's casts do
