"""The tunnel actions as bytes, from the message of a request to that of its answer (change §C2)."""

import base64
import json
from collections.abc import Callable
from typing import TypeVar

import pytest
from google.protobuf.message import Message
from tests.support.answers import decode_row
from tests.support.changes import create, put, put_cells, update
from tests.support.engines import open_tablestore
from tests.unit.wire.tablestore.operations.asking import answer_of, refusal_of

from widerow.engine.check import check_store
from widerow.engine.tunnels.state import ChannelPosition
from widerow.errors import InvalidRequest, OutcomeUnknown, StoreFull
from widerow.keys.layout import tunnels_prefix
from widerow.limits import (
    TUNNEL_PAGE_RECORDS_MAX,
    TUNNEL_TOKEN_COUNT_MAX,
    TUNNEL_TOKEN_TIME_MS_MAX,
    TUNNELS_PER_TABLE_MAX,
)
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.values import KeyType
from widerow.rows.cells import PLAIN_HEADER
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import tunnel_messages as t
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT
from widerow.wire.tablestore.operations.tunnel_tokens import decode_position, encode_position

OPEN, CLOSING, CLOSE, TERMINATED = 1, 2, 3, 4
INVALID, GONE = (400, "OTSParameterInvalid"), (410, "OTSResourceGone")
M = TypeVar("M", bound=Message)


class World:
    """An instance with a table of rows, and whoever asks for tunnels of it."""

    def __init__(self, rows: int = 3) -> None:
        self.clock, self.store = FakeClock(), MemoryStore()
        self.engine = open_tablestore(self.store, self.clock, FakeEntropy())
        self.engine.core.run(self.engine.create_table("i", create("t", {"k": KeyType.STRING})))
        changes = tuple(put("t", {"k": f"{n:05}"}, {"v": n}) for n in range(rows))
        for first in range(0, rows, 200):
            part = BatchWrite((TableWrite("t", changes[first : first + 200]),))
            self.engine.core.run(self.engine.rows.batch_write_row("i", part))

    def restart(self) -> None:
        self.engine = open_tablestore(self.store, self.clock, FakeEntropy(9))

    def ask(self, action: str, sent: Message, answer: Callable[[bytes], M]) -> M:
        """The answer of an action; raises what the engine raises."""
        return answer_of(self.engine, f"tunnel/{action}", sent, answer)

    def refused(self, action: str, sent: Message) -> tuple[int, str]:
        """Status and code of the refusal."""
        return refusal_of(self.engine, f"tunnel/{action}", sent)

    # --- in short ----------------------------------------------------------------------------

    def create(self, name: str = "n", kind: int = 1) -> str:
        request = create_request(name, kind)
        return str(self.ask("create", request, t.CreateTunnelResponse.FromString).tunnel_id)

    def describe(self, tunnel: str) -> t.DescribeTunnelResponse:
        request = t.DescribeTunnelRequest(table_name="", tunnel_name="", tunnel_id=tunnel)
        return self.ask("describe", request, t.DescribeTunnelResponse.FromString)

    def connect(self, tunnel: str, timeout: int = 60) -> str:
        config = t.ClientConfig(timeout=timeout, client_tag="tag")
        request = t.ConnectRequest(tunnel_id=tunnel, client_config=config)
        return str(self.ask("connect", request, t.ConnectResponse.FromString).client_id)

    def heartbeat(
        self, tunnel: str, client: str, *channels: tuple[str, int, int]
    ) -> list[tuple[str, int, int]]:
        """The client's channels: id, version and status each."""
        answer = self.ask(
            "heartbeat", heartbeat(tunnel, client, *channels), t.HeartbeatResponse.FromString
        )
        return [(str(c.channel_id), c.version, c.status) for c in answer.channels]

    def checkpoint(self, who: dict[str, str]) -> tuple[str, int]:
        answer = self.ask(
            "getcheckpoint", t.GetCheckpointRequest(**who), t.GetCheckpointResponse.FromString
        )
        return str(answer.checkpoint), answer.sequence_number

    def read(self, who: dict[str, str], token: str) -> t.ReadRecordsResponse:
        request = t.ReadRecordsRequest(
            tunnel_id=who["tunnel_id"],
            client_id=who["client_id"],
            channel_id=who["channel_id"],
            token=token,
        )
        return self.ask("readrecords", request, t.ReadRecordsResponse.FromString)

    def save(self, who: dict[str, str], token: str, number: int) -> None:
        self.ask("checkpoint", save(who, token, number), t.CheckpointResponse.FromString)


