"""PlainBuffer decoding: every vector of wire §2.4 and §2.5, whole, cut short and damaged."""

from collections.abc import Callable
from typing import NamedTuple, ParamSpec

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.buffers import decoded_row
from tests.unit.rows.strategies import storable

from widerow.errors import AnyRule, InvalidRequest
from widerow.model.tablestore.row import CellChange, CellOperation, Modification, PrimaryKey
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyInput, KeyMarker, Value, value_bytes
from widerow.rows.cells import (
    PLAIN_HEADER,
    body_value,
    cell_body,
    encode_key_section,
    encode_variant,
    seal,
)
from widerow.rows.checksum import crc8, crc8_byte
from widerow.wire.tablestore.plainbuffer import (
    decode_primary_key,
    decode_variant_value,
    encode_primary_key,
    encode_rows,
)

Args = ParamSpec("Args")
PUT, UPDATE, DELETE = Modification.PUT, Modification.UPDATE, Modification.DELETE
IAMPK = "7500000001030403000000706b31050a000000030500000069616d706b0a98030403000000706b3205090000"
IAMPK += "000064000000000000000a05"
PK_ONE = "7500000001030402000000706b05090000000001000000000000000a4c"

Columns = tuple[tuple[str, KeyInput], ...]
IAMPK_COLUMNS: Columns = (("pk1", "iampk"), ("pk2", 100))
ONE_COLUMN: Columns = (("pk", 1),)

# wire §2.4: primary keys of reads and range bounds
KEYS: dict[str, Columns] = {
    IAMPK + "09b9": IAMPK_COLUMNS,
    PK_ONE + "09a7": ONE_COLUMN,
    "7500000001030402000000706b050900000000ffffffffffffffff0a88091e": (("pk", -1),),
    "7500000001030402000000706b050500000003000000000ae809eb": (("pk", ""),),
    "7500000001030402000000706b0507000000070200000000ff0a3f093a": (("pk", b"\x00\xff"),),
    "7500000001030402000000706b050b0000000306000000e69dade5b79e0a67099e": (("pk", "杭州"),),
    "7500000001030403000000706b310501000000090ac8030403000000706b320501000000090af709a3": (
        ("pk1", KeyMarker.INF_MIN),
        ("pk2", KeyMarker.INF_MIN),
    ),
    "7500000001030403000000706b3105010000000a0ac1030403000000706b3205010000000a0afe0924": (
        ("pk1", KeyMarker.INF_MAX),
        ("pk2", KeyMarker.INF_MAX),
    ),
    # the bounds inside the GetRange request of wire §2.4
    "7500000001030402000000706b0501000000090a3a097b": (("pk", KeyMarker.INF_MIN),),
    "7500000001030402000000706b05010000000a0a3309c6": (("pk", KeyMarker.INF_MAX),),
}

Wanted = tuple[CellOperation, str, Value | None, int | None]
PUT_CELL = CellOperation.PUT


class Change(NamedTuple):
    """One row change of wire §2.4 and what it says."""

    name: str
    modification: Modification
    data: bytes
    key: Columns
    cells: tuple[Wanted, ...]


def change(
    name: str, modification: Modification, data: str, key: Columns, *cells: Wanted
) -> Change:
    return Change(name, modification, bytes.fromhex(data), key, cells)


