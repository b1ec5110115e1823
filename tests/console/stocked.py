"""A server with something to look at: tables of both models, a search index, and a hot key."""

import math
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from tests.support.changes import put

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.engine.timeseries.engine import TimeseriesEngine
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.engine.typed.plug import TYPED
from widerow.keys.encode import encode_key_value
from widerow.model.search.requests import CreateSearchIndex, DescribeSearchIndex
from widerow.model.search.schema import (
    AnalyzerName,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
)
from widerow.model.tablestore.requests import CreateTable, OptionsChange, ThroughputChange
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaUpdateMode, TableRequest
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import AnalyticalStore, TimeseriesOptions
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.types import INTEGER, LONG, STRING
from widerow.model.values import ColumnType, KeyType, Value
from widerow.testing.server import WiderowServer

T = TypeVar("T")

INSTANCE: Final = "campus"
CARDS: Final = "cards"
ARTICLES: Final = "articles"
METERS: Final = "meters"
START_US: Final = 1_790_000_000_000_000  # of the points: 2026-09-21 14:13:20
SPIKE_AT: Final = 1234  # the number of the point with the largest value
WEB_1: Final = SeriesKey("cpu", "rack-7", (("host", "web-1"), ("region", "eu")))
HOT: Final = "c-0042"
LONG_CARD: Final = "long"
LONG_NOTE: Final = " ".join(f"{number} is a number." for number in range(200))
_CITIES: Final = ("Hangzhou", "Delft", "Lagos", "Lima", "Osaka")
_TITLES: Final = (
    "Green tea in the morning",
    "A short history of tea houses",
    "Coffee, and how to leave it",
    "The library at night",
    "Trains that run on time",
    "Black tea for exam weeks",
)

Settings: Final[dict[str, Any]] = {
    "partition_split_units": 200,
    "partition_hot_seconds": 3,
}
"""Of a server on which a test's load is a hot one."""


def engine_of(server: WiderowServer) -> TablestoreEngine:
    """The engine of a server in this process."""
    housekeeper = server._server._housekeeper
    assert housekeeper is not None
    return housekeeper.engine.operations(TABLESTORE)


