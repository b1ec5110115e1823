"""Tunnels of changes over the table's stream, as bytes (change §C2.3)."""

import pytest
from tests.support.changes import delete, put
from tests.unit.wire.tablestore.operations.test_tunnels import (
    CLOSE,
    INVALID,
    OPEN,
    TERMINATED,
    World,
    channel,
    create_request,
    heartbeat,
)

from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.check import check_store
from widerow.engine.tunnels.state import ChannelPosition
from widerow.errors import InvalidRequest
from widerow.model.tablestore.requests import StreamChange, UpdateTable
from widerow.wire.tablestore import tunnel_messages as t
from widerow.wire.tablestore.operations.tunnel_tokens import decode_position, encode_position

STREAM, BOTH = 2, 3
HOUR_NS = 3600 * 10**9


def write(world: World, key: str, value: int) -> None:
    world.clock.advance(0.001)
    world.engine.core.run(world.engine.rows.write_row("i", put("t", {"k": key}, {"v": value})))


def split(world: World, key: bytes) -> None:
    """Two partitions, and so two shards, where there was one."""
    table = world.engine.describe_table("i", "t")
    divided = CatalogPartitions(world.engine.core.catalog).divide(
        table, lambda bounds: (*bounds, key)
    )
    world.store.transact_group([divided])


def trim(world: World) -> None:
    """All that the stream holds is too old, and is removed."""
    world.clock.advance(170 * 3600)
    for _ in range(50):
        step = world.engine.core.housekeeping()
        if step is None:
            break
        world.engine.core.run(step)


def units_read(world: World) -> int:
    """What the table counts by now."""
    world.engine.core.partitions.absorb()
    return world.engine.core.partitions.load_of(world.engine.describe_table("i", "t")).consumed.read


def consumed(world: World, tunnel: str, client: str, until: int = 20) -> list[tuple[int, str]]:
    """What a client gets that takes all it is given: action and key each."""
    taken: list[tuple[int, str]] = []
    held: dict[str, tuple[int, int]] = {}
    for _ in range(until):
        reports = [(name, version, status) for name, (version, status) in held.items()]
        told = world.heartbeat(tunnel, client, *reports)
        held = {name: (version, status) for name, version, status in told}
        for name, (version, status) in held.items():
            assert status == OPEN
            who = channel(tunnel, client, name)
            token, number = world.checkpoint(who)
            page = world.read(who, token)
            taken += [(each.action_type, _key_of(each.record)) for each in page.records]
            if page.next_token != token:
                world.save(who, str(page.next_token), number + 1)
            if page.next_token == "finished":  # the end
                held[name] = (version + 1, TERMINATED)
    return taken


def _key_of(record: bytes) -> str:
    """The value of the one key column, a STRING: 75000000 01 03 04 1:4 k 05 5+n:4 03 n:4 ..."""
    at = 4 + 1 + 1 + 1 + 4 + 1 + 1 + 4 + 1
    size = int.from_bytes(record[at : at + 4], "little")
    return record[at + 4 : at + 4 + size].decode()


def test_a_stream_tunnel_switches_the_stream_on_and_hands_out_what_follows() -> None:
    world = World(rows=3)
    tunnel = world.create(kind=STREAM)
    stream = world.engine.describe_table("i", "t").stream
    assert stream is not None
    assert stream.expiration_hours == 168
    shown = world.describe(tunnel)
    assert (shown.tunnel.stage, shown.tunnel.stream_id) == ("ProcessStream", stream.id)
    assert [each.channel_type for each in shown.channels] == ["Stream"]
    write(world, "new", 1)
    world.engine.core.run(world.engine.rows.write_row("i", delete("t", {"k": "new"})))
    assert consumed(world, tunnel, world.connect(tunnel), 3) == [(1, "new"), (3, "new")]
    assert check_store(world.store) == []


def test_a_stream_with_a_tunnel_cannot_be_switched_off() -> None:
    # change §C2.8 rule 12
    world = World()
    tunnel = world.create(kind=STREAM)
    off = UpdateTable("t", stream=StreamChange(enable=False))
    with pytest.raises(Exception, match="stream_has_tunnels"):
        world.engine.core.run(world.engine.update_table("i", off))
    gone = t.DeleteTunnelRequest(table_name="", tunnel_name="", tunnel_id=tunnel)
    world.ask("delete", gone, t.DeleteTunnelResponse.FromString)
    assert world.engine.core.run(world.engine.update_table("i", off)).stream is None


