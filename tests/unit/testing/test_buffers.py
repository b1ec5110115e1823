"""Buffers made for tests are those that clients send: the vectors of wire §2.4."""

import pytest
from tests.support.buffers import cell, key_buffer, row_buffer, row_of_cells

from widerow.model.values import KeyMarker

TWO_KEYS = (("pk1", "iampk"), ("pk2", 100))
ONE_KEY = (("pk", 1),)


@pytest.mark.parametrize(
    ("columns", "vector"),
    [
        (
            TWO_KEYS,
            (
                "7500000001030403000000706b31050a000000030500000069616d706b0a98"
                "030403000000706b3205090000000064000000000000000a0509b9"
            ),
        ),
        (ONE_KEY, "7500000001030402000000706b05090000000001000000000000000a4c09a7"),
        ((("pk", ""),), "7500000001030402000000706b050500000003000000000ae809eb"),
        ((("pk", b"\x00\xff"),), "7500000001030402000000706b0507000000070200000000ff0a3f093a"),
        ((("pk", "杭州"),), "7500000001030402000000706b050b0000000306000000e69dade5b79e0a67099e"),
        (
            (("pk1", KeyMarker.INF_MIN), ("pk2", KeyMarker.INF_MIN)),
            "7500000001030403000000706b310501000000090ac8030403000000706b320501000000090af709a3",
        ),
        (
            (("pk1", KeyMarker.INF_MAX), ("pk2", KeyMarker.INF_MAX)),
            "7500000001030403000000706b3105010000000a0ac1030403000000706b3205010000000a0afe0924",
        ),
    ],
)
def test_keys(columns: tuple[tuple[str, str | int], ...], vector: str) -> None:
    assert key_buffer(columns).hex() == vector


def test_an_update_with_every_operation() -> None:
    cells = [
        cell("c1", "v1", version=1001),
        cell("c2", operation=3, version=1002),
        cell("c3", operation=1),
        cell("c4", 10, operation=4),
    ]
    assert row_buffer(TWO_KEYS, cells).hex() == (
        "7500000001030403000000706b31050a000000030500000069616d706b0a98030403000000706b3205090000"
        "000064000000000000000a0502030402000000633105070000000302000000763107e9030000000000000aba"
        "0304020000006332060307ea030000000000000a50030402000000633306010ab90304020000006334050900"
        "0000000a0000000000000006040a1e098f"
    )


def test_a_delete() -> None:
    assert row_buffer(ONE_KEY, marker=True).hex() == (
        "7500000001030402000000706b05090000000001000000000000000a4c0809a0"
    )


def test_an_encoded_value_stands_as_it_is() -> None:
    assert row_of_cells([cell("pk", variant=b"\x00\x01" + bytes(7))]) == key_buffer(ONE_KEY)
