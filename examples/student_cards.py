"""Student cards: the purchase records of a campus, kept in one wide-column table.

Every purchase is a row. Its key is made of the card, the seller, the till and the till's order
number, in this order: the purchases of one card lie together and are read as a range, and cards
are many and equally busy, so that no partition is hotter than the others.

Everything here is the vendor's SDK. The program runs unchanged against the vendor's service; only
the endpoint and the keys differ.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table
from tablestore import (
    INF_MAX,
    INF_MIN,
    BatchWriteRowRequest,
    CapacityUnit,
    ComparatorType,
    Condition,
    Direction,
    OTSClient,
    OTSClientError,
    OTSServiceError,
    PutRowItem,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    SingleColumnCondition,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)
from tablestore.retry import NoRetryPolicy
from urllib3.exceptions import HTTPError

EXAMPLES: Final = """examples:
  python examples/student_cards.py --own-server
      start a server, load it, kill it with kill -9 while it writes, start it again, compare
  python examples/student_cards.py --own-server --records 20000
  python examples/student_cards.py --endpoint http://127.0.0.1:8087
      run against a server that is there: make tables, load, query, change, delete the tables
  python examples/student_cards.py --endpoint https://campus.cn-hangzhou.ots.aliyuncs.com \\
      --instance campus --access-key-id ID --access-key-secret SECRET
