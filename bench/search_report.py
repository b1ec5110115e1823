"""Measure everything about search and write bench/SEARCH.md: `python -m bench.search_report`.

    python -m bench.search_report [engines] [documents] [vectors] [beside]

Parts that are not named keep what they were measured at last (bench/search.json), so that each can
be measured when the machine is still. `engines` takes four minutes, `documents` three, the others
one each. For `engines`: `pip install tantivy`, and once
`mvn -f bench/search_peer dependency:copy-dependencies`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.machine import commit, machine

__all__ = ["GOALS", "Goal", "main", "markdown"]

_HERE: Final = Path(__file__).parent
_RESULTS: Final = _HERE / "search.json"
_PAGE: Final = _HERE / "SEARCH.md"
ENGINES_DOCUMENTS: Final = 200_000
COMMANDS: Final = {
    "engines": f"bench.search --documents {ENGINES_DOCUMENTS} --json",
    "documents": "bench.search_million documents",
    "vectors": "bench.search_million vectors",
    "beside": "bench.search_beside",
}
_TITLES: Final = {
    "engines": "Engines beside each other",
    "documents": "One index of a million documents",
    "vectors": "The nearest vectors",
    "beside": "A server: writes and searches beside each other",
}
_UNITS: Final = {"us": "µs", "ms": "ms", "s": "s", "mb": "MB"}
_HEAD: Final = """# Search indexes

Made by `make bench-search` (`bench/search_report.py`), part by part; what is measured and how is
said in `bench/search.py`, `bench/search_million.py` and `bench/search_beside.py`. What was decided
on these figures: [docs/internals/search.md](../docs/internals/search.md).
"""
_Rows = Sequence[Mapping[str, Any]]


class Goal(NamedTuple):
    """A figure of a part, which has to be `most` at most, or equal to `exactly`."""

    text: str
    figure: str
    most: float | None = None
    exactly: float | None = None

    def said(self, found: Mapping[str, Any]) -> str:
        """Whether it was met, with the figure."""
        value = found[self.figure]
        met = value <= self.most if self.most is not None else value == self.exactly
        return f"{self.text}: {value:,.3g}, {'met' if met else '**missed**'}"


GOALS: Final = {
    "documents": (
        Goal("indexing ≤ 60 µs of CPU time a document", "index_us", most=60),
        Goal("memory ≤ 800 MB", "memory_mb", most=800),
        Goal("reopening ≤ 1 s", "reopen_s", most=1),
        Goal("the first answer after that ≤ 1 s", "first_answer_s", most=1),
        Goal("groups ≤ 20 ms", "groups_p50_ms", most=20),
        Goal("groups with an average ≤ 20 ms", "groups_average_p50_ms", most=20),
    ),
    "vectors": (Goal("recall of 1", "recall", exactly=1.0),),
}


def markdown(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """The page, from what each part found."""
    sections = [_HEAD]
    sections += [_section(name, parts[name]) for name in COMMANDS if name in parts]
    return "\n".join(sections)


def _section(name: str, part: Mapping[str, Any]) -> str:
    at = part["machine"]
    head = (
        f"## {_TITLES[name]}\n\n`python -m {COMMANDS[name]}` at commit `{part['commit']}`, on "
        f"{at['processor']}, {at['cores']} cores, Python {at['python']}; load average "
        f"{part['load_average']} when the run began.\n"
    )
    rows: _Rows = part["rows"]
    goals = [f"* {goal.said(row)}" for row in rows for goal in GOALS.get(name, ())]
    return "\n".join([head, *_table(rows), "", *goals, ""] if goals else [head, *_table(rows), ""])


def _table(rows: _Rows) -> list[str]:
    """Figures in lines; what a row lacks stays empty. The first figure names a column."""
    fullest = max(rows, key=len)
    names = list(fullest)
    heads = [str(row[names[0]]) for row in rows]
    lines = [f"|{names[0]}|{'|'.join(heads)}|", "|---" * (len(rows) + 1) + "|"]
    for name in names[1:]:
        cells = [_number(row[name]) if name in row else "" for row in rows]
        lines.append(f"|{_label(name)}|{'|'.join(cells)}|")
    return lines


def _label(name: str) -> str:
    stem, _, unit = name.rpartition("_")
    return f"{stem.replace('_', ' ')}, {_UNITS[unit]}" if unit in _UNITS else name.replace("_", " ")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.3g}"


def _measured(name: str) -> dict[str, Any]:
    load = os.getloadavg()[0]
    module, *arguments = COMMANDS[name].split()
    command = (sys.executable, "-m", module, *arguments)
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  # our own programs
    found: Any = json.loads(ended.stdout.splitlines()[-1])
    return {
        "commit": commit(),
        "machine": machine(),
        "load_average": f"{load:.1f}",
        "rows": _rows(found),
    }


def _rows(found: Any) -> list[dict[str, Any]]:  # noqa: ANN401  # what a part prints
    """As rows with figures: from a list of them, one of them, or some by name."""
    if isinstance(found, list):
        return found
    if all(isinstance(each, dict) for each in found.values()):
        return [{"what": name, **figures} for name, figures in found.items()]
    return [found]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, keep, write the page."""
    parser = argparse.ArgumentParser(prog="bench.search_report", description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(COMMANDS), metavar="PART")
    wish = parser.parse_args(arguments)
    for name in wish.parts:
        found = _measured(name)
        kept: dict[str, Any] = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
        kept[name] = found
        _RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        _PAGE.write_text(markdown(kept))


if __name__ == "__main__":
    main()
