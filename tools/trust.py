"""Crash suites against a real server, at any volume. Each prints one JSON line.

    python -m tools.trust kill --cycles 200          # kill -9, half of them at named points
    python -m tools.trust power --disk xfs           # cut the power of a file system (root)
    python -m tools.trust control --disk ext4        # planted defects, each must be caught
    python -m tools.trust damage --each 40           # spoil file after file, read everything
    python -m tools.trust restart --megabytes 1024   # how long until it is back after a kill
    python -m tools.trust faults --every 1           # the n-th write, sync, ... fails (strace)
    python -m tools.trust full --cycles 10           # the disk fills up, and gets room again (root)

`python -m tools.trust kill --help` says what a suite takes. The exit code is 1 if anything was
lost, resurrected, torn or otherwise wrong, or a planted defect went unseen. What this machine
cannot run (no root, no such program) is recorded as skipped, and the exit code is 0.
"""

import argparse
import faulthandler
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tools.crash import faults, full, restart
from tools.crash.damage import Report, damages, make_template, try_damage
from tools.crash.disks import why_not
from tools.crash.ledger import Violation
from tools.crash.rounds import KillSite, Run, powered, run_rounds
from tools.evidence import Fact, record, record_skipped

__all__ = ["main"]

Tell = Callable[[int], None]

_SHOWN_MAX: Final = 20  # of what was wrong; more would say nothing new
_CONTROL_CUTS: Final = 3  # a planted defect that is not seen by then counts as missed
_DAMAGE_SECONDS_MAX: Final = 60.0  # a damaged store is opened and read in a tenth of one
_VARIANTS: Final = ("sync-off", "reply-before-sync", "reply-before-write")
_FULL_VARIANT: Final = "full-ignored"
_FULL_DISK: Final = "ext4"  # whose disks are filled up
_LAUNCHERS: Final = {"eatmydata": ("eatmydata",)}  # a library that makes syncs do nothing


@contextmanager
def _progress(what: str, total: int) -> Iterator[Tell]:
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)


