"""Local transactions: what is seen inside and outside, and how they end (change §B)."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.answers import decode_answer_rows, decode_row
from tests.support.changes import (
    copied,
    create,
    delete,
    get,
    increment,
    primary_key,
    put,
    put_cells,
    scan_all,
    update,
)
from tests.support.engines import open_tablestore
from tests.unit.engine.transactions.asking import (
    TABLE,
    abort,
    begin,
    columns,
    commit,
    numbers,
    refusal,
    row,
    write,
)

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.transactions.identity import (
    make_id,
    make_shard_id,
    read_shard_id,
)
from widerow.errors import (
    AnyRule,
    Conflict,
    Exhausted,
    InvalidRequest,
    NotFound,
    Rule,
    WiderowError,
)
from widerow.limits import (
    LOCAL_TRANSACTION_BYTES_MAX,
    LOCAL_TRANSACTION_SECONDS,
    LOCAL_TRANSACTIONS_MAX,
)
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import BatchWrite, OptionsChange, TableWrite, UpdateTable
from widerow.model.tablestore.row import ReturnContent, ReturnType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyMarker, KeyType
from widerow.storage.interface import Store, Write
from widerow.testing.clock import FakeClock, FakeEntropy

in_memory = pytest.mark.parametrize("store", ["memory"], indirect=True)
"""A test of what holds only where transactions live in memory."""
LOW, HIGH = KeyMarker.INF_MIN, KeyMarker.INF_MAX


@pytest.fixture(autouse=True)
def table(engine: TablestoreEngine) -> None:
    """Table t with two key columns, and another one beside it."""
    engine.core.run(engine.create_table("i", create("t", TABLE)))
    engine.core.run(engine.create_table("i", create("other", TABLE)))


# --- what is seen --------------------------------------------------------------------------------


@pytest.mark.parametrize("commits", [True, False])
def test_what_is_written_inside_is_seen_inside_and_with_commit_by_all(
    engine: TablestoreEngine, *, commits: bool
) -> None:
    """The assertions of the vendor's tests (change §B4)."""
    write(engine, put("t", row(1), {"c": "old"}))
    write(engine, put("t", row(2), {"c": "old"}))
    inside = begin(engine)
    write(engine, put("t", row(0), {"c": "new"}), inside)
    write(engine, update("t", row(1), put_cells({"d": "new"})), inside)
    write(engine, delete("t", row(2)), inside)
    before = [None, {"c": "old"}, {"c": "old"}]
    after = [{"c": "new"}, {"c": "old", "d": "new"}, None]
    assert [columns(engine, n, inside) for n in range(3)] == after
    assert [columns(engine, n) for n in range(3)] == before
    assert numbers(engine, inside) == [0, 1]
    assert numbers(engine) == [1, 2]
    if commits:
        commit(engine, inside)
    else:
        assert engine.core.run(engine.transactions.abort("i", inside)) == inside
    assert [columns(engine, n) for n in range(3)] == (after if commits else before)
    write(engine, put("t", row(3), {}))  # nobody holds the key any more
    assert refusal(lambda: columns(engine, 0, inside)) is TablestoreRule.TRANSACTION_ENDED


def test_a_range_inside_reads_both_ways_with_limits(engine: TablestoreEngine) -> None:
    """Limits and next keys count what is there after the merge (change §B5)."""
    for number in (1, 3, 5):
        write(engine, put("t", row(number), {}))
    inside = begin(engine)
    for number in (0, 2, 6):
        write(engine, put("t", row(number), {}), inside)
    write(engine, delete("t", row(3)), inside)
    assert numbers(engine, inside) == [0, 1, 2, 5, 6]
    assert numbers(engine, inside, backward=True) == [6, 5, 2, 1, 0]
    assert numbers(engine, inside, limit=3) == [0, 1, 2]
    everything = scan_all("t", {"k": LOW, "n": LOW}, {"k": HIGH, "n": HIGH}, limit=3)
    assert engine.transactions.get_range("i", inside, everything).next_key is not None


def test_reads_outside_the_key_show_what_is_published(engine: TablestoreEngine) -> None:
    inside = begin(engine)
    write(engine, put("t", row(1, "b"), {"c": 1}))
    assert columns(engine, 1, inside, key="b") == {"c": 1}


