"""CreateTable, ListTable, DescribeTable, UpdateTable, DeleteTable (semantics §2)."""

from dataclasses import replace
from functools import partial

import pytest
from tests.support.answers import decode_row, plain
from tests.support.changes import (
    copied,
    create,
    delete,
    delete_all,
    get,
    increment,
    put,
    put_cells,
    update,
)
from tests.support.engines import open_tablestore

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.errors import AnyRule, Conflict, Exhausted, InvalidRequest, NotFound, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS, SPACE_SEQUENCES
from widerow.model.tablestore.requests import (
    BatchWrite,
    CreateTable,
    OptionsChange,
    StreamChange,
    TableWrite,
    ThroughputChange,
    UpdateTable,
)
from widerow.model.tablestore.row import ReturnContent, ReturnType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import DefinedColumn, Encryption, KeyColumn, Table, Throughput
from widerow.model.tablestore.selection import Selection
from widerow.model.timeseries.requests import TableRequest
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import TimeseriesOptions
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

SCHEMA = {"k": KeyType.STRING, "n": KeyType.INTEGER}
FULL = CreateTable(
    "full",
    (KeyColumn("k", KeyType.INTEGER), KeyColumn("b", KeyType.BINARY)),
    (DefinedColumn("d", ColumnType.DOUBLE), DefinedColumn("s", ColumnType.STRING)),
    ThroughputChange(10, 20),
    OptionsChange(86_400, 5, 1000, allow_update=False, update_full_row=True),
    partitions=((KeyMarker.INF_MIN, 5), (5, 100), (100, KeyMarker.INF_MAX)),
    stream=StreamChange(enable=True, expiration_hours=24, columns=("s", "s", "d")),
    encryption=Encryption(enabled=True, key_type=2, key_id=b"id", role_arn=b"role"),
)


def test_describe_says_what_create_asked(engine: TablestoreEngine, clock: FakeClock) -> None:
    engine.core.run(engine.create_table("i", FULL))
    table = engine.describe_table("i", "full")
    assert table.key_columns == FULL.key_columns
    assert table.defined_columns == FULL.defined_columns
    assert table.options.time_to_live == 86_400
    assert table.options.max_versions == 5
    assert table.options.max_version_offset == 1000
    assert not table.options.allow_update
    assert table.options.update_full_row
    assert table.throughput.reserved == Throughput(10, 20)
    assert table.throughput.last_increase == clock.now_us() // 1_000_000
    assert table.throughput.last_decrease is None
    assert table.created_us == clock.now_us()
    assert len(table.splits) == 2
    assert table.stream is not None
    assert table.stream.columns == ("s", "d")
    assert table.encryption == FULL.encryption


def test_records_of_tables_come_back(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("i", FULL))
    table = engine.describe_table("i", "full")
    assert decode_table(encode_table(table)) == table
    plain = replace(table, stream=None, encryption=None, splits=())
    assert decode_table(encode_table(plain)) == plain
    for damaged in (b"", b"{}", b"[]", encode_table(table)[:-1], b'{"format":2}'):
        with pytest.raises(StoreDamaged):
            decode_table(damaged)
    with pytest.raises(StoreDamaged, match="unknown fields"):
        decode_table(encode_table(table)[:-1] + b',"more":1}')


def test_tables_survive_a_reopened_engine(engine: TablestoreEngine, store: Store) -> None:
    engine.core.run(engine.create_table("i", FULL))
    again = open_tablestore(store, FakeClock(), FakeEntropy())
    assert again.describe_table("i", "full") == engine.describe_table("i", "full")
    again.core.run(again.create_table("i", create("other", SCHEMA)))
    ids = {again.describe_table("i", name).id for name in again.list_tables("i")}
    assert len(ids) == 2


def test_existing_and_unknown_names(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))
    with pytest.raises(Conflict) as exists:
        engine.create_table("i", create("t", SCHEMA))
    assert exists.value.rule is TablestoreRule.TABLE_EXISTS
    engine.core.run(engine.create_table("other", create("t", SCHEMA)))  # instances do not meet
    assert engine.list_tables("i") == ("t",)
    for call in (engine.describe_table, engine.delete_table):
        with pytest.raises(NotFound):
            call("i", "nowhere")
    with pytest.raises(NotFound):
        engine.update_table("i", UpdateTable("nowhere", options=OptionsChange(max_versions=2)))


