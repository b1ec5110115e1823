"""Local transactions in a store that several servers share: any of them goes on (change §B).

Three engines stand for three servers. Their store promises no more than a database across a network
does (`tests/support/strict.py`).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.support.changes import (
    create,
    delete,
    get,
    increment,
    primary_key,
    put,
    put_cells,
    update,
)
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.unit.engine.transactions.asking import (
    TABLE,
    begin,
    columns,
    commit,
    numbers,
    refusal,
    row,
    write,
)

from widerow.engine.catalog.read_lease import ReadLease
from widerow.engine.check import check_store
from widerow.engine.plan import Plan
from widerow.engine.tablestore.bodies import RowBody
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.transactions.identity import (
    ShardIdentity,
    make_shard_id,
    read_shard_id,
)
from widerow.engine.tablestore.transactions.known_transactions import KnownTransactions
from widerow.errors import AnyRule, InvalidRequest, OutcomeUnknown, Rule, WiderowError
from widerow.keys.layout import SPACE_TRANSACTIONS, transaction_prefix
from widerow.limits import (
    LOCAL_TRANSACTION_LOOK_SECONDS,
    LOCAL_TRANSACTION_SECONDS,
    LOCAL_TRANSACTION_SWEEP_SECONDS,
)
from widerow.model.tablestore.answers import RowRead
from widerow.model.tablestore.requests import BatchWrite, GetRow, TableWrite
from widerow.model.tablestore.rules import TablestoreRule
from widerow.storage.foresight import ForeseenReads, NotForeseen
from widerow.testing.clock import FakeClock, FakeEntropy

ENDED = TablestoreRule.TRANSACTION_ENDED


@pytest.fixture
def space() -> StrictSpace:
    return StrictSpace()


@pytest.fixture
def servers(space: StrictSpace, clock: FakeClock) -> list[TablestoreEngine]:
    """Three servers of one store, with the table t."""
    stores = [StrictStore(space, FakeEntropy(number)) for number in range(3)]
    made = [open_tablestore(store, clock, FakeEntropy(9 + n)) for n, store in enumerate(stores)]
    made[0].core.run(made[0].create_table("i", create("t", TABLE)))
    return made


def value(engine: TablestoreEngine, number: int, inside: str | None = None) -> Any:  # noqa: ANN401  # of any type
    """The newest value of the column c of a row; None: there is no row."""
    found = columns(engine, number, inside)
    return found and found["c"]


def held(engine: TablestoreEngine) -> list[bytes]:
    """The records of transactions in the store."""
    view = engine.core.store.snapshot()
    return [key for key, _ in view.scan(SPACE_TRANSACTIONS, SPACE_TRANSACTIONS + b"\xff" * 8)]


def keep_house(engine: TablestoreEngine) -> None:
    for _ in range(50):
        step = engine.core.housekeeping()
        if step is not None:
            engine.core.run(step)


# --- any server ----------------------------------------------------------------------------------


def test_each_request_may_go_to_another_server(servers: list[TablestoreEngine]) -> None:
    """Each sees what was written by way of the others; the rest of the world sees the commit."""
    one, two, three = servers
    write(one, put("t", row(1), {"c": 1}))
    inside = begin(one)
    write(two, update("t", row(1), [increment("c", 5)]), inside)
    write(three, update("t", row(1), [increment("c", 5)]), inside)
    write(one, put("t", row(2), {"c": 2}), inside)
    write(two, delete("t", row(2)), inside)
    write(two, put("t", row(3), {"c": 3}), inside)
    for engine in servers:
        assert value(engine, 1, inside) == 11
        assert numbers(engine, inside) == [1, 3]
        assert value(engine, 1) == 1
        assert numbers(engine) == [1]
    commit(three, inside)
    for engine in servers:
        assert value(engine, 1) == 11
        assert numbers(engine) == [1, 3]
        assert refusal(lambda: value(engine, 1, inside)) is ENDED  # noqa: B023  # called at once
    assert held(one) == []


def test_a_write_by_way_of_any_server_meets_the_lock(servers: list[TablestoreEngine]) -> None:
    """Also one that was planned before, and rows of batches by themselves (change §B2)."""
    one, two, three = servers
    late = two.rows.write_row("i", put("t", row(1), {"c": "late"}))
    inside = begin(one)
    assert refusal(lambda: two.core.run(late)) is Rule.KEY_LOCKED
    for engine in servers:
        assert refusal(lambda: write(engine, put("t", row(1), {}))) is Rule.KEY_LOCKED  # noqa: B023  # called at once
        assert refusal(lambda: begin(engine)) is Rule.KEY_LOCKED  # noqa: B023  # called at once
    changes = put("t", row(1), {}), put("t", row(1, "b"), {})
    [[locked, free]] = three.core.run(
        three.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),)))
    )
    assert getattr(locked.error, "rule", None) is Rule.KEY_LOCKED
    assert free.written is not None
    two.core.run(two.transactions.abort("i", inside))
    write(three, put("t", row(1), {}))


def test_requests_at_once_are_made_one_after_the_other(servers: list[TablestoreEngine]) -> None:
    """In the order of their commits; neither is lost, and each counts what was before it."""
    one, two, _ = servers
    inside = begin(one)
    plans = [
        engine.transactions.write_row("i", inside, update("t", row(1), [increment("c", 1)]))
        for engine in (one, two, one)
    ]
    for plan in plans:
        two.core.run(plan)
    assert value(one, 1, inside) == 3
    commit(two, inside)
    assert value(one, 1) == 3


def test_a_write_that_another_server_overtakes_is_made_on_what_that_one_wrote(
    servers: list[TablestoreEngine],
) -> None:
    """Between the body and its commit: the body runs again."""
    one, two, _ = servers
    inside = begin(one)
    store: Any = one.core.store

    def overtake() -> None:
        store.before_commit = None
        write(two, update("t", row(1), [increment("c", 10)]), inside)

    store.before_commit = overtake
    write(one, update("t", row(1), [increment("c", 1)]), inside)
    assert value(two, 1, inside) == 11
    commit(one, inside)
    assert value(two, 1) == 11


def test_what_a_server_has_seen_it_does_not_read_again(servers: list[TablestoreEngine]) -> None:
    """Only what others have written since: so a long transaction costs each server one pass."""
    one, two, _ = servers
    inside = begin(one)
    for number in range(5):
        write(one, put("t", row(number), {"c": number}), inside)
    scanned: list[bytes] = []
    original = StrictStore.snapshot

    class Watched:
        def __init__(self, view: Any) -> None:  # noqa: ANN401  # a snapshot
            self.view = view

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # as the snapshot's
            return getattr(self.view, name)

        def scan(self, start: bytes, stop: bytes, **how: Any) -> Any:  # noqa: ANN401  # as the snapshot's
            if start.startswith(SPACE_TRANSACTIONS):
                found = list(self.view.scan(start, stop, **how))
                scanned.extend(key for key, _ in found)
                return iter(found)
            return self.view.scan(start, stop, **how)

    for engine in (one, two):
        store: Any = engine.core.store
        store.snapshot = lambda store=store: Watched(original(store))
    assert value(one, 3, inside) == 3
    assert scanned == []
    assert value(two, 3, inside) == 3
    assert len(scanned) == 5
    assert value(two, 4, inside) == 4
    assert len(scanned) == 5


# --- death, sleep and unknown outcomes -----------------------------------------------------------


def test_a_dead_server_holds_nothing_beyond_its_time(
    servers: list[TablestoreEngine], clock: FakeClock
) -> None:
    """Nobody has to do anything: whoever comes after sixty seconds finds the key free."""
    one, two, three = servers
    inside = begin(one)
    write(one, put("t", row(1), {"c": 1}), inside)
    del one
    clock.advance(LOCAL_TRANSACTION_SECONDS - 1)
    assert refusal(lambda: write(two, put("t", row(2), {"c": 2}))) is Rule.KEY_LOCKED
    clock.advance(1)
    write(two, put("t", row(2), {"c": 2}))
    assert held(two) == []
    assert numbers(three) == [2]


def test_one_who_slept_finds_his_transaction_gone(
    servers: list[TablestoreEngine], clock: FakeClock
) -> None:
    """Its commit had run and was about to be made when somebody else took the key."""
    one, two, _ = servers
    write(one, put("t", row(1), {"c": 1}))
    inside = begin(one)
    write(one, update("t", row(1), [increment("c", 1)]), inside)
    store: Any = one.core.store

    def sleep() -> None:
        store.before_commit = None
        clock.advance(LOCAL_TRANSACTION_SECONDS)
        write(two, put("t", row(1), {"c": 100}))
        clock.advance(-LOCAL_TRANSACTION_SECONDS)  # the sleeper's clock is behind

    store.before_commit = sleep
    assert refusal(lambda: commit(one, inside)) is ENDED
    assert value(two, 1) == 100
    assert refusal(lambda: write(one, put("t", row(2), {}), inside)) is ENDED


def test_a_new_transaction_on_the_key_is_not_taken_for_the_old_one(
    servers: list[TablestoreEngine], clock: FakeClock
) -> None:
    one, two, _ = servers
    old = begin(one)
    write(one, put("t", row(1), {"c": 1}), old)
    clock.advance(LOCAL_TRANSACTION_SECONDS)
    new = begin(two)
    write(two, put("t", row(2), {"c": 2}), new)
    assert refusal(lambda: commit(one, old)) is ENDED
    assert refusal(lambda: numbers(one, old)) is ENDED
    assert numbers(one, new) == [2]
    commit(one, new)
    assert numbers(two) == [2]


def test_a_clock_that_was_set_back_far_ends_them(
    servers: list[TablestoreEngine], clock: FakeClock
) -> None:
    """Else the key would be held until the clock comes there again."""
    one, two, _ = servers
    inside = begin(one)
    clock.advance(-3600)
    write(two, put("t", row(1), {"c": 1}))
    assert refusal(lambda: commit(one, inside)) is ENDED


class Impatient:
    """A client of three servers that asks again, by way of the next one, where nobody answers."""

    def __init__(self, space: StrictSpace, clock: FakeClock, seed: int) -> None:
        """A commit in three has no answer, whether it is made or not."""
        self.clock = clock
        self._turn = 0
        self._servers = [
            open_tablestore(
                StrictStore(space, FakeEntropy(9 * seed + n), conflicts=0.2, unknown=0.3),
                clock,
                FakeEntropy(seed + n),
            )
            for n in range(3)
        ]

    def ask(self, call: Callable[[TablestoreEngine], Any]) -> tuple[Any, AnyRule | None, bool]:
        """An answer, or what it was refused by, and whether it is that of a repeat."""
        repeated = False
        while True:
            self._turn += 1
            try:
                return call(self._servers[self._turn % 3]), None, repeated
            except OutcomeUnknown:
                repeated = True
            except WiderowError as error:
                return None, getattr(error, "rule", None), repeated

    def begin(self) -> str:
        """Begin a transaction, where a start without an answer holds the key, when that is over."""
        identity, rule, repeated = self.ask(begin)
        if identity is None:
            assert (rule, repeated) == (Rule.KEY_LOCKED, True)
            self.clock.advance(LOCAL_TRANSACTION_SECONDS)
            return self.begin()
        assert isinstance(identity, str)
        return identity


@pytest.mark.parametrize("seed", range(20))
def test_whatever_outcomes_are_unknown_a_transaction_is_made_whole_or_not_at_all(
    servers: list[TablestoreEngine], space: StrictSpace, clock: FakeClock, seed: int
) -> None:
    """A commit that is answered was made once; ENDED is answered to a repeat only (change §B5)."""
    client, calm = Impatient(space, clock, seed), servers[0]
    for expected in range(1, 11):
        inside = client.begin()
        for number in range(2):
            change = put("t", row(number), {"c": expected})
            _, rule, _ = client.ask(lambda engine: write(engine, change, inside))  # noqa: B023  # called at once
            assert rule is None
        _, rule, repeated = client.ask(lambda engine: commit(engine, inside))  # noqa: B023  # called at once
        assert rule is None or (rule, repeated) == (ENDED, True)
        if rule is not None:  # it was made, and its answer was lost
            assert held(calm) == []
        assert [value(calm, number) for number in range(2)] == [expected] * 2
    assert check_store(calm.core.store) == []


def test_a_commit_without_an_answer_may_be_repeated(
    servers: list[TablestoreEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was made: then the transaction is over. Or it was not: then the repeat makes it."""
    one, two, _ = servers
    store = one.core.store
    for made in (True, False):
        inside = begin(one)
        write(one, put("t", row(int(made)), {"c": 1}), inside)
        run_group = store._run_group

        def forget(writes: Any, made: bool = made, run_group: Any = run_group) -> Any:  # noqa: ANN401, FBT001  # as any store's
            if made:
                run_group(writes)
            raise OutcomeUnknown("the connection is gone")

        with monkeypatch.context() as patch:
            patch.setattr(store, "_run_group", forget)
            with pytest.raises(OutcomeUnknown):
                commit(one, inside)
        if made:
            assert refusal(lambda: commit(two, inside)) is ENDED  # noqa: B023  # called at once
        else:
            commit(two, inside)
    assert numbers(one) == [0, 1]


