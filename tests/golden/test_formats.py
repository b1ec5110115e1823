"""The formats are what their documents say: vectors are read out of `docs/formats`."""

import ast
from pathlib import Path
from typing import Any

import pytest

from widerow.errors import InvalidRequest
from widerow.keys import layout
from widerow.keys.decode import decode_key, decode_key_value
from widerow.keys.encode import encode_bound, encode_key, encode_key_value
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.values import KeyInput, KeyMarker, KeyType, KeyValue, Value
from widerow.rows.cells import (
    Cell,
    cell_body,
    cell_size,
    cell_value,
    encode_key_section,
    seal,
    split_cells,
)
from widerow.rows.record import (
    HEADER_BYTES,
    HEADER_FIELDS,
    encode_row,
    encode_segment,
    encode_wide_root,
    header_of,
    join_row,
    join_segments,
    summarize,
)
from widerow.wire.tablestore.plainbuffer import decode_primary_key, encode_primary_key

FORMATS = Path(__file__).resolve().parents[2] / "docs" / "formats"
KINDS = {int: KeyType.INTEGER, str: KeyType.STRING, bytes: KeyType.BINARY}


def table(document: str, *headings: str) -> list[tuple[str, ...]]:
    """The rows of the one table in a document that has exactly these headings."""
    lines = (FORMATS / document).read_text(encoding="utf-8").splitlines()
    starts = [index for index, line in enumerate(lines) if _split(line) == headings]
    assert len(starts) == 1, f"{document} has {len(starts)} tables of {headings}"
    rows: list[tuple[str, ...]] = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(_split(line))
    assert rows
    assert all(len(row) == len(headings) for row in rows)
    return rows


def _split(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().strip("`") for cell in line.strip("|").split("|"))


def literal(text: str) -> Any:  # noqa: ANN401  # whatever Python value the document shows
    return ast.literal_eval(text)


def vectors(document: str, *headings: str) -> pytest.MarkDecorator:
    """Every row of a table as a case of its own; argument names are the headings'."""
    names = [heading.lower().replace(" ", "_") for heading in headings]
    return pytest.mark.parametrize(names, table(document, *headings))


# --- keys.md ---------------------------------------------------------------------------------


@vectors("keys.md", "Type", "Value", "Hex")
def test_key_values(type: str, value: str, hex: str) -> None:  # noqa: A002  # the headings
    given, encoded = literal(value), bytes.fromhex(hex)
    assert encode_key_value(given) == encoded
    assert decode_key_value(encoded, 0, KeyType[type]) == (given, len(encoded))
    assert KINDS[given.__class__] is KeyType[type]


def test_key_values_stand_in_the_documents_order_of_types() -> None:
    """The vectors hold what sorts wrongly in naive encodings; check their order too."""
    rows = table("keys.md", "Type", "Value", "Hex")
    for kind in KeyType:
        mine = [(literal(value), code) for name, value, code in rows if name == kind.value]
        assert len(mine) > 3
        assert [code for _, code in sorted(mine)] == sorted(code for _, code in mine)


@vectors("keys.md", "Columns", "Hex")
def test_keys(columns: str, hex: str) -> None:  # noqa: A002  # the headings
    values: tuple[KeyValue, ...] = literal(columns)
    encoded = bytes.fromhex(hex)
    assert encode_key(b"", values) == encoded
    assert decode_key(encoded, 0, [KINDS[type(value)] for value in values]) == (
        values,
        len(encoded),
    )


@vectors("keys.md", "Record", "Arguments", "Hex")
def test_layout(record: str, arguments: str, hex: str) -> None:  # noqa: A002  # the headings
    assert getattr(layout, record)(*literal(arguments)) == bytes.fromhex(hex)


def test_every_key_of_the_layout_has_a_vector() -> None:
    shown = {record for record, _, _ in table("keys.md", "Record", "Arguments", "Hex")}
    built = {name for name in layout.__all__ if callable(getattr(layout, name))}
    assert built - shown == {
        *("revisions_beside", "segment_range", "table_prefixes"),  # pairs of the others
        "may_begin_range",  # asks about keys
    }


def test_spaces_of_the_code_are_those_of_the_document() -> None:
    used = {key.split("`")[0] for key, _, _ in table("keys.md", "Key", "Record", "Value")}
    reserved = {byte for byte, _ in table("keys.md", "First byte", "For")}
    in_code = {getattr(layout, name).hex() for name in layout.__all__ if name.startswith("SPACE_")}
    assert used == in_code
    assert not reserved & in_code


