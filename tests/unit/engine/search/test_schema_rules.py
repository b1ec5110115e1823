"""What a table refuses a search index for, rule by rule and in order (search §1.1, §2, §8)."""

from dataclasses import replace
from typing import Any

import pytest

from widerow.engine.tablestore.search.schema_rules import (
    check_added_fields,
    check_index,
    check_index_names,
    check_schema,
)
from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound, Unsupported
from widerow.model.search.query import (
    FieldSort,
    PrimaryKeySort,
    ScoreSort,
    SearchSort,
    SortMode,
)
from widerow.model.search.requests import CreateSearchIndex
from widerow.model.search.schema import (
    AnalyzerName,
    JsonKind,
    SearchField,
    SearchFieldType,
    SearchIndex,
    SearchSchema,
    TextAnalyzer,
    VectorMetric,
    VectorOptions,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import (
    DefinedColumn,
    KeyColumn,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.values import ColumnType, KeyType
from widerow.wire.tablestore.errors.answers import foreign

T = SearchFieldType
OPTIONS = TableOptions(time_to_live=-1, max_versions=1, max_version_offset=86400)


def table(**changes: Any) -> Table:  # noqa: ANN401  # of Table
    made = Table(
        "i",
        "t",
        1,
        (KeyColumn("k", KeyType.STRING), KeyColumn("n", KeyType.INTEGER)),
        (DefinedColumn("d", ColumnType.DOUBLE), DefinedColumn("b", ColumnType.BOOLEAN)),
        OPTIONS,
        ThroughputState(Throughput(0, 0), 0),
        0,
    )
    return replace(made, **changes)


def field(kind: SearchFieldType, **parts: Any) -> SearchField:  # noqa: ANN401  # of SearchField
    return SearchField(parts.pop("name", "f"), kind, **parts)


def nested(levels: int, kind: SearchFieldType = T.NESTED) -> SearchField:
    below = field(T.LONG)
    for _ in range(levels):
        json = JsonKind.NESTED if kind is T.JSON else None
        below = field(kind, fields=(below,), json=json)
    return below


def schema(*fields: SearchField, **parts: Any) -> SearchSchema:  # noqa: ANN401  # of SearchSchema
    return SearchSchema(fields or (field(T.LONG),), **parts)


def asked(made: SearchSchema | None = None, **parts: Any) -> CreateSearchIndex:  # noqa: ANN401  # of the request
    return CreateSearchIndex("t", parts.pop("index", "x"), made or schema(), **parts)


VECTOR = VectorOptions(4, VectorMetric.COSINE)


@pytest.mark.parametrize(
    "fields",
    [
        (field(T.LONG),),
        (field(T.KEYWORD, name="k"),),  # a primary key column under its own name
        (field(T.KEYWORD, is_array=True, sort_and_agg=True),),
        (field(T.TEXT, highlighting=True, sort_and_agg=False),),
        (field(T.TEXT, analyzer=TextAnalyzer(AnalyzerName.FUZZY, min_chars=1, max_chars=7)),),
        (field(T.DATE, date_formats=("yyyy-MM-dd HH:mm:ss.SSS X", "epoch_nanos")),),
        (field(T.VECTOR, vector=VECTOR),),
        (nested(5),),
        (nested(5, T.JSON),),
        (field(T.NESTED, is_array=True, fields=(field(T.LONG),)),),
        (field(T.LONG, name="a"), field(T.LONG, name="b ")),
        (field(T.KEYWORD, source="anything"),),
        (field(T.DATE, source="n", date_formats=("epoch_millis",)),),
        (field(T.TEXT, source="d"),),
        (field(T.IP), field(T.GEO_POINT, name="g"), field(T.FUZZY_KEYWORD, name="z")),
    ],
)
def test_schemas_that_are_taken(fields: tuple[SearchField, ...]) -> None:
    check_schema(table(), SearchSchema(fields))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ((field(T.LONG, name="a"), field(T.LONG, name="a")), TablestoreRule.SEARCH_FIELD_DUPLICATE),
        # search §1.1: names are compared without blanks around them
        (
            (field(T.LONG, name="a"), field(T.LONG, name="a ")),
            TablestoreRule.SEARCH_FIELD_DUPLICATE,
        ),
        (
            (field(T.NESTED, fields=(field(T.LONG), field(T.LONG))),),
            TablestoreRule.SEARCH_FIELD_DUPLICATE,
        ),
        ((field(T.LONG, name=""),), TablestoreRule.SEARCH_FIELD_NAME),
        ((field(T.LONG, name="  "),), TablestoreRule.SEARCH_FIELD_NAME),
        ((field(T.LONG, name="x" * 256),), TablestoreRule.SEARCH_FIELD_NAME),
        ((field(T.NESTED),), TablestoreRule.SEARCH_FIELD_BELOW),
        ((field(T.JSON, json=JsonKind.OBJECT),), TablestoreRule.SEARCH_FIELD_BELOW),
        ((field(T.JSON, fields=(field(T.LONG),)),), TablestoreRule.SEARCH_FIELD_BELOW),
        ((field(T.LONG, fields=(field(T.LONG),)),), TablestoreRule.SEARCH_FIELD_BELOW),
        ((field(T.LONG, json=JsonKind.OBJECT),), TablestoreRule.SEARCH_FIELD_BELOW),
        ((nested(6),), TablestoreRule.SEARCH_NESTED_DEPTH),
        (
            (field(T.NESTED, fields=tuple(field(T.LONG, name=f"f{n}") for n in range(101))),),
            TablestoreRule.SEARCH_FIELD_COUNT,
        ),
        (
            tuple(field(T.LONG, name=f"f{n}") for n in range(1001)),
            TablestoreRule.SEARCH_FIELD_COUNT,
        ),
        ((field(T.KEYWORD, analyzer=TextAnalyzer()),), TablestoreRule.SEARCH_ANALYZER_FIELD),
        (
            (field(T.TEXT, analyzer=TextAnalyzer(AnalyzerName.FUZZY, min_chars=0)),),
            TablestoreRule.SEARCH_ANALYZER_FUZZY,
        ),
        (
            (field(T.TEXT, analyzer=TextAnalyzer(AnalyzerName.FUZZY, min_chars=3, max_chars=2)),),
            TablestoreRule.SEARCH_ANALYZER_FUZZY,
        ),
        (
            (field(T.TEXT, analyzer=TextAnalyzer(AnalyzerName.FUZZY, min_chars=1, max_chars=8)),),
            TablestoreRule.SEARCH_ANALYZER_FUZZY,
        ),
        ((field(T.VECTOR, vector=VECTOR, is_array=True),), TablestoreRule.SEARCH_ARRAY_TYPE),
        ((field(T.TEXT, sort_and_agg=True),), TablestoreRule.SEARCH_FIELD_UNSORTED),
        (
            (field(T.NESTED, sort_and_agg=True, fields=(field(T.LONG),)),),
            TablestoreRule.SEARCH_FIELD_UNSORTED,
        ),
        (
            (field(T.VECTOR, vector=VECTOR, sort_and_agg=True),),
            TablestoreRule.SEARCH_FIELD_UNSORTED,
        ),
        ((field(T.KEYWORD, highlighting=True),), TablestoreRule.SEARCH_HIGHLIGHTING_TYPE),
        ((field(T.VECTOR),), TablestoreRule.SEARCH_VECTOR_OPTIONS),
        ((field(T.LONG, vector=VECTOR),), TablestoreRule.SEARCH_VECTOR_OPTIONS),
        (
            (field(T.VECTOR, vector=replace(VECTOR, dimension=0)),),
            TablestoreRule.SEARCH_VECTOR_OPTIONS,
        ),
        (
            (field(T.VECTOR, vector=replace(VECTOR, dimension=4097)),),
            TablestoreRule.SEARCH_VECTOR_OPTIONS,
        ),
        (
            tuple(field(T.VECTOR, name=f"v{n}", vector=VECTOR) for n in range(6)),
            TablestoreRule.SEARCH_VECTOR_COUNT,
        ),
        ((field(T.DATE),), TablestoreRule.SEARCH_DATE_FORMAT),
        ((field(T.DATE, date_formats=("yyyy-QQ",)),), TablestoreRule.SEARCH_DATE_FORMAT),
        ((field(T.LONG, date_formats=("yyyy",)),), TablestoreRule.SEARCH_DATE_FORMAT),
        # search §2.5: which types a column becomes
        ((field(T.BOOLEAN, source="anything"),), TablestoreRule.SEARCH_VIRTUAL_TYPE),
        ((field(T.LONG, source="n"),), TablestoreRule.SEARCH_VIRTUAL_TYPE),
        (
            (field(T.DATE, source="d", date_formats=("epoch_millis",)),),
            TablestoreRule.SEARCH_VIRTUAL_TYPE,
        ),
        ((field(T.KEYWORD, source="b"),), TablestoreRule.SEARCH_VIRTUAL_TYPE),
        (
            (field(T.NESTED, fields=(field(T.KEYWORD, source="k"),)),),
            TablestoreRule.SEARCH_VIRTUAL_SOURCE,
        ),
    ],
)
def test_schemas_that_are_refused(fields: tuple[SearchField, ...], rule: AnyRule) -> None:
    # search §1.1: 400 OTSParameterInvalid, "invalid parameter" and our reason
    with pytest.raises(InvalidRequest) as caught:
        check_schema(table(), SearchSchema(fields))
    assert caught.value.rule is rule
    status, code, message = foreign(caught.value)
    assert (status, code) == (400, "OTSParameterInvalid")
    assert message.startswith("invalid parameter: ")
    assert "?" not in message