@pytest.mark.parametrize(
    ("iterator", "time_ms", "count"),
    [("x", 0, 0), (None, 2**63 - 1, 0), (None, 0, 2**63 - 1)],
    ids=["no iterator", "no time", "no count"],
)
def test_a_position_that_no_answer_gave_is_neither_read_nor_saved(
    iterator: str | None, time_ms: int, count: int
) -> None:
    # once saved, a time that no answer can tell would end every DescribeTunnel
    world = World(rows=0)
    tunnel = world.create(kind=STREAM)
    write(world, "a", 1)
    client = world.connect(tunnel)
    ((name, _, _),) = world.heartbeat(tunnel, client)
    who = channel(tunnel, client, name)
    token, number = world.checkpoint(who)
    given = decode_position(token).iterator if iterator is None else iterator
    forged = encode_position(ChannelPosition(iterator=given, time_ms=time_ms, count=count))
    with pytest.raises(InvalidRequest):
        world.read(who, forged)
    with pytest.raises(InvalidRequest):
        world.save(who, forged, number + 1)
    assert world.checkpoint(who) == (token, number)
    assert [each.channel_rpo for each in world.describe(tunnel).channels] != []


def test_rows_come_first_then_all_changes_since_the_tunnel_was_made() -> None:
    world = World(rows=2)
    tunnel = world.create(kind=BOTH)
    write(world, "00001", 7)
    shown = world.describe(tunnel)
    assert shown.tunnel.stage == "ProcessBaseData"
    assert {str(c.channel_type): str(c.channel_status) for c in shown.channels} == {
        "BaseData": "WAIT",
        "Stream": "WAIT",
    }
    client = world.connect(tunnel)
    ((name, _, _),) = world.heartbeat(tunnel, client)
    assert name == "BaseData_0000"  # changes wait for the rows
    taken = consumed(world, tunnel, client, 6)
    assert taken == [(1, "00000"), (1, "00001"), (1, "00001")]
    assert world.describe(tunnel).tunnel.stage == "ProcessStream"


def test_children_wait_until_their_parent_is_consumed() -> None:
    world = World(rows=0)
    tunnel = world.create(kind=STREAM)
    write(world, "a", 1)
    write(world, "z", 1)
    split(world, b"m\x00\x01")
    write(world, "a", 2)
    write(world, "z", 2)
    client = world.connect(tunnel)
    assert len(world.heartbeat(tunnel, client)) == 1
    assert len(world.describe(tunnel).channels) == 3
    taken = consumed(world, tunnel, client, 8)
    assert taken[:2] == [(1, "a"), (1, "z")]
    assert sorted(taken[2:]) == [(1, "a"), (1, "z")]
    assert len(world.heartbeat(tunnel, client)) == 2


def test_a_consumed_channel_goes_with_its_shard() -> None:
    """What ended is kept no longer than the stream lists it, and the children are not held up."""
    world = World(rows=0)
    tunnel = world.create(kind=STREAM)
    write(world, "a", 1)
    split(world, b"m\x00\x01")
    client = world.connect(tunnel)
    assert consumed(world, tunnel, client, 6) == [(1, "a")]
    assert {each.channel_id for each in world.describe(tunnel).channels} == {"0", "1", "2"}
    trim(world)  # the records; the shard is seen to be closed
    trim(world)  # and then the shard
    client = world.connect(tunnel)
    assert len(world.heartbeat(tunnel, client)) == 2
    assert {each.channel_id for each in world.describe(tunnel).channels} == {"1", "2"}


def test_what_a_tunnel_reads_is_counted() -> None:
    """change §C2.3: changes as GetStreamRecord counts them, one read unit at least."""
    world = World(rows=0)
    tunnel = world.create(kind=STREAM)
    write(world, "a", 1)
    before = units_read(world)
    assert consumed(world, tunnel, world.connect(tunnel), 1) == [(1, "a")]
    assert units_read(world) > before


