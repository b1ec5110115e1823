"""Attacks on a server by people without the secret, or with a key to something else.

    python -m tools.hostile attacks      # every attack of the table, against a server of its own
    python -m tools.hostile bombs        # what compressed bodies cost that server
    python -m tools.hostile attacks --list

Each attack is one request, over a connection of its own, and must be refused: an answer of 200 is
an attack accepted, one of 500 or more a defect. Before and after, the victim's instance is read
from end to end; it must not change. The server logs all it can (`--log-level debug`), and neither
log, nor answers, nor metrics, nor a backup may show a secret. Right requests are sent as well, and
must be answered: a server that refuses everyone would pass otherwise.
Prints a line of JSON for each check; the exit code is 1 if anything was found.
"""

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from google.protobuf.message import DecodeError
from rich.progress import track
from tests.support.buffers import key_buffer
from tests.support.http import Sender, Wire, digest, encode_request
from tests.support.requests import (
    BODIES,
    DELIVERY_BODIES,
    SEARCH_BODIES,
    SERIES_BODIES,
    SQL_BODIES,
    STREAM_BODIES,
    TUNNEL_BODIES,
    get_range_request,
    put_row_request,
)
from tools.evidence import record, record_skipped
from tools.frames import FRAMES

from widerow.auth.signing import (
    SIGN_DATE,
    SIGN_REGION,
    SIGNATURE_V2,
    SIGNATURE_V4,
    Mac,
    canonical_request,
    derive_v4,
)
from widerow.limits import BODY_BYTES_MAX
from widerow.testing.process import WiderowProcess
from widerow.wire.tablestore.operations.table import OPERATIONS, OWN, UNSUPPORTED

__all__ = ["Attack", "Report", "Victim", "attacks", "main", "matrix", "run"]

TABLE: Final = "T"
SERIES: Final = "Series"
HOME: Final = "home"
ELSEWHERE: Final = "elsewhere"
CANARY: Final = "canary-c0ffee"  # in every secret, so that each can be looked for
TOKEN: Final = f"{CANARY}-token"


def _secret(name: str) -> str:
    return f"{CANARY}-{name}"


def _sender(name: str, instance: str = HOME) -> Sender:
    return Sender(name, _secret(name), instance)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


OWNER: Final = _sender("owner")
LIMITED: Final = ("read", "write", "manage")  # keys of these names may do that and no more
KEYS: Final = "\n".join(
    [
        f"[[key]]\nid = 'owner'\nsecret = '{_secret('owner')}'\ninstances = ['{HOME}']",
        f"[[key]]\nid = 'other'\nsecret = '{_secret('other')}'\ninstances = ['{ELSEWHERE}']",
        f"[[key]]\nid = 'token'\nsecret = '{_secret('token')}'\nsecurity_token = '{TOKEN}'",
        *(
            f"[[temporary_key]]\nid = '{name}'\nsecret = '{_secret(name)}'\n"
            f"security_token = '{TOKEN}'\nparent = '{parent}'\nexpires = {year}-01-01T00:00:00Z"
            for name, parent, year in (("ended", "owner", 2020), ("cut", "other", 2100))
        ),
        f"[[api_key]]\nname = 'page'\nsha256 = '{_sha256(_secret('page'))}'",
        *(
            f"[[key]]\nid = '{name}'\nsecret = '{_secret(name)}'\n"
            f"instances = ['{HOME}']\npermissions = ['{name}']"
            for name in LIMITED
        ),
    ]
)
"""A credentials file."""


class Attack(NamedTuple):
    """One request that must be refused; `family` and `name` say what it tries."""

    family: str
    name: str
    request: bytes


# --- the table -----------------------------------------------------------------------------------

