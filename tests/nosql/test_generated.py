"""Identity columns and generated UUIDs (model §9)."""

from decimal import Decimal
from pathlib import Path

import pytest
from tests.support.nosql_wire import answer_to, request

from widerow import nosql
from widerow.errors import Exhausted
from widerow.nosql import Identity, IdentityMode, InvalidRequest

MODES = IdentityMode


def made(
    store: nosql.TypedStore,
    identity: Identity,
    kind: nosql.FieldType = nosql.LONG,
    *,
    key: bool = True,
) -> nosql.TableHandle:
    builder = nosql.TableBuilder("t").add_field("id", kind, identity=identity)
    builder.add_field("k", nosql.STRING)
    return store.create_table(builder.primary_key("id" if key else "k").build())


def test_values_count_up_and_are_returned(store: nosql.TypedStore) -> None:
    table = made(store, Identity())
    assert [table.put({"k": "x"}).generated for _ in range(3)] == [1, 2, 3]
    assert [row["id"] for row in table.table_iterator()] == [1, 2, 3]


def test_start_increment_and_bounds(store: nosql.TypedStore) -> None:
    table = made(store, Identity(start=10, increment=-4, minimum=1, maximum=20, cache=2))
    assert [table.put({}).generated for _ in range(3)] == [10, 6, 2]
    with pytest.raises(Exhausted) as refused:
        table.put({})
    assert str(refused.value) == (
        "Current value cannot exceed max value or no more available values in the sequence."
    )


@pytest.mark.parametrize(
    "identity",
    [Identity(start=5, maximum=3), Identity(start=-5, minimum=1, increment=-1)],
)
def test_a_start_outside_the_bounds_has_no_value(
    store: nosql.TypedStore, identity: Identity
) -> None:  # corrections B, 1
    table = made(store, identity)
    with pytest.raises(Exhausted):
        table.put({})
    assert list(table.table_iterator()) == []


def test_a_start_outside_the_type_is_refused(store: nosql.TypedStore) -> None:
    with pytest.raises(InvalidRequest, match="must be a value of its column's type"):
        made(store, Identity(start=2**31), nosql.INTEGER)


def test_a_sequence_that_stands_still_repeats_its_value(store: nosql.TypedStore) -> None:
    table = made(store, Identity(start=7, increment=0, cache=2), key=False)
    assert [table.put({"k": str(i)}).generated for i in range(5)] == [7] * 5


def test_a_cycle_begins_again_at_the_other_end(store: nosql.TypedStore) -> None:
    table = made(store, Identity(start=5, minimum=1, maximum=6, cache=1, cycle=True), key=False)
    assert [table.put({"k": str(i)}).generated for i in range(4)] == [5, 6, 1, 2]


def test_numbers_are_decimals(store: nosql.TypedStore) -> None:
    generated = made(store, Identity(), nosql.NUMBER).put({}).generated
    assert (generated, type(generated)) == (1, Decimal)


@pytest.mark.parametrize("value", [5, None])
def test_always_takes_no_value(store: nosql.TypedStore, value: int | None) -> None:
    table = made(store, Identity(MODES.ALWAYS))
    with pytest.raises(InvalidRequest) as refused:
        table.put({"id": value, "k": "x"})
    assert str(refused.value) == (
        "Value should not be set for a generated always identity column: id"
    )


def test_by_default_takes_a_value_and_null_is_one(store: nosql.TypedStore) -> None:
    table = made(store, Identity(MODES.BY_DEFAULT))
    assert table.put({"id": 7}).generated is None
    assert table.put({}).generated == 1
    with pytest.raises(InvalidRequest) as refused:
        table.put({"id": None})
    assert str(refused.value) == "Missing primary key field: id"
    loose = nosql.TableBuilder("u").add_field("k", nosql.STRING)
    loose.add_field("n", nosql.LONG, identity=Identity(MODES.BY_DEFAULT)).primary_key("k")
    other = store.create_table(loose.build())
    other.put({"k": "x", "n": None})
    row = other.get({"k": "x"})
    assert row is not None
    assert row["n"] is None


def test_on_null_fills_null_too(store: nosql.TypedStore) -> None:
    table = made(store, Identity(MODES.BY_DEFAULT_ON_NULL))
    assert table.put({"id": None}).generated == 1
    assert table.put({"id": 9}).generated is None
    assert table.put({}).generated == 2


def test_values_never_repeat_after_opening_again(tmp_path: Path) -> None:
    seen: list[int] = []
    for _ in range(3):
        with nosql.open(tmp_path, housekeeping=False) as store:
            table = store.find_table("t") or made(store, Identity(cache=10))
            seen += [table.put({}).generated for _ in range(4)]
    assert seen == [*range(1, 5), *range(11, 15), *range(21, 25)]


def test_a_sequence_starts_again_where_it_is_told_to(store: nosql.TypedStore) -> None:
    table = made(store, Identity(MODES.BY_DEFAULT))
    table.put({})
    for start, expected in ((None, 2), (100, 100)):
        identity = Identity(MODES.BY_DEFAULT, start=start, increment=5)
        evolver = nosql.TableEvolver(table.definition)
        store.alter_table(evolver.modify_generation("id", identity=identity).build())
        value = table.put({}).generated
        assert value >= expected
        assert (start is None) or value == expected


def test_uuids(store: nosql.TypedStore) -> None:
    builder = nosql.TableBuilder("t").add_field("u", nosql.UUID, uuid_generated=True)
    table = store.create_table(builder.primary_key("u").build())
    first, second = table.put({}).generated, table.put({}).generated
    assert first != second
    assert (len(first), first[14], first[19] in "89ab") == (36, "4", True)
    assert table.get({"u": first.upper()}) is not None
    table.put({"u": "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"})
    row = table.get({"u": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"})
    assert row is not None
    assert row["u"] == "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
    with pytest.raises(InvalidRequest) as refused:
        table.put({"u": "zz"})
    assert str(refused.value) == "Invalid UUID string: zz"


def test_get_answers_the_uuids_of_a_key_as_they_were_asked_for(store: nosql.TypedStore) -> None:
    """gen-uuid-031 of the recorded original. The row itself, and its other UUIDs, are as stored."""
    given = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
    builder = nosql.TableBuilder("t").add_field("u", nosql.UUID).add_field("n", nosql.INTEGER)
    table = store.create_table(builder.add_field("v", nosql.UUID).primary_key("n", "u").build())
    table.put({"u": given.upper(), "n": 1, "v": given.upper()})
    for asked in (given.upper(), given, given.title()):
        answer = answer_to(store, request(2, {"k": {"N": 1, "U": asked}}))
        assert answer["r"]["l"] == {"u": asked, "n": 1, "v": given}
    stored = table.get({"u": given.upper(), "n": 1})
    assert stored is not None
    assert stored["u"] == given
