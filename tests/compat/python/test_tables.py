"""Table actions through the SDK (semantics §2, §19 rows 1, 3 and 4)."""

from collections.abc import Callable
from typing import Any

import pytest
from tablestore import (
    PK_AUTO_INCR,
    CapacityUnit,
    DescribeTableResponse,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    Row,
    TableMeta,
    TableOptions,
)
from tablestore.metadata import SSEKeyType, SSESpecification

NONE = ReservedThroughput(CapacityUnit(0, 0))
Key = list[tuple[str, ...]]
Action = Callable[[], object]
KEY: Key = [("pk", "STRING")]


def refusal(caught: pytest.ExceptionInfo[Any]) -> tuple[int, str, str]:
    error = caught.value
    assert error.get_request_id()
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


def create(ots: OTSClient, name: str = "t", key: Key = KEY, **options: int) -> None:
    ots.create_table(TableMeta(name, key), TableOptions(**options), NONE)


def options_of(described: DescribeTableResponse) -> tuple[Any, ...]:
    options = described.table_options
    return (
        options.time_to_live,
        options.max_version,
        options.max_time_deviation,
        options.allow_update,
    )


def row(key: str) -> Row:
    return Row([("pk", key)], [("c", 1)])


def test_a_table_has_the_defaults_of_the_sdk(ots: OTSClient) -> None:
    create(ots)
    assert options_of(ots.describe_table("t")) == (-1, 1, 86400, True)


def test_options_are_kept_and_changed_at_once(ots: OTSClient) -> None:
    create(ots, time_to_live=1200000, max_version=2, max_time_deviation=86401)
    assert options_of(ots.describe_table("t")) == (1200000, 2, 86401, True)
    changed = ots.update_table("t", TableOptions(-1, 3, 86402))
    assert options_of(changed) == (-1, 3, 86402, True)
    assert options_of(ots.describe_table("t")) == (-1, 3, 86402, True)


@pytest.mark.parametrize("allowed", [True, False])
def test_whether_updates_are_allowed_is_kept(ots: OTSClient, allowed: bool) -> None:  # noqa: FBT001  # a case
    create(ots, allow_update=allowed)
    assert options_of(ots.describe_table("t"))[3] is allowed


def test_a_key_is_described_as_it_was_declared(ots: OTSClient) -> None:
    key = [
        ("PK2", "STRING"),
        ("PK1", "INTEGER"),
        ("seq", "INTEGER", PK_AUTO_INCR),
        ("b", "BINARY"),
    ]
    ots.create_table(TableMeta("t", key, [("d", "DOUBLE"), ("i", "INTEGER")]), TableOptions(), NONE)
    meta = ots.describe_table("t").table_meta
    assert meta.table_name == "t"
    assert [tuple(column) for column in meta.schema_of_primary_key] == key
    assert [tuple(column) for column in meta.defined_columns] == [("d", "DOUBLE"), ("i", "INTEGER")]


def test_throughput_is_kept_and_not_changed_too_often(ots: OTSClient) -> None:
    ots.create_table(TableMeta("t", KEY), TableOptions(), ReservedThroughput(CapacityUnit(3, 2)))
    details = ots.describe_table("t").reserved_throughput_details
    assert (details.capacity_unit.read, details.capacity_unit.write) == (3, 2)
    assert details.last_increase_time > 0
    with pytest.raises(OTSServiceError) as caught:  # two minutes after creation (semantics §2.4)
        ots.update_table("t", None, ReservedThroughput(CapacityUnit(4, 4)))
    assert refusal(caught)[:2] == (403, "OTSTooFrequentReservedThroughputAdjustment")


def test_tables_are_listed_until_they_are_deleted(ots: OTSClient) -> None:
    assert list(ots.list_table()) == []
    for name in ("b", "a", "_0", "A0"):
        create(ots, name)
    assert list(ots.list_table()) == ["A0", "_0", "a", "b"]
    ots.delete_table("a")
    assert list(ots.list_table()) == ["A0", "_0", "b"]


def test_a_deleted_table_can_be_created_again_at_once_and_is_empty(ots: OTSClient) -> None:
    create(ots)
    ots.put_row("t", row("a"))
    ots.delete_table("t")
    create(ots, key=[("pk", "STRING")])
    assert ots.get_row("t", [("pk", "a")])[1] is None


def test_an_existing_table_is_not_created_again(ots: OTSClient) -> None:
    create(ots)
    with pytest.raises(OTSServiceError) as caught:
        create(ots)
    message = "Requested table already exists."
    assert refusal(caught) == (409, "OTSObjectAlreadyExist", message)


