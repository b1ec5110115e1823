"""Changing a typed table: columns added and removed, its time to live, its description (model §12).

Rows are not touched. Each evolution raises the table's schema number and keeps the layouts of all
schemas so far, so that a row is read by the layout that it was written in: a column added since
shows its default, one removed since is passed over. A column that is added under the name of a
removed one must be of its type and gets its number again, so that rows not written since show the
values that they have. A field of a record that is removed and added again starts empty.
"""

import re
from dataclasses import replace
from typing import Any, Final, Self

from widerow.errors import InvalidRequest
from widerow.model.typed.builder import check_freezable, check_generated, checked_field
from widerow.model.typed.names import folded, same_name
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TimeToLive, TypedTable
from widerow.model.typed.types import Field, FieldType, Identity, Kind, record_of, whole_type_text

__all__ = ["TableEvolver"]

_STEP: Final = re.compile(r"(?:^|\.)([A-Za-z][A-Za-z0-9_]*)(?![\w(])|(\[\])|(\.values\(\))")


class TableEvolver:
    """Collects changes of one table. A call that breaks a rule changes nothing."""

    def __init__(self, table: TypedTable) -> None:
        """Begin with `table`. Nothing is changed before the store gets what `build` makes."""
        self.before = table
        self.table = table

    def add_field(
        self,
        path: str,
        type_: FieldType,
        *,
        nullable: bool = True,
        default: Any = None,  # noqa: ANN401  # a value of the type; None: NULL
        comment: str | None = None,
        identity: Identity | None = None,
        uuid_generated: bool = False,
    ) -> Self:
        """Add a column, or a field of a record: `r.a`, `list[].a`, `map.values().a`.

        Raises: `InvalidRequest` if it exists, breaks a rule for columns, or the schema is frozen.
        """
        self._check_not_frozen()
        parts = _steps(path)
        field = Field(parts[-1], type_, nullable, default, comment, identity, uuid_generated)
        field = checked_field(field)
        if not field.nullable and field.default is None and not field.generated:
            raise InvalidRequest(TypedRule.NOT_NULL_WITHOUT_DEFAULT, field=field.name)
        if len(parts) > 1:
            return self._nested(parts, field)
        table = self.table
        if table.field(field.name) is not None:
            raise InvalidRequest(TypedRule.EVOLVE_EXISTS, field=field.name)
        former = next((each for each in table.dropped if same_name(each.name, field.name)), None)
        if former is None:
            added = replace(field, number=table.next_number)
        else:
            added = _added_again(field, former)
        fields = (*table.fields, added)
        check_generated(fields[table.parent_key_length :])
        self.table = replace(
            table,
            fields=fields,
            dropped=tuple(each for each in table.dropped if each is not former),
            next_number=table.next_number + int(former is None),
        )
        return self

    def remove_field(self, path: str) -> Self:
        """Remove a column or a field of a record.

        Raises: `InvalidRequest` if it does not exist, is part of the primary key, or an index, or
        the schema is frozen.
        """
        self._check_not_frozen()
        parts = _steps(path)
        table = self.table
        if len(parts) > 1:
            self._check_not_indexed(path)
            return self._nested(parts, None)
        field = table.field(path)
        if field is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=path)
        if any(same_name(path, key) for key in table.primary_key):
            raise InvalidRequest(TypedRule.EVOLVE_PRIMARY_KEY, field=path)
        self._check_not_indexed(path)
        kept = tuple(each for each in table.fields if each is not field)
        self.table = replace(table, fields=kept)
        if field.number < self.before.next_number:  # else no row can have it
            former = Field(field.name, field.type, number=field.number)
            self.table = replace(self.table, dropped=(*table.dropped, former))
        return self

    def modify_generation(
        self, name: str, *, identity: Identity | None = None, uuid_generated: bool = False
    ) -> Self:
        """Give a column a generator of values, another one, or (with neither) none (model §9).

        Raises: `InvalidRequest`, also if the schema is frozen.
        """
        self._check_not_frozen()
        table = self.table
        field = table.field(name)
        if field is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=name)
        changed = checked_field(replace(field, identity=identity, uuid_generated=uuid_generated))
        fields = tuple(changed if each is field else each for each in table.fields)
        check_generated(fields[table.parent_key_length :])
        self.table = replace(table, fields=fields)
        return self

    def ttl(self, ttl: TimeToLive | None) -> Self:
        """Change the default time to live of rows inserted from now on; None: never."""
        self.table = replace(self.table, ttl=ttl)
        return self

    def freeze(self, *, force: bool = False) -> Self:
        """Let columns not be changed from now on; `force`: also where there is no JSON column.

        Raises: `InvalidRequest`.
        """
        check_freezable(self.table, force=force)
        self.table = replace(self.table, frozen=True)
        return self

    def unfreeze(self) -> Self:
        """Let columns be changed again."""
        self.table = replace(self.table, frozen=False)
        return self

    def before_image(self, ttl: TimeToLive | None) -> Self:
        """Change how long what rows were before a change is kept; None: not at all."""
        self.table = replace(self.table, before_image=ttl)
        return self

    def comment(self, text: str | None) -> Self:
        """Change the description."""
        self.table = replace(self.table, comment=text)
        return self

    def build(self) -> TypedTable:
        """The changed table; its schema number is one higher if columns changed."""
        table = self.table
        if table.fields == self.before.fields:
            return table
        stored = tuple(table.fields[index].number for index in table.value_positions)
        return replace(table, schema=self.before.schema + 1, layouts=(*self.before.layouts, stored))

    def _nested(self, parts: list[str], field: Field | None) -> Self:
        """Add `field` to the record that `parts` lead to, or remove the one they name."""
        top = self.table.field(parts[0])
        if top is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=parts[0])
        changed = replace(top, type=_changed(top.type, parts[1:], field, ".".join(parts)))
        fields = tuple(changed if each is top else each for each in self.table.fields)
        self.table = replace(self.table, fields=fields)
        return self

    def _check_not_frozen(self) -> None:
        if self.table.frozen:
            raise InvalidRequest(TypedRule.EVOLVE_FROZEN, table=self.table.name)

    def _check_not_indexed(self, path: str) -> None:
        wanted = folded(path)
        for index in self.table.indexes:
            for indexed in index.fields:
                held = folded(indexed.path)
                if held == wanted or (held.startswith(wanted) and held[len(wanted)] in ".["):
                    raise InvalidRequest(TypedRule.EVOLVE_INDEXED)


