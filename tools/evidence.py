"""Recorded runs: one JSON line for each check, and tables of what some of them say together.

    python -m tools.evidence build/night/*/lines.jsonl

A check calls `record` when it is done. The line goes to stdout, and to the file that the
environment variable WIDEROW_EVIDENCE names; `python -m tools.night` names one for each night. The
command prints the tables of docs/internals/evidence.md, of the lines of these files alone.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

__all__ = ["VARIABLE", "Fact", "Line", "main", "record", "record_skipped", "tables"]

Fact = int | float | str
Line = Mapping[str, Fact | None]

ROOT: Final = Path(__file__).resolve().parents[1]
VARIABLE: Final = "WIDEROW_EVIDENCE"

_NO_FACTS: Final[Mapping[str, Fact]] = MappingProxyType({})
_COMMON: Final = (
    *("check", "commit", "dirty", "compiled", "recorded", "kernel", "python"),
    *("seed", "volume", "unit", "violations", "seconds", "skipped"),
)


def record(
    check: str,
    *,
    volume: int,
    unit: str,
    violations: int,
    seconds: float,
    seed: int | None = None,
    facts: Mapping[str, Fact] = _NO_FACTS,
) -> None:
    """Print one line of evidence, and append it to the file that WIDEROW_EVIDENCE names.

    `volume` counts independent trials, of which `unit` says what they are. `violations` is the sum
    of everything that must be 0. Numbers among `facts` are added up over runs; of what is measured
    or set (`_LARGEST`) the largest is told. A control, which must be caught, is a check of its own
    whose name begins with `control: `; its `violations` were not.
    """
    result: dict[str, Fact] = {
        "volume": volume,
        "unit": unit,
        "violations": violations,
        "seconds": round(seconds, 1),
    }
    _write({**_circumstances(check), "seed": seed, **result, "skipped": "", **facts})


def record_skipped(check: str, reason: str) -> None:
    """Print and append, as `record` does, that a check could not run here, and why."""
    result: dict[str, Fact] = {
        "volume": 0,
        "unit": "",
        "violations": 0,
        "seconds": 0.0,
        "skipped": reason,
    }
    _write({**_circumstances(check), "seed": None, **result})


def _circumstances(check: str) -> dict[str, Fact]:
    now = datetime.now(UTC)  # noqa: TID251  # when this very run was made
    return {
        "check": check,
        "commit": _git("rev-parse", "--short=12", "HEAD"),
        "dirty": int(bool(_git("status", "--porcelain", "--", "src"))),
        "compiled": int(_compiled()),
        "recorded": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def _compiled() -> bool:
    """Whether the servers of this run have the compiled modules: they get its PYTHONPATH."""
    found = find_spec("widerow.engine.engine")
    return found is not None and not str(found.origin).endswith(".py")


def _write(line: Line) -> None:
    text = json.dumps(dict(line))
    print(text, flush=True)
    kept = os.environ.get(VARIABLE)
    if kept:
        with Path(kept).open("a", encoding="utf-8") as file:
            file.write(text + "\n")


def _git(*arguments: str) -> str:
    command = ("git", "-C", str(ROOT), *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # fixed words
    return done.stdout.strip()


# --- tables of several runs ----------------------------------------------------------------------


def tables(lines: Sequence[Line]) -> str:
    """What ran, what was planted and had to be caught, and what was skipped, as Markdown."""
    skipped = [line for line in lines if line["skipped"]]
    parts = (
        _rows(_CHECK_HEAD, _summed(lines, controls=False), _check_cells),
        _rows(_CONTROL_HEAD, _summed(lines, controls=True), _control_cells),
        _rows(_SKIPPED_HEAD, skipped, lambda line: (str(line["check"]), str(line["skipped"]))),
    )
    return "\n".join(part for part in parts if part)


_CHECK_HEAD: Final = "| check | trials | of what | violations | less than, a trial | seen |"
_CONTROL_HEAD: Final = "| planted | times | caught |"
_SKIPPED_HEAD: Final = "| skipped | why |"


def _summed(lines: Sequence[Line], *, controls: bool) -> list[dict[str, Fact]]:
    """One line for each check that ran, counted over all its runs."""
    sums: dict[str, dict[str, Fact]] = {}
    for line in lines:
        name = str(line["check"])
        if line["skipped"] or name.startswith(_CONTROL) is not controls:
            continue
        total = sums.setdefault(name, {"check": name, "unit": str(line["unit"])})
        for key in ("volume", "violations", *_facts(line)):
            value = line[key]
            if isinstance(value, str) or value is None:
                continue
            known = total.get(key, 0)
            assert not isinstance(known, str)
            total[key] = max(known, value) if key.endswith(_LARGEST) else known + value
    return list(sums.values())


_CONTROL: Final = "control: "
_FEW: Final = 3  # of so few trials a bound would be above 100 %
# Measured or set, not counted: the largest is told.
_LARGEST: Final = (
    *("_ms", "_seconds", "_mb", "load"),
    *("corpus", "families", "clients", "connections", "servers"),
)


def _facts(line: Line) -> dict[str, Fact]:
    return {key: value for key, value in line.items() if key not in _COMMON and value is not None}


def _rows(head: str, lines: Sequence[Line], cells: Callable[[Line], Sequence[str]]) -> str:
    if not lines:
        return ""
    rule = "|" + "---|" * (head.count("|") - 1)
    return "\n".join((head, rule, *(f"| {' | '.join(cells(line))} |" for line in lines))) + "\n"


def _check_cells(line: Line) -> Sequence[str]:
    volume, violations = line["volume"], line["violations"]
    assert isinstance(volume, int)
    bound = f"{300 / volume:.2g} %" if volume > _FEW and not violations else ""
    seen = ", ".join(
        f"{key.replace('_', ' ')} {_number(value)}"
        for key, value in _facts(line).items()
        if not isinstance(value, str)
    )
    return str(line["check"]), _number(volume), str(line["unit"]), str(violations), bound, seen


def _control_cells(line: Line) -> Sequence[str]:
    name = str(line["check"]).removeprefix(_CONTROL)
    volume, missed = line["volume"], line["violations"]
    assert isinstance(volume, int)
    assert isinstance(missed, int)
    return name, str(volume), str(volume - missed)


def _number(value: object) -> str:
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 1 where there was a violation, or a control got away."""
    parser = argparse.ArgumentParser(description="What recorded runs say together.")
    parser.add_argument("files", nargs="+", type=Path, help="files of recorded lines")
    files = parser.parse_args(arguments).files
    lines: list[Line] = [
        json.loads(text)
        for file in files
        for text in file.read_text(encoding="utf-8").splitlines()
        if text
    ]
    print(tables(lines))
    return int(any(line["violations"] for line in lines))


if __name__ == "__main__":
    sys.exit(main())
