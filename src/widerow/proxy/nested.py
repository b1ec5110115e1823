"""Messages that stand as bytes in other messages, opened: those of searches (search §4, §6).

A search sends its query, and each group-by its body, as bytes; the answer has what aggregations and
group-bys came to as bytes in bytes. Which message they are stands beside them, in `type`.
"""

from functools import cache
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

__all__ = ["AGGREGATIONS", "GROUP_BYS", "NESTED_DEPTH_MAX", "nested_message", "result_kind"]

NESTED_DEPTH_MAX: Final = 64
"""Messages in messages; what lies deeper stays bytes. Below the 100 of one message's own bound."""

AGGREGATIONS: Final = dict(
    enumerate(("Avg", "Max", "Min", "Sum", "Count", "DistinctCount", "TopRows", "Percentiles"), 1)
)
GROUP_BYS: Final = dict(
    enumerate(
        (
            *("Field", "Range", "Filter", "GeoDistance"),
            *("Histogram", "DateHistogram", "GeoGrid", "Composite"),
        ),
        1,
    )
)
"""From the numbers of the wire to what the names of messages have of them."""

_ALWAYS: Final = {
    ("SearchRequest", "search_query"): "SearchQuery",
    ("SearchResponse", "aggs"): "AggregationsResult",
    ("SearchResponse", "group_bys"): "GroupBysResult",
}
_BY_TYPE: Final = {
    ("AggregationResult", "agg_result"): (AGGREGATIONS, "{}AggregationResult"),
    ("GroupByResult", "group_by_result"): (GROUP_BYS, "GroupBy{}Result"),
    ("Aggregation", "body"): (AGGREGATIONS, "{}Aggregation"),
    ("GroupBy", "body"): (GROUP_BYS, "GroupBy{}"),
}


def result_kind(message: Any) -> str:  # noqa: ANN401  # messages have no common type
    """What a result of an aggregation or a group-by is of, such as `Avg`; its number if unknown."""
    kinds = AGGREGATIONS if message.DESCRIPTOR.name == "AggregationResult" else GROUP_BYS
    return kinds.get(message.type, str(message.type))


def nested_message(message: Any, field: str, value: bytes) -> Message | None:  # noqa: ANN401  # messages have no common type
    """The message that a field of bytes holds; None where it holds none that is known here."""
    place = (message.DESCRIPTOR.name, field)
    name = _ALWAYS.get(place)
    if name is None and place in _BY_TYPE:
        kinds, pattern = _BY_TYPE[place]
        name = pattern.format(kinds.get(message.type, ""))
    kind = None if name is None else _search_types().get(name)
    if kind is None:
        return None
    try:
        found = kind.FromString(value)
    except DecodeError:
        return None
    return found if found.IsInitialized() else None


@cache
def _search_types() -> dict[str, type[Message]]:
    from widerow.wire.tablestore import search_messages  # noqa: PLC0415  # few search

    return {name: each for name, each in vars(search_messages).items() if isinstance(each, type)}
