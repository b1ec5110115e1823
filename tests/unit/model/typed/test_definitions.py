"""What a typed table may be declared as, and what it is told otherwise (model §1-§3, §8-§10)."""

from collections.abc import Callable

import pytest

from widerow.errors import InvalidRequest
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.names import split_name
from widerow.model.typed.table import TimeToLive, TypedTable
from widerow.model.typed.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    JSON,
    LONG,
    NUMBER,
    STRING,
    UUID,
    Field,
    FieldType,
    Identity,
    array_of,
    enum_of,
    fixed_binary,
    map_of,
    record_of,
    timestamp,
)

Make = Callable[[], object]


def products(*shard: str) -> TableBuilder:
    """The seed's table with a key of three columns."""
    builder = TableBuilder("myProducts")
    for name in ("productName", "productType", "productClass"):
        builder.add_field(name, STRING)
    builder.primary_key("productType", "productName", "productClass")
    return builder.shard_key(*shard)


def parent() -> TypedTable:
    return TableBuilder("parent").add_field("a", STRING).primary_key("a").build()


def child() -> TableBuilder:
    return TableBuilder("child", parent=parent()).add_field("b", STRING)


def one(field: str, type_: FieldType) -> TableBuilder:
    return TableBuilder("t").add_field("pt", STRING).add_field(field, type_).primary_key("pt")


REFUSED: list[tuple[str, Make, str]] = [
    # model §1
    (
        "table name",
        lambda: TableBuilder("bad-name"),
        'Table names may contain only alphanumeric values plus the character "_": bad-name',
    ),
    (
        "table name's first character",
        lambda: TableBuilder("1t"),
        'Table names may contain only alphanumeric values plus the character "_": 1t',
    ),
    (
        "field name",
        lambda: one("a b", STRING),
        'Field names may contain only alphanumeric values plus the character "_": a b',
    ),
    (
        "symbol",
        lambda: enum_of(["a b"]),
        'Enumeration string names may contain only alphanumeric values plus the character "_": a b',
    ),
    (
        "table name's length",
        lambda: TableBuilder("t" * 257),
        f"Illegal name: {'t' * 257}. Table names must be less than or equal to 256 characters.",
    ),
    (
        "field name's length",
        lambda: one("f" * 65, STRING),
        f"Illegal name: {'f' * 65}. Field names must be less than or equal to 64 characters.",
    ),
    (
        "namespace",
        lambda: TableBuilder("t", namespace="a b"),
        'Namespaces may contain only alphanumeric values plus the characters "_" and "." : a b',
    ),
    (
        "system table",
        lambda: TableBuilder("SYS$x"),
        "Can not create table with name prefix 'SYS$': SYS$x",
    ),
    # model §2
    (
        "array with default",
        lambda: TableBuilder("t").add_field("l", array_of(STRING), nullable=False, default=[]),
        "Fields of type: ARRAY must be nullable and may not have default values",
    ),
    (
        "not null without default",
        lambda: one("x", STRING).add_field("b", STRING, nullable=False).build(),
        "Non-nullable field without a default value.  Field = b",
    ),
    (
        "precision",
        lambda: timestamp(10),
        "Timestamp precision exceeds the maximum allowed precision (9)",
    ),
    # model §3
    (
        "no primary key",
        lambda: TableBuilder("t").add_field("a", STRING).build(),
        "Table is missing state required for construction: primary key",
    ),
    (
        "key column not declared",
        lambda: TableBuilder("t").primary_key("zzz").build(),
        "Field does not exist: zzz",
    ),
    (
        "key column twice",
        lambda: TableBuilder("t").primary_key("pt", "PT"),
        "The primary key field already exists: PT",
    ),
    (
        "shard column twice",
        lambda: products("productType", "productType"),
        "The shard key field already exists: productType",
    ),
    (
        "shard key that does not lead",
        lambda: products("productClass").build(),
        "Shard key must be a subset of the primary key",
    ),
    (
        "shard key in another order",
        lambda: products("productName", "productType").build(),
        "Shard key must be a subset of the primary key",
    ),
    (
        "shard key longer than the primary key",
        lambda: one("x", STRING).shard_key("pt", "x").build(),
        "Shard key must be a subset of the primary key",
    ),
    (
        "shard column not declared",
        lambda: products("zz").build(),
        "Key field has not been created in table: zz",
    ),
    (
        "shard key of a child",
        lambda: child().shard_key("b"),
        "Child tables cannot have a shard key.",
    ),
    ("column twice", lambda: one("x", STRING).add_field("X", LONG), "Column already exists: X"),
    ("symbol twice", lambda: enum_of(["a", "a"]), "Duplicated enumeration value: a"),
    (
        "default that is not a symbol",
        lambda: TableBuilder("t").add_field("e", enum_of(["a", "b", "c"]), default="d"),
        "Invalid enumeration value 'd', must be in values: [a, b, c]",
    ),
    (
        "size of a key column that is not an INTEGER",
        lambda: one("x", STRING).primary_key("pt", sizes=[3]),
        "Only Integer sizes can be constrained. Invalid type: STRING",
    ),
    (
        "size of a key column",
        lambda: one("a", INTEGER).primary_key("a", sizes=[9]),
        "Invalid primary key size: 9. Size must be 1-5.",
    ),
    (
        "size of none",
        lambda: one("a", INTEGER).primary_key("a", sizes=[0]),
        "Invalid primary key size: 0. Size must be 1-5.",
    ),
    (
        "default of a key column",
        lambda: TableBuilder("t").add_field("a", STRING, default="x").primary_key("a").build(),
        "Primary key fields can not have default values",
    ),
    # model §9
    (
        "two generated columns",
        lambda: (
            TableBuilder("t")
            .add_field("a", LONG, identity=Identity())
            .add_field("u", UUID, uuid_generated=True)
        ),
        (
            "Only one IDENTITY field or one STRING AS UUID GENERATED BY DEFAULT field is allowed "
            "in a table."
        ),
    ),
    (
        "identity of a text",
        lambda: TableBuilder("t").add_field("a", STRING, identity=Identity()),
        "Identity field must be one of the following numeric data types: INTEGER, LONG or NUMBER.",
    ),
    # model §10
    (
        "child without a key",
        lambda: child().build(),
        "Child table needs a primary key component",
    ),
    (
        "column of the parent's key",
        lambda: child().add_field("A", STRING),
        "Cannot add field, it already exists in primary key fields of its parent table: A",
    ),
    (
        "key column of the parent",
        lambda: child().primary_key("a"),
        "The primary key field already exists: a",
    ),
    # model §8
    (
        "negative time to live",
        lambda: TimeToLive.days(-1),
        "TimeToLive does not support negative time periods",
    ),
    (
        "unit of a time to live",
        lambda: TimeToLive.parse("5 minutes"),
        "Invalid TTL Unit: minutes in 5 minutes",
    ),
]


