"""The life of the product tables through Oracle's NoSQL driver for Python.

    python life.py ENDPOINT begin|end FILE

FILE has the statements and rows (life.json). "begin" makes tables and rows, "end" goes on with
them. Prints one JSON object with what was seen; what is right is for the tests to say.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import borneo

DAY: Final = 24 * 60 * 60 * 1000
PRODUCTS: Final = "myProducts"
STOCK: Final = "myProducts.stock"
STATES: Final = {
    getattr(borneo.State, name): name
    for name in ("ACTIVE", "CREATING", "DROPPED", "DROPPING", "UPDATING")
}
OPTIONS: Final = borneo.PutOption

Row = dict[str, Any]


class Anybody(borneo.AuthorizationProvider):  # type: ignore[misc]  # the driver has no types
    """What a program written for the vendor's cloud simulator has."""

    def get_authorization_string(self, request: object = None) -> str:
        del request
        return "Bearer anybody"

    def close(self) -> None:
        pass


def refusal(call: Callable[[], object]) -> str:
    """The name of an error's code, as other drivers spell it; theirs are names of classes here."""
    try:
        call()
    except borneo.NoSQLException as error:
        name = type(error).__name__.removesuffix("Exception")
    except borneo.IllegalArgumentException:
        name = "IllegalArgument"
    else:
        return "no error"
    code = re.sub(r"(.)([A-Z])", r"\1_\2", name).upper()
    return f"{code}_EXCEEDED" if code.endswith("_LIMIT") else code


