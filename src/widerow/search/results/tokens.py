"""The form of tokens: a version, content as msgpack, and a checksum (search §5.2).

A token is opaque to clients and outlives the server. The checksum finds accidental changes; a token
may be forged, so its content is checked.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from zlib import crc32

import msgpack

from widerow.errors import InvalidRequest
from widerow.limits import SEARCH_SORT_BYTES_MAX, SEARCH_TOKEN_BYTES_MAX, SEARCH_TOKEN_DEPTH_MAX
from widerow.model.search.query import SearchSort
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.results.columns import Held
from widerow.search.results.plain_values import plain_form, read_plain

__all__ = [
    "PageToken",
    "check_sort",
    "open_token",
    "read_page_token",
    "sealed_token",
    "write_page_token",
]

_VERSION: Final = b"\x01"
_CHECKSUM_BYTES: Final = 4


class PageToken(NamedTuple):
    """The end of a page: the order, and its last row's content in each sort column."""

    sort: SearchSort
    held: tuple[Held, ...]


def sealed_token(content: object) -> bytes:
    """Content as the bytes of a token."""
    data: bytes = _VERSION + msgpack.packb(content)
    return data + crc32(data).to_bytes(_CHECKSUM_BYTES, "big")


def open_token(token: bytes) -> object:
    """The content of a token. Raises `ValueError` for bytes that `sealed_token` did not make.

    Cost: linear in the bytes, whatever they claim.
    """
    data, checksum = token[:-_CHECKSUM_BYTES], token[-_CHECKSUM_BYTES:]
    if len(token) > SEARCH_TOKEN_BYTES_MAX or data[:1] != _VERSION:
        raise ValueError("no token")
    if crc32(data).to_bytes(_CHECKSUM_BYTES, "big") != checksum:
        raise ValueError("a damaged token")
    try:
        return msgpack.unpackb(data[1:], strict_map_key=True)
    except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
        raise ValueError("no content") from error


def check_sort(sort: SearchSort) -> None:
    """Raise `InvalidRequest` for an order that is too large for the token of a page."""
    size = len(msgpack.packb(plain_form(sort)))
    if size > SEARCH_SORT_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.SORT_SIZE, size=size, maximum=SEARCH_SORT_BYTES_MAX)


def write_page_token(sort: SearchSort, held: Sequence[Held]) -> bytes:
    """The token of a page; `sort` with all sorters that the rows were compared by."""
    return sealed_token([plain_form(sort), list(held)])


def _pair(content: object) -> tuple[object, object]:
    if not isinstance(content, list) or len(content) != 2:
        raise ValueError("another content")
    return content[0], content[1]


def read_page_token(token: bytes) -> PageToken:
    """The content of a page's token. Raises `InvalidRequest` for any other bytes."""
    try:
        held_sort, held_values = _pair(open_token(token))
        sort: SearchSort = read_plain(SearchSort, held_sort)
        held: tuple[Held, ...] = read_plain(
            tuple[Held, ...], held_values, SEARCH_TOKEN_DEPTH_MAX - 1
        )
    except (ValueError, TypeError) as error:
        raise InvalidRequest(TablestoreRule.SEARCH_TOKEN) from error
    if not held or len(sort.sorters) != len(held):
        raise InvalidRequest(TablestoreRule.SEARCH_TOKEN)
    return PageToken(sort, held)
