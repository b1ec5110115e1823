"""A file of student-card purchases: the same rows on every run, of any number.

The purchases of a campus as they happen, for `widerow advise keys` and `widerow simulate`. Each has
a card, a seller, a till and an order number that the till counts up by itself. Sellers are few, and
one has most of the tills; a till takes what its cashier can type; every card buys about as much as
any other, more at noon than at night.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import accumulate
from typing import Final, NamedTuple

EXAMPLES: Final = """examples:
  python examples/student_card_sample.py --rows 100000 > purchases.csv
  widerow advise keys --input purchases.csv --columns DeviceID,CardID,OrderNumber --time Time
"""

TILLS: Final = 120
CARDS: Final = 12_000
FIRST_ORDER: Final = 200_001
START: Final = datetime(2017, 7, 1, tzinfo=UTC)
DAYS: Final = 31
# Of a hundred tills: the canteens have forty, the bookshop twenty, and so on.
SELLERS: Final = (
    *(("a100", 40), ("a101", 20), ("b304", 12), ("a1001", 9), ("c77", 7), ("b12", 5)),
    *(("d5", 3), ("d6", 2), ("e1", 1), ("e2", 1)),
)
# What an hour of the day sells, from midnight on.
HOURS: Final = (1, 0, 0, 0, 0, 0, 2, 6, 9, 7, 6, 12, 22, 16, 8, 6, 6, 9, 15, 11, 6, 4, 3, 2)
GOODS: Final = (("coffee", 180), ("lunch", 420), ("paper", 650), ("textbook", 3990))


class Purchase(NamedTuple):
    """One line of a receipt."""

    DeviceID: int
    SellerID: str
    CardID: int
    OrderNumber: int
    Time: str
    Item: str
    Cents: int


class Till(NamedTuple):
    """A purchase terminal and whose it is."""

    device: int
    seller: str


def chance(seed: int, *about: int) -> int:
    """A number of 64 bits, the same for the same question."""
    words = ",".join(map(str, (seed, *about))).encode()
    return int.from_bytes(blake2b(words, digest_size=8).digest(), "big")


def tills(seed: int) -> list[Till]:
    """The tills, each of one seller, with numbers that say nothing about whose they are."""
    bounds = list(accumulate(share for _, share in SELLERS))
    found = []
    for number in range(TILLS):
        place = number * bounds[-1] // TILLS
        seller = next(name for (name, _), end in zip(SELLERS, bounds, strict=True) if place < end)
        found.append(Till(16 + chance(seed, 1, number) % 1_000_000 // 7 * 7 + number % 7, seller))
    return found


def moments(rows: int) -> Iterator[datetime]:
    """When things are bought: as many as the hour sells, one after another."""
    total = sum(HOURS) * DAYS
    done = 0
    for day in range(DAYS):
        for hour, share in enumerate(HOURS):
            done += share
            so_far = rows * (done - share) // total
            count = rows * done // total - so_far
            start = START + timedelta(days=day, hours=hour)
            yield from (start + timedelta(seconds=3600 * at / count) for at in range(count))


def purchases(rows: int, seed: int = 0) -> Iterator[Purchase]:
    """So many purchases, in the order in which they happened."""
    places = tills(seed)
    orders = [FIRST_ORDER + chance(seed, 2, number) % 10 for number in range(TILLS)]
    cards = [6_000 + chance(seed, 3, number) % 400_000 for number in range(CARDS)]
    for number, moment in enumerate(moments(rows)):
        drawn = chance(seed, 4, number)
        at = drawn % TILLS
        item, cents = GOODS[(drawn >> 16) % len(GOODS)]
        card = cards[(drawn >> 24) % CARDS]
        time = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        yield Purchase(*places[at], card, orders[at], time, item, cents)
        orders[at] += 1


def main() -> None:
    """Write the file to stdout."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000, help="purchases (100000)")
    parser.add_argument("--seed", type=int, default=0, help="another campus (0)")
    options = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(Purchase._fields)
    writer.writerows(purchases(options.rows, options.seed))


if __name__ == "__main__":
    main()