def test_a_type_that_is_not_offered() -> None:
    # search §2
    with pytest.raises(Unsupported):
        check_schema(table(), schema(field(T.FLATTENED)))


def test_an_empty_schema_is_refused() -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_schema(table(), SearchSchema(()))
    assert caught.value.rule is TablestoreRule.SEARCH_SCHEMA_EMPTY


def test_routing_is_by_primary_key_columns() -> None:
    check_schema(table(), schema(routing=("k",)))
    with pytest.raises(InvalidRequest) as caught:
        check_schema(table(), schema(routing=("d",)))
    assert caught.value.rule is TablestoreRule.SEARCH_ROUTING


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (
            schema(nested(1), sort=SearchSort((PrimaryKeySort(),))),
            TablestoreRule.SEARCH_SORT_NESTED,
        ),
        (schema(sort=SearchSort((ScoreSort(),))), TablestoreRule.SEARCH_SORT_KIND),
        (schema(sort=SearchSort((FieldSort("other"),))), TablestoreRule.SEARCH_SORT_FIELD),
        (
            schema(field(T.LONG, sort_and_agg=False), sort=SearchSort((FieldSort("f"),))),
            TablestoreRule.SEARCH_SORT_FIELD,
        ),
        (
            schema(field(T.TEXT), sort=SearchSort((FieldSort("f"),))),
            TablestoreRule.SEARCH_SORT_FIELD,
        ),
        (
            schema(field(T.GEO_POINT), sort=SearchSort((FieldSort("f"),))),
            TablestoreRule.SEARCH_SORT_FIELD,
        ),
        (schema(sort=SearchSort((FieldSort("f"),) * 32)), TablestoreRule.SORT_COUNT),
        (
            schema(field(T.KEYWORD), sort=SearchSort((FieldSort("f", mode=SortMode.AVG),))),
            TablestoreRule.SORT_MODE,
        ),
        (
            schema(field(T.LONG), sort=SearchSort((FieldSort("f", missing_field="g"),))),
            TablestoreRule.SEARCH_SORT_FIELD,
        ),
        (
            schema(
                field(T.LONG),
                field(T.KEYWORD, name="g"),
                sort=SearchSort((FieldSort("f", missing_field="g"),)),
            ),
            TablestoreRule.SORT_MISSING,
        ),
        (
            schema(field(T.LONG), sort=SearchSort((FieldSort("f", missing_value="word"),))),
            TablestoreRule.SEARCH_QUERY_VALUE,
        ),
    ],
)
def test_orders_that_are_refused(made: SearchSchema, rule: AnyRule) -> None:
    # search §1.1
    with pytest.raises(InvalidRequest) as caught:
        check_schema(table(), made)
    assert caught.value.rule is rule


