"""Schemas of search indexes: as SDKs send them, and as they are described (search §1.1, §1.2)."""

from typing import Any

import pytest
import tablestore as sdk
from tablestore.decoder import OTSProtoBufferDecoder
from tests.unit.wire.tablestore.operations.search.sent import by_sdk

from widerow.errors import AnyRule, InvalidRequest, Unsupported
from widerow.model.search.query import FieldSort, PrimaryKeySort, SearchSort, SortOrder
from widerow.model.search.requests import (
    CreateSearchIndex,
    DescribeSearchIndex,
    SearchIndexName,
    SearchIndexState,
    SyncPhase,
    UpdateSearchIndex,
)
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
from widerow.model.tablestore.rules import TablestoreRule
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.table import OPERATIONS

create_search_index = OPERATIONS["CreateSearchIndex"]
delete_search_index = OPERATIONS["DeleteSearchIndex"]
describe_search_index = OPERATIONS["DescribeSearchIndex"]
list_search_index = OPERATIONS["ListSearchIndex"]
update_search_index = OPERATIONS["UpdateSearchIndex"]

FUZZY = sdk.FuzzyAnalyzerParameter(1, 4)
FIELDS = [
    sdk.FieldSchema("k", sdk.FieldType.KEYWORD, index=True, enable_sort_and_agg=True, store=True),
    sdk.FieldSchema("ka", sdk.FieldType.KEYWORD, index=True, is_array=True),
    sdk.FieldSchema(
        "t",
        sdk.FieldType.TEXT,
        index=True,
        analyzer=sdk.AnalyzerType.SINGLEWORD,
        analyzer_parameter=sdk.SingleWordAnalyzerParameter(case_sensitive=True, delimit_word=True),
        enable_highlighting=True,
    ),
    sdk.FieldSchema("plain", sdk.FieldType.TEXT, index=False),
    sdk.FieldSchema("m", sdk.FieldType.TEXT, analyzer=sdk.AnalyzerType.MAXWORD),
    sdk.FieldSchema(
        "s",
        sdk.FieldType.TEXT,
        analyzer=sdk.AnalyzerType.SPLIT,
        analyzer_parameter=sdk.SplitAnalyzerParameter(","),
    ),
    sdk.FieldSchema(
        "f", sdk.FieldType.TEXT, analyzer=sdk.AnalyzerType.FUZZY, analyzer_parameter=FUZZY
    ),
    sdk.FieldSchema("d", sdk.FieldType.DATE, date_formats=["yyyy-MM-dd", "epoch_millis"]),
    sdk.FieldSchema(
        "v",
        sdk.FieldType.VECTOR,
        vector_options=sdk.VectorOptions(
            sdk.VectorDataType.VD_FLOAT_32, sdk.VectorMetricType.VM_COSINE, 4
        ),
    ),
    sdk.FieldSchema(
        "x",
        sdk.FieldType.LONG,
        is_virtual_field=True,
        source_fields=["k"],
        enable_sort_and_agg=False,
    ),
    sdk.FieldSchema(
        "n",
        sdk.FieldType.NESTED,
        sub_field_schemas=[sdk.FieldSchema("nl", sdk.FieldType.LONG, index=True)],
    ),
]


def _created(meta: sdk.SearchIndexMeta) -> CreateSearchIndex:
    body = by_sdk("CreateSearchIndex", "t", "i", meta)
    read: CreateSearchIndex = create_search_index.decode(body)
    return read


def described(schema: SearchSchema) -> m.IndexSchema:
    """The schema as DescribeSearchIndex answers it."""
    index = SearchIndex("i", 1, schema, 0)
    state = SearchIndexState(
        index, SyncPhase.INCR, 0, 0, 0, "", include_sync_stat=True, asked_at_us=0
    )
    return m.DescribeSearchIndexResponse.FromString(describe_search_index.encode(state)).schema