def test_at_the_tail_the_token_stays_and_nothing_more_is_promised() -> None:
    # change §C2.8 rule 9
    world = World(rows=0)
    tunnel = world.create(kind=STREAM)
    (shard,) = world.describe(tunnel).channels
    who = channel(tunnel, "", str(shard.channel_id))
    token = world.checkpoint(who)[0]
    page = world.read(who, token)
    assert (len(page.records), page.next_token, page.may_more_record) == (0, token, False)
    write(world, "a", 1)
    page = world.read(who, token)
    assert len(page.records) == 1
    assert world.read(who, str(page.next_token)).next_token == page.next_token
    world.save(who, str(page.next_token), 1)
    assert world.describe(tunnel).channels[0].channel_count == 1
    assert world.describe(tunnel).tunnel_rpo == world.clock.now_us() * 1000


def test_offsets_choose_the_changes() -> None:
    world = World(rows=0)
    world.create("first", STREAM)
    times = []
    for n in range(4):
        world.clock.advance(1)
        times.append(world.clock.now_us() * 1000)
        world.engine.core.run(world.engine.rows.write_row("i", put("t", {"k": str(n)}, {"v": n})))
    world.clock.advance(600)
    request = create_request("n", STREAM, start=times[1], end=times[3])
    tunnel = str(world.ask("create", request, t.CreateTunnelResponse.FromString).tunnel_id)
    config = world.describe(tunnel).tunnel.stream_tunnel_config
    assert (config.flag, config.start_offset, config.end_offset) == (0, times[1], times[3])
    taken = consumed(world, tunnel, world.connect(tunnel), 3)
    assert taken == [(1, "1"), (1, "2")]
    assert world.describe(tunnel).channels[0].channel_status == "TERMINATED"
    earliest = create_request("e", STREAM, flag=1)
    every = str(world.ask("create", earliest, t.CreateTunnelResponse.FromString).tunnel_id)
    assert len(consumed(world, every, world.connect(every), 2)) == 4


def test_an_end_that_is_over_ends_a_quiet_channel() -> None:
    world = World(rows=0)
    request = create_request("n", STREAM, end=world.clock.now_us() * 1000 + 10**9)
    tunnel = str(world.ask("create", request, t.CreateTunnelResponse.FromString).tunnel_id)
    client = world.connect(tunnel, 3600)
    assert consumed(world, tunnel, client, 2) == []
    world.clock.advance(62)
    consumed(world, tunnel, client, 2)
    assert world.describe(tunnel).channels[0].channel_status == "TERMINATED"


@pytest.mark.parametrize("hours", [-168, 1])
def test_a_start_outside_of_what_is_kept_is_refused(hours: int) -> None:
    # change §C2.1: up to five minutes after the oldest change, and not in the future
    world = World()
    start = world.clock.now_us() * 1000 + hours * HOUR_NS
    assert world.refused("create", create_request("n", STREAM, start=start)) == INVALID


def test_rows_that_take_longer_than_changes_are_kept_expire_the_tunnel() -> None:
    world = World()
    tunnel = world.create(kind=BOTH)
    client = world.connect(tunnel, 3600)
    world.clock.advance(169 * 3600)
    world.restart()
    expired = (400, "OTSTunnelExpired")
    assert world.refused("connect", t.ConnectRequest(tunnel_id=tunnel)) == expired
    assert world.refused("heartbeat", heartbeat(tunnel, client)) == expired
    assert world.describe(tunnel).tunnel.expired


def test_a_stream_that_is_consumed_too_slowly_goes_on_with_what_is_left() -> None:
    world = World(rows=0)
    tunnel = world.create(kind=STREAM)
    write(world, "old", 1)
    trim(world)
    write(world, "new", 1)
    world.restart()
    assert consumed(world, tunnel, world.connect(tunnel), 3) == [(1, "new")]


def test_a_closed_channel_is_not_lost() -> None:
    world = World(rows=0)
    tunnel = world.create(kind=STREAM)
    client = world.connect(tunnel)
    write(world, "a", 1)
    ((name, version, _),) = world.heartbeat(tunnel, client)
    assert world.heartbeat(tunnel, client, (name, version + 1, CLOSE)) == []
    assert consumed(world, tunnel, client, 2) == [(1, "a")]


def test_what_was_consumed_is_the_table() -> None:
    world = World(rows=5)
    tunnel = world.create(kind=BOTH)
    for n in range(5):
        write(world, f"{n % 3:05}", 10 + n)
    client = world.connect(tunnel)
    keys = [key for _, key in consumed(world, tunnel, client, 6)]
    assert keys[:5] == [f"{n:05}" for n in range(5)]
    assert keys[5:] == [f"{n % 3:05}" for n in range(5)]
