"""Reading and writing one row: results, conditions, versions, and what is refused (model §5)."""

from collections.abc import Callable
from typing import Any

import pytest

from widerow import nosql
from widerow.nosql import InvalidRequest, ReturnRow, Version
from widerow.testing.clock import FakeClock

ROW = {"g": "a", "id": 1, "name": "Ada"}
KEY = {"g": "a", "id": 1}


def test_a_row_comes_back_with_every_column_in_declared_order(users: nosql.TableHandle) -> None:
    # model §2: what was left out is the default, else NULL
    assert users.put(ROW)
    row = users.get(KEY)
    assert row is not None
    assert list(row.to_dict()) == ["g", "id", "name", "color", "seen", "n", "tags", "doc"]
    assert row.to_dict() == {
        **ROW,
        "color": "red",
        "seen": None,
        "n": None,
        "tags": None,
        "doc": None,
    }


def test_names_of_columns_have_no_case(users: nosql.TableHandle) -> None:  # model §1
    users.put({"G": "a", "ID": 1, "NAME": "Ada"})
    row = users.get({"G": "a", "Id": 1})
    assert row is not None
    assert (row["NaMe"], row["name"]) == ("Ada", "Ada")


def test_a_row_is_replaced_as_a_whole(users: nosql.TableHandle) -> None:
    users.put({**ROW, "n": 5})
    users.put({**KEY, "tags": ["x"]})
    row = users.get(KEY)
    assert row is not None
    assert (row["name"], row["n"], row["tags"]) == (None, None, ["x"])


def test_an_absent_row_is_none(users: nosql.TableHandle) -> None:
    assert users.get(KEY) is None


def test_put_if_absent_and_if_present(users: nosql.TableHandle) -> None:
    assert not users.put_if_present(ROW)
    assert users.put_if_absent(ROW)
    assert not users.put_if_absent({**ROW, "name": "Bob"})
    assert users.put_if_present({**ROW, "name": "Eve"})
    row = users.get(KEY)
    assert row is not None
    assert row["name"] == "Eve"


def test_every_write_makes_a_new_version(users: nosql.TableHandle) -> None:
    first, second = users.put(ROW), users.put(ROW)
    assert first.version is not None
    assert second.version is not None
    assert first.version != second.version
    assert not users.put_if_version(ROW, first.version)
    assert users.put_if_version(ROW, second.version)
    assert not users.delete_if_version(KEY, second.version)
    row = users.get(KEY)
    assert row is not None
    assert users.delete_if_version(KEY, row.version)
    assert users.get(KEY) is None
    assert not users.put_if_version(ROW, row.version)


def test_a_version_survives_as_bytes(users: nosql.TableHandle) -> None:
    version = users.put(ROW).version
    assert version is not None
    assert Version.from_bytes(version.to_bytes()) == version
    for data in (b"", version.to_bytes()[:-1], b"\x02" + version.to_bytes()[1:]):
        with pytest.raises(InvalidRequest) as refused:
            Version.from_bytes(data)
        assert str(refused.value) == "Invalid byte format of Version"


def test_delete_says_whether_there_was_a_row(users: nosql.TableHandle) -> None:
    users.put(ROW)
    assert users.delete(KEY)
    assert not users.delete(KEY)


def test_the_former_row_is_returned_as_far_as_it_is_asked_for(users: nosql.TableHandle) -> None:
    version = users.put(ROW).version
    results = {each: users.put_if_absent(ROW, returning=each) for each in ReturnRow}
    assert not any(results.values())
    assert results[ReturnRow.NONE][1:4] == (None, None, None)
    value, every = results[ReturnRow.VALUE], results[ReturnRow.ALL]
    assert value.previous is not None
    assert every.previous is not None
    assert (value.previous["name"], value.previous_version) == ("Ada", None)
    assert (every.previous["name"], every.previous_version) == ("Ada", version)
    assert results[ReturnRow.VERSION].previous is None
    assert results[ReturnRow.VERSION].previous_version == version
    deleted = users.delete(KEY, returning=ReturnRow.ALL)
    assert deleted
    assert deleted.previous_version == version


def test_a_row_knows_when_it_was_written(users: nosql.TableHandle, clock: FakeClock) -> None:
    users.put(ROW)
    clock.advance(5)
    row = users.get(KEY)
    assert row is not None
    assert row.modified_ms == clock.now_us() // 1000 - 5000


def test_a_row_that_was_read_can_be_given_back(users: nosql.TableHandle) -> None:
    users.put(ROW)
    row = users.get(KEY)
    assert row is not None
    assert users.put(row)
    again = users.get(row)
    assert again is not None
    assert again.to_dict() == row.to_dict()
    assert users.delete(row.key)


def test_keys_in_case_and_spelling_are_different_rows(users: nosql.TableHandle) -> None:  # model §4
    for name in ("", "a", "A", "é", "e\u0301"):
        users.put({"g": name, "id": 0})
    assert len(list(users.table_iterator())) == 5


