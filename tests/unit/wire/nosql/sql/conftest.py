"""A store on memory and a way to run statements of SQL in it."""

from collections.abc import Iterator, Mapping
from decimal import Context
from typing import Any

import pytest

from widerow import nosql
from widerow.engine.plan import Plan
from widerow.limits import NSON_DEPTH_MAX
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.nosql.nson import EncodedValue, Long, TimestampText, decode_value
from widerow.wire.nosql.sql.run import QueryPage, QueryRun, prepare_statement, run_prepared

ONCE = QueryRun(
    now_us=1_700_000_000_000_000,
    continuation=b"",
    limit=0,
    read_kb=0,
    absolute=False,
    context=Context(7),
    random=bytes,
)


class SqlStore:
    """A store with statements; `pages` are those of the last one."""

    def __init__(self, store: nosql.TypedStore) -> None:
        self.store = store
        self.pages: list[QueryPage] = []

    def define(self, *statements: str) -> None:
        """Run definition statements."""
        for statement in statements:
            self.store.run_statement(statement)

    def page(self, text: str, variables: Mapping[str, Any], asked: QueryRun) -> QueryPage:
        """One page of a statement."""
        engine = self.store.engine
        found = run_prepared(prepare_statement(text, engine.tables), engine, variables, asked)
        return self.store.commit(found) if isinstance(found, Plan) else found

    def rows(self, text: str, **how: Any) -> list[dict[str, Any]]:  # noqa: ANN401  # of `QueryRun`
        """All rows of a statement, as plain values. `variables`, and what `QueryRun` takes."""
        variables = how.pop("variables", {})
        asked = ONCE._replace(**how)
        self.pages = [self.page(text, variables, asked)]
        while self.pages[-1].continuation:
            again = asked._replace(continuation=self.pages[-1].continuation)
            self.pages.append(self.page(text, variables, again))
            assert len(self.pages) < 10_000
        return [plain(row) for page in self.pages for row in page.rows]

    def values(self, text: str, **how: Any) -> list[Any]:  # noqa: ANN401  # as `rows`
        """The values of a statement's rows: of one column, or a tuple of several."""
        rows = [tuple(row.values()) for row in self.rows(text, **how)]
        return [row[0] if len(row) == 1 else row for row in rows]

    def plan(self, text: str) -> str:
        """The text of a statement's plan."""
        return prepare_statement(text, self.store.engine.tables).plan()


def plain(value: Any) -> Any:  # noqa: ANN401  # a value of NSON
    """A value of NSON without its type."""
    if isinstance(value, EncodedValue):
        return plain(decode_value(value.data, 0, NSON_DEPTH_MAX)[0])
    if isinstance(value, Long):
        return value.value
    if isinstance(value, TimestampText):
        return value.text
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def sql(clock: FakeClock) -> Iterator[SqlStore]:
    with nosql.TypedStore(open_store("memory:"), clock, FakeEntropy()) as store:
        yield SqlStore(store)