def test_writes_see_those_before_them(engine: TablestoreEngine, clock: FakeClock) -> None:
    """Conditions, increments, versions and what is returned are of the moment of the write."""
    write(engine, put("t", row(1), {"c": 1}))
    inside = begin(engine)
    write(engine, update("t", row(1), [increment("c", 5)]), inside)
    clock.advance(2)
    returns = ReturnContent(ReturnType.AFTER_MODIFY, ("c",))
    change = update("t", row(1), [increment("c", 5)], returns=returns)
    shown = decode_row(write(engine, change, inside).row)
    written_ms = clock.now_us() // 1000
    assert shown is not None
    assert shown[1] == {"c": [(written_ms, 11)]}
    expecting = Condition(RowExpectation.EXPECT_NOT_EXIST)
    write(engine, put("t", row(2), {"c": 1}, expecting), inside)
    again = put("t", row(2), {"c": 2}, expecting)
    assert refusal(lambda: write(engine, again, inside)) is TablestoreRule.ROW_EXISTS
    clock.advance(3)
    commit(engine, inside)
    found = decode_row(engine.rows.get_row("i", get("t", row(1))).row)
    assert found is not None
    assert found[1] == {"c": [(written_ms, 11)]}
    assert columns(engine, 2) == {"c": 1}


def test_wide_rows_are_read_written_and_removed_inside(engine: TablestoreEngine) -> None:
    """Such rows lie in segments, which a put removes as a range."""
    many = {f"c{number:04}": number for number in range(600)}
    write(engine, put("t", row(1), many))
    inside = begin(engine)
    write(engine, update("t", row(1), put_cells({"d": 1})), inside)
    assert columns(engine, 1, inside) == {**many, "d": 1}
    write(engine, put("t", row(1), {"e": 1}), inside)
    write(engine, put("t", row(2), many), inside)
    assert columns(engine, 1, inside) == {"e": 1}
    assert columns(engine, 1) == many
    commit(engine, inside)
    assert columns(engine, 1) == {"e": 1}
    assert columns(engine, 2) == many


@pytest.mark.parametrize("commits", [True, False])
def test_auto_increment_values_stay_drawn(
    engine: TablestoreEngine, clock: FakeClock, *, commits: bool
) -> None:
    """Also after an abort (change §B3), and where the clock does not make them larger."""
    auto = KeyColumn("n", KeyType.INTEGER, auto_increment=True)
    engine.core.run(engine.create_table("i", create("s", [KeyColumn("k", KeyType.STRING), auto])))
    ahead = clock.now_us() + 10**12
    write(engine, copied("s", {"k": "a", "n": ahead}, {}))
    inside = begin(engine, table="s")
    returns = ReturnContent(ReturnType.PRIMARY_KEY)
    change = put("s", {"k": "a", "n": KeyMarker.AUTO_INCREMENT}, {"c": 1}, returns=returns)
    drawn = [decode_row(write(engine, change, inside).row) for _ in range(2)]
    if commits:
        commit(engine, inside)
    else:
        engine.core.run(engine.transactions.abort("i", inside))
    following = decode_row(write(engine, change).row)
    values = [found[0]["n"] for found in (*drawn, following) if found is not None]
    assert values == [ahead + 1, ahead + 2, ahead + 3]
    stored = engine.rows.get_range("i", scan_all("s", {"k": "a", "n": LOW}, {"k": "a", "n": HIGH}))
    kept = [key["n"] for key, _ in decode_answer_rows(stored.rows)]
    assert kept == ([ahead, *values] if commits else [ahead, values[2]])


# --- who waits for nobody ------------------------------------------------------------------------


def test_others_are_refused_at_once_even_before_anything_was_written(
    engine: TablestoreEngine,
) -> None:
    """Change §B2: writes of the key, each row of a batch, an atomic batch; not reads."""
    inside = begin(engine)
    for change in (
        put("t", row(1), {}),
        update("t", row(1), put_cells({"c": 1})),
        delete("t", row(9)),
    ):
        assert refusal(lambda: write(engine, change)) is Rule.KEY_LOCKED  # noqa: B023  # called at once
    changes = (put("t", row(1), {}), put("t", row(1, "b"), {}))
    request = BatchWrite((TableWrite("t", changes),))
    [[locked, free]] = engine.core.run(engine.rows.batch_write_row("i", request))
    assert isinstance(locked.error, Conflict)
    assert free.written is not None
    atomic = BatchWrite((TableWrite("t", changes[:1]),), atomic=True)
    [[refused]] = engine.core.run(engine.rows.batch_write_row("i", atomic))
    assert isinstance(refused.error, Conflict)
    assert refusal(lambda: begin(engine)) is Rule.KEY_LOCKED
    assert columns(engine, 1) is None
    engine.core.run(engine.transactions.abort("i", inside))
    write(engine, changes[0])


