"""Rows one by one through the SDK (semantics §3, §4, §5, §19 rows 2, 7, 8a, 8b)."""

import itertools
from collections.abc import Callable

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    PK_AUTO_INCR,
    CapacityUnit,
    Condition,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    ReturnType,
    Row,
    RowExistenceExpectation,
    TableMeta,
    TableOptions,
)

from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

Key = list[tuple[str, object]]
IGNORE = Condition(RowExistenceExpectation.IGNORE)
EXPECT_EXIST = Condition(RowExistenceExpectation.EXPECT_EXIST)
EXPECT_NOT_EXIST = Condition(RowExistenceExpectation.EXPECT_NOT_EXIST)
PK: Key = [("pk", "a"), ("n", 1)]
Schema = list[tuple[str, ...]]
SCHEMA: Schema = [("pk", "STRING"), ("n", "INTEGER")]


def now_ms() -> int:
    return SystemClock().now_us() // 1000


@pytest.fixture
def table(ots: OTSClient) -> OTSClient:
    """A client of an instance with one table, `t`, that keeps five versions."""
    create(ots, SCHEMA, max_version=5)
    return ots


def create(ots: OTSClient, schema: Schema, **options: int) -> None:
    none = ReservedThroughput(CapacityUnit(0, 0))
    ots.create_table(TableMeta("t", schema), TableOptions(**options), none)


def refusal(caught: pytest.ExceptionInfo[OTSServiceError]) -> tuple[int, str, str]:
    error = caught.value
    assert error.get_request_id()
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


def cells(ots: OTSClient, key: Key = PK, **options: object) -> dict[str, object] | None:
    """The values of a row by name, or None."""
    _, row, _ = ots.get_row("t", key, **options)
    return None if row is None else {name: value for name, value, _ in row.attribute_columns}


def update(ots: OTSClient, condition: Condition = IGNORE, **changes: object) -> None:
    ots.update_row("t", Row(PK, changes), condition)


def test_every_type_comes_back_as_it_went(table: OTSClient) -> None:
    values = {
        "binary": bytearray(range(256)),
        "double": -0.1,
        "empty": "",
        "empty_binary": bytearray(),
        "false": False,
        "integer": -(2**63),
        "large": 2**63 - 1,
        "small": 5e-324,
        "text": "学生卡 \U0001f393 \x00 end",
        "true": True,
    }
    table.put_row("t", Row(PK, list(values.items())), IGNORE)
    _, row, token = table.get_row("t", PK)
    assert [tuple(column) for column in row.primary_key] == PK
    assert {name: value for name, value, _ in row.attribute_columns} == values
    assert [name for name, _, _ in row.attribute_columns] == sorted(values)
    for name, value, version in row.attribute_columns:
        assert type(value) is type(values[name])
        assert abs(version - now_ms()) < 60_000
    assert not token


def test_binary_keys_come_back_as_they_went(ots: OTSClient) -> None:
    create(ots, [("pk", "BINARY"), ("second", "BINARY")])
    for value in (b"", b"\x00", b"\x00\xff", b"\xff" * 1024):
        key: Key = [("pk", bytearray(value)), ("second", bytearray(b"\x01\x00"))]
        ots.put_row("t", Row(key, [("c", 1)]), IGNORE)
        assert [tuple(column) for column in ots.get_row("t", key)[1].primary_key] == key


def test_put_replaces_the_whole_row(table: OTSClient) -> None:
    table.put_row("t", Row(PK, [("old", 1), ("both", 2)]), IGNORE)
    table.put_row("t", Row(PK, [("both", 3), ("new", 4)]), IGNORE)
    assert cells(table, max_version=5) == {"both": 3, "new": 4}


def test_a_row_may_have_no_attributes(table: OTSClient) -> None:
    table.put_row("t", Row(PK, []), IGNORE)
    assert cells(table) == {}


def test_absent_rows_are_none(table: OTSClient) -> None:
    consumed, row, token = table.get_row("t", PK)
    assert (consumed.read, consumed.write, row, not token) == (1, 0, None, True)


