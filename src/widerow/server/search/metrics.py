"""The metrics of search indexes."""

from collections.abc import Iterator

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.server.metrics import family
from widerow.server.scrapes import NamesShown

__all__ = ["search_lines"]

_GAUGES = (
    ("rows", "search_rows", "Rows that a search index has documents for."),
    ("memory_bytes", "search_memory_bytes", "Memory of a search index, without mapped files."),
    ("waiting", "search_waiting", "Written rows that a search index has still to take."),
    ("building", "search_building", "1 where a search index is being built over the table's rows."),
)


def search_lines(engine: TablestoreEngine, shown: NamesShown) -> Iterator[str]:
    """The lines of each search index in memory whose table is `shown`."""
    found = sorted(engine.search.statistics().items())
    told = [each for each in found if shown(each[0][0])]
    for key, name, text in _GAUGES:
        yield from family(name, "gauge", text)
        for (table, index), numbers in told:
            label = f'table="{table}",index="{index}"'
            yield f"widerow_{name}{{{label}}} {numbers[key]}"