# --- what is not paid for ------------------------------------------------------------------------


def test_tables_without_transactions_pay_nothing(servers: list[TablestoreEngine]) -> None:
    """Their writes name the shard of the row and no lock."""
    engine = servers[0]
    request = replace(create("off", TABLE), local_transactions=False)
    engine.core.run(engine.create_table("i", request))
    plain = engine.rows.write_row("i", put("off", row(1), {"c": 1})).writes[0]
    assert isinstance(plain, RowBody)
    assert [shard[:1] for shard in plain.shards] == [b"\x10"]
    beside = engine.rows.write_row("i", put("t", row(1), {"c": 1})).writes[0]
    assert [shard[:1] for shard in beside.shards] == [b"\x10", SPACE_TRANSACTIONS]


def test_each_write_is_two_round_trips(clock: FakeClock) -> None:
    """One to read and one to commit, as of a table without transactions: locks come with rows."""
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    engine = open_tablestore(remote_store(driver), clock, FakeEntropy())
    engine.core.run(engine.create_table("i", create("t", TABLE)))
    write(engine, put("t", row(0), {"c": 0}))  # the epoch of the catalogue is known from now on
    transactions = engine.transactions

    def trips(plan: Callable[[], Plan[Any]]) -> tuple[int, Any]:
        made = plan()
        before = driver.statistics()["round_trips"]
        answer = engine.core.run(made)
        return driver.statistics()["round_trips"] - before, answer

    assert trips(lambda: engine.rows.write_row("i", put("t", row(1), {"c": 1})))[0] == 2
    changes = put("t", row(1), {}), update("t", row(2), put_cells({"c": 1}))
    for commits in (True, False):
        count, inside = trips(lambda: transactions.start("i", "t", primary_key({"k": "a"})))

        def plans(inside: str = inside, *, commits: bool = commits) -> Iterator[Plan[Any]]:
            for change in changes:
                yield transactions.write_row("i", inside, change)
            yield (transactions.commit if commits else transactions.abort)("i", inside)

        made = plans()
        counts = [trips(lambda: next(made))[0] for _ in range(3)]  # noqa: B023  # called at once
        assert max(count, *counts) == 2


