"""Rows as documents (search §2): what an index keeps of a row, before it is in a segment."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from widerow.limits import (
    SEARCH_ARRAY_ELEMENTS_MAX,
    SEARCH_POSITION_MAX,
    SEARCH_TEXT_GAP,
)
from widerow.model.search.schema import SearchFieldType
from widerow.model.values import KeyValue, Value
from widerow.search.conversion import column_reader, json_values, parsed_json
from widerow.search.fields import (
    DocumentLevel,
    FieldReader,
    IndexedField,
    ObjectField,
    SearchFields,
)

__all__ = ["Document", "TokenList", "document_of", "token_count"]

_UNCOUNTED: Final = frozenset(
    ("的", "是")
)  # indexed, but not counted in a text's length (search §3)


class TokenList(NamedTuple):
    """The tokens of a TEXT field. `positions` None: 0, 1, 2 …; `length` counts for scores."""

    tokens: list[str]
    positions: list[int] | None
    length: int


class Document(NamedTuple):
    """One document of a level.

    `values[slot]` is None for a field without a value; for TEXT the tokens with blanks between them
    if that is enough (`Analysis.blanked`), otherwise a `TokenList`; else the list of values, which
    is not empty, in the forms of `search.conversion`. `children`: for each level below, in the
    order of `DocumentLevel.children`, the documents there. `place`: the place of the object in its
    array, 0 for rows.
    """

    values: list[Any]
    children: "list[list[Document]]"
    place: int = 0


def document_of(
    fields: SearchFields,
    keys: Iterable[tuple[str, KeyValue]],
    columns: dict[str, Value],
) -> Document:
    """The document of a row: `keys` by name in their order, `columns` with their newest values.

    Never raises for a value: a field that cannot have it has none (search §2).
    """
    made = _empty(fields.root)
    readers, holders = fields.readers, fields.objects_by_column
    if not readers:
        readers.update(_readers(fields))
    for name, value in (*keys, *columns.items()):
        for field, read in readers.get(name, ()):
            _put(made, field, read(value))
        for holder in holders.get(name, ()):
            _put_objects(made, holder, value)
    return made


def _readers(fields: SearchFields) -> dict[str, list[FieldReader]]:
    return {
        column: [(field, column_reader(field)) for field in members]
        for column, members in fields.by_column.items()
    }


def _empty(level: DocumentLevel, place: int = 0) -> Document:
    return Document([None] * len(level.fields), [[] for _ in level.children], place)


def _put(made: Document, field: IndexedField, values: list[Any]) -> None:
    """Append values to those of a field; only in an array of objects, a field has some already."""
    if not values:
        return
    known = made.values[field.slot]
    if field.type is SearchFieldType.TEXT:
        made.values[field.slot] = _analysed(field, values, known)
    elif known is None:
        made.values[field.slot] = values
    elif field.type is not SearchFieldType.VECTOR:
        known.extend(values)


def _analysed(
    field: IndexedField, texts: list[str], known: TokenList | str | None
) -> TokenList | str:
    """The tokens of texts; between two texts positions leave a gap that no phrase spans."""
    analysis = field.analysis
    if known is None and len(texts) == 1 and analysis.fuzzy is None:
        text = texts[0]
        blanked = analysis.blanked(text)
        if blanked is not None and blanked.count(" ") <= SEARCH_POSITION_MAX:
            return blanked
        tokens = analysis.tokens(text)
        if len(tokens) > SEARCH_POSITION_MAX:
            tokens = tokens[: SEARCH_POSITION_MAX + 1]
        return TokenList(tokens, None, _length(tokens))
    tokens = []
    positions: list[int] = []
    if isinstance(known, str):
        tokens = known.split()
        positions = list(range(len(tokens)))
    elif known is not None:
        tokens = known.tokens
        positions = list(range(len(tokens))) if known.positions is None else known.positions
    for text in texts:
        base = positions[-1] + SEARCH_TEXT_GAP if positions else 0
        found = analysis.tokens(text)
        placed = analysis.positions(text) or range(len(found))
        within = [
            (token, base + at)
            for token, at in zip(found, placed, strict=True)
            if base + at <= SEARCH_POSITION_MAX
        ]
        tokens.extend([token for token, _ in within])
        positions.extend([at for _, at in within])
    return TokenList(tokens, positions, _length(tokens))


def _length(tokens: list[str]) -> int:
    if _UNCOUNTED.isdisjoint(tokens):
        return len(tokens)
    return len(tokens) - sum([token in _UNCOUNTED for token in tokens])


def token_count(document: Document) -> int:
    """The number of tokens of a document and the documents below it, or a few more."""
    count = 0
    for each in document.values:
        if isinstance(each, str):
            count += each.count(" ") + 1
        elif isinstance(each, TokenList):
            count += len(each.tokens)
    for below in document.children:
        for child in below:
            count += token_count(child)
    return count


def _put_objects(made: Document, holder: ObjectField, value: Value) -> None:
    """Put the fields inside a column that holds an object, or an array of objects, as JSON."""
    if not isinstance(value, str):
        return
    try:
        _put_parsed(made, holder, parsed_json(value))
    except ValueError:
        return


def _put_parsed(made: Document, holder: ObjectField, value: object) -> None:
    elements = value if isinstance(value, list) else [value]
    if len(elements) > SEARCH_ARRAY_ELEMENTS_MAX:
        return
    for place, element in enumerate(elements):
        if not isinstance(element, dict):
            continue
        if holder.level is None:
            _put_members(made, holder.fields, holder.objects, element)
            continue
        child = _empty(holder.level, place)
        _put_members(child, holder.level.members, holder.level.objects, element)
        assert holder.level.parent is not None
        made.children[holder.level.parent.children.index(holder.level)].append(child)


def _put_members(
    made: Document,
    fields: Iterable[IndexedField],
    objects: Iterable[ObjectField],
    element: dict[str, Any],
) -> None:
    for field in fields:
        value = element.get(field.member)
        if value is not None:
            _put(made, field, json_values(field, value))
    for holder in objects:
        value = element.get(holder.member)
        if value is not None:
            _put_parsed(made, holder, value)