@pytest.mark.parametrize("condition", [IGNORE, EXPECT_EXIST])
def test_update_puts_deletes_and_increments(table: OTSClient, condition: Condition) -> None:
    now = now_ms()
    versions = [("v", "old", now - 2), ("v", "mid", now - 1), ("v", "new", now)]
    table.put_row("t", Row(PK, [*versions, ("gone", 1), ("count", 5), ("same", True)]), IGNORE)
    update(
        table,
        condition,
        PUT=[("fresh", 2.5), ("dated", "x", now)],
        DELETE=[("v", None, now - 1)],
        DELETE_ALL=["gone"],
        INCREMENT=[("count", 37)],
    )
    _, row, _ = table.get_row("t", PK, max_version=5)
    found = [(name, value) for name, value, _ in row.attribute_columns if name != "count"]
    expected = [("dated", "x"), ("fresh", 2.5), ("same", True), ("v", "new"), ("v", "old")]
    assert found == expected
    assert cells(table, columns_to_get=["count"]) == {"count": 42}


def test_update_creates_an_absent_row_with_what_it_puts(table: OTSClient) -> None:
    update(table, EXPECT_NOT_EXIST, PUT=[("c", 1)], DELETE_ALL=["d"], INCREMENT=[("n1", 2)])
    assert cells(table) == {"c": 1, "n1": 2}


@pytest.mark.parametrize("count", [1, 128])
def test_deletes_alone_make_no_row(table: OTSClient, count: int) -> None:
    update(table, DELETE_ALL=[f"c{n}" for n in range(count)])
    assert cells(table) is None


def test_increments_add_up(table: OTSClient) -> None:
    for delta in (10, 10, -30):
        update(table, INCREMENT=[("c", delta)])
    assert cells(table) == {"c": -10}


def test_increments_of_anything_but_integers_are_refused(table: OTSClient) -> None:
    table.put_row("t", Row(PK, [("c", "text"), ("d", 1)]), IGNORE)
    with pytest.raises(OTSServiceError) as caught:
        update(table, INCREMENT=[("d", 1), ("c", 1)])
    assert refusal(caught)[:2] == (400, "OTSParameterInvalid")
    assert cells(table) == {"c": "text", "d": 1}


def test_increments_beyond_64_bits_are_refused(table: OTSClient) -> None:
    table.put_row("t", Row(PK, [("c", 2**63 - 1)]), IGNORE)
    with pytest.raises(OTSServiceError) as caught:
        update(table, INCREMENT=[("c", 1)])
    assert refusal(caught)[:2] == (400, "OTSParameterInvalid")
    assert cells(table) == {"c": 2**63 - 1}


def test_a_column_may_change_its_type(table: OTSClient) -> None:
    for value in (1, "text", 2.5, bytearray(b"\x00"), False):
        update(table, PUT=[("c", value)])
        assert cells(table) == {"c": value}


def test_a_deleted_row_is_gone_and_can_be_written_again(table: OTSClient) -> None:
    now = now_ms()
    for _ in range(2):
        table.put_row("t", Row(PK, [("c", "value", now), ("d", 1, now)]), IGNORE)
        assert cells(table) == {"c": "value", "d": 1}
        table.delete_row("t", Row(PK), EXPECT_EXIST)
        assert cells(table) is None
    table.delete_row("t", Row(PK), IGNORE)


Write = Callable[[OTSClient, Condition], object]
WRITES: dict[str, Write] = {
    "put": lambda ots, condition: ots.put_row("t", Row(PK, [("c", 2)]), condition),
    "update": lambda ots, condition: ots.update_row("t", Row(PK, {"PUT": [("c", 2)]}), condition),
    "delete": lambda ots, condition: ots.delete_row("t", Row(PK), condition),
}
# Whether the row may be absent, and present (semantics §4.1).
EXPECTATIONS = {
    RowExistenceExpectation.IGNORE: (True, True),
    RowExistenceExpectation.EXPECT_EXIST: (False, True),
    RowExistenceExpectation.EXPECT_NOT_EXIST: (True, False),
}


@pytest.mark.parametrize("write", WRITES)
def test_every_expectation_meets_every_presence(table: OTSClient, write: str) -> None:
    for expectation, present in itertools.product(EXPECTATIONS, (False, True)):
        table.delete_row("t", Row(PK), IGNORE)
        if present:
            table.put_row("t", Row(PK, [("c", 1)]), IGNORE)
        if EXPECTATIONS[expectation][present]:
            WRITES[write](table, Condition(expectation))
            assert cells(table) == (None if write == "delete" else {"c": 2})
        else:
            with pytest.raises(OTSServiceError) as caught:
                WRITES[write](table, Condition(expectation))
            message = (
                "Row exists which is expected nonexistent"
                if present
                else "Row does not exist which is expected existent"
            )
            assert refusal(caught) == (403, "OTSConditionCheckFail", message)
            assert cells(table) == ({"c": 1} if present else None)