@pytest.mark.parametrize("name", ["0", "#", "中文", "T#", "T中文", "3t", "-", "", "a" * 256, "a\n"])
def test_invalid_table_names_come_before_everything(engine: TablestoreEngine, name: str) -> None:
    # semantics §1.4
    for call in (
        lambda: engine.create_table("i", create(name, SCHEMA)),
        lambda: engine.describe_table("i", name),
        lambda: engine.delete_table("i", name),
        lambda: engine.update_table("i", UpdateTable(name, options=OptionsChange(max_versions=2))),
        lambda: engine.rows.get_row("i", get(name, {"k": "a"})),
        lambda: engine.rows.write_row("i", put(name, {"k": "a"}, {})),
    ):
        with pytest.raises(InvalidRequest) as refused:
            call()
        assert refused.value.rule is TablestoreRule.TABLE_NAME


@pytest.mark.parametrize("name", ["_0", "_T", "A0", "a" * 255])
def test_valid_table_names(engine: TablestoreEngine, name: str) -> None:
    engine.core.run(engine.create_table("i", create(name, SCHEMA)))
    assert engine.list_tables("i") == (name,)


def test_delete_hides_at_once_and_frees_later(engine: TablestoreEngine, store: Store) -> None:
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": "a", "n": 1}, {"x": 1})))
    late = engine.rows.write_row("i", put("t", {"k": "a", "n": 2}, {"x": 1}))
    engine.core.run(engine.delete_table("i", "t"))
    with pytest.raises(NotFound):
        engine.core.run(late)  # planned before the drop, run after it
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))
    assert decode_row(engine.rows.get_row("i", get("t", {"k": "a", "n": 1})).row) is None
    assert check_store(store) == []
    cleaning = engine.core.housekeeping()
    assert cleaning is not None
    engine.core.run(cleaning)
    assert engine.core.housekeeping() is None
    assert list(store.snapshot().scan(SPACE_ROWS, after_prefix(SPACE_SEQUENCES))) == []


def test_an_interrupted_drop_is_finished_by_the_next_engine(
    engine: TablestoreEngine, store: Store
) -> None:
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": "a", "n": 1}, {"x": 1})))
    engine.core.run(engine.delete_table("i", "t"))
    again = open_tablestore(store, FakeClock(), FakeEntropy())
    assert again.list_tables("i") == ()
    cleaning = again.core.housekeeping()
    assert cleaning is not None
    again.core.run(cleaning)
    assert list(store.snapshot().scan(SPACE_ROWS, after_prefix(SPACE_ROWS))) == []


