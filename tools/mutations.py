"""Ways to spoil the body of a request, for `mutate.py`.

Five families. Bytes: the body as it is, without a look at its meaning. Fields: the protobuf
message taken apart at any depth, put together again with one field wrong. Rows: a PlainBuffer
inside the message with one cell wrong and all checksums right again, for a row with a wrong
checksum is refused before anybody looks at it. Words: a text of several words, such as a statement
of SQL, with some of them wrong. Offsets: a FlatBuffer with a number of it wrong.

A mutation is a function of chance and body. The same chance makes the same body.
"""

import re
import struct
from collections.abc import Callable, Iterator
from random import Random  # noqa: TID251  # seeded, so that a run can be repeated
from typing import Final, NamedTuple

from widerow.rows.checksum import crc8, crc8_byte

__all__ = ["BODY_BYTES_MAX", "FAMILIES", "NUMBERS", "Mutation", "mutate", "other_words"]

Mutation = Callable[[Random, bytes], bytes]

BODY_BYTES_MAX: Final = 1024 * 1024  # of what comes out: larger ones are met in other tests
DEPTH_MAX: Final = 8  # of messages taken apart; right ones have half of it
NUMBERS: Final = (
    *range(-2, 12),
    *(
        sign * 2**bits + off
        for bits in (7, 8, 15, 31, 32, 53, 63)
        for sign in (1, -1)
        for off in (-1, 0, 1)
    ),
    (2**63 - 1) // 1000,
    (2**63 - 1) // 1_000_000,
)
NAMES: Final = (
    b"",
    b"k",
    b"n",
    b"c",
    b"1",
    b"#",
    b"a" * 255,
    b"a" * 256,
    b"\xff\xfe",
    "列".encode(),
    b"a\x00b",
    b"x" * 70_000,
)


def mutate(chance: Random, body: bytes) -> tuple[str, bytes]:
    """`body` spoiled once to three times, and the names of what was done."""
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        families = ["bytes", "field", "field", "cell", "cell"]
        families += ["words"] * 5 if any(_ways(body, _is_text)) else []
        families += ["offsets"] * 5 if any(_ways(body, _is_flat)) else []
        family = chance.choice(families)
        name = chance.choice(tuple(FAMILIES[family]))
        body = FAMILIES[family][name](chance, body)[:BODY_BYTES_MAX]
        done.append(f"{family} {name}")
    return ", ".join(done), body


# --- bytes ---------------------------------------------------------------------------------------


def _flip_bits(chance: Random, body: bytes) -> bytes:
    spoiled = bytearray(body)
    for _ in range(chance.randint(1, 4) if spoiled else 0):
        spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
    return bytes(spoiled)


def _overwrite(chance: Random, body: bytes) -> bytes:
    start, stop = _slice(chance, body)
    return body[:start] + chance.randbytes(stop - start) + body[stop:]


def _insert(chance: Random, body: bytes) -> bytes:
    start, _ = _slice(chance, body)
    filling = chance.choice((b"\x00", b"\xff", b"\x80", chance.randbytes(1)))
    return body[:start] + filling * chance.choice((1, 2, 4, 11, 1000)) + body[start:]


def _cut(chance: Random, body: bytes) -> bytes:
    start, stop = _slice(chance, body)
    return body[:start] + body[stop:]


def _shorten(chance: Random, body: bytes) -> bytes:
    return body[: _slice(chance, body)[0]]


def _repeat(chance: Random, body: bytes) -> bytes:
    start, stop = _slice(chance, body)
    return body[:start] + body[start:stop] * chance.choice((2, 3, 50)) + body[stop:]


def _slice(chance: Random, body: bytes) -> tuple[int, int]:
    start = chance.randint(0, len(body))
    return start, min(len(body), start + chance.choice((1, 2, 4, 8, 64)))


# --- fields --------------------------------------------------------------------------------------

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


class _Field(NamedTuple):
    """A field of a message: its number, its kind, and a number or bytes as its kind has."""

    number: int
    kind: int
    value: int | bytes


def _varint(value: int) -> bytes:
    value &= 2**64 - 1
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*parts, value))


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("no varint")