def test_updates_are_refused_where_the_table_does_not_allow_them(ots: OTSClient) -> None:
    create(ots, SCHEMA, allow_update=False)
    ots.put_row("t", Row(PK, [("c", 1)]), IGNORE)
    with pytest.raises(OTSServiceError) as caught:
        update(ots, PUT=[("c", 2)])
    message = "Update operation is not allowed in this table"
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    assert cells(ots) == {"c": 1}


# --- versions (semantics §1.5, §5.1) --------------------------------------------------------------


@pytest.fixture
def dated(table: OTSClient) -> tuple[OTSClient, int]:
    """A row whose column `c` has the versions now - 4 … now, with those numbers as values."""
    now = now_ms()
    table.put_row("t", Row(PK, [("c", n, now + n) for n in range(-4, 1)]), IGNORE)
    return table, now


def values(ots: OTSClient, **options: object) -> list[object]:
    _, row, _ = ots.get_row("t", PK, **options)
    return [] if row is None else [value for _, value, _ in row.attribute_columns]


def test_reads_choose_versions(dated: tuple[OTSClient, int]) -> None:
    ots, now = dated
    assert values(ots) == [0]
    assert values(ots, max_version=2) == [0, -1]
    assert values(ots, max_version=2**31 - 1) == [0, -1, -2, -3, -4]
    assert values(ots, max_version=None, time_range=(now - 3, now)) == [-1, -2, -3]
    assert values(ots, max_version=2, time_range=(now - 3, now)) == [-1, -2]
    assert values(ots, max_version=None, time_range=now - 2) == [-2]
    assert values(ots, max_version=None, time_range=now + 1) == []
    _, row, _ = ots.get_row("t", PK, max_version=None, time_range=now + 1)
    assert (row.primary_key, row.attribute_columns) == (PK, [])  # no columns named (semantics §5.2)
    _, row, _ = ots.get_row("t", PK, columns_to_get=["c"], max_version=None, time_range=now + 1)
    assert row is None


def test_reads_must_say_which_versions(dated: tuple[OTSClient, int]) -> None:
    ots, now = dated
    cases: list[tuple[dict[str, object], str]] = [
        ({"max_version": None}, "No version condition is specified."),
        (
            {"max_version": 1, "time_range": now},
            "Specific tiemstamp and max versions cannot be given at the same time.",
        ),
        ({"max_version": 0}, "Invalid max versions: 0 . Reason: Max versions must be positive."),
    ]
    for options, message in cases:
        with pytest.raises(OTSServiceError) as caught:
            values(ots, **options)
        assert refusal(caught) == (400, "OTSParameterInvalid", message)


def test_surplus_versions_disappear_at_once(dated: tuple[OTSClient, int]) -> None:
    ots, now = dated
    update(ots, PUT=[("c", 1, now + 1)])
    assert values(ots, max_version=10) == [1, 0, -1, -2, -3]
    ots.update_table("t", TableOptions(-1, 2))
    assert values(ots, max_version=10) == [1, 0]


def test_the_same_version_is_overwritten(dated: tuple[OTSClient, int]) -> None:
    ots, now = dated
    update(ots, PUT=[("c", "again", now - 2)])
    assert values(ots, max_version=10) == [0, -1, "again", -3, -4]


