"""A search index beside everything else that changes its table (search §1.3, §1.5, §11.7).

Over the embedded contract, and over one that keeps no more of it than a database across a network.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, delete, primary_key, put, put_cells, update
from tests.support.faults import PowerCut, power_cut
from tests.support.lossy import Keep, LossyDisk, LossyStore
from tests.support.search_host import RememberingHost
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples
from tests.unit.engine.search.tables import (
    SCHEMA,
    engine_of,
    keys,
    make_index,
    make_table,
    rows,
    search,
    stored,
    tidy,
)

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, WiderowError
from widerow.keys.encode import encode_key_value
from widerow.limits import TRANSACTION_SECONDS_MAX
from widerow.model.search.query import RangeQuery, TermQuery
from widerow.model.search.requests import CreateSearchIndex, SearchIndexName
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import BatchWrite, OptionsChange, TableWrite, UpdateTable
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

STORES: dict[str, Callable[[], Store]] = {
    "memory": lambda: open_store("memory:"),
    "strict": lambda: StrictStore(StrictSpace(), FakeEntropy(11)),
}


@pytest.fixture(params=STORES)
def engine(request: pytest.FixtureRequest, clock: FakeClock) -> Iterator[TablestoreEngine]:
    with STORES[request.param]() as store:
        yield engine_of(store, clock, FakeEntropy(), RememberingHost())
        assert check_store(store) == []


def index(engine: TablestoreEngine, clock: FakeClock, **more: Any) -> None:  # noqa: ANN401  # of any type
    """An index that may be built at once, whatever the store."""
    make_index(engine, **more)
    clock.advance(TRANSACTION_SECONDS_MAX + 1)


def write(engine: TablestoreEngine, *changes: RowChange) -> None:
    for change in changes:
        engine.core.run(engine.rows.write_row("i", change))


def refused(call: Callable[[], object]) -> AnyRule:
    with pytest.raises(WiderowError) as caught:
        call()
    return caught.value.rule  # type: ignore[attr-defined,no-any-return]  # every refusal has one


# --- transactions and batches --------------------------------------------------------------------


@pytest.mark.parametrize("commits", [True, False])
def test_what_a_transaction_writes_is_found_when_it_is_committed(
    clock: FakeClock, *, commits: bool
) -> None:
    """Search §11.7, updates; transactions are of one engine, so over the embedded contract."""
    with open_store("memory:") as store:
        engine = engine_of(store, clock, FakeEntropy(), RememberingHost())
        engine.core.run(
            engine.create_table("i", create("t", {"k": KeyType.INTEGER, "n": KeyType.INTEGER}))
        )
        index(engine, clock)
        write(engine, *[put("t", {"k": 1, "n": n}, {"s": "old"}) for n in (1, 2)])
        inside = engine.core.run(engine.transactions.start("i", "t", primary_key({"k": 1})))
        for change in (
            put("t", {"k": 1, "n": 3}, {"s": "new"}),
            update("t", {"k": 1, "n": 1}, put_cells({"s": "new"})),
            delete("t", {"k": 1, "n": 2}),
        ):
            engine.core.run(engine.transactions.write_row("i", inside, change))
        before = len(rows(search(engine, TermQuery("s", "old"))))
        assert (before, keys(search(engine, TermQuery("s", "new")))) == (2, [])
        if commits:
            engine.core.run(engine.transactions.commit("i", inside))
        else:
            engine.core.run(engine.transactions.abort("i", inside))
        found = [len(rows(search(engine, TermQuery("s", word)))) for word in ("old", "new")]
        assert found == ([0, 2] if commits else [2, 0])


@pytest.mark.parametrize("atomic", [True, False])
def test_of_a_batch_is_found_what_was_written(
    engine: TablestoreEngine, clock: FakeClock, *, atomic: bool
) -> None:
    """BatchWriteRow, and BulkImport, which is the same without conditions (change §D1)."""
    make_table(engine)
    index(engine, clock)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    never = Condition(RowExpectation.EXPECT_NOT_EXIST)
    changes = put("t", {"k": 2}, {"n": 2}), put("t", {"k": 1}, {"n": 9}, never)
    asked = BatchWrite((TableWrite("t", changes),), atomic=atomic)
    try:
        engine.core.run(engine.rows.batch_write_row("i", asked))
    except WiderowError:
        assert atomic
    assert rows(search(engine)) == stored(engine)
    assert keys(search(engine, TermQuery("n", 9))) == []
    assert len(keys(search(engine, TermQuery("n", 2)))) == len(stored(engine)) - 1


def test_numbers_that_the_table_gives_are_found(engine: TablestoreEngine, clock: FakeClock) -> None:
    """Rows of a table with an AUTO_INCREMENT column (search §9, N search_old)."""
    columns = (KeyColumn("k", KeyType.STRING), KeyColumn("n", KeyType.INTEGER, auto_increment=True))
    engine.core.run(engine.create_table("i", create("t", columns)))
    index(engine, clock)  # n, the key column, is a field too
    write(engine, *[put("t", {"k": "a", "n": KeyMarker.AUTO_INCREMENT}, {"s": "x"})] * 3)
    answer = search(engine, TermQuery("s", "x"))
    assert answer.total == 3
    assert len(set(rows(answer))) == 3
    assert search(engine, RangeQuery("n", 1)).total == 3


# --- the table itself ----------------------------------------------------------------------------


def test_partitions_that_split_and_merge_change_no_answer(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make_table(engine)
    index(engine, clock)
    model = engine.tables.model
    for turn, bounds in enumerate([(3, 7), (7,), (), (1, 2, 5), ()]):
        table = engine.describe_table("i", "t")
        splits = tuple(encode_key_value(each) for each in bounds)
        engine.core.store.transact_group(
            [engine.tables.change(table, lambda found, s=splits: model.with_bounds(found, s))]  # type: ignore[misc]  # a default
        )
        write(
            engine,
            *[put("t", {"k": number}, {"n": turn}) for number in range(turn, 10)],
            delete("t", {"k": turn}),
        )
        assert rows(search(engine)) == stored(engine)
        tidy(engine)
        assert rows(search(engine)) == stored(engine)


def test_expired_rows_are_left_out_and_gone_with_the_sweep(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    """Search §1.5: the table's own time to live."""
    make_table(engine, time_to_live=86_400, allow_update=False)
    index(engine, clock)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    clock.advance(80_000)
    write(engine, put("t", {"k": 2}, {"n": 2}))
    assert keys(search(engine)) == [1, 2]
    clock.advance(10_000)
    assert keys(search(engine)) == [2]
    tidy(engine)
    assert (keys(search(engine)), search(engine).total) == ([2], 1)


