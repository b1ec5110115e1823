"""What the SDK is told it consumed is what the server counts (semantics §9)."""

from urllib.request import urlopen

from tablestore import CapacityUnit, OTSClient, ReservedThroughput, Row, TableMeta, TableOptions

from widerow.testing import WiderowServer

WIDE = "v" * 4096


def units(server: WiderowServer, action: str, kind: str) -> int:
    with urlopen(f"{server.endpoint}/metrics") as answer:  # noqa: S310  # our own server
        page = answer.read().decode()
    prefix = f'widerow_capacity_units_total{{action="{action}",kind="{kind}"}} '
    return sum(int(line[len(prefix) :]) for line in page.splitlines() if line.startswith(prefix))


def test_metrics_add_up_what_answers_say() -> None:
    with WiderowServer() as server:
        client: OTSClient = server.client()
        meta = TableMeta("t", [("k", "STRING")])
        client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
        written = read = 0
        for number in range(3):
            row = Row([("k", str(number))], [("a", WIDE), ("b", WIDE)])
            consumed, _ = client.put_row("t", row)
            written += consumed.write
            consumed, _, _ = client.get_row("t", [("k", str(number))], max_version=1)
            read += consumed.read
        assert (written, read) == (9, 9)
        assert units(server, "PutRow", "write") == written
        assert units(server, "GetRow", "read") == read
        assert units(server, "GetRow", "write") == 0
