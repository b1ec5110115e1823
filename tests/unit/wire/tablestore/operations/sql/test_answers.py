"""The rows of a result in FlatBuffers, read by the classes of the vendor's SDK (sql §9)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tablestore.flatbuffer.dataprotocol.SQLResponseColumns import SQLResponseColumns
from tests.support.changes import create
from tests.support.statements import statement_engine

from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.wire.tablestore import sql_messages as m
from widerow.wire.tablestore.operations.sql.answers import encode_flat_rows
from widerow.wire.tablestore.operations.sql.kinds import SqlKind
from widerow.wire.tablestore.operations.sql.select import ResultColumn
from widerow.wire.tablestore.operations.table import OPERATIONS

LONG, BOOLEAN, DOUBLE, STRING, BINARY, COMPLEX = 1, 2, 3, 4, 5, 7  # DataType
VECTORS = {
    SqlKind.LONG: (LONG, "LongValues", st.integers(-(2**63), 2**63 - 1)),
    SqlKind.BOOL: (BOOLEAN, "BoolValues", st.booleans()),
    SqlKind.DOUBLE: (DOUBLE, "DoubleValues", st.floats(allow_nan=False)),
    SqlKind.TEXT: (STRING, "StringValues", st.text(max_size=5)),
    SqlKind.BYTES: (BINARY, "BinaryValues", st.binary(max_size=5)),
}
RESULTS = st.lists(st.sampled_from(list(VECTORS)), min_size=1, max_size=4).flatmap(
    lambda kinds: st.tuples(
        st.just(kinds),
        st.lists(st.tuples(*[st.none() | VECTORS[kind][2] for kind in kinds]), max_size=5),
    )
)


def columns_of(data: bytes) -> SQLResponseColumns:
    return SQLResponseColumns.GetRootAsSQLResponseColumns(data, 0)


def read(column: Any, vector: str) -> list[object]:  # noqa: ANN401  # the SDK has no types
    """The values of a column, with None where one is NULL."""
    values = column.ColumnValue()
    found: list[object] = []
    assert getattr(values, f"{vector}Length")() == values.IsNullvaluesLength()
    for row in range(values.IsNullvaluesLength()):
        value = getattr(values, vector)(row)
        if vector == "BinaryValues":
            value = bytes(value.Value(each) & 0xFF for each in range(value.ValueLength()))
        if vector == "StringValues":
            value = value.decode()
        found.append(None if values.IsNullvalues(row) else value)
    return found


@given(RESULTS)
def test_rows_are_read_as_they_were(result: tuple[list[SqlKind], list[tuple[Any, ...]]]) -> None:
    kinds, rows = result
    columns = [ResultColumn(f"c{number}", kind) for number, kind in enumerate(kinds)]
    values = tuple(zip(*rows, strict=True)) if rows else ((),) * len(kinds)
    found = columns_of(encode_flat_rows(columns, values, len(rows), typed_times=True))
    assert (found.RowCount(), found.ColumnsLength()) == (len(rows), len(kinds))
    for number, kind in enumerate(kinds):
        column = found.Columns(number)
        assert column.ColumnName().decode() == f"c{number}"
        assert column.ColumnType() == VECTORS[kind][0]
        assert read(column, VECTORS[kind][1]) == list(values[number])
        assert numbers_begin_at(column.ColumnValue()) % 8 == 0


def numbers_begin_at(values: Any) -> int:  # noqa: ANN401  # the SDK has no types
    """Where the numbers of 64 bits of a column begin, if it has such; else 0."""
    for slot in (LONG, DOUBLE):  # of its vector, which has the number of the type
        offset = values._tab.Offset(4 + 2 * slot)
        if offset:
            return int(values._tab.Vector(offset))
    return 0


def test_times_are_numbers_with_a_logic_type_for_clients_that_ask() -> None:
    kinds = (SqlKind.DATETIME, SqlKind.DATE, SqlKind.TIME, SqlKind.NULL)
    columns = [ResultColumn(kind.value, kind) for kind in kinds]
    values = ([1668585138995000, None], [1668556800000000, 0], [-125283000, 0], [None, None])
    typed = columns_of(encode_flat_rows(columns, values, 2, typed_times=True))
    assert [typed.Columns(each).ColumnType() for each in range(4)] == [*[COMPLEX] * 3, STRING]
    numbers = [read(typed.Columns(each), "LongValues") for each in range(3)]
    assert numbers == [[1668585138995000, None], [1668556800, 0], [-125283000000, 0]]
    texts = columns_of(encode_flat_rows(columns, values, 2, typed_times=False))
    assert [read(texts.Columns(each), "StringValues") for each in range(4)] == [
        ["2022-11-16 07:52:18.995", None],
        ["2022-11-16", "1970-01-01"],
        ["-00:02:05.283", "00:00:00"],
        [None, None],
    ]


def test_an_answer_tells_what_its_statement_was() -> None:
    engine = statement_engine()
    engine.core.run(engine.create_table("i", create("t", (KeyColumn("a", KeyType.INTEGER),))))
    operation = OPERATIONS["SQLQuery"]

    def answer(text: str) -> Any:  # noqa: ANN401  # a message
        body = m.SQLQueryRequest(query=text, version=2).SerializeToString()
        result = operation.call(engine, "i", operation.decode(body))
        found = engine.core.run(result) if hasattr(result, "writes") else result
        assert operation.consumed is not None
        assert min(operation.consumed(found)) >= 0
        return m.SQLQueryResponse.FromString(operation.encode(found))

    created = answer("CREATE TABLE t (a BIGINT PRIMARY KEY, v BIGINT)")
    assert (created.version, created.type, created.HasField("rows")) == (2, 2, False)
    inserted = answer("INSERT INTO t VALUES (1, 2)")
    assert (inserted.type, inserted.affected_rows, inserted.HasField("rows")) == (7, 1, False)
    selected = answer("SELECT * FROM t WHERE a > 5")
    assert (selected.type, columns_of(selected.rows).RowCount()) == (1, 0)
    [consumed] = selected.consumes
    unit = consumed.consumed.capacity_unit
    assert (consumed.table_name, unit.read, unit.write) == ("t", 1, 0)
    assert [answer(text).type for text in ("SHOW TABLES", "DESC t", "SELECT 1")] == [3, 4, 1]
