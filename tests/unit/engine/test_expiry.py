"""Versions and time: the dates of the founding document (seed 000, semantics §1.6)."""

import pytest
from tests.support.answers import AnsweredRow, decode_answer_rows, decode_row
from tests.support.changes import create, get, increment, put, put_cells, scan_all, update

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import OptionsChange, UpdateTable
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyMarker, KeyType
from widerow.testing.clock import FakeClock

JULY_20 = 1_468_944_000_000  # 2016-07-20 00:00:00 UTC
JULY_21 = JULY_20 + 86_400_000
DAY = 86_400


def write(engine: TablestoreEngine, versions: list[tuple[int, int]]) -> None:
    cells: dict[str, list[tuple[int, int | float | bool | str | bytes]]] = {"x": [*versions]}
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, cells)))


def read(engine: TablestoreEngine) -> AnsweredRow | None:
    row = decode_row(engine.rows.get_row("i", get("t", {"k": 1})).row)
    page = engine.rows.get_range(
        "i", scan_all("t", {"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX})
    )
    assert decode_answer_rows(page.rows) == ([] if row is None else [row])
    return row


def create_table(
    engine: TablestoreEngine, *, time_to_live: int, offset: int = DAY, versions: int = 9
) -> None:
    options = create(
        "t",
        {"k": KeyType.INTEGER},
        time_to_live=time_to_live,
        max_versions=versions,
        max_version_offset=offset,
    )
    engine.core.run(engine.create_table("i", options))


def test_data_expires_to_the_second(engine: TablestoreEngine, clock: FakeClock) -> None:
    create_table(engine, time_to_live=DAY)
    write(engine, [(JULY_20, 1), (JULY_20 + 999, 2), (JULY_20 + 1000, 3)])
    clock.set(JULY_21 - 1)
    row = read(engine)
    assert row is not None
    assert [version for version, _ in row[1]["x"]] == [JULY_20 + 1000, JULY_20 + 999, JULY_20]
    clock.set(JULY_21)
    row = read(engine)
    assert row is not None
    assert [version for version, _ in row[1]["x"]] == [JULY_20 + 1000]
    clock.set(JULY_21 + 1000)
    assert read(engine) is None


def test_expired_data_cannot_be_written(engine: TablestoreEngine, clock: FakeClock) -> None:
    clock.set(JULY_21)
    create_table(engine, time_to_live=DAY, offset=10 * DAY)
    with pytest.raises(InvalidRequest) as refused:
        write(engine, [(JULY_20 - 1, 1)])
    assert refused.value.rule is TablestoreRule.VERSION_WINDOW
    assert refused.value.details == {
        "column": "x",
        "version": JULY_20 - 1,
        "minimum": JULY_20,
        "maximum": JULY_21 + 10 * DAY * 1000,
    }
    write(engine, [(JULY_20, 1)])  # accepted, though it expires in the same second
    assert read(engine) is None


def test_versions_must_lie_within_the_offset(engine: TablestoreEngine, clock: FakeClock) -> None:
    # semantics §1.6: offset 86400 at 2016-07-21 accepts [1468944000000, 1469116800000)
    clock.set(JULY_21)
    create_table(engine, time_to_live=-1)
    for version in (JULY_20, 1_469_116_800_000 - 1):
        write(engine, [(version, 1)])
    for version in (JULY_20 - 1, 1_468_943_999_000, 1_469_116_800_000):
        with pytest.raises(InvalidRequest) as refused:
            write(engine, [(version, 1)])
        assert refused.value.rule is TablestoreRule.VERSION_WINDOW


def test_an_expired_row_does_not_exist(engine: TablestoreEngine, clock: FakeClock) -> None:
    create_table(engine, time_to_live=10)
    write(engine, [(JULY_20, 7)])
    clock.advance(10)
    with pytest.raises(Conflict):
        engine.core.run(
            engine.rows.write_row(
                "i", put("t", {"k": 1}, {"x": 1}, Condition(RowExpectation.EXPECT_EXIST))
            )
        )
    engine.core.run(engine.rows.write_row("i", update("t", {"k": 1}, [increment("x", 5)])))
    row = read(engine)
    assert row is not None
    assert row[1] == {"x": [(JULY_20 + 10_000, 5)]}  # an expired counter counts as missing


def test_options_act_at_once(engine: TablestoreEngine, clock: FakeClock) -> None:
    # semantics §2.4, §8: lowering hides, raising may show again what was not purged
    create_table(engine, time_to_live=-1, versions=3)
    write(engine, [(JULY_20 + n, n) for n in range(3)])
    clock.advance(60)

    def set_options(change: OptionsChange) -> None:
        engine.core.run(engine.update_table("i", UpdateTable("t", options=change)))

    set_options(OptionsChange(max_versions=1))
    row = read(engine)
    assert row is not None
    assert row[1]["x"] == [(JULY_20 + 2, 2)]
    set_options(OptionsChange(time_to_live=30))
    assert read(engine) is None
    set_options(OptionsChange(time_to_live=-1, max_versions=3))
    assert read(engine) is not None


def test_updates_trim_what_they_touch(engine: TablestoreEngine, clock: FakeClock) -> None:
    create_table(engine, time_to_live=100, versions=2)
    for n in range(4):
        clock.advance(30)
        engine.core.run(engine.rows.write_row("i", update("t", {"k": 1}, put_cells({"x": n}))))
    row = read(engine)
    assert row is not None
    assert [value for _, value in row[1]["x"]] == [3, 2]
