"""The founding page on primary keys and attributes (pages 000 to 002), statement by statement.

docs/protocol/seed-coverage.md says which statement is proved here and which elsewhere.
(semantics §1)
"""

from collections.abc import Iterable
from typing import Final

import pytest
from tests.support.answers import AnsweredRow, decode_answer_rows, decode_row, plain
from tests.support.changes import Columns, create, delete, get, put, put_cells, scan_all, update

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, InvalidRequest
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.tablestore.requests import BatchWrite, OptionsChange, TableWrite, UpdateTable
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Selection, TimeRange
from widerow.model.values import KeyMarker, KeyType, KeyValue, Value
from widerow.testing.clock import FakeClock

JULY_20: Final = 1_468_944_000_000  # 2016-07-20 00:00:00 UTC, in milliseconds
JULY_21: Final = JULY_20 + 86_400_000
DAY: Final = 86_400  # in seconds
MIN, MAX = KeyMarker.INF_MIN, KeyMarker.INF_MAX


def make(
    engine: TablestoreEngine,
    *,
    time_to_live: int = -1,
    max_versions: int = 1,
    offset: int = DAY,
    kind: KeyType = KeyType.INTEGER,
) -> None:
    """Table t with the key k."""
    request = create(
        "t",
        {"k": kind},
        time_to_live=time_to_live,
        max_versions=max_versions,
        max_version_offset=offset,
    )
    engine.core.run(engine.create_table("i", request))


def write(engine: TablestoreEngine, change: RowChange) -> None:
    engine.core.run(engine.rows.write_row("i", change))


def put_versions(engine: TablestoreEngine, *versions: int) -> None:
    """Add versions of the column x to the row 1; each has its version for a value."""
    cells = put_cells({"x": [(version, version) for version in versions]})
    write(engine, update("t", {"k": 1}, cells))


def read(
    engine: TablestoreEngine, key: KeyValue = 1, selection: Selection | None = None
) -> AnsweredRow | None:
    return decode_row(engine.rows.get_row("i", get("t", {"k": key}, selection)).row)


def versions(engine: TablestoreEngine, selection: Selection | None = None) -> list[int]:
    """The versions of x in the row 1 that a read shows, newest first."""
    row = read(engine, 1, selection)
    return [] if row is None else [version for version, _ in row[1].get("x", [])]


def refusal(engine: TablestoreEngine, change: RowChange) -> AnyRule:
    with pytest.raises(InvalidRequest) as refused:
        write(engine, change)
    return refused.value.rule


# --- primary key ---------------------------------------------------------------------------------


def test_a_primary_key_names_one_row(engine: TablestoreEngine) -> None:
    make(engine)
    for key, value in ((1, "a"), (2, "b"), (1, "c")):
        write(engine, put("t", {"k": key}, {"x": value}))
    page = engine.rows.get_range("i", scan_all("t", {"k": MIN}, {"k": MAX}))
    assert [(row[0]["k"], plain(row)) for row in decode_answer_rows(page.rows)] == [
        (1, {"x": "c"}),
        (2, {"x": "b"}),
    ]


def test_names_types_and_order_of_a_key_are_fixed_at_creation(engine: TablestoreEngine) -> None:
    declared = {"s": KeyType.STRING, "i": KeyType.INTEGER, "b": KeyType.BINARY}
    engine.core.run(engine.create_table("i", create("t", declared)))
    described = engine.describe_table("i", "t").key_columns
    assert [(column.name, column.type) for column in described] == list(declared.items())
    write(engine, put("t", {"s": "a", "i": 1, "b": b""}, {}))
    assert refusal(engine, put("t", {"i": 1, "s": "a", "b": b""}, {})) is TablestoreRule.KEY_NAME
    assert refusal(engine, put("t", {"s": "a", "i": "1", "b": b""}, {})) is TablestoreRule.KEY_TYPE
    assert refusal(engine, put("t", {"s": "a", "i": 1, "c": b""}, {})) is TablestoreRule.KEY_NAME
    assert refusal(engine, put("t", {"s": "a", "i": 1}, {})) is TablestoreRule.KEY_SIZE


# --- partition key -------------------------------------------------------------------------------


def test_the_first_key_column_is_the_partition_key(engine: TablestoreEngine) -> None:
    """What belongs together is what its value says: an atomic batch reaches no further."""
    engine.core.run(
        engine.create_table("i", create("t", {"a": KeyType.INTEGER, "b": KeyType.INTEGER}))
    )

    def outcomes(*keys: tuple[int, int]) -> list[bool]:
        changes = tuple(put("t", {"a": a, "b": b}, {"x": 1}) for a, b in keys)
        batch = BatchWrite((TableWrite("t", changes),), atomic=True)
        (rows,) = engine.core.run(engine.rows.batch_write_row("i", batch))
        return [row.error is None for row in rows]

    assert outcomes((1, 1), (1, 2), (1, 3)) == [True] * 3
    assert outcomes((1, 4), (2, 4)) == [False] * 2
    page = engine.rows.get_range("i", scan_all("t", {"a": MIN, "b": MIN}, {"a": MAX, "b": MAX}))
    assert [row[0]["b"] for row in decode_answer_rows(page.rows)] == [1, 2, 3]


