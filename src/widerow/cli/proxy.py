"""`widerow proxy`: until it is stopped, or until a recording is at its end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.auth.policy import AccessRules
from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, Positional, command, group, switch
from widerow.cli.flags import listed
from widerow.cli.process import loop_factory
from widerow.cli.profiles import profiles_path
from widerow.cli.progress import progress_bar
from widerow.cli.proxy_keys import ProfileKeys
from widerow.client.signing import Signer
from widerow.limits import REPLAY_CONCURRENCY_MAX
from widerow.logging import configure_logging
from widerow.proxy.comparing import DifferenceClass
from widerow.proxy.comparison import UNANSWERED
from widerow.proxy.exchange import ProxyFailed
from widerow.proxy.handling import ProxyCounts
from widerow.proxy.recording import RecordingWriter, recording_bytes
from widerow.proxy.replaying import replay_recording
from widerow.proxy.report import DifferenceReport
from widerow.proxy.service import EMBEDDED, ProxyService, ServerChoice, embedded_side
from widerow.server.credentials import CredentialsFile, load_identity
from widerow.server.metrics import Metrics
from widerow.server.settings import Settings
from widerow.system import SystemClock

__all__ = ["PROXY", "run_replay"]

_MODES: Final = ("diff", "record")
_SUFFIXES: Final = (".md", ".json")
_PARTS: Final = (2, 100_000)
_PART_MB: Final = (1, 16_384)


def _proxy(given: Given) -> int:
    """Pass on, compare or record until a signal; the exit code.

    Raises: `WiderowError` for what cannot be used.
    """
    if given["upstream"] is None:
        raise ProxyFailed("name the server that answers the clients with --upstream URL")
    if given["mode"] not in _MODES:
        raise ProxyFailed(f"--mode {given['mode']}: write diff or record")
    if given["mode"] == "record" and (given["against"] or given["report"]):
        raise ProxyFailed("--against and --report are for --mode diff; a replay compares")
    configure_logging("text", "info")
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        if given["mode"] == "record":
            return runner.run(_record(given))
        return runner.run(_compare(given))


async def _record(given: Given) -> int:
    _check_bounds("--part-mb", given["part_mb"], _PART_MB)
    _check_bounds("--parts", given["parts"], _PARTS)
    keys = _Keys(given)
    upstream = keys.upstream()
    with RecordingWriter(
        Path(given["recording"]),
        upstream.url,
        part_bytes=given["part_mb"] * 1024 * 1024,
        parts=given["parts"],
    ) as recording:
        counts = await _serve(
            ProxyService(upstream, recording=recording, identity=keys.identity()), given, keys
        )
    facts = {
        "recorded": recording.written,
        "requests": counts.requests,
        "unanswered": counts.failed,
        "not_recorded": counts.not_recorded,
        "dropped_parts": recording.dropped,
    }
    words = (
        f"{recording.written:,} of {counts.requests:,} requests are recorded in "
        f"{given['recording']}"
        + (f"; {counts.failed:,} had no answer" if counts.failed else "")
        + (f"; {counts.not_recorded:,} could not be written" if counts.not_recorded else "")
        + (f"; the {recording.dropped} oldest parts made room" if recording.dropped else "")
    )
    tell(given, facts, lambda: sys.stderr.write(f"{words}\n"))
    return 0


async def _compare(given: Given) -> int:
    keys = _Keys(given)
    upstream = keys.upstream()
    against = None
    if given["against"] is not None:
        signer = keys.signer(given["profile_for_against"])
        against = ServerChoice(given["against"], signer, _authorities(given))
    report = _report(upstream.url, given["against"] or EMBEDDED, given)
    identity = keys.identity()
    service = ProxyService(upstream, against=against, report=report, identity=identity)
    await _serve(service, given, keys)
    return _finish(report, given)


async def _serve(service: ProxyService, given: Given, keys: "_Keys") -> ProxyCounts:
    """Run a proxy until it is told to stop; what went by."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked.set)
    endpoint = await service.start(given["host"], given["port"])
    watching = loop.create_task(keys.watch(service))
    try:
        facts = {
            "endpoint": endpoint,
            "mode": given["mode"],
            "upstream": given["upstream"],
            "pid": os.getpid(),
        }
        tell(given, facts, lambda: _show_ready(facts))
        await asked.wait()
    finally:
        watching.cancel()
        await service.stop()
    return service.counts


def _show_ready(facts: Mapping[str, object]) -> None:
    words = " ".join(f"{name}={value}" for name, value in facts.items())
    sys.stdout.write(f"widerow proxy ready {words}\n")
    sys.stdout.flush()