# wire §2.4: row changes
CHANGES = [
    change(
        "auto-increment",
        PUT,
        "750000000103040300000067696405090000000001000000000000000a2a03040300000075696405010000000b"
        "0a13020304040000006e616d65050900000003040000004a6f686e0a3e0962",
        (("gid", 1), ("uid", KeyMarker.AUTO_INCREMENT)),
        (PUT_CELL, "name", "John", None),
    ),
    change(
        "versions",
        PUT,
        IAMPK + "02030407000000636f6c756d6e310508000000030300000062616407e9030000000000000a30"
        "030407000000636f6c756d6e32050900000000800000000000000007ea030000000000000a69"
        "030407000000636f6c756d6e330509000000019a9999999919414007eb030000000000000acf09a8",
        IAMPK_COLUMNS,
        (PUT_CELL, "column1", "bad", 1001),
        (PUT_CELL, "column2", 128, 1002),
        (PUT_CELL, "column3", 34.2, 1003),
    ),
    change(
        "every type",
        PUT,
        PK_ONE + "0203040100000073050800000003030000006162630a15"
        "03040100000069050900000000f9ffffffffffffff0af903040100000064050900000001000000000000f83f0a"
        "ba03040100000074050200000002010ae103040100000066050200000002000a92"
        "030401000000620507000000070200000001020ace0902",
        ONE_COLUMN,
        (PUT_CELL, "s", "abc", None),
        (PUT_CELL, "i", -7, None),
        (PUT_CELL, "d", 1.5, None),
        (PUT_CELL, "t", True, None),
        (PUT_CELL, "f", False, None),
        (PUT_CELL, "b", b"\x01\x02", None),
    ),
    change(
        "every operation",
        UPDATE,
        IAMPK + "02030402000000633105070000000302000000763107e9030000000000000aba"
        "0304020000006332060307ea030000000000000a50030402000000633306010ab9"
        "03040200000063340509000000000a0000000000000006040a1e098f",
        IAMPK_COLUMNS,
        (PUT_CELL, "c1", "v1", 1001),
        (CellOperation.DELETE_ONE_VERSION, "c2", None, 1002),
        (CellOperation.DELETE_ALL_VERSIONS, "c3", None, None),
        (CellOperation.INCREMENT, "c4", 10, None),
    ),
    change(
        "update put",
        UPDATE,
        PK_ONE + "020304010000006305060000000301000000760ade0910",
        ONE_COLUMN,
        (PUT_CELL, "c", "v", None),
    ),
    change(
        "delete one version",
        UPDATE,
        PK_ONE + "02030401000000630603070098f73e5d0100000a6e095f",
        ONE_COLUMN,
        (CellOperation.DELETE_ONE_VERSION, "c", None, 1500000000000),
    ),
    change(
        "delete all versions",
        UPDATE,
        PK_ONE + "02030401000000630601" + "0acd0978",
        ONE_COLUMN,
        (CellOperation.DELETE_ALL_VERSIONS, "c", None, None),
    ),
    change(
        "increment",
        UPDATE,
        PK_ONE + "0203040100000063050900000000010000000000000006040a780976",
        ONE_COLUMN,
        (CellOperation.INCREMENT, "c", 1, None),
    ),
    change("delete", DELETE, PK_ONE + "0809a0", ONE_COLUMN),
    change("delete two columns", DELETE, IAMPK + "0809be", IAMPK_COLUMNS),
    change("delete without marker", DELETE, PK_ONE + "09a7", ONE_COLUMN),  # semantics §4.4
    change("put without columns", PUT, PK_ONE + "09a7", ONE_COLUMN),  # semantics §4.2
]

# wire §2.5
VARIANTS: dict[str, KeyInput | Value] = {
    "000500000000000000": 5,
    "00ffffffffffffffff": -1,
    "01000000000000f83f": 1.5,
    "0303000000616263": "abc",
    "0201": True,
    "0200": False,
    "07020000000102": b"\x01\x02",
    "0300000000": "",
    "09": KeyMarker.INF_MIN,
    "0a": KeyMarker.INF_MAX,
    "0b": KeyMarker.AUTO_INCREMENT,
    "030100000061": "a",
    "006400000000000000": 100,
    "070100000080": b"\x80",
}

keys = pytest.mark.parametrize("data", [bytes.fromhex(key) for key in KEYS])
changes = pytest.mark.parametrize("wanted", CHANGES, ids=lambda wanted: wanted.name)


# --- an encoder that can also say what no client should ---------------------------------------


def raw_cell(
    name: bytes,
    variant: bytes | None = None,
    operation: int | None = None,
    version: int | None = None,
) -> bytes:
    """Any cell of the grammar, with the checksum of wire §2.2."""
    crc, data = crc8(name), b"\x03\x04" + len(name).to_bytes(4, "little") + name
    if variant is not None:
        data += b"\x05" + len(variant).to_bytes(4, "little") + variant
        crc = crc8(variant, crc)
    if operation is not None:
        data += b"\x06" + bytes((operation,))
    if version is not None:
        stamp = version.to_bytes(8, "little", signed=True)
        data += b"\x07" + stamp
        crc = crc8(stamp, crc)
    if operation is not None:
        crc = crc8_byte(operation, crc)
    return data + b"\x0a" + bytes((crc,))