def test_a_row_is_read_inside_in_one_round_trip(clock: FakeClock) -> None:
    """Its lock comes with it; so a request that is only tried asks for both at once."""
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    engine = open_tablestore(remote_store(driver), clock, FakeEntropy())
    engine.core.run(engine.create_table("i", create("t", TABLE)))
    write(engine, put("t", row(1), {"c": 1}))
    inside = begin(engine)
    write(engine, put("t", row(2), {"c": 2}), inside)
    lease = ReadLease(clock)
    lease.extend(2**62, 2**62)  # the catalogue is not read then
    engine.core.catalog.go_by(lease, lambda _: lambda: True, lambda: None)
    for number in (1, 2):
        request = get("t", row(number))

        def read(request: GetRow = request) -> RowRead:
            return engine.transactions.get_row("i", inside, request)

        before = driver.statistics()["round_trips"]
        answer = read()
        assert driver.statistics()["round_trips"] - before == 1
        first = ForeseenReads()
        with pytest.raises(NotForeseen):
            first.attempt(read)
        found = engine.core.store.get_together(first.wanted)
        again = ForeseenReads(dict(zip(first.wanted, found, strict=True)))
        assert again.attempt(read) == answer
    assert value(engine, 2, inside) == 2


# --- what is left over ---------------------------------------------------------------------------


