"""What a node tells of itself: its record (catalog.md, "Nodes"), and which node is the slowest."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from widerow.engine.lag import Lag
from widerow.engine.lease import LeaseTerm
from widerow.engine.nodes.record import NodeRecord, decode_node, encode_node
from widerow.engine.nodes.slowest import Figures, slowest_server
from widerow.engine.nodes.work import NodeWork, WorstLag, worst_lags
from widerow.engine.partitions.throttle import Taken

PAGE = (Path(__file__).parents[3] / "docs" / "formats" / "catalog.md").read_text(encoding="utf-8")


def test_the_record_is_as_the_page_has_it() -> None:
    found = re.search(r"```node\n(.+)\n```", PAGE)
    assert found is not None
    node = NodeRecord(
        bytes(range(11)),
        "db1.example:8087/2",
        "0.1.0",
        1_468_944_000_000_000,
        17,
        1_468_944_017_000_000,
        42,
        keeper=True,
        requests=1234,
        taken=(Taken(7, b"a\x00\x01", writes=True, units=12.5),),
        worker=2,
        term=LeaseTerm(1_468_944_000_500_000, 1_468_944_040_000_000),
        work=NodeWork(
            *(12.5, 3.25, 0.42, 3.0, 0.0, 17.0, 68_157_440.0),
            (
                WorstLag("global index", "shop/orders", "by_city", 0.25),
                WorstLag("search index", "shop/orders", "text", rows=12),
            ),
        ),
        behind=(7,),
    )
    assert encode_node(node) == found[1].encode()
    assert decode_node(bytes(range(11)), found[1].encode()) == node


def test_a_server_of_a_later_version_may_tell_more() -> None:
    told = json.loads(encode_node(NodeRecord(bytes(11), "x", "9", 0, 1, 0, 1, work=NodeWork())))
    told["work"] |= {"temperature": 40, "lags": [["index", "i/t", "x", 1.5, None, "new"]]}
    work = decode_node(bytes(11), json.dumps({**told, "colour": "red"}).encode()).work
    assert work == NodeWork(lags=(WorstLag("index", "i/t", "x", 1.5),))


def test_a_record_is_bounded_whatever_the_names_are() -> None:
    """A beat is a write of a second: it stays below a few kilobytes."""
    lags = [(f"kind {number}", Lag("i/" + "t" * 999, "x" * 999, number)) for number in range(99)]
    work = NodeWork(1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, worst_lags(lags))
    record = NodeRecord(bytes(11), "n" * 300, "0.1.0", 2**60, 2**60, 2**60, 2**60, work=work)
    assert len(encode_node(record)) < 6000
    read = decode_node(bytes(11), encode_node(record)).work
    assert read is not None
    assert [each.seconds for each in read.lags] == [98, 97, 96, 95, 94, 93, 92, 91]


def _figures(name: str, p99_ms: float | None, rate: float = 100.0, **work: Any) -> Figures:  # noqa: ANN401  # figures by name
    return Figures(name.encode(), rate, NodeWork(p99_ms=p99_ms, **work))


@pytest.mark.parametrize(
    ("servers", "found", "words"),
    [
        ((), b"", ""),
        ((_figures("a", 900.0),), b"", ""),
        ((_figures("a", 900.0), _figures("b", None)), b"", ""),  # one has answered nothing
        ((_figures("a", 9.0), _figures("b", 1.0)), b"", ""),  # nobody notices
        ((_figures("a", 90.0), _figures("b", 60.0), _figures("c", 70.0)), b"", ""),
        ((_figures("a", 90.0), _figures("b", 5.0)), b"a", "do not say why"),
        ((_figures("b", 5.0), _figures("a", 90.0, cores=0.97)), b"a", "uses 1.0 cores"),
        (
            (_figures("a", 90.0, commit_p99_ms=80.0), _figures("b", 5.0, commit_p99_ms=2.0)),
            *(b"a", "commits take 80 ms"),
        ),
        ((_figures("a", 90.0, 950.0), _figures("b", 5.0, 10.0)), b"a", "gets 950 requests"),
        ((_figures("a", 90.0, in_flight=200), _figures("b", 5.0, in_flight=2)), b"a", "200 requ"),
    ],
)
def test_the_slowest_server_stands_out_and_its_figures_say_why(
    servers: tuple[Figures, ...], found: bytes, words: str
) -> None:
    told = slowest_server(servers)
    assert (told is not None) == bool(found)
    if told is not None:
        assert told[0] == found
        assert words in told[1]
