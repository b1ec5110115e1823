"""The page of the protocol names every action, every request field and every refusal."""

import re
from pathlib import Path

import pytest

from widerow.wire.tablestore import (
    delivery_messages,
    messages,
    search_messages,
    sql_messages,
    timeseries_messages,
    tunnel_messages,
)
from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED

PAGES = Path(__file__).parents[4] / "docs" / "protocol"
PAGE = (PAGES / "tablestore.md").read_text(encoding="utf-8")
WORDS = re.compile(r"[\w/]+")


def _section(action: str) -> str:
    """The text under an action's own heading."""
    found = re.search(rf"^### {action}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no section {action}"
    return found[1]


TUNNEL_REQUESTS = {
    "tunnel/create": "CreateTunnelRequest",
    "tunnel/delete": "DeleteTunnelRequest",
    "tunnel/list": "ListTunnelRequest",
    "tunnel/describe": "DescribeTunnelRequest",
    "tunnel/connect": "ConnectRequest",
    "tunnel/heartbeat": "HeartbeatRequest",
    "tunnel/shutdown": "ShutdownRequest",
    "tunnel/getcheckpoint": "GetCheckpointRequest",
    "tunnel/readrecords": "ReadRecordsRequest",
    "tunnel/checkpoint": "CheckpointRequest",
    "tunnel/getrpo": "GetRpoRequest",
    "tunnel/getrpobyoffset": "GetRpoRequest",
    "tunnel/schedule": "ScheduleRequest",
}


def missing_fields(action: str) -> set[str]:
    """Fields of the request that the section of its action does not name."""
    tunnel = TUNNEL_REQUESTS.get(action)
    module = messages if tunnel is None else tunnel_messages
    if action.endswith("DeliveryTask"):
        module = delivery_messages
    for other in (search_messages, sql_messages, timeseries_messages):
        if hasattr(other, f"{action}Request"):
            module = other
    request = getattr(module, tunnel or f"{action}Request").DESCRIPTOR
    words = set(WORDS.findall(_section(action)))
    return {field.name for field in request.fields} - words


def test_every_field_of_a_request_is_in_its_action_s_section() -> None:
    assert [(action, found) for action in OPERATIONS if (found := missing_fields(action))] == []


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("CreateTable", messages.TableMeta),
        ("CreateTable", messages.TableOptions),
        ("BatchGetRow", messages.TableInBatchGetRowRequest),
        ("BatchWriteRow", messages.TableInBatchWriteRowRequest),
        ("BatchWriteRow", messages.RowInBatchWriteRowRequest),
        ("GetRow", messages.TimeRange),
        ("PutRow", messages.Condition),
        ("PutRow", messages.ReturnContent),
        ("DescribeTable", messages.DescribeTableResponse),
        ("tunnel/create", tunnel_messages.Tunnel),
        ("tunnel/create", tunnel_messages.StreamTunnelConfig),
        ("tunnel/connect", tunnel_messages.ClientConfig),
        ("tunnel/heartbeat", tunnel_messages.Channel),
        ("CreateDeliveryTask", delivery_messages.OSSTaskConfig),
        ("CreateDeliveryTask", delivery_messages.EventColumn),
        ("CreateDeliveryTask", delivery_messages.ParquetSchema),
        ("CreateSearchIndex", search_messages.IndexSchema),
        ("CreateSearchIndex", search_messages.IndexSetting),
        ("Search", search_messages.SearchQuery),
        ("ParallelScan", search_messages.ScanQuery),
    ],
)
def test_fields_of_inner_messages_are_there_too(action: str, message: type) -> None:
    descriptor = getattr(message, "DESCRIPTOR")  # noqa: B009  # the class is typed as any
    assert {field.name for field in descriptor.fields} <= set(WORDS.findall(_section(action)))


def test_permissions_are_those_of_the_table() -> None:
    rows = [f"| {action} | {each.permission.value} |" for action, each in OPERATIONS.items()]
    assert [row for row in rows if row not in PAGE] == []


def test_actions_that_are_not_offered_are_listed_by_their_feature() -> None:
    listed: dict[str, str] = {}
    rows = PAGE.split("## Actions that are not offered")[1]
    for feature, actions in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", rows, re.MULTILINE):
        listed.update(dict.fromkeys(actions.split(", "), feature))
    listed.pop("actions", None)
    listed.pop("---", None)
    assert listed == UNSUPPORTED
