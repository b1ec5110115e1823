"""Paths of secondary indexes, checked against a table and followed in a row (model §11).

    name          a column, or a field of a record: home.street
    name[]        each element of an array, or a field of each: tags[], phones[].kind
    name.keys()   each key of a map; name.values() each value; name.key the value of one key
    name.a.b      inside JSON, with the type that is expected there

All paths of an index that have `[]`, `.keys()` or `.values()` belong to one array or map; a row has
an entry for each of its members.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.limits import INDEX_FIELDS_MAX
from widerow.model.typed.index_functions import (
    IndexFunction,
    index_function,
    joined_path,
    parted,
)
from widerow.model.typed.json_rows import json_value_text
from widerow.model.typed.names import check_index_name, folded
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import Index, IndexField, TypedTable
from widerow.model.typed.types import KEY_KINDS, STRING, FieldType, Kind
from widerow.model.typed.values import JSON_NULL, JsonNull, TypedValue

__all__ = ["EMPTY", "Empty", "IndexPath", "Members", "checked_index", "index_paths"]


class Empty:
    """The value of a path that leads to nothing: no such field of JSON or a map, an empty array.

    It is not NULL, sorts before it, and can be looked for in an index.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "EMPTY"

    def __bool__(self) -> bool:
        return False


EMPTY: Final = Empty()


class Members(Enum):
    """The members of an array or map that a path indexes; the value is how a path says it."""

    ELEMENTS = "[]"
    VALUES = ".values()"
    KEYS = ".keys()"