def _added_again(field: Field, former: Field) -> Field:
    """A column under the name of a removed one: with its number. Raises `InvalidRequest`."""
    type_ = _numbered_as(field.type, former.type)
    if type_ is None:
        given, was = field.type.kind.value, former.type.kind.value
        if given == was:
            given, was = whole_type_text(field.type), whole_type_text(former.type)
        raise InvalidRequest(TypedRule.EVOLVE_FORMER_TYPE, field=field.name, given=given, was=was)
    return replace(field, type=type_, number=former.number)


def _numbered_as(given: FieldType, former: FieldType) -> FieldType | None:
    """The given type with the field numbers of a former one; None if they are not the same type."""
    if given.element is not None and former.element is not None:
        element = _numbered_as(given.element, former.element)
        same = element is not None and given.kind is former.kind
        return replace(given, element=element) if same else None
    if given.kind is not Kind.RECORD or former.kind is not Kind.RECORD:
        return given if given == former else None
    if len(given.fields) != len(former.fields):
        return None
    fields: list[Field] = []
    for field, before in zip(given.fields, former.fields, strict=True):
        type_ = _numbered_as(field.type, before.type)
        same = same_name(field.name, before.name) and field.nullable == before.nullable
        if type_ is None or not same:
            return None
        fields.append(replace(field, type=type_, number=before.number))
    return replace(given, fields=tuple(fields), next_number=former.next_number)


def _steps(path: str) -> list[str]:
    """The steps of a path: names, `[]` and `values()`."""
    if "." not in path and "[" not in path:
        return [path]
    steps: list[str] = []
    position = 0
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=path)
        steps.append(found[1] or ("[]" if found[2] else "values()"))
        position = found.end()
    return steps


def _changed(type_: FieldType, steps: list[str], field: Field | None, path: str) -> FieldType:
    """`type_` with `field` added where `steps` lead, or without the field that they name."""
    step = steps[0]
    element = {"[]": Kind.ARRAY, "values()": Kind.MAP}.get(step)
    if element is not None:
        if type_.kind is not element or len(steps) < 2 or type_.element is None:
            raise InvalidRequest(TypedRule.EVOLVE_NOT_RECORD, field=path)
        return replace(type_, element=_changed(type_.element, steps[1:], field, path))
    if type_.kind is not Kind.RECORD:
        raise InvalidRequest(TypedRule.EVOLVE_NOT_RECORD, field=path)
    held = type_.field(step)
    if len(steps) > 1:
        if held is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=step)
        inner = replace(held, type=_changed(held.type, steps[1:], field, path))
        fields = tuple(inner if each is held else each for each in type_.fields)
        return replace(type_, fields=fields)
    if field is None:
        return _without(type_, held, step)
    if held is not None:
        raise InvalidRequest(TypedRule.EVOLVE_EXISTS, field=step)
    added = replace(field, number=type_.next_number)
    return replace(record_of(*type_.fields, added), next_number=type_.next_number + 1)


def _without(type_: FieldType, held: Field | None, name: str) -> FieldType:
    if held is None:
        raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=name)
    kept = tuple(each for each in type_.fields if each is not held)
    if not kept:
        raise InvalidRequest(TypedRule.EVOLVE_LAST_FIELD, field=name)
    return replace(type_, fields=kept)
