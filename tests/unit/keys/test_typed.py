"""Keys of typed tables sort as the model does, decode to themselves, tell damage (model §4)."""

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.errors import StoreDamaged
from widerow.keys.typed import KeyForm, decoder_of, encode_typed
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.coerce import coerce
from widerow.model.typed.types import (
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    NUMBER,
    STRING,
    UUID,
    FieldType,
    enum_of,
    timestamp,
)
from widerow.model.typed.values import Timestamp

unhurried = settings(deadline=None, max_examples=examples(60))  # machines under load are slow

COLORS = enum_of(["z", "a", "m"])
numbers = st.decimals(allow_nan=False, allow_infinity=False) | st.builds(
    Decimal, st.text("0123456789", min_size=1, max_size=60)
)
VALUES: dict[str, tuple[FieldType, st.SearchStrategy[Any]]] = {
    "integer": (INTEGER, st.integers(-(2**31), 2**31 - 1)),
    "long": (LONG, st.integers(-(2**63), 2**63 - 1)),
    "float": (FLOAT, st.floats(width=32)),
    "double": (DOUBLE, st.floats()),
    "number": (NUMBER, numbers),
    "string": (STRING, st.text(max_size=6) | st.text("\x00\x01\uffff\U00010000a", max_size=6)),
    "uuid": (UUID, st.uuids().map(str)),
    "enum": (COLORS, st.sampled_from(COLORS.symbols)),
    "boolean": (BOOLEAN, st.booleans()),
    "timestamp": (
        timestamp(9),
        st.builds(Timestamp, st.integers(-(2**37), 2**37), st.integers(0, 999_999_999)),
    ),
}


def rank(kind: FieldType, value: Any) -> Any:  # noqa: ANN401  # what Python compares
    """The place of a value in the model's order."""
    if kind in (FLOAT, DOUBLE):
        known = 0.0 if math.isnan(value) else value
        return math.isnan(value), known, 0.0 if math.isnan(value) else math.copysign(1, value)
    if kind is STRING:
        return value.encode("utf-16-be")
    return COLORS.symbols.index(value) if kind is COLORS else value


@pytest.mark.parametrize("name", VALUES)
@unhurried
@given(data=st.data())
def test_bytes_compare_as_the_values_do(name: str, data: st.DataObject) -> None:
    kind, strategy = VALUES[name]
    left, right = (coerce(data.draw(strategy), kind, "k") for _ in range(2))
    first, second = encode_typed(kind, left), encode_typed(kind, right)
    assert (first < second) == (rank(kind, left) < rank(kind, right))
    assert (first == second) == (rank(kind, left) == rank(kind, right))


@pytest.mark.parametrize("name", VALUES)
@unhurried
@given(data=st.data())
def test_no_value_begins_another(name: str, data: st.DataObject) -> None:
    kind, strategy = VALUES[name]
    left, right = (encode_typed(kind, coerce(data.draw(strategy), kind, "k")) for _ in range(2))
    assert left == right or not right.startswith(left)


@pytest.mark.parametrize("name", VALUES)
@unhurried
@given(data=st.data(), before=st.binary(max_size=3), behind=st.binary(max_size=3))
def test_values_decode_to_themselves(
    name: str, data: st.DataObject, before: bytes, behind: bytes
) -> None:
    kind, strategy = VALUES[name]
    value = coerce(data.draw(strategy), kind, "k")
    encoded = encode_typed(kind, value)
    found, end = decoder_of(kind)(before + encoded + behind, len(before))
    assert (repr(found), end) == (repr(value), len(before) + len(encoded))


@pytest.mark.parametrize("name", VALUES)
@unhurried
@given(data=st.data())
def test_every_shortened_value_is_damage(name: str, data: st.DataObject) -> None:
    kind, strategy = VALUES[name]
    encoded = encode_typed(kind, coerce(data.draw(strategy), kind, "k"))
    for length in range(len(encoded)):
        with pytest.raises(StoreDamaged):
            decoder_of(kind)(encoded[:length], 0)


@pytest.mark.parametrize("name", VALUES)
@unhurried
@given(data=st.data())
def test_any_bytes_decode_or_are_damage(name: str, data: st.DataObject) -> None:
    kind, _ = VALUES[name]
    key = data.draw(st.binary(max_size=20))
    try:
        found, end = decoder_of(kind)(key, 0)
    except StoreDamaged:
        return
    assert end <= len(key)
    assert found is not None


def test_both_zeros_are_keys_of_their_own() -> None:
    assert encode_typed(DOUBLE, -0.0) < encode_typed(DOUBLE, 0.0)
    assert encode_typed(FLOAT, -0.0) < encode_typed(FLOAT, 0.0)


# --- keys of tables ----------------------------------------------------------------------------

TOP = replace(
    TableBuilder("t")
    .add_field("s", STRING)
    .add_field("n", LONG)
    .primary_key("s", "n")
    .shard_key("s")
    .build(),
    id=7,
    path=(7,),
)
CHILD = replace(
    TableBuilder("c", parent=TOP).add_field("x", STRING).primary_key("x").build(),
    id=9,
    path=(7, 9),
)
PARENTS, CHILDREN = KeyForm(TOP), KeyForm(CHILD)
parents = st.tuples(st.text(max_size=3), st.integers(-(2**63), 2**63 - 1))
children = st.tuples(st.text(max_size=3), st.integers(-2, 2), st.text(max_size=3))


@unhurried
@given(parents)
def test_keys_decode_and_know_their_shard(values: tuple[str, int]) -> None:
    shard, key = PARENTS.encode_row(values)
    assert PARENTS.decode(key) == values
    assert (PARENTS.shard(values), PARENTS.shard_of(key)) == (shard, shard)
    assert key == PARENTS.encode(values)
    assert key.startswith(shard)


@unhurried
@given(children)
def test_a_childs_key_lies_in_its_parents_shard_and_under_its_key(
    values: tuple[str, int, str],
) -> None:
    shard, key = CHILDREN.encode_row(values)
    parent = PARENTS.encode(values[:2])
    assert key.startswith(parent)
    assert shard == PARENTS.shard(values)
    assert CHILDREN.decode(key) == values
    assert key[: CHILDREN.end(key, 2)] == parent
    assert CHILDREN.shard_of(key) == shard


@unhurried
@given(parents, parents, st.text(max_size=3))
def test_children_lie_between_their_parent_and_the_next(
    left: tuple[str, int], right: tuple[str, int], own: str
) -> None:
    first, second = sorted((PARENTS.encode(left), PARENTS.encode(right)))
    child = CHILDREN.encode((*PARENTS.decode(first), own))
    assert first < child
    assert first == second or child < second


@unhurried
@given(children)
def test_a_key_of_another_table_is_told(values: tuple[str, int, str]) -> None:
    with pytest.raises(StoreDamaged):
        PARENTS.decode(CHILDREN.encode(values))
    with pytest.raises(StoreDamaged):
        CHILDREN.decode(PARENTS.encode(values[:2]))
