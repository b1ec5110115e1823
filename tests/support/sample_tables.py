"""Small tables with rows of numbers and texts, to compare answers with those of other engines."""

from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.statements import statement_engine

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType

__all__ = ["SAMPLE_TABLES", "sample_engine"]

_NUMBERS: Final = st.integers(-3, 3)
_WORDS: Final = st.sampled_from(["", "a", "ab", "b", "Ba", "é", "1", "2x"])
_CELLS: Final = st.fixed_dictionaries(
    {},
    optional={
        "n": _NUMBERS,
        "m": _NUMBERS,
        "s": _WORDS,
        "d": st.sampled_from([-1.5, 0.0, 2.25]),
    },
)
SAMPLE_TABLES: Final = st.dictionaries(
    st.tuples(_NUMBERS, st.sampled_from("pqr")), _CELLS, max_size=8
)
"""Rows by the values of their key: cells of columns of which some are missing."""
_KINDS: Final = {
    "n": ColumnType.INTEGER,
    "m": ColumnType.INTEGER,
    "s": ColumnType.STRING,
    "d": ColumnType.DOUBLE,
}


def sample_engine(table: dict[tuple[int, str], dict[str, Any]]) -> TablestoreEngine:
    """An engine with a table `t` of these rows."""
    engine = statement_engine()
    key = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
    defined = tuple(DefinedColumn(name, kind) for name, kind in _KINDS.items())
    engine.core.run(engine.create_table("i", replace(create("t", key), defined_columns=defined)))
    for (a, b), cells in table.items():
        engine.core.run(engine.rows.write_row("i", put("t", {"a": a, "b": b}, cells)))
    return engine
