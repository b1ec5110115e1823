"""The dialects that are served: a new one is one more entry."""

from collections.abc import Sequence
from typing import Final

from widerow.wire.dialect import Dialect
from widerow.wire.nosql.dialect import NOSQL_DIALECT, NOSQL_ONPREM_DIALECT
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT

__all__ = ["DIALECTS", "nosql_onprem"]

DIALECTS: Final[tuple[Dialect, ...]] = (TABLESTORE_DIALECT, NOSQL_DIALECT)
"""In the order in which they are asked whether a target is theirs."""


def nosql_onprem(dialects: Sequence[Dialect]) -> tuple[Dialect, ...]:
    """These dialects with that of a store of one's own in place of Oracle NoSQL's cloud."""
    return tuple(NOSQL_ONPREM_DIALECT if each is NOSQL_DIALECT else each for each in dialects)