def test_fields_of_the_sdk() -> None:
    # search §1.1: what was not said stays unsaid
    read = _created(sdk.SearchIndexMeta(FIELDS, sdk.IndexSetting(["PK1"]), time_to_live=7)).schema
    kind = SearchFieldType
    assert read.routing == ("PK1",)
    assert [(field.name, field.type) for field in read.fields] == [
        *(("k", kind.KEYWORD), ("ka", kind.KEYWORD), ("t", kind.TEXT), ("plain", kind.TEXT)),
        *(("m", kind.TEXT), ("s", kind.TEXT), ("f", kind.TEXT), ("d", kind.DATE)),
        *(("v", kind.VECTOR), ("x", kind.LONG), ("n", kind.NESTED)),
    ]
    by_name = {field.name: field for field in read.fields}
    assert by_name["k"] == SearchField("k", kind.KEYWORD, index=True, sort_and_agg=True, store=True)
    assert by_name["ka"].is_array
    text = by_name["t"].analyzer
    assert text is not None
    assert (text.name, text.case_sensitive, text.delimit_word) == (
        AnalyzerName.SINGLE_WORD,
        True,
        True,
    )
    assert by_name["m"].analyzer == TextAnalyzer(AnalyzerName.MAX_WORD)
    assert by_name["plain"].analyzer is None
    split, fuzzy = by_name["s"].analyzer, by_name["f"].analyzer
    assert split is not None
    assert split.delimiter == ","
    assert fuzzy is not None
    assert (fuzzy.min_chars, fuzzy.max_chars) == (1, 4)
    assert by_name["d"].date_formats == ("yyyy-MM-dd", "epoch_millis")
    assert by_name["v"].vector == VectorOptions(4, VectorMetric.COSINE)
    assert (by_name["x"].source, by_name["x"].sort_and_agg) == ("k", False)
    assert by_name["n"].fields == (SearchField("nl", kind.LONG, index=True),)


def test_what_the_sdk_sent_comes_back_to_it() -> None:
    # search §1.2: P asserts the round trip
    meta = sdk.SearchIndexMeta(FIELDS, sdk.IndexSetting(["PK1"]))
    body = by_sdk("CreateSearchIndex", "t", "i", meta)
    sent = m.CreateSearchIndexRequest.FromString(body).schema
    answer = described(create_search_index.decode(body).schema)
    for asked, told in zip(sent.field_schemas, answer.field_schemas, strict=True):
        asked.index = asked.index or not asked.HasField("index")
        if asked.field_type == SearchFieldType.TEXT and not asked.HasField("analyzer"):
            asked.analyzer = "single_word"
        for name in ("is_virtual_field", "is_array"):
            if not getattr(asked, name):
                asked.ClearField(name)
        for below in asked.field_schemas:
            below.ClearField("is_virtual_field")
        assert told == asked


def test_numbers_that_only_some_sdks_send() -> None:
    # search §2: types of J, json_type of P and J, index_options of N, G and J
    json = m.FieldSchema(
        field_name="j",
        field_type=12,
        json_type=2,
        field_schemas=[m.FieldSchema(field_name="ip", field_type=11, index_options=4)],
    )
    text = m.FieldSchema(field_name="t", field_type=5, text_similarity=2)
    schema = m.IndexSchema(field_schemas=[json, text])
    read = create_search_index.decode(
        m.CreateSearchIndexRequest(
            table_name="t", index_name="i", schema=schema
        ).SerializeToString()
    ).schema
    assert read.fields == (
        SearchField(
            "j",
            SearchFieldType.JSON,
            json=JsonKind.NESTED,
            fields=(SearchField("ip", SearchFieldType.IP, options=IndexOptions.OFFSETS),),
        ),
        SearchField("t", SearchFieldType.TEXT, similarity=TextSimilarity.SHORT_TEXT),
    )


def test_names_are_described_as_they_were_sent() -> None:
    # search §1.1: N declares a name with a blank behind it
    fields = (SearchField("n ", SearchFieldType.LONG),)
    assert described(SearchSchema(fields)).field_schemas[0].field_name == "n "


@pytest.mark.parametrize(
    ("fields", "sort", "sorters"),
    [
        ((SearchField("l", SearchFieldType.LONG),), None, ["pk_sort"]),
        (
            (
                SearchField(
                    "n",
                    SearchFieldType.NESTED,
                    fields=(SearchField("l", SearchFieldType.LONG),),
                ),
            ),
            None,
            [],
        ),
        (
            (SearchField("l", SearchFieldType.LONG),),
            SearchSort((FieldSort("l", SortOrder.DESC), PrimaryKeySort())),
            ["field_sort", "pk_sort"],
        ),
    ],
)
def test_orders_are_described(
    fields: tuple[SearchField, ...], sort: SearchSort | None, sorters: list[str]
) -> None:
    # search §1.2: P expects the primary key where it gave none, and nothing beside nested fields
    answer = described(SearchSchema(fields, sort))
    assert [each.ListFields()[0][0].name for each in answer.index_sort.sorter] == sorters
    assert answer.HasField("index_setting")
    assert answer.index_setting.number_of_shards == 1


