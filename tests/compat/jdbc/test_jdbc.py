"""The vendor's JDBC driver: statements, prepared ones, metadata, under a pool (sql §2).

The driver takes the port out of its URL and none of its properties gives it back, so a small proxy
listens on port 80 of a loopback address. Without the right to do so, without Java, Maven or the
driver the test is skipped and says so.
"""

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from tests.compat.java.conftest import JVM, NEEDED, fetched_libraries, run
from tests.support.http import Sender, Wire

from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.sql_messages import SQLQueryRequest

pytestmark = pytest.mark.timeout(600)  # on a fresh machine the libraries are downloaded

SOURCES: Final = Path(__file__).parent
ADDRESS: Final = "127.0.0.80"
PORT: Final = 80

CREATE: Final = (
    "CREATE TABLE books (shelf VARCHAR(1024), n BIGINT, title MEDIUMTEXT, price DOUBLE, lent BOOL, "
    "cover MEDIUMBLOB, PRIMARY KEY (shelf, n))"
)
# The driver is older than INSERT: it makes the change, and takes the answer for rows.
INSERT: Final = (
    "INSERT INTO books VALUES ('a', 1, 'Ivanhoe', 2.5, TRUE, X'00ff'), "
    "('a', 2, 'It''s', 7.0, FALSE, NULL), ('a', 3, NULL, NULL, NULL, NULL)"
)


def _copied(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            to.sendall(data)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)


@contextmanager
def port_80(endpoint: str) -> Iterator[str]:
    """The URL of a proxy of that server; skips where the port cannot be had."""
    place = urlsplit(endpoint)
    try:
        listener = socket.create_server((ADDRESS, PORT))
    except OSError as error:
        pytest.skip(f"the JDBC driver is not tested: port 80 of {ADDRESS} cannot be had: {error}")

    def relay(client: socket.socket) -> None:
        with client, socket.create_connection((place.hostname, place.port or PORT)) as server:
            back = threading.Thread(target=_copied, args=(server, client))
            back.start()
            _copied(client, server)
            back.join()

    def accept() -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = listener.accept()
                relays.append(threading.Thread(target=relay, args=(client,)))
                relays[-1].start()

    relays: list[threading.Thread] = []
    accepting = threading.Thread(target=accept)
    accepting.start()
    with listener:
        yield f"http://{ADDRESS}"
        listener.shutdown(socket.SHUT_RDWR)
    for each in (accepting, *relays):
        each.join()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program printed."""
    missing = [each for each in NEEDED if shutil.which(each) is None]
    if missing:
        pytest.skip(f"the JDBC driver is not tested: {' and '.join(missing)} not installed")
    libraries = f"{fetched_libraries(SOURCES / 'pom.xml', 'compat-jdbc')}/*"
    work = tmp_path_factory.mktemp("jdbc")
    source = SOURCES / "Sessions.java"
    run(
        "javac",
        "--release",
        "11",
        "-encoding",
        "UTF-8",
        "-cp",
        libraries,
        "-d",
        str(work),
        str(source),
    )
    with WiderowServer() as server, port_80(server.endpoint) as endpoint:
        _fill_table(server.endpoint)
        classes = f"{work}{os.pathsep}{libraries}"
        url = f"jdbc:ots:{endpoint}/inst"
        done = subprocess.run(  # noqa: S603  # our own program
            ["java", *JVM, "-cp", classes, "Sessions", url, "widerow", "widerow"],  # noqa: S607  # from the path
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def _fill_table(endpoint: str) -> None:
    keys = [m.PrimaryKeySchema(name="shelf", type=2), m.PrimaryKeySchema(name="n", type=1)]
    body = m.CreateTableRequest(
        table_meta=m.TableMeta(table_name="books", primary_key=keys),
        reserved_throughput=m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=0, write=0)),
        table_options=m.TableOptions(time_to_live=-1, max_versions=1),
    )
    with Wire(endpoint) as wire:
        asked = Sender().request("CreateTable", body.SerializeToString())
        assert wire.ask(asked).status == 200
        for text in (CREATE, INSERT):
            query = SQLQueryRequest(query=text).SerializeToString()
            assert wire.ask(Sender().request("SQLQuery", query)).status == 200


def test_statements_and_rows(seen: dict[str, Any]) -> None:
    row = {"shelf": "a", "n": 1, "title": "Ivanhoe", "price": 2.5, "lent": True, "cover": "00ff"}
    empty = dict.fromkeys(("title", "price", "lent", "cover"))
    assert seen["all"] == [
        row,
        row | {"n": 2, "title": "It's", "price": 7.0, "lent": False, "cover": None},
        {"shelf": "a", "n": 3, **empty},
    ]
    assert seen["groups"] == [{"shelf": "a", "c": 3, "sum(price)": 9.5}]
    assert "Unknown column 'nope' in 'field list'" in seen["refused"]


def test_prepared_statements(seen: dict[str, Any]) -> None:
    """The driver writes values into the text; quotes in them stay values."""
    assert seen["prepared"] == [{"n": 1, "title": "Ivanhoe"}, {"n": 2, "title": "It's"}]
    assert seen["quoted"] == [{"n": 1, "title": "Ivanhoe"}]
    assert seen["bytes"] == [{"n": 1}]


def test_metadata(seen: dict[str, Any]) -> None:
    assert seen["tables"] == ["books"]
    assert seen["columns"] == ["shelf", "n", "title", "price", "lent", "cover"]
    assert seen["nullable"] == ["NO", "NO", "YES", "YES", "YES", "YES"]
    assert seen["key"] == ["shelf", "n"]
    assert len(seen["types"]) == 6


def test_a_pool_lends_connections(seen: dict[str, Any]) -> None:
    assert seen["pooled"] == sum(number % 3 + 1 for number in range(16))
