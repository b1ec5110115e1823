"""The tunnels of all tables, as operations call them (change §C2).

Definitions are in the catalogue with their table; the clients and channels of a tunnel are one
shard, so that a heartbeat's decision is one transaction. A heartbeat that changes nothing writes
nothing. The time of each client's last heartbeat is kept in memory: after a start all known clients
have a whole timeout again. Where several processes share the store, the time is written now and
then.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final, Generic, NamedTuple, TypeVar

from widerow.clock import Clock, Entropy
from widerow.engine.catalog.draft import Draft
from widerow.engine.plan import Plan, single
from widerow.engine.tunnels.changes import change_channels, consumed_until, read_changes
from widerow.engine.tunnels.hooks import TunnelHooks, TunnelledTable
from widerow.engine.tunnels.pages import TunnelPage, base_channels, check_base
from widerow.engine.tunnels.records import channel_in, client_in, read_state, write_state
from widerow.engine.tunnels.state import (
    Channel,
    ChannelPosition,
    ChannelReport,
    ChannelStatus,
    TunnelClient,
    TunnelState,
    assigned,
    base_is_done,
    checkpointed,
    connected,
    heard,
    owned_by,
    relieved,
    scheduled,
    with_channels,
    without_clients,
    without_ended,
)
from widerow.engine.tunnels.tunnel_definitions import (
    check_create_tunnel,
    is_expired,
    new_tunnel,
    new_tunnel_id,
    other_tunnels,
    table_id_of,
    tunnel_named,
)
from widerow.errors import Exhausted, InvalidRequest, NotFound, Replan
from widerow.keys.layout import tunnel_prefix
from widerow.limits import (
    TUNNEL_CLIENT_TAG_BYTES_MAX,
    TUNNEL_CLIENTS_MAX,
    TUNNEL_TIMEOUT_SECONDS_MAX,
    TUNNEL_TIMEOUT_SECONDS_MIN,
)
from widerow.model.tunnels import CreateTunnel, Tunnel, TunnelName, TunnelRule
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["ChannelCall", "TunnelCall", "TunnelShown", "Tunnels"]

_CHANCE_BYTES: Final = 16  # of a client's id
_HEARD_MAX: Final = 10_000  # times kept; those of clients that are silent make room

R = TypeVar("R")
T = TypeVar("T", bound=TunnelledTable)


class TunnelCall(NamedTuple):
    """The client and the tunnel of a request."""

    tunnel: str
    client: str


class ChannelCall(NamedTuple):
    """The client, the tunnel and the channel of a request."""

    tunnel: str
    client: str
    channel: str


class TunnelShown(NamedTuple):
    """A tunnel with its table and its state; `state` is None where its channels are not made yet.

    `expired`: changes that follow its rows were trimmed already.
    """

    table: TunnelledTable
    tunnel: Tunnel
    state: TunnelState | None
    expired: bool

    @property
    def stage(self) -> str:
        """The stage of the tunnel, in the protocol's words (change §C2.2)."""
        if self.state is None:
            return "InitBaseDataAndStreamShard"
        return "ProcessStream" if base_is_done(self.state) else "ProcessBaseData"

    @property
    def consumed_us(self) -> int:
        """The time up to which the slowest channel is consumed."""
        if self.state is None:
            return 0
        times = [
            each.consumed_us
            for each in self.state.channels.values()
            if each.status is not ChannelStatus.TERMINATED
        ]
        ended = [each.consumed_us for each in self.state.channels.values()]
        return min(times) if times else max(ended, default=0)


class _Found(NamedTuple, Generic[T]):
    """A tunnel that a request names."""

    table: T
    tunnel: Tunnel

    @property
    def prefix(self) -> bytes:
        """The shard of the tunnel's state."""
        return tunnel_prefix(self.table.id, self.tunnel.number)


class _Heard(NamedTuple):
    """When a client was heard of last, and until when it may be silent, by the monotonic clock."""

    at_ns: int
    until_ns: int


