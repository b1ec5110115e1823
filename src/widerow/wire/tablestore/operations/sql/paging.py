"""Answers in pages: search_token of groups that a search index makes (sql §10).

A statement with GROUP BY and LIMIT gives its groups page by page, each of LIMIT groups: the same
text is sent again with the token of the page before. The token holds a digest of the text, and how
many groups were given.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from sqlglot import exp

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.plan import Aggregate, Operator, Scan
from widerow.wire.tablestore.operations.sql.documents import SearchScan
from widerow.wire.tablestore.operations.sql.listing import limits_of

__all__ = ["groups_by_index", "groups_given", "is_paged", "paged", "token_of"]

_DIGEST_BYTES: Final = 12
_POSITION_BYTES: Final = 8


def token_of(text: str, position: int) -> str:
    """The token with which a statement goes on behind so many groups."""
    made = _digest(text) + position.to_bytes(_POSITION_BYTES)
    return urlsafe_b64encode(made).decode()


def groups_given(text: str, token: str) -> int:
    """How many groups a statement has given already. Raises `InvalidRequest`."""
    try:
        given = urlsafe_b64decode(token.encode("ascii"))
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(TablestoreRule.SQL_TOKEN) from error
    if not compare_digest(given[:-_POSITION_BYTES], _digest(text)):
        raise InvalidRequest(TablestoreRule.SQL_TOKEN)
    return int.from_bytes(given[-_POSITION_BYTES:])


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()[:_DIGEST_BYTES]


def is_paged(tree: exp.Select) -> bool:
    """Whether a query has groups and a LIMIT, which is the size of its pages."""
    count, offset = limits_of(tree)
    return bool(tree.args.get("group") and count and not offset)


def groups_by_index(plan: Operator) -> bool:
    """Whether the groups of a plan are made of what a search index reads."""
    below = plan
    while not isinstance(below, Aggregate):
        found = getattr(below, "below", None)
        if found is None:
            return False
        below = found
    while not isinstance(below, Scan):
        found = getattr(below, "below", None)
        if found is None:
            return False
        below = found
    return isinstance(below.source, SearchScan)


def paged(tree: exp.Select, position: int) -> tuple[exp.Select, int]:
    """The query of the page behind so many groups, with one group more; and the page's size."""
    count, _ = limits_of(tree)
    assert count is not None
    changed = tree.copy()
    changed.set("limit", exp.Limit(expression=exp.Literal.number(count + 1)))
    changed.set("offset", exp.Offset(expression=exp.Literal.number(position)))
    return changed, count
