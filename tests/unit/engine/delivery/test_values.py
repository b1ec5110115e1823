"""What is delivered of a row, of records of a tunnel and of the vectors (change §D3)."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.tablestore.delivery.values import delivered_row, read_delivered
from widerow.errors import StoreDamaged
from widerow.model.tablestore.delivery import (
    DeliveryColumn,
    DeliveryConfig,
    EventColumn,
    EventTimeFormat,
    ParquetType,
)
from widerow.model.values import KeyValue, Value
from widerow.rows.cells import PLAIN_HEADER, cell_body, encode_key_section, seal
from widerow.rows.checksum import crc8, crc8_byte

PUT, UPDATE, DELETE = 1, 2, 3
FALLBACK_US = 1_600_000_000_000_000
VECTORS = {  # change §C1.7
    PUT: (
        "7500000001030402000000706b05090000000001000000000000000a4c02030401000000630506000000030100"
        "000076070098f73e5d0100000a980b180000000c130000000d000000000e00401e18240a06000f020000000935"
    ),
    UPDATE: (
        "7500000001030402000000706b05090000000001000000000000000a4c020304010000006106010ae703040100"
        "0000620603070098f73e5d0100000a06030401000000630506000000030100000076070198f73e5d0100000a8b"
        "0b180000000c130000000d000000000e00401e18240a06000f030000000904"
    ),
    DELETE: (
        "7500000001030402000000706b05090000000001000000000000000a4c0b180000000c130000000d000000000e"
        "00401e18240a06000f0400000009a7"
    ),
}


def record(key: dict[str, KeyValue], cells: list[tuple[str, Value, int]]) -> bytes:
    """A row as it is, as a tunnel hands it out."""
    section, crc = encode_key_section(list(key.items()))
    wires = [seal(*cell_body(name, value), version) for name, value, version in cells]
    if wires:
        crc = crc8(bytes(wire[-1] for wire in wires), crc)
        section += b"\x02"
    end = bytes((9, crc8_byte(0, crc)))
    return b"".join((PLAIN_HEADER, section, *wires, end))


def config(
    *columns: tuple[str, ParquetType], event_column: EventColumn | None = None
) -> DeliveryConfig:
    return DeliveryConfig(
        "bucket", tuple(DeliveryColumn(n, "", t) for n, t in columns), event_column=event_column
    )


ALL = config(
    ("pk", ParquetType.INT64),
    ("c", ParquetType.UTF8),
    ("d", ParquetType.DOUBLE),
    ("b", ParquetType.BOOL),
)


@pytest.mark.parametrize("action", [PUT, UPDATE])
def test_of_a_change_the_key_and_the_new_cells(action: int) -> None:
    row = delivered_row(ALL, action, bytes.fromhex(VECTORS[action]), FALLBACK_US)
    assert row is not None
    assert (row.values, row.time_us, row.dirty) == ((1, "v", None, None), 1_700_000_000_000_000, "")


def test_a_delete_is_not_delivered() -> None:
    assert delivered_row(ALL, DELETE, bytes.fromhex(VECTORS[DELETE]), FALLBACK_US) is None


def test_an_update_that_only_deletes_cells_is_not_delivered() -> None:
    bare = record({"pk": 1}, [])
    assert delivered_row(ALL, UPDATE, bare, FALLBACK_US) is None
    put = delivered_row(ALL, PUT, bare, FALLBACK_US)
    assert put is not None
    assert put.values == (1, None, None, None)
    assert put.time_us == FALLBACK_US  # nothing of the row says a time


def test_the_newest_version_of_a_column_is_delivered_and_dates_the_row() -> None:
    data = record({"pk": 1}, [("c", "new", 5000), ("c", "old", 4000), ("d", 1.5, 4500)])
    row = delivered_row(ALL, PUT, data, FALLBACK_US)
    assert row is not None
    assert row.values == (1, "new", 1.5, None)
    assert row.time_us == 5_000_000


@pytest.mark.parametrize("version", [2**63 - 1, -(2**63)])
def test_a_version_that_is_no_time_does_not_date_the_row(version: int) -> None:
    row = delivered_row(ALL, PUT, record({"pk": 1}, [("c", "v", version)]), FALLBACK_US)
    assert row is not None
    assert row.time_us == FALLBACK_US


def test_a_binary_value_is_left_out() -> None:
    row = delivered_row(ALL, PUT, record({"pk": 1}, [("c", b"\x00", 1)]), FALLBACK_US)
    assert row is not None
    assert row.values == (1, None, None, None)
    assert not row.dirty


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (ParquetType.INT64, 1.0),
        (ParquetType.INT64, True),
        (ParquetType.INT64, "1"),
        (ParquetType.DOUBLE, 1),
        (ParquetType.UTF8, 1),
        (ParquetType.BOOL, 1),
    ],
)
def test_a_value_of_another_type_does_not_fit(kind: ParquetType, value: Value) -> None:
    row = delivered_row(
        config(("c", kind)), PUT, record({"pk": b"\xff"}, [("c", value, 1)]), FALLBACK_US
    )
    assert row is not None
    assert row.values == ()
    line = json.loads(row.dirty)
    assert line["key"] == {"pk": {"binary": "/w=="}}
    assert line["columns"] == {"c": value}
    assert "column c is no" in line["reason"]


def test_a_line_about_a_row_that_does_not_fit_is_json_for_any_reader() -> None:
    row = delivered_row(
        config(("c", ParquetType.UTF8)), PUT, record({"pk": 1}, [("c", math.inf, 1)]), FALLBACK_US
    )
    assert row is not None
    assert json.loads(row.dirty)["columns"] == {"c": {"double": "inf"}}


def test_the_event_column_dates_the_row() -> None:
    dated = config(("pk", ParquetType.INT64), event_column=EventColumn("at", EventTimeFormat.UNIX))
    row = delivered_row(dated, PUT, record({"pk": 1}, [("at", 1_000_000_000, 1)]), FALLBACK_US)
    assert row is not None
    assert row.time_us == 1_000_000_000_000_000
    bad = delivered_row(dated, PUT, record({"pk": 1}, [("at", "soon", 7)]), FALLBACK_US)
    assert bad is not None
    assert "at says no UNIX time" in bad.dirty
    assert bad.time_us == 7000
    without = delivered_row(dated, PUT, record({"pk": 1}, [("c", "v", 7)]), FALLBACK_US)
    assert without is not None
    assert (without.values, without.time_us) == ((1,), 7000)


@given(
    key=st.dictionaries(
        st.text(min_size=1, max_size=5), st.integers(-9, 9) | st.text() | st.binary(), min_size=1
    ),
    cells=st.lists(
        st.tuples(
            st.text(min_size=1, max_size=5),
            st.integers(-(2**63), 2**63 - 1) | st.text() | st.binary() | st.booleans(),
            st.integers(0, 2**40),
        ),
        unique_by=lambda cell: (cell[0], cell[2]),
    ),
)
def test_a_record_is_read_as_it_was_written(
    key: dict[str, KeyValue], cells: list[tuple[str, Value, int]]
) -> None:
    found = read_delivered(record(key, cells))
    newest = {name: value for name, value, _ in sorted(cells, key=lambda cell: cell[2])}
    assert (found.key, found.cells, found.time_us) == (key, newest, None)
    assert found.newest_ms == max((version for _, _, version in cells), default=None)


@given(st.integers(0, 80), st.sampled_from([PUT, UPDATE]))
def test_a_record_that_is_cut_off_is_damage(length: int, action: int) -> None:
    with pytest.raises(StoreDamaged):
        read_delivered(bytes.fromhex(VECTORS[action])[:length])