# --- attributes ----------------------------------------------------------------------------------


def test_rows_of_a_table_have_columns_and_types_of_their_own(engine: TablestoreEngine) -> None:
    make(engine)
    rows: dict[int, dict[str, Value]] = {1: {"x": 1, "y": 2}, 2: {"x": "text"}, 3: {"z": b""}}
    for key, columns in rows.items():
        write(engine, put("t", {"k": key}, dict(columns)))
    assert {key: plain(read(engine, key)) for key in rows} == rows


# --- versions ------------------------------------------------------------------------------------


def test_the_writer_may_choose_a_version(engine: TablestoreEngine) -> None:
    make(engine, max_versions=3)
    put_versions(engine, JULY_20 - 5, JULY_20 + 5)
    assert versions(engine) == [JULY_20 + 5, JULY_20 - 5]


def test_without_a_version_the_server_takes_its_time_in_milliseconds(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine, max_versions=3)
    for moment in (JULY_20 + 1, JULY_20 + 234):
        clock.set(moment)
        write(engine, update("t", {"k": 1}, put_cells({"x": moment})))
    assert versions(engine) == [JULY_20 + 234, JULY_20 + 1]


def test_reads_are_limited_by_a_number_or_a_range_of_versions(engine: TablestoreEngine) -> None:
    make(engine, max_versions=9)
    put_versions(engine, *(JULY_20 + number for number in range(6)))
    for count in (1, 2, 6, 7):
        shown = [JULY_20 + number for number in range(5, -1, -1)][:count]
        assert versions(engine, Selection(max_versions=count)) == shown
    times = TimeRange(JULY_20 + 1, JULY_20 + 4)
    within = [JULY_20 + number for number in (3, 2, 1)]
    assert versions(engine, Selection(time_range=times)) == within
    assert versions(engine, Selection(time_range=times, max_versions=2)) == within[:2]


def test_beyond_max_versions_the_oldest_are_discarded(engine: TablestoreEngine) -> None:
    make(engine, max_versions=3)
    for number, kept in ((0, 1), (1, 2), (2, 3), (3, 3), (4, 3)):
        put_versions(engine, JULY_20 + number)
        assert versions(engine) == [JULY_20 + number - back for back in range(kept)]
    put_versions(engine, JULY_20 - 1)  # older than all that are kept
    assert versions(engine) == [JULY_20 + 4, JULY_20 + 3, JULY_20 + 2]
    change = OptionsChange(max_versions=9)  # they are gone, not hidden
    engine.core.run(engine.update_table("i", UpdateTable("t", options=change)))
    assert versions(engine) == [JULY_20 + 4, JULY_20 + 3, JULY_20 + 2]


def test_each_column_keeps_its_own_versions(engine: TablestoreEngine) -> None:
    make(engine, max_versions=2)
    cells = {name: [(JULY_20 + n, n) for n in range(4)] for name in ("a", "b")}
    write(engine, put("t", {"k": 1}, _columns(cells)))
    row = read(engine)
    assert row is not None
    assert {name: len(kept) for name, kept in row[1].items()} == {"a": 2, "b": 2}


def _columns(cells: dict[str, list[tuple[int, int]]]) -> Columns:
    return {name: [*pairs] for name, pairs in cells.items()}


@pytest.mark.parametrize("milliseconds", [0, 1, 500, 999])
def test_the_offset_counts_whole_seconds_too(
    engine: TablestoreEngine, clock: FakeClock, milliseconds: int
) -> None:
    clock.set(JULY_21 + milliseconds)
    make(engine, offset=10, max_versions=9)
    low, high = JULY_21 - 10_000, JULY_21 + 10_000
    put_versions(engine, low, high - 1)
    for version in (low - 1, high):
        change = put("t", {"k": 1}, {"x": [(version, 1)]})
        assert refusal(engine, change) is TablestoreRule.VERSION_WINDOW


@pytest.mark.parametrize("late", [0, 1, 499, 999])
def test_the_servers_versions_expire_so_many_seconds_after_the_write(
    engine: TablestoreEngine, clock: FakeClock, late: int
) -> None:
    make(engine, time_to_live=60)
    clock.set(JULY_20 + late)
    write(engine, put("t", {"k": 1}, {"x": 1}))
    clock.set(JULY_20 + 60_000 - 1)
    assert versions(engine) == [JULY_20 + late]
    clock.set(JULY_20 + 60_000)  # seconds count: the write was in the second of JULY_20
    assert read(engine) is None


# --- column names --------------------------------------------------------------------------------

