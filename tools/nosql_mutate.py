"""Spoiled requests of Oracle NoSQL's protocol against a live server, as `mutate.py` has others.

    python -m tools.nosql_mutate --seconds 600 --seed 1
    python -m tools.nosql_mutate --seed 1 --case 4711        # one case again

From a right frame of every request family, and from statements, each case makes a wrong one: bytes
of the frame; a value of any depth taken out, renamed, exchanged, nested or replaced; words of a
statement. Of each answer is asked: the status 200, a whole map or an error of the older form, no
internal error, less than three seconds. Between cases: a row that no request names still reads as
it was written, and the server has logged no defect. At the end the store is checked, every key.
"""

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, so that a run can be repeated
from time import perf_counter
from typing import Any, Final

from tests.fuzz.nson import SEEDS, TABLE
from tests.support.http import Answer, Wire
from tests.support.nosql_wire import Message, NosqlWire, post, read_answer, request
from tools.mutate import (
    RESET_CASES,
    SECONDS_MAX,
    Case,
    Defects,
    Finding,
    Report,
    main,
    note,
)
from tools.mutations import BODY_BYTES_MAX, FAMILIES, NUMBERS, other_words

from widerow.engine.check import check_store
from widerow.errors import InvalidRequest
from widerow.limits import NSON_DEPTH_MAX
from widerow.model.typed.values import JSON_NULL
from widerow.storage.opener import open_store
from widerow.testing.server import WiderowServer
from widerow.wire.nosql.nson import EMPTY_VALUE, Long, TimestampText, decode_map, encode
from widerow.wire.nosql.operations.names import NAMES

__all__ = ["RECORDED", "case_of", "mutate", "run", "serving"]

KEPT: Final = "KeptAndNeverNamed"
READ_KEPT: Final = "SELECT * FROM KeptAndNeverNamed"
LIMITS: Final = {"ru": 50, "wu": 50, "sg": 1, "mo": 1}
GET, PUT, PUT_IF_PRESENT, QUERY, GET_TABLE, LIST_TABLES, TABLE_REQUEST = 2, 3, 5, 7, 11, 14, 15
UNKNOWN_ERROR: Final = 125
STATEMENTS: Final = (
    "SELECT id, d + 1 AS more FROM t WHERE s = 1 AND n > 2.5 ORDER BY s, id LIMIT 3 OFFSET 1",
    "SELECT e, count(*) AS c, avg(d) FROM t WHERE s <= 9 GROUP BY e ORDER BY e",
    "SELECT t.j.x[0], t.m.keys(), size(t.a) FROM t WHERE t.a[] =any 2 AND EXISTS t.j.x",
    "SELECT CASE WHEN b THEN 'yes' ELSE 'no' END, cast(at AS STRING), [a[], 1] FROM t",
    "SELECT p.id, c.v FROM NESTED TABLES(t p DESCENDANTS(t.c c)) WHERE p.s = 1",
    "SELECT DISTINCT e FROM t WHERE regex_like(id, 'a.*') OR id IN ('a', 'b')",
    "INSERT INTO t(s, id, d) VALUES(2, 'b', 0.5) RETURNING *",
    "UPSERT INTO t VALUES(3, 'c', 1, 2, true, null, 'y', null, [1], {'a': 'b'}, {'x': 1}, {})",
    "UPDATE t SET d = d + 1, SET TTL 3 DAYS, PUT t.m {'z': 'q'} WHERE s = 1 AND id = 'a'",
    "UPDATE t ADD t.a 0 5, REMOVE t.j.x[0] WHERE s = 1 AND id = 'a' RETURNING a, j",
    "DELETE FROM t WHERE s = 9 RETURNING id",
)
CHILD: Final = "CREATE TABLE t.c (v INTEGER, w JSON, PRIMARY KEY(v)) USING TTL 3 DAYS"
DEFINITIONS: Final[dict[str, Message]] = {
    "CREATE TABLE v (k LONG GENERATED ALWAYS AS IDENTITY, n NUMBER, PRIMARY KEY(k))": {
        "lm": LIMITS
    },
    CHILD.replace("t.c", "t.other"): {},
    "ALTER TABLE t (ADD extra STRING DEFAULT 'x' NOT NULL, DROP d)": {},
    "CREATE INDEX IF NOT EXISTS byN ON t(n, j.y AS INTEGER)": {},
    "DROP INDEX IF EXISTS byN ON t": {},
    "DROP TABLE IF EXISTS v": {},
}