def test_what_nobody_ends_is_removed_after_its_time(
    servers: list[TablestoreEngine], clock: FakeClock
) -> None:
    one, two, _ = servers
    for key in ("a", "b", "c"):
        inside = begin(one, key)
        write(one, put("t", row(1, key), {"c": 1}), inside)
    clock.advance(LOCAL_TRANSACTION_SECONDS - 1)
    alive = begin(one, "d")
    write(one, put("t", row(1, "d"), {"c": 1}), alive)
    keep_house(two)
    assert len(held(two)) == 8
    clock.advance(LOCAL_TRANSACTION_SWEEP_SECONDS - LOCAL_TRANSACTION_SECONDS + 1)
    keep_house(two)
    assert len(held(two)) == 2
    commit(two, alive)


def test_a_dropped_table_takes_its_transactions_along(
    servers: list[TablestoreEngine], clock: FakeClock
) -> None:
    """A table of the same name made anew is free at once (change §B2)."""
    one, two, _ = servers
    inside = begin(one)
    write(one, put("t", row(1), {"c": 1}), inside)
    two.core.run(two.delete_table("i", "t"))
    two.core.run(two.create_table("i", create("t", TABLE)))
    assert refusal(lambda: commit(one, inside)) is ENDED
    commit(one, begin(two))
    clock.advance(3600)
    keep_house(two)
    assert held(two) == []
    assert check_store(two.core.store) == []


