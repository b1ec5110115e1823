"""Search indexes in the record of their table (docs/formats/catalog.md, "Search indexes").

What a client did not say is absent, so that descriptions show what was asked for. Enumerations are
written by their names.
"""

from dataclasses import fields
from enum import Enum
from typing import Any, Final, TypeVar

from widerow.model.search.query import FieldSort, PrimaryKeySort, SearchSort, SortMode, SortOrder
from widerow.model.search.schema import (
    AnalyzerName,
    IndexOptions,
    JsonKind,
    QueryFlowWeight,
    SearchField,
    SearchFieldType,
    SearchIndex,
    SearchSchema,
    TextAnalyzer,
    TextSimilarity,
    VectorMetric,
    VectorOptions,
)

__all__ = ["decode_search_index", "encode_search_index"]

Json = Any
E = TypeVar("E", bound=Enum)


def encode_search_index(index: SearchIndex) -> dict[str, Json]:
    """The object of an index."""
    return {
        "name": index.name,
        "id": index.id,
        "schema": _schema_object(index.schema),
        "created_us": index.created_us,
        "time_to_live": index.time_to_live,
        **({"source": index.source} if index.source else {}),
        **({"weights": [[w.index, w.weight] for w in index.weights]} if index.weights else {}),
    }


def decode_search_index(value: Json) -> SearchIndex:
    """The index of an object. Raises `KeyError`, `TypeError`, `ValueError` for any other one."""
    known = dict(value)
    index = SearchIndex(
        name=_as(str, known.pop("name")),
        id=_as(int, known.pop("id")),
        schema=_schema(known.pop("schema")),
        created_us=_as(int, known.pop("created_us")),
        time_to_live=_as(int, known.pop("time_to_live")),
        source=_as(str, known.pop("source", "")),
        weights=tuple(
            QueryFlowWeight(_as(str, name), _as(int, weight))
            for name, weight in known.pop("weights", [])
        ),
    )
    _check_known(known)
    return index


# --- schemas ------------------------------------------------------------------------------------


def _schema_object(schema: SearchSchema) -> dict[str, Json]:
    made: dict[str, Json] = {"fields": [_field_object(each) for each in schema.fields]}
    if schema.sort is not None:
        made["sort"] = [_sorter_object(each) for each in schema.sort.sorters]
        if schema.sort.disable_default_pk_sorter:
            made["disable_key_sorter"] = True
    if schema.routing:
        made["routing"] = list(schema.routing)
    if schema.routing_partition_size is not None:
        made["routing_partition_size"] = schema.routing_partition_size
    return made


def _schema(value: Json) -> SearchSchema:
    known = dict(value)
    sorters = known.pop("sort", None)
    disabled = _as(bool, known.pop("disable_key_sorter", False))  # a default
    size = known.pop("routing_partition_size", None)
    schema = SearchSchema(
        fields=tuple(_field(each) for each in known.pop("fields")),
        sort=None if sorters is None else SearchSort(tuple(map(_sorter, sorters)), disabled),
        routing=tuple(_as(str, each) for each in known.pop("routing", [])),
        routing_partition_size=None if size is None else _as(int, size),
    )
    _check_known(known)
    return schema


_DEFAULTS: Final = {each.name: each.default for each in fields(SearchField)}
_ANALYZER_DEFAULTS: Final = {each.name: each.default for each in fields(TextAnalyzer)}
_PLAIN: Final[dict[str, type]] = {  # fields of a field that JSON can say as they are
    "index": bool,
    "sort_and_agg": bool,
    "store": bool,
    "is_array": bool,
    "analyzer_sent": bool,
    "source": str,
    "highlighting": bool,
}
_NAMED: Final[dict[str, type[Enum]]] = {
    "json": JsonKind,
    "similarity": TextSimilarity,
    "options": IndexOptions,
}