def create_request(name: str, kind: int = 1, **config: int) -> t.CreateTunnelRequest:
    tunnel = t.Tunnel(table_name="t", tunnel_name=name, tunnel_type=kind)
    if config:
        tunnel.stream_tunnel_config.CopyFrom(
            t.StreamTunnelConfig(
                flag=config.get("flag"),
                start_offset=config.get("start"),
                end_offset=config.get("end"),
            )
        )
    return t.CreateTunnelRequest(tunnel=tunnel)


def heartbeat(tunnel: str, client: str, *channels: tuple[str, int, int]) -> t.HeartbeatRequest:
    sent = [t.Channel(channel_id=i, version=v, status=s) for i, v, s in channels]
    return t.HeartbeatRequest(tunnel_id=tunnel, client_id=client, channels=sent)


def channel(tunnel: str, client: str, name: str = "BaseData_0000") -> dict[str, str]:
    return {"tunnel_id": tunnel, "client_id": client, "channel_id": name}


def save(who: dict[str, str], token: str, number: int) -> t.CheckpointRequest:
    return t.CheckpointRequest(
        tunnel_id=who["tunnel_id"],
        client_id=who["client_id"],
        channel_id=who["channel_id"],
        checkpoint=token,
        sequence_number=number,
    )


# --- tokens (change §C1.7, §C2.8) ----------------------------------------------------------------


def test_tokens_have_the_bytes_of_the_page() -> None:
    assert encode_position(ChannelPosition(key=b"\x01\x02")) == "CAESBAoCAQI="
    assert encode_position(ChannelPosition(finished=True)) == "finished"


@pytest.mark.parametrize(
    "position",
    [
        ChannelPosition(),
        ChannelPosition(key=b"k", count=7),
        ChannelPosition(iterator="it", time_ms=1, count=2),
        ChannelPosition(
            iterator="it", time_ms=TUNNEL_TOKEN_TIME_MS_MAX, count=TUNNEL_TOKEN_COUNT_MAX
        ),
        ChannelPosition(finished=True),
    ],
)
def test_a_token_leads_back_to_its_position(position: ChannelPosition) -> None:
    assert decode_position(encode_position(position)) == position


@pytest.mark.parametrize(
    "token",
    [
        *("", "Finished", "CAESBAoCAQI", "CAESBAoCAQI=\n", "!!!!", "CAM="),
        base64.b64encode(b"\x08\x01\x12\x02\x0a\x05").decode(),
        base64.b64encode(b"\x08\x03\x12\x00").decode(),
        base64.b64encode(b"\x08\x02\x12\x06\x12\x01\xff\x18\x00 \x00").decode(),
        encode_position(ChannelPosition(key=b"k", count=TUNNEL_TOKEN_COUNT_MAX + 1)),
        encode_position(ChannelPosition(iterator="it", time_ms=TUNNEL_TOKEN_TIME_MS_MAX + 1)),
    ],
)
def test_other_tokens_are_refused(token: str) -> None:
    with pytest.raises(InvalidRequest):
        decode_position(token)


# --- definitions (change §C2.1, §C2.2) -----------------------------------------------------------