def test_a_write_that_was_planned_before_the_lock_is_refused_when_it_runs(
    engine: TablestoreEngine,
) -> None:
    """A thread may plan a write and submit it after Start has answered: the second look decides."""
    late = engine.rows.write_row("i", put("t", row(1), {"c": "late"}))
    batch = engine.rows.batch_write_row(
        "i", BatchWrite((TableWrite("t", (put("t", row(2), {}), put("t", row(2, "b"), {}))),))
    )
    atomic = engine.rows.batch_write_row(
        "i", BatchWrite((TableWrite("t", (put("t", row(3), {}),)),), atomic=True)
    )
    inside = begin(engine)
    assert refusal(lambda: engine.core.run(late)) is Rule.KEY_LOCKED
    [[locked, free]] = engine.core.run(batch)
    assert isinstance(locked.error, Conflict)
    assert free.written is not None
    assert isinstance(engine.core.run(atomic)[0][0].error, Conflict)
    assert numbers(engine, inside) == []


@in_memory
def test_start_answers_behind_what_runs_before_it(engine: TablestoreEngine, store: Store) -> None:
    """A write that ran before the lock was there is published before Start answers."""
    engine.core.run(engine.transactions.abort("i", begin(engine)))  # the run is known from now on
    ahead = engine.rows.write_row("i", put("t", row(1), {"c": 1}))
    seen: list[Any] = []
    original = ahead.writes[0].run

    def run_and_start(txn: Any) -> Any:  # noqa: ANN401  # as any body
        made = original(txn)
        seen.append(engine.transactions.start("i", "t", primary_key({"k": "a"})))
        return made

    [outcome] = store.transact_group([Write(ahead.writes[0].shards, run_and_start)])
    assert outcome.error is None
    inside = engine.core.run(seen[0])
    assert columns(engine, 1, inside) == {"c": 1}


def test_of_three_starts_at_once_one_passes(engine: TablestoreEngine) -> None:
    engine.core.run(engine.transactions.abort("i", begin(engine)))
    plans = []
    refused = 0
    for _ in range(3):
        try:
            plans.append(engine.transactions.start("i", "t", primary_key({"k": "a"})))
        except Conflict:
            refused += 1
    assert engine.core.run(plans[0])
    for plan in plans[1:]:
        assert refusal(lambda: engine.core.run(plan)) is Rule.KEY_LOCKED  # noqa: B023  # called at once
        refused += 1
    assert refused == 2


def test_keys_of_other_tables_values_and_instances_are_free(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("j", create("t", TABLE)))
    ids = {
        begin(engine),
        begin(engine, "b"),
        begin(engine, table="other"),
        begin(engine, instance="j"),
    }
    assert len(ids) == 4


# --- what is refused -----------------------------------------------------------------------------


def test_what_is_no_start(engine: TablestoreEngine) -> None:
    """Change §B1, in its order."""
    start = engine.transactions.start

    def rule_of(table: str, key: dict[str, Any]) -> AnyRule:
        return refusal(lambda: start("i", table, primary_key(key)))

    assert rule_of("", {"k": "a", "n": 1}) is TablestoreRule.TABLE_NAME
    assert rule_of("t", {"k": "a", "n": 1}) is TablestoreRule.TRANSACTION_KEY
    assert rule_of("t", {}) is TablestoreRule.TRANSACTION_KEY
    assert rule_of("missing", {"k": "a"}) is Rule.TABLE_NOT_FOUND
    assert rule_of("t", {"n": "a"}) is TablestoreRule.KEY_NAME
    assert rule_of("t", {"k": 1}) is TablestoreRule.KEY_TYPE
    assert rule_of("t", {"k": LOW}) is TablestoreRule.KEY_MARKER
    assert rule_of("t", {"k": "x" * 1025}) is TablestoreRule.KEY_LENGTH
    assert len(engine.transactions) == 0