def raw_row(*cells: bytes, key: bytes | None = None, marker: bool = False) -> bytes:
    """A row of one key column `pk` = 1, or of the key cell given, and any cells."""
    key_cell = key if key is not None else raw_cell(b"pk", encode_variant(1))
    crc = crc8(bytes([cell[-1] for cell in (key_cell, *cells)]))
    data = PLAIN_HEADER + b"\x01" + key_cell + (b"\x02" + b"".join(cells) if cells else b"")
    return data + b"\x08" * marker + b"\x09" + bytes((crc8_byte(marker, crc),))


def refusal(
    call: Callable[Args, object], *args: Args.args, **kwargs: Args.kwargs
) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        call(*args, **kwargs)
    return caught.value


def broken(call: Callable[Args, object], *args: Args.args, **kwargs: Args.kwargs) -> str:
    """The message of a buffer that is malformed."""
    error = refusal(call, *args, **kwargs)
    assert error.rule is TablestoreRule.ROW_ENCODING
    message = error.details["message"]
    assert isinstance(message, str)
    return message


def value(cell: CellChange) -> Value | None:
    return body_value(cell.body) if cell.body else None


def fields(cell: CellChange) -> tuple[object, ...]:
    return (cell.operation, cell.name, cell.version, cell.size, cell.body, cell.crc)


# --- vectors ---------------------------------------------------------------------------------


@keys
def test_key_vectors_decode_and_encode_to_themselves(data: bytes) -> None:
    key = decode_primary_key(data)
    assert key.columns == KEYS[data.hex()]
    assert encode_primary_key(key.encoded, key.crc) == data
    assert (key.encoded, key.crc) == encode_key_section(key.columns)


@changes
def test_row_vectors_decode(wanted: Change) -> None:
    key, cells = decoded_row(wanted.data, wanted.modification)
    assert key.columns == wanted.key
    assert (key.encoded, key.crc) == encode_key_section(key.columns)
    asked = tuple((cell.operation, cell.name, value(cell), cell.version) for cell in cells)
    assert asked == wanted.cells
    assert [type(value(cell)) for cell in cells] == [type(cell[2]) for cell in wanted.cells]


@changes
def test_bodies_are_slices_of_the_wire_with_their_checksum(wanted: Change) -> None:
    for cell in decoded_row(wanted.data, wanted.modification)[1]:
        found = value(cell)
        if found is None:
            assert (cell.body, cell.crc) == (b"", 0)
            continue
        assert cell.body in wanted.data
        assert (cell.body, cell.crc) == cell_body(cell.name, found)


@changes
def test_decoded_row_encodes_to_itself(wanted: Change) -> None:
    key, cells = decoded_row(wanted.data, wanted.modification)
    wires = [
        raw_cell(
            cell.name.encode(),
            None if not cell.body else encode_variant(body_value(cell.body)),
            None if cell.operation is PUT_CELL else cell.operation.value,
            cell.version,
        )
        for cell in cells
    ]
    marker = wanted.name.startswith("delete") and wanted.data[-3] == 8
    crc = crc8_byte(marker, crc8(bytes(wire[-1] for wire in wires), key.crc))
    tail = (b"\x02" if wires else b"") + b"".join(wires) + b"\x08" * marker
    assert PLAIN_HEADER + key.encoded + tail + b"\x09" + bytes((crc,)) == wanted.data


@pytest.mark.parametrize("data", VARIANTS)
def test_variant_vectors_decode(data: str) -> None:
    value = decode_variant_value(bytes.fromhex(data))
    assert value == VARIANTS[data]
    assert type(value) is type(VARIANTS[data])
    if not isinstance(value, KeyMarker):
        assert encode_variant(value) == bytes.fromhex(data)


# --- cut short, padded, damaged ---------------------------------------------------------------


@keys
def test_every_shortened_key_is_refused(data: bytes) -> None:
    for length in range(len(data)):
        assert broken(decode_primary_key, data[:length])


@changes
def test_every_shortened_row_is_refused(wanted: Change) -> None:
    for length in range(len(wanted.data)):
        data = wanted.data[:length]
        for modification in Modification:
            refusal(decoded_row, data, modification)