def test_a_tunnel_is_described_with_all_that_clients_read_unseen() -> None:
    # change §0 row 14
    world = World()
    tunnel = world.create()
    shown = world.describe(tunnel)
    info = shown.tunnel
    assert (info.tunnel_id, info.tunnel_type, info.table_name) == (tunnel, "BaseData", "t")
    assert (info.instance_name, info.stream_id, info.stage) == ("i", "", "ProcessBaseData")
    assert (info.tunnel_name, info.public, info.expired) == ("n", True, False)
    assert info.create_time == world.clock.now_us() * 1000
    assert info.HasField("stream_tunnel_config")
    config = info.stream_tunnel_config
    assert (config.flag, config.start_offset, config.end_offset) == (0, 0, 0)
    (only,) = shown.channels
    assert only.channel_id == "BaseData_0000"
    assert (only.channel_type, only.channel_status, only.client_id) == ("BaseData", "WAIT", "")
    assert only.HasField("channel_rpo")
    assert shown.HasField("tunnel_rpo")


def test_tunnels_are_listed_found_by_name_and_deleted() -> None:
    world = World()
    tunnels = {world.create(name): name for name in ("b", "a")}
    listed = world.ask("list", t.ListTunnelRequest(table_name="t"), t.ListTunnelResponse.FromString)
    assert [each.tunnel_name for each in listed.tunnels] == ["a", "b"]
    every = world.ask("list", t.ListTunnelRequest(), t.ListTunnelResponse.FromString)
    assert every == listed
    named = t.DescribeTunnelRequest(table_name="t", tunnel_name="a")
    found = world.ask("describe", named, t.DescribeTunnelResponse.FromString)
    assert tunnels[str(found.tunnel.tunnel_id)] == "a"
    gone = t.DeleteTunnelRequest(table_name="t", tunnel_name="a")
    world.ask("delete", gone, t.DeleteTunnelResponse.FromString)
    assert world.refused("delete", gone) == INVALID
    assert world.refused("describe", named) == INVALID


def test_the_state_of_a_deleted_tunnel_goes() -> None:
    world = World()
    tunnel = world.create()
    prefix = tunnels_prefix(world.engine.describe_table("i", "t").id)
    assert list(world.store.snapshot().scan(prefix, prefix + b"\xff"))
    gone = t.DeleteTunnelRequest(table_name="", tunnel_name="", tunnel_id=tunnel)
    world.ask("delete", gone, t.DeleteTunnelResponse.FromString)
    while (step := world.engine.core.housekeeping()) is not None:
        world.engine.core.run(step)
    assert not list(world.store.snapshot().scan(prefix, prefix + b"\xff"))
    assert check_store(world.store) == []


def test_tunnels_go_with_their_table() -> None:
    # change §E: clients are told that the tunnel does not exist, and halt
    world = World()
    tunnel = world.create()
    client = world.connect(tunnel)
    assert check_store(world.store) == []
    world.engine.core.run(world.engine.delete_table("i", "t"))
    assert world.refused("heartbeat", heartbeat(tunnel, client)) == INVALID
    while (step := world.engine.core.housekeeping()) is not None:
        world.engine.core.run(step)
    prefix = tunnels_prefix(1)
    assert not list(world.store.snapshot().scan(prefix, prefix + b"\xff"))


def test_a_second_tunnel_of_a_name_is_refused_and_so_is_an_eleventh() -> None:
    world = World()
    world.create("n0")
    assert world.refused("create", create_request("n0")) == (409, "OTSTunnelExist")
    for number in range(1, TUNNELS_PER_TABLE_MAX):
        world.create(f"n{number}")
    assert world.refused("create", create_request("more")) == INVALID


@pytest.mark.parametrize(
    "request_",
    [
        create_request("3n"),
        create_request(""),
        create_request("n", 4),
        create_request("n", 0),
        create_request("n", 1, flag=2),
        create_request("n", 2, start=5, end=4),
    ],
)
def test_definitions_that_cannot_be_are_refused(request_: t.CreateTunnelRequest) -> None:
    assert World().refused("create", request_) == INVALID


def test_a_base_tunnel_keeps_a_config_that_means_nothing_to_it() -> None:
    # change §C2.2
    world = World()
    request = create_request("n", 1, flag=1, start=0, end=7)
    tunnel = world.ask("create", request, t.CreateTunnelResponse.FromString).tunnel_id
    config = world.describe(str(tunnel)).tunnel.stream_tunnel_config
    assert (config.flag, config.start_offset, config.end_offset) == (1, 0, 7)