def on_loop(server: WiderowServer, work: Callable[[], T]) -> T:
    """Do something on the loop's thread of a server, to which partitions belong."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  # told to the one who waits
            done.set_exception(error)

    server._loop.call_soon_threadsafe(run)
    return done.result()


def _table(
    name: str, key: dict[str, KeyType], versions: int, defined: tuple[DefinedColumn, ...] = ()
) -> CreateTable:
    columns = tuple(KeyColumn(each, kind) for each, kind in key.items())
    return CreateTable(
        name,
        columns,
        defined,
        ThroughputChange(0, 0),
        OptionsChange(time_to_live=-1, max_versions=versions, max_version_offset=10**9),
    )


def _row(
    engine: TablestoreEngine, table: str, key: dict[str, Any], cells: dict[str, Value]
) -> None:
    change = put(table, key, cells)
    engine.core.run(engine.rows.write_row(INSTANCE, change))


def stock(server: WiderowServer) -> None:
    """Tables and rows."""
    engine = engine_of(server)
    card = {"CardID": KeyType.STRING, "OrderNumber": KeyType.INTEGER}
    defined = (
        DefinedColumn("amount", ColumnType.INTEGER),
        DefinedColumn("city", ColumnType.STRING),
    )
    engine.core.run(engine.create_table(INSTANCE, _table(CARDS, card, 3, defined)))
    for number in range(60):
        cells: dict[str, Value] = {
            "amount": 250 + 17 * number,
            "city": _CITIES[number % 5],
            "paid": number % 3 > 0,
            "rating": round(1 + number % 9 / 2, 1),
        }
        if number % 4 == 0:
            cells["photo"] = bytes(range(12))
        _row(engine, CARDS, {"CardID": f"c-{number % 12:04}", "OrderNumber": number}, cells)
    engine.core.run(engine.create_table(INSTANCE, _table(ARTICLES, {"id": KeyType.INTEGER}, 1)))
    schema = SearchSchema(
        (
            SearchField(
                "title",
                SearchFieldType.TEXT,
                analyzer=TextAnalyzer(AnalyzerName.SINGLE_WORD),
            ),
            SearchField("price", SearchFieldType.LONG),
            SearchField("tag", SearchFieldType.KEYWORD),
        )
    )
    engine.core.run(engine.search.create(INSTANCE, CreateSearchIndex(ARTICLES, "words", schema)))
    for number, title in enumerate(_TITLES):
        cells = {
            "title": title,
            "price": 5 + 3 * number,
            "tag": "drink" if "tea" in title else "life",
        }
        _row(engine, ARTICLES, {"id": number}, cells)
    engine.search.describe(INSTANCE, DescribeSearchIndex(ARTICLES, "words"))  # its libraries too
    _typed(engine)


def series_engine_of(server: WiderowServer) -> TimeseriesEngine:
    """The operations on timeseries tables of a server in this process."""
    return engine_of(server).core.operations(TIMESERIES)


def stock_points(server: WiderowServer, count: int = 2000) -> None:
    """A table of points: a series with one every ten seconds, with a pause, and twenty more."""
    engine = series_engine_of(server)
    core = engine.core
    store = (AnalyticalStore("years", 2_592_000),)
    options = TimeseriesOptions(ttl_s=-1, meta_ttl_s=-1)
    core.run(
        engine.create(INSTANCE, TableRequest(METERS, options, stores=store, lastpoints=("newest",)))
    )
    table = engine.find(INSTANCE, METERS)
    points = [
        Point(WEB_1, START_US + number * 10_000_000, _fields(number))
        for number in range(count)
        if not 700 <= number < 800
    ]
    others = [
        Point(
            SeriesKey("cpu" if number % 2 else "disk", "", (("host", f"db-{number:02}"),)),
            START_US,
            {"usage": number},
        )
        for number in range(20)
    ]
    for at in range(0, len(points), 200):
        core.run(engine.put(table, points[at : at + 200], MetaUpdateMode.NORMAL))
    core.run(engine.put(table, others, MetaUpdateMode.NORMAL))


def _fields(number: int) -> dict[str, Value]:
    usage = 100.0 if number == SPIKE_AT else round(30 + 20 * math.sin(number / 150), 2)
    return {"usage": usage, "processes": 120 + number % 37, "state": "idle", "up": True}


def _typed(engine: TablestoreEngine) -> None:
    builder = TableBuilder("students").add_field("id", LONG).add_field("name", STRING)
    builder.add_field("credits", INTEGER).primary_key("id")
    form_of = engine.core.operations(TYPED).tables.find_qualified
    engine.core.run(engine.core.operations(TYPED).create_table(builder.build()))
    for number, name in enumerate(("Ada", "Bo", "Chen", "Dina")):
        values = {"id": number, "name": name, "credits": 30 + number}
        choice = WriteChoice(OperationKind.PUT, values)
        engine.core.run(engine.core.operations(TYPED).write(form_of("students"), choice))


def put_long(server: WiderowServer, amount: int = 1) -> None:
    """A row with a text that no grid shows as a whole."""
    key = {"CardID": LONG_CARD, "OrderNumber": 1}
    _row(engine_of(server), CARDS, key, {"amount": amount, "note": LONG_NOTE})


def pass_seconds(server: WiderowServer, seconds: int) -> None:
    """Let time pass for the partitions of a server, as its own housekeeping does."""

    def run() -> None:
        for _ in range(seconds):
            _pass_second(server)

    on_loop(server, run)


def _pass_second(server: WiderowServer) -> None:
    engine = engine_of(server)
    server.clock.advance(1)
    while (plan := engine.core.partitions.step()) is not None:
        engine.core.run(plan)


def grow(server: WiderowServer, seconds: int = 1200) -> None:
    """Twenty minutes in which every new card is behind all others."""
    engine = engine_of(server)
    table = engine.describe_table(INSTANCE, CARDS)

    def run() -> None:
        for number in range(200 * seconds):
            key = encode_key_value(f"d-{number:08}")
            engine.core.partitions.note_load(table.id, key, 0, 1, 1)
            if number % 200 == 199:
                _pass_second(server)

    on_loop(server, run)


def heat(server: WiderowServer, seconds: int = 600) -> None:
    """Ten minutes of load on the cards, as the clock of the server has them: one key gets hot."""
    engine = engine_of(server)
    table = engine.describe_table(INSTANCE, CARDS)
    keys = [encode_key_value(f"c-{number:04}") for number in range(100)]
    partitions = engine.core.partitions

    def second(number: int) -> None:
        for step in range(40):
            place = (number * 7 + step * 13) % 100
            partitions.note_load(table.id, keys[place * place // 100], 1, 1)  # small ones more
        if number > seconds * 2 // 3:
            for _ in range(40):
                partitions.note_load(table.id, encode_key_value(HOT), 4, 6)
        _pass_second(server)

    def run() -> None:
        for number in range(seconds):
            second(number)

    on_loop(server, run)
