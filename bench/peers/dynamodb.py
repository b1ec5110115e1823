"""DynamoDB's local stand-ins: dynalite (Node, on LevelDB) and moto's server (Python, in memory).

Both take any signature that looks like one, so requests carry a constant. Programs are taken from
the path, or from a cache folder outside the repository, where `install_hint` says to put them.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench import rows
from bench.measure import Case, Result, Settings, measure, measure_in_turns
from bench.servers import Place
from bench.workloads import ask, scattered
from bench.workloads import fill as fill_own
from tests.support.http import Wire, encode_request
from tools.cluster.ports import free_ports

from widerow.testing.process import WiderowProcess

CONNECTIONS: Final = 32
PUT_CONNECTIONS: Final = 128  # of the goal, on widerow
REQUESTS: Final = 1000
TABLE_ROWS: Final = 10_000
TABLE_ROWS_SLOW: Final = 1000  # moto takes milliseconds for each
_BATCH: Final = 25  # DynamoDB's bound on BatchWriteItem
_WAIT_SECONDS: Final = 30.0
_HEADERS: Final = {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-date": "20240101T000000Z",
    "authorization": (
        "AWS4-HMAC-SHA256 Credential=widerow/20240101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date, Signature=" + "0" * 64
    ),
}


def cache_folder() -> Path:
    """Where programs that are only compared with may be installed."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "widerow-bench"


def dynalite_program() -> str | None:
    """Path of dynalite; None if it is not installed."""
    local = cache_folder() / "dynalite/node_modules/.bin/dynalite"
    return str(local) if local.exists() else shutil.which("dynalite")


def moto_program() -> str | None:
    """Path of moto's server; None if it is not installed."""
    local = cache_folder() / "moto/bin/moto_server"
    return str(local) if local.exists() else shutil.which("moto_server")


def request(action: str, body: dict[str, Any]) -> bytes:
    """One request."""
    headers = {**_HEADERS, "x-amz-target": f"DynamoDB_20120810.{action}"}
    return encode_request("/", headers, json.dumps(body).encode())


def item(number: int) -> dict[str, dict[str, str]]:
    """The row of `rows.py`, as an item."""
    values = rows.texts()[number % rows.VARIANTS]
    fields = {f"field{at}": {"S": text} for at, text in enumerate(values)}
    return {**item_key(number), **fields}


def item_key(number: int) -> dict[str, dict[str, str]]:
    """Its key."""
    text, position = rows.key(number)
    return {"k": {"S": text[1]}, "n": {"N": str(position[1])}}


def create_table() -> bytes:
    """The same table: a hash key and a range key."""
    kinds = (("k", "S", "HASH"), ("n", "N", "RANGE"))
    body = {
        "TableName": rows.TABLE,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind, _ in kinds
        ],
        "KeySchema": [{"AttributeName": name, "KeyType": role} for name, _, role in kinds],
        "ProvisionedThroughput": {"ReadCapacityUnits": 1000, "WriteCapacityUnits": 1000},
    }
    return request("CreateTable", body)


def fill(endpoint: str, count: int) -> None:
    """Make the table and its rows. Raises: `ConnectionError` where that is refused."""
    requests = [create_table()]
    for first in range(0, count, _BATCH):
        puts = [{"PutRequest": {"Item": item(first + at)}} for at in range(_BATCH)]
        requests.append(request("BatchWriteItem", {"RequestItems": {rows.TABLE: puts}}))
    for at, each in enumerate(requests):
        with Wire(endpoint) as wire:  # a connection for each: moto keeps none open
            answer = wire.ask(each)
        if answer.status != 200:
            raise ConnectionError(answer.body.decode())
        if at == 0:
            time.sleep(0.5)  # dynalite makes tables in the background


def operations(name: str, count: int) -> Iterator[Case]:
    """A read and a write of one row."""
    numbers = scattered(REQUESTS, count)
    named = {"TableName": rows.TABLE}
    gets = [request("GetItem", {**named, "Key": item_key(number)}) for number in numbers]
    puts = [request("PutItem", {**named, "Item": item(number + 1)}) for number in numbers]
    yield Case("peer", f"{name} GetItem", gets, CONNECTIONS)
    yield Case("peer", f"{name} PutItem", puts, CONNECTIONS)


def measure_peer(name: str, command: Sequence[str], count: int, settings: Settings) -> list[Result]:
    """Start a server with `command` (the port comes last), fill it and measure it."""
    with running(command) as place:
        fill(place.endpoint, count)
        return [measure(place, case, settings) for case in operations(name, count)]


def dynalite_results(program: str, directory: Path, settings: Settings) -> list[Result]:
    """dynalite, keeping its data in `directory`, in turns with what a goal compares it with."""
    data, own = directory / "dynalite", directory / "beside"
    command = [program, "--path", str(data), "--createTableMs", "0", "--port"]
    with running(command) as place, WiderowProcess("--path", str(own)) as server:
        fill(place.endpoint, TABLE_ROWS)
        with Wire(server.endpoint) as wire:
            ask(wire, rows.table())
        fill_own(server.endpoint, 0, TABLE_ROWS)
        widerow = Place(server.endpoint, server.pid)
        pairs = zip(operations("dynalite", TABLE_ROWS), own_operations(TABLE_ROWS), strict=True)
        return [
            result
            for theirs, ours in pairs
            for result in measure_in_turns([(place, theirs), (widerow, ours)], settings)
        ]


def own_operations(count: int) -> Iterator[Case]:
    """The same read and write of the same rows on widerow."""
    numbers = scattered(REQUESTS, count)
    gets, puts = [rows.get(each) for each in numbers], [rows.put(each) for each in numbers]
    yield Case("peer", "GetRow in turns with GetItem", gets, CONNECTIONS)
    yield Case("peer", "PutRow in turns with PutItem", puts, PUT_CONNECTIONS)


def moto_results(program: str, _directory: Path, settings: Settings) -> list[Result]:
    """Moto's server, which keeps everything in memory."""
    return measure_peer("moto", [program, "-H", "127.0.0.1", "-p"], TABLE_ROWS_SLOW, settings)


@contextmanager
def running(command: Sequence[str]) -> Iterator[Place]:
    """The server that `command` and a free port start, once it takes connections."""
    (port,) = free_ports(1)
    with subprocess.Popen(  # noqa: S603  # a program that the user installed
        [*command, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_for(port, process)
            yield Place(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.terminate()


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Return when the port takes connections. Raises: `ConnectionError` if it never does."""
    ends = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise ConnectionError(f"nothing answers on port {port}")