@pytest.mark.parametrize(
    ("asked", "default", "allowed"),
    [
        (None, True, True),
        (None, False, False),
        (True, False, True),
        (False, True, False),
    ],
)
def test_tables_say_whether_transactions_may_be_begun(
    store: Store,
    *,
    asked: bool | None,
    default: bool,
    allowed: bool,
) -> None:
    """And go on saying it in another run of the server (change §B1)."""
    engine = open_tablestore(store, FakeClock(), FakeEntropy(), transactions_on_by_default=default)
    request = replace(create("asked", TABLE), local_transactions=asked)
    engine.core.run(engine.create_table("i", request))
    again = open_tablestore(store, FakeClock(), FakeEntropy(1))
    if allowed:
        assert begin(again, table="asked")
    else:
        assert refusal(lambda: begin(again, table="asked")) is TablestoreRule.TRANSACTIONS_DISABLED


@pytest.mark.parametrize("text", ["", "x", "not existed transaction id", "é" * 24, "A" * 24])
def test_ids_that_nobody_gave_out(engine: TablestoreEngine, text: str) -> None:
    inside = begin(engine)
    forged = [text, text * 100_000, inside[:-1], inside + "=", inside.swapcase()]
    for identity in forged:
        for call in (
            lambda: commit(engine, identity),  # noqa: B023  # called at once
            lambda: abort(engine, identity),  # noqa: B023  # called at once
            lambda: write(engine, put("t", row(1), {}), identity),  # noqa: B023  # called at once
            lambda: columns(engine, 1, identity),  # noqa: B023  # called at once
            lambda: numbers(engine, identity),  # noqa: B023  # called at once
        ):
            assert refusal(call) is TablestoreRule.TRANSACTION_ID
    assert columns(engine, 1, inside) is None  # which is open all the same


def test_ids_of_other_instances_and_guesses_name_nothing(engine: TablestoreEngine) -> None:
    inside = begin(engine)
    assert (
        refusal(lambda: engine.transactions.commit("j", inside)) is TablestoreRule.TRANSACTION_ENDED
    )
    assert (
        refusal(lambda: engine.transactions.abort("j", inside)) is TablestoreRule.TRANSACTION_ENDED
    )
    found = read_shard_id(inside) if len(inside) > 24 else None
    guess = (
        make_id(1, bytes(8)) if found is None else make_shard_id(found._replace(chance=bytes(8)))
    )
    assert refusal(lambda: commit(engine, guess)) is TablestoreRule.TRANSACTION_ENDED
    assert engine.core.run(engine.transactions.abort("i", inside)) == inside
    assert refusal(lambda: abort(engine, inside)) is TablestoreRule.TRANSACTION_ENDED


def test_writes_outside_the_key_are_refused_row_by_row(engine: TablestoreEngine) -> None:
    """Also where another transaction holds the key that was meant."""
    inside = begin(engine)
    begin(engine, "b")
    assert (
        refusal(lambda: write(engine, put("t", row(1, "b"), {}), inside))
        is TablestoreRule.TRANSACTION_SCOPE
    )
    other = put("other", row(1), {})
    assert refusal(lambda: write(engine, other, inside)) is TablestoreRule.TRANSACTION_SCOPE
    read = get("other", row(1))
    assert (
        refusal(lambda: engine.transactions.get_row("i", inside, read))
        is TablestoreRule.TRANSACTION_SCOPE
    )
    request = BatchWrite(
        (
            TableWrite("t", (put("t", row(1), {}), put("t", row(1, "b"), {}))),
            TableWrite("other", (other,)),
        )
    )
    [[made, refused], [elsewhere]] = engine.core.run(
        engine.transactions.batch_write_row("i", inside, request)
    )
    assert made.written is not None
    for outcome in (refused, elsewhere):
        assert isinstance(outcome.error, InvalidRequest)
        assert outcome.error.rule is TablestoreRule.TRANSACTION_SCOPE
    commit(engine, inside)
    assert numbers(engine) == [1]


def test_an_atomic_batch_inside_is_refused_row_by_row(engine: TablestoreEngine) -> None:
    inside = begin(engine)
    changes = (put("t", row(1), {}), put("t", row(2), {}))
    request = BatchWrite((TableWrite("t", changes),), atomic=True)
    [outcomes] = engine.core.run(engine.transactions.batch_write_row("i", inside, request))
    for outcome in outcomes:
        assert isinstance(outcome.error, Conflict)
        assert outcome.error.rule is TablestoreRule.TRANSACTION_ATOMIC_BATCH
    assert numbers(engine, inside) == []