@pytest.mark.parametrize("data", VARIANTS)
def test_every_shortened_or_lengthened_variant_is_refused(data: str) -> None:
    whole = bytes.fromhex(data)
    for other in [*(whole[:length] for length in range(len(whole))), whole + b"\x00"]:
        error = refusal(decode_variant_value, other, TablestoreRule.SPLIT_TYPE)
        assert error.rule is TablestoreRule.SPLIT_TYPE


@keys
def test_every_damaged_byte_of_a_key_is_refused(data: bytes) -> None:
    for position in range(len(data)):
        for flip in (0x01, 0x10, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            refusal(decode_primary_key, bytes(damaged))


@changes
def test_every_damaged_byte_of_a_row_is_refused(wanted: Change) -> None:
    for position in range(len(wanted.data)):
        for flip in (0x01, 0x10, 0x80, 0xFF):
            damaged = bytearray(wanted.data)
            damaged[position] ^= flip
            refusal(decoded_row, bytes(damaged), wanted.modification)


@changes
def test_padding_of_zeros_is_taken_and_nothing_else(wanted: Change) -> None:
    """Node makes its buffers too long (wire §2.3)."""
    plain = decoded_row(wanted.data, wanted.modification)
    assert decoded_row(wanted.data + bytes(9), wanted.modification) == plain
    for rest in (b"\x01", b"\x00\x00\x02", wanted.data[4:]):
        message = broken(decoded_row, wanted.data + rest, wanted.modification)
        assert "has more data" in message


@keys
def test_padded_keys_keep_their_section(data: bytes) -> None:
    assert decode_primary_key(data + bytes(3)) == decode_primary_key(data)


@given(data=st.binary(max_size=80), modification=st.sampled_from(Modification))
@example(data=PLAIN_HEADER, modification=PUT)
@example(data=PLAIN_HEADER + b"\x01\x03\x04\xff\xff\xff\xff", modification=PUT)
def test_no_input_raises_anything_else(data: bytes, modification: Modification) -> None:
    for decode in (
        decode_primary_key,
        decode_variant_value,
        lambda given: decoded_row(given, modification),
        lambda given: decoded_row(PLAIN_HEADER + b"\x01" + given, modification),
        lambda given: decode_primary_key(PLAIN_HEADER + b"\x01\x03\x04" + given),
    ):
        try:
            decode(data)
        except InvalidRequest:
            continue


@pytest.mark.parametrize("length", [2**31 - 1, 2**31, 2**32 - 1, 4096])
def test_hostile_lengths_cost_nothing(length: int) -> None:
    """Lengths of names, of values and of texts inside values are held against the buffer."""
    size = length.to_bytes(4, "little")
    value = encode_variant("abc")
    row = raw_row(raw_cell(b"column", value))
    name_at, value_at = row.index(b"column") - 4, row.index(value) - 4
    for position in (name_at, value_at):
        hostile = row[:position] + size + row[position + 4 :]
        assert broken(decoded_row, hostile, PUT)
    inner = raw_row(raw_cell(b"column", b"\x03" + size + b"abc"))
    assert "wrong string format, size: 8" in broken(decoded_row, inner, PUT)
    refusal(decode_variant_value, b"\x07" + size + b"abc")


# --- checksums (wire §2.2) --------------------------------------------------------------------


def test_a_wrong_cell_checksum_names_both_sums() -> None:
    data = bytearray.fromhex(PK_ONE + "09a7")
    data[-3] ^= 1
    error = refusal(decode_primary_key, bytes(data))
    assert error.rule is TablestoreRule.ROW_CHECKSUM
    assert error.details == {"user": 0x4D, "service": 0x4C}


def test_a_wrong_row_checksum_names_both_sums() -> None:
    error = refusal(decode_primary_key, bytes.fromhex(PK_ONE + "09a0"))
    assert error.rule is TablestoreRule.ROW_CHECKSUM
    assert error.details == {"user": 0xA0, "service": 0xA7}


def test_damage_is_reported_before_content() -> None:
    """A flipped bit in a text is a checksum error, not a complaint about UTF-8."""
    row = bytearray(raw_row(raw_cell(b"c", encode_variant("plain"))))
    row[row.index(b"plain")] ^= 0x80
    assert refusal(decoded_row, bytes(row), PUT).rule is TablestoreRule.ROW_CHECKSUM


# --- structure (semantics §18.1) --------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "mismatch header, actual: 0 "),
        (b"\x75\x00\x00", "mismatch header, actual: 117 "),
        (b"\x76\x00\x00\x00\x01", "mismatch header, actual: 118 , expect: 117."),
        (PLAIN_HEADER, "PK is empty"),
        (PLAIN_HEADER + b"\x02\x03", "mismatch tag, actual tag(2), expect(1)"),
        (PLAIN_HEADER + b"\x01\x09\x00", "no PK follow PKTag"),
        (PLAIN_HEADER + b"\x01\x03\x05" + bytes(6), "attr has no name"),
        (bytes.fromhex(PK_ONE), "row is not end with checksum tag"),
        (bytes.fromhex(PK_ONE + "0209a7"), "no Cells follow CellTag"),
        (bytes.fromhex(PK_ONE + "0b09a7"), "mismatch tag, actual tag(11), expect(9)"),
        (bytes.fromhex(PK_ONE[:-4] + "0b4c09a7"), "cell is not end with checksum"),
        (raw_row(raw_cell(b"\xff\xfe", encode_variant(1))), "wrong string format, size: 2"),
    ],
)
def test_malformed_rows_are_told_in_the_services_words(data: bytes, text: str) -> None:
    assert text in broken(decoded_row, data, PUT)


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        (b"", "data format is invalid."),
        (b"\x00" + bytes(7), "data format is invalid."),
        (b"\x00" + bytes(9), "data format is invalid."),
        (b"\x01" + bytes(7), "data format is invalid."),
        (b"\x02", "Invalid boolean real value, value length: 1."),
        (b"\x02\x02", "Invalid boolean real value, value length: 2."),
        (b"\x02\x01\x00", "Invalid boolean real value, value length: 3."),
        (b"\x03\x00", "wrong string format, size: 2."),
        (b"\x03\x01\x00\x00\x00", "wrong string format, size: 5."),
        (b"\x07\x01\x00\x00\x00ab", "wrong string format, size: 7."),
    ],
)
def test_values_have_exactly_one_encoding(variant: bytes, text: str) -> None:
    row = raw_row(raw_cell(b"c", variant))
    assert text in broken(decoded_row, row, PUT)
    refusal(decode_variant_value, variant)


