"""`widerow doctor`: verify a store."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Given, command, switch
from widerow.cli.doctor_search import SearchReport, print_search, search_document, search_report
from widerow.cli.places import require_store
from widerow.cli.setting_flags import asked_settings, setting_flags
from widerow.engine.check import Finding, check_store
from widerow.engine.digest import store_digest
from widerow.errors import StoreDamaged
from widerow.server.settings import SettingsInvalid
from widerow.storage.directory import Acceptance, clear_damage_mark, mark_damaged
from widerow.storage.interface import Store
from widerow.storage.opener import is_in_database, open_store, shown_url, store_directory

__all__ = ["DOCTOR", "STORE_SETTINGS", "examine", "find"]

STORE_SETTINGS: Final = ("path", "store", "cache_mb")
"""The settings that say where a store is."""


def examine(given: Given) -> int:
    """Check the store that the settings name and print what was found; 1 if anything was.

    The files of search indexes are compared with their tables besides. What differs there is said,
    but is not damage of the store, which the next start serves.

    Raises: `WiderowError` when there is no such store or it cannot be opened.
    """
    settings, as_json = asked_settings(given), given["as_json"]
    try:
        directory = _existing(settings.store)
        store = open_store(
            settings.store, cache_bytes=settings.cache_bytes, acceptance=Acceptance.NOTED
        )
    except ValueError as error:
        raise SettingsInvalid(str(error)) from error
    with store, _progress(as_json=as_json) as progress:
        findings = find(store, progress)
        searched = SearchReport() if findings else search_report(store, directory, progress)
        summed = store_digest(store.snapshot(), progress=progress) if given["digest"] else None
    if directory is not None:
        _note(directory, findings)
    url = shown_url(settings.store)
    document = _document(url, findings, summed, searched)
    tell(given, document, lambda: _print(url, findings, summed, searched))
    return 1 if findings or searched.differs else 0


def find(store: Store, progress: Callable[[int], None]) -> list[Finding]:
    """What is wrong with a store, damage that ends the search included."""
    try:
        return check_store(store, progress=progress)
    except StoreDamaged as error:
        return [Finding("", "", f"{error}; what lies behind it was not looked at")]


def _note(directory: Path, findings: list[Finding]) -> None:
    """Leave a note for the next start, or take it away."""
    if not findings:
        clear_damage_mark(directory)
    else:
        mark_damaged(directory, f"widerow doctor: {findings[0].problem}")


def _existing(url: str) -> Path | None:
    """The directory of a store, None for one in a database. Opening creates; a doctor must not."""
    if url == "memory:":
        raise SettingsInvalid("a store in memory ends with its server; there is nothing to check")
    if is_in_database(url):
        return None  # where opening makes an empty table at most
    directory = store_directory(url)
    require_store(directory)
    return directory


@contextmanager
def _progress(*, as_json: bool) -> Iterator[Callable[[int], None]]:
    """A counter on the terminal, if stderr is one; else nothing is shown."""
    if as_json or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import Progress, SpinnerColumn, TextColumn  # noqa: PLC0415  # only to show something

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} records of this table checked"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda count: bar.update(task, completed=count)


def _document(
    url: str, findings: list[Finding], digest: str | None, searched: SearchReport
) -> dict[str, object]:
    document: dict[str, object] = {
        "store": url,
        "clean": not findings and not searched.differs,
        "findings": [
            {"table": each.table, "key": each.key, "problem": each.problem} for each in findings
        ],
        "search": search_document(searched),
    }
    if digest is not None:
        document["digest"] = digest
    return document


def _print(url: str, findings: list[Finding], digest: str | None, searched: SearchReport) -> None:
    _print_table(url, findings)
    print_search(searched)
    if digest is not None:
        sys.stdout.write(f"digest {digest}\n")


def _print_table(url: str, findings: list[Finding]) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    console = Console()
    if not findings:
        console.print(Text(f"{url}: every record is as it must be"))
        return
    table = Table("table", "key", "problem", title=Text(f"{len(findings)} findings in {url}"))
    for each in findings:
        table.add_row(Text(each.table), Text(each.key), Text(each.problem))
    console.print(table)


DOCTOR: Final = command(
    examine,
    JSON_OUTPUT,
    switch("digest", "Sum up everything: equal for equal stores."),
    *setting_flags(STORE_SETTINGS),
    examples="""
`widerow doctor --path /srv/widerow` — stop the server first
`widerow doctor --path /srv/widerow --json`
""",
)
