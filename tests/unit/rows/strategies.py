"""What cells hold, for tests that draw it (semantics §1.2)."""

from hypothesis import strategies as st

from widerow.model.values import Value

__all__ = ["storable"]


def storable(length: int) -> st.SearchStrategy[Value]:
    """Values of all types that may be stored; texts and binaries of at most `length`."""
    return st.one_of(
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.text(max_size=length),
        st.binary(max_size=length),
    )
