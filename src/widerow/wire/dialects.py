"""The dialects that are served: a new one is one more entry."""

from typing import Final

from widerow.wire.dialect import Dialect
from widerow.wire.nosql.dialect import NOSQL_DIALECT
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT

__all__ = ["DIALECTS"]

DIALECTS: Final[tuple[Dialect, ...]] = (TABLESTORE_DIALECT, NOSQL_DIALECT)
"""In the order in which they are asked whether a target is theirs."""
