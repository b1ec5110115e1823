"""Orders, highlights and inner hits: messages and values (search §4.4, §5.1, §5.6)."""

from collections.abc import Callable
from typing import Final

from widerow.model.search import query as q
from widerow.model.search.highlight import (
    FragmentOrder,
    Highlight,
    HighlightEncoder,
    HighlightParameter,
)
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text, texts
from widerow.wire.tablestore.operations.search.unfolding import (
    invalid_field,
    member,
    members,
    named,
    optional_variant,
)

__all__ = ["DecodeQuery", "decode_highlight", "decode_inner_hits", "decode_sort", "encode_sort"]

DecodeQuery = Callable[[m.Query], q.Query]
"""What reads the queries inside, within the bounds of the request."""

_ORDERS: Final = members(q.SortOrder)
_MODES: Final = members(q.SortMode)
_DISTANCES: Final = members(q.GeoDistanceType)
_FRAGMENT_ORDERS: Final = members(FragmentOrder)
_ENCODERS: Final = members(HighlightEncoder)
_KINDS: Final = ("field_sort", "geo_distance_sort", "score_sort", "pk_sort", "doc_sort")


def decode_sort(sent: m.Sort, query: DecodeQuery) -> q.SearchSort | None:
    """Sorters in their order; None where there are none, which is as good as no sort.

    Raises `InvalidRequest`, also for a sorter of no kind or of two.
    """
    if not sent.sorter:
        return None
    sorters = tuple([_sorter(each, query) for each in sent.sorter])
    return q.SearchSort(sorters, sent.disable_default_pk_sorter)


def _sorter(sent: m.Sorter, query: DecodeQuery) -> q.Sorter:
    kinds = [kind for kind in _KINDS if sent.HasField(kind)]
    if len(kinds) != 1:
        raise invalid_field(sent, "kind")
    if kinds == ["field_sort"]:
        return _field_sort(sent.field_sort, query)
    if kinds == ["geo_distance_sort"]:
        return _geo_distance_sort(sent.geo_distance_sort, query)
    if kinds == ["score_sort"]:
        return q.ScoreSort(member(sent.score_sort, "order", _ORDERS, q.SortOrder.DESC))
    if kinds == ["pk_sort"]:
        return q.PrimaryKeySort(_ascending(sent.pk_sort))
    return q.DocSort(_ascending(sent.doc_sort))


def _ascending(
    sent: m.FieldSort | m.GeoDistanceSort | m.PrimaryKeySort | m.DocSort,
) -> q.SortOrder:
    return member(sent, "order", _ORDERS, q.SortOrder.ASC)


def _mode(sent: m.FieldSort | m.GeoDistanceSort) -> q.SortMode | None:
    return member(sent, "mode", _MODES) if sent.HasField("mode") else None


def _filter(sent: m.FieldSort | m.GeoDistanceSort, query: DecodeQuery) -> q.NestedFilter | None:
    if not sent.HasField("nested_filter"):
        return None
    inner = sent.nested_filter
    matching = query(inner.filter) if inner.HasField("filter") else q.MATCH_ALL
    return q.NestedFilter(named(inner, "path"), matching)


def _field_sort(sent: m.FieldSort, query: DecodeQuery) -> q.FieldSort:
    return q.FieldSort(
        named(sent),
        _ascending(sent),
        _mode(sent),
        _filter(sent, query),
        optional_variant(sent, "missing_value"),
        text(sent.missing_field) or None,
    )


def _geo_distance_sort(sent: m.GeoDistanceSort, query: DecodeQuery) -> q.GeoDistanceSort:
    return q.GeoDistanceSort(
        named(sent),
        texts(sent.points),
        _ascending(sent),
        _mode(sent),
        member(sent, "distance_type", _DISTANCES, q.GeoDistanceType.ARC),
        _filter(sent, query),
    )


def encode_sort(sort: q.SearchSort) -> m.Sort:
    """The order of an index, which is made of fields and of the primary key (search §1.1)."""
    return m.Sort(
        sorter=[_encode_sorter(each) for each in sort.sorters],
        disable_default_pk_sorter=sort.disable_default_pk_sorter or None,
    )


def _encode_sorter(sorter: q.Sorter) -> m.Sorter:
    if isinstance(sorter, q.FieldSort):
        sent = m.FieldSort(field_name=sorter.field, order=sorter.order)
        if sorter.mode is not None:
            sent.mode = sorter.mode
        if sorter.missing_value is not None:
            sent.missing_value = encode_variant(sorter.missing_value)
        if sorter.missing_field is not None:
            sent.missing_field = sorter.missing_field
        return m.Sorter(field_sort=sent)
    return m.Sorter(pk_sort=m.PrimaryKeySort(order=sorter.order))


# --- highlights and inner hits ---------------------------------------------------------------


def decode_highlight(sent: m.Highlight) -> Highlight:
    """Which fields are to be highlighted, and how (search §5.6). Raises `InvalidRequest`."""
    return Highlight(
        tuple([_parameter(each) for each in sent.highlight_parameters]),
        member(sent, "highlight_encoder", _ENCODERS, HighlightEncoder.PLAIN),
    )


def _parameter(sent: m.HighlightParameter) -> HighlightParameter:
    default = HighlightParameter(named(sent))
    numbers = (sent.HasField("number_of_fragments"), sent.HasField("fragment_size"))
    return HighlightParameter(
        default.field,
        sent.number_of_fragments if numbers[0] else default.fragments,
        sent.fragment_size if numbers[1] else default.fragment_size,
        text(sent.pre_tag) if sent.HasField("pre_tag") else default.pre_tag,
        text(sent.post_tag) if sent.HasField("post_tag") else default.post_tag,
        member(sent, "fragments_order", _FRAGMENT_ORDERS, FragmentOrder.TEXT_SEQUENCE),
    )


def decode_inner_hits(sent: m.InnerHits, query: DecodeQuery) -> q.InnerHits:
    """Which documents below a row are answered with it (search §4.4). Raises `InvalidRequest`."""
    default = q.InnerHits()
    return q.InnerHits(
        decode_sort(sent.sort, query),
        sent.offset,
        sent.limit if sent.HasField("limit") else default.limit,
        decode_highlight(sent.highlight) if sent.HasField("highlight") else None,
    )
