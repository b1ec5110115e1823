"""Spoiled requests against a live server: whatever comes, it answers, and goes on.

    python -m tools.mutate --seconds 600 --seed 1
    python -m tools.mutate --seed 1 --case 4711        # one case again

From a right request of every action and variant (`recorded.py`), each case makes a wrong one
(`mutations.py`), signs it and sends it. Of each answer is asked: no status of 500 or more, a body
that is the action's response or an Error, its digest and signature, less than three seconds.
Between cases: a row that no request names still reads as it was written, and the server has logged
no defect. At the end the store is checked from key to key. A run is a matter of its seed alone.
Prints a line of JSON; the exit code is 1 if anything was found.
"""

import argparse
import json
import logging
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, so that a run can be repeated
from time import perf_counter
from typing import Final, NamedTuple

from google.protobuf.message import DecodeError, Message
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tests.support.http import Answer, Sender, Wire, digest, encode_request
from tests.support.requests import (
    BODIES,
    SERIES_BODIES,
    create_table_request,
    get_row_request,
    put_row_request,
)
from tools.mutations import mutate
from tools.recorded import NOW_MS, recorded

from widerow.engine.check import check_store
from widerow.errors import Rule
from widerow.model.streams import StreamRule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.tunnels import TunnelRule
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import delivery_messages as d
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import search_messages as f
from widerow.wire.tablestore import sql_messages as q
from widerow.wire.tablestore import timeseries_messages as p
from widerow.wire.tablestore import tunnel_messages as t

__all__ = [
    "RESET_CASES",
    "SECONDS_MAX",
    "Case",
    "Defects",
    "Finding",
    "Report",
    "case_of",
    "main",
    "note",
    "run",
    "serving",
]

SECONDS_MAX: Final = 3.0  # for one answer; most take a millisecond, a busy machine adds to it
RESET_CASES: Final = 100  # between two looks at the server, which also set its tables up again
BODY_SHOWN: Final = 4096  # bytes of a body in the report
KEPT: Final = "Kept_and_never_named"


_LOADED_LATER: Final = {
    "CreateSearchIndex": f.CreateSearchIndexResponse,
    "UpdateSearchIndex": f.UpdateSearchIndexResponse,
    "DeleteSearchIndex": f.DeleteSearchIndexResponse,
    "ListSearchIndex": f.ListSearchIndexResponse,
    "DescribeSearchIndex": f.DescribeSearchIndexResponse,
    "Search": f.SearchResponse,
    "ComputeSplits": f.ComputeSplitsResponse,
    "ParallelScan": f.ParallelScanResponse,
    "SQLQuery": q.SQLQueryResponse,
    "CreateDeliveryTask": d.CreateDeliveryTaskResponse,
    "DeleteDeliveryTask": d.DeleteDeliveryTaskResponse,
    "DescribeDeliveryTask": d.DescribeDeliveryTaskResponse,
    "ListDeliveryTask": d.ListDeliveryTaskResponse,
    "tunnel/create": t.CreateTunnelResponse,
    "tunnel/delete": t.DeleteTunnelResponse,
    "tunnel/list": t.ListTunnelResponse,
    "tunnel/describe": t.DescribeTunnelResponse,
    "tunnel/connect": t.ConnectResponse,
    "tunnel/heartbeat": t.HeartbeatResponse,
    "tunnel/shutdown": t.ShutdownResponse,
    "tunnel/getcheckpoint": t.GetCheckpointResponse,
    "tunnel/readrecords": t.ReadRecordsResponse,
    "tunnel/checkpoint": t.CheckpointResponse,
    "tunnel/getrpo": t.GetRpoResponse,
    "tunnel/getrpobyoffset": t.GetRpoResponse,
    "tunnel/schedule": t.ScheduleResponse,
}


def answer_of(action: str) -> Message:
    """An empty message of the type that an action answers with."""
    module = p if "Timeseries" in action else m
    made: Message = (_LOADED_LATER.get(action) or getattr(module, f"{action}Response"))()
    return made


class Case(NamedTuple):
    """One spoiled request."""

    number: int
    action: str
    variant: str
    mutations: str
    body: bytes
    headers: dict[str, str]


class Finding(NamedTuple):
    """What is wrong about an answer."""

    case: int
    action: str
    variant: str
    mutations: str
    what: str
    body: str


@dataclass
class Report:
    """What a run came to. `answers` counts codes, `OK` for success; `rules` those refused by."""

    seed: int
    cases: int = 0
    seconds: float = 0.0
    slowest_ms: float = 0.0
    actions: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def as_line(self) -> dict[str, object]:
        """For JSON."""
        return vars(self) | {"findings": [finding._asdict() for finding in self.findings]}


