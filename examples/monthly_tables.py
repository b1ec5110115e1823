"""Hot and cold data in tables of their own: one for each month, each with the reserve it needs.

Purchases are written and read in the month in which they happen; later they are read now and then,
and after a year hardly ever. In one table the old rows would keep their part of the reserved
throughput. So each month has a table: the current one a high reserve of both kinds, those of the
last months a low one for writes and a high one for reads, older ones low ones, and those beyond
their time are deleted. Only a change of the reserve is needed as a table ages.

Everything here is the vendor's SDK. Run it against a server with `--enforce-throughput` to see the
reserves at work:

    widerow serve --memory --enforce-throughput
    python examples/monthly_tables.py --endpoint http://127.0.0.1:8087
"""

import argparse
import sys
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table
from tablestore import (
    CapacityUnit,
    OTSClient,
    OTSClientError,
    OTSServiceError,
    ReservedThroughput,
    Row,
    TableMeta,
    TableOptions,
)
from tablestore.retry import NoRetryPolicy

PREFIX: Final = "purchases_"
MONTHS: Final = ("2016_04", "2016_05", "2016_06", "2016_07")
"""From the oldest to the current one."""


class Reserve(NamedTuple):
    """What a table of some age reserves, in capacity units a second."""

    what: str
    read: int
    write: int


CURRENT: Final = Reserve("current: written and read", 40, 40)
RECENT: Final = Reserve("recent: read", 40, 5)
OLD: Final = Reserve("old: hardly asked for", 5, 5)


def reserve_of(age: int) -> Reserve:
    """The reserve of a table that is so many months old."""
    return CURRENT if age == 0 else RECENT if age <= 2 else OLD  # the rule itself


def create_tables(client: OTSClient) -> None:
    """A table for each month, as if each had just begun to have its age."""
    for age, month in enumerate(reversed(MONTHS)):
        reserve = reserve_of(age)
        meta = TableMeta(PREFIX + month, [("CardID", "INTEGER"), ("OrderNumber", "INTEGER")])
        units = ReservedThroughput(CapacityUnit(reserve.read, reserve.write))
        client.create_table(meta, TableOptions(), units)


def burst(client: OTSClient, month: str, count: int) -> int:
    """Write so many purchases at once; how many were taken before the reserve was used."""
    for number in range(count):
        row = Row([("CardID", 6000 + number % 50), ("OrderNumber", number)], [("amount", 12.5)])
        try:
            client.put_row(PREFIX + month, row)
        except OTSServiceError as error:
            if error.get_error_code() != "OTSNotEnoughCapacityUnit":
                raise
            return number
    return count


def demonstrate(client: OTSClient, count: int) -> Table:
    """Write a burst into the table of every month, and show what each of them took."""
    shown = Table("table", "what for", "reserved read", "reserved write", "taken of the burst")
    for age, month in enumerate(reversed(MONTHS)):
        described = client.describe_table(PREFIX + month).reserved_throughput_details.capacity_unit
        taken = burst(client, month, count)
        units = (str(described.read), str(described.write))
        shown.add_row(PREFIX + month, reserve_of(age).what, *units, f"{taken} of {count}")
    return shown


def main() -> int:
    """Make the tables, write, show, delete; 2 if the server refused something."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--instance", default="campus")
    parser.add_argument("--access-key-id", default="widerow")
    parser.add_argument("--access-key-secret", default="widerow")
    parser.add_argument("--burst", type=int, default=30, help="purchases written at once")
    given = parser.parse_args()
    client = OTSClient(
        given.endpoint,
        given.access_key_id,
        given.access_key_secret,
        given.instance,
        retry_policy=NoRetryPolicy(),
    )
    try:
        create_tables(client)
        try:
            Console(width=120).print(demonstrate(client, given.burst))
        finally:
            for month in MONTHS:  # the tables beyond their time, all of them here
                client.delete_table(PREFIX + month)
    except (OTSServiceError, OTSClientError) as error:
        sys.stderr.write(f"monthly_tables: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
