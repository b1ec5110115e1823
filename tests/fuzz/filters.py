"""A filter decodes to 32 nodes at most or is refused; judging a row by it raises nothing."""

from contextlib import suppress
from functools import partial
from typing import Final

from tools.recorded import recorded

from widerow.errors import InvalidRequest, Unsupported
from widerow.limits import FILTER_NODES_MAX
from widerow.model.tablestore.filter import Comparison, Filter, columns_of, passes
from widerow.model.values import Value
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.filters import decode_condition, decode_read_filter

__all__ = ["SEEDS", "check"]

_ROWS: Final[tuple[tuple[Value, ...], ...]] = (
    (),
    ("x", "abc12", ""),
    (0, -1, 2**63 - 1),
    (1.5, -0.0, float("inf")),
    (True, False),
    (b"", b"\xff\x00"),
    ("9" * 400, "1e309", "é12"),
)


def _seeds() -> tuple[bytes, ...]:
    reads = (
        m.GetRowRequest.FromString(body) for name, _, body in recorded("T") if name == "GetRow"
    )
    filters = {bytes(read.filter) for read in reads if read.filter}
    inner = m.Filter(type=1, filter=b"\x08\x07\x12\x01c").SerializeToString()
    for _ in range(4):
        composite = m.CompositeColumnValueFilter(combinator=1)
        composite.sub_filters.add().ParseFromString(inner)
        inner = m.Filter(type=2, filter=composite.SerializeToString()).SerializeToString()
        filters.add(inner)
    return tuple(sorted(filters))


SEEDS: Final = _seeds()


def check(data: bytes) -> None:
    """Decode `data` as the filter of a read and as a condition, and judge rows by it."""
    with suppress(InvalidRequest, Unsupported):
        tree, page = decode_read_filter(data)
        assert (tree is None) != (page is None), "it is one or the other"
        if tree is not None:
            _judge(tree)
    with suppress(InvalidRequest, Unsupported):
        _judge(decode_condition(data))


def _judge(tree: Filter) -> None:
    assert _nodes(tree) <= FILTER_NODES_MAX, "more nodes than allowed"
    for name in columns_of(tree):
        name.encode()
    for values in _ROWS:
        assert passes(tree, partial(_same, values)) in {True, False}


def _same(values: tuple[Value, ...], name: str) -> tuple[Value, ...]:
    del name  # every column of the row has them
    return values


def _nodes(tree: Filter) -> int:
    return 1 if isinstance(tree, Comparison) else 1 + sum(map(_nodes, tree.filters))