@vectors("keys.md", "Columns", "Side", "Hex")
def test_bounds(columns: str, side: str, hex: str) -> None:  # noqa: A002  # the headings
    assert side in {"before", "after"}
    markers = KeyMarker.__members__
    values: list[KeyInput] = [markers.get(str(value), value) for value in literal(columns)]
    bound = encode_bound(layout.row_prefix(7), values, after=side == "after")
    assert bound == bytes.fromhex(hex)


# --- rows.md ---------------------------------------------------------------------------------


@vectors("rows.md", "Name", "Value", "Version", "Counts", "Body crc", "Hex")
def test_cells(
    name: str,
    value: str,
    version: str,
    counts: str,
    body_crc: str,
    hex: str,  # noqa: A002  # the heading
) -> None:
    wire = bytes.fromhex(hex)
    given: Value = literal(value)
    body, crc = cell_body(literal(name), given)
    assert seal(body, crc, int(version)) == wire
    assert crc == int(body_crc, 16)
    cells = split_cells(wire, 0, len(wire))
    assert cells == [Cell(literal(name), int(version), wire)]
    found = cell_value(cells[0])
    assert (found, type(found)) == (given, type(given))
    assert cell_size(wire) == int(counts)


@vectors("rows.md", "Columns", "State", "Hex")
def test_key_sections(columns: str, state: str, hex: str) -> None:  # noqa: A002  # the headings
    section, crc = encode_key_section(literal(columns))
    assert (section.hex(), f"{crc:02x}") == (hex, state)
    key = decode_primary_key(encode_primary_key(section, crc))
    assert key == PrimaryKey(literal(columns), section, crc)


RECORDS = ("Kind", "Columns", "Cells", "latest_server", "Header", "Hex")


def cells_of(text: str) -> list[Cell]:
    return [
        Cell(name, version, seal(*cell_body(name, value), version))
        for name, version, value in literal(text)
    ]


@vectors("rows.md", *RECORDS)
def test_records(
    kind: str,
    columns: str,
    cells: str,
    latest_server: str,
    header: str,
    hex: str,  # noqa: A002  # the heading
) -> None:
    record = bytes.fromhex(hex)
    found, wanted = header_of(record), cells_of(cells)
    assert tuple(found) == literal(header)
    section, crc = encode_key_section(literal(columns))
    latest = int(latest_server)
    if kind == "segment":
        assert encode_segment(wanted) == record
        assert split_cells(record, HEADER_BYTES, len(record)) == wanted
        return
    if kind == "wide":
        summary = summarize(wanted)
        assert encode_wide_root(section, crc, found.key_size, summary, latest) == record
        assert record[HEADER_BYTES:] == section
        return
    bodies = [cell.wire for cell in wanted]
    summary = summarize(wanted)
    assert encode_row(section, crc, found.key_size, bodies, summary, latest) == record
    start = HEADER_BYTES + found.key_length + 1
    stop = len(record) - 2
    assert split_cells(record, start, max(start, stop)) == wanted
    assert record[HEADER_BYTES : start - 1] == section


def test_the_documents_wide_row_joins_to_its_whole_row() -> None:
    rows = table("rows.md", *RECORDS)
    wide = next(row for row in rows if row[0] == "wide")
    whole = next(row for row in rows if row[0] == "row" and row[1:4] == wide[1:4])
    segments = [bytes.fromhex(row[5]) for row in rows if row[0] == "segment"]
    section, crc = encode_key_section(literal(wide[1]))
    joined = join_segments(section, crc, segments)
    assert joined == bytes.fromhex(whole[5])[HEADER_BYTES:]
    assert joined == join_row(section, crc, [cell.wire for cell in cells_of(wide[2])])


def test_the_documents_header_is_the_codes() -> None:
    fields = table("rows.md", "Field", "Bytes", "Whole row", "Wide row", "Segment")
    assert tuple(row[0] for row in fields) == HEADER_FIELDS
    assert sum(int(row[1]) for row in fields) == HEADER_BYTES


def test_every_shortened_key_section_is_refused() -> None:
    for columns, _, _ in table("rows.md", "Columns", "State", "Hex"):
        buffer = encode_primary_key(*encode_key_section(literal(columns)))
        for length in range(len(buffer)):
            with pytest.raises(InvalidRequest):
                decode_primary_key(buffer[:length])
