"""Any bytes under a row's key decode to cells that encode to the same bytes, or are damage."""

from contextlib import suppress
from typing import Final

from widerow.engine.tablestore.stored import check_order, key_section_of, row_cells, segment_cells
from widerow.errors import StoreDamaged
from widerow.rows.cells import cell_body, cell_value, encode_key_section, seal
from widerow.rows.record import (
    HEADER_BYTES,
    RecordKind,
    encode_segment,
    header_of,
    summarize,
)

__all__ = ["SEEDS", "check"]


def _seeds() -> tuple[bytes, ...]:
    section, crc = encode_key_section([("k", "a"), ("n", 1)])
    wires = [seal(*cell_body(name, value), 5) for name, value in (("a", 1), ("b", "x"), ("c", 2.5))]
    return (b"".join(wires), section + b"".join(wires), bytes((crc,)) + wires[0])


SEEDS: Final = _seeds()


def check(data: bytes) -> None:
    """As a record of each kind, with the header as it comes and with a right one."""
    for kind in (RecordKind.ROW, RecordKind.WIDE, RecordKind.SEGMENT):
        record = bytes((kind,)) + data
        with suppress(StoreDamaged):
            header = header_of(record)
            key_section_of(record, header)
            cells = (
                segment_cells(record) if kind == RecordKind.SEGMENT else row_cells(record, header)
            )
            for each in cells:
                cell_value(each)
    _segment(data)


def _segment(data: bytes) -> None:
    record = bytes((RecordKind.SEGMENT,)) + bytes(HEADER_BYTES - 1) + data
    with suppress(StoreDamaged):
        cells = segment_cells(record)
        check_order(cells)
        for each in cells:
            cell_value(each)
        # A header cannot say less than nothing: whoever compares it with such cells finds damage.
        if cells and min(summarize(cells)[:3]) >= 0:
            assert encode_segment(cells)[HEADER_BYTES:] == data, "cells have two encodings"