def test_options_of_the_table_change_beside_an_index(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make_table(engine)
    index(engine, clock)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    engine.core.run(
        engine.update_table("i", UpdateTable("t", options=OptionsChange(max_versions=3)))
    )
    write(engine, update("t", {"k": 1}, put_cells({"n": 2})))
    assert [keys(search(engine, TermQuery("n", number))) for number in (1, 2)] == [[], [1]]


def test_whatever_options_change_the_index_is_its_table(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    """Time to live and versions of the table, shorter and longer again (search §1.5)."""
    day = 86_400
    make_table(engine, time_to_live=-1, allow_update=False)
    index(engine, clock)

    def alike(expected: list[int]) -> None:
        assert rows(search(engine)) == stored(engine)
        assert keys(search(engine)) == expected
        for number in range(4):
            some = [key for key in expected if key % 4 == number]
            assert keys(search(engine, TermQuery("n", number))) == some

    def change(**options: Any) -> None:  # noqa: ANN401  # of any type
        asked = UpdateTable("t", options=OptionsChange(**options))
        engine.core.run(engine.update_table("i", asked))

    for key in range(6):
        write(engine, put("t", {"k": key}, {"n": key % 4}))
        clock.advance(day / 2)
    alike([0, 1, 2, 3, 4, 5])
    change(time_to_live=2 * day)
    alike([3, 4, 5])
    change(max_versions=3)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    alike([1, 3, 4, 5])
    change(time_to_live=day, max_versions=1)
    alike([1, 5])
    tidy(engine)
    change(time_to_live=10 * day)
    alike([1, 5])
    write(engine, put("t", {"k": 7}, {"n": 3}))
    change(time_to_live=-1)
    alike([1, 5, 7])


def test_a_table_of_the_same_name_begins_anew(engine: TablestoreEngine, clock: FakeClock) -> None:
    """DeleteTable is refused while there is an index (search §1.5), and takes everything then."""
    make_table(engine)
    index(engine, clock)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    assert keys(search(engine)) == [1]

    def drop() -> None:
        engine.core.run(engine.delete_table("i", "t"))

    assert refused(drop) is TablestoreRule.TABLE_HAS_SEARCH_INDEXES
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "x")))
    drop()
    make_table(engine)
    index(engine, clock)
    write(engine, put("t", {"k": 2}, {"n": 2}))
    assert keys(search(engine)) == [2]


