"""The key of a series, and what is kept of a series beside its points (timeseries §1, §2, §6)."""

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

__all__ = [
    "MEASUREMENT_COLUMN",
    "SOURCE_COLUMN",
    "TAGS_COLUMN",
    "SeriesKey",
    "SeriesMeta",
    "Tags",
    "tags_text",
]

MEASUREMENT_COLUMN: Final = "_m_name"
SOURCE_COLUMN: Final = "_data_source"
TAGS_COLUMN: Final = "_tags"

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
