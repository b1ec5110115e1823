"""Many writes that share syncs happen in their order, whatever comes between (model §7)."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow import nosql
from widerow.engine.check import check_store
from widerow.engine.typed.index_build import begin_index
from widerow.model.typed.types import Kind
from widerow.nosql import Index, IndexField, Operation
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

NUMBERS = Index("i", (IndexField("j.n", Kind.INTEGER),))
PLAIN = Index("p", (IndexField("v"),))


def things(store: nosql.TypedStore) -> nosql.TableHandle:
    builder = nosql.TableBuilder("t").add_field("k", nosql.INTEGER).add_field("v", nosql.LONG)
    return store.create_table(builder.add_field("j", nosql.JSON).primary_key("k").build())


def rows(table: nosql.TableHandle) -> dict[int, tuple[Any, Any]]:
    return {row["k"]: (row["v"], row["j"]) for row in table.table_iterator()}


Step = tuple[str, int, Any]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 3), st.sampled_from([1, 2, 3])),
        st.tuples(st.just("delete"), st.integers(0, 3), st.none()),
        st.tuples(st.just("text"), st.integers(0, 3), st.none()),  # refused where NUMBERS is
        st.tuples(st.just("unplanned"), st.integers(0, 3), st.none()),
        st.tuples(st.just("index"), st.sampled_from([0, 1]), st.none()),
        st.tuples(st.just("drop"), st.sampled_from([0, 1]), st.none()),
    ),
    max_size=14,
)


def operation(table: nosql.TableHandle, action: str, key: int, value: Any) -> Operation:  # noqa: ANN401  # as drawn
    if action == "delete":
        return table.operation().delete({"k": key})
    if action == "unplanned":
        return table.operation().put({"k": key, "v": "no number"})
    document = {"n": "text"} if action == "text" else {"n": value}
    return table.operation().put({"k": key, "v": value, "j": document})


def script(
    store: nosql.TypedStore, table: nosql.TableHandle, wanted: list[Step]
) -> Iterator[Operation]:
    """The operations; indexes come and go while they are planned, behind some of a batch."""
    for action, key, value in wanted:
        index = (NUMBERS, PLAIN)[key % 2]
        if action == "index":
            if store.table("t").definition.index(index.name) is None:
                form = store.table("t").form
                store.commit(begin_index(store.engine, form, index))
        elif action == "drop":
            store.drop_index("t", index.name, if_exists=True)
        else:
            yield operation(table, action, key, value)


@given(wanted=steps)
@settings(max_examples=examples(150), deadline=None)
def test_writes_happen_in_order_up_to_the_first_refused_one(wanted: list[Step]) -> None:
    """An index that comes up between two writes of a batch changes nothing of their order."""
    with open_store("memory:") as below:
        store = nosql.TypedStore(below, FakeClock(), FakeEntropy())
        table = things(store)
        place = refused_at(wanted)
        if place is None:
            results = store.write_many(script(store, table, wanted))
            assert len(results) == sum(step[0] not in ("index", "drop") for step in wanted)
        else:
            with pytest.raises(nosql.InvalidRequest):
                store.write_many(script(store, table, wanted))
        assert rows(table) == expected(wanted, len(wanted) if place is None else place)
        assert check_store(below) == []
        store.close()


def refused_at(wanted: list[Step]) -> int | None:
    """Which step is the first to be refused: they are planned together, and then committed."""
    actions = [action for action, _, _ in wanted]
    planned = actions.index("unplanned") if "unplanned" in actions else len(wanted)
    numbers = False
    for action, key, _ in wanted[:planned]:
        if action in ("index", "drop") and key % 2 == 0:
            numbers = action == "index"
    if numbers and "text" in actions[:planned]:
        return actions.index("text")
    return planned if planned < len(wanted) else None


def expected(wanted: list[Step], count: int) -> dict[int, tuple[Any, Any]]:
    """The rows after the first `count` steps."""
    found: dict[int, tuple[Any, Any]] = {}
    for action, key, value in wanted[:count]:
        if action == "put":
            found[key] = (value, {"n": value})
        elif action == "text":
            found[key] = (None, {"n": "text"})
        elif action == "delete":
            found.pop(key, None)
    return found


def test_a_later_write_of_a_row_wins_over_one_that_is_planned_again(
    store: nosql.TypedStore,
) -> None:
    """The first write was planned before the index was there, the second one behind it."""
    table = things(store)
    wanted: list[Step] = [("put", 1, 1), ("index", 1, None), ("put", 1, 2)]
    results = store.write_many(script(store, table, wanted))
    assert [bool(result) for result in results] == [True, True]
    assert rows(table) == {1: (2, {"n": 2})}


@pytest.mark.parametrize("refusal", ["text", "unplanned"])
def test_nothing_behind_a_refused_write_is_stored(store: nosql.TypedStore, refusal: str) -> None:
    table = things(store)
    store.create_index(table, NUMBERS)
    wanted: list[Step] = [("put", 1, 1), (refusal, 2, None), ("put", 3, 3), ("delete", 1, None)]
    with pytest.raises(nosql.InvalidRequest):
        store.write_many(script(store, table, wanted))
    assert rows(table) == {1: (1, {"n": 1})}


def test_a_write_whose_condition_fails_is_a_result_and_no_refusal(store: nosql.TypedStore) -> None:
    table = things(store)
    operations = [
        table.operation().put_if_absent({"k": 1}),
        table.operation().put_if_absent({"k": 1}),
        table.operation().put({"k": 2}),
    ]
    assert [bool(each) for each in store.write_many(operations)] == [True, False, True]