def _kill(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    with (
        TemporaryDirectory(prefix="widerow-kill-") as directory,
        _progress("kills", options.cycles) as tell,
    ):
        site = KillSite(Path(directory))
        outcome = run_rounds(site, Run(options.cycles, options.seed, points=True), tell=tell)
    return _ended(
        "kill -9", outcome.cuts, "kills", outcome.violations, outcome.facts, options.seed, begun
    )


def _power(options: argparse.Namespace) -> int:
    check, reason = f"power cut, {options.disk}", why_not(options.disk)
    if reason:
        record_skipped(check, reason)
        return 0
    begun = time.monotonic()
    with powered(options.disk) as site, _progress("cuts", options.cycles) as tell:
        outcome = run_rounds(site, Run(options.cycles, options.seed), tell=tell)
    return _ended(
        check, outcome.cuts, "cuts", outcome.violations, outcome.facts, options.seed, begun
    )


def _control(options: argparse.Namespace) -> int:
    reason = why_not(options.disk)
    missed = 0
    for variant in (*_VARIANTS, *_LAUNCHERS):
        launcher = _LAUNCHERS.get(variant, ())
        absent = f"{launcher[0]} is not installed" if launcher and not which(launcher[0]) else ""
        if reason or absent:
            record_skipped(f"control: {variant}", reason or absent)
            continue
        begun = time.monotonic()
        caught = cuts = 0
        for turn in range(options.times):
            run = Run(
                _CONTROL_CUTS,
                options.seed + turn,
                variant="" if launcher else variant,
                launcher=launcher,
            )
            with powered(options.disk) as site:
                outcome = run_rounds(site, run, enough=lambda each: bool(each.violations))
            caught += bool(outcome.violations)
            cuts = max(cuts, outcome.cuts)
        facts: dict[str, Fact] = {"disk": options.disk, "cuts_most": cuts}
        missed += _control_ended(variant, options, caught, facts, begun)
    if options.disk == _FULL_DISK:
        missed += _full_control(options, reason)
    return int(bool(missed))


def _full_control(options: argparse.Namespace, reason: str) -> int:
    """How often a server that does not notice a full disk was missed."""
    if reason:
        record_skipped(f"control: {_FULL_VARIANT}", reason)
        return 0
    begun = time.monotonic()
    caught = 0
    for turn in range(options.times):
        with TemporaryDirectory(prefix="widerow-full-") as directory:
            outcome = full.run_full(
                Path(directory), 1, seed=options.seed + turn, variant=_FULL_VARIANT
            )
        caught += bool(outcome.violations)
    return _control_ended(_FULL_VARIANT, options, caught, {"disk": options.disk}, begun)


def _control_ended(
    variant: str,
    options: argparse.Namespace,
    caught: int,
    facts: Mapping[str, Fact],
    begun: float,
) -> int:
    """Record a planted defect. Returns how often it was missed."""
    missed: int = options.times - caught
    record(
        f"control: {variant}",
        volume=options.times,
        unit="plantings",
        violations=missed,
        seconds=time.monotonic() - begun,
        seed=options.seed,
        facts=facts,
    )
    return missed


def _damage(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    report = Report()
    for killed in (True, False):
        with TemporaryDirectory(prefix="widerow-damage-") as name:
            directory = Path(name)
            template = make_template(directory, killed=killed, seed=options.seed)
            planned = list(damages(template, each=options.each, seed=options.seed))
            with _progress(f"damages of {template.name}", len(planned)) as tell:
                for done, damage in enumerate(planned, 1):
                    # An engine that never comes back keeps the interpreter's lock: only this ends
                    # it. The directory stays, with the damaged copy in it.
                    faulthandler.dump_traceback_later(_DAMAGE_SECONDS_MAX, exit=True)
                    try_damage(template, damage, directory, report)
                    tell(done)
        faulthandler.cancel_dump_traceback_later()
    return _ended(
        "damaged files", report.tried, "damages", report.wrong, report.facts, options.seed, begun
    )


def _faults(options: argparse.Namespace) -> int:
    reason = faults.why_not()
    if reason:
        record_skipped("failing calls", reason)
        return 0
    begun = time.monotonic()
    report = faults.Report()
    kinds = [(name, error) for error in faults.ERRORS for name in faults.CALLS]
    with (
        TemporaryDirectory(prefix="widerow-faults-") as name,
        _progress("kinds of calls", len(kinds)) as tell,
    ):
        directory = Path(name)
        base = faults.make_base(directory)
        for done, (call, error) in enumerate(kinds, 1):
            for _ in faults.calls_until_untouched(
                base, directory, call, error, report, step=options.every
            ):
                pass
            tell(done)
    return _ended("failing calls", report.tried, "calls", report.wrong, report.facts, None, begun)


def _full(options: argparse.Namespace) -> int:
    reason = why_not(_FULL_DISK)
    if reason:
        record_skipped("disk full and back", reason)
        return 0
    begun = time.monotonic()
    with (
        TemporaryDirectory(prefix="widerow-full-") as directory,
        _progress("times full", options.cycles) as tell,
    ):
        outcome = full.run_full(Path(directory), options.cycles, seed=options.seed, tell=tell)
    return _ended(
        "disk full and back",
        outcome.cycles,
        "times full",
        outcome.violations,
        outcome.facts,
        options.seed,
        begun,
    )


def _restart(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    with (
        TemporaryDirectory(prefix="widerow-restart-") as directory,
        _progress("restarts", options.cycles) as tell,
    ):
        outcome = restart.run_restarts(
            Path(directory) / "store",
            options.cycles,
            megabytes=options.megabytes,
            seed=options.seed,
            tell=tell,
        )
    slow = sum(each > restart.RESTART_SECONDS_MAX for each in outcome.starts)
    record(
        f"restart after kill -9, {options.megabytes} MB",
        volume=len(outcome.starts),
        unit="restarts",
        violations=outcome.lost,
        seconds=time.monotonic() - begun,
        seed=options.seed,
        facts={
            "slower_than_3_s": slow,
            "lost": outcome.lost,
            "p50_seconds": round(outcome.p50, 2),
            "p99_seconds": round(outcome.p99, 2),
            "processor_seconds": max(outcome.worked),
            "load": round(os.getloadavg()[0], 1),
            "files_mb": outcome.megabytes,
            "logs_mb": outcome.log_megabytes,
        },
    )
    return int(bool(outcome.lost) or outcome.p99 > restart.RESTART_SECONDS_MAX)


def _ended(
    check: str,
    volume: int,
    unit: str,
    wrong: Sequence[Violation] | Sequence[str],
    facts: Mapping[str, Fact],
    seed: int | None,
    begun: float,
) -> int:
    """Say what was wrong and record the run. Returns the exit code."""
    for each in wrong[:_SHOWN_MAX]:
        print(each if isinstance(each, str) else " ".join(map(str, each)), file=sys.stderr)
    record(
        check,
        volume=volume,
        unit=unit,
        violations=len(wrong),
        seconds=time.monotonic() - begun,
        seed=seed,
        facts=facts,
    )
    return int(bool(wrong))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    suites = parser.add_subparsers(required=True, metavar="SUITE")
    kill = suites.add_parser("kill", help="kill -9, half of the time at named points")
    kill.set_defaults(run=_kill)
    power = suites.add_parser("power", help="cut the power of a file system (root)")
    power.set_defaults(run=_power)
    control = suites.add_parser("control", help="planted defects, each must be caught (root)")
    control.set_defaults(run=_control)
    control.add_argument("--times", type=int, default=1, help="how often each is planted")
    damage = suites.add_parser("damage", help="spoil file after file, read everything")
    damage.set_defaults(run=_damage)
    damage.add_argument("--each", type=int, default=8, help="flips a file (%(default)s)")
    failing = suites.add_parser("faults", help="the n-th call of a kind fails (strace)")
    failing.set_defaults(run=_faults)
    failing.add_argument("--every", type=int, default=9, help="only every so many (%(default)s)")
    filling = suites.add_parser("full", help="the disk fills up, and gets room again (root)")
    filling.set_defaults(run=_full)
    starting = suites.add_parser("restart", help="how long until it is back after a kill")
    starting.set_defaults(run=_restart)
    starting.add_argument("--megabytes", type=int, default=1024, help="of data (%(default)s)")
    for suite in (kill, power, filling, starting):
        suite.add_argument("--cycles", type=int, default=20, help="how many (%(default)s)")
    for suite in (power, control):
        suite.add_argument("--disk", choices=("ext4", "xfs"), default="ext4")
    for suite in (kill, power, control, damage, filling, starting):
        suite.add_argument("--seed", type=int, default=1)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    options = _parser().parse_args(arguments)
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
