"""Keys and tags of series on the wire: messages, lists and the text of tags (wire §4.3)."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from widerow.errors import InvalidRequest
from widerow.limits import SERIES_TAGS_MAX
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, Tags
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["sent_series", "series_message", "tags_of_pairs", "tags_of_text"]

_TEXT: Final = re.compile(r'\[(?:"[^"=]+=[^"=]+"(?:,"[^"=]+=[^"=]+")*)?\]')
_PAIR: Final = re.compile(r'"([^"=]+)=([^"=]+)"')


def tags_of_pairs(pairs: Iterable[tuple[str, str]]) -> Tags:
    """Tags in the order of their names. Raises `InvalidRequest` where a name stands twice."""
    tags = tuple(sorted(pairs))
    for one, other in pairwise(tags):
        if one[0] == other[0]:
            raise InvalidRequest(TimeseriesRule.TAG_NAME, name=one[0])
    return tags


def tags_of_text(written: str) -> Tags:
    """The tags of their text, `["name=value","name=value"]`; an empty text has none.

    Raises `InvalidRequest`.
    """
    if not written:
        return ()
    if _TEXT.fullmatch(written) is None:
        raise InvalidRequest(TimeseriesRule.TAGS_TEXT, text=written[:100])
    return tags_of_pairs(_PAIR.findall(written))


def sent_series(sent: m.TimeseriesKey) -> SeriesKey:
    """The key that a message says: its list of tags, or where that is empty the text of them."""
    if len(sent.tag_list) > SERIES_TAGS_MAX:
        raise InvalidRequest(TimeseriesRule.TAGS_LENGTH)
    listed = [(text(tag.name), text(tag.value)) for tag in sent.tag_list]
    tags = tags_of_pairs(listed) if listed else tags_of_text(text(sent.tags))
    return SeriesKey(text(sent.measurement), text(sent.source), tags)


def series_message(key: SeriesKey) -> m.TimeseriesKey:
    """The message of a key, with the list of its tags, which every SDK reads."""
    tags = [m.TimeseriesTag(name=name, value=value) for name, value in key.tags]
    return m.TimeseriesKey(measurement=key.measurement, source=key.source, tag_list=tags)