# --- primary key cells (semantics §3) ----------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        (raw_cell(b"pk"), TablestoreRule.KEY_VALUE_MISSING),
        (raw_cell(b"pk", encode_variant(1), operation=1), TablestoreRule.KEY_OPERATION),
        (raw_cell(b"pk", None, operation=1), TablestoreRule.KEY_OPERATION),
        (raw_cell(b"pk", encode_variant(1), version=5), TablestoreRule.KEY_VERSION),
    ],
)
def test_key_cells_carry_name_and_value_only(cell: bytes, rule: AnyRule) -> None:
    for decode in (decode_primary_key, lambda data: decoded_row(data, PUT)):
        error = refusal(decode, raw_row(key=cell))
        assert (error.rule, error.details) == (rule, {"name": "pk"})


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        (b"", "data format is invalid."),
        (b"\x06", "PK value cannot be NULL, name: pk."),
        (encode_variant(1.5), "double can not be used as primary key."),
        (encode_variant(value=True), "Unknown or unsupported CellType in primary key: pk."),
        (b"\x55", "Unknown or unsupported CellType in primary key: pk."),
        (b"\x09\x00", "data format is invalid."),
        (b"\x00\x01", "data format is invalid."),
        (b"\x03\x09\x00\x00\x00a", "wrong string format, size: 6."),
    ],
)
def test_key_values_are_of_the_key_types(variant: bytes, text: str) -> None:
    assert text in broken(decode_primary_key, raw_row(key=raw_cell(b"pk", variant)))


def test_key_texts_are_utf8() -> None:
    cell = raw_cell(b"pk", b"\x03\x01\x00\x00\x00\xff")
    error = refusal(decode_primary_key, raw_row(key=cell))
    assert (error.rule, error.details) == (TablestoreRule.VALUE_TEXT, {"column": "pk"})