class Life:
    """One run of the program."""

    def __init__(self, handle: Any, given: dict[str, Any]) -> None:  # noqa: ANN401  # no types
        self.handle = handle
        self.given = given

    def define(self, statement: str) -> list[str]:
        """The states of a statement's table: as it was answered, and when it was done."""
        request = borneo.TableRequest().set_statement(statement)
        if statement.startswith("CREATE TABLE") and "." not in statement:
            request.set_table_limits(borneo.TableLimits(50, 50, 1))
        result = self.handle.table_request(request)
        first = result.get_state()
        result.wait_for_completion(self.handle, 60_000, 50)
        return [STATES[first], STATES[result.get_state()]]

    def put(self, row: Row, table: str = PRODUCTS, **options: Any) -> Any:  # noqa: ANN401  # no types
        return self.handle.put(putting(row, table, **options))

    def happens(self, row: Row, **options: Any) -> bool:  # noqa: ANN401  # no types
        return self.put(row, **options).get_version() is not None

    def get(self, key: Row, table: str = PRODUCTS) -> Any:  # noqa: ANN401  # no types
        return self.handle.get(borneo.GetRequest().set_table_name(table).set_key(key))

    def delete(self, key: Row, version: object = None) -> bool:
        request = borneo.DeleteRequest().set_table_name(PRODUCTS).set_key(key)
        if version is not None:
            request.set_match_version(version)
        return bool(self.handle.delete(request).get_success())

    def order(self, note: str) -> int:
        return int(self.put({"note": note}, "orders").get_generated_value())

    def begin(self) -> Row:
        states = [self.define(each) for each in self.given["tables"]]
        done = [self.happens(row) for row in self.given["products"]]
        changed = self.given["changedCap"]
        days = borneo.TimeToLive.of_days(3)
        return {
            "states": states,
            "put": {"done": done, "generated": [self.order("first"), self.order("second")]},
            "conditions": self.conditions(),
            "expires": [
                self.expires(5, lambda: self.put(changed, use_table_default_ttl=True)),
                self.expires(3, lambda: self.put(changed, ttl=days)),
            ],
            "refused": self.refused(),
        }

    def conditions(self) -> Row:
        cap, none, changed = (self.given[name] for name in ("cap", "none", "changedCap"))
        absent = self.put(changed, option=OPTIONS.IF_ABSENT, return_row=True)
        found = self.get(cap)
        version = found.get_version()
        first = self.happens(changed, option=OPTIONS.IF_VERSION, match_version=version)
        stale = self.put(changed, option=OPTIONS.IF_VERSION, match_version=version, return_row=True)
        return {
            "absent": [absent.get_version() is not None, absent.get_existing_value()],
            "present": [
                self.happens(changed, option=OPTIONS.IF_PRESENT),
                self.happens({**none, "color": "red"}, option=OPTIONS.IF_PRESENT),
            ],
            "found": found.get_value(),
            "changed": first,
            "stale": [stale.get_version() is not None, stale.get_existing_value()],
            "deleted": [self.delete(none), self.delete(cap, version)],
            "units": found.get_read_units(),
        }

    def expires(self, days: int, write: Callable[[], object]) -> bool:
        """Whether a row expires at the end of a UTC day, so many days after it was written."""
        before = time.time_ns() // 1_000_000
        write()
        after = time.time_ns() // 1_000_000
        expiry = int(self.get(self.given["cap"]).get_expiration_time())
        return expiry % DAY == 0 and before + days * DAY <= expiry <= after + (days + 1) * DAY

    def refused(self) -> Row:
        given = self.given
        seen = {
            name: refusal(partial(self.define, text))
            for name, text in given["refusedStatements"].items()
        }
        for name, text in given["refusedQueries"].items():
            seen[name] = refusal(partial(self.queried, text))
        index = borneo.GetIndexesRequest().set_table_name(PRODUCTS).set_index_name("nosuch")
        half = borneo.MultiDeleteRequest().set_table_name(PRODUCTS).set_key({"productType": "hat"})
        strangers = together(*[putting(row) for row in given["strangers"]])
        large = {**given["changedCap"], "details": "x" * 600_000}
        priced = {**given["cap"], "price": 5}
        calls: dict[str, Callable[[], object]] = {
            "get of no table": lambda: self.get({"id": 1}, "nosuch"),
            "no such index": lambda: self.handle.get_indexes(index),
            "no such color": lambda: self.put(given["pinkCap"]),
            "unknown column": lambda: self.put(priced, exact_match=True),
            "half a key": lambda: self.get(given["bowlers"]),
            "half a shard key": lambda: self.handle.multi_delete(half),
            "long key": lambda: self.put(given["longKey"]),
            "large row": lambda: self.put(large),
            "two shards": lambda: self.handle.write_multiple(strangers),
        }
        return seen | {name: refusal(call) for name, call in calls.items()}

    def queried(self, statement: str) -> object:
        return self.handle.query(borneo.QueryRequest().set_statement(statement)).get_results()

    def end(self) -> Row:
        given = self.given
        return {
            "kept": self.get(given["cap"]).get_value(),
            "generated": self.order("third") > 2,
            "definitions": self.definitions(),
            "together": self.together(),
            "queries": [self.pages(query) for query in given["queries"]],
            "removed": self.removed(),
            "dropped": [self.define(statement) for statement in given["drops"]],
            "gone": refusal(lambda: self.get({"id": 1}, "orders")),
        }

    def definitions(self) -> Row:
        handle = self.handle
        table = handle.get_table(borneo.GetTableRequest().set_table_name("MYPRODUCTS"))
        limits = borneo.TableRequest().set_table_name("orders")
        handle.do_table_request(limits.set_table_limits(borneo.TableLimits(60, 50, 1)), 60_000, 50)
        orders = handle.get_table(borneo.GetTableRequest().set_table_name("orders"))
        indexes = handle.get_indexes(borneo.GetIndexesRequest().set_table_name(PRODUCTS))
        usage = handle.get_table_usage(borneo.TableUsageRequest().set_table_name(PRODUCTS))
        return {
            "tables": handle.list_tables(borneo.ListTablesRequest()).get_tables(),
            "table": [STATES[table.get_state()], table.get_table_limits().get_read_units()],
            "limits": orders.get_table_limits().get_read_units(),
            "indexes": [
                [each.get_index_name(), each.get_field_names()] for each in indexes.get_indexes()
            ],
            "usage": len(usage.get_usage_records()),
        }

    def together(self) -> list[Any]:
        """Rows of one shard key, of a table and its child: all of them, or none."""
        shelves, first = self.given["shelves"], self.given["firstShelf"]
        puts = [putting(self.given["fullBrim"]), *[putting(row, STOCK) for row in shelves]]
        written = self.handle.write_multiple(together(*puts)).get_results()
        deletion = borneo.DeleteRequest().set_table_name(STOCK).set_key(first)
        absent = putting(shelves[1], STOCK, option=OPTIONS.IF_ABSENT)
        aborted = self.handle.write_multiple(together(deletion, absent))
        successes = [each.get_success() for each in written]
        rest = self.get(first, STOCK).get_value()
        return [successes, aborted.get_failed_operation_index(), rest]

    def pages(self, query: Row) -> list[Any]:
        """The pages of a query that was prepared, and the rows of each."""
        statement = borneo.PrepareRequest().set_statement(query["statement"])
        prepared = self.handle.prepare(statement).get_prepared_statement()
        for name, value in query.get("variables", {}).items():
            prepared.set_variable(name, value)
        request = borneo.QueryRequest().set_prepared_statement(prepared)
        if "limit" in query:
            request.set_limit(query["limit"])
        seen = []
        while True:
            seen.append(self.handle.query(request).get_results())
            if request.is_done():
                return seen

    def removed(self) -> list[Any]:
        request = borneo.MultiDeleteRequest().set_table_name(PRODUCTS)
        request.set_key(self.given["bowlers"]).set_max_write_kb(1)
        deleted = batches = 0
        while True:
            result = self.handle.multi_delete(request)
            deleted, batches = deleted + result.get_num_deletions(), batches + 1
            if result.get_continuation_key() is None:
                break
            request.set_continuation_key(result.get_continuation_key())
        cap = self.given["cap"]
        last = self.delete(cap, self.get(cap).get_version())
        return [deleted, batches > 1, last, self.delete(cap)]


def putting(row: Row, table: str = PRODUCTS, **options: Any) -> Any:  # noqa: ANN401  # no types
    request = borneo.PutRequest().set_table_name(table).set_value(row)
    for name, value in options.items():
        getattr(request, f"set_{name}")(value)
    return request


def together(*requests: object) -> Any:  # noqa: ANN401  # no types
    made = borneo.WriteMultipleRequest()
    for each in requests:
        made.add(each, True)  # noqa: FBT003  # all are undone where one does not succeed
    return made


def main() -> None:
    endpoint, phase, file = sys.argv[1:]
    config = borneo.NoSQLHandleConfig(endpoint, Anybody())
    config.set_consistency(borneo.Consistency.ABSOLUTE).set_logger(None)
    config.set_table_request_timeout(60_000)  # a change waits for a server that was killed
    handle = borneo.NoSQLHandle(config)
    try:
        life = Life(handle, json.loads(Path(file).read_text(encoding="utf-8")))
        sys.stdout.write(json.dumps(life.begin() if phase == "begin" else life.end()))
    finally:
        handle.close()


if __name__ == "__main__":
    main()
