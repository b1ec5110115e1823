"""Redis with every write synced (`appendfsync always`), asked by redis-benchmark.

A row is a hash of ten fields of a hundred bytes.
"""

import csv
import shutil
import subprocess
import time
from pathlib import Path
from typing import Final

from bench import rows
from bench.load import Outcome
from bench.measure import Case, Result, Settings, combine
from bench.peers.dynamodb import running
from bench.servers import Place, processor_seconds

TABLE_ROWS: Final = 100_000
CONNECTIONS: Final = (32, 128)
_RATE: Final = 15_000  # requests a second that a run is sized for


def program() -> str | None:
    """Path of the server; None if it, or its load generator, is not installed."""
    return shutil.which("redis-server") if shutil.which("redis-benchmark") else None


def commands() -> dict[str, list[str]]:
    """What is asked, by name; the benchmark puts a random number into each key."""
    fields = [part for at, text in enumerate(rows.texts()[0]) for part in (f"field{at}", text)]
    key = "user:__rand_int__"
    return {"HGETALL": ["HGETALL", key], "HSET": ["HSET", key, *fields]}


def results(server: str, directory: Path, settings: Settings) -> list[Result]:
    """One row read, and one row written and synced."""
    data = directory / "redis"
    data.mkdir()
    command = [server, "--dir", str(data), "--appendonly", "yes", "--appendfsync", "always"]
    command += ["--bind", "127.0.0.1", "--save", "", "--port"]
    measured = []
    with running(command) as place:
        benchmark(place, TABLE_ROWS * 2, 128, commands()["HSET"])  # most keys are there then
        for name, asked in commands().items():
            for connections in CONNECTIONS:
                case = Case("peer", f"Redis {name}", (), connections)
                count = round(settings.seconds * _RATE)
                runs = [timed(place, count, connections, asked) for _ in range(settings.repeats)]
                measured.append(combine(case, runs))
    return measured


def timed(place: Place, count: int, connections: int, asked: list[str]) -> tuple[Outcome, float]:
    """One run, and microseconds of the server's processor time for each request of it."""
    before, started = processor_seconds(place.process), time.perf_counter()
    figures = parse(benchmark(place, count, connections, asked))
    elapsed = time.perf_counter() - started
    used = processor_seconds(place.process) - before
    outcome = Outcome(
        count,
        elapsed,
        figures["p50_latency_ms"] * 1e3,
        figures["p99_latency_ms"] * 1e3,
        figures["max_latency_ms"] * 1e3,
        "redis-benchmark",
    )
    return outcome, used / count * 1e6


def benchmark(place: Place, count: int, connections: int, asked: list[str]) -> str:
    """What redis-benchmark printed."""
    port = place.endpoint.rpartition(":")[2]
    command = ["redis-benchmark", "-p", port, "-n", str(count), "-c", str(connections)]
    command += ["-r", str(TABLE_ROWS), "--csv", *asked]
    done = subprocess.run(  # noqa: S603  # a program of the system, arguments of ours
        command, check=True, capture_output=True, text=True
    )
    return done.stdout


def parse(said: str) -> dict[str, float]:
    """The figures of redis-benchmark's CSV, by the names in its head line."""
    head, line = list(csv.reader(said.strip().splitlines()))[-2:]
    return {name: float(value) for name, value in zip(head[1:], line[1:], strict=True)}