def test_one_of_many_that_others_have_ended_does_not_count(
    servers: list[TablestoreEngine], clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instance may have a thousand open by way of a server, and ended ones are none of them."""
    monkeypatch.setattr(f"{KnownTransactions.__module__}.LOCAL_TRANSACTIONS_MAX", 4)
    one, two, _ = servers
    opened = [begin(one, str(number)) for number in range(4)]
    assert refusal(lambda: begin(one, "more")) is TablestoreRule.TRANSACTION_COUNT
    for inside in opened[:3]:
        commit(two, inside)
    clock.advance(LOCAL_TRANSACTION_LOOK_SECONDS)
    one.transactions.expire()
    assert len(one.transactions) == 1
    begin(one, "more")


def test_memory_of_what_is_known_is_bounded(
    servers: list[TablestoreEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was forgotten is read again; nobody is refused."""
    monkeypatch.setattr(f"{KnownTransactions.__module__}.LOCAL_TRANSACTIONS_BYTES_MAX", 30_000)
    one = servers[0]
    inside = {key: begin(one, key) for key in ("a", "b", "c")}
    for number in range(3):
        for key, identity in inside.items():
            write(one, put("t", row(number, key), {"c": "x" * 5000}), identity)
    known: Any = one.transactions
    assert sum(known._known.held_bytes(each) for each in inside.values()) <= 30_000
    assert numbers(one, inside["a"]) == [0, 1, 2]
    for identity in inside.values():
        commit(one, identity)
    assert numbers(one) == [0, 1, 2]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        ("request", "not readable"),
        ("lost", "requests of a local transaction are missing"),
        ("extra", "a request that no local transaction counts"),
        ("lock", "not readable"),
    ],
)
def test_a_check_finds_damaged_transactions(
    servers: list[TablestoreEngine], spoil: str, told: str
) -> None:
    engine = servers[0]
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    assert check_store(engine.core.store) == []
    table = engine.describe_table("i", "t")
    lock, request = held(engine)
    assert lock.startswith(transaction_prefix(table.id))

    def body(txn: Any) -> None:  # noqa: ANN401  # a transaction
        if spoil == "lost":
            txn.delete(request)
        elif spoil == "extra":
            txn.put(request[:-1] + b"\x05", txn.get(request))
        else:
            key = request if spoil == "request" else lock
            txn.put(key, txn.get(key)[:-1])

    engine.core.store.transact((lock,), body)
    findings = check_store(engine.core.store)
    assert any(told in finding.problem for finding in findings), findings


# --- ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [b"a\x00\x01", b"\x00\xff" * 1024 + b"\x00\x01", bytes(8)])
def test_an_id_says_where_its_transaction_is(key: bytes) -> None:
    identity = ShardIdentity(7, key, b"12345678")
    text = make_shard_id(identity)
    assert read_shard_id(text) == identity
    for forged in (text[:-1], text + "A", text + "=", text.swapcase(), text * 3, "A" * len(text)):
        with pytest.raises(InvalidRequest):
            read_shard_id(forged)


@pytest.mark.parametrize(
    "key", [b"", b"a", b"a\x00", b"a\x00\x01b", b"\xff\x00\x01", b"a\x00\x01\x00"]
)
def test_an_id_with_a_key_that_no_row_has_names_nothing(
    servers: list[TablestoreEngine], key: bytes
) -> None:
    """Such bytes are not a shard of the table: nothing is read or written by them."""
    engine = servers[0]
    table = engine.describe_table("i", "t")
    identity = make_shard_id(ShardIdentity(table.id, key, bytes(8)))
    for call in (
        lambda: commit(engine, identity),
        lambda: engine.core.run(engine.transactions.abort("i", identity)),
        lambda: write(engine, put("t", row(1), {}), identity),
        lambda: value(engine, 1, identity),
    ):
        assert refusal(call) is TablestoreRule.TRANSACTION_ID


def test_faults_of_a_table_meet_its_transactions(servers: list[TablestoreEngine]) -> None:
    """An id tells its table, to whoever asks for the table of a request."""
    one, two, _ = servers
    inside = begin(one)
    assert two.transactions.table_of("i", inside) == "t"
    assert two.transactions.table_of("j", inside) is None
    assert two.transactions.table_of("i", "nothing") is None
    write(two, update("t", row(1), put_cells({"c": 1})), inside)
