"""A parallel scan goes on at any server of a shared store (search §7).

Two servers share a store that promises no more than a database across a network. Neither hears of
the other's scans but by ids and tokens.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import delete, put
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples
from tests.unit.engine.search.tables import (
    engine_of,
    make_index,
    make_table,
    write,
)

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search import scans
from widerow.engine.tablestore.search.scan_places import read_session, read_token
from widerow.errors import AnyRule, WiderowError
from widerow.limits import (
    NODE_LOOK_SECONDS,
    SEARCH_POINT_BYTES,
    SEARCH_SESSION_ID_SECONDS,
    SEARCH_SPLITS_MAX,
    TRANSACTION_SECONDS_MAX,
)
from widerow.model.search.query import RangeQuery
from widerow.model.search.requests import ComputeSplits, ParallelScan, SearchIndexName
from widerow.model.tablestore.rules import TablestoreRule
from widerow.rows.plain_values import decode_plain_rows
from widerow.testing.clock import FakeClock, FakeEntropy

ROWS: Final = 100
EXPIRED: Final = TablestoreRule.SEARCH_SESSION_EXPIRED
SPLITS: Final = ComputeSplits("t", "x")


class Servers:
    """Two engines over one store; by turns one of them has the next request."""

    def __init__(self, rows: int = ROWS) -> None:
        self.clock, space = FakeClock(), StrictSpace()
        self.engines = [
            engine_of(StrictStore(space, FakeEntropy(n)), self.clock, FakeEntropy(n + 5))
            for n in range(2)
        ]
        self.asked = 0
        make_table(self.engines[0])
        make_index(self.engines[0])
        write(self.engines[0], *[put("t", {"k": k}, {"n": k}) for k in range(rows)])
        self.later(TRANSACTION_SECONDS_MAX + 1)

    def later(self, seconds: float) -> None:
        self.clock.advance(seconds)
        for engine in self.engines:
            engine.core.nodes.look()

    def next(self) -> TablestoreEngine:
        self.asked += 1
        return self.engines[self.asked % 2]

    def pages(self, asked: ParallelScan) -> Iterator[list[int]]:
        while True:
            page = self.next().search.parallel_scan("i", asked)
            yield [keys_of(row) for row in page.rows]
            if not page.token:
                return
            asked = replace(asked, token=page.token)

    def keys(self, asked: ParallelScan) -> list[int]:
        return list(chain.from_iterable(self.pages(asked)))


def keys_of(row: bytes) -> int:
    [decoded] = decode_plain_rows(row)
    return decoded.key[0][1]  # type: ignore[return-value]  # an integer


def refused(call: Callable[[], object]) -> AnyRule:
    with pytest.raises(WiderowError) as caught:
        call()
    return caught.value.rule  # type: ignore[attr-defined,no-any-return]  # every refusal has one


@pytest.fixture
def short_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "SEARCH_SPLIT_ROWS", 20)


@pytest.mark.usefixtures("short_splits")
@pytest.mark.parametrize("parts", [1, 3, 5])
def test_every_row_comes_once_whichever_server_is_asked(parts: int) -> None:
    """search §7: with a session, in all its parts; the parts are of about one size."""
    servers = Servers()
    session = servers.next().search.compute_splits("i", SPLITS)
    assert session.splits == 5
    asked = ParallelScan("t", "x", session_id=session.session_id, limit=3, max_parallel=parts)
    found = [servers.keys(replace(asked, parallel_id=part)) for part in range(parts)]
    assert sorted(key for part in found for key in part) == list(range(ROWS))
    assert all(ROWS // 5 <= len(part) + 1 <= ROWS // parts * 2 + 1 for part in found)


@pytest.mark.usefixtures("short_splits")
def test_a_scan_without_a_session_goes_on_by_its_token() -> None:
    """search §7: and a part without a session has the rows of that part only."""
    servers = Servers()
    query = RangeQuery("n", 10, None, include_start=True)
    asked = ParallelScan("t", "x", query, limit=7)
    assert servers.keys(asked) == list(range(10, ROWS))
    halves = [servers.keys(replace(asked, max_parallel=2, parallel_id=part)) for part in (0, 1)]
    assert [*chain(*halves)] == list(range(10, ROWS))
    assert all(halves)


@settings(max_examples=examples(30))
@given(
    changes=st.lists(st.tuples(st.integers(-9, 60), st.booleans()), max_size=25),
    limit=st.integers(1, 9),
)
def test_rows_that_stay_come_once_while_others_change(
    changes: list[tuple[int, bool]], limit: int
) -> None:
    """Each server is at a moment of its own; rows of the parts in between are given in order."""
    servers, waiting = Servers(50), list(changes)
    found: list[int] = []
    for page in servers.pages(ParallelScan("t", "x", limit=limit)):
        found += page
        if waiting:
            key, stays = waiting.pop()
            change = put("t", {"k": key}, {"n": key}) if stays else delete("t", {"k": key})
            write(servers.next(), change)
    assert len(found) == len(set(found))
    touched = {key for key, _ in changes}
    assert set(range(50)) - touched <= set(found) <= set(range(50)) | touched


def test_one_server_goes_on_at_the_moment_of_the_session() -> None:
    servers = Servers()
    one = servers.engines[0].search
    session = one.compute_splits("i", SPLITS)
    write(servers.engines[1], put("t", {"k": 1000}, {"n": 1000}))
    asked = ParallelScan("t", "x", session_id=session.session_id)
    assert len(one.parallel_scan("i", asked).rows) == ROWS
    assert len(servers.engines[1].search.parallel_scan("i", asked).rows) == ROWS + 1


def test_what_is_over_is_refused_at_every_server() -> None:
    """search §7: behind `alive_time`, behind the id's time, and for another index of the name."""
    servers = Servers()
    session = servers.next().search.compute_splits("i", SPLITS)
    asked = ParallelScan("t", "x", session_id=session.session_id, limit=3, alive_seconds=10)
    token = servers.next().search.parallel_scan("i", asked).token
    servers.later(11)
    for engine in servers.engines:
        with_id = replace(asked, token=token)
        for again in (with_id, replace(with_id, session_id="")):
            assert refused(lambda: engine.search.parallel_scan("i", again)) is EXPIRED  # noqa: B023  # called at once
        assert engine.search.parallel_scan("i", asked).rows
    late = servers.next().search.compute_splits("i", SPLITS)
    servers.later(SEARCH_SESSION_ID_SECONDS + 1)
    over = [asked, replace(asked, session_id=late.session_id)]
    again_id = servers.next().search.compute_splits("i", SPLITS).session_id
    owner = servers.engines[0]
    owner.core.run(owner.search.delete("i", SearchIndexName("t", "x")))
    make_index(owner)
    servers.later(NODE_LOOK_SECONDS + TRANSACTION_SECONDS_MAX + 1)
    over.append(replace(asked, session_id=again_id))
    for request in over:
        for engine in servers.engines:
            assert refused(lambda: engine.search.parallel_scan("i", request)) is EXPIRED  # noqa: B023  # called at once