def _fields_of(data: bytes) -> list[_Field] | None:
    """The fields of a message, or None if the bytes are none."""
    fields = []
    position = 0
    try:
        while position < len(data):
            tag, position = _read_varint(data, position)
            number, kind = tag >> 3, tag & 7
            value: int | bytes
            if kind == _VARINT:
                value, position = _read_varint(data, position)
            else:
                size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
                if kind == _LENGTH:
                    size, position = _read_varint(data, position)
                if size is None or number == 0 or position + size > len(data):
                    return None
                value, position = data[position : position + size], position + size
            fields.append(_Field(number, kind, value))
    except (IndexError, ValueError):
        return None
    return fields


def _encoded(field: _Field, lie: int = 0) -> bytes:
    """The bytes of a field; its length, where it has one, told wrong by `lie`."""
    tag = _varint(field.number << 3 | field.kind)
    if isinstance(field.value, int):
        return tag + _varint(field.value)
    length = _varint(len(field.value) + lie) if field.kind == _LENGTH else b""
    return tag + length + field.value


def _joined(fields: list[_Field]) -> bytes:
    return b"".join(map(_encoded, fields))


def _in_fields(change: Callable[[Random, list[_Field], int], bytes]) -> Mutation:
    """A mutation of one field at any depth. `change` is told the message's fields and which."""

    def at_some_depth(chance: Random, body: bytes, depth: int = DEPTH_MAX) -> bytes:
        fields = _fields_of(body)
        if not fields:
            return _flip_bits(chance, body)
        index = chance.randrange(len(fields))
        value = fields[index].value
        deeper = depth > 0 and isinstance(value, bytes) and chance.random() < 0.7
        if deeper and isinstance(value, bytes) and _fields_of(value):
            spoiled = at_some_depth(chance, value, depth - 1)
            fields[index] = fields[index]._replace(value=spoiled)
            return _joined(fields)
        return change(chance, fields, index)

    return at_some_depth


def _remove(_: Random, fields: list[_Field], index: int) -> bytes:
    return _joined(fields[:index] + fields[index + 1 :])


def _repeat_field(chance: Random, fields: list[_Field], index: int) -> bytes:
    times = chance.choice((2, 3, 33, 101, 201, 1025))
    return _joined(fields[:index] + [fields[index]] * times + fields[index + 1 :])


def _shuffle(chance: Random, fields: list[_Field], _: int) -> bytes:
    chance.shuffle(fields)
    return _joined(fields)


def _renumber(chance: Random, fields: list[_Field], index: int) -> bytes:
    number = chance.choice((*range(1, 19), 0, 1000, 2**29 - 1))
    fields[index] = fields[index]._replace(number=number)
    return _joined(fields)


def _rewire(chance: Random, fields: list[_Field], index: int) -> bytes:
    before, after = _joined(fields[:index]), _joined(fields[index + 1 :])
    tag = _varint(fields[index].number << 3 | chance.randrange(8))
    return before + tag + _encoded(fields[index])[1:] + after


def _other_value(chance: Random, fields: list[_Field], index: int) -> bytes:
    value = fields[index].value
    other: int | bytes
    if isinstance(value, int):
        other = chance.choice(NUMBERS)
    else:
        other = chance.choice((b"", value[:-1], value + b"\x00", *NAMES))
    fields[index] = fields[index]._replace(value=other)
    return _joined(fields)


def _lie(chance: Random, fields: list[_Field], index: int) -> bytes:
    """Tell a wrong length."""
    lie = chance.choice((-1, 1, 2, 127, 2**16, 2**31 - 1, 2**31, 2**32, 2**63))
    before, after = _joined(fields[:index]), _joined(fields[index + 1 :])
    return before + _encoded(fields[index], lie) + after


def _nest(chance: Random, fields: list[_Field], index: int) -> bytes:
    """A field inside itself, a few or thousands of times."""
    field = fields[index]
    value = field.value if isinstance(field.value, bytes) else _encoded(field)
    for _ in range(chance.choice((1, 2, 31, 99, 101, 3000))):
        value = _encoded(_Field(field.number, _LENGTH, value))
    fields[index] = _Field(field.number, _LENGTH, value)
    return _joined(fields)


def _wrap_filter(chance: Random, fields: list[_Field], index: int) -> bytes:
    """A filter inside NOTs, ANDs, ORs and what is none of them."""
    value = fields[index].value
    if not isinstance(value, bytes):
        return _other_value(chance, fields, index)
    for _ in range(chance.choice((1, 2, 30, 33, 500))):
        parts = [_Field(1, _VARINT, chance.choice((1, 1, 2, 3, 4)))]
        parts += [_Field(2, _LENGTH, value)] * chance.choice(
            (1, 1, 1, 2 if len(value) < 2000 else 1)
        )
        inner = _joined(parts)
        value = _joined([_Field(1, _VARINT, 2), _Field(2, _LENGTH, inner)])
    fields[index] = fields[index]._replace(value=value)
    return _joined(fields)