# --- losses of power -----------------------------------------------------------------------------


class Loss(NamedTuple):
    """A loss of power: before which call of the disk, and what of it stays."""

    call: str
    number: int
    keep: Keep
    seed: int


losses = st.builds(
    Loss,
    st.sampled_from(["write", "sync"]),
    st.integers(1, 25),
    st.sampled_from(Keep),
    st.integers(0, 99),
)
turns = st.lists(
    st.sampled_from(["put", "put", "delete", "batch", "search", "files", "house", "index"]),
    min_size=4,
    max_size=16,
)


@given(turns=turns, losses=st.lists(losses, min_size=1, max_size=3))
@settings(max_examples=examples(60), deadline=None)
def test_an_index_is_its_table_after_every_loss_of_power(
    turns: list[str], losses: list[Loss]
) -> None:
    """The laws of search §11.7, crash, over a disk that forgets; nobody does anything about it."""
    disk, clock, host = LossyDisk(), FakeClock(), RememberingHost()
    number = 0
    for life, loss in enumerate(losses):
        disk.plan.add(loss.call, power_cut, after=loss.number)
        try:
            engine = engine_of(LossyStore(disk), clock, FakeEntropy(life), host)
            for turn in turns:
                number += 1
                _take_turn(engine, turn, number)
        except PowerCut:
            pass
        disk.plan.forget()
        disk.cut(loss.keep, loss.seed)
        with LossyStore(disk) as store:
            engine = engine_of(store, clock, FakeEntropy(100 + life), host)
            assert check_store(store) == []
            if engine.list_tables("i") and engine.search.list("i", "t"):
                answer = search(engine)
                assert rows(answer) == stored(engine)
                assert answer.total == len(stored(engine))


def _take_turn(engine: TablestoreEngine, turn: str, number: int) -> None:
    if not engine.list_tables("i"):
        make_table(engine)
    if not engine.search.list("i", "t"):
        engine.core.run(engine.search.create("i", CreateSearchIndex("t", "x", SCHEMA)))
    key = {"k": number * 7 % 10}
    match turn:
        case "put":
            write(engine, put("t", key, {"n": number, "s": f"v{number % 3}"}))
        case "delete":
            write(engine, delete("t", key))
        case "batch":
            changes = put("t", key, {"n": number}), delete("t", {"k": (key["k"] + 1) % 10})
            asked = BatchWrite((TableWrite("t", changes),))
            engine.core.run(engine.rows.batch_write_row("i", asked))
        case "search":
            assert rows(search(engine)) == stored(engine)
        case "files":
            engine.search.work()
            engine.search.write_down(all_of_them=True)
        case "house":
            tidy(engine)
        case _:
            engine.core.run(engine.search.delete("i", SearchIndexName("t", "x")))
