"""What a beat of a server of a shared store costs: its figures, and its record.

python -m bench.beat   # a server with thirty actions and two hundred tables
"""

import sys
import timeit
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from tests.support.changes import create
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore

from widerow.engine.nodes.record import NodeRecord, decode_node, encode_node
from widerow.engine.nodes.work import NodeWork, WorstLag
from widerow.model.values import KeyType
from widerow.server.admission import Admission
from widerow.server.metrics import Metrics
from widerow.server.work_meter import WorkMeter
from widerow.system import SystemClock
from widerow.testing.clock import FakeEntropy

_ACTIONS: Final = 30
_TABLES: Final = 200
_ROUNDS: Final = 200

_PLAIN: Final = NodeRecord(bytes(11), "db1.example:8087", "0.1.0", 2**50, 10**6, 2**50, 42)
_LAGS: Final = (
    WorstLag("global index", "shop/orders", "by_city", 0.25),
    WorstLag("stream", "shop/orders", "stream", 0.1),
    WorstLag("search index", "shop/orders", "text", rows=12),
)
_FULL: Final = _PLAIN._replace(worker=2, work=NodeWork(12.3, 3.2, 0.4, 3, 0, 17, 68e6, _LAGS))


def _microseconds(work: Callable[[], object]) -> float:
    return min(timeit.repeat(work, number=_ROUNDS, repeat=5)) / _ROUNDS * 1e6


def _meter() -> WorkMeter:
    store = StrictStore(StrictSpace(), FakeEntropy(1))
    engine = open_tablestore(store, SystemClock(), FakeEntropy(1))
    for number in range(_TABLES):
        table = create(f"t{number}", {"k": KeyType.INTEGER})
        engine.core.run(engine.create_table(f"i{number % 4}", table))
    metrics = Metrics()
    for number in range(_ACTIONS):
        metrics.of(f"action{number}").answered("OK", 10**6)
    committer: Any = SimpleNamespace(waiting=0)
    return WorkMeter(engine.core, committer, Admission(), metrics, SystemClock())


def main() -> int:
    """The command. Returns the exit code."""
    lines = [f"figures: {_microseconds(_meter().measure):.0f} µs"]
    for name, record in (("record without figures", _PLAIN), ("record with them", _FULL)):
        encoded = encode_node(record)
        encoding = _microseconds(partial(encode_node, record))
        decoding = _microseconds(partial(decode_node, bytes(11), encoded))
        lines.append(
            f"{name}: {len(encoded)} bytes, made in {encoding:.0f} µs, read in {decoding:.0f}"
        )
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
