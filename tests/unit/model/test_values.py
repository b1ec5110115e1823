"""Types and sizes of values (semantics §1.3, §9)."""

import pytest

from widerow.model.values import ColumnType, Value, column_type, value_bytes


@pytest.mark.parametrize(
    ("value", "kind", "size"),
    [
        (0, ColumnType.INTEGER, 8),
        (2**63 - 1, ColumnType.INTEGER, 8),
        (0.0, ColumnType.DOUBLE, 8),
        (True, ColumnType.BOOLEAN, 1),
        (False, ColumnType.BOOLEAN, 1),
        ("", ColumnType.STRING, 0),
        ("杭州", ColumnType.STRING, 6),
        (b"", ColumnType.BINARY, 0),
        (b"\x00\xff", ColumnType.BINARY, 2),
    ],
)
def test_values_have_a_type_and_a_size(value: Value, kind: ColumnType, size: int) -> None:
    assert column_type(value) is kind
    assert value_bytes(value) == size


def test_type_numbers_are_those_of_the_wire() -> None:
    """They are written to disk (wire §2.1)."""
    assert {kind.name: kind.value for kind in ColumnType} == {
        "INTEGER": 0,
        "DOUBLE": 1,
        "BOOLEAN": 2,
        "STRING": 3,
        "BINARY": 7,
    }