# --- consuming (change §C2.4) --------------------------------------------------------------------


def test_a_client_consumes_the_rows_from_its_first_heartbeat_to_the_end() -> None:
    world = World(rows=TUNNEL_PAGE_RECORDS_MAX + 5)
    tunnel = world.create()
    client = world.connect(tunnel)
    assert client.startswith("tag_")
    (mine,) = world.heartbeat(tunnel, client)
    assert mine == ("BaseData_0000", 1, OPEN)
    who = channel(tunnel, client)
    token, number = world.checkpoint(who)
    assert (token, number) == (encode_position(ChannelPosition()), 0)
    first = world.read(who, token)
    assert (len(first.records), first.may_more_record) == (TUNNEL_PAGE_RECORDS_MAX, True)
    assert {record.action_type for record in first.records} == {1}
    row = decode_row(first.records[7].record[len(PLAIN_HEADER) :])
    assert row == ({"k": "00007"}, {"v": [(world.clock.now_us() // 1000, 7)]})
    world.save(who, str(first.next_token), 1)
    assert world.checkpoint(who) == (first.next_token, 1)
    last = world.read(who, str(first.next_token))
    assert (len(last.records), last.next_token, last.may_more_record) == (5, "finished", False)
    world.save(who, "finished", 2)
    assert world.heartbeat(tunnel, client, ("BaseData_0000", 2, TERMINATED)) == []
    shown = world.describe(tunnel)
    assert shown.tunnel.stage == "ProcessStream"
    assert shown.channels[0].channel_status == "TERMINATED"
    assert shown.channels[0].channel_count == TUNNEL_PAGE_RECORDS_MAX + 5
    assert shown.tunnel_rpo == world.clock.now_us() * 1000
    assert check_store(world.store) == []


def test_the_scan_of_the_rows_is_live() -> None:
    # change §C2.3: made on an empty table, it hands out what was written afterwards
    world = World(rows=0)
    tunnel = world.create()
    for n in range(10):
        world.engine.core.run(world.engine.rows.write_row("i", put("t", {"k": str(n)}, {"v": n})))
    page = world.read(channel(tunnel, ""), world.checkpoint(channel(tunnel, ""))[0])
    assert len(page.records) == 10


def test_all_kept_versions_are_handed_out_and_expired_ones_are_not() -> None:
    world = World(rows=0)
    request = create("v", {"k": KeyType.STRING}, time_to_live=100, max_versions=2)
    world.engine.core.run(world.engine.create_table("i", request))
    now = world.clock.now_us() // 1000
    for n, at in enumerate((now - 50_000, now, now + 1)):
        cells = put_cells({"v": [(at, n)]})
        world.engine.core.run(world.engine.rows.write_row("i", update("v", {"k": "a"}, cells)))
    tunnel = t.Tunnel(table_name="v", tunnel_name="n", tunnel_type=1)
    made = world.ask(
        "create", t.CreateTunnelRequest(tunnel=tunnel), t.CreateTunnelResponse.FromString
    )
    who = channel(str(made.tunnel_id), "")
    start = world.checkpoint(who)[0]
    row = decode_row(world.read(who, start).records[0].record[len(PLAIN_HEADER) :])
    assert row == ({"k": "a"}, {"v": [(now + 1, 2), (now, 1)]})
    world.clock.advance(200)
    assert world.read(who, start).records == []


def test_a_row_larger_than_an_answer_goes_on_as_updates() -> None:
    world = World(rows=0)
    value = b"x" * 1_000_000
    for n in range(20):
        cells = put_cells({f"c{n:02}": value})
        world.engine.core.run(world.engine.rows.write_row("i", update("t", {"k": "a"}, cells)))
    who = channel(world.create(), "")
    token = world.checkpoint(who)[0]
    columns: list[str] = []
    actions: list[int] = []
    while token != "finished":  # the end
        page = world.read(who, token)
        token = str(page.next_token)
        for record in page.records:
            row = decode_row(record.record[len(PLAIN_HEADER) :])
            assert row is not None
            actions.append(record.action_type)
            columns += row[1]
    assert actions == [1, 2]
    assert columns == [f"c{n:02}" for n in range(20)]


def test_channels_are_partitions_and_their_tokens_stay_in_them() -> None:
    world = World(rows=0)
    table = world.engine.describe_table("i", "t")
    divided = world.engine.tables.change(
        table, lambda each: world.engine.tables.model.with_bounds(each, (b"5\x00\x01",))
    )
    world.store.transact_group([divided])
    for n in range(10):
        world.engine.core.run(world.engine.rows.write_row("i", put("t", {"k": str(n)}, {"v": n})))
    tunnel = world.create()
    low, high = (channel(tunnel, "", name) for name in ("BaseData_0000", "BaseData_0001"))
    assert len(world.read(low, world.checkpoint(low)[0]).records) == 5
    assert len(world.read(high, world.checkpoint(high)[0]).records) == 5
    with pytest.raises(InvalidRequest):
        world.read(low, world.checkpoint(high)[0])
    assert world.refused("checkpoint", save(low, world.checkpoint(high)[0], 1)) == INVALID


def test_checkpoints_follow_each_other_and_may_be_repeated() -> None:
    world = World()
    tunnel = world.create()
    who = channel(tunnel, world.connect(tunnel))
    token = encode_position(ChannelPosition(key=b"00001\x00\x01", count=1))
    world.save(who, token, 1)
    world.save(who, token, 1)
    wrong = (400, "OTSSequenceNumberNotMatch")
    assert world.refused("checkpoint", save(who, token, 3)) == wrong
    assert world.refused("checkpoint", save(who, "finished", 1)) == wrong
    assert world.checkpoint(who) == (token, 1)


# --- who holds a channel (change §C2.5) ----------------------------------------------------------


def test_a_channel_moves_from_a_client_that_fell_silent() -> None:
    world = World()
    tunnel = world.create()
    one, two = world.connect(tunnel, 60), world.connect(tunnel, 60)
    ((name, version, _),) = world.heartbeat(tunnel, one)
    assert world.heartbeat(tunnel, two) == []
    taken = t.GetCheckpointRequest(**channel(tunnel, two))
    assert world.refused("getcheckpoint", taken) == GONE
    world.clock.advance(50)
    world.heartbeat(tunnel, two)
    world.clock.advance(11)
    assert world.refused("heartbeat", heartbeat(tunnel, one)) == GONE
    assert world.heartbeat(tunnel, two) == [(name, version + 2, OPEN)]
    assert world.refused("getcheckpoint", t.GetCheckpointRequest(**channel(tunnel, one))) == GONE


def test_clients_survive_a_restart_with_a_fresh_timeout() -> None:
    # change §0 row 10
    world = World()
    tunnel = world.create()
    client = world.connect(tunnel, 60)
    mine = world.heartbeat(tunnel, client)
    world.clock.advance(3600)
    world.restart()
    assert world.describe(tunnel).channels[0].client_id == client
    assert world.heartbeat(tunnel, client, *mine) == mine
    world.clock.advance(59)
    assert world.heartbeat(tunnel, client, *mine) == mine


def test_a_heartbeat_that_changes_nothing_writes_nothing() -> None:
    world = World()
    tunnel = world.create()
    client = world.connect(tunnel)
    mine = world.heartbeat(tunnel, client)
    before = world.store.statistics()["syncs"], list(world.store.snapshot().scan(b"\x05", b"\x06"))
    for _ in range(3):
        world.clock.advance(20)
        assert world.heartbeat(tunnel, client, *mine) == mine
    after = world.store.statistics()["syncs"], list(world.store.snapshot().scan(b"\x05", b"\x06"))
    assert after == before


def test_a_channel_that_failed_is_given_again_with_the_next_heartbeat() -> None:
    # change §C2.8 rule 5: a callback that fails does not spin
    world = World()
    tunnel = world.create()
    client = world.connect(tunnel)
    ((name, version, _),) = world.heartbeat(tunnel, client)
    assert world.heartbeat(tunnel, client, (name, version + 1, CLOSE)) == []
    assert world.heartbeat(tunnel, client) == [(name, version + 2, OPEN)]


def test_an_end_that_was_not_saved_is_no_end() -> None:
    world = World()
    tunnel = world.create()
    client = world.connect(tunnel)
    ((name, version, _),) = world.heartbeat(tunnel, client)
    assert world.heartbeat(tunnel, client, (name, version + 1, TERMINATED)) == []
    assert world.describe(tunnel).channels[0].channel_status == "WAIT"


def test_a_shutdown_frees_the_channels_and_unknown_clients_may_shut_down() -> None:
    world = World()
    tunnel = world.create()
    one, two = world.connect(tunnel), world.connect(tunnel)
    world.heartbeat(tunnel, one)
    for _ in range(2):
        shutdown = t.ShutdownRequest(tunnel_id=tunnel, client_id=one)
        world.ask("shutdown", shutdown, t.ShutdownResponse.FromString)
    late = encode_position(ChannelPosition(key=b"00001\x00\x01", count=1))
    world.save(channel(tunnel, one), late, 1)  # change §C2.4 step 11: nobody has it yet
    assert len(world.heartbeat(tunnel, two)) == 1
    assert world.refused("checkpoint", save(channel(tunnel, one), late, 2)) == GONE


def test_channels_are_paused_resumed_and_ended() -> None:
    # change §C2.5, last row
    world = World()
    tunnel = world.create()
    client = world.connect(tunnel)
    ((name, version, _),) = world.heartbeat(tunnel, client)

    def schedule(status: int) -> None:
        wanted = [t.Channel(channel_id=name, version=0, status=status)]
        request = t.ScheduleRequest(tunnel_id=tunnel, channels=wanted)
        world.ask("schedule", request, t.ScheduleResponse.FromString)

    schedule(CLOSING)
    assert world.heartbeat(tunnel, client) == []  # it does not hold it any more
    assert world.describe(tunnel).channels[0].channel_status == "WAIT"
    assert world.heartbeat(tunnel, client) == []
    schedule(OPEN)
    ((_, resumed, status),) = world.heartbeat(tunnel, client)
    assert resumed > version
    assert status == OPEN
    schedule(TERMINATED)
    assert world.heartbeat(tunnel, client) == []
    assert world.describe(tunnel).tunnel.stage == "ProcessStream"
    unknown = [t.Channel(channel_id="x", version=0, status=OPEN)]
    request = t.ScheduleRequest(tunnel_id=tunnel, channels=unknown)
    assert world.refused("schedule", request) == INVALID


def test_how_far_channels_are_is_told_as_json() -> None:
    # change §0 row 13
    world = World()
    tunnel = world.create()
    for action in ("getrpo", "getrpobyoffset"):
        answer = world.ask(action, t.GetRpoRequest(tunnel_id=tunnel), t.GetRpoResponse.FromString)
        assert answer.tunnel_id == tunnel
        channels, whole = json.loads(answer.rpo_infos), json.loads(answer.tunnel_rpo_infos)
        assert channels["BaseData_0000"]["0"]["ChannelTyp"] == "BaseData"
        assert whole["0"]["Status"] == "ProcessBaseData"


@pytest.mark.parametrize("timeout", [-1, 0, 9, 3601, 2**40])
def test_timeouts_have_bounds(timeout: int) -> None:
    world = World()
    config = t.ClientConfig(timeout=timeout)
    request = t.ConnectRequest(tunnel_id=world.create(), client_config=config)
    assert world.refused("connect", request) == INVALID


# --- failures (change §C2.1) ---------------------------------------------------------------------


@pytest.mark.parametrize("error", [OutcomeUnknown(""), StoreFull(""), ValueError("a defect")])
def test_failures_that_pass_are_told_by_the_one_code_that_is_tried_again(error: Exception) -> None:
    refusal = TABLESTORE_DIALECT.refuse(error, "tunnel/readrecords", "")
    assert (refusal.status, refusal.code) == (503, "OTSTunnelServerUnavailable")
    assert TABLESTORE_DIALECT.refuse(error, "GetRow", "").code != refusal.code
