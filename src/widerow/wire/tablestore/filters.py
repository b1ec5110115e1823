"""Filters of reads and conditions of writes: protobuf bytes to filter trees (wire §3).

A `Filter` names a type and carries that type's message as bytes, so filters nest where protobuf's
own bound on depth does not look. The tree is therefore unfolded breadth first and counted before
it is parsed: at most `FILTER_NODES_MAX` messages are ever made, however a request nests them or
lines them up.

Which columns a filter names is for the engine to check; what the tree means is said in
`model/tablestore/filter.py`.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar, cast

import re2
from google.protobuf.message import DecodeError, Message

from widerow.errors import InvalidRequest
from widerow.limits import (
    FILTER_NODES_MAX,
    FILTER_PATTERN_BYTES_MAX,
    FILTER_PATTERN_MEMORY_MAX,
    VALUE_BYTES_MAX,
)
from widerow.model.tablestore.filter import (
    Comparator,
    Comparison,
    Composite,
    Filter,
    LogicalOperator,
    Pagination,
    Pattern,
    TransferRule,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import ColumnType, KeyMarker, Value
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.bounds import Crowded, FieldCounts, Unreadable
from widerow.wire.tablestore.plainbuffer import decode_variant_value

__all__ = ["decode_condition", "decode_read_filter"]

MessageType = TypeVar("MessageType", bound=Message)

_SINGLE_COLUMN: Final = 1
_COMPOSITE: Final = 2
_PAGINATION: Final = 3

_COMPARATORS: Final = {member.value: member for member in Comparator}
_OPERATORS: Final = {member.value: member for member in LogicalOperator}
_CASTS: Final = {
    0: ColumnType.INTEGER,
    1: ColumnType.DOUBLE,
    3: ColumnType.STRING,
    7: ColumnType.BINARY,
}
_SIZED_OVERHEAD: Final = 5  # type byte and length in front of a text or binary (wire §2.5)

# A composite has one field besides its sub-filters, and each of those has two; a few more may be
# unknown ones of newer clients. Beyond this a tree is too large in any reading.
_FIELDS_MAX: Final = 8 * FILTER_NODES_MAX


class _Branch(NamedTuple):
    """A composite whose sub-filters are the nodes `first` to `end` (exclusive)."""

    operator: LogicalOperator
    first: int
    end: int


def decode_read_filter(data: bytes) -> tuple[Filter | None, Pagination | None]:
    """The filter of a read: a tree of comparisons, or column pagination (wire §3).

    Raises `InvalidRequest`. At most 32 nodes are built, whatever the input. (semantics §5.3)
    """
    root = _parse(messages.Filter, data, TablestoreRule.FILTER_DECODE)
    if root.type == _PAGINATION:
        return None, _pagination(root.filter)
    return _tree(root), None


def decode_condition(data: bytes) -> Filter:
    """The column condition of a write: a tree of comparisons (wire §3, semantics §4.1).

    Raises `InvalidRequest`. At most 32 nodes are built, whatever the input.
    """
    return _tree(_parse(messages.Filter, data, TablestoreRule.FILTER_DECODE))


# --- trees -----------------------------------------------------------------------------------


def _tree(root: messages.Filter) -> Filter:
    """The tree below `root`: nodes are listed breadth first, then joined from the last one up.

    How many nodes there are is reported before how many stand below one of them (semantics §5.3).
    """
    envelopes = [root]
    counts = FieldCounts(_FIELDS_MAX)
    arity: InvalidRequest | None = None
    nodes: list[Comparison | _Branch] = []
    for envelope in envelopes:  # grows while it is walked
        if envelope.type == _SINGLE_COLUMN:
            nodes.append(_comparison(envelope.filter))
        elif envelope.type == _COMPOSITE:
            first = len(envelopes)
            logical, children = _composite(envelope.filter, counts)
            envelopes.extend(children)
            nodes.append(_Branch(logical, first, len(envelopes)))
            arity = arity or _arity_error(logical, len(envelopes) - first)
        elif envelope.type == _PAGINATION:
            raise InvalidRequest(TablestoreRule.FILTER_PAGINATION_PLACE)
        else:
            raise InvalidRequest(TablestoreRule.FILTER_TYPE, type=envelope.type)
    if arity is not None:
        raise arity
    return _join(nodes)


def _join(nodes: list[Comparison | _Branch]) -> Filter:
    """The first node with everything below it; children stand behind their parent."""
    filters: dict[int, Filter] = {}
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if isinstance(node, _Branch):
            children = tuple(filters[child] for child in range(node.first, node.end))
            filters[index] = Composite(node.operator, children)
        else:
            filters[index] = node
    return filters[0]


def _composite(
    data: bytes, counts: FieldCounts
) -> tuple[LogicalOperator, Iterable[messages.Filter]]:
    """The operator and the sub-filters, which are counted with those of the whole tree."""
    try:
        counts.add(messages.CompositeColumnValueFilter.DESCRIPTOR, data)
    except Crowded as error:
        raise InvalidRequest(TablestoreRule.FILTER_COUNT, limit=FILTER_NODES_MAX) from error
    except Unreadable as error:
        raise InvalidRequest(TablestoreRule.FILTER_COMPOSITE_DECODE) from error
    message = _parse(
        messages.CompositeColumnValueFilter, data, TablestoreRule.FILTER_COMPOSITE_DECODE
    )
    logical = _OPERATORS.get(message.combinator)
    if logical is None:
        raise InvalidRequest(TablestoreRule.FILTER_COMPOSITE_DECODE, combinator=message.combinator)
    return logical, message.sub_filters


def _arity_error(logical: LogicalOperator, count: int) -> InvalidRequest | None:
    """What is wrong with so many sub-filters below one operator."""
    if logical is LogicalOperator.NOT:
        return None if count == 1 else InvalidRequest(TablestoreRule.FILTER_NOT_ARITY, count=count)
    return None if count >= 2 else InvalidRequest(TablestoreRule.FILTER_LOGIC_ARITY, count=count)


# --- leaves ----------------------------------------------------------------------------------


def _comparison(data: bytes) -> Comparison:
    """A single-column filter."""
    rule = TablestoreRule.FILTER_RELATION_DECODE
    message = _parse(messages.SingleColumnValueFilter, data, rule)
    comparator = _COMPARATORS.get(message.comparator)
    if comparator is None:
        raise InvalidRequest(TablestoreRule.FILTER_COMPARATOR, comparator=message.comparator)
    column = _text(message.column_name, rule)
    transferred = message.HasField("value_trans_rule")
    return Comparison(
        column=column,
        comparator=comparator,
        value=_constant(message.column_value, comparator, column),
        pass_if_missing=not message.filter_if_missing,
        latest_version_only=message.latest_version_only,
        transfer=_transfer(message.value_trans_rule) if transferred else None,
    )


def _constant(data: bytes, comparator: Comparator, column: str) -> Value:
    """The value compared with. Tests of presence need none and may leave it empty."""
    if not data and comparator in {Comparator.EXIST, Comparator.NOT_EXIST}:
        return b""
    value = decode_variant_value(data, TablestoreRule.FILTER_RELATION_DECODE)
    if isinstance(value, KeyMarker):
        raise InvalidRequest(
            TablestoreRule.FILTER_RELATION_DECODE, column=column, value=value.value
        )
    length = len(data) - _SIZED_OVERHEAD  # negative for numbers, which are never too long
    if length > VALUE_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.VALUE_LENGTH, column=column, length=length)
    return value


def _transfer(message: messages.ValueTransferRule) -> TransferRule:
    """The rule that turns a text into the value compared. Without a cast the text itself."""
    regex = _text(message.regex, TablestoreRule.FILTER_REGEX)
    pattern = _pattern(regex)
    if not message.HasField("cast_type"):
        return TransferRule(regex, ColumnType.STRING, pattern)
    kind = _CASTS.get(message.cast_type)
    if kind is None:
        raise InvalidRequest(TablestoreRule.FILTER_RELATION_DECODE, cast_type=message.cast_type)
    return TransferRule(regex, kind, pattern)


def _pattern(text: str) -> Pattern:
    """The regular expression, compiled once for all rows that it will meet.

    By RE2, whose matching is linear in the text: Python's own can be made to run for hours by a
    pattern of ten characters, and this one comes from a client.
    """
    size = len(text.encode())
    if size > FILTER_PATTERN_BYTES_MAX:
        raise InvalidRequest(
            TablestoreRule.FILTER_REGEX, length=size, limit=FILTER_PATTERN_BYTES_MAX
        )
    try:
        pattern = re2.compile(text, _RE2_OPTIONS)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidRequest(TablestoreRule.FILTER_REGEX, reason=reason) from error
    return cast("Pattern", pattern)


def _re2_options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False  # they go to the client that made them
    options.max_mem = FILTER_PATTERN_MEMORY_MAX
    return options


_RE2_OPTIONS: Final = _re2_options()


def _pagination(data: bytes) -> Pagination:
    message = _parse(messages.ColumnPaginationFilter, data, TablestoreRule.FILTER_PAGINATION_DECODE)
    if message.offset < 0:
        raise InvalidRequest(TablestoreRule.FILTER_PAGINATION_OFFSET, offset=message.offset)
    if message.limit <= 0:
        raise InvalidRequest(TablestoreRule.FILTER_PAGINATION_LIMIT, limit=message.limit)
    return Pagination(message.offset, message.limit)


# --- messages --------------------------------------------------------------------------------


def _parse(kind: type[MessageType], data: bytes, rule: TablestoreRule) -> MessageType:
    """A whole message with every required field. Raises `InvalidRequest` with `rule`."""
    try:
        message = kind.FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(rule) from error
    if not message.IsInitialized():
        raise InvalidRequest(rule)
    return message


def _text(field: object, rule: TablestoreRule) -> str:
    """A text field. The runtime hands out bytes where a proto2 string is not UTF-8."""
    if not isinstance(field, str):
        raise InvalidRequest(rule)
    return field
