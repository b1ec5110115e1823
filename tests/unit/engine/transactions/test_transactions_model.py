"""Transactions against a model: what each sees, what is left, who is refused (change §E2).

The model of a transaction is a copy of the table's model in which its own key goes its own way; a
commit puts the rows of that key back. In a shared store any of three servers may get a request, and
those that are open outlive each of them. Requests, inside and outside, come in any order, and with
them time, drops, housekeeping, restarts, and writes that were planned long before they are run. An
observer copies every row that it hears of, in the transaction of the change: its copy is the table
whenever anybody looks, so it has heard of everything that was committed, and of nothing else.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support.answers import decode_answer_rows, decode_row
from tests.support.changes import (
    create,
    delete,
    delete_all,
    get,
    increment,
    primary_key,
    put,
    put_cells,
    scan_all,
    update,
)
from tests.support.engines import open_tablestore
from tests.support.model import ModelRefusal, ModelTable
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.engine.observer import RowEvent
from widerow.engine.plan import Plan
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound, Rule
from widerow.keys.layout import SPACE_LOCAL_INDEXES, row_prefix
from widerow.limits import LOCAL_TRANSACTION_SECONDS
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyInput, KeyMarker, KeyType
from widerow.storage.interface import Store, Transaction
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

if TYPE_CHECKING:
    from widerow.engine.tablestore.engine import TablestoreEngine

pytestmark = pytest.mark.timeout(180)
Key = tuple[str, int]
first = st.sampled_from(["a", "a\x00", "b"])
keys = st.tuples(first, st.integers(0, 2))
names = st.sampled_from(["x", "y"])
numbers = st.integers(-2, 2)
cells = st.one_of(
    st.builds(lambda n, v: put_cells({n: v}), names, numbers),
    st.builds(lambda n: (delete_all(n),), names),
    st.builds(lambda n, v: (increment(n, v),), names, numbers),
)
conditions = st.sampled_from([Condition(expected) for expected in RowExpectation])


def _change(key: Key, kind: str, value: Any, condition: Condition) -> RowChange:  # noqa: ANN401  # cells
    named: dict[str, KeyInput] = dict(zip("kn", key, strict=True))
    if kind == "put":
        return put("t", named, {"x": len(value), "y": key[1]}, condition)
    if kind == "delete":
        return delete("t", named, condition)
    return update("t", named, value, condition)


changes = st.builds(
    _change, keys, st.sampled_from(["put", "update", "update", "delete"]), cells, conditions
)


class Copier:
    """Writes every row it hears of a second time, under another space of the same shard."""

    def watches(self, table: Table) -> bool:  # noqa: ARG002  # as the protocol has it
        """Every table."""
        return True

    def shards(self, table: Table) -> tuple[bytes, ...]:  # noqa: ARG002  # as the protocol has it
        """Nothing outside."""
        return ()

    def spaces(self, table: Table) -> bytes:  # noqa: ARG002  # as the protocol has it
        """Where the copies are."""
        return SPACE_LOCAL_INDEXES

    def reads(self, table: Table) -> tuple[bytes, ...]:  # noqa: ARG002  # as the protocol has it
        """Nothing outside."""
        return ()

    def changed(self, txn: Transaction, table: Table, event: RowEvent[ObservedRow]) -> None:  # noqa: ARG002  # as the protocol has it
        """Copy the row."""
        place = SPACE_LOCAL_INDEXES + event.key[1:]
        if event.new is None:
            txn.delete(place)
        else:
            txn.put(place, event.new.record)


@dataclass
class Inside:
    """One that is open: its id, its key, when it ends, and the table as it sees it."""

    id: str
    key: str
    until_ns: int
    table: ModelTable


def _key_of(change: RowChange) -> Key:
    (_, k), (_, n) = change.key.columns
    assert isinstance(k, str)
    assert isinstance(n, int)
    return k, n


def _tried(call: Callable[[], Any]) -> tuple[Any, AnyRule | None]:
    """What a call answers, or the rule that it is refused by."""
    try:
        return call(), None
    except (Conflict, InvalidRequest) as error:
        return None, error.rule


class TransactionsAgainstModel(RuleBasedStateMachine):
    """One table that is dropped and made again; any number of transactions on it."""

    end_with_the_process = True

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.store: Store = self._open_store()
        self.model = ModelTable()
        self.open: list[Inside] = []
        self.ended: list[str] = []
        self.late: list[tuple[RowChange, Plan[Any]]] = []

    def _open_store(self) -> Store:
        return open_store("memory:")

    @initialize()
    def begin(self) -> None:
        self._reopen()
        self._make_table()

    def _reopen(self) -> None:
        self.engine = open_tablestore(self.store, self.clock, self._entropy())
        self.engine.observe([Copier()])
        self.late = []

    def _entropy(self) -> FakeEntropy:
        return FakeEntropy()  # the same chance after each start: the run makes the difference

    def _make_table(self) -> None:
        schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
        self.engine.core.run(self.engine.create_table("i", create("t", schema, max_versions=2)))
        self.model = ModelTable(max_versions=2)

    # --- what the model knows ----------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        return self.clock.now_us() // 1000

    def _end(self, inside: Inside) -> None:
        self.open.remove(inside)
        self.ended.append(inside.id)

    def _expire(self) -> None:
        for inside in list(self.open):
            if self.clock.monotonic_ns() >= inside.until_ns:
                self._end(inside)

    def _locked(self, key: str) -> bool:
        return any(inside.key == key for inside in self.open)

    def _seen_by(self, inside: Inside) -> ModelTable:
        """Its own key as it left it, all others as they are published."""
        seen = deepcopy(self.model)
        own = {key: row for key, row in inside.table.rows.items() if key[0] == inside.key}
        others = {key: row for key, row in seen.rows.items() if key[0] != inside.key}
        seen.rows = {**others, **own}
        return seen

    def _apply(self, table: ModelTable, change: RowChange) -> bool:
        """Whether the model accepts a change."""
        try:
            table.change(_key_of(change), change, self.now_ms)
        except ModelRefusal:
            return False
        return True

    # --- requests ----------------------------------------------------------------------------

    @rule(key=first)
    def start(self, key: str) -> None:
        identity, refused = _tried(
            lambda: self.engine.core.run(
                self.engine.transactions.start("i", "t", primary_key({"k": key}))
            )
        )
        assert refused is (Rule.KEY_LOCKED if self._locked(key) else None)
        if refused is not None:
            return
        assert identity not in self.ended
        until_ns = self.clock.monotonic_ns() + LOCAL_TRANSACTION_SECONDS * 1_000_000_000
        self.open.append(Inside(identity, key, until_ns, deepcopy(self.model)))

    @rule(change=changes)
    def write_outside(self, change: RowChange) -> None:
        plan, refused = _tried(lambda: self.engine.rows.write_row("i", change))
        seen = self.end_with_the_process and self._locked(_key_of(change)[0])
        assert refused is (Rule.KEY_LOCKED if seen else None)
        if plan is not None:
            self._run(change, plan)

    def _run(self, change: RowChange, plan: Plan[Any]) -> None:
        _, refused = _tried(lambda: self.engine.core.run(plan))
        if self._locked(_key_of(change)[0]):
            assert refused is Rule.KEY_LOCKED
        else:
            assert self._apply(self.model, change) == (refused is None)

    @rule(change=changes)
    def plan_for_later(self, change: RowChange) -> None:
        if not self._locked(_key_of(change)[0]):
            self.late.append((change, self.engine.rows.write_row("i", change)))

    @precondition(lambda self: self.late)
    @rule()
    def run_what_was_planned(self) -> None:
        change, plan = self.late.pop(0)
        self._run(change, plan)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 9), change=changes, own=st.booleans())
    def write_inside(self, which: int, change: RowChange, *, own: bool) -> None:
        inside = self.open[which % len(self.open)]
        if own:
            key: dict[str, KeyInput] = {"k": inside.key, "n": _key_of(change)[1]}
            change = RowChange(
                "t", change.modification, primary_key(key), change.cells, change.condition
            )
        _, refused = _tried(
            lambda: self.engine.core.run(self.engine.transactions.write_row("i", inside.id, change))
        )
        if _key_of(change)[0] != inside.key:
            assert refused is TablestoreRule.TRANSACTION_SCOPE
        else:
            assert self._apply(inside.table, change) == (refused is None)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 9), several=st.lists(changes, min_size=1, max_size=3))
    def batch_inside(self, which: int, several: list[RowChange]) -> None:
        """Rows that repeat may carry no conditions: then the batch is refused as a whole."""
        inside = self.open[which % len(self.open)]
        if len({_key_of(change) for change in several}) < len(several):
            return
        request = BatchWrite((TableWrite("t", tuple(several)),))
        plan = self.engine.transactions.batch_write_row("i", inside.id, request)
        (outcomes,) = self.engine.core.run(plan)
        for change, outcome in zip(several, outcomes, strict=True):
            made = _key_of(change)[0] == inside.key and self._apply(inside.table, change)
            assert (outcome.error is None) == made

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 9))
    def commit(self, which: int) -> None:
        inside = self.open[which % len(self.open)]
        self.engine.core.run(self.engine.transactions.commit("i", inside.id))
        self.model = self._seen_by(inside)
        self._end(inside)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 9))
    def abort(self, which: int) -> None:
        inside = self.open[which % len(self.open)]
        assert self.engine.core.run(self.engine.transactions.abort("i", inside.id)) == inside.id
        self._end(inside)

    @precondition(lambda self: self.ended)
    @rule(which=st.integers(0, 9), change=changes)
    def use_what_has_ended(self, which: int, change: RowChange) -> None:
        identity = self.ended[which % len(self.ended)]
        transactions = self.engine.transactions
        for call in (
            lambda: transactions.commit("i", identity),
            lambda: transactions.abort("i", identity),
            lambda: transactions.write_row("i", identity, change),
        ):
            with pytest.raises(NotFound) as caught:
                self.engine.core.run(call())  # type: ignore[misc]  # plans of all kinds
            assert caught.value.rule is TablestoreRule.TRANSACTION_ENDED

    # --- what happens to all of them ---------------------------------------------------------

    @rule(seconds=st.sampled_from([0.001, 5, 31, 61, -30]))
    def pass_time(self, seconds: float) -> None:
        if seconds > 0 or self.end_with_the_process:  # else those that have ended may come back
            self.clock.advance(seconds)
        self._expire()

    @rule()
    def keep_house(self) -> None:
        while (plan := self.engine.core.housekeeping()) is not None:
            self.engine.core.run(plan)
        if self.end_with_the_process:
            assert len(self.engine.transactions) == len(self.open)

    @rule()
    def drop(self) -> None:
        self.engine.core.run(self.engine.delete_table("i", "t"))
        for inside in list(self.open):
            self._end(inside)
        self.late = []
        self._make_table()

    @rule()
    def restart(self) -> None:
        """As after a crash: what lives in memory is gone, what was acknowledged is there."""
        self._reopen()
        if self.end_with_the_process:
            for inside in list(self.open):
                self._end(inside)

    # --- what everybody sees -----------------------------------------------------------------

    @rule(backward=st.booleans(), limit=st.one_of(st.none(), st.integers(1, 4)))
    def read_ranges_inside(self, limit: int | None, *, backward: bool) -> None:
        bounds: list[Any] = [{"k": end, "n": end} for end in (KeyMarker.INF_MIN, KeyMarker.INF_MAX)]
        if backward:
            bounds.reverse()
        request = scan_all("t", *bounds, backward=backward, limit=limit)
        for inside in self.open:
            page = self.engine.transactions.get_range("i", inside.id, request)
            expected = self._seen_by(inside).scan(self.now_ms)
            if backward:
                expected.reverse()
            found = [(tuple(key.values()), row) for key, row in decode_answer_rows(page.rows)]
            assert found == expected[:limit]
            assert (page.next_key is None) == (limit is None or len(expected) <= limit)

    @rule(key=keys)
    def read_rows_inside(self, key: Key) -> None:
        request = get("t", dict(zip("kn", key, strict=True)))
        for inside in self.open:
            read = decode_row(self.engine.transactions.get_row("i", inside.id, request).row)
            shown = self._seen_by(inside).visible(key, self.now_ms)
            assert (None if read is None else read[1]) == shown

    @invariant()
    def others_see_what_is_committed(self) -> None:
        low, high = ({"k": end, "n": end} for end in (KeyMarker.INF_MIN, KeyMarker.INF_MAX))
        page = self.engine.rows.get_range("i", scan_all("t", low, high))
        found = [(tuple(key.values()), row) for key, row in decode_answer_rows(page.rows)]
        assert found == self.model.scan(self.now_ms)

    @invariant()
    def the_copy_is_the_table(self) -> None:
        prefix = row_prefix(self.engine.describe_table("i", "t").id)
        copied = SPACE_LOCAL_INDEXES + prefix[1:]
        view = self.store.snapshot()
        rows = {key[1:]: value for key, value in view.scan(prefix, prefix + b"\xff")}
        assert {k[1:]: v for k, v in view.scan(copied, copied + b"\xff")} == rows

    def teardown(self) -> None:
        self.store.close()


class SharedTransactionsAgainstModel(TransactionsAgainstModel):
    """Three servers of one store, whose bodies run again by chance."""

    end_with_the_process = False

    def __init__(self) -> None:
        self.space = StrictSpace()
        self.others: list[TablestoreEngine] = []
        self.opened = 0
        super().__init__()

    def _open_store(self) -> Store:
        return StrictStore(self.space, FakeEntropy(len(self.others)), conflicts=0.2)

    def _reopen(self) -> None:
        """Replace the server that requests went to, and at the beginning add two more."""
        super()._reopen()
        while len(self.others) < 2:
            other = open_tablestore(self._open_store(), self.clock, self._entropy())
            other.observe([Copier()])
            self.others.append(other)

    def _entropy(self) -> FakeEntropy:
        self.opened += 1
        return FakeEntropy(self.opened)

    @rule()
    def go_to_another_server(self) -> None:
        self.others.append(self.engine)
        self.engine = self.others.pop(0)


TestTransactionsAgainstModel = TransactionsAgainstModel.TestCase
TestTransactionsAgainstModel.settings = settings(
    max_examples=examples(60), stateful_step_count=40, deadline=None
)

TestSharedTransactionsAgainstModel = SharedTransactionsAgainstModel.TestCase
TestSharedTransactionsAgainstModel.settings = settings(
    max_examples=examples(60), stateful_step_count=40, deadline=None
)