def test_flags_and_orders_are_described_as_they_were_sent() -> None:
    # search §1.2: is_array is echoed, which G and J tell from one that was not sent
    sent = m.IndexSchema(
        field_schemas=[
            m.FieldSchema(field_name="a", field_type=1, is_array=False),
            m.FieldSchema(field_name="b", field_type=1, is_array=True),
            m.FieldSchema(field_name="c", field_type=1),
        ],
        index_sort=m.Sort(
            sorter=[
                m.Sorter(
                    field_sort=m.FieldSort(
                        field_name="a",
                        order=1,
                        missing_value=encode_variant("_first"),
                        missing_field="c",
                    )
                )
            ],
            disable_default_pk_sorter=True,
        ),
    )
    request = m.CreateSearchIndexRequest(table_name="t", index_name="i", schema=sent)
    answer = described(create_search_index.decode(request.SerializeToString()).schema)
    assert [each.HasField("is_array") for each in answer.field_schemas] == [True, True, False]
    assert [each.is_array for each in answer.field_schemas] == [False, True, False]
    assert answer.index_sort == sent.index_sort


def test_a_description_is_what_each_sdk_reads() -> None:
    # search §1.2
    schema = SearchSchema((SearchField("t", SearchFieldType.TEXT),))
    weights = (QueryFlowWeight("i", 0), QueryFlowWeight("i_reindex", 100))
    index = SearchIndex("i", 3, schema, 5_000_000, time_to_live=9, weights=weights)
    state = SearchIndexState(
        index,
        SyncPhase.FULL,
        7,
        10,
        2000,
        "i_reindex",
        include_sync_stat=True,
        asked_at_us=9_000_000,
    )
    data = describe_search_index.encode(state)
    sent = m.DescribeSearchIndexResponse.FromString(data)
    assert sent.schema.field_schemas[0].analyzer == "single_word"
    assert sent.schema.field_schemas[0].HasField("index")
    assert (sent.create_time, sent.time_to_live, sent.brother_index_name) == (5000, 9, "i_reindex")
    assert sent.index_status.status == 1
    assert (sent.metering_info.row_count, sent.metering_info.storage_size) == (10, 2000)
    assert sent.metering_info.HasField("reserved_read_cu")
    assert sent.metering_info.timestamp == 9
    assert [(w.index_name, w.weight) for w in sent.query_flow_weight] == [
        ("i", 0),
        ("i_reindex", 100),
    ]
    decoder = OTSProtoBufferDecoder("utf-8", enable_native=False)
    (_meta, sync), _next = decoder.decode_response("DescribeSearchIndex", data, "r")
    assert (sync.sync_phase, sync.current_sync_timestamp) == (sdk.SyncPhase.FULL, 7)


def test_the_state_is_left_out_where_it_is_not_wanted() -> None:
    # search §1.2
    assert describe_search_index.decode(b"") == DescribeSearchIndex("", "")
    request = m.DescribeSearchIndexRequest(table_name="t", index_name="i", include_sync_stat=False)
    asked = describe_search_index.decode(request.SerializeToString())
    assert asked == DescribeSearchIndex("t", "i", include_sync_stat=False)
    index = SearchIndex("i", 1, SearchSchema(()), 0)
    state = SearchIndexState(
        index, SyncPhase.INCR, 0, 0, 0, "", include_sync_stat=False, asked_at_us=0
    )
    sent = m.DescribeSearchIndexResponse.FromString(describe_search_index.encode(state))
    assert not sent.HasField("sync_stat")
    assert sent.index_status.status == 3


def test_changes_of_an_index() -> None:
    # search §1.4
    request = m.UpdateSearchIndexRequest(
        table_name="t",
        index_name="i",
        switch_index_name="i_reindex",
        query_flow_weight=[m.QueryFlowWeight(index_name="i", weight=0)],
        time_to_live=-1,
        added_field_schemas=[m.FieldSchema(field_name="k", field_type=4)],
    )
    assert update_search_index.decode(request.SerializeToString()) == UpdateSearchIndex(
        "t",
        "i",
        "i_reindex",
        (QueryFlowWeight("i", 0),),
        -1,
        (SearchField("k", SearchFieldType.KEYWORD),),
    )
    plain = m.UpdateSearchIndexRequest(table_name="t", index_name="i").SerializeToString()
    assert update_search_index.decode(plain) == UpdateSearchIndex("t", "i")