def run_replay(recording: Path, given: Given) -> int:
    """Ask a server what was recorded; the exit code. Raises: `WiderowError`."""
    if (given["against"] is None) == (not given["memory"]):
        raise ProxyFailed("name a server with --against URL or give --memory, one of them")
    if given["speed"] is not None and not given["speed"] > 0:
        raise ProxyFailed(f"--speed is a number above 0, not {given['speed']:g}")
    _check_bounds("--concurrency", given["concurrency"], (1, REPLAY_CONCURRENCY_MAX))
    report = _report(f"the recording {recording}", given["against"] or EMBEDDED, given)
    size = recording_bytes(recording)
    with (
        progress_bar(f"replaying {recording}", size) as told,
        asyncio.Runner(loop_factory=loop_factory()) as runner,
    ):
        try:
            runner.run(_replay(recording, report, given, told))
        except ExceptionGroup as group:  # of tasks: the first says why
            raise group.exceptions[0] from group
    return _finish(report, given)


async def _replay(
    recording: Path, report: DifferenceReport, given: Given, told: Callable[[int], None]
) -> None:
    async with AsyncExitStack() as stack:
        if given["memory"]:
            other = await embedded_side(stack)
        else:
            signer = Signer("widerow", "widerow")
            if given["profile"] is not None:
                signer = ProfileKeys(profiles_path(os.environ)).signer(given["profile"])
            if given["instance"]:
                signer.instance = given["instance"]
            other = ServerChoice(given["against"], signer, _authorities(given)).side()
        stack.callback(other.upstream.close)
        await replay_recording(
            recording,
            other,
            report,
            SystemClock(),
            speed=given["speed"],
            concurrency=given["concurrency"],
            told=told,
        )


# --- what the flags say ----------------------------------------------------------------------


class _Keys:
    """Whose keys a proxy asks with, and whose it takes; files that change are read again."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._profiles = ProfileKeys(profiles_path(os.environ))
        self._file: CredentialsFile | None = None

    def signer(self, profile: str | None) -> Signer | None:
        """Who signs with the keys of a profile; None without one. Raises: `ProfileInvalid`."""
        return None if profile is None else self._profiles.signer(profile)

    def upstream(self) -> ServerChoice:
        """The server that answers clients. Raises: `ProfileInvalid`."""
        signer = self.signer(self._given["profile_for_upstream"])
        return ServerChoice(self._given["upstream"], signer, _authorities(self._given))

    def identity(self) -> AccessRules | None:
        """Who may ask, where the proxy asks in their place. Raises: `SettingsInvalid`."""
        if self._given["profile_for_upstream"] is None:
            return None
        settings = Settings(credentials=self._given["credentials"])
        if settings.credentials is None:
            return load_identity(settings)
        self._file = CredentialsFile(settings, Metrics())
        return self._file.load()

    async def watch(self, service: ProxyService) -> None:
        """Go by the files as they are, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._profiles.watch())
            if self._file is not None:
                tasks.create_task(self._file.watch(service.replace_identity))


def _authorities(given: Given) -> Path | None:
    return Path(given["authorities"]) if given["authorities"] else None


def _check_bounds(flag: str, number: int, bounds: tuple[int, int]) -> None:
    least, most = bounds
    if not least <= number <= most:
        raise ProxyFailed(f"{flag} is {least} to {most}, not {number}")


def _report(upstream: str, other: str, given: Given) -> DifferenceReport:
    """An empty report, once it is known that it can be written."""
    names = {each.value: each for each in DifferenceClass}
    for name in listed(given["ignore"]):
        if name not in names:
            raise ProxyFailed(f"--ignore {name}: the classes are {', '.join(names)}")
    for file in given["report"]:
        if Path(file).suffix not in _SUFFIXES:
            raise ProxyFailed(f"--report {file}: the name ends in .md or .json")
        if not Path(file).resolve().parent.is_dir():
            raise ProxyFailed(f"--report {file}: there is no such directory")
    return DifferenceReport(upstream, other, [names[each] for each in listed(given["ignore"])])


# --- what was found --------------------------------------------------------------------------


def _finish(report: DifferenceReport, given: Given) -> int:
    """Write the report everywhere it is wanted; the exit code."""
    document = report.document()
    lines = f"{json.dumps(document, ensure_ascii=False)}\n"
    for file in given["report"]:
        text = report.markdown() if file.endswith(".md") else lines
        try:
            Path(file).write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise ProxyFailed(f"cannot write {file}: {error.strerror}") from error
    tell(given, document, lambda: _print(report))
    return int(report.has_differences or bool(report.skipped[UNANSWERED]))