def _field_object(field: SearchField) -> dict[str, Json]:
    made: dict[str, Json] = {"name": field.name, "type": field.type.name}
    for name in _PLAIN:
        if getattr(field, name) != _DEFAULTS[name]:
            made[name] = getattr(field, name)
    for name in _NAMED:
        if getattr(field, name) is not None:
            made[name] = getattr(field, name).name
    if field.analyzer is not None:
        made["analyzer"] = _analyzer_object(field.analyzer)
    if field.date_formats:
        made["date_formats"] = list(field.date_formats)
    if field.vector is not None:
        made["vector"] = [field.vector.dimension, field.vector.metric.name]
    if field.fields:
        made["fields"] = [_field_object(each) for each in field.fields]
    return made


def _field(value: Json) -> SearchField:
    known = dict(value)
    made: dict[str, Any] = {
        name: _as(kind, known.pop(name)) for name, kind in _PLAIN.items() if name in known
    }
    made |= {name: _member(kind, known.pop(name)) for name, kind in _NAMED.items() if name in known}
    if "analyzer" in known:
        made["analyzer"] = _analyzer(known.pop("analyzer"))
    if "vector" in known:
        dimension, metric = known.pop("vector")
        made["vector"] = VectorOptions(_as(int, dimension), _member(VectorMetric, metric))
    field = SearchField(
        name=_as(str, known.pop("name")),
        type=_member(SearchFieldType, known.pop("type")),
        date_formats=tuple(_as(str, each) for each in known.pop("date_formats", [])),
        fields=tuple(_field(each) for each in known.pop("fields", [])),
        **made,
    )
    _check_known(known)
    return field


_ANALYZER_PLAIN: Final[dict[str, type]] = {
    "case_sensitive": bool,
    "delimit_word": bool,
    "delimiter": str,
    "min_chars": int,
    "max_chars": int,
}


def _analyzer_object(analyzer: TextAnalyzer) -> dict[str, Json]:
    made: dict[str, Json] = {"name": analyzer.name.value}
    for name in _ANALYZER_PLAIN:
        if getattr(analyzer, name) != _ANALYZER_DEFAULTS[name]:
            made[name] = getattr(analyzer, name)
    if analyzer.sent is not None:
        made["sent"] = analyzer.sent.hex()
    return made


def _analyzer(value: Json) -> TextAnalyzer:
    known = dict(value)
    made: dict[str, Any] = {
        name: _as(kind, known.pop(name)) for name, kind in _ANALYZER_PLAIN.items() if name in known
    }
    if "sent" in known:
        made["sent"] = bytes.fromhex(_as(str, known.pop("sent")))
    analyzer = TextAnalyzer(AnalyzerName(known.pop("name")), **made)
    _check_known(known)
    return analyzer


# --- the order of an index (search §1.1: by fields and by the primary key only) -----------------


def _sorter_object(sorter: object) -> dict[str, Json]:
    if isinstance(sorter, PrimaryKeySort):
        return {"order": sorter.order.name}
    assert isinstance(sorter, FieldSort), "checked with the schema"
    made: dict[str, Json] = {"field": sorter.field, "order": sorter.order.name}
    if sorter.mode is not None:
        made["mode"] = sorter.mode.name
    if sorter.missing_field is not None:
        made["missing_field"] = sorter.missing_field
    if sorter.missing_value is not None:
        assert not isinstance(sorter.missing_value, bytes), "checked with the schema"
        made["missing_value"] = sorter.missing_value
    return made


def _sorter(value: Json) -> PrimaryKeySort | FieldSort:
    known = dict(value)
    order = _member(SortOrder, known.pop("order"))
    name, mode = known.pop("field", None), known.pop("mode", None)
    missing_field, missing_value = (
        known.pop("missing_field", None),
        known.pop("missing_value", None),
    )
    _check_known(known)
    if name is None:
        return PrimaryKeySort(order)
    if missing_value is not None and not isinstance(missing_value, str | int | float):
        raise TypeError(f"no value of a column: {missing_value!r}")
    return FieldSort(
        _as(str, name),
        order,
        None if mode is None else _member(SortMode, mode),
        missing_field=None if missing_field is None else _as(str, missing_field),
        missing_value=missing_value,
    )


def _member(kind: type[E], name: Json) -> E:
    return kind[_as(str, name)]


T = TypeVar("T")


def _as(kind: type[T], value: Json) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {value!r}")
    return value


def _check_known(left: dict[str, Json]) -> None:
    if left:
        raise ValueError(f"unknown fields {sorted(left)}")
