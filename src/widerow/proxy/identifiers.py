"""What another server calls what the upstream has made: transactions, iterators, tokens, tunnels.

A client that goes on with a transaction names it as the upstream did. Pairs of such names are
taken from the same places of the two answers, and put into the requests that the other server gets.
So are the values of auto-increment columns, which each server counts by itself.

A name of which another tunnel or stream may have one as well (a shard, a channel, a checkpoint) is
known together with the tunnel or stream that the request is about.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message

from widerow.errors import WiderowError
from widerow.limits import PROXY_IDENTIFIERS_MAX
from widerow.model.tablestore.row import Modification, SentCells
from widerow.proxy.decoding import Tree, made_keys, message_types, parse_message
from widerow.proxy.nested import NESTED_DEPTH_MAX, nested_message
from widerow.rows.cells import PLAIN_HEADER, encode_key_section
from widerow.rows.checksum import crc8
from widerow.wire.tablestore.plainbuffer import decode_primary_key, decode_row_change

__all__ = ["Identifiers", "makes_identifiers"]

_MADE: Final = frozenset(
    (
        *("transaction_id", "stream_id", "shard_id", "next_shard_id", "shard_iterator"),
        *("next_shard_iterator", "token", "next_token", "session_id", "tunnel_id", "client_id"),
        *("channel_id", "checkpoint", "inclusive_start_shard_id"),
    )
)
_MAKERS: Final = frozenset(
    (
        *("StartLocalTransaction", "ComputeSplits", "Search", "ParallelScan", "GetRow"),
        *("ListStream", "DescribeStream", "GetShardIterator", "GetStreamRecord", "DescribeTable"),
        *("GetRange", "BatchGetRow"),
    )
)
_OF_ONE: Final = frozenset(
    (
        *("shard_id", "next_shard_id", "inclusive_start_shard_id", "channel_id"),
        *("checkpoint", "token", "next_token"),
    )
)
"""Names that are good for the tunnel or the stream that they are of, and not beyond it."""

_SCOPES: Final = ("tunnel_id", "stream_id")
_KEY_FIELDS: Final = frozenset(
    (
        *("row", "row_change", "primary_key"),
        *("inclusive_start_primary_key", "exclusive_end_primary_key"),
    )
)


class _SentKey(NamedTuple):
    columns: tuple[tuple[str, Any], ...]
    cells: int  # behind the key


def makes_identifiers(action: str, answer: Message | None) -> bool:
    """Whether a client may name in its next request what this answer has made up."""
    if answer is None or not (action in _MAKERS or action.startswith("tunnel/")):
        return False
    return next(_made_by(answer), None) is not None


def _made_by(message: Message, depth: int = 0) -> Iterator[str | bytes]:
    for name, value in _leaves(message, depth):
        if isinstance(value, Message):
            yield from _made_by(value, depth + 1)
        elif name in _MADE and value:
            yield value


def _leaves(message: Message, depth: int) -> Iterator[tuple[str, Any]]:
    """Texts, bytes and messages in a message, those that stand as bytes in it opened."""
    for field, value in message.ListFields():
        if isinstance(value, Message):
            yield field.name, value
        elif isinstance(value, str | bytes):
            yield field.name, _opened(message, field.name, value, depth) or value
        elif not isinstance(value, bool | int | float):
            for each in value:
                if isinstance(each, str | bytes | Message):
                    yield field.name, each


def _opened(message: Message, name: str, value: str | bytes, depth: int) -> Message | None:
    if isinstance(value, str) or depth >= NESTED_DEPTH_MAX:
        return None
    return nested_message(message, name, value)


def _made_pairs(ours: Message, theirs: Message, depth: int = 0) -> Iterator[tuple[str, Any, Any]]:
    """Names that stand in one place of two messages: the field, and what either says there.

    Of lists only where they are equally long: else it is not known which is which.
    """
    if ours.DESCRIPTOR.name != theirs.DESCRIPTOR.name:
        return
    others = {field.name: value for field, value in theirs.ListFields()}
    for field, left in ours.ListFields():
        name, right = field.name, others.get(field.name)
        if right is None or isinstance(left, bool | int | float):
            continue
        if isinstance(left, str | bytes | Message):
            yield from _pairs_at((ours, theirs), name, (left, right), depth)
        elif len(left) == len(right):
            for pair in zip(left, right, strict=True):
                yield from _pairs_at((ours, theirs), name, pair, depth)


def _pairs_at(
    messages: tuple[Message, Message], name: str, values: tuple[Any, Any], depth: int
) -> Iterator[tuple[str, Any, Any]]:
    left, right = (
        _opened(message, name, each, depth) or each if isinstance(each, str | bytes) else each
        for message, each in zip(messages, values, strict=True)
    )
    if isinstance(left, Message) and isinstance(right, Message):
        yield from _made_pairs(left, right, depth + 1)
    elif name in _MADE and left and type(left) is type(right):
        yield name, left, right


def _scope_of(request: Any, answer: Any = None) -> str:  # noqa: ANN401  # messages have no common type
    """The tunnel or stream, as the upstream calls it, that a request is about; "" for none."""
    for message in (request, getattr(answer, "tunnel", None)):
        for name in _SCOPES:
            found = getattr(message, name, "")
            if found and isinstance(found, str):
                return found
    return ""


class Identifiers:
    """Pairs of names: what the upstream calls something, and what the other server does.

    For one thread. The oldest of more than `PROXY_IDENTIFIERS_MAX` pairs are forgotten.
    """

    def __init__(self) -> None:
        self._others: OrderedDict[object, Any] = OrderedDict()

    def learn(self, request: Message | None, ours: Message | None, theirs: Message | None) -> None:
        """Take the pairs from two answers to one request, as the upstream was asked it."""
        if ours is None or theirs is None:
            return
        scope = _scope_of(request, ours)
        for name, left, right in _made_pairs(ours, theirs):
            place = _place(scope, name, left)
            if left != right:
                self._keep(place, right)
            else:
                self._others.pop(place, None)

    def learn_keys(self, ours: Tree, theirs: Tree, columns: Iterable[str]) -> None:
        """Take values of auto-increment columns of these names from two answers, as trees."""
        names = frozenset(columns)
        if not names:
            return
        left_keys, right_keys = made_keys(ours), made_keys(theirs)
        if len(left_keys) != len(right_keys):
            return  # it is not known which is which
        for left, right in zip(left_keys, right_keys, strict=True):
            plain = [each for each in left.columns if each[0] not in names]
            if plain == [each for each in right.columns if each[0] not in names]:
                for (name, value), (_, other) in zip(left.columns, right.columns, strict=True):
                    if name in names and value != other:
                        self._keep((left.columns[0], name, value), other)

    def translate(self, action: str, body: bytes, columns: Iterable[str]) -> bytes:
        """The request with the other server's names: itself where it has none of the upstream's.

        `columns`: the auto-increment columns of its tables. Linear in the request.
        """
        types = message_types(action)
        if types is None or not self._others:
            return body
        message = parse_message(types.request, body)
        if message is None:
            return body
        renaming = _Renaming(self._others, _scope_of(message), frozenset(columns))
        return message.SerializeToString() if renaming.rename(message) else body

    def _keep(self, ours: object, theirs: object) -> None:
        self._others[ours] = theirs
        self._others.move_to_end(ours)
        if len(self._others) > PROXY_IDENTIFIERS_MAX:
            self._others.popitem(last=False)


def _place(scope: str, name: str, value: str | bytes) -> Hashable:
    """Under what a name is kept."""
    return (scope, value) if name in _OF_ONE else value


class _Renaming(NamedTuple):
    """One request being translated: the pairs, what it is about, its auto-increment columns."""

    others: Mapping[object, Any]
    scope: str
    columns: frozenset[str]

    def rename(self, message: Message, depth: int = 0) -> bool:
        """Put the other server's names into a message; whether there were any."""
        changed = False
        for field, value in message.ListFields():
            if isinstance(value, Message):
                changed |= self.rename(value, depth + 1)
            elif isinstance(value, str | bytes):
                other = self._other(message, field.name, value, depth)
                if other is not None:
                    setattr(message, field.name, other)
                    changed = True
            elif not isinstance(value, bool | int | float):
                changed |= self._rename_each(message, field.name, value, depth)
        return changed

    def _rename_each(self, message: Message, name: str, values: Any, depth: int) -> bool:  # noqa: ANN401  # a field of many
        changed = False
        for number, value in enumerate(values):
            if isinstance(value, Message):
                changed |= self.rename(value, depth + 1)
            elif isinstance(value, str | bytes):
                other = self._other(message, name, value, depth)
                if other is not None:
                    values[number] = other
                    changed = True
        return changed

    def _other(
        self, message: Message, name: str, value: str | bytes, depth: int
    ) -> str | bytes | None:
        """What stands in a field for the other server; None where that is the same."""
        if name in _MADE:
            other = self.others.get(_place(self.scope, name, value))
            return other if isinstance(other, type(value)) else None
        if name in _KEY_FIELDS and self.columns and isinstance(value, bytes):
            return self._key(value)
        inner = _opened(message, name, value, depth)
        if inner is not None and self.rename(inner, depth + 1):
            return inner.SerializeToString()
        return None

    def _key(self, value: bytes) -> bytes | None:
        """A row or a key with the other server's values in these columns."""
        try:
            key = _sent_key(value)
        except WiderowError:
            return None
        renamed = tuple(
            (
                name,
                self.others.get((key.columns[0], name, each), each)
                if name in self.columns
                else each,
            )
            for name, each in key.columns
        )
        if renamed == key.columns:
            return None
        return _with_key(value, key, renamed)