SPOILERS: Final[dict[str, Callable[[str], str]]] = {
    "cut": lambda text: text[:-1],
    "cut to four": lambda text: text[:4],
    "without padding": lambda text: text.rstrip("="),
    "more padding": lambda text: text + "=",
    "longer": lambda text: text + "A",
    "in the other case": str.swapcase,
    "in lower case": str.lower,
    "in upper case": str.upper,
    "reversed": lambda text: text[::-1],
    "in hexadecimal": lambda text: base64.b64decode(text).hex(),
    "of another alphabet": lambda text: text.replace("+", "-").replace("/", "_") + "_",
    "stars": lambda text: "*" * len(text),
    "padding alone": lambda text: "=" * len(text),
    "of zeros": lambda text: base64.b64encode(bytes(len(base64.b64decode(text)))).decode(),
    "not ASCII": lambda text: "ü" * len(text),
    "of the length of the other version": lambda _: base64.b64encode(bytes(48)).decode(),
    "long": lambda _: "A" * 20_000,
    "quoted": lambda text: f'"{text}"',
    "twice": lambda text: f"{text},{text}",
}
INSTANCES: Final = (
    *(HOME.upper(), HOME.title(), HOME + "2", HOME[:-1], HOME + ".", HOME + "/", "/" + HOME),
    *(".", "..", f"../{HOME}", f"{ELSEWHERE}/../{HOME}", f"{HOME}%00", f"{HOME} {HOME}", "*"),
    *(f"{HOME},{ELSEWHERE}", f"{HOME};{ELSEWHERE}", "h\u00f6me", "a" * 256, "a" * 20_000),
)
DATES: Final = (
    *("9999-12-31T23:59:59.000Z", "0001-01-01T00:00:00.000Z", "10000-01-01T00:00:00.000Z"),
    *("never", "0", "2026-01-01", "2026-13-01T00:00:00.000Z", "2026-01-01T24:00:00.000Z"),
    *("2026-01-01T00:00:60.000Z", "Thu, 01 Jan 2026 00:00:00 GMT", "-2026-01-01T00:00:00.000Z"),
)
STRANGERS: Final = (
    *("stranger", "OWNER", "Owner", "owner2", "owne", "owner,other", "owner owner", "own\u0435r"),
    *("*", "%", "' or 1=1 --", "../owner", "a" * 20_000),
)
GUESSES: Final = ("", "owner", "widerow", CANARY, _secret("owner").upper(), _secret("owner")[:-1])

WELCOME: Final = {  # where the id is what is wrong
    **dict.fromkeys(("CommitTransaction", "AbortTransaction"), 400),
    **dict.fromkeys(("DescribeStream", "GetShardIterator", "GetStreamRecord"), 404),
    **dict.fromkeys(TUNNEL_BODIES, 400),
    **dict.fromkeys(("tunnel/create", "tunnel/list"), 200),
    "CreateDeliveryTask": 400,
    "DeleteDeliveryTask": 404,
    "DescribeDeliveryTask": 404,
    "DescribeTimeseriesAnalyticalStore": 404,  # asked about behind its end
}


def attacks() -> Iterator[Attack]:
    """All of them."""
    for family in (
        *(_signatures, _signatures_v4, _headers, _bodies, _dates, _who, _instances, _permissions),
        *(_replays, _tokens, _api_keys, _frames, _targets),
    ):
        yield from family()


def _bodies_of() -> Iterator[tuple[str, bytes]]:
    for action, make in {
        **BODIES,
        **STREAM_BODIES,
        **TUNNEL_BODIES,
        **DELIVERY_BODIES,
        **SEARCH_BODIES,
        **SERIES_BODIES,
        **SQL_BODIES,
    }.items():
        name = SERIES if action in SERIES_BODIES else TABLE
        yield action, make("Stolen" if action == "CreateTable" else name)
    yield "WiderowPartitions", b'{"table": "T"}'
    yield "WiderowIndexes", b'{"table": "T"}'
    yield "WiderowNodes", b"{}"


def _signatures() -> Iterator[Attack]:
    for action, body in _bodies_of():
        signed = OWNER.sign(action, OWNER.headers(body))
        for name, spoil in SPOILERS.items():
            headers = signed | {SIGNATURE_V2: spoil(signed[SIGNATURE_V2])}
            request = encode_request(f"/{action}", headers, body)
            yield Attack("signature", f"{action}: {name}", request)
        for guess in GUESSES:
            guesser = Sender("owner", guess, HOME)
            yield Attack("secret", f"{action}: {guess[-20:]!r}", guesser.request(action, body))


def _sign_v4(action: str, headers: dict[str, str], secret: str, day: str) -> dict[str, str]:
    headers = headers | {SIGN_DATE: day, SIGN_REGION: "home"}
    mac = Mac(derive_v4(secret.encode(), day, "home"), "sha256")
    signature = mac.sign(canonical_request(f"/{action}", headers) + b"ots").decode()
    return headers | {SIGNATURE_V4: signature}


