"""`widerow doctor`: verify a store."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from widerow.engine.check import Finding, check_store
from widerow.server.settings import SettingsInvalid, resolve
from widerow.storage.opener import open_store

__all__ = ["examine"]


def examine(flags: Mapping[str, Any], *, as_json: bool) -> int:
    """Check the store that the settings name and print what was found; 1 if anything was.

    Raises: `WiderowError` when there is no such store or it cannot be opened.
    """
    given = dict(flags)
    file = given.pop("config", None)
    settings = resolve(given, file=Path(file) if file else None)
    _refuse_absent(settings.store)
    try:
        store = open_store(settings.store, cache_bytes=settings.cache_bytes)
    except ValueError as error:
        raise SettingsInvalid(str(error)) from error
    with store, _progress(as_json=as_json) as progress:
        findings = check_store(store, progress=progress)
    if as_json:
        _print_json(settings.store, findings)
    else:
        _print_table(settings.store, findings)
    return 1 if findings else 0


def _refuse_absent(url: str) -> None:
    """Opening creates; a doctor must not."""
    if url == "memory:":
        raise SettingsInvalid("a store in memory ends with its server; there is nothing to check")
    directory = Path(url.removeprefix("rocksdb:"))
    if not directory.is_dir():
        raise SettingsInvalid(f"there is no store at {directory}")


@contextmanager
def _progress(*, as_json: bool) -> Iterator[Callable[[int], None]]:
    """A counter on the terminal, if stderr is one; else nothing is shown."""
    if as_json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import Progress, SpinnerColumn, TextColumn  # noqa: PLC0415  # same

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} records of this table checked"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda count: bar.update(task, completed=count)


def _print_json(url: str, findings: list[Finding]) -> None:
    document = {
        "store": url,
        "clean": not findings,
        "findings": [
            {"table": each.table, "key": each.key, "problem": each.problem} for each in findings
        ],
    }
    sys.stdout.write(json.dumps(document) + "\n")


def _print_table(url: str, findings: list[Finding]) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # same
    from rich.text import Text  # noqa: PLC0415  # same

    console = Console()
    if not findings:
        console.print(Text(f"{url}: every record is as it must be"))
        return
    table = Table("table", "key", "problem", title=Text(f"{len(findings)} findings in {url}"))
    for each in findings:
        table.add_row(Text(each.table), Text(each.key), Text(each.problem))
    console.print(table)