_Step = str | Members

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_STEP: Final = re.compile(
    r"(?P<elements>\[\])|\.(?P<members>values|keys)\(\)|\.(?P<name>[A-Za-z][A-Za-z0-9_]*)(?!\()",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class IndexPath:
    """A path that fits its table.

    `text`: in the declared case. `column`: where the column stands in rows. `steps` lead from its
    value to the indexed one; `split`: how many of them lead to the array or map whose members are
    indexed, -1 without. `json_from`: the step from which on values lie inside JSON, -1 if none do.
    `type`: what is indexed; inside JSON, what is expected there. `function`: what is applied to the
    value, which is of the type `source`, before it is indexed. `written`: the text in the case in
    which the index was declared.
    """

    text: str
    column: int
    steps: tuple[_Step, ...]
    split: int
    json_from: int
    type: FieldType
    function: IndexFunction | None = None
    source: FieldType | None = None
    written: str = ""

    @property
    def container(self) -> tuple[int, tuple[_Step, ...]] | None:
        """The array or map whose members the path indexes: its column and steps."""
        return None if self.split < 0 else (self.column, self.steps[: self.split])

    def find(self, row: Sequence[TypedValue]) -> TypedValue:
        """The value at a path without members; None is NULL, a null of JSON is `JSON_NULL`."""
        return self._walk(row[self.column], 0, len(self.steps))

    def check_atomic(self, row: Sequence[TypedValue]) -> None:
        """Refuse an array inside JSON where the path names a member of an object.

        For new rows only: earlier versions took such rows as EMPTY. Raises `InvalidRequest`.
        """
        value = row[self.column]
        for index, step in enumerate(self.steps):
            if isinstance(value, list) and isinstance(step, str) and 0 <= self.json_from <= index:
                raise InvalidRequest(
                    TypedRule.INDEX_VALUE_ATOMIC,
                    path=self.text,
                    step=step,
                    value=json_value_text(value),
                )
            if not isinstance(value, Mapping) or not isinstance(step, str):
                return
            value = value.get(step)

    def members(self, row: Sequence[TypedValue]) -> list[tuple[Any, Any]]:
        """The members of the array or map, as pairs of key (None in an array) and value.

        An empty array or map has one pair with `EMPTY`, one that is NULL has one pair with None.
        """
        found = self._walk(row[self.column], 0, self.split)
        step = self.steps[self.split]
        if found is None or isinstance(found, (Empty, JsonNull)):
            return [(found, found)]
        if step is Members.ELEMENTS:
            # In JSON a single value is an array of itself, as for the vendor.
            values = found if isinstance(found, list) else [found]
            pairs = [(None, self._member(value)) for value in values]
        else:
            items = found.items() if isinstance(found, Mapping) else ()
            pairs = [(key, self._member(value)) for key, value in items]
        return pairs or [(EMPTY, EMPTY)]

    def _member(self, value: TypedValue) -> TypedValue:
        """A member's value: None is a null of the document where it lies in one."""
        return JSON_NULL if value is None and 0 <= self.json_from <= self.split + 1 else value

    def find_in(self, member: tuple[Any, Any]) -> TypedValue:
        """The value at the path inside one member."""
        key, value = member
        if self.steps[self.split] is Members.KEYS:
            return key
        return self._walk(value, self.split + 1, len(self.steps))

    def _walk(self, value: TypedValue, start: int, stop: int) -> TypedValue:
        for index in range(start, stop):
            if value is None or isinstance(value, Empty):
                return value
            if not isinstance(value, Mapping):
                return EMPTY
            value = value.get(self.steps[index], EMPTY)
            if value is None and 0 <= self.json_from <= index:
                value = JSON_NULL
        return value


def checked_index(table: TypedTable, index: Index) -> Index:
    """The index with its paths in the declared case. Raises `InvalidRequest` (model §11)."""
    check_index_name(index.name)
    if not index.fields:
        raise InvalidRequest(TypedRule.INDEX_EMPTY)
    if len(index.fields) > INDEX_FIELDS_MAX:
        raise InvalidRequest(TypedRule.INDEX_FIELDS, limit=INDEX_FIELDS_MAX)
    paths = index_paths(table, index)
    seen: set[str] = set()
    for path in paths:
        if path.text in seen:
            raise InvalidRequest(TypedRule.INDEX_DUPLICATE, path=path.text)
        seen.add(path.text)
    if len({path.container for path in paths if path.container is not None}) > 1:
        raise InvalidRequest(TypedRule.INDEX_MULTIKEY)
    fields = tuple(
        IndexField(path.text, field.type, path.written if path.written != path.text else "")
        for path, field in zip(paths, index.fields, strict=True)
    )
    return replace(index, fields=fields)


def index_paths(table: TypedTable, index: Index) -> tuple[IndexPath, ...]:
    """The paths of an index. Raises `InvalidRequest` for one that does not fit the table."""
    return tuple(_resolved(table, field) for field in index.fields)


def _resolved(table: TypedTable, field: IndexField) -> IndexPath:
    try:
        return _path(table, field)
    except InvalidRequest as error:
        text = field.path[:200]
        if error.rule in _BARE:
            raise
        told = InvalidRequest(TypedRule.INDEX_FIELD, path=text, text=str(error))
        raise told from error


_BARE: Final = frozenset((TypedRule.INDEX_JSON_TYPE, TypedRule.INDEX_NO_FUNCTION))


def _path(table: TypedTable, field: IndexField) -> IndexPath:
    function, inner = parted(field.path)
    if function is None:
        return _plain_path(table, field)
    if not inner:
        kind, text = index_function(function, None), field.path
        return IndexPath(text, -1, (), -1, -1, kind, function, written=text)
    plain = _plain_path(table, IndexField(inner, field.type))
    kind = index_function(function, plain.type)
    text = joined_path(function.name, plain.text, function.constants)
    written = joined_path(function.name, plain.written, function.constants)
    applied = replace(plain, text=text, written=written)
    return replace(applied, type=kind, function=function, source=plain.type)


def _plain_path(table: TypedTable, field: IndexField) -> IndexPath:
    found = _NAME.match(field.path)
    name = field.path if found is None else found.group()
    column = table.field(name)
    steps: list[_Step] = []
    if found is not None and column is None and table.collection:
        column = table.fields[-1]
        steps.append(name)
    if found is None or column is None:
        raise InvalidRequest(TypedRule.INDEX_NO_FIELD, field=name[:100])
    text, kind = column.name or name, column.type
    written = name
    split = -1
    json_from = 0 if kind.kind is Kind.JSON else -1
    at = found.end()
    while at < len(field.path):
        step, at = _step(field.path, at)
        if isinstance(step, Members):
            if split >= 0:
                raise InvalidRequest(TypedRule.INDEX_MULTIKEY)
            split = len(steps)
        written += _step_text(step)
        step, kind = _into(kind, step)
        steps.append(step)
        text += _step_text(step)
        if json_from < 0 and kind.kind is Kind.JSON:
            json_from = len(steps)
    target = _target(kind, field.type, steps, inside=json_from >= 0)
    position = table.positions[folded(column.name)]
    return IndexPath(text, position, tuple(steps), split, json_from, target, written=written)


def _step_text(step: _Step) -> str:
    return step.value if isinstance(step, Members) else f".{step}"


def _step(path: str, at: int) -> tuple[_Step, int]:
    found = _STEP.match(path, at)
    if found is None:
        raise InvalidRequest(TypedRule.INDEX_PATH, rest=path[at : at + 100])
    if found["elements"]:
        return Members.ELEMENTS, found.end()
    if found["members"]:
        return Members[found["members"].upper()], found.end()
    return found["name"], found.end()


def _into(kind: FieldType, step: _Step) -> tuple[_Step, FieldType]:
    """The step in its declared case, and the type that it leads to."""
    if kind.kind is Kind.JSON:
        return step, STRING if step is Members.KEYS else kind
    if kind.kind is Kind.RECORD and isinstance(step, str):
        field = kind.field(step)
        if field is None:
            raise InvalidRequest(TypedRule.INDEX_NO_FIELD, field=step)
        return field.name, field.type
    if kind.kind is Kind.MAP and step is not Members.ELEMENTS:
        assert kind.element is not None
        return step, STRING if step is Members.KEYS else kind.element
    if kind.kind is Kind.ARRAY and step is Members.ELEMENTS:
        assert kind.element is not None
        return step, kind.element
    if kind.kind is Kind.ARRAY and isinstance(step, str):
        raise InvalidRequest(TypedRule.INDEX_ARRAY)
    raise InvalidRequest(TypedRule.INDEX_STEP, step=_step_text(step), type=kind.kind.value)


_WHOLE: Final = {
    Kind.MAP: TypedRule.INDEX_MAP,
    Kind.ARRAY: TypedRule.INDEX_ARRAY,
    Kind.RECORD: TypedRule.INDEX_RECORD,
}


def _target(
    kind: FieldType, declared: Kind | None, steps: Sequence[_Step], *, inside: bool
) -> FieldType:
    """What is indexed at the end of a path."""
    if kind.kind is Kind.JSON:
        if declared is None:
            raise InvalidRequest(TypedRule.INDEX_JSON_TYPE)
        return FieldType(declared)
    if declared is not None:
        keys_in_json = inside and steps[-1] is Members.KEYS and declared is Kind.STRING
        if not keys_in_json:
            raise InvalidRequest(TypedRule.INDEX_TYPE_OUTSIDE_JSON)
    if kind.kind in _WHOLE:
        raise InvalidRequest(_WHOLE[kind.kind])
    if kind.kind not in KEY_KINDS:
        raise InvalidRequest(TypedRule.INDEX_KIND, type=kind.kind.value)
    return kind
