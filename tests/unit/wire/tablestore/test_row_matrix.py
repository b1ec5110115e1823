"""Rows of a page as a row matrix (wire §2.6)."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.answers import decode_answer_rows
from tests.support.buffers import key_buffer
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StoreDamaged
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.values import KeyMarker, KeyType, Value
from widerow.rows.checksum import crc8
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.operations.table import OPERATIONS
from widerow.wire.tablestore.operations.tokens import decode_token
from widerow.wire.tablestore.row_matrix import encode_matrix

get_range = OPERATIONS["GetRange"]

Row = tuple[dict[str, Value], dict[str, Value]]
LOW = (("k", KeyMarker.INF_MIN), ("n", KeyMarker.INF_MIN))
HIGH = (("k", KeyMarker.INF_MAX), ("n", KeyMarker.INF_MAX))


class Reader:
    """Reads a matrix by the layout of wire §2.6, from its first byte to its last."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, layout: str) -> int:
        """One number."""
        (number,) = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return int(number)

    def sized(self, layout: str) -> bytes:
        """Bytes behind their length."""
        size = self.take(layout)
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self) -> Value | None:
        """One value; None: missing."""
        kind = self.take("B")
        if kind == 6:
            return None
        if kind == 1:
            (number,) = struct.unpack_from("<d", self.data, self.at)
            self.at += 8
            return float(number)
        if kind in (3, 7):
            data = self.sized("i")
            return data.decode() if kind == 3 else data
        return bool(self.take("B")) if kind == 2 else self.take({0: "q"}[kind])

    def rows(self) -> list[Row]:
        assert self.take("I") == 0x304D5253
        rows_at, options_at, keys, attributes = (self.take("I") for _ in range(4))
        names = [self.sized("h").decode() for _ in range(keys + attributes)]
        assert self.at == options_at
        assert (self.take("B"), self.take("B"), self.take("B")) == (0x0A, 1, 3)
        count = self.take("i")
        assert self.at == rows_at
        rows = []
        for _ in range(count):
            assert self.take("B") == 2
            cells = [(name, self.value()) for name in names]
            found = {name: value for name, value in cells[keys:] if value is not None}
            rows.append(({name: value for name, value in cells[:keys] if value is not None}, found))
        assert self.take("B") == 1
        assert self.take("B") == crc8(self.data[:-1])
        assert self.at == len(self.data)
        return rows


@pytest.fixture
def engine() -> TablestoreEngine:
    opened = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
    opened.core.run(opened.create_table("i", create("t", schema, max_versions=3)))
    return opened


def asked(engine: TablestoreEngine, **fields: object) -> messages.GetRangeResponse:
    """The answer to a GetRange of the table with the hint."""
    request = messages.GetRangeRequest(
        table_name="t",
        direction=0,
        data_block_type_hint=1,
        inclusive_start_primary_key=key_buffer(LOW),
        exclusive_end_primary_key=key_buffer(HIGH),
    )
    for name, value in {"max_versions": 1, **fields}.items():
        if isinstance(value, list):
            getattr(request, name).extend(value)
        else:
            setattr(request, name, value)
    decoded = get_range.decode(request.SerializeToString())
    answer = get_range.encode(get_range.call(engine, "i", decoded))
    return messages.GetRangeResponse.FromString(answer)


def fill(engine: TablestoreEngine, rows: dict[tuple[str, int], dict[str, Value]]) -> None:
    for (k, n), columns in rows.items():
        engine.core.run(engine.rows.write_row("i", put("t", {"k": k, "n": n}, columns)))