# --- cases ---------------------------------------------------------------------------------------


def case_of(seed: int, number: int, requests: Sequence[tuple[str, str, bytes]]) -> Case:
    """The case `number` of a seed: the same one whenever it is asked for."""
    chance = Random(f"{seed}:{number}")  # noqa: S311  # nothing here is secret
    action, variant, body = chance.choice(requests)
    mutations, body = mutate(chance, body)
    headers = {}
    if chance.random() < 0.03:
        size = len(body) + chance.choice((0, 0, 1, -1, 2**31))
        headers = {
            "x-ots-request-compress-type": "deflate",
            "x-ots-request-compress-size": str(size),
        }
        body = zlib.compress(body)[: chance.choice((None, None, None, -1))]
        mutations += ", deflated"
    return Case(number, action, variant, mutations, body, headers)


# --- the server ----------------------------------------------------------------------------------


class Defects(logging.Handler):
    """What the server logs about defects of its own: anything above a warning, with its frames."""

    def __init__(self) -> None:
        """Hears nothing until it is a handler of a logger."""
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what was logged."""
        self.said.append(f"{record.getMessage()} {getattr(record, 'facts', '')}")


class _Server:
    """A server, its log, and a row of it that nobody asks to change."""

    def __init__(self, server: WiderowServer, defects: Defects) -> None:
        self.sender = Sender(instance=server.instance)
        self._endpoint = server.endpoint
        self._defects = defects
        self.wire = Wire(server.endpoint)
        self._ask("CreateTable", create_table_request(KEPT).SerializeToString())
        self._ask("PutRow", put_row_request(KEPT, "kept").SerializeToString())
        self._kept = self._ask("GetRow", get_row_request(KEPT).SerializeToString()).body
        self.set_up()

    def set_up(self) -> None:
        """Table T and table Numbered with their row, Series, no others but the kept one."""
        tables = m.ListTableResponse.FromString(self._ask("ListTable", b"").body).table_names
        for table in set(tables) - {KEPT, "T", "Numbered"}:
            self._ask("DeleteTable", BODIES["DeleteTable"](table))
        if "T" not in tables:
            message = create_table_request("T")
            message.table_options.max_versions = 3
            self._ask("CreateTable", message.SerializeToString())
        if "Numbered" not in tables:
            message = create_table_request("Numbered")
            message.table_meta.primary_key.add(name="seq", type=1, option=1)
            self._ask("CreateTable", message.SerializeToString())
        self._ask("PutRow", put_row_request("T", "x").SerializeToString())
        listed = self._ask("ListTimeseriesTable", b"").body
        series = p.ListTimeseriesTableResponse.FromString(listed).table_metas
        for name in {str(each.table_name) for each in series}:
            self._ask("DeleteTimeseriesTable", SERIES_BODIES["DeleteTimeseriesTable"](name))
        for action in ("CreateTimeseriesTable", "PutTimeseriesData", "UpdateTimeseriesMeta"):
            self._ask(action, SERIES_BODIES[action]("Series"))

    def trouble(self) -> str:
        """What is wrong with the server apart from its answers; nothing, it is to be hoped."""
        said, self._defects.said = self._defects.said, []
        if said:
            return f"the server logged: {said[0]}"
        if self._ask("GetRow", get_row_request(KEPT).SerializeToString()).body != self._kept:
            return "a row changed that nobody asked to change"
        return ""

    def ask(self, case: Case) -> tuple[Answer | None, str]:
        """The answer to a case and what is wrong about it."""
        try:
            answer = self.wire.ask(self._request(case))
        except OSError as error:
            self.wire.socket.close()
            self.wire = Wire(self._endpoint)
            return None, f"no answer: {type(error).__name__}"
        return answer, self._wrong(case, answer)

    def _request(self, case: Case) -> bytes:
        headers = self.sender.headers(case.body) | case.headers
        return encode_request(f"/{case.action}", self.sender.sign(case.action, headers), case.body)

    def _wrong(self, case: Case, answer: Answer) -> str:
        if answer.status >= 500:
            return f"status {answer.status}: {answer.body[:200]!r}"
        if answer.headers.get("x-ots-contentmd5") != digest(answer.body):
            return "the digest is not that of the body"
        unopened = case.headers and answer.status in {400, 413}  # its answer is nobody's
        if not self.sender.signed(case.action, answer) and not unopened:
            return f"status {answer.status} is not signed: {answer.body[:200]!r}"
        message: Message = m.Error()
        if answer.status == 200:
            message = answer_of(case.action)
        try:
            message.ParseFromString(answer.body)
        except DecodeError:
            return f"status {answer.status} has a body that is not a {type(message).__name__}"
        return "" if message.IsInitialized() else f"{type(message).__name__} lacks a field"

    def _ask(self, action: str, body: bytes) -> Answer:
        answer = self.wire.ask(self.sender.request(action, body))
        if answer.status != 200:
            raise RuntimeError(f"a right {action} was answered {answer.error}")
        return answer


@contextmanager
def serving(path: Path | None) -> Iterator[_Server]:
    """A server on a directory, or in memory."""
    defects = Defects()
    log = logging.getLogger("widerow")
    log.addHandler(defects)
    try:
        with WiderowServer(path, clock=FakeClock(NOW_MS)) as server:
            asked = _Server(server, defects)
            try:
                yield asked
            finally:
                asked.wire.socket.close()
    finally:
        log.removeHandler(defects)


def run(
    seed: int,
    numbers: Iterator[int] | range,
    path: Path | None = None,
    tell: Callable[[Report], None] = lambda _: None,
) -> Report:
    """The cases `numbers` of `seed`, on a server of their own."""
    report = Report(seed)
    requests = recorded("T")
    started = perf_counter()
    with serving(path) as server:
        for number in numbers:
            case = case_of(seed, number, requests)
            _try(server, case, report)
            tell(report)
        _look(server, case_of(seed, 0, requests), report)
    report.seconds = round(perf_counter() - started, 3)
    if path is not None:
        with open_store(f"rocksdb:{path}") as store:
            for damage in check_store(store):
                report.findings.append(Finding(-1, "", "", "", f"the store: {damage}", ""))
    return report


def _try(server: _Server, case: Case, report: Report) -> None:
    begun = perf_counter()
    answer, what = server.ask(case)
    elapsed = perf_counter() - begun
    if not what and elapsed > SECONDS_MAX:
        what = f"it took {elapsed:.1f} s"
    report.cases += 1
    report.slowest_ms = max(report.slowest_ms, round(elapsed * 1000, 3))
    report.actions[case.action] += 1
    code = "none" if answer is None else "OK" if answer.status == 200 else answer.error[1]
    report.answers[code] += 1
    if answer is not None and answer.status != 200:
        report.rules[_rule_of(answer)] += 1
    note(report, case, what)
    if report.cases % RESET_CASES == 0 or (case.action == "DeleteTable" and code == "OK"):
        _look(server, case, report)


def _rule_of(answer: Answer) -> str:
    """The rule that a request broke, by the advice at the end of the hint."""
    told = answer.headers.get("x-widerow-hint", "")
    return next(
        (
            rule.name
            for rule in (*Rule, *StreamRule, *TunnelRule, *TablestoreRule, *TimeseriesRule)
            if told.endswith(rule.value)
        ),
        told,
    )


def _look(server: _Server, case: Case, report: Report) -> None:
    note(report, case, server.trouble())
    server.set_up()


def note(report: Report, case: Case, what: str) -> None:
    """Add what is wrong about the answer to a case, if anything is."""
    if what:
        body = case.body[:BODY_SHOWN].hex()
        said = Finding(case.number, case.action, case.variant, case.mutations, what, body)
        report.findings.append(said)


# --- the command ---------------------------------------------------------------------------------


def _numbers(options: argparse.Namespace) -> Iterator[int]:
    """Which cases, until their count or the time is used up."""
    if options.case is not None:
        yield options.case
        return
    begun, number = perf_counter(), 0
    while options.cases is None or number < options.cases:
        if options.seconds is not None and perf_counter() - begun >= options.seconds:
            return
        yield number
        number += 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Spoiled requests against a live server.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--cases", type=int, help="stop after so many; 10000 unless --seconds")
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--memory", action="store_true", help="no store on disk")
    options = parser.parse_args(arguments)
    if options.cases is None and options.seconds is None:
        options.cases = 10_000
    return options


Run = Callable[[int, Iterator[int], Path | None, Callable[[Report], None]], Report]


def main(arguments: Sequence[str] | None = None, cases: Run = run) -> int:
    """The command, for the cases of a protocol. Returns the exit code."""
    options = _options(arguments)
    columns = (TextColumn("cases"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    found = TextColumn("{task.fields[found]} found")
    with (
        tempfile.TemporaryDirectory(prefix="widerow-mutate-") as directory,
        Progress(*columns, found, disable=not sys.stderr.isatty()) as progress,
    ):
        task = progress.add_task("cases", total=options.cases, found=0)

        def tell(report: Report) -> None:
            progress.update(task, completed=report.cases, found=len(report.findings))

        path = None if options.memory else Path(directory) / "store"
        report = cases(options.seed, _numbers(options), path, tell)
    print(json.dumps(report.as_line()))
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