BAD_DEFINITIONS: list[tuple[CreateTable, AnyRule]] = [
    (create("t", {}), TablestoreRule.KEY_COLUMN_COUNT),
    (create("t", {f"k{n}": KeyType.STRING for n in range(5)}), TablestoreRule.KEY_COLUMN_COUNT),
    (
        create("t", [KeyColumn("k", KeyType.STRING), KeyColumn("k", KeyType.STRING)]),
        TablestoreRule.KEY_COLUMN_DUPLICATE,
    ),
    (create("t", {"3k": KeyType.STRING}), TablestoreRule.COLUMN_NAME),
    (
        create(
            "t",
            [
                KeyColumn("k", KeyType.STRING),
                KeyColumn("a", KeyType.INTEGER, auto_increment=True),
                KeyColumn("b", KeyType.INTEGER, auto_increment=True),
            ],
        ),
        TablestoreRule.AUTO_INCREMENT_COUNT,
    ),
    (
        create("t", [KeyColumn("k", KeyType.STRING), KeyColumn("a", KeyType.STRING, True)]),  # noqa: FBT003  # the flag under test
        TablestoreRule.AUTO_INCREMENT_TYPE,
    ),
    (
        create("t", [KeyColumn("k", KeyType.INTEGER, auto_increment=True)]),
        TablestoreRule.AUTO_INCREMENT_FIRST,
    ),
    (create("t", SCHEMA, time_to_live=0), TablestoreRule.TIME_TO_LIVE_VALUE),
    (create("t", SCHEMA, time_to_live=-2), TablestoreRule.TIME_TO_LIVE_VALUE),
    (create("t", SCHEMA, max_versions=0), TablestoreRule.MAX_VERSIONS_VALUE),
    (create("t", SCHEMA, max_version_offset=-1), TablestoreRule.MAX_VERSION_OFFSET),
    (
        create("t", SCHEMA, max_version_offset=(2**63 - 1) // 1_000_000 + 1),
        TablestoreRule.MAX_VERSION_OFFSET,
    ),
    (
        replace(create("t", SCHEMA), options=OptionsChange(max_versions=1)),
        TablestoreRule.TIME_TO_LIVE_MISSING,
    ),
    (replace(create("t", SCHEMA), options=OptionsChange(-1)), TablestoreRule.MAX_VERSIONS_MISSING),
    (replace(FULL, throughput=ThroughputChange(1, None)), TablestoreRule.THROUGHPUT_MISSING),
    (replace(FULL, throughput=ThroughputChange(-1, 0)), TablestoreRule.THROUGHPUT_READ_NEGATIVE),
    (replace(FULL, throughput=ThroughputChange(0, -1)), TablestoreRule.THROUGHPUT_WRITE_NEGATIVE),
    (replace(FULL, throughput=ThroughputChange(0, 100_001)), TablestoreRule.THROUGHPUT_TOO_LARGE),
    (
        replace(FULL, stream=StreamChange(enable=True, expiration_hours=169)),
        TablestoreRule.STREAM_EXPIRATION,
    ),
    (
        replace(FULL, defined_columns=(DefinedColumn("k", ColumnType.STRING),)),
        TablestoreRule.DEFINED_COLUMN_DUPLICATE,
    ),
    (
        replace(
            FULL,
            defined_columns=tuple(DefinedColumn(f"d{n}", ColumnType.STRING) for n in range(33)),
        ),
        TablestoreRule.DEFINED_COLUMN_COUNT,
    ),
]


@pytest.mark.parametrize(("request_", "rule"), BAD_DEFINITIONS)
def test_bad_definitions(engine: TablestoreEngine, request_: CreateTable, rule: AnyRule) -> None:
    # semantics §2.1, §4.7
    with pytest.raises(InvalidRequest) as refused:
        engine.create_table("i", request_)
    assert refused.value.rule is rule
    assert engine.list_tables("i") == ()


def test_bad_pre_splits(engine: TablestoreEngine) -> None:
    # semantics §2.1
    low, high = KeyMarker.INF_MIN, KeyMarker.INF_MAX
    text = replace(FULL, key_columns=(KeyColumn("k", KeyType.STRING),))
    eleven = [(low, 1), *((n, n + 1) for n in range(1, 10)), (10, high)]
    for request, partitions, rule in (
        (FULL, eleven, TablestoreRule.SPLIT_COUNT),
        (FULL, [(low, 2**63 - 1), (2**63 - 1, high)], TablestoreRule.SPLIT_INFINITE),
        (FULL, [(low, "a"), ("a", high)], TablestoreRule.SPLIT_TYPE),
        (FULL, [(low, 5), (6, high)], TablestoreRule.SPLIT_CONTIGUOUS),
        (FULL, [(low, 5), (5, 4), (4, high)], TablestoreRule.SPLIT_CONTIGUOUS),
        (FULL, [(1, 5), (5, high)], TablestoreRule.SPLIT_CONTIGUOUS),
        (text, [(low, ""), ("", high)], TablestoreRule.SPLIT_EMPTY_STRING),
        (text, [(low, "a" * 65), ("a" * 65, high)], TablestoreRule.SPLIT_LENGTH),
    ):
        with pytest.raises(InvalidRequest) as refused:
            engine.create_table("i", replace(request, partitions=tuple(partitions)))  # type: ignore[arg-type]  # a mixed table of cases
        assert refused.value.rule is rule


def test_table_quota(engine: TablestoreEngine) -> None:
    # semantics §17: 64 tables in an instance
    for n in range(64):
        engine.core.run(engine.create_table("i", create(f"t{n}", SCHEMA)))
    with pytest.raises(Exhausted) as refused:
        engine.create_table("i", create("t64", SCHEMA))
    assert refused.value.rule is TablestoreRule.TABLE_QUOTA
    engine.core.run(engine.create_table("other", create("t", SCHEMA)))


def test_a_timeseries_table_counts_as_two_tables(engine: TablestoreEngine) -> None:
    """timeseries §1"""
    series = engine.core.operations(TIMESERIES)
    for n in range(31):
        engine.core.run(series.create("i", TableRequest(f"s{n}", TimeseriesOptions())))
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))
    with pytest.raises(Exhausted) as refused:
        engine.core.run(series.create("i", TableRequest("more", TimeseriesOptions())))
    assert refused.value.rule is TimeseriesRule.TABLE_QUOTA
    engine.core.run(engine.create_table("i", create("u", SCHEMA)))
    with pytest.raises(Exhausted):
        engine.core.run(engine.create_table("i", create("more", SCHEMA)))
    engine.core.run(series.drop("i", "s0"))
    engine.core.run(engine.create_table("i", create("more", SCHEMA)))
    with pytest.raises(Exhausted):
        engine.core.run(series.create("i", TableRequest("more2", TimeseriesOptions())))


