"""Secondary indexes: what they take, what they hold, in which order, and that they stay true."""

from decimal import Decimal
from typing import Any

import pytest

from widerow import nosql
from widerow.engine.check import check_store
from widerow.engine.typed.ddl.parse import parse
from widerow.engine.typed.ddl.text import statement_text
from widerow.engine.typed.index_build import begin_index, build_step
from widerow.limits import INDEX_KEYS_PER_ROW_MAX
from widerow.nosql import Direction, FieldRange, Index, IndexField, Kind, TypedRule
from widerow.testing.clock import FakeClock


def index(name: str, *paths: str | tuple[str, Kind], **options: Any) -> Index:  # noqa: ANN401  # Index's own
    fields = [IndexField(path) if isinstance(path, str) else IndexField(*path) for path in paths]
    return Index(name, tuple(fields), **options)


@pytest.fixture
def things(store: nosql.TypedStore) -> nosql.TableHandle:
    builder = nosql.TableBuilder("things").add_field("id", nosql.INTEGER)
    builder.add_field("n", nosql.INTEGER).add_field("s", nosql.STRING)
    builder.add_field("e", nosql.enum_of(["z", "a"])).add_field("b", nosql.BINARY)
    builder.add_field("tags", nosql.array_of(nosql.STRING))
    street = nosql.Field("Street", nosql.STRING)
    home = nosql.record_of(street, nosql.Field("zip", nosql.INTEGER))
    builder.add_field("home", home).add_field("homes", nosql.array_of(home))
    builder.add_field("m", nosql.map_of(nosql.INTEGER)).add_field("j", nosql.JSON)
    return store.create_table(builder.primary_key("id").build())


def ids(table: nosql.TableHandle, name: str, *args: Any, **options: Any) -> list[Any]:  # noqa: ANN401  # the iterator's own
    return [row["id"] for row in table.index_iterator(name, *args, **options)]


# --- what can be indexed (model §11) -------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("nosuch", "There is no field named nosuch"),
        ("home.nosuch", "There is no field named nosuch"),
        (
            "m",
            (
                "Can not index a map as a whole; use .values() to index the elements of the map or "
                ".keys() to index the keys of the map"
            ),
        ),
        ("tags", "Can not index an array as a whole; use [] to index the elements of the array"),
        (
            "homes.zip",
            "Can not index an array as a whole; use [] to index the elements of the array",
        ),
        ("home", "Can not index a record as a whole; name one of its fields"),
        ("b", "Field type cannot be part of an index: BINARY"),
        ("n[]", "[] does not apply to a field of type INTEGER"),
        ("n.x", ".x does not apply to a field of type INTEGER"),
        ("tags.values()", ".values() does not apply to a field of type ARRAY"),
        ("n!", "The path cannot be read at: !"),
        ("j[].a[].b", "An index can hold the elements of one array or map only"),
    ],
)
def test_paths_that_cannot_be_indexed(
    store: nosql.TypedStore, things: nosql.TableHandle, path: str, text: str
) -> None:
    with pytest.raises(nosql.InvalidRequest) as caught:
        store.create_index(things, index("i", path))
    assert str(caught.value) == f"Invalid index field definition : {path}\n{text}"
    assert things.definition.indexes == ()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (["j.x"], "Must specify data type for JSON index field."),
        (["n", "N"], "Index already contains the field: n"),
        (["tags[]", "homes[].zip"], "An index can hold the elements of one array or map only"),
        ([], "An index needs at least one field"),
        (
            [("n", Kind.INTEGER)],
            (
                "Invalid index field definition : n\n"
                "Specific types are only allowed for JSON data types."
            ),
        ),
    ],
)
def test_fields_that_cannot_be_together(
    store: nosql.TypedStore, things: nosql.TableHandle, fields: list[str], text: str
) -> None:
    with pytest.raises(nosql.InvalidRequest) as caught:
        store.create_index(things, index("i", *fields))
    assert str(caught.value) == text