def test_orders_that_are_taken() -> None:
    check_schema(table(), schema(sort=SearchSort((FieldSort("f"), PrimaryKeySort()))))
    below = field(T.JSON, json=JsonKind.OBJECT, fields=(field(T.LONG, name="l"),))
    check_schema(table(), schema(below, sort=SearchSort((FieldSort("f.l"),))))
    check_schema(table(), schema(nested(1), sort=SearchSort(())))
    for value in ("_first", "_last", "7", 7):
        sorter = FieldSort("f", mode=SortMode.AVG, missing_value=value, missing_field="g")
        made = schema(field(T.LONG), field(T.DOUBLE, name="g"), sort=SearchSort((sorter,)))
        check_schema(table(), made)


# --- the index -------------------------------------------------------------------------------

UPDATES = replace(OPTIONS, time_to_live=86400)
FIXED = replace(UPDATES, allow_update=False)


@pytest.mark.parametrize(
    ("options", "seconds", "rule"),
    [
        (OPTIONS, None, None),
        (OPTIONS, -1, None),
        (OPTIONS, 0, TablestoreRule.SEARCH_TTL_VALUE),
        (OPTIONS, -2, TablestoreRule.SEARCH_TTL_VALUE),
        (OPTIONS, 2**31, TablestoreRule.SEARCH_TTL_VALUE),
        (OPTIONS, 86400, TablestoreRule.SEARCH_TTL_UPDATES),
        (UPDATES, None, TablestoreRule.SEARCH_TABLE_TTL),
        (FIXED, None, None),
        (FIXED, 86400, None),
        (FIXED, 86401, TablestoreRule.SEARCH_TTL_TABLE),
        (replace(OPTIONS, allow_update=False), 900_000, None),
    ],
)
def test_how_long_rows_are_found(
    options: TableOptions, seconds: int | None, rule: AnyRule | None
) -> None:
    # search §1.1
    request = asked(time_to_live=seconds)
    if rule is None:
        check_index(table(options=options), request)
        return
    with pytest.raises(InvalidRequest) as caught:
        check_index(table(options=options), request)
    assert caught.value.rule is rule


