"""Defining a typed table, one declaration after another, as the vendor's builders and shell do it.

    users = (
        TableBuilder("users")
        .add_field("id", INTEGER)
        .add_field("name", STRING)
        .primary_key("id")
        .build()
    )

A call that breaks a rule raises `InvalidRequest` and changes nothing. What needs the whole
definition is checked by `build` (model §2, §3, §9, §10).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Self

from widerow.errors import InvalidRequest
from widerow.model.typed.coerce import check_default
from widerow.model.typed.names import (
    check_field_name,
    check_name_component,
    check_namespace,
    folded,
    same_name,
    split_name,
)
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import DOCUMENT_COLUMN, TimeToLive, TypedTable
from widerow.model.typed.types import (
    JSON,
    KEY_KINDS,
    NESTED_KINDS,
    Field,
    FieldType,
    Identity,
    Kind,
)

__all__ = ["TableBuilder", "check_freezable", "check_generated", "checked_field"]

_IDENTITY_RANGES: Final = {
    Kind.INTEGER: (-(2**31), 2**31 - 1),
    Kind.LONG: (-(2**63), 2**63 - 1),
    Kind.NUMBER: (-(2**63), 2**63 - 1),
}


class TableBuilder:
    """A definition that is being made. `fields`, `key` and `shard` have what is declared so far."""

    def __init__(self, name: str, *, namespace: str = "", parent: TypedTable | None = None) -> None:
        """Begin a table; with `parent` a child of it, whose `name` is the last component only.

        `name` may carry its namespace: `[namespace:]table`. Raises `InvalidRequest` for names that
        break a rule (model §1).
        """
        qualifier, short = split_name(name)
        check_name_component(short)
        self.namespace = parent.namespace if parent is not None else namespace or qualifier
        if self.namespace:
            check_namespace(self.namespace)
        self.name = short if parent is None else f"{parent.name}.{short}"
        self.parent = parent
        self.fields: list[Field] = []
        self.key: list[str] = []
        self.key_sizes: list[int] = []
        self.shard: list[str] = []
        self.time_to_live: TimeToLive | None = None
        self.description: str | None = None
        self.documents = False
        self.frozen: bool | None = None
        self.image_ttl: TimeToLive | None = None

    def field(self, name: str) -> Field | None:
        """The column declared under that name, whatever its case, or None."""
        return next((field for field in self.fields if same_name(field.name, name)), None)

    def add_field(
        self,
        name: str,
        type_: FieldType,
        *,
        nullable: bool = True,
        default: Any = None,  # noqa: ANN401  # a value of the type; None: NULL
        comment: str | None = None,
        identity: Identity | None = None,
        uuid_generated: bool = False,
    ) -> Self:
        """Declare the next column. A column that is not nullable needs a default (model §2).

        Raises: `InvalidRequest` for a name in use, a default that is not a value of the type, a
        nested type that is not plain, a second generated column.
        """
        field = Field(name, type_, nullable, default, comment, identity, uuid_generated)
        field = checked_field(field)
        if self.field(name) is not None:
            raise InvalidRequest(TypedRule.FIELD_DUPLICATE, field=name)
        if self.parent is not None and _in_key(self.parent, name):
            raise InvalidRequest(TypedRule.CHILD_FIELD_IN_PARENT_KEY, field=name)
        check_generated([*self.fields, field])
        self.fields.append(field)
        return self

    def remove_field(self, name: str) -> Self:
        """Remove a declared column. Raises `InvalidRequest` if there is none of that name."""
        field = self.field(name)
        if field is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=name)
        if any(same_name(name, key) for key in self.key):
            raise InvalidRequest(TypedRule.EVOLVE_PRIMARY_KEY, field=name)
        self.fields.remove(field)
        return self

    def primary_key(self, *names: str, sizes: Sequence[int | None] = ()) -> Self:
        """Declare the primary key in its order; of a child table its own columns only.

        Columns may be declared later. `sizes` constrains INTEGER columns to 1 to 5 bytes each.

        Raises: `InvalidRequest` for a column named twice, or named by the parent's key.
        """
        key: list[str] = []
        for name in names:
            repeated = any(same_name(name, other) for other in key)
            if repeated or (self.parent is not None and _in_key(self.parent, name)):
                raise InvalidRequest(TypedRule.PRIMARY_KEY_DUPLICATE, field=name)
            key.append(name)
        bounded = [0 if size is None else size for size in sizes]
        for name, size in zip(key, bounded, strict=False):
            _check_key_size(self.field(name), size, given=sizes[key.index(name)] is not None)
        self.key = key
        self.key_sizes = bounded + [0] * (len(key) - len(bounded))
        return self

    def shard_key(self, *names: str) -> Self:
        """Declare the shard key, a leading part of the primary key; without it, all of it.

        Raises: `InvalidRequest` for a column named twice, and on child tables.
        """
        if self.parent is not None:
            raise InvalidRequest(TypedRule.SHARD_KEY_CHILD)
        shard: list[str] = []
        for name in names:
            if any(same_name(name, other) for other in shard):
                raise InvalidRequest(TypedRule.SHARD_KEY_DUPLICATE, field=name)
            shard.append(name)
        self.shard = shard
        return self

    def ttl(self, ttl: TimeToLive | None) -> Self:
        """Let rows expire by default; None: never (model §8)."""
        self.time_to_live = ttl
        return self

    def comment(self, text: str | None) -> Self:
        """Describe the table."""
        self.description = text
        return self

    def collection(self, *, documents: bool = True) -> Self:
        """Let rows be documents of any fields beside the key (model §12)."""
        self.documents = documents
        return self

    def freeze(self, *, force: bool = False) -> Self:
        """Let columns not be changed later; `force`: also where there is no JSON column."""
        self.frozen = force
        return self

    def before_image(self, ttl: TimeToLive | None) -> Self:
        """Say how long what rows were before a change is kept; None: not at all."""
        self.image_ttl = ttl
        return self

    def check_fields(self) -> None:
        """Check the columns declared so far: the key's columns exist and may be in a key.

        Raises: `InvalidRequest`.
        """
        for name, size in zip(self.key, self.key_sizes, strict=True):
            field = self.field(name)
            if field is None:
                raise InvalidRequest(TypedRule.PRIMARY_KEY_NOT_DECLARED, field=name)
            _check_key_field(field)
            _check_key_size(field, size, given=size != 0)
        keys = {folded(name) for name in self.key}
        for field in self.fields:
            needs_default = not field.nullable and field.default is None and not field.generated
            if needs_default and folded(field.name) not in keys:
                raise InvalidRequest(TypedRule.NOT_NULL_WITHOUT_DEFAULT, field=field.name)

    def build(self) -> TypedTable:
        """The finished table. Raises `InvalidRequest` for what is missing or does not fit."""
        if not self.key:
            missing = TypedRule.PRIMARY_KEY_MISSING
            raise InvalidRequest(missing if self.parent is None else TypedRule.CHILD_KEY_MISSING)
        self.check_fields()
        self._check_shard()
        self._check_collection()
        table = self._table()
        if self.frozen is not None:
            check_freezable(table, force=self.frozen)
        return table

    def _check_collection(self) -> None:
        of_documents = self.parent is not None and self.parent.collection
        if of_documents or (self.documents and self.parent is not None):
            raise InvalidRequest(TypedRule.COLLECTION_FAMILY)
        if not self.documents:
            return
        keys = {folded(name) for name in self.key}
        for field in self.fields:
            if folded(field.name) not in keys:
                raise InvalidRequest(TypedRule.COLLECTION_FIELDS)
            if field.type.kind in (Kind.ENUM, Kind.TIMESTAMP):
                raise InvalidRequest(TypedRule.COLLECTION_KEY, type=field.type.kind.value)

    def _check_shard(self) -> None:
        for name in self.shard:
            if self.field(name) is None:
                raise InvalidRequest(TypedRule.SHARD_KEY_NOT_DECLARED, field=name)
        shard, key = [folded(name) for name in self.shard], [folded(name) for name in self.key]
        if shard != key[: len(shard)]:
            raise InvalidRequest(TypedRule.SHARD_KEY_SUBSET)

    def _table(self) -> TypedTable:
        keys = {folded(name) for name in self.key}
        inherited = _parent_key(self.parent)
        own = [
            replace(field, nullable=False) if folded(field.name) in keys else field
            for field in self.fields
        ]
        if self.documents:
            own.append(Field(DOCUMENT_COLUMN, JSON))
        fields = tuple(
            replace(field, number=number) for number, field in enumerate([*inherited, *own], 1)
        )
        names = {folded(field.name): field.name for field in fields}
        own_key = tuple(names[folded(name)] for name in self.key)
        parent = self.parent
        if parent is None:
            key, shard = own_key, tuple(names[folded(name)] for name in self.shard) or own_key
        else:
            key, shard = (*parent.primary_key, *own_key), parent.shard_key
        table = TypedTable(
            name=self.name,
            fields=fields,
            primary_key=key,
            shard_key=shard,
            namespace=self.namespace,
            parent=None if parent is None else parent.name,
            parent_key_length=len(inherited),
            key_sizes=(*(parent.key_sizes if parent else ()), *self.key_sizes),
            ttl=self.time_to_live,
            comment=self.description,
            next_number=len(fields) + 1,
            collection=self.documents,
            frozen=self.frozen is not None,
            before_image=self.image_ttl,
            parent_lengths=()
            if parent is None
            else (*parent.parent_lengths, len(parent.primary_key)),
        )
        stored = tuple(table.fields[index].number for index in table.value_positions)
        return replace(table, layouts=(stored,))


def checked_field(field: Field) -> Field:
    """A column or record field, checked by itself, with its default converted to its type.

    Raises: `InvalidRequest`.
    """
    check_field_name(field.name)
    if field.type.kind in NESTED_KINDS or field.type.kind is Kind.JSON:
        if not field.nullable or field.default is not None:
            raise InvalidRequest(TypedRule.MUST_BE_NULLABLE, type=field.type.kind.value)
        return field
    if field.identity is not None:
        field = replace(field, identity=_checked_identity(field.identity, field.type))
    if field.uuid_generated and not field.type.uuid:
        raise InvalidRequest(TypedRule.UUID_TYPE)
    if field.default is None:
        return field
    return replace(field, default=check_default(field.default, field.type, field.name))


def check_freezable(table: TypedTable, *, force: bool) -> None:
    """Raise `InvalidRequest` for a table without a JSON column, unless `force` is set."""
    if not force and all(field.type.kind is not Kind.JSON for field in table.fields):
        raise InvalidRequest(TypedRule.FREEZE_WITHOUT_JSON, table=table.name)


def check_generated(fields: Sequence[Field]) -> None:
    """Raise `InvalidRequest` if several columns of a table generate their values (model §9)."""
    if sum(field.generated for field in fields) > 1:
        raise InvalidRequest(TypedRule.IDENTITY_COUNT)


def _checked_identity(identity: Identity, type_: FieldType) -> Identity:
    """The identity with the type's bounds for those that were left out (model §9).

    A start outside the bounds is taken: the first value that is asked for finds none left.
    """
    if type_.kind not in _IDENTITY_RANGES:
        raise InvalidRequest(TypedRule.IDENTITY_TYPE)
    lowest, highest = _IDENTITY_RANGES[type_.kind]
    if identity.cache < 1:
        raise InvalidRequest(TypedRule.IDENTITY_CACHE)
    minimum = lowest if identity.minimum is None else identity.minimum
    maximum = highest if identity.maximum is None else identity.maximum
    if not lowest <= minimum < maximum <= highest:
        raise InvalidRequest(TypedRule.IDENTITY_BOUNDS)
    start = 1 if identity.start is None else identity.start
    if not lowest <= start <= highest:
        raise InvalidRequest(TypedRule.IDENTITY_START)
    return replace(identity, start=start, minimum=minimum, maximum=maximum)


def _check_key_field(field: Field) -> None:
    if field.type.kind not in KEY_KINDS:
        raise InvalidRequest(
            TypedRule.PRIMARY_KEY_TYPE, type=field.type.kind.value, field=field.name
        )
    if field.default is not None:
        raise InvalidRequest(TypedRule.PRIMARY_KEY_DEFAULT)


def _check_key_size(field: Field | None, size: int, *, given: bool) -> None:
    """Check the size of one key column, and its type if the column is declared (model §3)."""
    if not given:
        return
    if field is not None and field.type.kind is not Kind.INTEGER:
        raise InvalidRequest(TypedRule.PRIMARY_KEY_SIZE_TYPE, type=field.type.kind.value)
    if not 1 <= size <= 5:
        raise InvalidRequest(TypedRule.PRIMARY_KEY_SIZE, size=size)


def _in_key(table: TypedTable, name: str) -> bool:
    return any(same_name(name, key) for key in table.primary_key)


def _parent_key(parent: TypedTable | None) -> list[Field]:
    """The columns that a child table has from its parent: plain values of the same types."""
    if parent is None:
        return []
    return [
        replace(parent.fields[index], identity=None, uuid_generated=False)
        for index in parent.key_positions
    ]
