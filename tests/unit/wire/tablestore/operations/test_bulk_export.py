"""BulkExport from the bytes of the request to those of the answer (change §D2)."""

import pytest
from tests.support.answers import decode_answer_rows
from tests.support.buffers import key_buffer
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.checksum import crc8
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.table import OPERATIONS

bulk_export = OPERATIONS["BulkExport"]

Key = tuple[tuple[str, str | int | KeyMarker], ...]
LOW: Key = (("k", KeyMarker.INF_MIN), ("n", KeyMarker.INF_MIN))
HIGH: Key = (("k", KeyMarker.INF_MAX), ("n", KeyMarker.INF_MAX))
X_IS_2 = bytes.fromhex("0801121408011201781a0900020000000000000020002801")
KEY_BYTES = len("k") + len("a") + len("n") + 8


@pytest.fixture
def engine() -> TablestoreEngine:
    """An engine with the table `t` of three rows."""
    made = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
    made.core.run(made.create_table("i", create("t", schema)))
    for number in range(3):
        made.core.run(
            made.rows.write_row("i", put("t", {"k": "a", "n": number}, {"x": number, "y": "hi"}))
        )
    return made


def asked(*columns: str, kind: int | None = None, stop: Key = HIGH) -> bytes:
    request = m.BulkExportRequest(
        table_name="t",
        columns_to_get=columns,
        inclusive_start_primary_key=key_buffer(LOW),
        exclusive_end_primary_key=key_buffer(stop),
    )
    if kind is not None:
        request.data_block_type_hint = kind
    return request.SerializeToString()


def exported(engine: TablestoreEngine, body: bytes) -> m.BulkExportResponse:
    answer = bulk_export.call(engine, "i", bulk_export.decode(body))
    return m.BulkExportResponse.FromString(bulk_export.encode(answer))


def matrix(hexadecimal: str) -> bytes:
    data = bytes.fromhex(hexadecimal)
    return data + bytes((crc8(data),))


def test_a_matrix_has_the_columns_asked_for(engine: TablestoreEngine) -> None:
    """Key columns first, then attributes as requested; what no row has is missing."""
    answer = exported(engine, asked("y", "none", "n", "y", stop=(("k", "a"), ("n", 1))))
    assert answer.data_block_type == 1
    assert answer.rows == matrix(
        "53524d30 27000000 20000000 01000000 02000000"
        "01006e 010079 04006e6f6e65"
        "0a00 0301000000"
        "02 000000000000000000 03020000006869 06 01"
    )


def test_a_matrix_without_key_columns(engine: TablestoreEngine) -> None:
    answer = exported(engine, asked("x", stop=(("k", "a"), ("n", 1))))
    assert answer.rows == matrix(
        "53524d30 1e000000 17000000 00000000 01000000 010078 0a00 0301000000"
        "02 000000000000000000 01"
    )


def test_a_page_without_rows_is_a_valid_block(engine: TablestoreEngine) -> None:
    answer = exported(engine, asked("x", stop=(("k", "A"), ("n", 1))))
    assert answer.rows == matrix(
        "53524d30 1e000000 17000000 00000000 01000000 010078 0a00 0300000000 01"
    )
    assert not answer.HasField("next_start_primary_key")
    assert answer.HasField("rows")


def test_plainbuffer_has_the_whole_key(engine: TablestoreEngine) -> None:
    answer = exported(engine, asked("x", kind=0))
    assert (answer.HasField("data_block_type"), answer.data_block_type) == (True, 0)
    assert len(decode_answer_rows(answer.rows[4:])) == 3
    everything = exported(engine, asked(kind=0))
    assert everything.consumed.capacity_data_size.read_size == 3 * (KEY_BYTES + 9 + 3)


def test_bytes_scanned_count_and_units_do_not(engine: TablestoreEngine) -> None:
    consumed = exported(engine, asked("x")).consumed
    assert (consumed.capacity_unit.read, consumed.capacity_unit.write) == (0, 0)
    assert consumed.capacity_data_size.read_size == 3 * (KEY_BYTES + 9)


def test_no_matrix_without_columns() -> None:
    with pytest.raises(InvalidRequest) as refused:
        bulk_export.decode(asked())
    assert refused.value.rule is TablestoreRule.EXPORT_COLUMNS_MISSING


def test_rows_that_the_filter_drops_count_too(engine: TablestoreEngine) -> None:
    request = m.BulkExportRequest.FromString(asked("x", kind=0))
    request.filter = X_IS_2
    answer = exported(engine, request.SerializeToString())
    assert len(decode_answer_rows(answer.rows[4:])) == 1
    assert answer.consumed.capacity_data_size.read_size == 3 * (KEY_BYTES + 9)


def test_a_matrix_has_its_attributes_in_the_order_of_the_request(engine: TablestoreEngine) -> None:
    rows = exported(engine, asked("y", "k", "x")).rows
    assert rows.startswith(b"SRM0")
    assert rows[20:29] == b"\x01\x00k\x01\x00y\x01\x00x"


def test_a_bound_without_all_columns_of_the_key_is_refused_as_in_get_range(
    engine: TablestoreEngine,
) -> None:
    # change §D2
    with pytest.raises(InvalidRequest) as refused:
        exported(engine, asked("x", stop=HIGH[:1]))
    assert refused.value.rule is TablestoreRule.KEY_SIZE
