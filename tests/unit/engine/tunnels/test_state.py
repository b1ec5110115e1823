"""Shares and versions of channels (change §C2.5, §C2.8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.tunnels.state import (
    Channel,
    ChannelReport,
    ChannelStatus,
    TunnelClient,
    TunnelState,
    assigned,
    connected,
    heard,
    owned_by,
    relieved,
    scheduled,
    with_channels,
)

OPEN, CLOSING, CLOSE = ChannelStatus.OPEN, ChannelStatus.CLOSING, ChannelStatus.CLOSE
SECOND_US = 1_000_000
TIMEOUT_S = 60


def begun(channels: int, clients: str) -> TunnelState:
    state = with_channels(TunnelState(), [Channel(f"c{n:03}") for n in range(channels)])
    for name in clients:
        state = connected(state, TunnelClient(name, "", TIMEOUT_S, 0))
    return state


def beat(state: TunnelState, name: str, now_us: int, *reports: ChannelReport) -> TunnelState:
    """A heartbeat of a client that does what it is told: what it is to close is closed."""
    mine = {each.id: ChannelReport(each.id, each.version, OPEN) for each in owned_by(state, name)}
    for each in owned_by(state, name):
        if each.status is CLOSING:
            mine[each.id] = ChannelReport(each.id, each.version + 1, CLOSE)
    mine.update({report.id: report for report in reports})
    state, given_up = heard(state, name, mine.values())
    return relieved(assigned(state, name, given_up), name, now_us)


def counts(state: TunnelState) -> list[int]:
    held = (owned_by(state, name) for name in state.clients)
    return sorted(sum(each.status is OPEN for each in channels) for channels in held)


@given(channels=st.integers(0, 12), order=st.lists(st.sampled_from("abcd"), max_size=12))
def test_channels_come_to_be_shared_out_evenly(channels: int, order: list[str]) -> None:
    """Whoever came first and however many: nobody has two more than another one."""
    state = begun(channels, "".join(dict.fromkeys(order)))
    now_us = 0
    for name in order:
        state = beat(state, name, now_us)
    for _ in range(4):
        now_us += (TIMEOUT_S + 1) * SECOND_US
        for name in state.clients:
            state = beat(state, name, now_us)
    for name in state.clients:
        state = beat(state, name, now_us)
    if state.clients:
        assert sum(counts(state)) == channels
        assert max(counts(state)) - min(counts(state)) <= 1


def test_what_is_shared_out_stays() -> None:
    state = begun(5, "ab")
    for name in "abab":
        state = beat(state, name, 0)
    for name in "abab":
        after = beat(state, name, 10**12)
        assert after.channels == state.channels


def test_a_channel_is_not_moved_twice_within_a_timeout() -> None:
    # change §C2.8 rule 4
    state = beat(begun(2, "a"), "a", SECOND_US)
    state = connected(state, TunnelClient("b", "", TIMEOUT_S, 0))
    for name in "aab":
        state = beat(state, name, SECOND_US)
    assert counts(state) == [1, 1]
    moved = {each.id: each.moved_us for each in state.channels.values()}
    state = TunnelState({"b": state.clients["b"]}, state.channels)
    state = with_channels(
        state,
        [
            Channel(each.id, owner="b", status=OPEN, version=9, moved_us=moved[each.id])
            for each in state.channels.values()
        ],
    )
    state = connected(state, TunnelClient("c", "", TIMEOUT_S, 0))
    state = beat(state, "b", 2 * SECOND_US)
    closing = [each.id for each in state.channels.values() if each.status is CLOSING]
    assert closing == [name for name, at in moved.items() if not at]


@pytest.mark.parametrize(
    ("report", "status", "version"),
    [
        (ChannelReport("c000", 1, CLOSE), OPEN, 1),  # nothing new: the answer corrects it
        (ChannelReport("c000", 0, CLOSE), OPEN, 1),
        (ChannelReport("c000", 7, OPEN), OPEN, 7),
        (ChannelReport("c000", 2**63 - 1, CLOSE), OPEN, 1),
        (ChannelReport("c000", 2, CLOSE), ChannelStatus.WAIT, 2),
        (ChannelReport("c000", 2, ChannelStatus.TERMINATED), ChannelStatus.WAIT, 2),
    ],
)
def test_a_report_counts_by_its_version(
    report: ChannelReport, status: ChannelStatus, version: int
) -> None:
    state = beat(begun(1, "a"), "a", 0)
    state, _ = heard(state, "a", [report])
    channel = state.channels["c000"]
    assert (channel.status, channel.version) == (status, version)


def test_a_channel_that_is_to_be_closed_and_is_not_named_any_more_is_free() -> None:
    state = scheduled(beat(begun(1, "a"), "a", 0), [ChannelReport("c000", 0, CLOSING)])
    assert state.channels["c000"].owner == "a"
    state, given_up = heard(state, "a", [])
    assert given_up == {"c000"}
    assert state.channels["c000"].owner == ""


def test_reports_of_others_channels_concern_nobody() -> None:
    state = beat(begun(1, "ab"), "a", 0)
    after, given_up = heard(state, "b", [ChannelReport("c000", 9, CLOSE)])
    assert after.channels == state.channels
    assert not given_up
