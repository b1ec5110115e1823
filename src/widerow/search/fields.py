"""The schema of an index, compiled: its levels, its fields with their defaults (search §1.1, §2).

A level is what documents stand at: the rows, and each nested path. Fields of type JSON that are
objects add no level; the fields below them are fields of the level that they stand at (search §2).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.model.search.schema import (
    JsonKind,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.analyzers.analysis import Analysis, analysis_of
from widerow.search.dates import DateFormats

__all__ = [
    "FUZZY_TYPES",
    "KEYWORD_TYPES",
    "NUMBER_TYPES",
    "TERM_TYPES",
    "DocumentLevel",
    "FieldReader",
    "IndexedField",
    "ObjectField",
    "SearchFields",
    "settled",
]

NUMBER_TYPES: Final = frozenset(
    (SearchFieldType.LONG, SearchFieldType.DOUBLE, SearchFieldType.BOOLEAN, SearchFieldType.DATE)
)
"""Types whose values are numbers of numpy."""
KEYWORD_TYPES: Final = frozenset((SearchFieldType.KEYWORD, SearchFieldType.FUZZY_KEYWORD))
"""Types whose values are texts as a whole."""
TERM_TYPES: Final = KEYWORD_TYPES | {SearchFieldType.IP}
"""Types whose values are numbers of terms."""
FUZZY_TYPES: Final = KEYWORD_TYPES | {SearchFieldType.TEXT}
"""Types with terms that are texts, which prefixes and wildcards search."""

_UNSORTED: Final = frozenset(
    (SearchFieldType.TEXT, SearchFieldType.NESTED, SearchFieldType.VECTOR, SearchFieldType.JSON)
)
_DEFAULT_ANALYZER: Final = TextAnalyzer()


def settled(declared: SearchField) -> SearchField:
    """A field with the defaults for what the client left out (search §1.1).

    Its name has no blanks around it.
    """
    text = declared.type is SearchFieldType.TEXT
    return replace(
        declared,
        name=declared.name.strip(),
        index=declared.index is not False,
        sort_and_agg=(
            declared.type not in _UNSORTED
            if declared.sort_and_agg is None
            else declared.sort_and_agg
        ),
        store=not text if declared.store is None else declared.store,
        analyzer=(declared.analyzer or _DEFAULT_ANALYZER) if text else None,
    )


@dataclass(frozen=True)
class IndexedField:
    """A field that documents have values of. `name` is the full one, from the root of the index.

    `slot`: its place among the fields of its level. `member`: its name in the object that it is
    read from; for a field of the row the name of the column.
    """

    name: str
    slot: int
    member: str
    definition: SearchField

    @cached_property
    def type(self) -> SearchFieldType:
        """The type that the field is indexed as."""
        return self.definition.type

    @cached_property
    def dates(self) -> DateFormats:
        """For a DATE field: how texts and numbers become dates."""
        return DateFormats(self.definition.date_formats)

    @cached_property
    def analysis(self) -> Analysis:
        """For a TEXT field: how texts become tokens."""
        return analysis_of(self.definition.analyzer or _DEFAULT_ANALYZER)


FieldReader = tuple[IndexedField, Callable[[Any], list[Any]]]
"""A field of rows, and how its values are read from its column."""


@dataclass(frozen=True)
class ObjectField:
    """A field of type NESTED or JSON: objects with fields below.

    `level`: the level of its own documents (NESTED); None for JSON, whose inner `fields` and
    `objects` are at the level of the field itself.
    """

    name: str
    member: str
    level: "DocumentLevel | None"
    fields: tuple[IndexedField, ...] = ()
    objects: "tuple[ObjectField, ...]" = ()


@dataclass(frozen=True)
class DocumentLevel:
    """The rows (path "") or a nested path. `fields` are in the order of their slots.

    `members`: the fields that an object or row of this level has itself; `objects` likewise.
    `children`: the nested paths one level below, in the order of `Document.children`. `number`: its
    place among all levels, 0 for the rows.
    """

    path: str
    number: int
    parent: "DocumentLevel | None" = None
    fields: list[IndexedField] = field(default_factory=list)
    members: list[IndexedField] = field(default_factory=list)
    objects: list[ObjectField] = field(default_factory=list)
    children: "list[DocumentLevel]" = field(default_factory=list)

    @cached_property
    def by_name(self) -> dict[str, IndexedField]:
        """The fields of this level by their full names."""
        return {each.name: each for each in self.fields}

    def below(self) -> "Iterator[DocumentLevel]":
        """All levels below this one, outer ones first."""
        for child in self.children:
            yield child
            yield from child.below()

    def is_below(self, other: "DocumentLevel") -> bool:
        """Whether this level is below another one."""
        above = self.parent
        while above is not None and above is not other:
            above = above.parent
        return above is other


class SearchFields:
    """The levels and fields of one index. Immutable once made."""

    def __init__(self, schema: SearchSchema) -> None:
        """Compile a schema that the rules of CreateSearchIndex allow (search §1.1)."""
        self.schema = schema
        self.root = DocumentLevel("", 0)
        self.levels: list[DocumentLevel] = [self.root]
        self.readers: dict[str, list[FieldReader]] = {}  # by column, made with the first row
        self._definitions: dict[str, SearchField] = {}
        members, objects = self._compile(schema.fields, self.root, "")
        self.root.members.extend(members)
        self.root.objects.extend(objects)
        self._level_of = {each.name: level for level in self.levels for each in level.fields}
        self._by_path = {level.path: level for level in self.levels}

    @property
    def has_nested(self) -> bool:
        """Whether there are documents below rows."""
        return len(self.levels) > 1

    @cached_property
    def by_column(self) -> dict[str, list[IndexedField]]:
        """The indexed fields of rows, by the column that they are read from."""
        found: dict[str, list[IndexedField]] = {}
        for each in self.root.members:
            found.setdefault(each.member, []).append(each)
        return found

    @cached_property
    def objects_by_column(self) -> dict[str, list[ObjectField]]:
        """The object fields of rows, by the column that they are read from."""
        found: dict[str, list[ObjectField]] = {}
        for each in self.root.objects:
            found.setdefault(each.member, []).append(each)
        return found

    def definition(self, name: str) -> SearchField | None:
        """A field of any type by its full name, with defaults; None where there is none."""
        return self._definitions.get(name)

    def level(self, path: str) -> DocumentLevel | None:
        """The level of a nested path, "" for the rows; None where there is none."""
        return self._by_path.get(path)

    def level_of(self, name: str) -> DocumentLevel | None:
        """The level that a field is at; for a NESTED field, the level of its documents."""
        return self._level_of.get(name) or self._by_path.get(name)

    def indexed(self, name: str) -> IndexedField:
        """A field that queries may ask. Raises `InvalidRequest` where there is none (search §4)."""
        level = self._level_of.get(name)
        found = None if level is None else level.by_name[name]
        if found is None or not found.definition.index:
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_FIELD, field=name)
        return found

    def _compile(
        self, declared: tuple[SearchField, ...], level: DocumentLevel, prefix: str
    ) -> tuple[list[IndexedField], list[ObjectField]]:
        members: list[IndexedField] = []
        objects: list[ObjectField] = []
        for each in map(settled, declared):
            name = prefix + each.name
            self._definitions[name] = each
            member = each.name if each.source is None else each.source
            compile_one = _COMPILERS.get(each.type, SearchFields._compile_value)
            compile_one(self, _Place(each, name, member, level), members, objects)
        return members, objects

    def _compile_value(
        self, at: "_Place", members: list[IndexedField], _objects: list[ObjectField]
    ) -> None:
        made = IndexedField(at.name, len(at.level.fields), at.member, at.declared)
        at.level.fields.append(made)
        members.append(made)

    def _compile_objects(
        self, at: "_Place", _members: list[IndexedField], objects: list[ObjectField]
    ) -> None:
        prefix = at.name + "."
        if at.declared.type is SearchFieldType.JSON and at.declared.json is not JsonKind.NESTED:
            below, deeper = self._compile(at.declared.fields, at.level, prefix)
            objects.append(ObjectField(at.name, at.member, None, tuple(below), tuple(deeper)))
            return
        child = DocumentLevel(at.name, len(self.levels), at.level)
        self.levels.append(child)
        at.level.children.append(child)
        below, deeper = self._compile(at.declared.fields, child, prefix)
        child.members.extend(below)
        child.objects.extend(deeper)
        objects.append(ObjectField(at.name, at.member, child))


@dataclass(frozen=True, slots=True)
class _Place:
    """A field that is being compiled, and its place in the schema."""

    declared: SearchField
    name: str
    member: str
    level: DocumentLevel


_COMPILERS: Final[
    dict[
        SearchFieldType,
        Callable[[SearchFields, _Place, list[IndexedField], list[ObjectField]], None],
    ]
] = {
    SearchFieldType.NESTED: SearchFields._compile_objects,  # noqa: SLF001  # of this module
    SearchFieldType.JSON: SearchFields._compile_objects,  # noqa: SLF001  # of this module
}