@pytest.mark.parametrize(("make", "text"), [pytest.param(m, t, id=n) for n, m, t in REFUSED])
def test_what_breaks_a_rule_is_refused_in_the_vendors_words(make: Make, text: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        make()
    assert str(refused.value) == text


@pytest.mark.parametrize(
    "type_", [INTEGER, LONG, FLOAT, DOUBLE, STRING, enum_of("ab"), BOOLEAN, NUMBER, timestamp(3)]
)
def test_types_of_keys(type_: FieldType) -> None:  # model §3
    table = TableBuilder("t").add_field("a", type_).primary_key("a").build()
    assert table.key_types == (type_,)
    assert not table.fields[0].nullable


@pytest.mark.parametrize(
    "type_",
    [
        BINARY,
        fixed_binary(4),
        array_of(STRING),
        map_of(STRING),
        record_of(Field("x", STRING)),
        JSON,
    ],
)
def test_types_that_are_no_keys(type_: FieldType) -> None:  # model §2
    builder = TableBuilder("t").add_field("a", type_).primary_key("a")
    with pytest.raises(InvalidRequest) as refused:
        builder.build()
    kind = type_.kind.value
    assert str(refused.value) == (
        f"Field type cannot be part of a primary key: {kind}, field name: a"
    )


def test_the_shard_key_leads_the_primary_key() -> None:  # model §3, the seed's cases
    table = products("productType", "productName").build()
    assert table.shard_key == ("productType", "productName")
    assert table.primary_key == ("productType", "productName", "productClass")
    assert [field.name for field in table.fields] == [
        "productName",
        "productType",
        "productClass",
    ]


def test_without_a_shard_key_all_of_the_primary_key_is_it() -> None:  # model §3
    assert products().build().shard_key == ("productType", "productName", "productClass")


def test_keys_may_be_declared_before_their_columns_and_in_any_case() -> None:  # model §1
    table = TableBuilder("t").primary_key("ID").add_field("id", LONG).build()
    assert table.primary_key == ("id",)


def test_a_child_begins_with_its_parents_key() -> None:  # model §10
    table = child().add_field("v", LONG).primary_key("b").build()
    assert table.name == "parent.child"
    assert [field.name for field in table.fields] == ["a", "b", "v"]
    assert (table.primary_key, table.shard_key) == (("a", "b"), ("a",))


def test_a_generated_column_needs_no_default() -> None:  # model §9
    builder = one("x", STRING).add_field("n", LONG, nullable=False, identity=Identity())
    identity = builder.build().fields[2].identity
    assert identity is not None
    assert (identity.start, identity.increment, identity.cache) == (1, 1, 1000)
    assert (identity.minimum, identity.maximum) == (-(2**63), 2**63 - 1)


def test_a_refused_declaration_changes_nothing() -> None:
    builder = one("x", STRING)
    with pytest.raises(InvalidRequest):
        builder.add_field("x", LONG)
    with pytest.raises(InvalidRequest):
        builder.primary_key("x", "x")
    assert [field.name for field in builder.fields] == ["pt", "x"]
    assert builder.key == ["pt"]


def test_names_are_split_at_the_colon() -> None:  # model §1
    assert split_name("ns:a.b") == ("ns", "a.b")
    assert split_name("SysDefault:a") == ("", "a")
    assert split_name("a.b") == ("", "a.b")


@pytest.mark.parametrize(
    ("ttl", "now", "expires"),
    [
        ("3 HOURS", "00:43:00", 4),
        ("3 HOURS", "00:00:00", 3),
        ("1 DAYS", "00:43:00", 48),
        ("1 day", "00:00:00", 24),
        ("0 DAYS", "00:43:00", None),
    ],
)
def test_rows_expire_at_the_end_of_an_hour_or_a_day(
    ttl: str, now: str, expires: int | None
) -> None:  # model §8
    hours, minutes, seconds = map(int, now.split(":"))
    day = 20_000
    now_us = ((day * 24 + hours) * 3600 + minutes * 60 + seconds) * 1_000_000
    expected = 0 if expires is None else day * 24 + expires
    assert TimeToLive.parse(ttl).expiry_hour(now_us) == expected