def test_update_table(engine: TablestoreEngine, clock: FakeClock) -> None:
    # semantics §2.4
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))

    def change(**parts: object) -> Table:
        return engine.core.run(engine.update_table("i", UpdateTable("t", **parts)))  # type: ignore[arg-type]  # parts by name

    assert change(options=OptionsChange(3600, 7)).options.max_versions == 7
    assert engine.describe_table("i", "t").options.time_to_live == 3600
    with pytest.raises(Exhausted) as early:
        change(throughput=ThroughputChange(5, None))
    assert early.value.rule is TablestoreRule.THROUGHPUT_CHANGE_RATE
    clock.advance(120)
    table = change(throughput=ThroughputChange(5, None))
    assert table.throughput.reserved == Throughput(5, 0)
    assert table.throughput.last_increase == clock.now_us() // 1_000_000
    clock.advance(120)
    table = change(throughput=ThroughputChange(1, 0))
    assert table.throughput.last_decrease == clock.now_us() // 1_000_000
    on = change(stream=StreamChange(enable=True, expiration_hours=5, columns=("a",))).stream
    assert on is not None
    more = change(stream=StreamChange(enable=True, columns=("a", "b"))).stream
    assert more == replace(on, columns=("a", "b"))
    assert change(stream=StreamChange(enable=False)).stream is None


@pytest.mark.parametrize(
    ("request_", "rule"),
    [
        (UpdateTable("t"), TablestoreRule.TABLE_UPDATE_EMPTY),
        (UpdateTable("t", options=OptionsChange()), TablestoreRule.TABLE_OPTIONS_EMPTY),
        (UpdateTable("t", options=OptionsChange(0)), TablestoreRule.TIME_TO_LIVE_VALUE),
        (
            UpdateTable("t", options=OptionsChange(update_full_row=True)),
            TablestoreRule.UPDATE_FULL_ROW_FIXED,
        ),
        (UpdateTable("t", throughput=ThroughputChange(-1, -1)), TablestoreRule.THROUGHPUT_UPDATE),
        (
            UpdateTable("t", throughput=ThroughputChange(100_001, 1)),
            TablestoreRule.THROUGHPUT_TOO_LARGE,
        ),
    ],
)
def test_bad_updates(engine: TablestoreEngine, request_: UpdateTable, rule: AnyRule) -> None:
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))
    with pytest.raises(InvalidRequest) as refused:
        engine.update_table("i", request_)
    assert refused.value.rule is rule


