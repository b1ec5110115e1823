"""What clients do in these tests: tables, rows, whole sessions drawn by hypothesis."""

from typing import Any, NamedTuple

import tablestore as ts
from hypothesis import strategies as st

TABLE = "orders"


def make_table(client: Any, name: str = TABLE, *, automatic: bool = False, **options: Any) -> None:  # noqa: ANN401  # the SDK has no types
    second = ("id", "INTEGER", ts.PK_AUTO_INCR) if automatic else ("id", "INTEGER")
    client.create_table(
        ts.TableMeta(name, [("day", "STRING"), second]),
        ts.TableOptions(**options),
        ts.ReservedThroughput(ts.CapacityUnit(0, 0)),
    )


def put(client: Any, day: str, number: int, **columns: Any) -> None:  # noqa: ANN401  # the SDK has no types
    row = ts.Row([("day", day), ("id", number)], sorted(columns.items()))
    client.put_row(TABLE, row, ts.Condition(ts.RowExistenceExpectation.IGNORE))


def scan(client: Any, limit: int | None = None) -> Any:  # noqa: ANN401  # the SDK has no types
    low, high = [("day", ts.INF_MIN), ("id", ts.INF_MIN)], [("day", ts.INF_MAX), ("id", ts.INF_MAX)]
    return client.get_range(TABLE, ts.Direction.FORWARD, low, high, [], limit, max_version=1)


class Step(NamedTuple):
    """One thing that a client does."""

    verb: str
    day: str
    number: int
    value: str | int | bytes


def steps() -> st.SearchStrategy[list[Step]]:
    values = st.one_of(
        st.text(max_size=20), st.integers(-(2**63), 2**63 - 1), st.binary(max_size=20)
    )
    step = st.builds(
        Step,
        st.sampled_from(("put", "update", "delete", "get", "scan", "batch", "expect", "missing")),
        st.sampled_from(("mon", "tue")),
        st.integers(0, 3),
        values,
    )
    return st.lists(step, min_size=1, max_size=15)


def do(client: Any, step: Step) -> None:  # noqa: ANN401  # the SDK has no types
    """Do it; what the server refuses is a part of the session."""
    try:
        _do(client, step)
    except ts.OTSServiceError:
        return


def _do(client: Any, step: Step) -> None:  # noqa: ANN401  # the SDK has no types
    key = [("day", step.day), ("id", step.number)]
    ignore = ts.Condition(ts.RowExistenceExpectation.IGNORE)
    if step.verb == "put":
        client.put_row(TABLE, ts.Row(key, [("c", step.value)]), ignore)
    elif step.verb == "update":
        client.update_row(TABLE, ts.Row(key, {"PUT": [("d", step.value)]}), ignore)
    elif step.verb == "delete":
        client.delete_row(TABLE, ts.Row(key), ignore)
    elif step.verb == "get":
        client.get_row(TABLE, key, max_version=1)
    elif step.verb == "scan":
        scan(client, limit=3)
    elif step.verb == "batch":
        request = ts.BatchGetRowRequest()
        keys = [key, [("day", step.day), ("id", step.number + 1)]]
        request.add(ts.TableInBatchGetRowItem(TABLE, keys, max_version=1))
        client.batch_get_row(request)
    elif step.verb == "expect":
        expected = ts.Condition(ts.RowExistenceExpectation.EXPECT_EXIST)
        client.put_row(TABLE, ts.Row(key, [("c", step.value)]), expected)
    else:
        client.get_row("nowhere", key, max_version=1)
