"""Strategies for statements."""

from hypothesis import strategies as st

from widerow.engine.typed.ddl.statements import (
    AddField,
    AlterTableStatement,
    ColumnDefinition,
    CreateIndexStatement,
    CreateNamespaceStatement,
    CreateTableStatement,
    DescribeIndexStatement,
    DescribeTableStatement,
    DropField,
    DropIdentity,
    DropIndexStatement,
    DropNamespaceStatement,
    DropTableStatement,
    FreezeSchema,
    KeyColumnClause,
    Literal,
    LiteralKind,
    ModifyField,
    PrimaryKeyClause,
    SetBeforeImage,
    SetTtl,
    ShowIndexesStatement,
    ShowNamespacesStatement,
    ShowTablesStatement,
    ShowTableStatement,
    Statement,
    UnfreezeSchema,
)
from widerow.model.typed.table import IndexField, TimeToLive, TtlUnit
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
    IdentityMode,
    Kind,
    array_of,
    enum_of,
    fixed_binary,
    map_of,
    record_of,
    timestamp,
)

_RESERVED = {"not", "null", "shard", "true", "false"}
_KEYWORDS = ("comment", "primary", "Key", "IF", "exists", "integer", "json", "values", "keys", "on")

names = st.one_of(
    st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,7}", fullmatch=True),
    st.sampled_from(_KEYWORDS),
).filter(lambda name: name.lower() not in _RESERVED)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
comments = st.none() | texts
integers = st.integers(-(10**12), 10**12)
paths = st.builds(
    lambda first, steps: first + "".join(steps),
    names,
    st.lists(
        st.one_of(names.map(".{}".format), st.sampled_from(["[]", ".values()", ".keys()"])),
        max_size=3,
    ),
)
literals = st.one_of(
    integers.map(lambda number: Literal(LiteralKind.NUMBER, str(number))),
    st.just(Literal(LiteralKind.NUMBER, "-1.5e3")),
    texts.map(lambda text: Literal(LiteralKind.STRING, text)),
    st.sampled_from(["true", "false"]).map(lambda text: Literal(LiteralKind.BOOLEAN, text)),
    names.map(lambda name: Literal(LiteralKind.NAME, name)),
)
plain_types = st.one_of(
    st.sampled_from([INTEGER, LONG, FLOAT, DOUBLE, NUMBER, STRING, BOOLEAN, JSON, BINARY]),
    st.integers(1, 100).map(fixed_binary),
    st.integers(0, 9).map(timestamp),
    st.lists(names, min_size=1, max_size=4, unique=True).map(enum_of),
)