GOOD_NAMES: Final = ("a", "Z", "_", "_1", "a1_", "A" * 255)
GOOD_KEY: Final = GOOD_NAMES[2:]
BAD_NAMES: Final = ("", "1a", "0", "-", "a-b", "a b", "a.b", "a$", "#", "é", "列", "a" * 256)


def test_names_inside_the_convention_are_taken(engine: TablestoreEngine) -> None:
    engine.core.run(
        engine.create_table("i", create("key", dict.fromkeys(GOOD_KEY, KeyType.INTEGER)))
    )
    make(engine)
    columns: dict[str, Value] = dict.fromkeys(GOOD_NAMES, 1)
    write(engine, put("t", {"k": 1}, dict(columns)))
    assert plain(read(engine)) == columns
    assert tuple(each.name for each in engine.describe_table("i", "key").key_columns) == GOOD_KEY


def test_names_outside_the_convention_are_refused(engine: TablestoreEngine) -> None:
    """One convention for primary key and attribute columns."""
    make(engine)
    for name in BAD_NAMES:
        with pytest.raises(InvalidRequest) as refused:
            engine.core.run(engine.create_table("i", create("key", {name: KeyType.INTEGER})))
        assert refused.value.rule is TablestoreRule.COLUMN_NAME, name
        assert refusal(engine, put("t", {"k": 1}, {name: 1})) is TablestoreRule.COLUMN_NAME, name
    assert read(engine) is None


def test_every_other_character_is_refused_at_any_place(engine: TablestoreEngine) -> None:
    make(engine)
    letters = {*map(chr, range(ord("a"), ord("z") + 1)), *map(chr, range(ord("A"), ord("Z") + 1))}
    digits = {*map(chr, range(ord("0"), ord("9") + 1))}
    for character in map(chr, range(256)):
        for name, allowed in (
            (character, letters | {"_"}),
            (f"a{character}", letters | digits | {"_"}),
        ):
            change = put("t", {"k": 1}, {name: 1})
            if character not in allowed:
                assert refusal(engine, change) is TablestoreRule.COLUMN_NAME, name
            elif name != "k":  # the key's own name
                write(engine, change)


def test_names_are_case_sensitive(engine: TablestoreEngine) -> None:
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.INTEGER, "K": KeyType.INTEGER}))
    )
    columns: dict[str, Value] = {"x": 1, "X": 2, "kK": 3}
    write(engine, put("t", {"k": 1, "K": 2}, dict(columns)))
    row = decode_row(engine.rows.get_row("i", get("t", {"k": 1, "K": 2})).row)
    assert row is not None
    assert row[0] == {"k": 1, "K": 2}
    assert plain(row) == columns


# --- types ---------------------------------------------------------------------------------------

FIVE_TYPES: Final[dict[str, Iterable[Value]]] = {
    "String": ("", "a", "杭州", "\x00", "\U0010ffff"),
    "Integer": (0, -1, INT64_MIN, INT64_MAX),
    "Double": (0.0, -0.5, 1.7976931348623157e308, 5e-324),
    "Boolean": (True, False),
    "Binary": (b"", b"\x00\xff", bytes(range(256))),
}


@pytest.mark.parametrize("name", FIVE_TYPES)
def test_columns_hold_five_types(engine: TablestoreEngine, name: str) -> None:
    make(engine)
    for value in FIVE_TYPES[name]:
        write(engine, put("t", {"k": 1}, {"x": value}))
        found = plain(read(engine))
        assert found == {"x": value}
        assert type(found["x"]) is type(value)


@pytest.mark.parametrize("kind", KeyType)
def test_three_of_them_are_allowed_in_keys(engine: TablestoreEngine, kind: KeyType) -> None:
    name = {"INTEGER": "Integer", "STRING": "String", "BINARY": "Binary"}[kind.value]
    make(engine, kind=kind)
    for number, value in enumerate(FIVE_TYPES[name]):
        assert not isinstance(value, (bool, float))
        write(engine, put("t", {"k": value}, {"x": number}))
        assert plain(read(engine, value)) == {"x": number}
        write(engine, delete("t", {"k": value}))
        assert read(engine, value) is None


@pytest.mark.parametrize(
    ("value", "size"), [(INT64_MAX, 8), (0, 8), (0.5, 8), (True, 1), (False, 1), ("杭", 3), ("", 0)]
)
def test_values_count_the_bytes_of_the_table_of_types(
    engine: TablestoreEngine, value: Value, size: int
) -> None:
    """Seen in capacity units: the row just fills one of 4096 bytes, or is one byte too large."""
    make(engine)
    rest = 4096 - len("k") - 8 - len("x") - size - len("f")
    for filled, units in ((rest, 1), (rest + 1, 2)):
        change = put("t", {"k": 1}, {"x": value, "f": bytes(filled)})
        assert engine.core.run(engine.rows.write_row("i", change)).write_units == units
        assert engine.rows.get_row("i", get("t", {"k": 1})).read_units == units
