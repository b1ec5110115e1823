"""What clients of three servers see of a key has one order, with transactions in it (change §B3).

In one thread, from a seed: clients take turns between their requests, and also between the body of
one's write and its commit. Each request of a transaction goes to any server. Commits have no answer
by chance, servers are replaced, clients leave transactions open, and time passes under those that
are at work. A key has two rows, which every change changes alike: so whoever sees a change in half
sees them differ.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random  # noqa: TID251  # seeded: a failure must repeat
from typing import Any

import pytest
from tests.support.answers import decode_answer_rows, decode_row
from tests.support.changes import create, increment, primary_key, put, scan_all, update
from tests.support.engines import open_tablestore
from tests.support.histories import CallKind, ClientCall, State
from tests.support.linearizability import check
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.engine.plan import Plan
from widerow.errors import OutcomeUnknown, Rule, WiderowError
from widerow.limits import LOCAL_TRANSACTION_SECONDS
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import ReturnContent, ReturnType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyMarker, KeyType
from widerow.testing.clock import FakeClock, FakeEntropy

SERVERS = 3
CLIENTS = 4
KEYS = ("a", "b")
STEPS = 150
MADE = ReturnContent(ReturnType.AFTER_MODIFY, ("v",))
NOTHING_DONE = (Rule.KEY_LOCKED, TablestoreRule.TRANSACTION_ENDED)
Turn = Iterator[None]
"""The requests of a client, between any two of which others have theirs."""


class World:
    """Servers, clients and what these have seen. Everything is drawn from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311  # no secret
        self.clock = FakeClock()
        self.space = StrictSpace()
        self.now = 0
        self.seen: dict[str, list[ClientCall]] = {key: [] for key in KEYS}
        self.facts: Counter[str] = Counter()
        self._drawn = 1000 * seed
        self._turns: list[Turn | None] = [None] * CLIENTS
        self._at_work: set[int] = set()
        self._free: list[Any] = []
        calm = open_tablestore(StrictStore(self.space, FakeEntropy(1)), self.clock, FakeEntropy(2))
        schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
        calm.core.run(calm.create_table("i", create("t", schema)))
        self._free += [self._server() for _ in range(SERVERS)]

    def _server(self) -> Any:  # noqa: ANN401  # an engine
        self._drawn += 2
        store = StrictStore(self.space, FakeEntropy(self._drawn), conflicts=0.05, unknown=0.06)
        store.before_commit = self._others
        return open_tablestore(store, self.clock, FakeEntropy(self._drawn + 1))

    # --- whose turn it is --------------------------------------------------------------------

    def run(self) -> None:
        for _ in range(STEPS):
            self._step()
        for client in range(CLIENTS):
            while self._turns[client] is not None:
                self._advance(client)
        self.clock.advance(LOCAL_TRANSACTION_SECONDS)
        for key in KEYS:
            for _ in self._read(key):
                pass

    def _step(self) -> None:
        kind = self.random.random()
        if kind < 0.03:
            self.clock.advance(self.random.choice((1, 20, LOCAL_TRANSACTION_SECONDS)))
        elif kind < 0.05 and len(self._free) == SERVERS:
            self._free[self.random.randrange(SERVERS)] = self._server()
            self.facts["replaced"] += 1
        else:
            self._advance(self.random.randrange(CLIENTS))

    def _others(self) -> None:
        """Between a body and its commit: others may have their turns at other servers."""
        while self._free and self.random.random() < 0.25:
            self.facts["between"] += 1
            self._step()

    def _advance(self, client: int) -> None:
        """Let a client make its next request, unless it waits for an answer."""
        if client in self._at_work or not self._free:
            return
        turn = self._turns[client]
        if turn is None:
            key = self.random.choice(KEYS)
            draw = self.random.choices(
                (self._read, self._count, self._transact, self._leave_open), (30, 20, 48, 2)
            )[0]
            turn = self._turns[client] = draw(key)
        self._at_work.add(client)
        try:
            next(turn)
        except StopIteration:
            self._turns[client] = None
        finally:
            self._at_work.discard(client)

    def ask(self, request: Callable[[Any], Any]) -> Any:  # noqa: ANN401  # an answer
        """Make a request at one of the servers that are not at work."""
        server = self._free.pop(self.random.randrange(len(self._free)))
        try:
            asked = request(server)
            return server.core.run(asked) if isinstance(asked, Plan) else asked
        finally:
            self._free.append(server)

    def tick(self) -> int:
        self.now += 1
        return self.now

    # --- requests of clients -----------------------------------------------------------------

    def _both(self, key: str, inside: str | None = None) -> State:
        """What both rows of a key say; they must say the same."""
        low, high = ({"k": key, "n": end} for end in (KeyMarker.INF_MIN, KeyMarker.INF_MAX))
        request = scan_all("t", low, high)

        def read(server: Any) -> Any:  # noqa: ANN401  # of a page
            if inside is None:
                return server.rows.get_range("i", request)
            return server.transactions.get_range("i", inside, request)

        rows = decode_answer_rows(self.ask(read).rows)
        values = [cells["v"][0][1] for _, cells in rows]
        assert len(set(values)) <= 1, f"a change was seen in half: {values}"
        assert len(values) in {0, 2}, f"a change was seen in half: {values}"
        total = values[0] if values else None
        assert total is None or isinstance(total, int)
        return total

    def _read(self, key: str) -> Turn:
        called = self.tick()
        found = self._both(key)
        self.seen[key].append(ClientCall(CallKind.GET, called, self.tick(), answer=found))
        yield

    def _count(self, key: str) -> Turn:
        """Increment both rows by an atomic batch."""
        changes = [
            update("t", {"k": key, "n": n}, [increment("v", 1)], returns=MADE) for n in range(2)
        ]
        request = BatchWrite((TableWrite("t", tuple(changes)),), atomic=True)
        call = ClientCall(CallKind.INCREMENT, self.tick(), None, 1)
        [outcomes] = self.ask(lambda server: server.rows.batch_write_row("i", request))
        error = outcomes[0].error
        if error is None:
            self.facts["counted"] += 1
            found = decode_row(outcomes[0].written.row)
            assert found is not None
            total = found[1]["v"][0][1]
            assert isinstance(total, int)
            self.seen[key].append(call._replace(returned=self.tick(), answer=total))
        elif isinstance(error, OutcomeUnknown):
            self.seen[key].append(call)
        else:
            assert error.rule is Rule.KEY_LOCKED
            self.facts["locked"] += 1
        yield

    def _transact(self, key: str) -> Turn:
        """Read both rows, and write one more than they say; each request at another server."""
        call = ClientCall(CallKind.INCREMENT, self.tick(), None, 1)
        try:
            inside = self.ask(lambda server: self._start(server, key))
            yield
            total = (self._both(key, inside) or 0) + 1
            yield
            for number in range(2):
                change = put("t", {"k": key, "n": number}, {"v": total})
                self.ask(lambda server: server.transactions.write_row("i", inside, change))  # noqa: B023  # called at once
                yield
            assert self._both(key, inside) == total
            yield
        except OutcomeUnknown:  # nothing is committed, and the key stays held
            self.facts["given up"] += 1
            return
        except WiderowError as error:
            self._note_refusal(error)
            return
        yield from self._commit(key, inside, call._replace(answer=total))

    def _commit(self, key: str, inside: str, call: ClientCall) -> Turn:
        """Commit until there is an answer."""
        repeated = False
        while True:
            try:
                self.ask(lambda server: server.transactions.commit("i", inside))
            except OutcomeUnknown:
                repeated = True
                self.facts["repeated"] += 1
                yield
            except WiderowError as error:
                self._note_refusal(error)
                if repeated:  # the first one may have been made
                    self.seen[key].append(call._replace(answer=None))
                return
            else:
                self.facts["committed"] += 1
                self.seen[key].append(call._replace(returned=self.tick()))
                return

    def _leave_open(self, key: str) -> Turn:
        """Begin, write, and never come back."""
        try:
            inside = self.ask(lambda server: self._start(server, key))
            yield
            change = put("t", {"k": key, "n": 0}, {"v": -1})
            self.ask(lambda server: server.transactions.write_row("i", inside, change))
        except OutcomeUnknown:
            self.facts["given up"] += 1
        except WiderowError as error:
            self._note_refusal(error)

    def _start(self, server: Any, key: str) -> Any:  # noqa: ANN401  # a plan
        return server.transactions.start("i", "t", primary_key({"k": key}))

    def _note_refusal(self, error: WiderowError) -> None:
        rule = getattr(error, "rule", None)
        assert rule in NOTHING_DONE, error
        self.facts["locked" if rule is Rule.KEY_LOCKED else "ended"] += 1


@pytest.mark.parametrize("part", range(4))
def test_clients_of_three_servers_see_one_order(part: int) -> None:
    """And no key is left held, no change is made in half or twice, and none is lost."""
    count, facts = examples(40), Counter[str]()
    for seed in range(part * count, (part + 1) * count):
        world = World(seed)
        world.run()
        for key in KEYS:
            wrong = check(world.seen[key])
            assert wrong is None, f"seed {seed}, {key}: nothing explains {wrong}"
        with StrictStore(world.space, FakeEntropy(0)) as store:
            assert check_store(store) == [], f"seed {seed}"
        facts.update(world.facts)
    # What did not happen was not tested.
    met = {name for name, times in facts.items() if times}
    assert met == {
        *("committed", "counted", "locked", "ended", "given up", "repeated"),
        *("replaced", "between"),
    }
