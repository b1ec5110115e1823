"""Building an index beside writers and through kills: complete when it answers (model §11)."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from widerow import nosql
from widerow.engine.check import check_store
from widerow.engine.typed.index_build import begin_index, build_step, finish_index
from widerow.model.typed.types import Kind
from widerow.nosql import Index, IndexField
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

INDEX = Index("i", (IndexField("n"),))

# Writes rows, then builds, uses and drops an index without end; says what it did, line by line.
CHILD = """
import sys
from widerow import nosql
from widerow.nosql import Index, IndexField

index = Index("i", (IndexField("n"),))
with nosql.open(sys.argv[1]) as store:
    builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).add_field("n", nosql.LONG)
    table = store.create_table(builder.primary_key("id").build(), if_not_exists=True)
    table.put_many({"id": i, "n": -i} for i in range(1000))
    number = 0
    while True:
        store.create_index(table, index, progress=lambda done: print(done, flush=True))
        for _ in range(20):
            number += 1
            table.put({"id": number % 1000, "n": number})
            table.delete({"id": (7 * number) % 1000})
            print("row", flush=True)
        store.drop_index(table, "i")
        print("dropped", flush=True)
"""


def whole(store: nosql.TypedStore) -> bool:
    """Whether the index holds exactly what the rows say."""
    table = store.table("t")
    wanted = sorted((row["n"], row["id"]) for row in table.table_iterator())
    return [(row["n"], row["id"]) for row in table.index_iterator("i")] == wanted


@pytest.mark.parametrize("lines", [1, 3, 11, 26])
def test_a_process_killed_in_a_build_leaves_no_false_index(tmp_path: Path, lines: int) -> None:
    directory = tmp_path / "data"
    command = [sys.executable, "-c", CHILD, str(directory)]
    for more in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:  # noqa: S603  # our own program
            assert child.stdout is not None
            for _ in range(lines + more):
                assert child.stdout.readline()
            child.kill()
        with nosql.open(directory, housekeeping=False) as store:
            assert check_store(store.engine.store) == []
            store.create_index("t", INDEX, if_not_exists=True)
            assert check_store(store.engine.store) == []
            assert whole(store)
            store.drop_index("t", "i")


def test_writers_go_on_while_an_index_is_built(tmp_path: Path) -> None:
    with nosql.open(tmp_path / "data", housekeeping=False) as store:
        builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).add_field("n", nosql.LONG)
        table = store.create_table(builder.primary_key("id").build())
        table.put_many({"id": i, "n": -i} for i in range(2000))
        built = threading.Event()
        failures: list[Exception] = []

        def write(first: int) -> None:
            number = first
            try:
                while not built.is_set():
                    number += 3
                    table.put({"id": number % 2500, "n": number})
                    table.delete({"id": (11 * number) % 2500})
            except Exception as error:  # noqa: BLE001  # told below
                failures.append(error)

        writers = [threading.Thread(target=write, args=(first,)) for first in range(3)]
        for writer in writers:
            writer.start()
        try:
            for _ in range(2):
                store.create_index(table, INDEX)
                store.drop_index(table, "i")
            store.create_index(table, INDEX)
        finally:
            built.set()
            for writer in writers:
                writer.join()
        assert failures == []
        assert check_store(store.engine.store) == []
        assert whole(store)


def test_a_step_indexes_rows_as_they_are_when_it_runs(store: nosql.TypedStore) -> None:
    builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).add_field("n", nosql.LONG)
    table = store.create_table(builder.primary_key("id").build())
    table.put_many({"id": i, "n": i} for i in range(3))
    store.commit(begin_index(store.engine, table.form, INDEX))
    step = build_step(store.engine, table.form, "i", b"")
    table.put({"id": 0, "n": 70})  # after the step has seen it, before it is run
    table.delete({"id": 1})
    changed = nosql.TableEvolver(table.definition).add_field("first", nosql.LONG)
    store.alter_table(changed.build())
    store.commit(step.plan)
    store.commit(finish_index(store.engine, table.form, "i"))
    assert [(row["n"], row["id"]) for row in table.index_iterator("i")] == [(2, 2), (70, 0)]
    assert check_store(store.engine.store) == []


def test_a_step_of_an_index_that_was_dropped_is_refused(store: nosql.TypedStore) -> None:
    builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).primary_key("id")
    table = store.create_table(builder.build())
    table.put({"id": 1})
    index = Index("i", (IndexField("id"),))
    store.commit(begin_index(store.engine, table.form, index))
    step = build_step(store.engine, table.form, "i", b"")
    store.drop_index(table, "i")
    with pytest.raises(nosql.NotFound, match="Index i does not exists in table t"):
        store.commit(step.plan)
    while store.housekeep():
        pass
    assert check_store(store.engine.store) == []


def test_the_package_does_without_the_grammar() -> None:
    """Who runs no statement does not pay for the parser."""
    script = "import sys, widerow.nosql; sys.exit('lark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=False)  # noqa: S603  # our own program
    assert done.returncode == 0


def test_housekeeping_goes_on_with_a_build_after_a_crash(clock: FakeClock) -> None:
    with open_store("memory:") as below:
        before = nosql.TypedStore(below, clock, FakeEntropy())
        builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).add_field("n", nosql.LONG)
        table = before.create_table(builder.primary_key("id").build())
        table.put_many({"id": i, "n": -i} for i in range(600))
        before.commit(begin_index(before.engine, table.form, INDEX))
        before.commit(build_step(before.engine, table.form, "i", b"").plan)
        after = nosql.TypedStore(below, clock, FakeEntropy(1))  # the process ended in between
        steps = 0
        while after.housekeep():
            steps += 1
        assert steps >= 4  # three steps of rows, and the end
        assert whole(after)
        assert after.failed_indexes == {}
        assert check_store(below) == []
        assert not after.create_index("t", INDEX, if_not_exists=True)


def test_a_row_that_does_not_fit_ends_a_build_that_nobody_drives(store: nosql.TypedStore) -> None:
    builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).add_field("j", nosql.JSON)
    table = store.create_table(builder.primary_key("id").build())
    table.put({"id": 1, "j": {"x": "text"}})
    index = Index("i", (IndexField("j.x", Kind.INTEGER),))
    store.commit(begin_index(store.engine, table.form, index))
    while store.housekeep():
        pass
    assert table.definition.indexes == ()
    assert "expected type is INTEGER\nvalue = text" in str(store.failed_indexes["t", "i"])
    table.put({"id": 1, "j": {"x": 1}})
    assert store.create_index(table, index)


def test_housekeeping_leaves_a_build_to_whoever_drives_it(store: nosql.TypedStore) -> None:
    builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).add_field("n", nosql.LONG)
    table = store.create_table(builder.primary_key("id").build())
    table.put_many({"id": i, "n": -i} for i in range(600))
    while store.housekeep():
        pass
    housekept: list[bool] = []
    assert store.create_index(table, INDEX, progress=lambda _: housekept.append(store.housekeep()))
    assert housekept == [False] * 3
    assert whole(store)


def test_an_index_dropped_in_a_build_is_given_up(store: nosql.TypedStore) -> None:
    builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER).add_field("n", nosql.LONG)
    table = store.create_table(builder.primary_key("id").build())
    table.put_many({"id": i, "n": -i} for i in range(600))
    store.commit(begin_index(store.engine, table.form, INDEX))
    assert store.housekeep()
    store.drop_index(table, "i")
    while store.housekeep():
        pass
    assert table.definition.indexes == ()
    assert store.failed_indexes == {}
    assert check_store(store.engine.store) == []