def _recorded() -> Iterator[tuple[str, str, bytes]]:
    frames = [seed for seed in SEEDS if seed[:2] == b"\0\4" and decode_map(seed, 2)]
    frames.append(request(PUT_IF_PRESENT, {"l": {"s": 1, "id": "a"}}))
    frames += [request(code, {}) for code in (24, 33, 34)]
    frames += [request(QUERY, {"qv": 4, "st": each, "nl": 5}) for each in STATEMENTS]
    frames += [
        request(TABLE_REQUEST, {"st": each} | more, "") for each, more in DEFINITIONS.items()
    ]
    for number, frame in enumerate(frames):
        yield NAMES[decode_map(frame, 2)["h"]["o"]], str(number), frame


RECORDED: Final = tuple(_recorded())
"""Operation, number and bytes of right frames; every family of requests is among them."""

# --- mutations -----------------------------------------------------------------------------------

_VALUES: Final[tuple[Any, ...]] = (
    *(number for number in NUMBERS if -(2**63) <= number < 2**63),
    *(0.0, -0.0, 1.5, 5e-324, 1e308, float("nan"), float("inf"), Decimal("1E999999"), Decimal(-1)),
    *("", "a", "x" * 70, "x" * 70_000, "t", "t.c", "t.nosuch", KEPT[:4], "1 DAYS", "\0", "é\u2028"),
    *(b"", b"\0" * 17, b"x" * 600, True, False, None, JSON_NULL, EMPTY_VALUE, Long(3)),
    *([], {}, [1, "a", None], {"a": {"b": []}}, TimestampText("2024-02-30"), TimestampText("")),
)

_Place = tuple[Any, Any]  # a map or list, and the name or number of a value in it


def _places(value: Any) -> Iterator[_Place]:  # noqa: ANN401  # any value
    """Every value inside a map or list."""
    for name in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, name
        if isinstance(value[name], dict | list):
            yield from _places(value[name])


def _remove(_: Random, place: _Place, __: Sequence[_Place]) -> None:
    del place[0][place[1]]


def _rename(chance: Random, place: _Place, every: Sequence[_Place]) -> None:
    inside, name = place
    if isinstance(inside, dict):
        other = chance.choice(every)[1]
        inside[str(other) if chance.random() < 0.7 else "x" * 70_000] = inside.pop(name)


def _replace(chance: Random, place: _Place, _: Sequence[_Place]) -> None:
    place[0][place[1]] = chance.choice(_VALUES)


def _exchange(chance: Random, place: _Place, every: Sequence[_Place]) -> None:
    inside, name = chance.choice(every)
    value = inside[name]
    if not isinstance(value, dict | list):
        place[0][place[1]] = value


def _nest(chance: Random, place: _Place, __: Sequence[_Place]) -> None:
    inside, name = place
    for _ in range(chance.choice((1, 2, 30, NSON_DEPTH_MAX - 5, NSON_DEPTH_MAX + 5))):
        inside[name] = {"a": inside[name]} if chance.random() < 0.5 else [inside[name]]


def _repeat(chance: Random, place: _Place, _: Sequence[_Place]) -> None:
    inside, name = place
    if isinstance(inside[name], list):
        inside[name] = inside[name] * chance.choice((0, 2, 30, 60))
    elif isinstance(inside, list):
        inside[name:name] = [inside[name]] * chance.choice((1, 2, 60))


def _respell(chance: Random, place: _Place, every: Sequence[_Place]) -> None:
    """Other words in a statement, or in whatever text there is."""
    texts = [each for each in every if isinstance(each[0][each[1]], str)]
    statements = [each for each in texts if each[1] == "st"]
    inside, name = chance.choice(statements or texts or [place])
    if isinstance(inside[name], str):
        for _ in range(chance.choice((1, 1, 2))):
            inside[name] = other_words(chance, inside[name])


_CHANGES: Final[dict[str, Callable[[Random, _Place, Sequence[_Place]], None]]] = {
    "removed": _remove,
    "renamed": _rename,
    "replaced": _replace,
    "exchanged": _exchange,
    "nested": _nest,
    "repeated": _repeat,
    "respelled": _respell,
}


def mutate(chance: Random, frame: bytes) -> tuple[str, bytes]:
    """`frame` spoiled once to three times, and the names of what was done."""
    done = []
    message = decode_map(frame, 2)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        every = list(_places(message))
        if not every:
            break
        name = chance.choice((*_CHANGES, "respelled", "respelled", "replaced"))
        _CHANGES[name](chance, chance.choice(every), every)
        done.append(name)
    spoiled = frame[:2] + encode(message)
    if chance.random() < 0.2:
        name = chance.choice(tuple(FAMILIES["bytes"]))
        spoiled = FAMILIES["bytes"][name](chance, spoiled)
        done.append(f"bytes {name}")
    return ", ".join(done), spoiled[:BODY_BYTES_MAX]


