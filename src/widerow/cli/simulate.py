"""`widerow simulate`: a load replayed on so many nodes, as a table, as JSON and as a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, command, switch
from widerow.cli.flags import ENCODING, FILE_OF_ROWS, TABLE_OF_ROWS, TIME_COLUMN
from widerow.cli.partitions import fetch
from widerow.cli.progress import progress_bar
from widerow.engine.partitions.rules import Thresholds
from widerow.keydesign.heat_map import Legend, heat_map
from widerow.keydesign.replay import Replay, ReplayScript, ReplayStep, replay
from widerow.keydesign.script import ScriptInvalid, Tempo, recorded_script, sampled_script
from widerow.keydesign.server_rules import ServerRules
from widerow.keys.decode import decode_key_value
from widerow.model.values import KeyType
from widerow.pictures.png import PictureRefused, png
from widerow.pictures.shapes import Picture
from widerow.pictures.svg import svg
from widerow.row_files.source import FileSource

__all__ = ["SIMULATE"]

_ROWS_SHOWN: Final = 12
_MINUTE: Final = 60
_LONG_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is replayed, and how it is spoken of."""

    script: ReplayScript
    title: str
    subtitle: str
    names: Mapping[bytes, str]
    thresholds: Thresholds

    def time(self, second: float) -> str:
        """A moment of the replay: in minutes if it is long."""
        if self.script.seconds >= _LONG_SECONDS:
            return f"{second / _MINUTE:.0f} min"
        return f"{second:.0f} s"


def _simulate_load(given: Given) -> None:
    """Replay the rows of a file as load on a column, or the load that a server recorded.

    Raises: `WiderowError` for a source or a setting that does not do.
    """
    if given["nodes"] < 1:
        raise ScriptInvalid("--nodes is 1 or more")
    if (given["input"] is None) == (given["table"] is None):
        raise ScriptInvalid("give a file with --input or a table with --table, one of them")
    if given["split_units"] is not None and given["split_units"] <= 0:
        raise ScriptInvalid("--split-units is above 0")
    _check_pictures(given)
    _simulate(_sampled(given) if given["table"] is None else _recorded(given), given)


def _check_pictures(given: Given) -> None:
    """Raise `PictureRefused` for a file that no picture can be written to, before any work."""
    for path in map(Path, filter(None, (given["svg"], given["png"]))):
        if path.suffix.lower() not in {".svg", ".png"}:
            raise PictureRefused(f"{path}: a picture is named .svg or .png")
        if not path.parent.is_dir():
            raise PictureRefused(f"cannot write {path}: there is no folder {path.parent}")


def _sampled(given: Given) -> _Subject:
    if given["column"] is None:
        raise ScriptInvalid("name the column that is the partition key with --column")
    source = FileSource(Path(given["input"]), given["encoding"])
    tempo = Tempo(
        given["units_per_second"],
        given["minutes"] * _MINUTE,
        given["rhythm"],
        given["expected_rows"],
    )
    columns = (given["column"], given["time"])
    with progress_bar(f"reading {source.name}", source.total) as progress:
        made = sampled_script(source, columns, tempo, given["seed"], progress)
    subtitle = (
        f"{made.rows:,} rows of {source.name} in {given['minutes']:g} minutes at "
        f"{tempo.units_per_second:,.0f} write units per second, on {given['nodes']} nodes"
    )
    title = f"{given['column']} as the partition key"
    return _Subject(made.script, title, subtitle, made.names, Thresholds())


def _recorded(given: Given) -> _Subject:
    found = fetch(given["table"], {**given, "history": True})
    script = recorded_script(found["history"])
    kind = KeyType(found["key"]["type"])
    names = {load.key: _name(load.key, kind) for load in script.loads}
    subtitle = (
        f"load recorded on {found['instance']}/{found['table']} in "
        f"{_span(script.seconds)}, on {given['nodes']} nodes"
    )
    thresholds = Thresholds(**found["thresholds"])
    title = f"{found['key']['name']} as the partition key"
    return _Subject(script, title, subtitle, names, thresholds)


def _name(key: bytes, kind: KeyType) -> str:
    value, _ = decode_key_value(key, 0, kind)
    return value.hex() if isinstance(value, bytes) else str(value)


def _simulate(subject: _Subject, given: Given) -> None:
    names = subject.names
    thresholds = subject.thresholds
    if given["split_units"] is not None:
        thresholds = replace(thresholds, split_units=given["split_units"])
    rules = ServerRules(thresholds, lambda key: names.get(key, key.hex()))
    with progress_bar("replaying", len(subject.script.loads)) as progress:
        run = replay(subject.script, rules, given["nodes"], given["seed"], progress)
    for path in filter(None, (given["svg"], given["png"])):
        _write(heat_map(run, _legend(subject)), Path(path))
    tell(given, _document(subject, run), lambda: _print(subject, run))