def test_reads_take_a_key_and_nothing_behind_it() -> None:
    with_cells = raw_row(raw_cell(b"c", encode_variant(1)))
    assert refusal(decode_primary_key, with_cells).rule is TablestoreRule.READ_WITH_CELLS
    marked = raw_row(marker=True)
    assert refusal(decode_primary_key, marked).rule is TablestoreRule.READ_DELETE_MARKER


# --- cells of writes (semantics §4.2-4.4) -------------------------------------------------------

SOME = encode_variant(1)


@pytest.mark.parametrize(
    ("modification", "cell", "rule", "details"),
    [
        (PUT, raw_cell(b"c"), TablestoreRule.VALUE_MISSING, {"name": "c"}),
        (PUT, raw_cell(b"c", None, None, 5), TablestoreRule.VALUE_MISSING, {"name": "c"}),
        (PUT, raw_cell(b"c", None, 1), TablestoreRule.OPERATION_IN_PUT, {"name": "c"}),
        (PUT, raw_cell(b"c", SOME, 4), TablestoreRule.OPERATION_IN_PUT, {"name": "c"}),
        (PUT, raw_cell(b"c", SOME, 77), TablestoreRule.OPERATION_IN_PUT, {"name": "c"}),
        (UPDATE, raw_cell(b"c"), TablestoreRule.VALUE_MISSING, {"name": "c"}),
        (
            UPDATE,
            raw_cell(b"c", SOME, 0),
            TablestoreRule.OPERATION_UNKNOWN,
            {"name": "c", "operation": 0},
        ),
        (
            UPDATE,
            raw_cell(b"c", SOME, 2),
            TablestoreRule.OPERATION_UNKNOWN,
            {"name": "c", "operation": 2},
        ),
        (UPDATE, raw_cell(b"c", SOME, 1), TablestoreRule.VALUE_ON_DELETE, {"name": "c"}),
        (UPDATE, raw_cell(b"c", SOME, 3, 5), TablestoreRule.VALUE_ON_DELETE, {"name": "c"}),
        (UPDATE, raw_cell(b"c", None, 3), TablestoreRule.VERSION_MISSING, {"name": "c"}),
        (UPDATE, raw_cell(b"c", None, 1, 5), TablestoreRule.VERSION_ON_DELETE_ALL, {"name": "c"}),
        (UPDATE, raw_cell(b"c", None, 4), TablestoreRule.VALUE_MISSING, {"name": "c"}),
        (UPDATE, raw_cell(b"c", SOME, 4, 5), TablestoreRule.VERSION_ON_INCREMENT, {"name": "c"}),
        (DELETE, raw_cell(b"c", SOME), TablestoreRule.DELETE_WITH_CELLS, {}),
        (UPDATE, raw_cell(b"c", b"\x06"), TablestoreRule.VALUE_TYPE, {"column": "c"}),
        (PUT, raw_cell(b"c", b"\x09"), TablestoreRule.VALUE_TYPE, {"column": "c"}),
        (
            PUT,
            raw_cell(b"c", b"\x03\x01\x00\x00\x00\xff"),
            TablestoreRule.VALUE_TEXT,
            {"column": "c"},
        ),
        (UPDATE, raw_cell(b"c", b"\x06", 4), TablestoreRule.VALUE_TYPE, {"column": "c"}),
    ],
)
def test_cells_are_held_against_their_operation(
    modification: Modification, cell: bytes, rule: AnyRule, details: dict[str, object]
) -> None:
    error = refusal(decoded_row, raw_row(cell), modification)
    assert (error.rule, error.details) == (rule, details)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (float("nan"), TablestoreRule.VALUE_NAN),
        (float("inf"), TablestoreRule.VALUE_INFINITY),
        (float("-inf"), TablestoreRule.VALUE_INFINITY),
    ],
)
def test_numbers_that_are_not_finite_are_not_stored(value: float, rule: AnyRule) -> None:
    """Semantics §1.3; as a constant to compare with they are values."""
    variant = encode_variant(value)
    error = refusal(decoded_row, raw_row(raw_cell(b"c", variant)), PUT)
    assert (error.rule, error.details) == (rule, {"column": "c"})
    assert repr(decode_variant_value(variant)) == repr(value)


def test_an_update_needs_cells() -> None:
    error = refusal(decoded_row, raw_row(), UPDATE)
    assert error.rule is TablestoreRule.UPDATE_WITHOUT_CELLS