# --- rows ----------------------------------------------------------------------------------------

_HEADER: Final = b"\x75\x00\x00\x00"


class _Cell(NamedTuple):
    """What a cell carries; None for what it does not."""

    name: bytes
    variant: bytes | None
    operation: int | None
    version: int | None


class _Row(NamedTuple):
    key: list[_Cell]
    data: list[_Cell]
    marker: bool


def _row_of(data: bytes) -> _Row | None:
    """A PlainBuffer taken apart, or None if the bytes are none."""
    try:
        if data[:5] != _HEADER + b"\x01":
            return None
        key, position = _cells_of(data, 5)
        values: list[_Cell] = []
        if data[position] == 2:
            values, position = _cells_of(data, position + 1)
        return _Row(key, values, data[position] == 8)
    except (IndexError, struct.error):
        return None


def _cells_of(data: bytes, position: int) -> tuple[list[_Cell], int]:
    cells = []
    while data[position] == 3:
        name, position = _sized(data, position + 2)
        variant = operation = version = None
        if data[position] == 5:
            variant, position = _sized(data, position + 1)
        if data[position] == 6:
            operation, position = data[position + 1], position + 2
        if data[position] == 7:
            version, position = struct.unpack_from("<q", data, position + 1)[0], position + 9
        cells.append(_Cell(name, variant, operation, version))
        position += 2
    return cells, position


def _sized(data: bytes, position: int) -> tuple[bytes, int]:
    stop = position + 4 + struct.unpack_from("<I", data, position)[0]
    return data[position + 4 : stop], stop


def _cell_bytes(cell: _Cell) -> tuple[bytes, int]:
    """A cell and its checksum."""
    parts = [b"\x03\x04", struct.pack("<I", len(cell.name)), cell.name]
    crc = crc8(cell.name)
    if cell.variant is not None:
        parts += [b"\x05", struct.pack("<I", len(cell.variant)), cell.variant]
        crc = crc8(cell.variant, crc)
    if cell.operation is not None:
        parts.append(bytes((6, cell.operation)))
    if cell.version is not None:
        stamp = struct.pack("<q", cell.version)
        parts += [b"\x07", stamp]
        crc = crc8(stamp, crc)
    if cell.operation is not None:
        crc = crc8_byte(cell.operation, crc)
    return b"".join((*parts, bytes((10, crc)))), crc


def _row_bytes(row: _Row) -> bytes:
    """The row with every checksum right."""
    key, data = [_cell_bytes(each) for each in row.key], [_cell_bytes(each) for each in row.data]
    crc = 0
    for _, each in (*key, *data):
        crc = crc8_byte(each, crc)
    parts = [_HEADER, b"\x01", *(each for each, _ in key)]
    parts += [b"\x02", *(each for each, _ in data)] if data else []
    return b"".join((*parts, b"\x08" * row.marker, bytes((9, crc8_byte(row.marker, crc)))))


def _in_row(change: Callable[[Random, list[_Cell], int], None]) -> Mutation:
    """A mutation of one cell of a PlainBuffer somewhere in the message."""

    def mutation(chance: Random, body: bytes) -> bytes:
        def spoil(data: bytes) -> bytes:
            row = _row_of(data)
            assert row is not None
            cells = chance.choice([each for each in (row.key, row.data, row.data) if each] or [[]])
            if cells:
                change(chance, cells, chance.randrange(len(cells)))
            return _row_bytes(row._replace(marker=row.marker ^ (chance.random() < 0.05)))

        places = list(_places(body))
        return _at(body, chance.choice(places), spoil) if places else _flip_bits(chance, body)

    return mutation


def _places(body: bytes) -> Iterator[tuple[int, ...]]:
    """The ways, as indices of fields, to every PlainBuffer in a message."""
    return _ways(body, lambda value: _row_of(value) is not None)


def _ways(
    body: bytes, wanted: Callable[[bytes], bool], depth: int = DEPTH_MAX
) -> Iterator[tuple[int, ...]]:
    """The ways, as indices of fields, to every value of a message that is wanted."""
    for index, field in enumerate(_fields_of(body) or ()):
        if isinstance(field.value, bytes):
            if wanted(field.value):
                yield (index,)
            elif depth:
                yield from ((index, *way) for way in _ways(field.value, wanted, depth - 1))