class Tunnels(Generic[T]):
    """The tunnels of a model's tables. Any thread may call."""

    def __init__(self, given: tuple[Store, Clock, Entropy], hooks: TunnelHooks[T]) -> None:
        self._hooks = hooks
        self._tables = hooks.tables
        self._catalog = hooks.tables.catalog
        self._store, self._clock, self._entropy = given
        self._log = hooks.log
        self._held = hooks.held
        self._started_ns = self._clock.monotonic_ns()
        self._heard: dict[tuple[int, str], _Heard] = {}
        self._heard_max = _HEARD_MAX
        self._delivered: dict[tuple[int, str], int] = {}  # by channels that were read to their end

    # --- definitions -------------------------------------------------------------------------

    def create(self, instance: str, request: CreateTunnel) -> Plan[str]:
        """CreateTunnel: the tunnel's id. A table without a stream gets one where it needs one."""
        check_create_tunnel(request)
        table = self._table(instance, request.table)
        self._hooks.check(table)
        tunnel_id = new_tunnel_id(table.id, self._entropy)
        now_us = self._clock.now_us()

        def make(current: T, draft: Draft) -> tuple[T, Tunnel]:
            after = self._hooks.with_stream(current, request.kind, draft.number, now_us)
            tunnel = new_tunnel(after, request, draft.number, tunnel_id, now_us)
            tunnels = sorted((*after.tunnels, tunnel), key=attrgetter("name"))
            return self._hooks.with_tunnels(after, tuple(tunnels)), tunnel

        return self.creating(table, make)

    def creating(self, table: T, change: Callable[[T, Draft], tuple[T, Tunnel]]) -> Plan[str]:
        """The plan that adds the tunnel of `change` to a table and makes its channels: its id."""

        def make(draft: Draft) -> _Found[T]:
            model = self._tables.model
            found = _Found(*change(draft.current(model, table), draft))
            draft.put(model, found.table)
            return found

        made: list[_Found[T]] = []

        def finish(outcomes: Sequence[Outcome[_Found[T]]]) -> str:
            made.append(single(outcomes))
            raise Replan  # the next plan makes its channels

        def begin(_: object) -> Plan[str]:
            found = made[-1]
            return self._change(found, lambda state: (state, found.tunnel.id), begin)

        return Plan((self._catalog.change(make),), finish, again=begin, prepares=True)

    def delete(self, instance: str, named: TunnelName) -> Plan[None]:
        """DeleteTunnel: gone when answered; its clients learn it with their next request."""
        found = self._named(instance, named)
        due_us = self._catalog.due_us(self._clock.now_us())

        def make(table: T) -> T:
            return self._hooks.with_tunnels(table, other_tunnels(table, found.tunnel))

        write = self._tables.change(found.table, make, due_us=due_us)
        return Plan((write,), single).answering(lambda _: None)

    def list_tunnels(self, instance: str, table: str | None) -> list[TunnelShown]:
        """ListTunnel: the tunnels of a table, or of all tables of an instance."""
        if table is not None:
            tables = [self._table(instance, table)]
        else:
            tables = [each for each in self._tables.all() if each.instance == instance]
        reader = self._store.snapshot()
        return [
            self._shown(reader, _Found(each, tunnel))
            for each in tables
            for tunnel in self._held(each)
        ]

    def describe(self, instance: str, named: TunnelName) -> TunnelShown:
        """DescribeTunnel."""
        return self._shown(self._store.snapshot(), self._named(instance, named))

    def _shown(self, reader: Reader, found: _Found[T]) -> TunnelShown:
        state = read_state(reader, found.prefix)
        return TunnelShown(*found, state, self._is_expired(found, state))

    # --- clients -----------------------------------------------------------------------------

    def connect(self, instance: str, tunnel_id: str, tag: str, timeout_s: int) -> Plan[str]:
        """Connect: the id of a new client, which may be silent for `timeout_s` seconds."""
        if not TUNNEL_TIMEOUT_SECONDS_MIN <= timeout_s <= TUNNEL_TIMEOUT_SECONDS_MAX:
            raise InvalidRequest(TunnelRule.TUNNEL_TIMEOUT, value=timeout_s)
        if len(tag.encode()) > TUNNEL_CLIENT_TAG_BYTES_MAX:
            raise InvalidRequest(TunnelRule.TUNNEL_CLIENT_TAG, limit=TUNNEL_CLIENT_TAG_BYTES_MAX)
        found = self._by_id(instance, tunnel_id)
        client_id = f"{tag}_{self._entropy.token_bytes(_CHANCE_BYTES).hex()}"
        client = TunnelClient(client_id, tag, timeout_s, self._clock.now_us())

        def step(state: TunnelState) -> tuple[TunnelState, str]:
            self._check_not_expired(found, state)
            state = without_clients(state, self._silent(found.tunnel, state))
            if len(state.clients) >= TUNNEL_CLIENTS_MAX:
                raise Exhausted(TunnelRule.TUNNEL_CLIENTS, limit=TUNNEL_CLIENTS_MAX)
            self._note_heard(found.tunnel, client)  # before any body that asks who is silent
            return connected(state, client), client_id

        return self._change(
            found, step, lambda _: self.connect(instance, tunnel_id, tag, timeout_s)
        )

    def heartbeat(
        self, instance: str, call: TunnelCall, reports: tuple[ChannelReport, ...]
    ) -> Plan[list[Channel]]:
        """Heartbeat: the channels that are the client's now, each OPEN or CLOSING.

        Raises `NotFound(TUNNEL_CLIENT_GONE)` for an unknown client.
        """
        found = self._by_id(instance, call.tunnel)
        before = read_state(self._store.snapshot(), found.prefix)
        client = None if before is None else before.clients.get(call.client)
        if client is None or self._is_silent(found.tunnel, client):
            raise NotFound(TunnelRule.TUNNEL_CLIENT_GONE)
        self._note_heard(found.tunnel, client)
        assert before is not None  # it has a client
        fresh = self._fresh_channels(found, before)

        def step(state: TunnelState) -> tuple[TunnelState, list[Channel]]:
            if call.client not in state.clients:
                raise NotFound(TunnelRule.TUNNEL_CLIENT_GONE)
            self._check_not_expired(found, state)
            state = self._with_time(state, call.client)
            state, given_up = heard(state, call.client, reports)
            state = without_clients(state, self._silent(found.tunnel, state) - {call.client})
            state = with_channels(state, [each for each in fresh if each.id not in state.channels])
            state = assigned(state, call.client, given_up)
            state = relieved(state, call.client, self._clock.now_us())
            return state, owned_by(state, call.client)

        return self._change(found, step, lambda _: self.heartbeat(instance, call, reports))

    def shutdown(self, instance: str, call: TunnelCall) -> Plan[None]:
        """Shutdown: the client's channels are free at once. An unknown client is fine."""
        found = self._by_id(instance, call.tunnel)

        def step(state: TunnelState) -> tuple[TunnelState, None]:
            return without_clients(state, {call.client} & state.clients.keys()), None

        return self._change(found, step, lambda _: self.shutdown(instance, call))

    def schedule(
        self, instance: str, tunnel_id: str, wanted: tuple[ChannelReport, ...]
    ) -> Plan[None]:
        """Schedule: pause, resume or end channels."""
        found = self._by_id(instance, tunnel_id)

        def step(state: TunnelState) -> tuple[TunnelState, None]:
            if any(report.id not in state.channels for report in wanted):
                raise NotFound(TunnelRule.TUNNEL_CHANNEL_NOT_FOUND)
            return scheduled(state, wanted), None

        return self._change(found, step, lambda _: self.schedule(instance, tunnel_id, wanted))

    # --- channels ----------------------------------------------------------------------------

    def get_checkpoint(self, instance: str, call: ChannelCall) -> tuple[ChannelPosition, int]:
        """GetCheckpoint: how far the channel is consumed, and the number of its checkpoint."""
        channel = self._admitted(self._by_id(instance, call.tunnel), call)
        return channel.position, channel.number

    def read_records(
        self, instance: str, call: ChannelCall, position: ChannelPosition
    ) -> TunnelPage:
        """ReadRecords: the page that begins at a position.

        Raises `InvalidRequest(TUNNEL_TOKEN)`.
        """
        found = self._by_id(instance, call.tunnel)
        channel = self._admitted(found, call)
        if position.finished:
            return TunnelPage([], position, more=False)
        page = self._page(found, channel, position)
        if page.following.finished:
            if len(self._delivered) >= _HEARD_MAX:
                self._delivered.clear()
            self._delivered[found.tunnel.number, channel.id] = page.following.count
        return page

    def _page(self, found: _Found[T], channel: Channel, position: ChannelPosition) -> TunnelPage:
        if not channel.shard:
            return self._hooks.read_rows(found.table, channel, position)
        now_us = self._clock.now_us()
        return read_changes(self._log, *found, channel, position, now_us)

    def checkpoint(
        self, instance: str, call: ChannelCall, position: ChannelPosition, number: int
    ) -> Plan[None]:
        """Checkpoint: the channel is consumed up to a position; durable when answered.

        Raises `InvalidRequest`: TUNNEL_SEQUENCE unless `number` is the last one plus one, or the
        last one with an equal position; TUNNEL_TOKEN.
        """
        found = self._by_id(instance, call.tunnel)
        channel = self._admitted(found, call)
        if not channel.shard and not position.finished:
            check_base(channel, position)
        if channel.shard and not position.finished and (position.key or not position.iterator):
            raise InvalidRequest(TunnelRule.TUNNEL_TOKEN)
        consumed_us = self._consumed_us(found.table, channel, position)
        if position.finished:
            read = self._delivered.get((found.tunnel.number, channel.id), 0)
            position = ChannelPosition(count=max(read, channel.position.count), finished=True)

        def step(state: TunnelState) -> tuple[TunnelState, None]:
            current = state.channels.get(call.channel)
            if current is None:
                raise NotFound(TunnelRule.TUNNEL_CHANNEL_NOT_FOUND)
            self._check_owner(found.tunnel, current, call.client, state.clients.get(current.owner))
            if number == current.number and position == current.position:
                return state, None  # a repeated checkpoint
            if number != current.number + 1:
                raise InvalidRequest(TunnelRule.TUNNEL_SEQUENCE, expected=current.number + 1)
            return checkpointed(state, call.channel, position, number, consumed_us), None

        return self._change(
            found, step, lambda _: self.checkpoint(instance, call, position, number)
        )

    def _consumed_us(self, table: T, channel: Channel, position: ChannelPosition) -> int:
        now_us = self._clock.now_us()
        if position.finished:
            return now_us
        return consumed_until(self._log, table, position, now_us) if channel.shard else 0

    def _admitted(self, found: _Found[T], call: ChannelCall) -> Channel:
        """The channel, unless another living client holds it."""
        reader = self._store.snapshot()
        channel = channel_in(reader, found.prefix, call.channel)
        if channel is None:
            raise NotFound(TunnelRule.TUNNEL_CHANNEL_NOT_FOUND)
        if is_expired(*found, self._clock.now_us()):
            self._check_not_expired(found, read_state(reader, found.prefix))
        owner = channel.owner
        if owner and owner != call.client:
            self._check_owner(
                found.tunnel, channel, call.client, client_in(reader, found.prefix, owner)
            )
        return channel

    def _check_owner(
        self, tunnel: Tunnel, channel: Channel, client_id: str, owner: TunnelClient | None
    ) -> None:
        if owner is None or channel.owner in ("", client_id) or self._is_silent(tunnel, owner):
            return
        raise NotFound(TunnelRule.TUNNEL_CHANNEL_TAKEN)

    # --- which tunnel ------------------------------------------------------------------------

    def _table(self, instance: str, name: str) -> T:
        self._hooks.check_name(name)
        return self._tables.find(instance, name)

    def _named(self, instance: str, named: TunnelName) -> _Found[T]:
        if named.id:
            return self._by_id(instance, named.id)
        table = self._table(instance, named.table)
        return _Found(table, tunnel_named(table, named.name))

    def table_of(self, instance: str, tunnel_id: str) -> str | None:
        """The name of a tunnel's table, by the tunnel's id; None where there is none."""
        try:
            return self._by_id(instance, tunnel_id).table.name
        except NotFound:
            return None

    def has(self, tunnel_id: str) -> bool:
        """Whether a table of the model has a tunnel of that id. Linear in tables, as `_by_id`."""
        table = self._tables.by_id(table_id_of(tunnel_id))
        tables = self._tables.all() if table is None else [table]
        return any(each.id == tunnel_id for table in tables for each in self._held(table))

    def _by_id(self, instance: str, tunnel_id: str) -> _Found[T]:
        """The tunnel with this id. Linear in the instance's tables if its table was renumbered.

        A table that was put back (`instance_copy.py`) has a new number; its tunnels keep their ids.
        """
        table = self._tables.by_id(table_id_of(tunnel_id))
        tables = self._tables.owned(instance) if table is None else [table]
        for each in tables:
            for tunnel in self._held(each):
                if tunnel.id == tunnel_id and each.instance == instance:
                    return _Found(each, tunnel)
        raise NotFound(TunnelRule.TUNNEL_NOT_FOUND)

    def _check_not_expired(self, found: _Found[T], state: TunnelState | None) -> None:
        if self._is_expired(found, state):
            raise InvalidRequest(TunnelRule.TUNNEL_EXPIRED)

    def _is_expired(self, found: _Found[T], state: TunnelState | None) -> bool:
        consumed = state is not None and base_is_done(state)
        return not consumed and is_expired(*found, self._clock.now_us())

    # --- time --------------------------------------------------------------------------------

    def _note_heard(self, tunnel: Tunnel, client: TunnelClient) -> None:
        """A client is heard of now. Those that are silent by now are forgotten where many are kept.

        A tunnel has a bounded number of others, so what is kept is bounded by the tunnels.
        """
        now_ns = self._clock.monotonic_ns()
        if len(self._heard) >= self._heard_max:
            self._heard = {key: each for key, each in self._heard.items() if each.until_ns > now_ns}
            self._heard_max = max(_HEARD_MAX, 2 * len(self._heard))
        until_ns = now_ns + client.timeout_s * 1_000_000_000
        self._heard[tunnel.number, client.id] = _Heard(now_ns, until_ns)

    def _is_silent(self, tunnel: Tunnel, client: TunnelClient) -> bool:
        """Whether a client was not heard of for longer than it said."""
        heard = self._heard.get((tunnel.number, client.id))
        heard_ns = self._started_ns if heard is None else heard.at_ns
        silent_ns = self._clock.monotonic_ns() - heard_ns
        if self._catalog.shared:  # another process may have had a heartbeat of it
            silent_ns = min(silent_ns, (self._clock.now_us() - client.seen_us) * 1000)
        return silent_ns > client.timeout_s * 1_000_000_000

    def _silent(self, tunnel: Tunnel, state: TunnelState) -> set[str]:
        return {each.id for each in state.clients.values() if self._is_silent(tunnel, each)}

    def _with_time(self, state: TunnelState, client_id: str) -> TunnelState:
        """In a shared store, the state with the client's time, if the stored time is old."""
        client, now_us = state.clients[client_id], self._clock.now_us()
        if not self._catalog.shared or now_us - client.seen_us < client.timeout_s * 250_000:
            return state
        return connected(state, replace(client, seen_us=now_us))

    # --- changing ----------------------------------------------------------------------------

    def _change(
        self,
        found: _Found[T],
        step: Callable[[TunnelState], tuple[TunnelState, R]],
        again: Callable[[object], Plan[R]],
    ) -> Plan[R]:
        """The plan that replaces a tunnel's state by what `step` makes of it, in one transaction.

        A missing state is made first. `step` may be called more than once.
        """
        prefix = found.prefix
        planned = self._catalog.planned()
        begun = read_state(self._store.snapshot(), prefix) is not None
        initial = None if begun else self._initial(found)

        def body(txn: Transaction) -> R:
            table = self._tables.current(found.table, txn, planned)
            if all(each.number != found.tunnel.number for each in self._held(table)):
                raise NotFound(TunnelRule.TUNNEL_NOT_FOUND)
            before = read_state(txn, prefix)
            state = initial if before is None else self._without_ended(table, found, before)
            if state is None:
                raise Replan
            after, answer = step(state)
            if after is not before:
                write_state(txn, prefix, before, after)
            return answer

        return Plan((Write((prefix,), body, reads=self._catalog.reads),), single, again=again)

    def _without_ended(self, table: T, found: _Found[T], state: TunnelState) -> TunnelState:
        """The state without channels whose shards were removed. `table`: as the body reads it."""
        if not found.tunnel.kind.has_stream or table.stream is None:
            return state
        return without_ended(state, {shard.id for shard in self._log.shards(table)})

    def _initial(self, found: _Found[T]) -> TunnelState:
        """The state of a tunnel that begins."""
        table, tunnel = found
        channels: list[Channel] = []
        if tunnel.kind.has_base:
            channels += base_channels(tuple(self._hooks.bounds(table)))
        if tunnel.kind.has_stream:
            channels += change_channels(self._log, table, tunnel, (), first=True)
        return with_channels(TunnelState(), channels)

    def _fresh_channels(self, found: _Found[T], state: TunnelState) -> list[Channel]:
        if not found.tunnel.kind.has_stream:
            return []
        return change_channels(
            self._log, found.table, found.tunnel, state.channels.keys(), first=False
        )
