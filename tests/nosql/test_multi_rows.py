"""Rows of a partial key: order, ranges, parents and children, deletion (model §4, §6)."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from widerow import nosql
from widerow.nosql import Direction, FieldRange, InvalidRequest

Target = nosql.TableHandle


def fill(users: Target, orders: Target, lines: Target) -> None:
    """Two shards of two users with two orders of two lines each."""
    for g, user in product("ab", (1, 2)):
        users.put({"g": g, "id": user})
        for order in (1, 2):
            orders.put({"g": g, "id": user, "no": order})
            for line in (1, 2):
                lines.put({"g": g, "id": user, "no": order, "line": line})


def keys(rows: list[nosql.Row] | Iterator[nosql.Row]) -> list[str]:
    """Each key as `u a 1`: the table's first letter and the values."""
    return [
        " ".join([row.table.short_name[0], *map(str, row.key.values_in_order())]) for row in rows
    ]


# --- order (model §4) ------------------------------------------------------------------------

ORDERS: list[tuple[nosql.FieldType, list[Any]]] = [
    (nosql.INTEGER, [-(2**31), -1, 0, 1, 2**31 - 1]),
    (nosql.LONG, [-(2**63), -1, 0, 1, 2**63 - 1]),
    (nosql.DOUBLE, [float("-inf"), -1.5, -0.0, 0.0, 1.5, float("inf"), float("nan")]),
    (nosql.FLOAT, [float("-inf"), -1.5, -0.0, 0.0, 1.5, float("inf"), float("nan")]),
    (nosql.NUMBER, [Decimal("-1e30"), Decimal("-1.5"), Decimal(0), Decimal("1e-9"), Decimal(10)]),
    (nosql.STRING, ["", "B", "a", "ab", "b", "\U0001f600", "\ue000"]),
    (nosql.enum_of(["z", "a", "m"]), ["z", "a", "m"]),
    (nosql.BOOLEAN, [False, True]),
    (nosql.timestamp(3), ["-0044-03-15", "1969-12-31T23:59:59.999", "1970-01-01", "2024-01-01"]),
]


@pytest.mark.parametrize(("kind", "values"), ORDERS)
def test_rows_come_in_the_order_of_their_type(
    store: nosql.TypedStore, kind: nosql.FieldType, values: list[Any]
) -> None:
    builder = nosql.TableBuilder("t").add_field("s", nosql.STRING).add_field("k", kind)
    builder.add_field("rank", nosql.INTEGER).primary_key("s", "k").shard_key("s")
    table = store.create_table(builder.build())
    for rank in reversed(range(len(values))):
        table.put({"s": "", "k": values[rank], "rank": rank})
    ranks = list(range(len(values)))
    assert [row["rank"] for row in table.multi_get({"s": ""})] == ranks
    reverse = table.table_iterator(direction=Direction.REVERSE)
    assert [row["rank"] for row in reverse] == ranks[::-1]
    for first, last in product(ranks, ranks):
        if first <= last:
            inside = table.multi_get(
                {"s": ""}, field_range=FieldRange("k", start=values[first], end=values[last])
            )
            assert [row["rank"] for row in inside] == ranks[first : last + 1]


# --- partial keys ----------------------------------------------------------------------------


def test_multi_get_takes_the_shard_key_and_more(users: Target) -> None:
    for g, user in product("ab", (2, 1)):
        users.put({"g": g, "id": user})
    assert keys(users.multi_get({"g": "a"})) == ["u a 1", "u a 2"]
    assert keys(users.multi_get({"g": "a", "id": 2})) == ["u a 2"]
    assert [key.to_dict() for key in users.multi_get_keys({"g": "b"})] == [
        {"g": "b", "id": 1},
        {"g": "b", "id": 2},
    ]


