"""An index that a plan creates: over few rows it is built at once, else later (model §11)."""

import pytest

from widerow import nosql
from widerow.engine.plan import Plan
from widerow.engine.typed.ddl.parse import parse
from widerow.engine.typed.ddl.planned import planned
from widerow.engine.typed.ddl.result import Context
from widerow.engine.typed.schema_changes import SchemaChanges
from widerow.errors import InvalidRequest
from widerow.model.typed.table import Index

MANY = 2_000  # more rows than the steps of one plan cover


def create_index(store: nosql.TypedStore, statement: str) -> None:
    context = Context(SchemaChanges(store.engine, store.commit, lambda: None))
    plan = planned(store.engine, context, parse(statement), None)
    assert isinstance(plan, Plan)
    store.commit(plan)


def index(users: nosql.TableHandle, name: str) -> Index | None:
    return users.definition.index(name)


def filled(users: nosql.TableHandle, rows: int) -> nosql.TableHandle:
    for number in range(rows):
        users.put({"g": "a", "id": number, "name": f"{number % 7}", "doc": {"n": number}})
    return users


@pytest.mark.parametrize("rows", [0, 3, 600])
def test_over_few_rows_it_answers_when_it_is_created(
    store: nosql.TypedStore, users: nosql.TableHandle, rows: int
) -> None:
    filled(users, rows)
    create_index(store, "CREATE INDEX byName ON users(name)")
    made = index(users, "byName")
    assert made is not None
    assert made.ready
    found = list(users.index_iterator("byName", {"name": "3"}))
    assert len(found) == len([number for number in range(rows) if number % 7 == 3])


def test_over_many_rows_housekeeping_goes_on(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    filled(users, MANY)
    create_index(store, "CREATE INDEX byName ON users(name)")
    made = index(users, "byName")
    assert made is not None
    assert not made.ready
    while store.housekeep():
        pass
    assert len(list(users.index_iterator("byName", {}))) == MANY


def test_a_row_that_cannot_be_indexed_leaves_no_index(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    filled(users, 5)
    users.put({"g": "a", "id": 5, "doc": {"n": "five"}})
    statement = "CREATE INDEX byN ON users(doc.n AS INTEGER)"
    with pytest.raises(InvalidRequest, match="CREATE INDEX failed for table users, index byN"):
        create_index(store, statement)
    assert index(users, "byN") is None
    users.delete({"g": "a", "id": 5})
    create_index(store, statement)
    assert index(users, "byN") is not None
