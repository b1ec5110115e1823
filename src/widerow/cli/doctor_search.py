"""What `widerow doctor` says of search indexes: whether their files are what their tables say."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.engine import catalog_models
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.search.backlog import JournalBacklog
from widerow.model.values import KeyValue
from widerow.storage.interface import Store

if TYPE_CHECKING:
    from widerow.engine.tablestore.search.comparison import IndexComparison

__all__ = ["SearchReport", "print_search", "search_document", "search_report"]


@dataclass(frozen=True, slots=True)
class SearchReport:
    """The indexes that were compared. `directory`: that of the store."""

    indexes: "Sequence[IndexComparison]" = ()
    directory: Path | None = None

    @property
    def differs(self) -> bool:
        """Whether any index is not what its table says."""
        return any(each.differs for each in self.indexes)

    def advice(self, index: "IndexComparison") -> str:
        """What to do about an index that differs."""
        files = None if self.directory is None else self.directory / "search" / str(index.id)
        return f"remove {files}; the next start builds the index again from its table"


def search_report(
    store: Store, directory: Path | None, progress: Callable[[int], None]
) -> SearchReport:
    """Compare the files of all search indexes with their tables; nobody else has the store open.

    Over a database there are no files: every start builds. Raises `StoreDamaged`.
    """
    if directory is None:
        return SearchReport()
    tables = Tables(Catalog(store, catalog_models(TABLE_MODELS)), TABLESTORE_MODEL)
    if not any(table.search for table in tables.all()):
        return SearchReport()
    from widerow.engine.tablestore.search.comparison import compare_indexes  # noqa: PLC0415  # few stores have search indexes
    from widerow.engine.tablestore.search.live import IndexParts  # noqa: PLC0415  # few stores have search indexes
    from widerow.server.search.files import SearchDirectory  # noqa: PLC0415  # few stores have search indexes
    from widerow.server.search.host import ServerSearchHost  # noqa: PLC0415  # few stores have search indexes
    from widerow.system import SystemClock  # noqa: PLC0415  # few stores have search indexes

    host = ServerSearchHost(SearchDirectory(directory), 0)
    parts = IndexParts(store, tables, SystemClock(), host, JournalBacklog(), lambda _: True)
    return SearchReport(tuple(compare_indexes(parts, progress)), directory=directory)


def print_search(report: SearchReport) -> None:
    """A line for each index, and what to do about those that differ."""
    for each in report.indexes:
        sys.stdout.write(f"search index {each.index} of {each.table}: {_said(each)}\n")
        if each.differs:
            sys.stdout.write(f"  {report.advice(each)}\n")


def _said(index: "IndexComparison") -> str:
    if not index.is_built:
        return "has no files of use; the next start builds it"
    if index.damage:
        return f"its files are damaged: {index.damage}"
    kinds = (
        ("rows of the table that it lacks", index.missing),
        ("rows that the table does not have", index.extra),
        ("rows that it has otherwise", index.stale),
    )
    said = [
        f"{what}: {each.count}, {' '.join(map(_shown, each.keys))}"
        f"{' …' if each.count > len(each.keys) else ''}"
        for what, each in kinds
        if each.count
    ]
    return "; ".join(said) or f"{index.rows} rows, as the table has them"


def _shown(key: tuple[KeyValue, ...]) -> str:
    """A key as `widerow search why` takes it."""
    return json.dumps([_plain(each) for each in key], ensure_ascii=False)


def _plain(value: KeyValue) -> str | int:
    return value.hex() if isinstance(value, bytes) else value


def search_document(report: SearchReport) -> list[dict[str, object]]:
    """The report as a document, for `--json`."""
    return [
        {
            "table": each.table,
            "index": each.index,
            "built": each.is_built,
            "rows": each.rows,
            "damage": each.damage,
            **{
                kind: {"count": rows.count, "keys": [[_plain(v) for v in k] for k in rows.keys]}
                for kind, rows in (
                    ("missing", each.missing),
                    ("extra", each.extra),
                    ("stale", each.stale),
                )
            },
            "advice": report.advice(each) if each.differs else "",
        }
        for each in report.indexes
    ]