def _at(body: bytes, way: tuple[int, ...], spoil: Callable[[bytes], bytes]) -> bytes:
    if not way:
        return spoil(body)
    fields = _fields_of(body)
    assert fields is not None
    value = fields[way[0]].value
    assert isinstance(value, bytes)
    fields[way[0]] = fields[way[0]]._replace(value=_at(value, way[1:], spoil))
    return _joined(fields)


def _drop_cell(_: Random, cells: list[_Cell], index: int) -> None:
    del cells[index]


def _repeat_cell(chance: Random, cells: list[_Cell], index: int) -> None:
    cells[index:index] = [cells[index]] * chance.choice((1, 2, 4, 1025))


def _shuffle_cells(chance: Random, cells: list[_Cell], _: int) -> None:
    chance.shuffle(cells)


def _rename(chance: Random, cells: list[_Cell], index: int) -> None:
    cells[index] = cells[index]._replace(name=chance.choice(NAMES))


def _retype(chance: Random, cells: list[_Cell], index: int) -> None:
    kind = bytes((chance.choice((*range(13), 255)),))
    cells[index] = cells[index]._replace(variant=kind + (cells[index].variant or b"")[1:])


def _revalue(chance: Random, cells: list[_Cell], index: int) -> None:
    number = struct.pack("<q", max(-(2**63), min(chance.choice(NUMBERS), 2**63 - 1)))
    text = chance.choice(NAMES)
    length = struct.pack("<I", max(0, len(text) + chance.choice((0, 0, 0, 1, -1, 2**31))))
    double = struct.pack("<d", chance.choice((0.0, -0.0, 5e-324, float("nan"), float("inf"))))
    values = (None, b"", b"\x00" + number, b"\x01" + double, b"\x02" + number[:1], b"\x09", b"\x0a")
    texts = (b"\x03" + length + text, b"\x07" + length + text, b"\x0b")
    cells[index] = cells[index]._replace(variant=chance.choice(values + texts))


def _resize_value(chance: Random, cells: list[_Cell], index: int) -> None:
    size = chance.choice((0, 1, 1024, 1025, 66_000))
    variant = bytes((chance.choice((3, 7)),)) + struct.pack("<I", size) + b"x" * size
    cells[index] = cells[index]._replace(variant=variant)


def _operate(chance: Random, cells: list[_Cell], index: int) -> None:
    operation = chance.choice((None, 1, 2, 3, 4, 0, 255))
    cells[index] = cells[index]._replace(operation=operation)


def _date(chance: Random, cells: list[_Cell], index: int) -> None:
    version = chance.choice((None, *NUMBERS))
    fits = version is None or -(2**63) <= version < 2**63
    cells[index] = cells[index]._replace(version=version if fits else 0)


# --- words ---------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"\w+|'[^']*'|\s+|.", re.DOTALL)
_WORDS: Final = (
    *("SELECT", "FROM", "WHERE", "NULL", "IN", "LIKE", "JOIN", "ON", "AS", "NOT", "*", "k", "c"),
    *("(", ")", ",", ";", "'", '"', "`", "--", "/*", "=", "<", "-", "/", "%", "||", "T", "Series"),
    *("''", "'%'", "9223372036854775808", "1e308", "0.0", "x'0'", "count(*)", "sum(", "t.*"),
    *("INTERVAL", "CASE", "DISTINCT", "LIMIT 0", "ORDER BY 9", "GROUP BY 1", "\0", "é", "\u2028"),
)


