"""A store of typed tables on memory, with a clock that stands still, checked at the end."""

from collections.abc import Iterator

import pytest

from widerow import nosql
from widerow.engine.check import check_store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(clock: FakeClock) -> Iterator[nosql.TypedStore]:
    opened = open_store("memory:")
    with nosql.TypedStore(opened, clock, FakeEntropy()) as typed:
        yield typed
        assert check_store(opened) == []


@pytest.fixture
def users(store: nosql.TypedStore) -> nosql.TableHandle:
    """Key (g, id) with the shard key (g), and one column of most types."""
    builder = nosql.TableBuilder("users")
    builder.add_field("g", nosql.STRING).add_field("id", nosql.INTEGER)
    builder.add_field("name", nosql.STRING)
    builder.add_field("color", nosql.enum_of(["blue", "red"]), nullable=False, default="red")
    builder.add_field("seen", nosql.timestamp(3)).add_field("n", nosql.NUMBER)
    builder.add_field("tags", nosql.array_of(nosql.STRING)).add_field("doc", nosql.JSON)
    return store.create_table(builder.primary_key("g", "id").shard_key("g").build())


@pytest.fixture
def orders(store: nosql.TypedStore, users: nosql.TableHandle) -> nosql.TableHandle:
    """A child of `users`."""
    builder = nosql.TableBuilder("orders", parent=users.definition)
    builder.add_field("no", nosql.LONG).add_field("what", nosql.STRING)
    return store.create_table(builder.primary_key("no").build())


@pytest.fixture
def lines(store: nosql.TypedStore, orders: nosql.TableHandle) -> nosql.TableHandle:
    """A grandchild of `users`."""
    builder = nosql.TableBuilder("lines", parent=orders.definition)
    return store.create_table(builder.add_field("line", nosql.INTEGER).primary_key("line").build())