@pytest.mark.parametrize("modification", [PUT, UPDATE])
def test_the_delete_marker_belongs_to_deletes(modification: Modification) -> None:
    row = raw_row(raw_cell(b"c", SOME), marker=True)
    error = refusal(decoded_row, row, modification)
    assert error.rule is TablestoreRule.DELETE_MARKER_IN_WRITE


def test_operations_stand_before_versions_only() -> None:
    """wire §2.3: readers accept name, value, operation, version in this order."""
    cell = raw_cell(b"c", None, 3, 5)
    swapped = cell[:7] + cell[9:18] + cell[7:9] + cell[18:]
    assert len(swapped) == len(cell)
    assert "cell is not end with" in broken(decoded_row, raw_row(swapped), UPDATE)


# --- laws ------------------------------------------------------------------------------------

names = st.text(max_size=20)  # whether a name may be empty is for the engine to say
int64s = st.integers(-(2**63), 2**63 - 1)
values = storable(30)
key_values = st.one_of(
    int64s, st.text(max_size=20), st.binary(max_size=20), st.sampled_from(KeyMarker)
)


@given(st.lists(st.tuples(names, key_values), min_size=1, max_size=4))
def test_keys_decode_to_what_was_encoded(columns: list[tuple[str, KeyInput]]) -> None:
    section, crc = encode_key_section(columns)
    key = decode_primary_key(encode_primary_key(section, crc))
    assert key == PrimaryKey(tuple(columns), section, crc)
    assert [type(value) for _, value in key.columns] == [type(value) for _, value in columns]


@given(st.lists(st.tuples(names, values, st.none() | int64s), min_size=1, max_size=6))
def test_cells_decode_to_what_was_encoded(
    cells: list[tuple[str, Value, int | None]],
) -> None:
    wires = [raw_cell(name.encode(), encode_variant(v), None, t) for name, v, t in cells]
    wanted = tuple(
        CellChange(
            PUT_CELL, name, version, len(name.encode()) + value_bytes(v), *cell_body(name, v)
        )
        for name, v, version in cells
    )
    for modification in (PUT, UPDATE, PUT):  # what is new is remembered, what is known is quicker
        found = decoded_row(raw_row(*wires), modification)[1]
        assert list(map(fields, found)) == list(map(fields, wanted))
    for wire, cell in zip(wires, wanted, strict=True):
        if cell.version is not None:
            assert seal(cell.body, cell.crc, cell.version) == wire


@given(st.permutations(["a", "b", "longer than a word", "longer than a wor", "c", "é"]))
def test_rows_of_other_shapes_are_decoded_as_any_other(order: list[str]) -> None:
    """What came behind a name before is no more than a guess at what comes now."""
    for names_sent in (["a", "longer than a word"], order, order[:2], order[1:], order):
        wires = [raw_cell(name.encode(), encode_variant(name)) for name in names_sent]
        _, found = decoded_row(raw_row(*wires), PUT)
        assert [(cell.name, value(cell)) for cell in found] == [(n, n) for n in names_sent]


def test_a_row_that_ends_where_a_longer_name_was_expected() -> None:
    """wire §2.1: the guess reaches beyond the buffer, the row does not."""
    long = b"n" * 200
    both = [raw_cell(b"a", encode_variant(1)), raw_cell(long, encode_variant(2))]
    short = [both[0], raw_cell(b"z", encode_variant(b""))]
    for _ in range(3):
        assert len(decoded_row(raw_row(*both), PUT)[1]) == 2
        assert [cell.name for cell in decoded_row(raw_row(*short), PUT)[1]] == ["a", "z"]
        assert broken(decoded_row, raw_row(*both)[:40], PUT)


@given(values)
def test_variants_decode_to_what_was_encoded(value: Value) -> None:
    decoded = decode_variant_value(encode_variant(value))
    assert (decoded, type(decoded)) == (value, type(value))


def test_rows_share_one_header_and_no_row_has_none() -> None:
    """wire §2.1: GetRange's rows, and what stands for "no row"."""
    assert encode_rows([b"\x01one", b"", b"\x01two"]) == PLAIN_HEADER + b"\x01one\x01two"
    assert encode_rows([]) == b""
    assert encode_rows([b"", b""]) == b""