def test_the_bytes_of_a_matrix(engine: TablestoreEngine) -> None:
    fill(engine, {("a", 1): {"x": 7, "y": "hi"}, ("b", -1): {"x": True, "z": 0}})
    answer = asked(engine, columns_to_get=["y", "x"])
    parts = (
        "53524d30",  # SRM0
        "27000000 20000000",  # where rows begin, where options begin
        "02000000 02000000",  # key columns, attribute columns
        "01006b 01006e 010079 010078",  # k n y x, as they are asked for
        "0a01 0302000000",  # whole keys, two rows
        "02 030100000061 000100000000000000 03020000006869 000700000000000000",
        "02 030100000062 00ffffffffffffffff 06 0201",
        "01",
    )
    expected = bytes.fromhex("".join(parts))
    assert answer.rows == expected + bytes((crc8(expected),))
    assert answer.data_block_type == 1
    assert not answer.HasField("compress_type")
    assert not answer.HasField("next_start_primary_key")


VALUES = st.one_of(
    st.integers(INT64_MIN, INT64_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=5),
    st.binary(max_size=5),
)
NAMES = st.sampled_from(["a", "b", "公司", "long name"])
ROWS = st.dictionaries(
    st.tuples(st.text("ab", max_size=2), st.integers(-2, 2)),
    st.dictionaries(NAMES, VALUES, max_size=4),
    max_size=5,
)


@given(ROWS, st.lists(NAMES, min_size=1, unique=True), st.sampled_from([[], ["n"]]))
def test_a_matrix_says_what_rows_say(
    rows: dict[tuple[str, int], dict[str, Value]], wanted: list[str], key_names: list[str]
) -> None:
    opened = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
    opened.core.run(opened.create_table("i", create("t", schema, max_versions=3)))
    fill(opened, rows)
    columns = [*wanted, *key_names]
    matrix = asked(opened, columns_to_get=columns)
    plain = asked(opened, columns_to_get=columns, data_block_type_hint=0)
    assert plain.data_block_type == 0
    assert matrix.consumed == plain.consumed
    said = [
        (key, {name: found[name][0][1] for name in wanted if name in found})
        for key, found in decode_answer_rows(plain.rows[4:])
    ]
    if not said:
        assert matrix == plain  # no row, so no matrix
        return
    assert matrix.data_block_type == 1
    assert repr(Reader(matrix.rows).rows()) == repr(said)  # true is not 1, -0.0 not 0.0


def test_pages_of_matrices(engine: TablestoreEngine) -> None:
    fill(engine, {("a", n): {"x": n} for n in range(5)})
    page = asked(engine, columns_to_get=["x"], limit=2)
    assert [found["x"] for _, found in Reader(page.rows).rows()] == [0, 1]
    following = asked(
        engine, columns_to_get=["x"], inclusive_start_primary_key=page.next_start_primary_key
    )
    assert [found["x"] for _, found in Reader(following.rows).rows()] == [2, 3, 4]
    assert not following.HasField("next_start_primary_key")


def test_a_matrix_of_key_columns_alone(engine: TablestoreEngine) -> None:
    fill(engine, {("a", 1): {"x": 7}})
    answer = asked(engine, columns_to_get=["n"])
    assert Reader(answer.rows).rows() == [({"k": "a", "n": 1}, {})]


def test_a_page_that_ends_inside_a_wide_row_is_no_matrix(engine: TablestoreEngine) -> None:
    # semantics §5.4: the rest of the row comes with the token
    columns: dict[str, Value] = {f"c{n}": "v" * 2_000_000 for n in range(10)}
    for name, value in columns.items():
        change = put("t", {"k": "a", "n": 1}, {name: value})
        change.modification = type(change.modification).UPDATE
        engine.core.run(engine.rows.write_row("i", change))
    answer = asked(engine, columns_to_get=list(columns))
    assert answer.data_block_type == 0
    assert decode_token(answer.next_token) is not None
    ((_, found),) = decode_answer_rows(answer.rows[4:])
    assert 1 <= len(found) < 10


@pytest.mark.parametrize("row", [b"", b"\x01\x03\x04", b"\x01\x03\x04\xff\xff\xff\xff"])
def test_what_is_no_row_is_damage(row: bytes) -> None:
    with pytest.raises(StoreDamaged):
        encode_matrix([row], ["k"], ["c"])