def test_auto_increment_keys(engine: TablestoreEngine, clock: FakeClock) -> None:
    # semantics §4.7
    columns = [KeyColumn("k", KeyType.STRING), KeyColumn("n", KeyType.INTEGER, auto_increment=True)]
    engine.core.run(engine.create_table("i", create("t", columns)))
    chosen: dict[str, KeyInput] = {"k": "a", "n": KeyMarker.AUTO_INCREMENT}
    returns = ReturnContent(ReturnType.PRIMARY_KEY)
    numbers: list[int] = []
    for step in (0, 0, -10, 5):
        clock.advance(step)
        written = engine.core.run(
            engine.rows.write_row("i", put("t", chosen, {"x": step}, returns=returns))
        )
        row = decode_row(written.row)
        assert row is not None
        number = row[0]["n"]
        assert isinstance(number, int)
        found = decode_row(engine.rows.get_row("i", get("t", {"k": "a", "n": number})).row)
        assert found is not None
        numbers.append(number)
    assert numbers == sorted(set(numbers))
    far = numbers[-1] + 1000
    engine.core.run(engine.rows.write_row("i", copied("t", {"k": "a", "n": far}, {"x": 1})))
    written = engine.core.run(
        engine.rows.write_row("i", put("t", chosen, {"x": 1}, returns=returns))
    )
    row = decode_row(written.row)
    assert row is not None
    assert row[0]["n"] == far + 1
    with pytest.raises(InvalidRequest) as refused:
        engine.rows.write_row("i", delete("t", chosen))
    assert refused.value.rule is TablestoreRule.AUTO_INCREMENT_DELETE
    with pytest.raises(InvalidRequest) as refused:
        engine.rows.get_row("i", get("t", chosen))
    assert refused.value.rule is TablestoreRule.KEY_AUTO_INCREMENT_READ
    engine.core.run(engine.rows.write_row("i", copied("t", {"k": "a", "n": 2**63 - 1}, {"x": 1})))
    with pytest.raises(Exhausted):
        engine.core.run(engine.rows.write_row("i", put("t", chosen, {"x": 1})))


def test_writes_make_no_row_under_a_concrete_auto_increment_key(engine: TablestoreEngine) -> None:
    # semantics §4.7: PutRow, UpdateRow and DeleteRow address existing rows with a concrete value
    columns = [KeyColumn("k", KeyType.STRING), KeyColumn("n", KeyType.INTEGER, auto_increment=True)]
    engine.core.run(engine.create_table("i", create("t", columns)))
    absent: dict[str, KeyInput] = {"k": "a", "n": 2**62}
    changes = [
        update("t", absent, cells)
        for cells in (put_cells({"x": 1}), (increment("x", 1),), (delete_all("x"),))
    ]
    for change in (*changes, put("t", absent, {"x": 1}), put("t", absent, {})):
        with pytest.raises(Conflict) as refused:
            engine.core.run(engine.rows.write_row("i", change))
        assert refused.value.rule is TablestoreRule.CONDITION_FAILED
        for atomic in (False, True):
            batch = BatchWrite((TableWrite("t", (change,)),), atomic)
            ((outcome,),) = engine.core.run(engine.rows.batch_write_row("i", batch))
            assert isinstance(outcome.error, Conflict)
    assert engine.rows.get_row("i", get("t", absent)).row == b""
    engine.core.run(engine.rows.write_row("i", delete("t", absent)))
    # the refused numbers were not noted: the next one is far below them
    returns = ReturnContent(ReturnType.PRIMARY_KEY)
    chosen: dict[str, KeyInput] = {"k": "a", "n": KeyMarker.AUTO_INCREMENT}
    made = update("t", chosen, put_cells({"x": 1}), returns=returns)
    row = decode_row(engine.core.run(engine.rows.write_row("i", made)).row)
    assert row is not None
    number = row[0]["n"]
    assert isinstance(number, int)
    assert number < 2**62
    # a row that exists is updated
    engine.core.run(
        engine.rows.write_row("i", update("t", {"k": "a", "n": number}, put_cells({"x": 2})))
    )
    found = decode_row(engine.rows.get_row("i", get("t", {"k": "a", "n": number})).row)
    assert found is not None
    assert plain(found) == {"x": 2}