def test_the_words_for_a_table_whose_rows_expire() -> None:
    # search §8
    with pytest.raises(InvalidRequest) as caught:
        check_index(table(options=UPDATES), asked())
    expected = (400, "OTSParameterInvalid", "operation is denied as table TTL exists.")
    assert foreign(caught.value) == expected


def existing(*names: str) -> tuple[SearchIndex, ...]:
    return tuple(SearchIndex(name, n, schema(), 0) for n, name in enumerate(names))


def test_a_name_that_is_taken() -> None:
    # search §1.1
    with pytest.raises(Conflict) as caught:
        check_index(table(search=existing("x")), asked())
    expected = (400, "OTSParameterInvalid", "search index [x] already exists")
    assert foreign(caught.value) == expected


def test_an_index_that_replaces_another_one() -> None:
    # search §1.4
    check_index(table(search=existing("x")), asked(index="x_reindex", source="x"))
    check_index(table(), asked(index="x_reindex"))
    with pytest.raises(InvalidRequest) as caught:
        check_index(table(search=existing("x")), asked(index="y", source="x"))
    assert caught.value.rule is TablestoreRule.SEARCH_REINDEX_NAME
    with pytest.raises(NotFound) as missing:
        check_index(table(), asked(index="x_reindex", source="x"))
    expected = (400, "OTSMetaNotMatch", "search index [x] does not exist")
    assert foreign(missing.value) == expected


def test_indexes_of_a_table_are_bounded() -> None:
    many = existing(*(f"i{n}" for n in range(50)))
    with pytest.raises(InvalidRequest) as caught:
        check_index(table(search=many), asked())
    assert caught.value.rule is TablestoreRule.SEARCH_INDEX_COUNT


def test_the_schema_is_looked_at_before_the_name() -> None:
    # search §1.1: the order of the checks
    with pytest.raises(InvalidRequest) as caught:
        check_index(table(search=existing("x")), asked(schema(field(T.DATE))))
    assert caught.value.rule is TablestoreRule.SEARCH_DATE_FORMAT
    with pytest.raises(InvalidRequest) as caught:
        check_index(table(options=UPDATES), asked(schema(field(T.DATE))))
    assert caught.value.rule is TablestoreRule.SEARCH_TABLE_TTL


@pytest.mark.parametrize("name", ["", "1x", "a-b", "x" * 256, "表"])
def test_names_of_indexes_are_those_of_tables(name: str) -> None:
    # search §1.1
    check_index_names("t", "x_1")
    with pytest.raises(InvalidRequest) as caught:
        check_index_names("t", name)
    assert caught.value.rule is TablestoreRule.SEARCH_INDEX_NAME
    with pytest.raises(InvalidRequest) as caught:
        check_index_names(name, "x")
    assert caught.value.rule is TablestoreRule.TABLE_NAME


def test_fields_that_are_added() -> None:
    # search §1.4
    added = (field(T.KEYWORD, name="g"),)
    assert check_added_fields(table(), schema(), added) == schema(field(T.LONG), *added)
    with pytest.raises(InvalidRequest) as caught:
        check_added_fields(table(), schema(), (field(T.KEYWORD),))
    assert caught.value.rule is TablestoreRule.SEARCH_FIELD_DUPLICATE