def test_what_no_server_gave_out_is_refused() -> None:
    """Each changed byte, what is cut, what is longer, an id as a token: the documented errors."""
    servers = Servers()
    session = servers.next().search.compute_splits("i", SPLITS).session_id
    token = servers.next().search.parallel_scan("i", ParallelScan("t", "x", limit=3)).token
    changed = [token[:at] + bytes((token[at] ^ 1,)) + token[at + 1 :] for at in range(len(token))]
    cut = [token[:at] for at in range(1, len(token))]
    for forged in (*changed, *cut, token + b"\0", session.encode()):
        assert refused(lambda: read_token(forged)) is TablestoreRule.SEARCH_SCAN_TOKEN  # noqa: B023  # called at once
    texts = [session[:at] for at in range(1, len(session))]
    texts += [session[:at] + "." + session[at + 1 :] for at in range(len(session))]
    for text in (*texts, session + "AAAA", "é", "0" * 32):
        assert refused(lambda: read_session(text)) is EXPIRED  # noqa: B023  # called at once


def test_an_id_is_short_however_long_keys_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points are cut, so an id of the most splits is bounded; parts are whole all the same."""
    monkeypatch.setattr(scans, "SEARCH_SPLIT_ROWS", 2)
    servers = Servers(2 * SEARCH_SPLITS_MAX)
    monkeypatch.setattr(scans, "SEARCH_POINT_BYTES", 5)  # of nine: many keys have the same five
    session = servers.next().search.compute_splits("i", SPLITS)
    assert session.splits == SEARCH_SPLITS_MAX
    assert len(session.session_id) < SEARCH_SPLITS_MAX * (SEARCH_POINT_BYTES + 1) * 4 / 3 + 80
    asked = ParallelScan(
        "t", "x", session_id=session.session_id, max_parallel=session.splits, limit=3
    )
    found = [
        key
        for part in range(session.splits)
        for key in servers.keys(replace(asked, parallel_id=part))
    ]
    assert sorted(found) == list(range(2 * SEARCH_SPLITS_MAX))