def _sent_key(value: bytes) -> _SentKey:
    """Raises: `InvalidRequest` where the bytes are neither a key nor a row of a write."""
    for modification in (Modification.DELETE, Modification.UPDATE):
        try:
            key, cells = decode_row_change(value, modification)
        except WiderowError:
            continue
        return _SentKey(key.columns, len(cells.split() if isinstance(cells, SentCells) else cells))
    return _SentKey(decode_primary_key(value).columns, 0)


def _with_key(value: bytes, key: _SentKey, renamed: tuple[tuple[str, Any], ...]) -> bytes | None:
    """A row or key with other values in its key; None where that cannot be made.

    The checksum of a row is one over the checksums of its cells, of which only the key's change.
    It is linear: by what it changes follows from that, and from how many bytes follow (wire §2.2).
    """
    before, crc = encode_key_section(key.columns)
    after, changed = encode_key_section(renamed)
    moved = crc8(bytes(key.cells + 1), crc ^ changed)
    rest = value[len(PLAIN_HEADER) + len(before) :]
    made = b"%b%b%b%c" % (PLAIN_HEADER, after, rest[:-1], rest[-1] ^ moved)
    try:
        _sent_key(made)
    except WiderowError:
        return None  # one client makes its buffers too long (wire §2.3)
    return made