@in_memory
def test_one_request_at_a_time(engine: TablestoreEngine) -> None:
    """A second one meets OTSSessionBusy, whatever it is (change §B2)."""
    inside = begin(engine)
    rules: list[AnyRule] = []
    original = engine.rows.get_row

    def read_meanwhile(*arguments: Any) -> Any:  # noqa: ANN401  # as `get_row`
        rules.append(refusal(lambda: columns(engine, 1, inside)))
        rules.append(refusal(lambda: commit(engine, inside)))
        rules.append(refusal(lambda: abort(engine, inside)))
        return original(*arguments)

    rows: Any = SimpleNamespace(get_row=read_meanwhile)  # a request that takes its time
    engine.transactions._rows = rows
    engine.transactions.get_row("i", inside, get("t", row(1)))
    engine.transactions._rows = engine.rows
    assert rules == [TablestoreRule.TRANSACTION_BUSY] * 3
    commit(engine, inside)


@in_memory
def test_two_commits_on_their_way_make_the_writes_once(
    engine: TablestoreEngine, store: Store
) -> None:
    inside = begin(engine)
    write(engine, update("t", row(1), [increment("c", 1)]), inside)
    plans = [engine.transactions.commit("i", inside) for _ in range(2)]
    outcomes = store.transact_group([plan.writes[0] for plan in plans])
    assert plans[0].finish(outcomes[:1]) is None
    assert refusal(lambda: plans[1].finish(outcomes[1:])) is TablestoreRule.TRANSACTION_BUSY
    assert columns(engine, 1) == {"c": 1}


def test_a_request_that_fails_leaves_the_transaction_open(engine: TablestoreEngine) -> None:
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    changing = update("t", row(1), [*put_cells({"d": 1}), increment("e", 1)])
    write(engine, put("t", row(2), {"e": "text"}), inside)
    failing = update("t", row(2), [*put_cells({"d": 1}), increment("e", 1)])
    with pytest.raises(WiderowError):
        write(engine, failing, inside)
    write(engine, changing, inside)
    commit(engine, inside)
    assert columns(engine, 1) == {"c": 1, "d": 1, "e": 1}
    assert columns(engine, 2) == {"e": "text"}


# --- bounds --------------------------------------------------------------------------------------


def test_a_transaction_writes_four_megabytes(engine: TablestoreEngine) -> None:
    """What is too much is refused and the rest stays (change §B2)."""
    inside = begin(engine)
    megabyte = "x" * (1024 * 1024)
    for number in range(3):
        write(engine, put("t", row(number), {"c": megabyte}), inside)
    assert (
        refusal(lambda: write(engine, put("t", row(3), {"c": megabyte, "d": "y"}), inside))
        is TablestoreRule.TRANSACTION_SIZE
    )
    # What counts are names and values: k, a, n and a number in every row, and c.
    rest = LOCAL_TRANSACTION_BYTES_MAX - 3 * len(megabyte) - 4 * 11 - 3 - 1
    write(engine, put("t", row(3), {"c": "x" * rest}), inside)
    assert (
        refusal(lambda: write(engine, delete("t", row(3)), inside))
        is TablestoreRule.TRANSACTION_SIZE
    )
    commit(engine, inside)
    assert numbers(engine) == [0, 1, 2, 3]


def test_an_instance_has_a_thousand_open(engine: TablestoreEngine, clock: FakeClock) -> None:
    for number in range(LOCAL_TRANSACTIONS_MAX):
        begin(engine, str(number))
    with pytest.raises(Exhausted) as caught:
        begin(engine, "one more")
    assert caught.value.rule is TablestoreRule.TRANSACTION_COUNT
    engine.core.run(engine.create_table("j", create("t", TABLE)))
    begin(engine, "elsewhere", instance="j")
    clock.advance(LOCAL_TRANSACTION_SECONDS)
    begin(engine, "one more")


@in_memory
def test_all_transactions_share_a_bound_of_memory(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "widerow.engine.tablestore.transactions.memory_transactions.LOCAL_TRANSACTIONS_BYTES_MAX",
        40_000,
    )
    first, second = begin(engine, "a"), begin(engine, "b")
    large = "x" * 10_000
    write(engine, put("t", row(1), {"c": large}), first)
    with pytest.raises(Exhausted) as caught:
        write(engine, put("t", row(1, "b"), {"c": large}), second)
    assert caught.value.rule is TablestoreRule.TRANSACTION_MEMORY
    assert columns(engine, 1, second, key="b") is None
    engine.core.run(engine.transactions.abort("i", first))
    write(engine, put("t", row(1, "b"), {"c": large}), second)