@pytest.mark.parametrize("version", [-1, (2**63 - 1) // 1000])
def test_versions_outside_64_bits_of_time_are_refused(table: OTSClient, version: int) -> None:
    with pytest.raises(OTSServiceError) as caught:
        table.put_row("t", Row(PK, [("c", 1, version)]), IGNORE)
    message = "Timestamp must be in range [0, INT64_MAX/1000)."
    assert refusal(caught) == (400, "OTSParameterInvalid", message)


def test_versions_too_far_from_now_are_refused(table: OTSClient) -> None:
    with pytest.raises(OTSServiceError) as caught:  # the window is a day (semantics §1.6)
        table.put_row("t", Row(PK, [("c", 1, now_ms() - 90_000_000)]), IGNORE)
    assert refusal(caught)[:2] == (400, "OTSParameterInvalid")
    assert cells(table) is None


# --- columns (semantics §5.2) ---------------------------------------------------------------------


def test_reads_choose_columns(table: OTSClient) -> None:
    table.put_row("t", Row(PK, [(name, name) for name in ("C1", "C2", "C3")]), IGNORE)
    assert cells(table, columns_to_get=[]) == {"C1": "C1", "C2": "C2", "C3": "C3"}
    assert cells(table, columns_to_get=["C1"]) == {"C1": "C1"}
    assert cells(table, columns_to_get=["C1", "C1", "none"]) == {"C1": "C1"}
    assert cells(table, columns_to_get=["blah"]) is None
    assert cells(table, columns_to_get=["n", "C2"]) == {"C2": "C2"}
    assert cells(table, columns_to_get=["n", "blah"]) == {}
    assert cells(table, start_column="C2", end_column="C3") == {"C2": "C2"}
    assert cells(table, columns_to_get=["C1", "C3"], start_column="C2") == {"C3": "C3"}


def test_columns_that_are_asked_for_have_a_bound(table: OTSClient) -> None:
    names = [f"c{n}" for n in range(1024)]
    assert cells(table, columns_to_get=names) is None
    with pytest.raises(OTSServiceError) as caught:
        cells(table, columns_to_get=[*names, "one more"])
    assert refusal(caught)[:2] == (400, "OTSParameterInvalid")


@pytest.mark.parametrize("name", ["#", "#abc", "a" * 256, ""])
def test_column_names_outside_the_rule_are_refused(table: OTSClient, name: str) -> None:
    expected = (400, "OTSParameterInvalid", f"Invalid column name: '{name}'.")
    for action in (
        lambda: table.put_row("t", Row(PK, [("fine", 1), (name, 1)]), IGNORE),
        lambda: update(table, PUT=[(name, 1)]),
        lambda: cells(table, columns_to_get=[name]),
    ):
        with pytest.raises(OTSServiceError) as caught:
            action()
        assert refusal(caught) == expected
    assert cells(table) is None


@pytest.mark.parametrize("name", ["postal code", "price-2", "Header 1"])
def test_column_names_of_the_vendors_programs_are_taken(table: OTSClient, name: str) -> None:
    # semantics §1.4
    table.put_row("t", Row(PK, [(name, 1)]), IGNORE)
    update(table, PUT=[("fine", 2)])
    assert cells(table, columns_to_get=[name]) == {name: 1}
    assert cells(table) == {name: 1, "fine": 2}


def test_column_names_may_be_strict() -> None:
    # docs/operating/configure.md
    with WiderowServer(settings={"column_names": "strict"}) as server:
        ots = server.client()
        create(ots, SCHEMA)
        with pytest.raises(OTSServiceError) as caught:
            ots.put_row("t", Row(PK, [("postal code", 1)]), IGNORE)
        assert refusal(caught) == (
            400,
            "OTSParameterInvalid",
            "Invalid column name: 'postal code'.",
        )
        assert cells(ots) is None


def test_values_and_cells_have_bounds(plain: OTSClient) -> None:
    create(plain, SCHEMA)
    plain.put_row("t", Row(PK, [("c", "x" * 2097152)]), IGNORE)
    assert cells(plain) == {"c": "x" * 2097152}
    with pytest.raises(OTSServiceError) as caught:
        plain.put_row("t", Row(PK, [("c", "x" * 2097153)]), IGNORE)
    message = (
        "The length of attribute column: 'c' exceeds the MaxLength:2097152 "
        "with CurrentLength:2097153."
    )
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    many = [(f"c{n:04}", n) for n in range(1025)]
    plain.put_row("t", Row(PK, many[:1024]), IGNORE)
    assert cells(plain) == dict(many[:1024])
    with pytest.raises(OTSServiceError) as caught:
        plain.put_row("t", Row(PK, many), IGNORE)
    message = (
        "The number of attribute columns exceeds the limit, limit count: 1024, column count: 1025."
    )
    assert refusal(caught) == (400, "OTSParameterInvalid", message)


def test_a_row_larger_than_an_answer_is_read_in_pieces(plain: OTSClient) -> None:
    create(plain, SCHEMA)
    written = {f"c{n:02}": f"{n:02}" * 500_000 for n in range(20)}  # 20 MB; a request carries 5
    for column in written.items():
        plain.update_row("t", Row(PK, {"PUT": [column]}), IGNORE)
    read: dict[str, object] = {}
    pieces = 0
    token = None
    while token or not pieces:
        _, row, token = plain.get_row("t", PK, token=token)
        assert [tuple(column) for column in row.primary_key] == PK
        piece = {name: value for name, value, _ in row.attribute_columns}
        assert not piece.keys() & read.keys()
        read |= piece
        pieces += 1
    assert read == written
    assert pieces > 1


def test_a_token_that_was_not_given_out_is_refused(table: OTSClient) -> None:
    table.put_row("t", Row(PK, [("c", 1)]), IGNORE)
    with pytest.raises(OTSServiceError) as caught:
        table.get_row("t", PK, token=b"made up")
    assert refusal(caught)[:2] == (400, "OTSParameterInvalid")


def test_a_transaction_that_was_not_begun_is_refused(table: OTSClient) -> None:
    actions: list[Callable[[], object]] = [
        lambda: table.put_row("t", Row(PK, [("c", 1)]), IGNORE, transaction_id="made up"),
        lambda: table.get_row("t", PK, transaction_id="made up"),
    ]
    for action in actions:
        with pytest.raises(OTSServiceError) as caught:
            action()
        assert refusal(caught) == (400, "OTSParameterInvalid", "TransactionID is invalid.")
    assert cells(table) is None


# --- primary keys (semantics §3) ------------------------------------------------------------------

LONG = "x" * 1025
BAD_KEYS: list[tuple[Key, str, str]] = [
    ([("pk", "a")], "OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."),
    ([*PK, ("x", 1)], "OTSInvalidPK", "Validate PK size fail. Input: 3, Meta: 2."),
    ([("PK2", "a"), ("n", 1)], "OTSInvalidPK", "Validate PK name fail. Input: PK2, Meta: pk."),
    ([("n", 1), ("pk", "a")], "OTSInvalidPK", "Validate PK name fail. Input: n, Meta: pk."),
    (
        [("pk", "a"), ("n", "1")],
        "OTSInvalidPK",
        "Validate PK type fail. Input: VT_STRING, Meta: VT_INTEGER.",
    ),
    (
        [("pk", bytearray(b"a")), ("n", 1)],
        "OTSInvalidPK",
        "Validate PK type fail. Input: VT_BLOB, Meta: VT_STRING.",
    ),
    (
        [("pk", LONG), ("n", 1)],
        "OTSParameterInvalid",
        (
            "The length of primary key column: 'pk' exceeds the MaxLength:1024 "
            "with CurrentLength:1025."
        ),
    ),
    (
        [("pk", INF_MIN), ("n", 1)],
        "OTSParameterInvalid",
        "VT_INF_MIN is an invalid type for the primary key.",
    ),
    (
        [("pk", "a"), ("n", INF_MAX)],
        "OTSParameterInvalid",
        "VT_INF_MAX is an invalid type for the primary key.",
    ),
]


@pytest.mark.parametrize(("key", "code", "message"), BAD_KEYS)
def test_keys_are_held_against_the_schema(
    table: OTSClient, key: Key, code: str, message: str
) -> None:
    actions: list[Callable[[], object]] = [
        lambda: table.put_row("t", Row(key, [("c", 1)]), IGNORE),
        lambda: table.get_row("t", key),
        lambda: table.update_row("t", Row(key, {"PUT": [("c", 1)]}), IGNORE),
        lambda: table.delete_row("t", Row(key), IGNORE),
    ]
    for action in actions:
        with pytest.raises(OTSServiceError) as caught:
            action()
        assert refusal(caught) == (400, code, message)


def test_keys_of_1024_bytes_are_taken(table: OTSClient) -> None:
    key: Key = [("pk", "x" * 1024), ("n", -(2**63))]
    table.put_row("t", Row(key, [("c", 1)]), IGNORE)
    assert cells(table, key) == {"c": 1}


def test_an_attribute_cannot_be_named_like_a_key_column(table: OTSClient) -> None:
    with pytest.raises(OTSServiceError) as caught:
        table.put_row("t", Row(PK, [("n", 1)]), IGNORE)
    message = "Duplicated attribute column name with primary key column: 'n'."
    assert refusal(caught) == (400, "OTSParameterInvalid", message)


# --- what writes return, auto-increment (semantics §4.5, §4.7) ------------------------------------


def test_writes_return_the_key_when_asked(table: OTSClient) -> None:
    wanted = {"condition": IGNORE, "return_type": ReturnType.RT_PK}
    for _, row in (
        table.put_row("t", Row(PK, [("c", 1)]), **wanted),
        table.update_row("t", Row(PK, {"PUT": [("c", 2)]}), **wanted),
        table.delete_row("t", Row(PK), **wanted),
    ):
        assert [tuple(column) for column in row.primary_key] == PK
    assert table.put_row("t", Row(PK, [("c", 1)]), IGNORE)[1] is None


@pytest.fixture
def counted(ots: OTSClient) -> OTSClient:
    create(ots, [("pk", "STRING"), ("seq", "INTEGER", PK_AUTO_INCR)])
    return ots


def append(ots: OTSClient, condition: Condition = IGNORE) -> int:
    key: Key = [("pk", "a"), ("seq", PK_AUTO_INCR)]
    _, row = ots.put_row("t", Row(key, [("c", 1)]), condition, ReturnType.RT_PK)
    assert row.primary_key[0] == ("pk", "a")
    number: int = row.primary_key[1][1]
    return number


def test_auto_increment_numbers_increase(counted: OTSClient) -> None:
    numbers = [append(counted) for _ in range(5)]
    assert numbers == sorted(set(numbers))
    for number in numbers:
        assert cells(counted, [("pk", "a"), ("seq", number)]) == {"c": 1}


def test_a_numbered_row_is_changed_by_its_number(counted: OTSClient) -> None:
    key: Key = [("pk", "a"), ("seq", append(counted))]
    counted.update_row("t", Row(key, {"INCREMENT": [("c", 9)]}), EXPECT_EXIST)
    assert cells(counted, key) == {"c": 10}
    counted.delete_row("t", Row(key), IGNORE)
    assert cells(counted, key) is None


def test_a_number_that_no_row_has_is_not_put(counted: OTSClient) -> None:
    """As the vendor's suites assert (semantics §4.7): also with IGNORE."""
    key: Key = [("pk", "a"), ("seq", append(counted) + 1)]
    for condition in (IGNORE, EXPECT_EXIST):
        with pytest.raises(OTSServiceError) as caught:
            counted.put_row("t", Row(key, [("c", 1)]), condition)
        assert refusal(caught)[:2] == (403, "OTSConditionCheckFail")
    assert cells(counted, key) is None


def test_new_numbers_take_no_conditions(counted: OTSClient) -> None:
    for condition in (EXPECT_EXIST, EXPECT_NOT_EXIST):
        with pytest.raises(OTSServiceError) as caught:
            append(counted, condition)
        assert refusal(caught)[:2] == (400, "OTSParameterInvalid")


def test_reads_take_no_marker(counted: OTSClient) -> None:
    with pytest.raises(OTSServiceError) as caught:
        cells(counted, [("pk", "a"), ("seq", PK_AUTO_INCR)])
    assert refusal(caught)[:2] == (400, "OTSParameterInvalid")


# --- capacity units (semantics §9) ----------------------------------------------------------------


def spent(answer: tuple[CapacityUnit, object]) -> tuple[int, int]:
    return answer[0].read, answer[0].write


def test_capacity_units_are_counted_as_the_vendor_counts(table: OTSClient) -> None:
    row = Row(PK, [("a", "x" * 4096), ("b", "x" * 4096)])
    change = Row(PK, {"PUT": row.attribute_columns})
    assert spent(table.put_row("t", row, IGNORE)) == (0, 3)
    assert spent(table.put_row("t", row, EXPECT_EXIST)) == (1, 3)
    assert spent(table.update_row("t", change, IGNORE)) == (0, 3)
    assert spent(table.update_row("t", change, EXPECT_EXIST)) == (1, 3)
    assert spent(table.get_row("t", PK)[:2]) == (3, 0)
    assert spent(table.get_row("t", PK, ["a"])[:2]) == (2, 0)
    assert spent(table.get_row("t", PK, ["none"])[:2]) == (1, 0)
    assert spent(table.delete_row("t", Row(PK), EXPECT_EXIST)) == (1, 1)
    assert spent(table.delete_row("t", Row(PK), IGNORE)) == (0, 1)
    table.put_row("t", Row(PK, [("c", "x" * 5000)]), IGNORE)
    assert spent(table.get_row("t", PK)[:2]) == (2, 0)