def test_defined_columns_come_and_go(engine: TablestoreEngine, store: Store) -> None:
    # semantics §2.6
    engine.core.run(engine.create_table("i", FULL))
    more = (DefinedColumn("e", ColumnType.BOOLEAN), DefinedColumn("f", ColumnType.BINARY))
    engine.core.run(engine.add_defined_columns("i", "full", more))
    assert engine.describe_table("i", "full").defined_columns == FULL.defined_columns + more
    engine.core.run(engine.delete_defined_columns("i", "full", ("d", "f")))
    names = [c.name for c in engine.describe_table("i", "full").defined_columns]
    assert names == ["s", "e"]
    again = open_tablestore(store, FakeClock(), FakeEntropy())
    assert [c.name for c in again.describe_table("i", "full").defined_columns] == names
    text = ColumnType.STRING
    for columns, rule in (
        ((DefinedColumn("s", text),), TablestoreRule.DEFINED_COLUMN_DUPLICATE),
        ((DefinedColumn("k", text),), TablestoreRule.DEFINED_COLUMN_DUPLICATE),
        ((DefinedColumn("#", text),), TablestoreRule.COLUMN_NAME),
        ((), TablestoreRule.DEFINED_COLUMN_MISSING),
        (
            tuple(DefinedColumn(f"x{n}", text) for n in range(31)),
            TablestoreRule.DEFINED_COLUMN_COUNT,
        ),
    ):
        with pytest.raises(InvalidRequest) as refused:
            engine.core.run(engine.add_defined_columns("i", "full", columns))
        assert refused.value.rule is rule
    with pytest.raises(InvalidRequest) as unknown:
        engine.core.run(engine.delete_defined_columns("i", "full", ("nowhere",)))
    assert unknown.value.rule is TablestoreRule.DEFINED_COLUMN_UNKNOWN
    with pytest.raises(NotFound):
        engine.add_defined_columns("i", "nowhere", more)


def test_attribute_columns_are_named_as_the_service_names_them(
    store: Store, clock: FakeClock
) -> None:
    # semantics §1.4: what the Java SDK's tests found the service to accept and to reject
    lenient = open_tablestore(store, clock, FakeEntropy())
    lenient.core.run(lenient.create_table("i", create("t", {"k": KeyType.STRING})))
    strict = open_tablestore(store, clock, FakeEntropy(), strict_column_names=True)
    for name in (
        *("公司", "a b", ".", ":", "'", '"', "$", "&", "*", "(", "/", "\\", "\n", "3-x"),
        *("postal code", "price-2", "Header 1"),
    ):
        change = put("t", {"k": "a"}, {name: 1})
        read = get("t", {"k": "a"}, Selection(frozenset({name})))
        for ask in (
            partial(strict.rows.write_row, "i", change),
            partial(strict.rows.get_row, "i", read),
        ):
            with pytest.raises(InvalidRequest) as refused:
                ask()
            assert refused.value.rule is TablestoreRule.COLUMN_NAME
        lenient.core.run(lenient.rows.write_row("i", change))
        row = decode_row(lenient.rows.get_row("i", read).row)
        assert row is not None
        assert list(row[1]) == [name]
    for name in ("#", "#abc", "#公司", "# ", "", "a" * 256, "公" * 86):
        with pytest.raises(InvalidRequest) as refused:
            lenient.rows.write_row("i", put("t", {"k": "a"}, {name: 1}))
        assert refused.value.rule is TablestoreRule.ATTRIBUTE_NAME


@pytest.mark.parametrize("name", ["公司", "a b", "price-2", "3x"])
def test_declared_columns_are_named_by_the_documented_rule(
    engine: TablestoreEngine, name: str
) -> None:
    # semantics §1.4: for primary key columns the strict rule
    defined = replace(
        create("t", SCHEMA), defined_columns=(DefinedColumn(name, ColumnType.STRING),)
    )
    for request in (create("t", {name: KeyType.STRING}), defined):
        with pytest.raises(InvalidRequest) as refused:
            engine.create_table("i", request)
        assert refused.value.rule is TablestoreRule.COLUMN_NAME
    engine.core.run(engine.create_table("i", create("t", SCHEMA)))
    with pytest.raises(InvalidRequest) as refused:
        engine.rows.write_row("i", put("t", {"k": "a", name: 1}, {"x": 1}))
    assert refused.value.rule is TablestoreRule.COLUMN_NAME
