"""Requests that are made to hurt: refused at the bounds, before there is work (search §4).

A query is bytes in bytes, so that a body of 5 MB could hold millions of them, or thousands of
levels.
"""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.wire.tablestore.operations.search.sent import by_hand, wrapped

from widerow.errors import AnyRule, InvalidRequest, WiderowError
from widerow.limits import (
    SEARCH_REQUEST_FIELDS_MAX,
    SEARCH_TREE_DEPTH_MAX,
    SEARCH_TREE_NODES_MAX,
)
from widerow.model.search import query as q
from widerow.model.tablestore.rules import TablestoreRule
from widerow.rows.fields import field
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.search.actions import SEARCH_ACTIONS
from widerow.wire.tablestore.operations.table import OPERATIONS

create_search_index = OPERATIONS["CreateSearchIndex"]
parallel_scan = OPERATIONS["ParallelScan"]
search = OPERATIONS["Search"]
update_search_index = OPERATIONS["UpdateSearchIndex"]

BODY = 5 * 1024 * 1024
TERM = wrapped(16, m.ExistsQuery(field_name="k"))


def refusal(body: bytes) -> AnyRule:
    with pytest.raises(InvalidRequest) as caught:
        search.decode(body)
    assert isinstance(caught.value.rule, AnyRule)
    return caught.value.rule


def nested_bools(levels: int) -> m.Query:
    query = TERM
    for _ in range(levels - 1):
        query = wrapped(6, m.BoolQuery(must_queries=[query]))
    return query


def test_trees_as_deep_as_allowed() -> None:
    query = search.decode(by_hand(nested_bools(SEARCH_TREE_DEPTH_MAX))).query
    for _ in range(SEARCH_TREE_DEPTH_MAX - 1):
        assert isinstance(query, q.BoolQuery)
        query = query.must[0]
    assert query == q.ExistsQuery("k")


def test_deeper_trees_are_refused() -> None:
    assert (
        refusal(by_hand(nested_bools(SEARCH_TREE_DEPTH_MAX + 1)))
        is TablestoreRule.SEARCH_TREE_DEPTH
    )


def test_as_many_queries_as_allowed_and_one_more() -> None:
    # search §4: 1024 nodes in one request
    leaves = [TERM] * (SEARCH_TREE_NODES_MAX - 1)
    query = search.decode(by_hand(wrapped(6, m.BoolQuery(should_queries=leaves)))).query
    assert isinstance(query, q.BoolQuery)
    assert len(query.should) == SEARCH_TREE_NODES_MAX - 1
    crowd = wrapped(6, m.BoolQuery(should_queries=[*leaves, TERM]))
    assert refusal(by_hand(crowd)) is TablestoreRule.SEARCH_TREE_SIZE