Act = Callable[[nosql.TableHandle], Any]

REFUSED: list[tuple[str, Act, str]] = [
    ("get of a part", lambda t: t.get({"g": "a"}), "Missing primary key field: id"),
    ("get of the other part", lambda t: t.get({"id": 1}), "Missing primary key field: g"),
    ("delete of a part", lambda t: t.delete({}), "Missing primary key field: g"),
    ("put without a key column", lambda t: t.put({"g": "a"}), "Missing primary key field: id"),
    ("unknown column", lambda t: t.put({**ROW, "zz": 1}), "There is no field with name zz"),
    (
        "column outside the key",
        lambda t: t.get({**KEY, "name": "Ada"}),
        "There is no field with name name",
    ),
    ("NULL in a key", lambda t: t.get({"g": None, "id": 1}), 'Field "g" is not nullable'),
    (
        "put of NULL in a key",
        lambda t: t.put({"g": None, "id": 1}),
        "Can not put a NULL value in a primary key field",
    ),
    (
        "NULL where it is not taken",
        lambda t: t.put({**ROW, "color": None}),
        'Field "color" is not nullable',
    ),
    (
        "text for an INTEGER",
        lambda t: t.put({"g": "a", "id": "1"}),
        "Type cannot create a String: class INTEGER",
    ),
    (
        "number for a STRING",
        lambda t: t.put({**ROW, "name": 1}),
        "Type cannot create a Integer: class STRING",
    ),
    (
        "boolean for an INTEGER",
        lambda t: t.put({"g": "a", "id": True}),
        "Type cannot create a Boolean: class INTEGER",
    ),
    (
        "number beyond an INTEGER",
        lambda t: t.put({"g": "a", "id": 2**31}),
        "Illegal value for field id: 2147483648. Expected INTEGER",
    ),
    (
        "no symbol",
        lambda t: t.put({**ROW, "color": "green"}),
        "Invalid enumeration value 'green', must be in values: [blue, red]",
    ),
    (
        "key too long",
        lambda t: t.put({"g": "x" * 40_000, "id": 1}),
        "Serialized key length:40006 exceeds maximum key permissible length:32767",
    ),
]


@pytest.mark.parametrize(("act", "text"), [pytest.param(a, t, id=n) for n, a, t in REFUSED])
def test_what_breaks_a_rule_is_refused_and_writes_nothing(
    users: nosql.TableHandle, act: Act, text: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        act(users)
    assert str(refused.value) == text
    assert list(users.table_iterator()) == []


JSON_REFUSED = [
    (
        '{"g":"a","id":1,"zz":1}',
        True,
        (
            'Unexpected field "zz" in JSON input. There is no corresponding field in record type '
            "definition"
        ),
    ),
    ('{"g":"a"}', True, "Not enough fields for value in JSON input.Found 1, expected 8"),
    ('{"g":"a","id":1,"color":null}', False, "Invalid null value in JSON input for field color"),
    ('{"g":1}', False, "Illegal value for field g: 1. Expected STRING"),
    (
        '{"id":"x"}',
        False,
        "Illegal value for numeric field id. Expected INT, is VALUE_STRING",
    ),
    (
        '{"id":1.5}',
        False,
        "Illegal value for numeric field id. Expected INT, is VALUE_NUMBER_FLOAT",
    ),
    ("[]", False, "JSON input must be an object, found START_ARRAY"),
]


@pytest.mark.parametrize(("text", "exact", "words"), JSON_REFUSED)
def test_json_that_is_no_row_is_refused(
    users: nosql.TableHandle,
    text: str,
    exact: bool,  # noqa: FBT001  # a column of the table
    words: str,
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        users.row_from_json(text, exact=exact)
    assert str(refused.value) == words


def test_json_in_and_out(users: nosql.TableHandle) -> None:
    text = (
        '{"g":"a","id":1,"name":"é","color":"blue","seen":"2016-07-20T00:00:00.120Z",'
        '"n":12345678901234567890.5,"tags":["x","y"],"doc":{"b":[1,2.5,null],"a":true}}'
    )
    users.put(users.row_from_json(text, exact=True))
    row = users.get(users.key_from_json('{"g":"a","id":1,"name":"is not a key"}'))
    assert row is not None
    assert row.to_json() == text
    assert row.key.to_json() == '{"g":"a","id":1}'


def test_json_null_is_not_sql_null(users: nosql.TableHandle) -> None:  # model §12
    users.put(users.row_from_json('{"g":"a","id":1,"doc":null,"name":null}'))
    row = users.get(KEY)
    assert row is not None
    assert row["doc"] is nosql.JSON_NULL
    assert row["name"] is None


def test_unknown_columns_of_json_are_passed_over_unless_exact(users: nosql.TableHandle) -> None:
    assert users.row_from_json('{"g":"a","zz":1}') == {"g": "a"}