def _signatures_v4() -> Iterator[Attack]:
    body = BODIES["GetRow"](TABLE)
    plain = OWNER.headers(body)
    day = plain["x-ots-date"][:10].replace("-", "")
    good = _sign_v4("GetRow", plain, OWNER.access_key_secret, day)
    for name, spoil in SPOILERS.items():
        headers = good | {SIGNATURE_V4: spoil(good[SIGNATURE_V4])}
        yield Attack("signature v4", name, encode_request("/GetRow", headers, body))
    for name, changed in (
        ("last year's day", _sign_v4("GetRow", plain, OWNER.access_key_secret, "20200101")),
        ("no day", _sign_v4("GetRow", plain, OWNER.access_key_secret, "")),
        ("another secret", _sign_v4("GetRow", plain, _secret("other"), day)),
        ("another region", good | {SIGN_REGION: "away"}),
        ("the day of another key", good | {SIGN_DATE: str(int(day) + 1)}),
        (
            "a V2 signature in its place",
            good | {SIGNATURE_V4: OWNER.sign("GetRow", plain)[SIGNATURE_V2]},
        ),
    ):
        yield Attack("signature v4", name, encode_request("/GetRow", changed, body))


def _headers() -> Iterator[Attack]:
    for action, body in _bodies_of():
        signed = OWNER.sign(action, OWNER.headers(body, request_tag="t"))
        for name in signed:
            rest = {other: value for other, value in signed.items() if other != name}
            yield Attack(
                "header taken", f"{action}: {name}", encode_request(f"/{action}", rest, body)
            )
        for name in ("x-ots-traceid", "x-ots-a", "x-ots-zzz", "X-OTS-Tag2"):
            more = signed | {name: "added"}
            yield Attack(
                "header added", f"{action}: {name}", encode_request(f"/{action}", more, body)
            )
        for name in signed:
            whole = encode_request(f"/{action}", signed, body)
            line = f"{name.title()}: {signed[name]}\r\n".encode()
            twice = whole.replace(b"host:", line + b"host:", 1)
            yield Attack("header twice", f"{action}: {name}", twice)


def _bodies() -> Iterator[Attack]:
    for action, body in _bodies_of():
        signed = OWNER.sign(action, OWNER.headers(body))
        other = body + b"\x00\x00"
        for name, sent in (("another", other), ("longer", body + b"\0")):
            yield Attack("body", f"{action}: {name}", encode_request(f"/{action}", signed, sent))
        forged = signed | {"x-ots-contentmd5": digest(other)}
        yield Attack(
            "body", f"{action}: with its digest", encode_request(f"/{action}", forged, other)
        )
        for name, text in (("lower", digest(body).lower()), ("none", "!"), ("sha", _sha(body))):
            request = OWNER.request(action, body, contentmd5=text)
            yield Attack("digest", f"{action}: {name}", request)


def _sha(body: bytes) -> str:
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


def _dates() -> Iterator[Attack]:
    for action, body in _bodies_of():
        for minutes in (-16, 16, -60 * 24, 60 * 24 * 365):
            request = OWNER.request(action, body, late_seconds=minutes * 60)
            yield Attack("date", f"{action}: {minutes} minutes", request)
    body = BODIES["PutRow"](TABLE)
    for date in DATES:
        yield Attack("date", date, OWNER.request("PutRow", body, date=date))


def _who() -> Iterator[Attack]:
    body = BODIES["PutRow"](TABLE)
    for name in STRANGERS:
        stranger = Sender(name, OWNER.access_key_secret, HOME)
        yield Attack("stranger", name[:20], stranger.request("PutRow", body))


def _instances() -> Iterator[Attack]:
    for action, body in _bodies_of():
        yield Attack("instance", f"{action}: theirs", _sender("other").request(action, body))
        yield Attack(
            "instance", f"{action}: ours", _sender("owner", ELSEWHERE).request(action, body)
        )
    body = BODIES["PutRow"](TABLE)
    for name in INSTANCES:
        yield Attack("instance", name[:20], _sender("owner", name).request("PutRow", body))
        yield Attack(
            "instance", f"{name[:20]}, other", _sender("other", name).request("PutRow", body)
        )


def matrix() -> Iterator[tuple[str, str, bool]]:
    """Action, key, and whether that key may: as docs/protocol/tablestore.md has it."""
    for action, operation in {**OPERATIONS, **OWN}.items():
        for name in LIMITED:
            yield action, name, operation.permission.value == name


