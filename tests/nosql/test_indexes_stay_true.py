"""After any history an index holds what the rows say: computed anew, entry by entry (model §11)."""

from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support.volume import examples

from widerow import nosql
from widerow.engine.check import check_store
from widerow.engine.typed.index_build import begin_index
from widerow.nosql import Direction, Index, IndexField, Kind
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

numbers = st.integers(0, 5)
groups = st.sampled_from(["a", "b"])
values = st.fixed_dictionaries(
    {
        "n": st.none() | numbers,
        "tags": st.none() | st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
        "j": st.sampled_from([None, nosql.JSON_NULL, {}, {"x": 1}, {"x": None}, {"x": 2.0}]),
    }
)

INDEXES = (
    Index("by_n", (IndexField("n"), IndexField("g"))),
    Index("by_tag", (IndexField("tags[]"),), with_nulls=False),
    Index("by_x", (IndexField("j.x", Kind.LONG),)),
)

Expected = list[tuple[Any, ...]]


def by_n(row: dict[str, Any]) -> Expected:
    return [(row["n"] is None, row["n"] or 0, row["g"], row["id"])]


def by_tag(row: dict[str, Any]) -> Expected:
    return [(tag, row["g"], row["id"]) for tag in set(row["tags"] or ())]


def by_x(row: dict[str, Any]) -> Expected:
    document = row["j"]
    if document is None:
        place = (4, 0)
    elif document is nosql.JSON_NULL or "x" not in document:
        place = (2, 0)
    elif document["x"] is None:
        place = (3, 0)
    else:
        place = (1, int(document["x"]))
    return [(*place, row["g"], row["id"])]


COMPUTE = {"by_n": by_n, "by_tag": by_tag, "by_x": by_x}


class Histories(RuleBasedStateMachine):
    """Rows and indexes come and go, time passes, the store is opened again."""

    @initialize()
    def begin(self) -> None:
        self.clock = FakeClock()
        self.below = open_store("memory:")
        self.store = nosql.TypedStore(self.below, self.clock, FakeEntropy())
        builder = nosql.TableBuilder("t").add_field("g", nosql.STRING)
        builder.add_field("id", nosql.INTEGER).add_field("n", nosql.INTEGER)
        builder.add_field("tags", nosql.array_of(nosql.STRING)).add_field("j", nosql.JSON)
        self.table = self.store.create_table(builder.primary_key("g", "id").shard_key("g").build())
        self.added = 0

    @rule(index=st.sampled_from(INDEXES))
    def create(self, index: Index) -> None:
        self.store.create_index(self.table, index, if_not_exists=True)

    @rule(index=st.sampled_from(INDEXES))
    def begin_and_stop(self, index: Index) -> None:
        if self.table.definition.index(index.name) is None:
            self.store.commit(begin_index(self.store.engine, self.table.form, index))

    @rule(index=st.sampled_from(INDEXES))
    def drop(self, index: Index) -> None:
        self.store.drop_index(self.table, index.name, if_exists=True)

    @rule(g=groups, id_=numbers, row=values, hours=st.integers(0, 3), update=st.booleans())
    def put(self, g: str, id_: int, row: dict[str, Any], hours: int, *, update: bool) -> None:
        ttl = nosql.TimeToLive.hours(hours)
        self.table.put({"g": g, "id": id_, **row}, ttl=ttl, update_ttl=update)

    @rule(g=groups, id_=numbers)
    def delete(self, g: str, id_: int) -> None:
        self.table.delete({"g": g, "id": id_})

    @rule(g=groups)
    def delete_group(self, g: str) -> None:
        self.table.multi_delete({"g": g})

    @rule(g=groups, rows=st.lists(values, min_size=1, max_size=3), absent=st.booleans())
    def sequence(self, g: str, rows: list[dict[str, Any]], *, absent: bool) -> None:
        operation = self.table.operation(abort_if_unsuccessful=True)
        put = operation.put_if_absent if absent else operation.put
        operations = [put({"g": g, "id": id_, **row}) for id_, row in enumerate(rows)]
        try:
            self.store.execute(operations)
        except nosql.OperationFailed:
            assert absent

    @rule()
    def evolve(self) -> None:
        self.added += 1
        changed = nosql.TableEvolver(self.table.definition)
        changed.add_field(f"extra{self.added}", nosql.LONG, default=self.added)
        if self.added > 1:
            changed.remove_field(f"extra{self.added - 1}")
        self.store.alter_table(changed.build())

    @rule(hours=st.integers(1, 3))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(hours * 3600)

    @rule()
    def housekeep(self) -> None:
        while self.store.housekeep():
            pass

    @rule()
    def reopen(self) -> None:
        self.store = nosql.TypedStore(self.below, self.clock, FakeEntropy())
        self.table = self.store.table("t")

    @precondition(lambda self: hasattr(self, "table"))
    @invariant()
    def every_index_is_what_the_rows_say(self) -> None:
        assert check_store(self.below) == []
        rows = [row.to_dict() for row in self.table.table_iterator()]
        for index in self.table.definition.indexes:
            if not index.ready:
                continue
            compute = COMPUTE[index.name]
            wanted = sorted(entry for row in rows for entry in compute(row))
            keys = [(entry[-2], entry[-1]) for entry in wanted]
            found = [(row["g"], row["id"]) for row in self.table.index_iterator(index.name)]
            assert found == keys
            backwards = self.table.index_keys_iterator(index.name, direction=Direction.REVERSE)
            assert [(e.primary["g"], e.primary["id"]) for e in backwards] == keys[::-1]


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)


def test_an_index_survives_on_disk(tmp_path: Path) -> None:
    with nosql.open(tmp_path / "data") as store:
        builder = nosql.TableBuilder("t").add_field("id", nosql.INTEGER)
        table = store.create_table(builder.add_field("n", nosql.LONG).primary_key("id").build())
        table.put_many({"id": i, "n": i % 7} for i in range(1000))
        store.create_index(table, Index("i", (IndexField("n"),)))
    with nosql.open(tmp_path / "data") as store:
        found = store.table("t").index_iterator("i", {"n": 3})
        assert [row["id"] for row in found] == list(range(3, 1000, 7))
