"""What another server calls what the upstream has made: transactions, iterators, tokens, tunnels.

A client that goes on with a transaction names it as the upstream did. Pairs of such names are
taken from the two answers, and put into the requests that the other server gets. So are the values
of auto-increment columns, which each server counts by itself.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError, Message

from widerow.errors import WiderowError
from widerow.limits import PROXY_IDENTIFIERS_MAX
from widerow.model.row import Modification, SentCells
from widerow.proxy.decoding import Tree, made_keys, message_types, parse_message
from widerow.rows.cells import encode_key_section
from widerow.rows.checksum import crc8
from widerow.wire.tablestore.plainbuffer import HEADER, decode_primary_key, decode_row_change

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
_KEY_FIELDS: Final = frozenset(
    (
        *("row", "row_change", "primary_key"),
        *("inclusive_start_primary_key", "exclusive_end_primary_key"),
    )
)
_SEARCH_QUERY: Final = "search_query"  # bytes that hold a message, which holds a token


class _SentKey(NamedTuple):
    columns: tuple[tuple[str, Any], ...]
    cells: int  # behind the key


def makes_identifiers(action: str, answer: Message | None) -> bool:
    """Whether a client may name in its next request what this answer has made up."""
    if answer is None or not (action in _MAKERS or action.startswith("tunnel/")):
        return False
    return next(_made_by(answer), None) is not None


def _made_by(message: Message) -> Iterator[str | bytes]:
    for field, value in message.ListFields():
        if isinstance(value, Message):
            yield from _made_by(value)
        elif isinstance(value, str | bytes):
            if field.name in _MADE and value:
                yield value
        elif not isinstance(value, bool | int | float):
            for each in value:
                if isinstance(each, Message):
                    yield from _made_by(each)


class Identifiers:
    """Pairs of names: what the upstream calls something, and what the other server does.

    For one thread. The oldest of more than `PROXY_IDENTIFIERS_MAX` pairs are forgotten.
    """

    def __init__(self) -> None:
        """No pair is known yet."""
        self._others: OrderedDict[object, Any] = OrderedDict()

    def learn(self, ours: Message | None, theirs: Message | None) -> None:
        """Take the pairs from two answers to one request."""
        if ours is None or theirs is None:
            return
        for left, right in zip(_made_by(ours), _made_by(theirs), strict=False):
            if left != right:
                self._keep(left, right)

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
        if message is None or not self._rename(message, frozenset(columns)):
            return body
        return message.SerializeToString()

    def _keep(self, ours: object, theirs: object) -> None:
        self._others[ours] = theirs
        self._others.move_to_end(ours)
        if len(self._others) > PROXY_IDENTIFIERS_MAX:
            self._others.popitem(last=False)

    def _rename(self, message: Message, columns: frozenset[str]) -> bool:
        """Put the other server's names into a message; whether there were any."""
        changed = False
        for field, value in message.ListFields():
            if isinstance(value, Message):
                changed |= self._rename(value, columns)
            elif isinstance(value, str | bytes):
                other = self._other(field.name, value, columns)
                if other is not None:
                    setattr(message, field.name, other)
                    changed = True
            elif not isinstance(value, bool | int | float):
                changed |= self._rename_each(field.name, value, columns)
        return changed

    def _rename_each(self, name: str, values: Any, columns: frozenset[str]) -> bool:  # noqa: ANN401  # a field of many
        changed = False
        for number, value in enumerate(values):
            if isinstance(value, Message):
                changed |= self._rename(value, columns)
            elif isinstance(value, str | bytes):
                other = self._other(name, value, columns)
                if other is not None:
                    values[number] = other
                    changed = True
        return changed

    def _other(self, name: str, value: str | bytes, columns: frozenset[str]) -> str | bytes | None:
        """What stands in a field for the other server; None where that is the same."""
        if name in _MADE:
            other = self._others.get(value)
            return other if isinstance(other, type(value)) else None
        if name == _SEARCH_QUERY and isinstance(value, bytes):
            return self._search_query(value)
        if name in _KEY_FIELDS and columns and isinstance(value, bytes):
            return self._key(value, columns)
        return None

    def _search_query(self, value: bytes) -> bytes | None:
        from widerow.wire.tablestore.search_messages import SearchQuery  # noqa: PLC0415  # few ask

        try:
            query = SearchQuery.FromString(value)
        except DecodeError:
            return None
        other = self._others.get(query.token) if query.token else None
        if not isinstance(other, bytes):
            return None
        query.token = other
        return query.SerializeToString()

    def _key(self, value: bytes, columns: frozenset[str]) -> bytes | None:
        """A row or a key with the other server's values in these columns."""
        try:
            key = _sent_key(value)
        except WiderowError:
            return None
        renamed = tuple(
            (
                name,
                self._others.get((key.columns[0], name, each), each) if name in columns else each,
            )
            for name, each in key.columns
        )
        if renamed == key.columns:
            return None
        return _with_key(value, key, renamed)


def _sent_key(value: bytes) -> _SentKey:
    """Raises: `InvalidRequest` where the bytes are no key and no row of a write."""
    for modification in (Modification.DELETE, Modification.UPDATE):
        try:
            key, cells = decode_row_change(value, modification)
        except WiderowError:
            continue
        return _SentKey(key.columns, len(cells.split() if isinstance(cells, SentCells) else cells))
    return _SentKey(decode_primary_key(value).columns, 0)


def _with_key(value: bytes, key: _SentKey, renamed: tuple[tuple[str, Any], ...]) -> bytes | None:
    """The same row under another key; None where that cannot be made.

    The checksum of a row is one over the checksums of its cells, of which only the key's change.
    It is linear: by what it changes follows from that, and from how many bytes follow (wire §2.2).
    """
    before, crc = encode_key_section(key.columns)
    after, changed = encode_key_section(renamed)
    moved = crc8(bytes(key.cells + 1), crc ^ changed)
    rest = value[len(HEADER) + len(before) :]
    made = b"%b%b%b%c" % (HEADER, after, rest[:-1], rest[-1] ^ moved)
    try:
        _sent_key(made)
    except WiderowError:
        return None  # one client makes its buffers too long (wire §2.3)
    return made