def _print(report: DifferenceReport) -> None:

    console = Console()
    shown = [kind for kind in DifferenceClass if any(found is kind for _, found in report.classes)]
    table = Table("action", "compared", "differing", *(kind.value for kind in shown))
    for action, count in sorted(report.compared.items()):
        kinds = [f"{report.classes[action, kind] or ''}" for kind in shown]
        table.add_row(action, f"{count:,}", f"{report.differing[action]:,}", *kinds)
    if report.compared:
        console.print(table)
    for each in report.examples:
        console.print(Text(f"{each.action}, {each.kind.value}: {each.told}"))
    for reason, count in report.skipped.items():
        console.print(Text(f"not compared, {reason}: {count:,}"))
    console.print(
        Text(f"{report.differing.total():,} of {report.compared.total():,} answers differ")
    )


# --- the commands ----------------------------------------------------------------------------

_REPORTS: Final = (
    Flag(
        "report",
        "Write the report to a file: .md for people, .json for programs; may be repeated.",
        "FILE",
        default=[],
    ),
    Flag(
        "ignore",
        "Classes that make no answer a different one: capacity, message, order and others.",
        "A,B",
    ),
    JSON_OUTPUT,
)
_AUTHORITIES: Final = "Certificates that may have signed those of the servers; else the system's."
_REPLAY: Final = command(
    run_replay,
    Positional("recording", "RECORDING", "Directory, or a part.", kind=Path),
    Flag("against", "The server to ask.", "URL"),
    switch("memory", "Ask a widerow that starts empty, in memory."),
    Flag("profile", "Sign as this profile; else as widerow/widerow.", "NAME"),
    Flag("instance", "Ask this instance; else the recorded one.", "NAME"),
    Flag(
        "speed",
        "So many times as fast as recorded; else as fast as it is answered.",
        "NUMBER",
        float,
    ),
    Flag("concurrency", "Requests at a time, where they touch different rows.", "NUMBER", int, 1),
    Flag("authorities", _AUTHORITIES, "FILE"),
    *_REPORTS,
    help="Ask a server what was recorded, and compare its answers with the recorded ones.",
    examples="""
`widerow proxy replay monday --against http://127.0.0.1:8087` — as fast as it is answered
`widerow proxy replay monday --against http://127.0.0.1:8087 --speed 1` — as it was recorded
`widerow proxy replay monday --memory --json` — against a widerow that starts empty
Exit codes: 0 no differences, 1 differences, 2 it could not be done.
""",
)
PROXY: Final = group(
    """
`widerow proxy --upstream http://127.0.0.1:8087 --mode diff` — against a widerow that starts empty
`widerow proxy --upstream https://shop.example.com --mode diff --against http://127.0.0.1:8087
--profile-for-against service --report differences.md`
`widerow proxy --upstream http://127.0.0.1:8087 --mode record --recording monday`
`widerow proxy replay monday --against http://127.0.0.1:8087 --report differences.md`
Exit codes: 0 no differences, 1 differences, 2 it could not be done.
""",
    {"replay": _REPLAY},
    Flag("upstream", "The server that answers the clients.", "URL"),
    Flag("mode", "What to do with what goes by: diff or record.", "MODE", default="diff"),
    Flag("against", "diff: the server to compare with; else one in memory.", "URL"),
    Flag("recording", "record: the directory to append to.", "DIR", default="recording"),
    Flag("part_mb", "record: megabytes of one file, before the next begins.", "NUMBER", int, 64),
    Flag("parts", "record: files to keep; the oldest goes.", "NUMBER", int, 64),
    Flag("host", "Address to listen on.", "ADDRESS", default="127.0.0.1"),
    Flag("port", "Port to listen on; 0 takes any.", "NUMBER", int, 8088),
    Flag(
        "profile_for_upstream",
        "Ask the upstream with the keys of this profile; clients then sign with those of "
        "--credentials.",
        "NAME",
    ),
    Flag(
        "profile_for_against",
        "Ask the other server with the keys of this profile; else as the client signed.",
        "NAME",
    ),
    Flag(
        "credentials",
        "File of the keys that clients sign with, as `widerow serve` has it; else widerow/widerow.",
        "FILE",
    ),
    Flag("authorities", _AUTHORITIES, "FILE"),
    *_REPORTS,
    run=_proxy,
    more="Listens like a server, and passes each request on to another one. Without a command: "
    "until SIGTERM or SIGINT.",
)