"""

PURCHASES: Final = "student_card_purchase"
POINTS: Final = "student_card_points"
KEY: Final = ("CardID", "SellerID", "DeviceID", "OrderNumber")
TABLES: Final = {
    PURCHASES: list(zip(KEY, ("INTEGER", "STRING", "INTEGER", "INTEGER"), strict=True)),
    POINTS: [("CardID", "INTEGER")],
}
CARDS: Final = (6777, 66661, 178994, 283408, *range(300_000, 300_036))
TILLS: Final = ((16, "a100"), (54, "a1001"), (66, "b304"), (167, "a101"), (168, "a101"))
GOODS: Final = (("coffee", 180), ("lunch", 420), ("paper", 650), ("textbook", 3990))
FIRST_ORDER: Final = 200_001
BATCH_ROWS: Final = 200  # what one BatchWriteRow may carry
CARD: Final = 6777  # the card that is looked at
ROWS_SHOWN: Final = 8
RECORDS_MIN: Final = 500

IGNORE: Final = Condition(RowExistenceExpectation.IGNORE)
Key = list[tuple[str, object]]


class Place(NamedTuple):
    """Where a server is, and who may come in."""

    endpoint: str
    access_key_id: str
    access_key_secret: str
    instance: str


@dataclass(frozen=True, slots=True)
class Purchase:
    """One line of a receipt."""

    card: int
    seller: str
    device: int
    order: int
    item: str
    cents: int

    @property
    def key(self) -> Key:
        """The primary key of its row."""
        return list(zip(KEY, (self.card, self.seller, self.device, self.order), strict=True))

    @property
    def row(self) -> Row:
        """The row, as it is first written."""
        columns = [("cents", self.cents), ("item", self.item), ("state", "paid")]
        return Row(self.key, columns)


def purchases(count: int, first: int = 0) -> Iterator[Purchase]:
    """Made-up purchases number `first` to `first + count`: the same ones on every run."""
    for number in range(first, first + count):
        chance = hashlib.sha256(b"%d" % number).digest()
        device, seller = TILLS[chance[0] % len(TILLS)]
        item, cents = GOODS[chance[1] % len(GOODS)]
        card = CARDS[chance[2] % len(CARDS)]
        yield Purchase(card, seller, device, FIRST_ORDER + number, item, cents)


def batches(rows: Iterable[Purchase]) -> Iterator[list[Purchase]]:
    """The rows in pieces that one request may carry."""
    batch: list[Purchase] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


# --- what the program does with a table -----------------------------------------------------------


def connect(place: Place) -> OTSClient:
    """A client. It does not retry: what goes wrong here is meant to be seen."""
    return OTSClient(
        place.endpoint,
        place.access_key_id,
        place.access_key_secret,
        place.instance,
        retry_policy=NoRetryPolicy(),
    )


def create_table(ots: OTSClient, name: str) -> None:
    """One of the tables, empty."""
    none = ReservedThroughput(CapacityUnit(0, 0))
    ots.create_table(TableMeta(name, TABLES[name]), TableOptions(), none)


def write_batch(ots: OTSClient, batch: list[Purchase]) -> None:
    """Up to 200 rows in one request. Raises `RuntimeError` if the server refused any."""
    request = BatchWriteRowRequest()
    items = [PutRowItem(purchase.row, IGNORE) for purchase in batch]
    request.add(TableInBatchWriteRowItem(PURCHASES, items))
    _, failed = ots.batch_write_row(request).get_put()
    if failed:
        raise RuntimeError(f"{len(failed)} rows refused: {failed[0].error_message}")


def load(ots: OTSClient, count: int, console: Console) -> None:
    """Write `count` purchases."""
    pieces = list(batches(purchases(count)))
    for batch in track(pieces, f"loading {count} purchases", console=console):
        write_batch(ots, batch)


def bounds(*leading: object) -> tuple[Key, Key]:
    """The range of all keys that begin with these values."""
    rest = len(KEY) - len(leading)
    low = zip(KEY, (*leading, *[INF_MIN] * rest), strict=True)
    high = zip(KEY, (*leading, *[INF_MAX] * rest), strict=True)
    return list(low), list(high)


def read_range(
    ots: OTSClient,
    *leading: object,
    backward: bool = False,
    count: int | None = None,
    only: SingleColumnCondition | None = None,
) -> list[Row]:
    """The rows whose keys begin with these values, page by page."""
    start, end = bounds(*leading)
    if backward:
        start, end = end, start
    direction = Direction.BACKWARD if backward else Direction.FORWARD
    used = CapacityUnit(0, 0)
    return list(
        ots.xget_range(PURCHASES, direction, start, end, used, count=count, column_filter=only)
    )


def query(ots: OTSClient, console: Console) -> None:
    """Ranges of one card, in both directions."""
    everything = read_range(ots, CARD)
    console.print(f"card {CARD} has {len(everything)} purchases; the first in the order of keys:")
    console.print(show(everything[:ROWS_SHOWN]))
    last = read_range(ots, CARD, backward=True, count=3)
    if keys(last) != keys(everything[::-1][:3]):
        raise RuntimeError("backward is not the reverse of forward")
    console.print("the last three, read backwards:")
    console.print(show(last))
    one_seller = read_range(ots, CARD, "a101")
    dear = read_range(
        ots, CARD, only=SingleColumnCondition("cents", 1000, ComparatorType.GREATER_THAN)
    )
    console.print(f"{len(one_seller)} of them at seller a101, {len(dear)} above 10.00\n")


def change(ots: OTSClient, console: Console) -> None:
    """An update, a conditional write that is refused the second time, atomic increments."""
    first = read_range(ots, CARD, count=1)[0]
    paid = SingleColumnCondition("state", "paid", ComparatorType.EQUAL, pass_if_missing=False)
    while_paid = Condition(RowExistenceExpectation.EXPECT_EXIST, paid)
    refund = Row(first.primary_key, {"PUT": [("state", "refunded")], "DELETE_ALL": ["item"]})
    ots.update_row(PURCHASES, refund, while_paid)
    console.print("refunded the first purchase, on the condition that it was paid")
    try:
        ots.update_row(PURCHASES, refund, while_paid)
    except OTSServiceError as error:
        console.print(f"refunded it again: {error.get_error_code()}, as it should be")
    else:
        raise RuntimeError("a purchase was refunded twice")
    for purchase in read_range(ots, CARD):
        earned = {"INCREMENT": [("points", value(purchase, "cents") // 100)]}
        ots.update_row(POINTS, Row([("CardID", CARD)], earned), IGNORE)
    console.print(f"counted {points(ots)} points, with an atomic increment for every purchase\n")


def points(ots: OTSClient) -> int:
    """The points of the card."""
    _, row, _ = ots.get_row(POINTS, [("CardID", CARD)])
    return value(row, "points")


# --- rows and how they look -----------------------------------------------------------------------


def value(row: Row, column: str) -> int:
    """A number of a row."""
    found: int = {name: value for name, value, _ in row.attribute_columns}[column]
    return found


def keys(rows: Iterable[Row]) -> list[tuple[object, ...]]:
    """The values of primary keys."""
    return [tuple(value for _, value in row.primary_key) for row in rows]


def text(row: Row | None) -> str:
    """The attributes of a purchase, in a line."""
    if row is None:
        return "-"
    columns = {name: value for name, value, _ in row.attribute_columns}
    price = f"{columns['cents'] / 100:.2f}"
    words = (price, columns.get("item"), columns["state"].replace("paid", ""))
    return " ".join(filter(None, words))


def show(rows: list[Row]) -> Table:
    """Rows as a table."""
    table = Table(*KEY, "purchase")
    for row, key in zip(rows, keys(rows), strict=True):
        table.add_row(*map(str, key), text(row))
    return table


def compare(before: list[Row], after: list[Row]) -> Table:
    """The first rows before and after, side by side."""
    table = Table(*KEY, "before", "after")
    found = dict(zip(keys(after), after, strict=True))
    for row, key in zip(before[:ROWS_SHOWN], keys(before), strict=False):
        table.add_row(*map(str, key), text(row), text(found.get(key)))
    return table


def content(rows: Iterable[Row]) -> list[tuple[object, ...]]:
    """All there is to say about rows: keys, columns, values, versions."""
    return [(tuple(row.primary_key), tuple(map(tuple, row.attribute_columns))) for row in rows]


# --- a server of one's own, and its death ---------------------------------------------------------


class OwnServer:
    """`widerow serve` on a directory."""

    def __init__(self, folder: str) -> None:
        beside = Path(sys.executable).with_name("widerow")
        program = str(beside) if beside.exists() else shutil.which("widerow")
        if program is None:
            raise FileNotFoundError(
                "widerow is not installed here; docs/start/install.md says how to get it"
            )
        self.command = [program, "serve", "--port", "0", "--path", folder]
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> Place:
        """Start, and wait for the line that says that it answers."""
        self.process = subprocess.Popen(  # noqa: S603  # widerow itself
            self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        words = self.process.stdout.readline().split()
        endpoints = [word.partition("=")[2] for word in words if word.startswith("endpoint=")]
        if not endpoints:
            raise RuntimeError("widerow serve did not start; run it by hand to see why")
        return Place(endpoints[0], "widerow", "widerow", "campus")

    def kill(self) -> None:
        """`kill -9`, if it runs."""
        if self.process is not None:
            assert self.process.stdout is not None
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None


def write_until_it_dies(
    ots: OTSClient, first: int, done: list[Purchase], some: threading.Event
) -> None:
    """Load more and more, noting what was acknowledged, until the server is gone."""
    for number in range(first, first + 10_000 * BATCH_ROWS, BATCH_ROWS):
        batch = list(purchases(BATCH_ROWS, number))
        try:
            write_batch(ots, batch)
        except Exception:  # noqa: BLE001  # a lost connection has many names
            break
        done += batch
        if len(done) >= 5 * BATCH_ROWS:
            some.set()
    some.set()


def crash(server: OwnServer, ots: OTSClient, records: int) -> list[Purchase]:
    """Kill the server while it writes. What it had acknowledged until then."""
    done: list[Purchase] = []
    some = threading.Event()
    writer = threading.Thread(target=write_until_it_dies, args=(ots, records, done, some))
    writer.start()
    some.wait()
    server.kill()
    writer.join()
    return done


def survive(server: OwnServer, records: int, console: Console) -> bool:
    """Load, change, kill, start again: whether every answer is the same."""
    ots = connect(server.start())
    for name in TABLES:
        create_table(ots, name)
    load(ots, records, console)
    query(ots, console)
    change(ots, console)
    before, counted = read_range(ots), points(ots)
    console.print("kill -9, in the middle of more writes …")
    acknowledged = crash(server, ots, records)
    ots = connect(server.start())
    found = read_range(ots)
    after = [row for row in found if row.primary_key[3][1] < FIRST_ORDER + records]
    console.print(f"started again. The purchases of card {CARD}, before and after:")
    of_card = [[row for row in rows if row.primary_key[0][1] == CARD] for rows in (before, after)]
    console.print(compare(*of_card))
    missing = {tuple(map(tuple, each.key)) for each in acknowledged}
    missing -= {tuple(map(tuple, row.primary_key)) for row in found}
    same = content(before) == content(after) and counted == points(ots)
    console.print(
        f"{len(before)} rows before, {len(after)} after: {'equal' if same else 'DIFFERENT'}"
    )
    console.print(f"{len(acknowledged)} more were acknowledged: {len(missing)} of them are missing")
    return same and bool(acknowledged) and not missing


def visit(place: Place, records: int, console: Console) -> None:
    """The same without a death: on a server that is there, and clean afterwards."""
    ots = connect(place)
    with ExitStack() as made:
        for name in TABLES:
            create_table(ots, name)
            made.callback(ots.delete_table, name)
        load(ots, records, console)
        query(ots, console)
        change(ots, console)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--own-server", action="store_true", help="start one, and kill it")
    where.add_argument("--endpoint", metavar="URL", help="use the server that is there")
    parser.add_argument("--records", type=int, default=4000, help="purchases to load (4000)")
    parser.add_argument("--instance", default="campus")
    parser.add_argument("--access-key-id", default="widerow")
    parser.add_argument("--access-key-secret", default="widerow")
    options = parser.parse_args()
    if options.records < RECORDS_MIN:
        parser.error(f"--records must be {RECORDS_MIN} or more, for every card to have some")
    return options


def main() -> int:
    """0 if all went as it should, 1 if a row differs, 2 if the server said no."""
    options = parse()
    console = Console()
    if not options.own_server:
        identity = (options.access_key_id, options.access_key_secret, options.instance)
        try:
            visit(Place(options.endpoint, *identity), options.records, console)
        except OTSServiceError as error:
            console.print(f"{error.get_error_code()}: {error.get_error_message()}")
            return 2
        except (OTSClientError, HTTPError) as error:
            console.print(f"no answer that the SDK accepts: {error}")
            return 2
        return 0
    with tempfile.TemporaryDirectory() as folder:
        server = OwnServer(folder)
        try:
            return 0 if survive(server, options.records, console) else 1
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