def case_of(seed: int, number: int) -> Case:
    """The case `number` of a seed: the same one whenever it is asked for."""
    chance = Random(f"{seed}:{number}")  # noqa: S311  # nothing here is secret
    name, variant, frame = chance.choice(RECORDED)
    mutations, body = mutate(chance, frame)
    return Case(number, name, variant, mutations, body, {})


# --- the server ----------------------------------------------------------------------------------


class _Server:
    """A server, its log, and a row of it that nobody asks to change."""

    def __init__(self, endpoint: str, defects: Defects) -> None:
        self._endpoint = endpoint
        self._defects = defects
        self.wire: Wire = NosqlWire(endpoint)
        kept = f"CREATE TABLE {KEPT} (k INTEGER, v STRING, PRIMARY KEY(k))"
        self._ask(TABLE_REQUEST, {"st": kept, "lm": LIMITS})
        self._ask(PUT, {"l": {"k": 1, "v": "kept"}}, KEPT)
        self._ask(QUERY, {"qv": 4, "st": READ_KEPT})  # loads what statements need
        self._kept = self._read_kept()
        self.set_up()

    def set_up(self) -> None:
        """Table t with a row, and no others but the kept one."""
        names = self._ask(LIST_TABLES, {"lx": 0, "ls": 0}).get("tb", [])
        for name in names:  # children first
            if name != KEPT:
                self._ask(TABLE_REQUEST, {"st": f"DROP TABLE {name}"})
        self._ask(TABLE_REQUEST, {"st": TABLE, "lm": LIMITS})
        self._ask(TABLE_REQUEST, {"st": CHILD})
        self._ask(PUT, {"l": {"s": 1, "id": "a", "d": 0.5, "j": {"x": [JSON_NULL, 1]}}}, "t")

    def _read_kept(self) -> Message:
        found: Message = self._ask(GET, {"k": {"k": 1}}, KEPT)["r"]
        return found

    def trouble(self) -> str:
        """What is wrong with the server apart from its answers; nothing, it is to be hoped."""
        said, self._defects.said = self._defects.said, []
        if said:
            return f"the server logged: {said[0]}"
        return (
            "" if self._read_kept() == self._kept else "a row changed that nobody asked to change"
        )

    def ask(self, case: Case) -> tuple[str, str]:
        """The code of the answer to a case and what is wrong about it."""
        try:
            answer = self.wire.ask(post(case.body))
        except OSError as error:
            self.wire.socket.close()
            self.wire = NosqlWire(self._endpoint)
            return "none", f"no answer: {type(error).__name__}"
        return _judged(answer)

    def _ask(self, code: int, payload: Message, table: str = "") -> Message:
        assert isinstance(self.wire, NosqlWire)
        return self.wire.call(code, payload, table)


def _judged(answer: Answer) -> tuple[str, str]:
    if answer.status != 200:
        return "none", f"status {answer.status}: {answer.body[:200]!r}"
    try:
        told = read_answer(answer.body)
    except (InvalidRequest, AssertionError, UnicodeDecodeError):
        return "none", f"the body is not an answer: {answer.body[:200]!r}"
    code, text = told.get("e", 0), told.get("x", "")
    if code == UNKNOWN_ERROR and "internal error" in text:
        return str(code), text
    return str(code) if code else "OK", "" if text or not code else "an error without a text"


@contextmanager
def serving(path: Path | None) -> Iterator[_Server]:
    """A server on a directory, or in memory."""
    defects = Defects()
    log = logging.getLogger("widerow")
    log.addHandler(defects)
    try:
        with WiderowServer(path) as server:
            asked = _Server(server.endpoint, defects)
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
    started = perf_counter()
    with serving(path) as server:
        case = case_of(seed, 0)
        for number in numbers:
            case = case_of(seed, number)
            _try(server, case, report)
            tell(report)
        note(report, case, server.trouble())
    report.seconds = round(perf_counter() - started, 3)
    if path is not None:
        with open_store(f"rocksdb:{path}") as store:
            report.findings += [
                Finding(-1, "", "", "", f"the store: {damage}", "") for damage in check_store(store)
            ]
    return report


def _try(server: _Server, case: Case, report: Report) -> None:
    begun = perf_counter()
    code, what = server.ask(case)
    elapsed = perf_counter() - begun
    if not what and elapsed > SECONDS_MAX:
        what = f"it took {elapsed:.1f} s"
    report.cases += 1
    report.slowest_ms = max(report.slowest_ms, round(elapsed * 1000, 3))
    report.actions[case.action] += 1
    report.answers[code] += 1
    note(report, case, what)
    if report.cases % RESET_CASES == 0:
        note(report, case, server.trouble())
        server.set_up()


if __name__ == "__main__":
    sys.exit(main(cases=run))
