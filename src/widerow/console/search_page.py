"""The page for searches of a table's indexes, in the language of `widerow search query`."""

import math

from widerow.console.grid import grid_columns, usual_columns
from widerow.console.parts import ConsoleRefused, PageDocument, Visit
from widerow.console.places import TablePlace, all_tables, asked_table, the_table
from widerow.console.refusals import with_refusal
from widerow.console.rows_page import shown_row
from widerow.limits import CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX
from widerow.model.search.requests import Hit
from widerow.model.search.schema import SearchField, SearchIndex
from widerow.model.tablestore.schema import Table
from widerow.rows.plain_values import decode_plain_rows

__all__ = ["show_search"]


def show_search(visit: Visit) -> PageDocument:
    """The hits of a search. Parameters: `index`, `query`, `sort`, `limit`; without a table, a list.

    Cost and bounds are those of a client's search. A query that cannot be read stays in its form,
    with the error.
    """
    if not visit.asked.get("table"):
        return {"choose": _searched(visit)}
    name = asked_table(visit)
    table = the_table(visit, name)
    document: PageDocument = {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "indexes": [each.name for each in table.search],
        "index": "",
        "fields": [],
        "query": visit.asked.get("query", ""),
        "sort": visit.asked.get("sort", ""),
        "limit": visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX),
        "found": None,
    }
    if not table.search:
        return document
    index = _index(visit, table)
    document |= {"index": index.name, "fields": _fields(index.schema.fields)}
    if "query" in visit.asked:
        return with_refusal(document, lambda: _found(visit, name, index, document))
    return document


def _searched(visit: Visit) -> list[PageDocument]:
    """The tables that have a search index."""
    tables = visit.parts.tablestore.tables
    return [
        {**each._asdict(), "indexes": [index.name for index in tables.find(*each[:2]).search]}
        for each in all_tables(visit)
        if each.model == "tablestore" and tables.find(*each[:2]).search
    ][:CONSOLE_ROWS_MAX]


def _index(visit: Visit, table: Table) -> SearchIndex:
    wanted = visit.asked.get("index", "")
    found = next((each for each in table.search if wanted in ("", each.name)), None)
    if found is None:
        raise ConsoleRefused(
            404, f"The table has no search index {wanted[:80]!r}.", "Choose one of the list."
        )
    return found


def _fields(fields: tuple[SearchField, ...], prefix: str = "") -> list[PageDocument]:
    found: list[PageDocument] = []
    for each in fields:
        kind = each.type.name + ("[]" if each.is_array else "")
        found.append({"name": prefix + each.name, "type": kind})
        found += _fields(each.fields, f"{prefix}{each.name}.")
    return found


def _found(
    visit: Visit, name: TablePlace, index: SearchIndex, document: PageDocument
) -> PageDocument:
    asked = name.name, index.name, document["query"]
    search = visit.languages.search(asked, document["sort"], document["limit"], index.schema)
    with visit.parts.long_work():
        answer = visit.parts.tablestore.search.search(name.instance, search)
    rows = [_hit(each) for each in answer.hits]
    kinds: dict[str, set[str]] = {}
    for cell in [cell for row in rows for cell in row["cells"]]:
        kinds.setdefault(cell["column"], set()).add(cell["versions"][0]["type"])
    usual = usual_columns([[cell["column"] for cell in row["cells"]] for row in rows])
    columns = grid_columns([(each, kinds[each]) for each in usual])
    scored = any(row["score"] is not None for row in rows)
    found = {"total": answer.total, "rows": rows, "columns": columns, "scored": scored}
    return {"found": found}


def _hit(hit: Hit) -> PageDocument:
    row = shown_row(decode_plain_rows(hit.row)[0])
    row["score"] = None if math.isnan(hit.score) else round(hit.score, 4)
    return row