def test_an_index_name_is_a_name(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:  # model §1
    with pytest.raises(nosql.InvalidRequest, match="Index names may contain only alphanumeric"):
        store.create_index(things, index("a-b", "n"))


def test_index_names_are_unique_in_a_table(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    assert store.create_index(things, index("idx", "n"))  # model §11
    with pytest.raises(nosql.Conflict, match="Index IDX already exists in table things") as caught:
        store.create_index(things, index("IDX", "s"))
    assert caught.value.rule is TypedRule.INDEX_EXISTS
    assert not store.create_index(things, index("IDX", "n"), if_not_exists=True)


def test_dropping(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    store.create_index(things, index("i", "n"))  # model §11
    things.put({"id": 1, "n": 1})
    assert store.drop_index(things, "I")
    assert things.definition.indexes == ()
    while store.housekeep():
        pass
    snapshot = store.engine.store.snapshot()
    assert list(snapshot.scan(b"\x14", b"\x15")) == []
    with pytest.raises(nosql.NotFound, match="Index i7 does not exists in table things"):
        store.drop_index(things, "i7")
    assert not store.drop_index(things, "i7", if_exists=True)


def test_an_indexed_column_stays(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    store.create_index(things, index("i", "home.zip"))  # model §11, §12
    for path in ("home", "home.zip"):
        with pytest.raises(nosql.InvalidRequest, match="Evolution cannot remove indexed fields"):
            nosql.TableEvolver(things.definition).remove_field(path)


def test_paths_take_the_declared_case(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    store.create_index(things, index("i", "HOME.street", "N"))
    fields = things.definition.indexes[0].fields
    assert [field.path for field in fields] == ["home.Street", "n"]
    assert [field.written for field in fields] == ["HOME.street", "N"]  # corpus ddl-index-003


# --- what is found, and in which order (model §11) -----------------------------------------------


def test_rows_come_in_the_order_of_the_index(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    for id_, n in ((1, 5), (2, -3), (3, None), (4, 5), (5, 0)):
        things.put({"id": id_, "n": n})
    store.create_index(things, index("by_n", "n"))
    things.put({"id": 6, "n": 5})
    assert ids(things, "by_n") == [2, 5, 1, 4, 6, 3]  # NULL last, then the primary key
    assert ids(things, "BY_N", direction=Direction.REVERSE) == [3, 6, 4, 1, 5, 2]
    assert ids(things, "by_n", {"n": 5}) == [1, 4, 6]
    assert ids(things, "by_n", {"N": None}) == [3]
    assert ids(things, "by_n", field_range=FieldRange("n", start=0)) == [5, 1, 4, 6]
    assert ids(things, "by_n", field_range=FieldRange("n", end=5, end_inclusive=False)) == [2, 5]


def test_enumerations_sort_by_ordinal(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    things.put_many([{"id": 1, "e": "a"}, {"id": 2, "e": "z"}])  # model §4
    store.create_index(things, index("i", "e"))
    assert ids(things, "i") == [2, 1]


def test_several_fields_and_partial_keys(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    store.create_index(things, index("i", "s", "n"))
    things.put_many([{"id": i, "s": "ab"[i % 2], "n": -i} for i in range(6)])
    assert ids(things, "i", {"s": "a"}) == [4, 2, 0]
    assert ids(things, "i", {"s": "b"}, field_range=FieldRange("n", -3, -1)) == [3, 1]
    for key, text in (
        ({"n": 1}, "A required field is missing from the Index Key"),
        ({"id": 1}, "There is no field with name id"),
    ):
        with pytest.raises(nosql.InvalidRequest, match=text):
            ids(things, "i", key)
    for wanted, text in (
        (FieldRange("id", 1), "Field does not exist in index: id"),
        (FieldRange("n", 1), "PrimaryKey is missing fields more significant than field: n"),
        (FieldRange("s", "b", "a"), "FieldRange: start value must be less than the end value"),
    ):
        with pytest.raises(nosql.InvalidRequest, match=text):
            ids(things, "i", field_range=wanted)


def test_elements_of_arrays(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    rows = [["x", "y", "x"], [], None, ["y"]]
    things.put_many([{"id": i, "tags": tags} for i, tags in enumerate(rows)])
    store.create_index(things, index("i", "tags[]"))
    assert ids(things, "i") == [0, 0, 3, 1, 2]  # EMPTY before NULL
    assert ids(things, "i", {"tags[]": "y"}) == [0, 3]
    assert ids(things, "i", {"tags[]": nosql.EMPTY}) == [1]
    things.put({"id": 0, "tags": ["z"]})
    assert ids(things, "i", {"tags[]": "y"}) == [3]


def test_fields_of_elements_belong_together(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    homes = [{"Street": "a", "zip": 2}, {"Street": "b", "zip": 1}]
    things.put({"id": 1, "homes": homes})
    store.create_index(things, index("i", "homes[].zip", "homes[].Street", "n"))
    keys = [entry.values for entry in things.index_keys_iterator("i")]
    assert keys == [
        {"homes[].zip": 1, "homes[].Street": "b", "n": None},
        {"homes[].zip": 2, "homes[].Street": "a", "n": None},
    ]


def test_maps(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    things.put_many([{"id": 1, "m": {"a": 5, "b": 4}}, {"id": 2, "m": {"B": 9}}, {"id": 3}])
    store.create_index(things, index("keys", "m.keys()", "m.values()"))
    store.create_index(things, index("one", "m.a"))
    found = [
        (e.values["m.keys()"], e.values["m.values()"], e.primary["id"])
        for e in things.index_keys_iterator("keys")
    ]
    assert found == [("B", 9, 2), ("a", 5, 1), ("b", 4, 1), (None, None, 3)]
    assert ids(things, "one") == [1, 2, 3]
    assert ids(things, "one", {"m.a": nosql.EMPTY}) == [2]


def test_typed_paths_inside_json(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    documents: list[Any] = [{"x": 5}, {"x": 4.0}, {"x": None}, {}, nosql.JSON_NULL, None, 7]
    things.put_many([{"id": i, "j": document} for i, document in enumerate(documents)])
    store.create_index(things, index("i", ("j.x", Kind.INTEGER)))
    # ordinary values, EMPTY, JSON null, NULL (ddl §3, sorting)
    assert ids(things, "i") == [1, 0, 3, 4, 6, 2, 5]
    assert ids(things, "i", {"j.x": nosql.JSON_NULL}) == [2]
    for wrong, kind, shown in (
        ("five", "STRING", "five"),
        (4.5, "DOUBLE", "4.5"),
        (2**40, "LONG", "1099511627776"),
        (True, "BOOLEAN", "true"),
        ([1, 2], "ARRAY", "[1,2]"),
        ({"y": None}, "MAP", '{"y":null}'),
        (Decimal("0.5"), "NUMBER", "0.5"),
    ):
        with pytest.raises(nosql.InvalidRequest) as caught:
            things.put({"id": 9, "j": {"x": wrong}})
        assert str(caught.value) == (
            f"Invalid type for JSON index field: j.x. Type is {kind}, expected type is INTEGER\n"
            f"value = {shown}"
        )
    with pytest.raises(nosql.InvalidRequest) as caught:
        things.put({"id": 9, "j": ["a" * 1000]})
    assert str(caught.value) == (
        "Unexpected value in atomic path j.x at step x value =\n" + ('["' + "a" * 1000)[:500]
    )
    assert things.get({"id": 9}) is None


def test_elements_inside_json(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    documents = [{"a": [{"b": "x"}, {"c": 1}, None]}, {"a": {"b": "y"}}, {"a": []}]
    things.put_many([{"id": i, "j": document} for i, document in enumerate(documents)])
    store.create_index(things, index("i", ("j.a[].b", Kind.STRING)))
    found = [
        (entry.values["j.a[].b"], entry.primary["id"]) for entry in things.index_keys_iterator("i")
    ]
    assert found == [("x", 0), ("y", 1), (nosql.EMPTY, 0), (nosql.EMPTY, 2)]


def test_numbers_inside_json_compare_by_value(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    numbers = [2.5, 2, Decimal("1e30")]
    things.put_many([{"id": i, "j": {"x": number}} for i, number in enumerate(numbers)])
    store.create_index(things, index("n", ("j.x", Kind.NUMBER)))
    store.create_index(things, index("d", ("j.x", Kind.DOUBLE)))
    assert ids(things, "n") == ids(things, "d") == [1, 0, 2]


def test_with_no_nulls_leaves_them_out(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    things.put_many([{"id": 1, "n": 1, "tags": ["a"]}, {"id": 2, "tags": ["b"]}, {"id": 3, "n": 2}])
    store.create_index(things, index("i", "n", "tags[]", with_nulls=False))  # model §11
    assert ids(things, "i") == [1]


def test_unique_keys_per_row_are_a_promise(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    store.create_index(things, index("i", "tags[]", unique_keys_per_row=True))  # model §11
    things.put({"id": 1, "tags": ["a", "b"]})
    with pytest.raises(nosql.InvalidRequest, match="WITH UNIQUE KEYS PER ROW"):
        things.put({"id": 1, "tags": ["a", "a"]})
    assert ids(things, "i") == [1, 1]


def test_a_row_has_a_bounded_number_of_entries(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    store.create_index(things, index("i", "tags[]"))
    tags = [str(number) for number in range(INDEX_KEYS_PER_ROW_MAX + 1)]
    with pytest.raises(nosql.InvalidRequest, match="Number of index keys per row exceeds"):
        things.put({"id": 1, "tags": tags})


def test_an_entry_has_a_bounded_length(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    store.create_index(things, index("i", "s"))
    with pytest.raises(nosql.InvalidRequest, match="Index key length:40008 exceeds maximum"):
        things.put({"id": 1, "s": "x" * 40_000})


def test_children_cannot_be_included(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    store.create_index(things, index("i", "n"))  # model §6
    text = "Child table returns are not supported for index scan operations"
    with pytest.raises(nosql.InvalidRequest, match=text):
        things.index_iterator("i", children=["things.kid"])
    with pytest.raises(nosql.NotFound, match="Index no does not exists in table things"):
        things.index_iterator("no")


def test_a_child_table_has_indexes(
    store: nosql.TypedStore, users: nosql.TableHandle, orders: nosql.TableHandle
) -> None:
    store.create_index(orders, index("i", "what", "g"))
    users.put({"g": "a", "id": 1})
    for no, what in ((1, "tea"), (2, "coffee")):
        orders.put({"g": "a", "id": 1, "no": no, "what": what})
    assert [row["no"] for row in orders.index_iterator("i")] == [2, 1]


def test_many_pages_in_both_directions(store: nosql.TypedStore, things: nosql.TableHandle) -> None:
    store.create_index(things, index("i", "n"))
    things.put_many([{"id": i, "n": i // 3} for i in range(500)])
    assert ids(things, "i") == list(range(500))
    assert ids(things, "i", direction=Direction.REVERSE) == list(reversed(range(500)))


# --- that they stay true -------------------------------------------------------------------------


def test_sequences_and_multi_delete_keep_indexes(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    store.create_index(users, index("i", "name"))
    put = users.operation().put
    store.execute([put({"g": "a", "id": i, "name": f"n{9 - i}"}) for i in range(5)])
    assert [row["id"] for row in users.index_iterator("i")] == [4, 3, 2, 1, 0]
    with pytest.raises(nosql.WiderowError):
        store.execute(
            [
                put({"g": "a", "id": 7, "name": "x"}),
                users.operation(abort_if_unsuccessful=True).delete({"g": "a", "id": 99}),
            ]
        )
    assert users.multi_delete({"g": "a"}, field_range=FieldRange("id", end=3)) == 4
    assert [row["id"] for row in users.index_iterator("i")] == [4]


def test_expired_rows_are_hidden_and_their_entries_go(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock
) -> None:
    store.create_index(things, index("i", "n"))  # model §8
    things.put({"id": 1, "n": 1}, ttl=nosql.TimeToLive.hours(1))
    things.put({"id": 2, "n": 2})
    clock.advance(3 * 3600)
    assert ids(things, "i") == [2]
    assert [entry.primary["id"] for entry in things.index_keys_iterator("i")] == [2]
    while store.housekeep():
        pass
    assert len(list(store.engine.store.snapshot().scan(b"\x14", b"\x15"))) == 1


def test_an_index_answers_when_it_is_complete(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    things.put_many([{"id": i, "n": -i} for i in range(600)])
    form = things.form
    store.commit(begin_index(store.engine, form, index("i", "n")))
    with pytest.raises(nosql.Conflict, match="Index i of table things is still being built"):
        ids(things, "i")
    step = build_step(store.engine, things.form, "i", b"")
    store.commit(step.plan)
    assert step.following is not None  # and here the process ends
    things.put({"id": 600, "n": 7})
    things.put({"id": 1, "n": 8})
    things.delete({"id": 2})
    told: list[int] = []
    assert store.create_index(things, index("i", "n"), progress=told.append)
    assert told[-1] == 600
    assert ids(things, "i") == [*range(599, 2, -1), 0, 600, 1]


def test_a_row_that_does_not_fit_ends_the_creation(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    things.put({"id": 1, "j": {"x": "text"}})
    with pytest.raises(nosql.InvalidRequest, match=r"Type is STRING, expected type is INTEGER"):
        store.create_index(things, index("i", ("j.x", Kind.INTEGER)))
    assert things.definition.indexes == ()


def test_the_check_finds_missing_and_false_entries(
    store: nosql.TypedStore, things: nosql.TableHandle
) -> None:
    store.create_index(things, index("i", "n"))
    things.put({"id": 1, "n": 1})
    below = store.engine.store
    ((key, value),) = below.snapshot().scan(b"\x14", b"\x15")
    below.transact((key,), lambda txn: txn.delete(key))
    assert [found.problem for found in check_store(below)] == ["index i lacks the row's entry"]
    below.transact((key,), lambda txn: txn.put(key, value))
    other = key[:-1] + b"\x09"
    below.transact((other,), lambda txn: txn.put(other, value))
    problem = "index i has an entry that its row does not have"
    assert [found.problem for found in check_store(below)] == [problem]
    below.transact((other,), lambda txn: txn.delete(other))
    unknown = b"\x14\x00\x00\xff\x00x"
    below.transact((unknown,), lambda txn: txn.put(unknown, b""))
    (found,) = check_store(below)
    assert found.problem == "entries of index 65280, which no table has"
    below.transact((unknown,), lambda txn: txn.delete(unknown))


def test_a_path_of_any_atomic_type_sorts_numbers_before_texts_before_booleans(
    store: nosql.TypedStore,
) -> None:
    store.run_statement("CREATE TABLE t (k INTEGER, j JSON, PRIMARY KEY(k))")
    store.run_statement("CREATE INDEX any ON t(j.x AS ANYATOMIC)")
    table = store.table("t")
    for k, x in enumerate([True, "b", 2, False, "", 1.5, -7, None]):
        table.put({"k": k, "j": {"x": x}})
    table.put({"k": 8, "j": {}})
    table.put({"k": 9, "j": None})
    assert [row["k"] for row in table.index_iterator("any")] == [6, 5, 2, 4, 1, 3, 0, 8, 7, 9]
    assert [row["k"] for row in table.index_iterator("any", {"j.x": "b"})] == [1]
    with pytest.raises(nosql.InvalidRequest):
        table.put({"k": 10, "j": {"x": [1]}})


FUNCTIONS: list[tuple[str, list[Any]]] = [
    # of an index on the function, the indexed values in their order
    ("lower(s)", ["abc", "x", None]),
    ("substring(s, 1, 2)", ["BC", None, None]),
    ("length(s)", [1, 3, None]),
    ("abs(k)", [1, 2, 3]),
    ("year(t)", [1999, 2020, None]),
    ("upper(j.p AS STRING)", ["NULL", "Q", None]),
]


def test_functions_of_paths_are_indexed(store: nosql.TypedStore) -> None:
    columns = "k INTEGER, s STRING, t TIMESTAMP(0), j JSON"
    store.run_statement(f"CREATE TABLE t ({columns}, PRIMARY KEY(k))")
    table = store.table("t")
    table.put({"k": -3, "s": "ABC", "t": "2020-02-03", "j": {"p": "q"}})
    table.put({"k": 1, "s": "x", "t": "1999-12-31", "j": {"p": None}})
    table.put({"k": 2, "s": None})
    for number, (field, expected) in enumerate(FUNCTIONS):
        store.run_statement(f"CREATE INDEX i{number} ON t({field})")
        found = [next(iter(key.values.values())) for key in table.index_keys_iterator(f"i{number}")]
        assert [None if not isinstance(value, int | str) else value for value in found] == expected
        written = statement_text(parse(f"CREATE INDEX i{number} ON t({field})"))
        assert parse(written) == parse(f"CREATE INDEX i{number} ON t({field})")
    for field, text in (("nosuchfn(s)", "Could not find function"), ("lower(q)", "no field named")):
        with pytest.raises(nosql.InvalidRequest, match=text):
            store.run_statement(f"CREATE INDEX bad ON t({field})")


def test_the_time_that_a_row_expires_at_is_indexed(store: nosql.TypedStore) -> None:
    store.run_statement("CREATE TABLE t (k INTEGER, PRIMARY KEY(k))")
    store.run_statement("CREATE INDEX ends ON t(expiration_time())")
    table = store.table("t")
    for k, days in ((1, 5), (2, 3), (3, 0)):
        table.put({"k": k}, ttl=nosql.TimeToLive.days(days))
    assert [row["k"] for row in table.index_iterator("ends")] == [2, 1, 3]
    table.put({"k": 1}, ttl=nosql.TimeToLive.days(1), update_ttl=True)
    assert [row["k"] for row in table.index_iterator("ends")] == [1, 2, 3]
