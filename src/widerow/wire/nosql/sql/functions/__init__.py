"""The functions of SQL that need nothing but their arguments, by their names."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from widerow.wire.nosql.sql.functions.kinds import SqlFunction
from widerow.wire.nosql.sql.functions.math import MATH_FUNCTIONS
from widerow.wire.nosql.sql.functions.other import OTHER_FUNCTIONS
from widerow.wire.nosql.sql.functions.sequence import SEQUENCE_FUNCTIONS
from widerow.wire.nosql.sql.functions.string import STRING_FUNCTIONS
from widerow.wire.nosql.sql.functions.time import TIME_FUNCTIONS

__all__ = ["FUNCTIONS"]

FUNCTIONS: Final[Mapping[str, SqlFunction]] = MappingProxyType(
    {
        **STRING_FUNCTIONS,
        **MATH_FUNCTIONS,
        **TIME_FUNCTIONS,
        **OTHER_FUNCTIONS,
        **SEQUENCE_FUNCTIONS,
    }
)
"""Names are compared exactly."""
