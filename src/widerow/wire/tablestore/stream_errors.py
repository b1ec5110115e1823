"""What clients are told about streams: a part of `error_table.py`.

Codes and texts of change §C1; those marked as not published are ours.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from widerow.errors import Rule

__all__ = ["STREAM_ERRORS"]

_INVALID: Final = ("OTSParameterInvalid", 400)
_MISSING: Final = ("OTSObjectNotExist", 404)

STREAM_ERRORS: Final[Mapping[Rule, tuple[str, int, str, str, bool]]] = MappingProxyType(
    {
        Rule.STREAM_ID: (
            *_INVALID,
            "Invalid stream id: {id}.",
            "a text that is no stream id, or one that is too long to be read from",
            False,
        ),
        Rule.STREAM_NOT_FOUND: (
            *_MISSING,
            "Requested stream does not exist.",
            "a stream that is not there any more",
            False,
        ),
        Rule.STREAM_LIMIT: (
            *_INVALID,
            "The limit must be greater than 0, but it is {value}.",
            "GetStreamRecord of no records",
            False,
        ),
        Rule.STREAM_TRIMMED: (
            "OTSTrimmedDataAccess",
            404,
            "Requested stream data is already trimmed or does not exist.",
            "an iterator that stands before the oldest record that is kept",
            True,
        ),
        Rule.SHARD_NOT_FOUND: (
            *_MISSING,
            "Requested shard does not exist.",
            "a shard that the stream does not have",
            False,
        ),
        Rule.SHARD_LIMIT: (
            *_INVALID,
            "The shard limit must be in range: [1, {limit}].",
            "DescribeStream of no shards",
            False,
        ),
        Rule.SHARD_ITERATOR: (
            *_INVALID,
            "Invalid shard iterator.",
            "a text that is no iterator",
            False,
        ),
    }
)
"""Code, status, text, when it comes, and whether the text is the service's own."""