def _permissions() -> Iterator[Attack]:
    bodies = dict(_bodies_of())
    for action, name, allowed in matrix():
        if not allowed:
            request = _sender(name).request(action, bodies[action])
            yield Attack("permission", f"{action}: {name}", request)


def _replays() -> Iterator[Attack]:
    for signed_for, body in _bodies_of():
        headers = OWNER.sign(signed_for, OWNER.headers(body))
        for action in (*OPERATIONS, "ListTable/", "GetRow?x=1", *sorted(UNSUPPORTED)[:3]):
            if action.partition("?")[0] != signed_for:  # a query means nothing in this protocol
                request = encode_request(f"/{action}", headers, body)
                yield Attack("replay", f"{signed_for} as {action}", request)


def _tokens() -> Iterator[Attack]:
    body = BODIES["PutRow"](TABLE)
    sender = _sender("token")
    for token in ("", "x", TOKEN.upper(), TOKEN + "x", TOKEN[:-1], f"{TOKEN},{TOKEN}", "ü"):
        yield Attack("token", token[-10:], sender.request("PutRow", body, ststoken=token))
    yield Attack("token", "of a key without", OWNER.request("PutRow", body, ststoken=TOKEN))
    guesser = Sender("token", "guess", HOME)
    yield Attack("token", "without secret", guesser.request("PutRow", body, ststoken=TOKEN))


def _api_keys() -> Iterator[Attack]:
    """The victim speaks no TLS: not even the right key opens anything (change §D5)."""
    page = _secret("page")
    for action, body in _bodies_of():
        for name, key in (("right", page), ("wrong", page[:-1])):
            headers = {"x-ots-instancename": HOME, "x-ots-apikey": key}
            request = encode_request(f"/{action}", headers, body)
            yield Attack("api key", f"{action}: {name}", request)
    body = BODIES["PutRow"](TABLE)
    unsigned = OWNER.headers(body)
    for name, key in (
        ("a secret", _secret("owner")),
        ("a digest", _sha256(page)),
        ("nothing", ""),
        ("long", "a" * 20_000),
    ):
        headers = unsigned | {"x-ots-apikey": key}
        yield Attack("api key", name, encode_request("/PutRow", headers, body))
    signed = OWNER.sign("PutRow", unsigned)
    beside = encode_request("/PutRow", signed | {"x-ots-apikey": page}, body)
    yield Attack("api key", "beside a signature that has it not", beside)
    for name in ("ended", "cut"):
        yield Attack("token", name, _sender(name).request("PutRow", body, ststoken=TOKEN))


def _frames() -> Iterator[Attack]:
    behind = OWNER.request("CreateTable", BODIES["CreateTable"]("Smuggled"))
    for name, frame in FRAMES.items():
        yield Attack("frame", name, frame)
        yield Attack("frame", f"{name}, and a request behind it", frame + behind)


def _targets() -> Iterator[Attack]:
    for target in (
        "/",
        "*",
        "/..",
        "/GetRow%00",
        "/%2e%2e/GetRow",
        "/GetRow;x",
        "/getrow",
        "/admin",
    ):
        headers = OWNER.sign("GetRow", OWNER.headers())
        yield Attack("target", target, encode_request(target, headers))
    for target in ("/control.sock", "/../../etc/passwd", "/metrics/../GetRow", "/debug", "/.git"):
        yield Attack(
            "target", f"GET {target}", f"GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
        )


# --- the victim ----------------------------------------------------------------------------------