def test_iterators_take_any_prefix(users: Target) -> None:
    for g, user in product("ba", (2, 1)):
        users.put({"g": g, "id": user})
    every = ["u a 1", "u a 2", "u b 1", "u b 2"]
    assert keys(users.table_iterator(direction=Direction.FORWARD)) == every
    assert sorted(keys(users.table_iterator())) == every
    assert keys(users.table_iterator({"g": "b"}, direction=Direction.REVERSE)) == every[:1:-1]
    assert [key["id"] for key in users.table_keys_iterator({"g": "a"})] == [1, 2]


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("batch_size", [0, 1, 2, 3, 100])
def test_batches_do_not_change_what_an_iterator_gives(
    users: Target, orders: Target, lines: Target, direction: Direction, batch_size: int
) -> None:
    fill(users, orders, lines)
    whole = orders.table_iterator(
        direction=direction, ancestors=[users], children=[lines], batch_size=10_000
    )
    paged = orders.table_iterator(
        direction=direction, ancestors=[users], children=[lines], batch_size=batch_size
    )
    assert keys(paged) == keys(whole)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"start": 2}, [2, 3, 4]),
        ({"start": 2, "start_inclusive": False}, [3, 4]),
        ({"end": 3}, [1, 2, 3]),
        ({"end": 3, "end_inclusive": False}, [1, 2]),
        ({"start": 2, "end": 3}, [2, 3]),
        ({"start": 2, "end": 3, "start_inclusive": False, "end_inclusive": False}, []),
        ({"start": 2, "end": 2}, [2]),
        ({"start": 9}, []),
    ],
)
def test_ranges(users: Target, bounds: dict[str, Any], expected: list[int]) -> None:
    for user in (1, 2, 3, 4):
        users.put({"g": "a", "id": user})
    chosen = FieldRange("id", **bounds)
    assert [row["id"] for row in users.multi_get({"g": "a"}, field_range=chosen)] == expected
    reverse = users.table_iterator({"g": "a"}, field_range=chosen, direction=Direction.REVERSE)
    assert [row["id"] for row in reverse] == expected[::-1]


# --- parents and children (model §6, §10) ----------------------------------------------------


def test_children_follow_their_parent(users: Target, orders: Target, lines: Target) -> None:
    fill(users, orders, lines)
    assert keys(users.multi_get({"g": "a"}, children=[orders])) == [
        *("u a 1", "o a 1 1", "o a 1 2"),
        *("u a 2", "o a 2 1", "o a 2 2"),
    ]
    assert keys(users.multi_get({"g": "a", "id": 2}, children=[orders, lines])) == [
        *("u a 2", "o a 2 1", "l a 2 1 1", "l a 2 1 2"),
        *("o a 2 2", "l a 2 2 1", "l a 2 2 2"),
    ]


def test_descending_children_come_before_their_parent(
    users: Target, orders: Target, lines: Target
) -> None:
    fill(users, orders, lines)
    found = users.table_iterator(
        {"g": "b", "id": 1}, direction=Direction.REVERSE, children=["users.orders"]
    )
    assert keys(found) == ["o b 1 2", "o b 1 1", "u b 1"]


@pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.REVERSE])
def test_each_parent_comes_once_before_its_rows(
    users: Target, orders: Target, lines: Target, direction: Direction
) -> None:
    fill(users, orders, lines)
    users.delete({"g": "a", "id": 2})
    found = keys(lines.table_iterator({"g": "a"}, direction=direction, ancestors=[orders, users]))
    first, second = (1, 2) if direction is Direction.FORWARD else (2, 1)
    expected: list[str] = []
    for user, order in product((first, second), (first, second)):
        if user == 1 and order == first:
            expected.append("u a 1")
        expected.append(f"o a {user} {order}")
        expected += [f"l a {user} {order} {line}" for line in (first, second)]
    assert found == expected


def test_rows_without_a_parent_are_read_like_others(users: Target, orders: Target) -> None:
    orders.put({"g": "a", "id": 1, "no": 1})
    assert users.get({"g": "a", "id": 1}) is None
    assert orders.get({"g": "a", "id": 1, "no": 1}) is not None
    assert keys(orders.multi_get({"g": "a"}, ancestors=[users])) == ["o a 1 1"]


def test_a_range_of_a_childs_own_column(users: Target, orders: Target, lines: Target) -> None:
    fill(users, orders, lines)
    found = orders.multi_get(
        {"g": "a", "id": 1}, field_range=FieldRange("no", start=2), children=[lines]
    )
    assert keys(found) == ["o a 1 2", "l a 1 2 1", "l a 1 2 2"]


def test_deleting_a_parent_leaves_its_children(users: Target, orders: Target) -> None:
    users.put({"g": "a", "id": 1})
    orders.put({"g": "a", "id": 1, "no": 1})
    assert users.multi_delete({"g": "a"}) == 1
    assert keys(orders.table_iterator()) == ["o a 1 1"]