def _unique_names(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(names, min_size=1, max_size=count, unique_by=str.lower)


_DEFAULTS: dict[Kind, st.SearchStrategy[object]] = {
    Kind.INTEGER: st.integers(-(2**31), 2**31 - 1),
    Kind.STRING: texts,
    Kind.BOOLEAN: st.booleans(),
    Kind.BINARY: st.binary(max_size=8),
}


@st.composite
def _record_fields(draw: st.DrawFn, kinds: st.SearchStrategy[FieldType]) -> FieldType:
    fields = []
    for name in draw(_unique_names(3)):
        kind = draw(kinds)
        default = draw(_DEFAULTS[kind.kind]) if kind.kind in _DEFAULTS else None
        nullable = default is None or draw(st.booleans())
        fields.append(Field(name, kind, nullable, default, draw(comments)))
    return record_of(*fields)


types = st.recursive(
    plain_types,
    lambda inner: st.one_of(inner.map(array_of), inner.map(map_of), _record_fields(inner)),
    max_leaves=6,
)


@st.composite
def identities(draw: st.DrawFn) -> Identity:
    return Identity(
        mode=draw(st.sampled_from(IdentityMode)),
        start=draw(st.none() | integers),
        increment=draw(integers),
        minimum=draw(st.none() | integers),
        maximum=draw(st.none() | integers),
        cache=draw(st.integers(1, 10**6)),
        cycle=draw(st.booleans()),
    )


@st.composite
def columns(draw: st.DrawFn, name: str) -> ColumnDefinition:
    comment = draw(comments)
    shape = draw(st.sampled_from(["plain", "identity", "uuid"]))
    if shape == "identity":
        return ColumnDefinition(name, draw(types), identity=draw(identities()), comment=comment)
    if shape == "uuid":
        generated = draw(st.booleans())
        return ColumnDefinition(name, UUID, uuid_generated=generated, comment=comment)
    default, nullable = draw(st.none() | literals), draw(st.booleans())
    return ColumnDefinition(name, draw(types), nullable, default, comment=comment)


@st.composite
def keys(draw: st.DrawFn) -> PrimaryKeyClause:
    sizes = st.none() | st.integers(0, 9)
    key = tuple(KeyColumnClause(name, draw(sizes)) for name in draw(_unique_names(4)))
    shard = draw(st.none() | st.integers(1, len(key)))
    return PrimaryKeyClause(key, None if shard is None else key[:shard])


ttls = st.builds(TimeToLive, st.integers(0, 1000), st.sampled_from(TtlUnit))
qualified = st.builds(
    lambda namespace, parts: f"{namespace}:{'.'.join(parts)}" if namespace else ".".join(parts),
    st.none() | names,
    st.lists(names, min_size=1, max_size=3),
)


@st.composite
def create_tables(draw: st.DrawFn) -> CreateTableStatement:
    return CreateTableStatement(
        name=draw(qualified),
        columns=tuple(draw(columns(name)) for name in draw(_unique_names(5))),
        keys=(draw(keys()),),
        if_not_exists=draw(st.booleans()),
        comment=draw(comments),
        ttl=draw(st.none() | ttls),
        freeze=draw(st.none() | st.builds(FreezeSchema, st.booleans())),
        before_image=draw(st.none() | ttls),
    )


@st.composite
def alter_tables(draw: st.DrawFn) -> AlterTableStatement:
    if draw(st.booleans()):
        alone = st.one_of(
            ttls.map(SetTtl),
            st.builds(FreezeSchema, st.booleans()),
            st.just(UnfreezeSchema()),
            (st.none() | ttls).map(SetBeforeImage),
        )
        return AlterTableStatement(draw(qualified), (draw(alone),))
    changes = st.one_of(
        paths.flatmap(columns).map(AddField),
        paths.map(DropField),
        paths.map(DropIdentity),
        st.builds(ModifyField, paths, identity=identities()),
        st.builds(ModifyField, paths, uuid_generated=st.booleans()),
        st.builds(ModifyField, paths, type=types),
        st.builds(ModifyField, paths, type=st.just(UUID), uuid_generated=st.booleans()),
    )
    return AlterTableStatement(
        draw(qualified), tuple(draw(st.lists(changes, min_size=1, max_size=4)))
    )


index_fields = st.builds(
    IndexField,
    paths,
    st.none() | st.sampled_from([Kind.INTEGER, Kind.STRING, Kind.BOOLEAN]),
    written=st.just(""),  # what is written otherwise is that path
)
statements: st.SearchStrategy[Statement] = st.one_of(
    create_tables(),
    alter_tables(),
    st.builds(DropTableStatement, qualified, st.booleans()),
    st.builds(
        CreateIndexStatement,
        name=names,
        table=qualified,
        fields=st.lists(index_fields, min_size=1, max_size=3).map(tuple),
        if_not_exists=st.booleans(),
        with_nulls=st.booleans(),
        unique_keys_per_row=st.booleans(),
        comment=comments,
    ),
    st.builds(DropIndexStatement, names, qualified, st.booleans()),
    st.builds(CreateNamespaceStatement, names, st.booleans()),
    st.builds(DropNamespaceStatement, names, st.booleans(), st.booleans()),
    st.builds(ShowTablesStatement, st.booleans()),
    st.builds(ShowTableStatement, qualified, st.booleans()),
    st.builds(ShowIndexesStatement, qualified, st.booleans()),
    st.builds(ShowNamespacesStatement, st.booleans()),
    st.builds(
        DescribeTableStatement, qualified, st.lists(paths, max_size=3).map(tuple), st.booleans()
    ),
    st.builds(DescribeIndexStatement, names, qualified, st.booleans()),
)
