"""What servers of a shared store tell each other of the load (statistics.md, "Messages")."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.engine.partitions.shared_notes import LoadNote, SharedNotes, decode_notes, merged
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Exhausted, Rule
from widerow.limits import NODE_BEAT_SECONDS
from widerow.model.values import KeyType
from widerow.testing.clock import FakeClock, FakeEntropy

UNITS = st.integers(0, 99)
NOTES = st.dictionaries(
    st.tuples(st.integers(1, 3), st.binary(max_size=2)),
    st.tuples(UNITS, UNITS, st.integers(-9, 9), st.integers(-999, 999)),
    max_size=60,
).map(lambda found: [LoadNote(*key, *values) for key, values in found.items()])


def _sums(notes: list[LoadNote]) -> dict[int, list[int]]:
    sums: dict[int, list[int]] = {}
    for note in notes:
        known = sums.setdefault(note.table_id, [0, 0, 0, 0])
        sums[note.table_id] = [a + b for a, b in zip(known, note[2:], strict=True)]
    return sums


@given(NOTES, st.integers(1, 70))
def test_few_notes_have_the_sums_of_many(notes: list[LoadNote], most: int) -> None:
    found = merged(notes, most)
    assert _sums(found) == _sums(notes)
    assert len(found) <= max(most, len(_sums(notes)))
    keys = {note[:2] for note in notes}
    assert {note[:2] for note in found} <= keys
    if len(notes) + len(_sums(notes)) <= most:
        assert found == sorted(notes)


@given(st.lists(st.tuples(st.just(1), st.sampled_from([b"a", b"b"]), UNITS, UNITS, UNITS, UNITS)))
def test_what_was_heard_is_told_once(notes: list[tuple[int, bytes, int, int, int, int]]) -> None:
    shared = SharedNotes()
    assert list(shared.heard(notes)) == notes
    record = shared.take()
    assert (record is None) == (not notes)
    told = [] if record is None else decode_notes(record)
    assert _sums(told) == _sums([LoadNote(*note) for note in notes])
    assert shared.take() is None


class _Servers:
    """Two servers of one store, which live by turns."""

    def __init__(self, *, throttled: bool = False) -> None:
        space = StrictSpace()
        self.clocks = [FakeClock(), FakeClock()]
        self.engines = [
            open_tablestore(
                StrictStore(space, FakeEntropy(number)),
                clock,
                FakeEntropy(number),
                enforce_throughput=throttled,
            )
            for number, clock in enumerate(self.clocks)
        ]

    def live(self, beats: int = 1) -> None:
        for _ in range(beats):
            for engine in self.engines:
                for plan in (engine.core.nodes.beat(), engine.core.partitions.step()):
                    if plan is not None:
                        engine.core.run(plan)
                engine.core.nodes.look()
            for clock in self.clocks:
                clock.advance(NODE_BEAT_SECONDS)


def test_every_server_knows_the_load_of_all() -> None:
    servers = _Servers()
    one, other = servers.engines
    one.core.run(one.create_table("i", create("t", {"k": KeyType.INTEGER})))
    servers.live(2)
    for number in range(30):
        engine = servers.engines[number % 3 == 0]
        engine.core.run(engine.rows.write_row("i", put("t", {"k": number}, {"v": "x" * 100})))
    servers.live(4)
    shown = [engine.core.describe_partitions("i", "t") for engine in servers.engines]
    assert [each["consumed"]["write"] for each in shown] == [30, 30]
    # Who reads a table through meanwhile counts twice what it is told of later.
    assert all(30 <= each["rows"] <= 40 for each in shown)
    assert all(each["bytes"] > 3000 for each in shown)
    rates = Counter(each["partitions"][0]["write_units_per_second"] > 0 for each in shown)
    assert rates == {True: 2}
    assert other.core.lease.held() + one.core.lease.held() == 1


def _writes(engine: TablestoreEngine, most: int) -> int:
    """How many rows can be written at once, of `most`."""
    for count in range(most):
        try:
            engine.core.run(engine.rows.write_row("i", put("t", {"k": count}, {"v": count})))
        except Exhausted as error:
            return count if error.rule is Rule.NOT_ENOUGH_CAPACITY else -1
    return most


def _reserved() -> _Servers:
    servers = _Servers(throttled=True)
    (one, _) = servers.engines
    asked = create("t", {"k": KeyType.INTEGER})
    throughput = replace(asked.throughput, read=20, write=20)
    one.core.run(one.create_table("i", replace(asked, throughput=throughput)))
    servers.live(3)
    return servers


@given(st.tuples(st.integers(0, 40), st.integers(0, 40)))
@settings(max_examples=examples(20), deadline=None)
def test_together_servers_let_through_what_is_reserved(asked: tuple[int, int]) -> None:
    """But for the seconds in which a load begins, when each may let through all (throttle.py)."""
    servers = _reserved()
    let = []
    for _ in range(5):
        let.append(sum(map(_writes, servers.engines, asked)))
        servers.live(1)
    assert max(let) <= 2 * 20
    assert min(20, sum(asked)) - 2 <= let[-1] <= 21


def test_who_asks_alone_has_the_whole_reserve() -> None:
    servers = _reserved()
    for _ in range(4):
        assert _writes(servers.engines[1], 100) == 20
        servers.live(1)


def test_who_asks_with_others_has_an_equal_share() -> None:
    servers = _reserved()
    let: list[int] = []
    for _ in range(3):
        let = [_writes(engine, 100) for engine in servers.engines]
        servers.live(1)
    assert sum(let) <= 22
    assert min(let) >= 9