def _write(picture: Picture, path: Path) -> None:
    """Write a picture, as the file's name says. Raises: `PictureRefused`."""
    data = svg(picture).encode() if path.suffix.lower() == ".svg" else png(picture)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise PictureRefused(f"cannot write {path}: {error.strerror}") from error


def _legend(subject: _Subject) -> Legend:
    names = subject.names
    lowest = min((load.key for load in subject.script.loads), default=b"")
    return Legend(
        subject.title,
        subject.subtitle,
        names.get(lowest, lowest.hex()),
        lambda key: names.get(key, key.hex()),
        subject.time,
    )


def _document(subject: _Subject, run: Replay) -> dict[str, object]:
    return {
        "title": subject.title,
        "replayed": subject.subtitle,
        "mean_skew": round(run.mean_skew, 4),
        "settled_skew": round(run.settled_skew, 4),
        "splits": run.count("splits"),
        "merges": run.count("merges"),
        "moves": run.count("moves"),
        "partitions": len(run.steps[-1].bounds) + 1,
        "reports": run.reports,
        "decisions": [
            {"second": round(second, 3), "what": each.what, "words": each.words}
            for second, each in run.decisions
        ],
        "steps": [step.document() for step in run.steps],
    }


def _print(subject: _Subject, run: Replay) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    console = Console()
    console.print(Text(subject.title, style="bold"))
    console.print(Text(subject.subtitle, style="dim"))
    columns = ("until", "units/s", "partitions", "splits", "merges", "moves", "skew")
    table = Table(*columns, "load of the nodes")
    for group in _groups(run.steps):
        ends = group[-1].start + group[-1].seconds
        table.add_row(*map(Text, (subject.time(ends), *_cells(group))))
    console.print(table)
    for line in _verdict(run):
        console.print(Text(line))


def _groups(steps: Sequence[ReplayStep]) -> list[Sequence[ReplayStep]]:
    """The steps in a dozen rows."""
    size = -(-len(steps) // _ROWS_SHOWN)
    return [steps[start : start + size] for start in range(0, len(steps), size)]


def _cells(group: Sequence[ReplayStep]) -> list[str]:
    last = group[-1]
    units = sum(step.units for step in group) / len(group)
    loads = [sum(each) / len(group) for each in zip(*(step.nodes for step in group), strict=True)]
    skew = max(loads) * len(loads) / sum(loads) if units else 1.0
    return [
        f"{units:,.0f}",
        f"{len(last.bounds) + 1}",
        *(f"{sum(int(getattr(each, what)) for each in group)}" for what in _EVENTS),
        f"{skew:.2f}",
        " ".join(f"{load:,.0f}" for load in loads),
    ]


_EVENTS: Final = ("splits", "merges", "moves")


def _verdict(run: Replay) -> list[str]:
    nodes = len(run.steps[0].nodes)
    counts = ", ".join(_count(run.count(what), what.removesuffix("s")) for what in _EVENTS)
    return [
        f"At the end {_count(len(run.steps[-1].bounds) + 1, 'partition')}, after {counts}.",
        (
            "In the second half the busiest node carried "
            f"{run.settled_skew:.2f} times the mean (1 is even, {nodes} is one node alone)."
        ),
        *(f"Not cured by splitting: {words}." for words in run.reports),
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _span(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} seconds"
    return f"{seconds / _MINUTE:,.0f} minutes"


SIMULATE: Final = command(
    _simulate_load,
    Flag("nodes", "Nodes that serve the partitions.", "NUMBER", int, required=True),
    FILE_OF_ROWS,
    ENCODING,
    Flag("column", "The column of the file that is the partition key.", "A"),
    *TABLE_OF_ROWS,
    TIME_COLUMN,
    Flag("units_per_second", "Write units per second, over all keys.", "NUMBER", float, 4000.0),
    Flag("minutes", "How long the replay takes, in its own time.", "NUMBER", float, 60.0),
    switch(
        "rhythm",
        "Keep the rhythm of the times; else the rows come at a steady rate in their order.",
    ),
    Flag("expected_rows", "Rows that the file stands for, for sizes.", "NUMBER", int),
    Flag(
        "split_units",
        "Units per second that split a partition; as the server has it, or 1000.",
        "NUMBER",
        float,
    ),
    Flag("seed", "Where partitions begin, and which sample of a long file.", "NUMBER", int, 0),
    Flag("svg", "Draw the heat map as SVG.", "FILE"),
    Flag("png", "Draw the heat map as PNG.", "FILE"),
    JSON_OUTPUT,
    examples="""
`widerow simulate --nodes 4 --input p.csv --column OrderNumber --time Time --svg order.svg`
`widerow simulate --nodes 8 --input p.csv --column CardID --units-per-second 20000 --json`
`widerow simulate --nodes 4 --table purchases --instance campus --png load.png` — what was recorded
""",
)
