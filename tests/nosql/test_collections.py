"""JSON collections: rows are documents of any fields beside the key (model §12)."""

import pytest

from widerow import nosql
from widerow.engine.typed.ddl.text import definition_text
from widerow.model.typed.values import JSON_NULL
from widerow.nosql import InvalidRequest

MADE = "CREATE TABLE docs (id INTEGER, PRIMARY KEY(id)) AS JSON COLLECTION"


def test_documents_come_back_key_first_in_the_order_that_they_were_put(
    store: nosql.TypedStore,
) -> None:
    store.run_statement(MADE)
    docs = store.table("docs")
    docs.put({"b": [1, {"c": None}], "ID": 1, "a": "x", "": 5, "null": JSON_NULL})
    row = docs.get({"id": 1})
    assert row is not None
    assert list(row.to_dict()) == ["id", "b", "a", "", "null"]
    assert row.to_json() == '{"id":1,"b":[1,{"c":null}],"a":"x","":5,"null":null}'
    assert (row["b"], row["null"], row[""], len(row)) == ([1, {"c": None}], JSON_NULL, 5, 5)
    with pytest.raises(KeyError):
        row["A"]
    docs.put({"id": 1})
    assert [each.to_dict() for each in docs.table_iterator()] == [{"id": 1}]


def test_fields_of_documents_can_be_indexed(store: nosql.TypedStore) -> None:
    store.run_statement(MADE)
    store.run_statement("CREATE INDEX kinds ON docs(kind AS STRING)")
    store.run_statement("CREATE INDEX numbers ON docs(numbers[] AS INTEGER)")
    docs = store.table("docs")
    for number in range(4):
        docs.put({"id": number, "kind": "ab"[number % 2], "numbers": [number, 7]})
    docs.put({"id": 4})
    assert [row["id"] for row in docs.index_iterator("kinds", {"kind": "b"})] == [1, 3]
    assert [row["id"] for row in docs.index_iterator("numbers", {"numbers[]": 7})] == [0, 1, 2, 3]
    with pytest.raises(InvalidRequest):
        docs.put({"id": 5, "kind": 5})


REFUSED = {
    "CREATE TABLE t (id INTEGER, v STRING, PRIMARY KEY(id)) AS JSON COLLECTION": (
        "JsonCollection tables cannot contain non-key fields"
    ),
    "CREATE TABLE t (id ENUM(a), PRIMARY KEY(id)) AS JSON COLLECTION": (
        "Type not allowed in JSON Collection: ENUM"
    ),
    "CREATE TABLE t (id TIMESTAMP(0), PRIMARY KEY(id)) AS JSON COLLECTION": (
        "Type not allowed in JSON Collection: TIMESTAMP"
    ),
    "CREATE TABLE docs.kid (k INTEGER, PRIMARY KEY(k))": (
        "JSON collection tables cannot be parent or child tables"
    ),
    f"{MADE} AS JSON COLLECTION": "AS JSON COLLECTION is given twice",
}


def test_what_no_collection_may_be(store: nosql.TypedStore) -> None:
    store.run_statement(MADE)
    for statement, text in REFUSED.items():
        with pytest.raises(InvalidRequest, match=text):
            store.run_statement(statement)


def test_a_collection_says_what_it_is(store: nosql.TypedStore) -> None:
    store.run_statement(f"{MADE} USING TTL 5 DAYS")
    text = str(store.run_statement("DESCRIBE AS JSON TABLE docs").text)
    assert '"jsonCollection" : true' in text
    assert text.count('"name"') == 2  # of the table and of its key
    written = definition_text(store.table("docs").definition)
    assert written.endswith("USING TTL 5 DAYS AS JSON COLLECTION")
    store.run_statement("DROP TABLE docs")
    store.run_statement(written)
    assert store.table("docs").definition.collection