def test_names_of_indexes() -> None:
    # search §1.2, §1.5
    assert list_search_index.decode(b"") is None
    assert list_search_index.decode(by_sdk("ListSearchIndex", "t")) == "t"
    names = (SearchIndexName("t", "a"), SearchIndexName("t", "b"))
    sent = m.ListSearchIndexResponse.FromString(list_search_index.encode(names))
    assert [(each.table_name, each.index_name) for each in sent.indices] == [("t", "a"), ("t", "b")]
    deleted = delete_search_index.decode(by_sdk("DeleteSearchIndex", "t", "a"))
    assert deleted == SearchIndexName("t", "a")


# --- what no schema can say ------------------------------------------------------------------

LONG: dict[str, Any] = {"field_name": "f", "field_type": 1}
TEXT: dict[str, Any] = {"field_name": "f", "field_type": 5}


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        (m.FieldSchema(field_name="f"), TablestoreRule.SEARCH_FIELD_TYPE),
        (m.FieldSchema(field_name="f", field_type=14), TablestoreRule.SEARCH_FIELD_TYPE),
        (m.FieldSchema(**LONG, json_type=3), TablestoreRule.SEARCH_FIELD_TYPE),
        (m.FieldSchema(**TEXT, text_similarity=0), TablestoreRule.SEARCH_FIELD_TYPE),
        (m.FieldSchema(**TEXT, index_options=9), TablestoreRule.SEARCH_FIELD_TYPE),
        (m.FieldSchema(**TEXT, analyzer="words"), TablestoreRule.SEARCH_ANALYZER_NAME),
        (
            m.FieldSchema(**TEXT, analyzer="split", analyzer_parameter=b"\xff"),
            TablestoreRule.SEARCH_ANALYZER_PARAMETER,
        ),
        (
            m.FieldSchema(**TEXT, analyzer="max_word", analyzer_parameter=b"\x08\x01"),
            TablestoreRule.SEARCH_ANALYZER_PARAMETER,
        ),
        (m.FieldSchema(**LONG, is_virtual_field=True), TablestoreRule.SEARCH_VIRTUAL_SOURCE),
        (
            m.FieldSchema(**LONG, is_virtual_field=True, source_field_names=["a", "b"]),
            TablestoreRule.SEARCH_VIRTUAL_SOURCE,
        ),
        (m.FieldSchema(**LONG, source_field_names=["a"]), TablestoreRule.SEARCH_VIRTUAL_SOURCE),
        (
            m.FieldSchema(
                field_name="v", field_type=9, vector_options=m.VectorOptions(dimension=4)
            ),
            TablestoreRule.SEARCH_VECTOR_OPTIONS,
        ),
        (
            m.FieldSchema(
                field_name="v",
                field_type=9,
                vector_options=m.VectorOptions(data_type=2, dimension=4, metric_type=3),
            ),
            TablestoreRule.SEARCH_VECTOR_OPTIONS,
        ),
    ],
)
def test_fields_that_cannot_be(field: m.FieldSchema, rule: AnyRule) -> None:
    # search §1.1
    request = m.CreateSearchIndexRequest(
        table_name="t", index_name="i", schema=m.IndexSchema(field_schemas=[field])
    )
    with pytest.raises(InvalidRequest) as caught:
        create_search_index.decode(request.SerializeToString())
    assert caught.value.rule is rule


def test_versions_of_columns_are_not_offered() -> None:
    setting = m.IndexSetting(enable_custom_column_version=True)
    request = m.CreateSearchIndexRequest(
        table_name="t", index_name="i", schema=m.IndexSchema(index_setting=setting)
    )
    with pytest.raises(Unsupported):
        create_search_index.decode(request.SerializeToString())


def test_names_that_the_message_requires() -> None:
    with pytest.raises(InvalidRequest) as caught:
        create_search_index.decode(
            m.CreateSearchIndexRequest(table_name="t").SerializePartialToString()
        )
    assert caught.value.rule is TablestoreRule.BODY_UNREADABLE