def test_nodes_are_counted_over_the_whole_request() -> None:
    half = wrapped(6, m.BoolQuery(should_queries=[TERM] * (SEARCH_TREE_NODES_MAX // 2)))
    body = by_hand(half, filter=m.SearchFilter(query=half))
    assert refusal(body) is TablestoreRule.SEARCH_TREE_SIZE


@pytest.mark.parametrize(
    "body",
    [
        # empty queries of a bool, aggregations, sorters, and columns to get
        field(b"\x22", field(b"\x22", b"\x08\x06", field(b"\x12", b"\x0a\x00" * (BODY // 2)))),
        field(b"\x22", field(b"\x52", b"\x0a\x00" * (BODY // 2))),
        field(b"\x22", field(b"\x32", b"\x0a\x00" * (BODY // 2))),
        field(b"\x1a", b"\x12\x00" * (BODY // 2)),
    ],
)
def test_millions_of_messages_are_not_made(body: bytes) -> None:
    tracemalloc.start()
    try:
        assert refusal(body) is TablestoreRule.SEARCH_TREE_SIZE
        assert tracemalloc.get_traced_memory()[1] < 4 * BODY
    finally:
        tracemalloc.stop()


def test_millions_of_fields_of_a_schema_are_not_made() -> None:
    schema = field(b"\x1a", b"\x0a\x00" * (BODY // 2))
    body = field(b"\x0a", b"t") + field(b"\x12", b"i") + schema
    for action in (create_search_index, update_search_index):
        sent = body if action is create_search_index else b"\x32\x00" * (BODY // 2)
        with pytest.raises(InvalidRequest) as caught:
            action.decode(sent)
        assert caught.value.rule is TablestoreRule.SEARCH_TREE_SIZE


def test_fields_that_nobody_knows_count_too() -> None:
    unknown = b"\xf8\x07\x01" * (SEARCH_REQUEST_FIELDS_MAX + 1)
    assert refusal(unknown) is TablestoreRule.SEARCH_TREE_SIZE
    assert search.decode(b"\xf8\x07\x01" * 100).table == ""


def test_bytes_that_are_copied_at_each_level_are_bounded() -> None:
    # 20 levels of 4 MB would be copied 20 times
    query = wrapped(5, m.PrefixQuery(field_name="k", prefix="x" * 4_000_000))
    for _ in range(20):
        query = wrapped(7, m.ConstScoreQuery(filter=query))
    assert refusal(by_hand(query)) is TablestoreRule.SEARCH_TREE_SIZE


def test_a_vector_as_long_as_any_is_no_crowd() -> None:
    # search §8: 4096 numbers, one field each from encoders that do not pack
    numbers = b"\x25\x00\x00\x80\x3f" * 4096
    query = search.decode(by_hand(wrapped(17, b"\x0a\x01v" + numbers))).query
    assert isinstance(query, q.KnnVectorQuery)
    assert len(query.vector) == 4096


def test_group_bys_within_each_other_are_a_tree_too() -> None:
    body = b""
    for _ in range(SEARCH_TREE_DEPTH_MAX + 1):
        group = m.GroupByField(
            field_name="k", sub_group_bys=m.GroupBys(group_bys=[m.GroupBy(type=1, body=body)])
        )
        body = group.SerializeToString()
    sent = m.GroupBys(group_bys=[m.GroupBy(name="g", type=1, body=body)])
    assert refusal(by_hand(group_bys=sent)) is TablestoreRule.SEARCH_TREE_DEPTH


def test_the_parser_s_own_bound_holds_for_fields_below_fields() -> None:
    below = b""
    for _ in range(200):
        below = field(b"\x42", b"\x10\x06", below)
    sent = field(b"\x0a", b"t") + field(b"\x12", b"i") + field(b"\x1a", field(b"\x0a", below))
    with pytest.raises(InvalidRequest) as caught:
        create_search_index.decode(sent)
    assert caught.value.rule is TablestoreRule.BODY_UNREADABLE


# --- any bytes -------------------------------------------------------------------------------

REAL = by_hand(
    nested_bools(5),
    sort=m.Sort(sorter=[m.Sorter(field_sort=m.FieldSort(field_name="k", order=1))]),
    aggs=m.Aggregations(
        aggs=[
            m.Aggregation(
                name="a", type=1, body=m.AvgAggregation(field_name="k").SerializeToString()
            )
        ]
    ),
)


@pytest.mark.parametrize("action", sorted(SEARCH_ACTIONS))
@given(body=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(action: str, body: bytes) -> None:
    try:
        SEARCH_ACTIONS[action].decode(body)
    except WiderowError:
        return


@given(st.data())
def test_real_requests_with_damage_are_read_or_refused(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(REAL) - 1))
    changed = bytearray(REAL)
    changed[place] = data.draw(st.integers(0, 255))
    body = bytes(changed[: data.draw(st.integers(place + 1, len(REAL)))])
    for decode in (search.decode, parallel_scan.decode):
        try:
            decode(body)
        except WiderowError:
            continue
