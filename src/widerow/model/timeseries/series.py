"""The key of a series, and what is kept of a series beside its points (timeseries §1, §2, §6)."""

import json
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.model.timeseries.rules import TimeseriesRule

__all__ = [
    "MEASUREMENT_COLUMN",
    "SOURCE_COLUMN",
    "TAGS_COLUMN",
    "SeriesKey",
    "SeriesMeta",
    "Tags",
    "tags_of_pairs",
    "tags_of_text",
    "tags_text",
]

MEASUREMENT_COLUMN: Final = "_m_name"
SOURCE_COLUMN: Final = "_data_source"
TAGS_COLUMN: Final = "_tags"

_TEXT: Final = re.compile(r'\[(?:"[^"=]+=[^"=]+"(?:,"[^"=]+=[^"=]+")*)?\]')
_PAIR: Final = re.compile(r'"([^"=]+)=([^"=]+)"')

Tags = tuple[tuple[str, str], ...]
"""Names and values of tags or attributes, in the order of names, each name once."""


class SeriesKey(NamedTuple):
    """What names a series; equal for equal series. `source`: empty where there is none."""

    measurement: str
    source: str
    tags: Tags


class SeriesMeta(NamedTuple):
    """What QueryTimeseriesMeta tells of a series. `updated_us`: microseconds since 1970."""

    key: SeriesKey
    attributes: Tags
    updated_us: int


def tags_text(tags: Iterable[tuple[str, str]]) -> str:
    """Tags as one text, as keys and answers have them: `["name=value","name=value"]`."""
    return json.dumps([f"{n}={v}" for n, v in tags], ensure_ascii=False, separators=(",", ":"))


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