# --- how they end --------------------------------------------------------------------------------


def test_it_lives_for_sixty_seconds(engine: TablestoreEngine, clock: FakeClock) -> None:
    inside = begin(engine)
    clock.advance(LOCAL_TRANSACTION_SECONDS - 1)
    write(engine, put("t", row(1), {"c": 1}), inside)
    clock.advance(-3600)  # the wall clock is set back; that lengthens nothing
    clock.advance(1)
    assert refusal(lambda: columns(engine, 1, inside)) is TablestoreRule.TRANSACTION_ENDED
    assert numbers(engine) == []


def test_a_lock_left_open_is_released_by_whoever_meets_it(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    inside = begin(engine)
    clock.advance(LOCAL_TRANSACTION_SECONDS)
    write(engine, put("t", row(1), {"c": 1}))
    assert refusal(lambda: commit(engine, inside)) is TablestoreRule.TRANSACTION_ENDED
    assert begin(engine)


def test_housekeeping_forgets_what_is_over(engine: TablestoreEngine, clock: FakeClock) -> None:
    begin(engine)
    clock.advance(LOCAL_TRANSACTION_SECONDS / 2)
    begin(engine, "b")
    clock.advance(LOCAL_TRANSACTION_SECONDS / 2)
    while (step := engine.core.housekeeping()) is not None:
        engine.core.run(step)
    assert len(engine.transactions) == 1


def test_a_commit_in_the_line_when_the_time_is_over_is_made_or_refused_whole(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    plan = engine.transactions.commit("i", inside)
    clock.advance(LOCAL_TRANSACTION_SECONDS)
    write(engine, put("t", row(2), {"c": 2}))  # releases the lock
    assert refusal(lambda: engine.core.run(plan)) is TablestoreRule.TRANSACTION_ENDED
    assert numbers(engine) == [2]


def test_dropping_the_table_aborts(engine: TablestoreEngine) -> None:
    """And a table made anew under the name is not locked (change §B2)."""
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    plan = engine.transactions.commit("i", inside)
    engine.core.run(engine.delete_table("i", "t"))
    engine.core.run(engine.create_table("i", create("t", TABLE)))
    assert begin(engine)
    with pytest.raises(NotFound):
        engine.core.run(plan)
    assert refusal(lambda: columns(engine, 1, inside)) is TablestoreRule.TRANSACTION_ENDED
    assert numbers(engine) == []


@in_memory
def test_a_restart_aborts(engine: TablestoreEngine, store: Store, clock: FakeClock) -> None:
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    again = open_tablestore(
        store, clock, FakeEntropy()
    )  # the same chance: the run makes the difference
    assert (
        refusal(lambda: again.transactions.commit("i", inside)) is TablestoreRule.TRANSACTION_ENDED
    )
    other = begin(again)
    assert other != inside
    assert numbers(again, other) == []


def test_options_that_change_meanwhile_do_not_change_what_was_written(
    engine: TablestoreEngine,
) -> None:
    """Open transactions are unaffected (change §E)."""
    for value in (1, 2):
        write(engine, put("t", row(value), {"c": value}))
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 3}, Condition(RowExpectation.EXPECT_EXIST)), inside)
    options = OptionsChange(time_to_live=3600, max_versions=2, allow_update=False)
    engine.core.run(engine.update_table("i", UpdateTable("t", options=options)))
    commit(engine, inside)
    assert columns(engine, 1) == {"c": 3}


def test_what_expires_while_it_is_open_is_trimmed_afterwards(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    """The sweep leaves the rows alone that the transaction has judged, and comes back."""
    engine.core.run(engine.create_table("i", create("ttl", TABLE, time_to_live=86400)))
    write(engine, put("ttl", row(1), {"c": 1}))
    clock.advance(86390)
    inside = engine.core.run(engine.transactions.start("i", "ttl", primary_key({"k": "a"})))
    change = update("ttl", row(1), [increment("c", 1)], Condition(RowExpectation.EXPECT_EXIST))
    write(engine, change, inside)
    clock.advance(20)
    for _ in range(20):
        step = engine.core.housekeeping()
        if step is not None:
            engine.core.run(step)
    commit(engine, inside)
    found = decode_row(engine.rows.get_row("i", get("ttl", row(1))).row)
    assert found is not None
    assert [value for _, value in found[1]["c"]] == [2]