class Victim:
    """A server with a table and a row in its instance, and all that it showed anyone."""

    def __init__(self, folder: Path) -> None:
        """Not started yet; its data and keys go to `folder`."""
        self.folder = folder
        keys = folder / "keys.toml"
        keys.write_text(KEYS)
        self.process = WiderowProcess(
            *("--path", str(folder / "data"), "--credentials", str(keys)),
            *("--log-level", "debug", "--log-format", "json"),
        )
        self.shown: list[bytes] = []

    def start(self) -> None:
        """Start it, and let the owner fill it."""
        self.process.start()
        put = put_row_request(TABLE, "kept").SerializeToString()
        for action, body in (("CreateTable", BODIES["CreateTable"](TABLE)), ("PutRow", put)):
            if self.ask(OWNER.request(action, body)) != 200:
                raise RuntimeError(f"the owner was refused: {action}")

    def stop(self) -> int:
        """End it; its exit code."""
        self.shown.append(self.process.written().encode())
        return self.process.stop()

    def ask(self, request: bytes) -> int:
        """The status that a request is answered with; 0 if the connection ends without answer."""
        with Wire(self.process.endpoint) as wire:
            try:
                answer = wire.ask(request)
            except ConnectionError:
                return 0
            self.shown.append(repr(answer).encode())
            self.shown.append(answer.body)
            with suppress(ConnectionError, TimeoutError, DecodeError):
                wire.socket.settimeout(0.002)
                behind = wire.read()  # an answer to what was smuggled in
                return behind.status if behind.status == 200 else answer.status
            return answer.status

    def state(self) -> list[bytes]:
        """Everything in the victim's instance."""
        rows = get_range_request(TABLE)
        rows.inclusive_start_primary_key = key_buffer((("k", ""), ("n", -(2**63))))
        rows.exclusive_end_primary_key = key_buffer((("k", "\U0010ffff"), ("n", 0)))
        asked = {
            "ListTable": b"",
            "ListTimeseriesTable": b"",
            "DescribeTable": BODIES["DescribeTable"](TABLE),
            "GetRange": rows.SerializeToString(),
        }
        with Wire(self.process.endpoint) as wire:
            return [wire.ask(OWNER.request(action, body)).body for action, body in asked.items()]

    def secrets_shown(self) -> int:
        """In how many places a secret shows, as it is or encoded."""
        with Wire(self.process.endpoint) as wire:
            self.shown.append(wire.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body)
        self.shown.append(self.process.written().encode())
        program = Path(sys.executable).with_name("widerow")
        backup = self.folder / "backup"
        command = (str(program), "backup", str(backup), "--path", str(self.folder / "data"))
        # Without the variables of this tool, which are settings for that program.
        rest = {name: value for name, value in os.environ.items() if "WIDEROW_" not in name}
        subprocess.run(command, check=True, capture_output=True, env=rest)  # noqa: S603  # our own program
        self.shown += [each.read_bytes() for each in backup.rglob("*") if each.is_file()]
        self.shown += [each.read_bytes() for each in (self.folder / "data").glob("LOG*")]
        plain = CANARY.encode()
        forms = (plain, plain.hex().encode(), base64.b64encode(plain)[:-4])
        return sum(form in place for place in self.shown for form in forms)


@dataclass
class Report:
    """What a run came to."""

    attacks: int = 0
    refused: int = 0
    accepted: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    families: Counter[str] = field(default_factory=Counter)
    changed: int = 0
    locked_out: int = 0
    secrets: int = 0

    @property
    def violations(self) -> int:
        """Everything that must be 0."""
        found = (len(self.accepted), len(self.defects), self.changed, self.locked_out, self.secrets)
        return sum(found)


def run(victim: Victim, table: Sequence[Attack]) -> Report:
    """Send every attack to a victim that runs, and right requests after them."""
    report = Report()
    before = victim.state()
    for attack in table:
        status = victim.ask(attack.request)
        report.attacks += 1
        report.families[attack.family] += 1
        if 400 <= status < 500 or status == 0:
            report.refused += 1
        elif status >= 500:
            report.defects.append(f"{attack.family}: {attack.name}: {status}")
        else:
            report.accepted.append(f"{attack.family}: {attack.name}")
    report.changed = int(victim.state() != before)
    report.secrets = victim.secrets_shown()
    bodies = dict(_bodies_of())
    last = (
        "DeleteSearchIndex",
        "DeleteTimeseriesTable",
        "DeleteTable",
    )  # what others are asked about goes last
    for action, name, allowed in sorted(
        matrix(), key=lambda row: last.index(row[0]) if row[0] in last else -1
    ):
        if allowed:
            status = victim.ask(_sender(name).request(action, bodies[action]))
            report.locked_out += status != WELCOME.get(action, 200)
    return report


