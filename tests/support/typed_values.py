"""Types of columns, and values that they take, for properties that hold of all of them."""

from typing import Any, Final

from hypothesis import strategies as st

from widerow.model.typed.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    NUMBER,
    STRING,
    UUID,
    Field,
    FieldType,
    array_of,
    enum_of,
    map_of,
    record_of,
    timestamp,
)

__all__ = ["kinds", "scalars", "values_of"]

scalars = st.sampled_from(
    [
        *(INTEGER, LONG, FLOAT, DOUBLE, NUMBER, STRING, UUID, BOOLEAN, BINARY),
        *(timestamp(9), enum_of(["x", "y"])),
    ]
)
kinds = st.recursive(
    scalars,
    lambda inner: (
        st.builds(array_of, inner)
        | st.builds(map_of, inner)
        | st.builds(lambda a, b: record_of(Field("a", a), Field("b", b)), inner, inner)
    ),
    max_leaves=4,
)
LEAVES: Final[dict[str, st.SearchStrategy[Any]]] = {
    "INTEGER": st.integers(-(2**31), 2**31 - 1),
    "FLOAT": st.floats(allow_nan=False, width=32),
    "BOOLEAN": st.booleans(),
    "LONG": st.integers(-(2**63), 2**63 - 1),
    "DOUBLE": st.floats(allow_nan=False),
    "NUMBER": st.decimals(allow_nan=False, allow_infinity=False),
    "STRING": st.text(max_size=4),
    "BINARY": st.binary(max_size=4),
    "TIMESTAMP": st.datetimes(),
    "ENUM": st.sampled_from("xy"),
}


def values_of(kind: FieldType) -> st.SearchStrategy[Any]:
    """Python values that a type takes."""
    if kind.uuid:
        return st.uuids().map(str)
    if kind.element is not None:
        inner = values_of(kind.element)
        if kind.kind.value == "ARRAY":
            return st.lists(inner, max_size=3)
        return st.dictionaries(st.text(max_size=2), inner, max_size=3)
    if kind.fields:
        return st.fixed_dictionaries(
            {field.name: st.none() | values_of(field.type) for field in kind.fields}
        )
    return LEAVES[kind.kind.value]
