"""Keys of series in messages (timeseries §2)."""

from widerow.errors import InvalidRequest
from widerow.limits import SERIES_TAGS_MAX
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, tags_of_pairs, tags_of_text
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["sent_series", "series_message"]


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