def test_unknown_tables_are_told_to_be_unknown(ots: OTSClient) -> None:
    expected = (404, "OTSObjectNotExist", "Requested table does not exist.")
    actions: list[Action] = [
        lambda: ots.describe_table("t"),
        lambda: ots.delete_table("t"),
        lambda: ots.update_table("t", TableOptions()),
        lambda: ots.get_row("t", [("pk", "a")]),
        lambda: ots.put_row("t", row("a")),
    ]
    for action in actions:
        with pytest.raises(OTSServiceError) as caught:
            action()
        assert refusal(caught) == expected


@pytest.mark.parametrize("name", ["0", "#", "中文", "T#", "T中文", "3t", "-", "", "a" * 256])
def test_names_outside_the_rule_are_refused_by_every_action(ots: OTSClient, name: str) -> None:
    expected = (400, "OTSParameterInvalid", f"Invalid table name: '{name}'.")
    for action in (
        lambda: create(ots, name),
        lambda: ots.describe_table(name),
        lambda: ots.update_table(name, TableOptions()),
        lambda: ots.delete_table(name),
        lambda: ots.get_row(name, [("pk", "a")]),
        lambda: ots.put_row(name, row("a")),
        lambda: ots.delete_row(name, row("a")),
    ):
        with pytest.raises(OTSServiceError) as caught:
            action()
        assert refusal(caught) == expected


@pytest.mark.parametrize("name", ["_0", "_T", "A0", "a" * 255])
def test_names_inside_the_rule_are_taken(ots: OTSClient, name: str) -> None:
    create(ots, name)
    assert ots.describe_table(name).table_meta.table_name == name


BAD_TABLES = [
    ([], {}, "The number of primary key columns must be in range: [1, 4]."),
    (
        [(f"p{n}", "STRING") for n in range(5)],
        {},
        "The number of primary key columns must be in range: [1, 4].",
    ),
    (
        [("a", "STRING"), ("a", "INTEGER")],
        {},
        "Duplicated primary key name: 'a'.",
    ),
    (KEY, {"time_to_live": 0}, "TimeToLive cannot be 0 or less than -1."),
    (KEY, {"time_to_live": -2}, "TimeToLive cannot be 0 or less than -1."),
    (KEY, {"max_version": 0}, "The maximum versions cannot be less than or equal to 0."),
    (
        KEY,
        {"max_time_deviation": -1},
        "The maximum deviation must be in range [0, INT64_MAX/1000000].",
    ),
]


@pytest.mark.parametrize(("key", "options", "message"), BAD_TABLES)
def test_tables_outside_the_rules_are_refused(
    ots: OTSClient, key: Key, options: dict[str, int], message: str
) -> None:
    with pytest.raises(OTSServiceError) as caught:
        create(ots, "t", key, **options)
    assert refusal(caught) == (400, "OTSParameterInvalid", message)
    assert list(ots.list_table()) == []


def test_an_instance_holds_64_tables(plain: OTSClient) -> None:
    for number in range(64):
        create(plain, f"t{number}")
    with pytest.raises(OTSServiceError) as caught:
        create(plain, "t64")
    expected = "Number of tables exceeds the quota:64."
    assert refusal(caught) == (403, "OTSQuotaExhausted", expected)
    assert len(plain.list_table()) == 64


def test_instances_do_not_see_each_other(ots: OTSClient, other: OTSClient) -> None:
    create(ots)
    assert list(other.list_table()) == []
    create(other)
    other.put_row("t", row("a"))
    assert ots.get_row("t", [("pk", "a")])[1] is None


def test_a_table_may_be_split_beforehand(plain: OTSClient) -> None:
    key = [("pk", "INTEGER")]  # the asynchronous client has no such action
    points = [100, 200, 300]
    plain._create_table_ex(TableMeta("t", key), TableOptions(), NONE, split_points=points)
    meta = plain.describe_table("t").table_meta
    assert [tuple(column) for column in meta.schema_of_primary_key] == key


def test_a_wish_for_encryption_is_described(ots: OTSClient) -> None:
    wish = SSESpecification(enable=True, key_type=SSEKeyType.SSE_KMS_SERVICE)
    ots.create_table(TableMeta("t", KEY), TableOptions(), NONE, None, wish)
    details = ots.describe_table("t").sse_details
    assert (details.enable, details.key_type) == (True, SSEKeyType.SSE_KMS_SERVICE)