def _is_text(value: bytes) -> bool:
    """Whether bytes are a text of several words."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return False
    return text.isprintable() and text.count(" ") > 0 and text[:1].isalpha()


def _in_words(change: Callable[[Random, list[str], int], None]) -> Mutation:
    """A mutation of a word of a text somewhere in the message."""

    def mutation(chance: Random, body: bytes) -> bytes:
        def spoil(data: bytes) -> bytes:
            words = _WORD.findall(data.decode())
            change(chance, words, chance.randrange(len(words)))
            return "".join(words).encode()

        places = list(_ways(body, _is_text))
        return _at(body, chance.choice(places), spoil) if places else _flip_bits(chance, body)

    return mutation


def _drop_words(chance: Random, words: list[str], index: int) -> None:
    del words[index : index + chance.choice((1, 1, 2, 5))]


def _repeat_words(chance: Random, words: list[str], index: int) -> None:
    words[index:index] = words[index : index + chance.choice((1, 3))] * chance.choice((1, 2, 200))


def _exchange_words(chance: Random, words: list[str], index: int) -> None:
    other = chance.randrange(len(words))
    words[index], words[other] = words[other], words[index]


def _other_word(chance: Random, words: list[str], index: int) -> None:
    words[index] = chance.choice(_WORDS)


def _more_words(chance: Random, words: list[str], index: int) -> None:
    words[index:index] = [" ", chance.choice(_WORDS), " "]


def _bracket_words(chance: Random, words: list[str], index: int) -> None:
    times = chance.choice((1, 2, 40, 3000))
    words[index] = "(" * times + words[index] + ")" * (times - (chance.random() < 0.1))


_WORD_CHANGES: Final[dict[str, Callable[[Random, list[str], int], None]]] = {
    "dropped": _drop_words,
    "repeated": _repeat_words,
    "exchanged": _exchange_words,
    "others": _other_word,
    "more": _more_words,
    "in brackets": _bracket_words,
}


def other_words(chance: Random, text: str) -> str:
    """A text with some of its words wrong."""
    words = _WORD.findall(text) or [""]
    chance.choice(tuple(_WORD_CHANGES.values()))(chance, words, chance.randrange(len(words)))
    return "".join(words)


# --- offsets -------------------------------------------------------------------------------------


def _is_flat(value: bytes) -> bool:
    """Whether bytes may be a FlatBuffer: its first number leads to a table inside it."""
    return len(value) >= 16 and len(value) % 4 == 0 and 0 < int.from_bytes(value[:4], "little") < 64


def _in_flat(change: Callable[[Random, bytearray, int], None]) -> Mutation:
    """A mutation of a number of a FlatBuffer somewhere in the message."""

    def mutation(chance: Random, body: bytes) -> bytes:
        def spoil(data: bytes) -> bytes:
            spoiled = bytearray(data)
            change(chance, spoiled, 4 * chance.randrange(len(data) // 4))
            return bytes(spoiled)

        places = list(_ways(body, _is_flat))
        return _at(body, chance.choice(places), spoil) if places else _flip_bits(chance, body)

    return mutation


def _other_offset(chance: Random, data: bytearray, at: int) -> None:
    number = chance.choice((*NUMBERS, len(data), len(data) - 4, at, -at)) % 2**32
    data[at : at + 4] = number.to_bytes(4, "little")


def _other_short(chance: Random, data: bytearray, at: int) -> None:
    at += chance.choice((0, 2))
    data[at : at + 2] = (chance.choice(NUMBERS) % 2**16).to_bytes(2, "little")


def _near_offset(chance: Random, data: bytearray, at: int) -> None:
    number = int.from_bytes(data[at : at + 4], "little") + chance.choice((-8, -4, -1, 1, 4, 8))
    data[at : at + 4] = (number % 2**32).to_bytes(4, "little")


FAMILIES: Final[dict[str, dict[str, Mutation]]] = {
    "bytes": {
        "flipped": _flip_bits,
        "overwritten": _overwrite,
        "inserted": _insert,
        "cut out": _cut,
        "cut off": _shorten,
        "repeated": _repeat,
    },
    "field": {
        "removed": _in_fields(_remove),
        "repeated": _in_fields(_repeat_field),
        "shuffled": _in_fields(_shuffle),
        "renumbered": _in_fields(_renumber),
        "of another kind": _in_fields(_rewire),
        "of another value": _in_fields(_other_value),
        "of a wrong length": _in_fields(_lie),
        "nested": _in_fields(_nest),
        "made a filter": _in_fields(_wrap_filter),
    },
    "cell": {
        "dropped": _in_row(_drop_cell),
        "repeated": _in_row(_repeat_cell),
        "shuffled": _in_row(_shuffle_cells),
        "renamed": _in_row(_rename),
        "of another type": _in_row(_retype),
        "of another value": _in_row(_revalue),
        "of another size": _in_row(_resize_value),
        "of another operation": _in_row(_operate),
        "of another date": _in_row(_date),
    },
    "words": {name: _in_words(change) for name, change in _WORD_CHANGES.items()},
    "offsets": {
        "of another value": _in_flat(_other_offset),
        "of two bytes": _in_flat(_other_short),
        "near": _in_flat(_near_offset),
    },
}
"""Every mutation, by family and name."""