def test_included_children_are_deleted_too(users: Target, orders: Target, lines: Target) -> None:
    fill(users, orders, lines)
    chosen = FieldRange("id", start=2)
    assert users.multi_delete({"g": "a"}, field_range=chosen, children=[orders, lines]) == 7
    assert keys(users.multi_get({"g": "a"}, children=[orders, lines])) == keys(
        users.multi_get({"g": "a", "id": 1}, children=[orders, lines])
    )
    assert len(keys(lines.table_iterator({"g": "b"}))) == 8


def test_a_row_read_is_a_partial_key_of_its_own(users: Target) -> None:
    users.put({"g": "a", "id": 1, "name": "x"})
    row = users.get({"g": "a", "id": 1})
    assert row is not None
    assert keys(users.multi_get(row)) == ["u a 1"]


# --- what is refused -------------------------------------------------------------------------

Act = Callable[[Target, Target, Target], Any]
WIDE = FieldRange("id", start=1)

REFUSED: list[tuple[str, Act, str]] = [
    (
        "incomplete shard key",
        lambda u, _, __: u.multi_get({}),
        "Cannot perform multiGet on a primary key without a complete major path",
    ),
    (
        "incomplete shard key of keys",
        lambda u, _, __: u.multi_get_keys({}),
        "Cannot perform multiGet on a primary key without a complete major path",
    ),
    (
        "incomplete shard key of a deletion",
        lambda u, _, __: u.multi_delete({}),
        "Cannot perform multiDelete on a primary key without a complete major path.  Key: {}",
    ),
    (
        "gap",
        lambda u, _, __: u.table_iterator({"id": 1}),
        "A required field is missing from the Primary Key",
    ),
    (
        "gap in a child's key",
        lambda _, o, __: o.multi_get({"g": "a", "no": 1}),
        "A required field is missing from the Primary Key",
    ),
    (
        "no bound",
        lambda *_: FieldRange("id"),
        "start or end must be non-null",
    ),
    (
        "bounds the wrong way round",
        lambda u, _, __: u.multi_get({"g": "a"}, field_range=FieldRange("id", start=2, end=1)),
        "FieldRange: start value must be less than the end value",
    ),
    (
        "range of no column",
        lambda u, _, __: u.multi_get({"g": "a"}, field_range=FieldRange("zzz", start=2)),
        "Field does not exist in table definition: zzz",
    ),
    (
        "range of a column outside the key",
        lambda u, _, __: u.multi_get({"g": "a"}, field_range=FieldRange("name", start="x")),
        "Field does not exist in primary key: name",
    ),
    (
        "range of a column that is given",
        lambda u, _, __: u.multi_get({"g": "a"}, field_range=FieldRange("g", start="x")),
        "PrimaryKey has extra fields beyond field: g",
    ),
    (
        "range too far right",
        lambda u, _, __: u.table_iterator({}, field_range=WIDE),
        "PrimaryKey is missing fields more significant than field: id",
    ),
    (
        "range with a whole key",
        lambda u, _, __: u.multi_get({"g": "a", "id": 1}, field_range=WIDE),
        "Cannot specify a FieldRange with a complete primary key",
    ),
    (
        "no ancestor",
        lambda u, o, __: u.multi_get({"g": "a"}, ancestors=[o]),
        'Ancestor table "users.orders" is not an ancestor of target table "users"',
    ),
    (
        "no child",
        lambda u, o, __: o.multi_get({"g": "a"}, children=[u]),
        'Child table "users" is not a descendant of target table "users.orders"',
    ),
    (
        "target included",
        lambda u, _, __: u.multi_get({"g": "a"}, children=[u]),
        "Target table must not appear in included tables list",
    ),
    (
        "batch below nothing",
        lambda u, _, __: u.table_iterator({}, batch_size=-1),
        "batchResultsSize must be >= 0",
    ),
    (
        "bound of another type",
        lambda u, _, __: u.multi_get({"g": "a"}, field_range=FieldRange("id", start="x")),
        "Type cannot create a String: class INTEGER",
    ),
]


@pytest.mark.parametrize(("act", "text"), [pytest.param(a, t, id=n) for n, a, t in REFUSED])
def test_what_breaks_a_rule_is_refused(
    users: Target, orders: Target, lines: Target, act: Act, text: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        act(users, orders, lines)
    assert str(refused.value) == text