def _attack(options: argparse.Namespace) -> int:
    table = list(attacks())
    if options.list:
        for attack in table:
            print(f"{attack.family}: {attack.name}")
        return 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="widerow-hostile-") as folder:
        victim = Victim(Path(folder))
        victim.start()
        try:
            report = run(victim, list(track(table, "attacks", transient=True)))
        finally:
            victim.stop()
    for line in (*report.accepted, *report.defects):
        print(line, file=sys.stderr)
    record(
        "attacks",
        volume=report.attacks,
        unit="attacks",
        violations=report.violations,
        seconds=time.monotonic() - begun,
        facts={
            "accepted": len(report.accepted),
            "server_errors": len(report.defects),
            "changed": report.changed,
            "secrets_shown": report.secrets,
            "rightful_refused": report.locked_out,
            "families": len(report.families),
        },
    )
    return int(report.violations > 0)


# --- bombs (wire §1.8) ---------------------------------------------------------------------------

BOMB_CPU_MS: Final = 100
BOMB_MB: Final = 64
_MIB: Final = 1024 * 1024


def bomb(gigabytes: int) -> bytes:
    """A zlib stream that inflates to so many gigabytes of zeros: a thousandth of its size."""
    squeeze = zlib.compressobj(9)
    start = squeeze.compress(b"") + squeeze.flush(zlib.Z_FULL_FLUSH)
    block = squeeze.compress(bytes(_MIB)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return start + block * (gigabytes * 1024)


class Cost(NamedTuple):
    """What one request cost the server's process."""

    status: int
    cpu_ms: float
    peak_mb: float


def cost_of(victim: Victim, request: bytes) -> Cost:
    """Send a request and look at the process in /proc: processor time, and memory at its peak."""
    place = Path(f"/proc/{victim.process.pid}")
    (place / "clear_refs").write_text("5")  # the peak begins anew
    before, resident = _cpu_ns(place), _kilobytes(place, "VmRSS")
    status = victim.ask(request)
    cpu = _cpu_ns(place) - before
    return Cost(status, cpu / 1e6, (_kilobytes(place, "VmHWM") - resident) / 1024)


def _cpu_ns(place: Path) -> int:
    tasks = (place / "task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def _kilobytes(place: Path, name: str) -> int:
    lines = (place / "status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(name + ":"))
    return int(found.split()[1])


def bombs() -> Iterator[tuple[str, bytes]]:
    """Compressed requests that want more room than they may have, signed as they should be."""
    large = bomb(10)  # ten megabytes: more than a body may have
    small = large[:BODY_BYTES_MAX]
    for name, body, size in (
        ("5 GB in 5 MB, announced as 5 MB", small, BODY_BYTES_MAX),
        ("5 GB in 5 MB, announced as 100 bytes", small, 100),
        ("5 GB in 5 MB, announced as 10 GB", small, 10 * 1024**3),
        ("10 GB in 10 MB, announced as 5 MB", large, BODY_BYTES_MAX),
        ("10 GB in 10 MB, announced as 10 GB", large, 10 * 1024**3),
    ):
        headers = OWNER.headers(body) | {
            "x-ots-request-compress-type": "deflate",
            "x-ots-request-compress-size": str(size),
        }
        yield name, encode_request("/GetRow", OWNER.sign("GetRow", headers), body)


def _bombs(_: argparse.Namespace) -> int:
    if not Path("/proc/self/schedstat").exists():
        record_skipped("deflate bombs", "needs /proc to see what a process costs")
        return 0
    begun = time.monotonic()
    costs = []
    with tempfile.TemporaryDirectory(prefix="widerow-hostile-") as folder:
        victim = Victim(Path(folder))
        victim.start()
        try:
            for name, request in bombs():
                cost = cost_of(victim, request)
                costs.append(cost)
                print(f"{name}: {cost}", file=sys.stderr)
        finally:
            victim.stop()
    wrong = [each for each in costs if not _is_cheap(each)]
    record(
        "deflate bombs",
        volume=len(costs),
        unit="bombs",
        violations=len(wrong),
        seconds=time.monotonic() - begun,
        facts={
            "cpu_ms": round(max(each.cpu_ms for each in costs), 1),
            "peak_mb": round(max(each.peak_mb for each in costs), 1),
        },
    )
    return int(bool(wrong))


def _is_cheap(cost: Cost) -> bool:
    return 400 <= cost.status < 500 and cost.cpu_ms <= BOMB_CPU_MS and cost.peak_mb <= BOMB_MB


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Attacks that must be refused.")
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser("attacks", help="every attack of the table")
    table.add_argument("--list", action="store_true", help="say what would be sent")
    table.set_defaults(run=_attack)
    commands.add_parser("bombs", help="what compressed bodies cost").set_defaults(run=_bombs)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
