"""Tables in Markdown and in the terminal, made of the JSON of a run alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from bench.goals import FLOORS, Judged, judge

Document = Mapping[str, Any]

_TITLES: Final = {
    "disk": "The disk, without a server",
    "echo": "Bare echo: HTTP alone, bodies of equal size",
    "read": "Reads",
    "write": "Writes, each synced before it is answered",
    "observed": "What an index or a stream adds to a write",
    "ycsb": "YCSB core workloads (results count requests)",
    "size": "Cost as data grows",
    "width": "Cost as a row grows",
    "start": "Start (p50 is the median, p99 the slowest)",
    "sql": "Statements of SQL",
    "series": "Timeseries (rows are points)",
    "nosql": "Requests of NoSQL's drivers, in turns with those of Tablestore's clients",
    "fairness": "Fairness",
    "neighbours": "Neighbours",
    "peer": "Peers, the same row of 10 × 100 bytes",
    "curve": "Latency and throughput over connections",
}
_ALSO: Final = {
    "writes_per_sync": "{:.1f} writes/sync",
    "resident_mebibytes": "{:.0f} MiB",
    "engine_us": "engine {:.0f} µs",
    "scan_us": "scan {:.0f} µs",
    "hash_us": "hash {:.0f} µs",
    "first_us": "first {:.0f} µs",
    "last_us": "last {:.0f} µs",
}
_WORDS: Final = {True: "yes", False: "**no**", None: "not judged"}


def markdown(document: Document) -> str:
    """The whole report."""
    return "\n".join(
        (
            "# Results",
            "",
            *head(document),
            "",
            "## Goals",
            "",
            *goals_table(judge(document["results"])),
            "",
            "What is left when there is no database, held against two of these goals:",
            "",
            *goals_table(judge(document["results"], FLOORS)),
            "",
            *skipped(document["skipped"]),
            *groups(document["results"]),
        )
    )


def head(document: Document) -> Iterator[str]:
    """Where these numbers come from."""
    machine, settings = document["machine"], document["settings"]
    yield f"Made by `{document['command']}` at commit `{document['commit']}`, {document['date']}."
    yield (
        f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}; Python {machine['python']}, load average {document['load_average']} "
        "when the run began."
    )
    yield (
        f"Each case: warm-up of 1 s, then the median of {settings['repeats']} runs of "
        f"{settings['seconds']} s, sent by {document['generator']}. "
        "What is compared with an echo, with a sync, with a plain GetRow or with dynalite took "
        "turns with it, more of them. "
        "Load and server share the cores: trust ratios inside the run, not times."
    )
    versions = ", ".join(f"{name} {text}" for name, text in document["versions"].items())
    modules = "compiled" if document["compiled"] else "plain Python"
    yield f"Versions: {versions}; widerow's hot modules ran as {modules}."


def goals_table(judged: Iterable[Judged]) -> Iterator[str]:
    """Goal, bound, figure, met or not."""
    yield "| work | figure | goal | measured | met |"
    yield "|---|---|---|---|---|"
    for goal, figure, met in judged:
        sign = "≤" if goal.at_most else "≥"
        measured = "–" if figure is None else number(figure)
        yield (
            f"| {goal.work} | {goal.what} | {sign} {number(goal.bound)} | {measured} | "
            f"{_WORDS[met]} |"
        )


def skipped(notes: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """What the run left out, and why."""
    if notes:
        yield "Not measured:"
        yield ""
        for each in notes:
            yield f"* {each['name']}: {each['why']}"
        yield ""


def groups(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A table for each group of cases."""
    for group, title in _TITLES.items():
        found = [each for each in results if each["group"] == group]
        if not found:
            continue
        yield f"## {title}"
        yield ""
        yield "| case | connections | requests/s | p50 µs | p99 µs | CPU µs | rows/CPU s | |"
        yield "|---|--:|--:|--:|--:|--:|--:|---|"
        yield from map(line, found)
        yield ""


def line(result: Mapping[str, Any]) -> str:
    """One case."""
    cells = (
        result["name"],
        str(result["connections"]),
        *(number(result[each]) for each in ("per_second", "p50_us", "p99_us")),
        number(result["cpu_us"]) if result["cpu_us"] else "",
        number(result["rows_per_cpu_second"]) if result["rows"] > 1 else "",
        ", ".join(
            text.format(result["also"][name])
            for name, text in _ALSO.items()
            if name in result["also"]
        ),
    )
    return f"| {' | '.join(cells)} |"


def number(value: float) -> str:
    """Three figures that mean something, thousands apart."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
