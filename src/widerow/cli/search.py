"""`widerow search`: ask a search index from the shell, and why it finds a row or does not.

Over the protocol, so of any endpoint that speaks Tablestore. A first word that is no command is a
table: `widerow search shop items 'title:tea'` is `widerow search query shop items 'title:tea'`.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from widerow.cli.answers import print_document, print_row, tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, Positional, command, group
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import listed, server_flags
from widerow.cli.names import OPTIONAL_TABLE, TABLE_NAME
from widerow.cli.search_answer import (
    answer_document,
    columns_asked,
    columns_of_index,
    index_document,
    key_of_text,
    print_answer,
    print_index,
    row_found,
    sorters_of,
)
from widerow.cli.search_json import query_of_json
from widerow.cli.search_text import placed_fields, query_of_text
from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client
from widerow.client.tables import known_table, read_rows
from widerow.model.search.schema import SearchSchema
from widerow.system import SystemClock
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.search.queries import decode_query
from widerow.wire.tablestore.operations.search.schemas import decode_schema
from widerow.wire.tablestore.operations.search.unfolding import Unfolding

if TYPE_CHECKING:
    from widerow.cli.search_why import SearchFinding

__all__ = ["SEARCH", "query_of"]

_OUTPUTS: Final = ("table", "json", "jsonl")


def _query(table: str, index: str, query: str | None, given: Given) -> None:
    output = given["output"] or ("json" if given["as_json"] else "table")
    if output not in _OUTPUTS:
        raise click.BadParameter(f"write one of {', '.join(_OUTPUTS)}", param_hint="--output")
    if given["as_json"] and output != "json":
        raise click.BadParameter(f"--json and --output {output}: give one", param_hint="--output")
    asked = (table, index, query or "")
    with _connected(given) as client:
        schema = _schema_for(client, asked, given)
        shown = listed(given["columns"]) or columns_of_index(schema)
        request = _request(asked, schema, shown, given)
        found = answer_document(client.call("Search", request, m.SearchResponse))
    printers: dict[str, Callable[[], object]] = {
        "json": lambda: print_document(found),
        "jsonl": lambda: list(map(print_row, found["hits"])),
        "table": lambda: print_answer(found, () if given["columns"] else shown),
    }
    printers[output]()


def _why(table: str, index: str, key: str, query: str | None, given: Given) -> int:
    from widerow.cli.search_why import explain  # noqa: PLC0415  # it loads numpy

    with _connected(given) as client:
        described, schema = _described(client, table, index)
        row = _row(client, table, key)
    asked = None if not query else _decoded(query_of(query, schema))
    now_ms = SystemClock().now_us() // 1000
    found = explain(schema, row, asked, (described.time_to_live, now_ms))
    document = {"findings": [each._asdict() for each in found]}
    lines = "".join(f"{_line(each)}\n" for each in found)
    tell(given, document, lambda: sys.stdout.write(lines))
    return 0 if all(each.good is not False for each in found if not each.depth) else 1


def _list(table: str | None, given: Given) -> None:
    asked = (
        m.ListSearchIndexRequest() if table is None else m.ListSearchIndexRequest(table_name=table)
    )
    with _connected(given) as client:
        answer = client.call("ListSearchIndex", asked, m.ListSearchIndexResponse)
    found = [{"table": text(e.table_name), "index": text(e.index_name)} for e in answer.indices]
    lines = "".join(f"{each['table']}  {each['index']}\n" for each in found)
    tell(given, {"indexes": found}, lambda: sys.stdout.write(lines))


def _show(table: str, index: str, given: Given) -> None:
    with _connected(given) as client:
        described, schema = _described(client, table, index)
    found = index_document(table, index, described, schema)
    tell(given, found, lambda: print_index(found))


def _line(found: "SearchFinding") -> str:
    mark = {True: "yes", False: "no ", None: "   "}[found.good]
    return f"{mark} {'  ' * found.depth}{found.text}"


@contextmanager
def _connected(given: Given) -> Iterator[Client]:
    with Client(endpoint_of(given), patience=FIRST_PATIENCE_SECONDS) as client:
        yield client


def _described(
    client: Client, table: str, index: str
) -> "tuple[m.DescribeSearchIndexResponse, SearchSchema]":
    asked = m.DescribeSearchIndexRequest(table_name=table, index_name=index)
    found = client.call("DescribeSearchIndex", asked, m.DescribeSearchIndexResponse)
    return found, decode_schema(found.schema, Unfolding())


def query_of(text: str, schema: SearchSchema) -> m.Query:
    """A query as people write it: a line of text, or JSON. Raises: `QueryUnreadable`."""
    if text.lstrip().startswith("{"):
        return query_of_json(text)
    return query_of_text(text, placed_fields(schema.fields))


def _decoded(query: m.Query) -> Any:  # noqa: ANN401  # a query of the model
    return decode_query(Unfolding(), query)


def _row(client: Client, table: str, key: str) -> Any:  # noqa: ANN401  # a RowFound or None
    facts = known_table(client, table)
    (row,) = read_rows(client, facts, [key_of_text(key, facts.key)])
    return None if row is None else row_found(row)


def _schema_for(client: Client, asked: tuple[str, str, str], given: Given) -> SearchSchema:
    """The fields of the index, where the query or the columns follow from them; else none."""
    table, index, text = asked
    if given["columns"] and (not text or text.lstrip().startswith("{")):
        return SearchSchema(())
    return _described(client, table, index)[1]


def _request(
    asked: tuple[str, str, str], schema: SearchSchema, columns: Sequence[str], given: Given
) -> m.SearchRequest:
    table, index, text = asked
    wish = m.SearchQuery(limit=given["limit"], get_total_count=True, query=query_of(text, schema))
    wish.sort.sorter.extend(sorters_of(listed(given["sort"])))
    if not wish.sort.sorter:
        wish.ClearField("sort")
    for field in listed(given["highlight"]):
        wish.highlight.highlight_parameters.add(field_name=field, pre_tag="«", post_tag="»")
    if given["group_by"]:
        body = m.GroupByField(field_name=given["group_by"]).SerializeToString()
        wish.group_bys.group_bys.add(name=given["group_by"], type=1, body=body)
    return m.SearchRequest(
        table_name=table,
        index_name=index,
        columns_to_get=columns_asked(columns),
        search_query=wish.SerializeToString(),
    )


# --- the commands --------------------------------------------------------------------------------

_SERVER: Final = server_flags("The server; any that speaks Tablestore.")
_INDEX: Final = Positional("index", "INDEX", "The index's name.")
_LINE: Final = Positional("query", "[QUERY]", "A line of text, or JSON.", "?")
_QUERY: Final = command(
    _query,
    TABLE_NAME,
    _INDEX,
    _LINE,
    *_SERVER,
    Flag("sort", "Fields, _score, _pk; - before one: descending.", "A,-B"),
    Flag("limit", "How many rows.", "NUMBER", int, 10),
    Flag("columns", "These columns; * is all. Without it those of the index.", "A,B"),
    Flag("group_by", "Count the rows of each value of this field.", "FIELD"),
    Flag("highlight", "Mark what matched in these fields.", "A,B"),
    Flag("output", "table, json or jsonl; table if not given.", "FORM"),
    JSON_OUTPUT,
    help="Find rows.",
    examples="""
`widerow search shop items 'title:"green tea" AND price:[10 TO 20] tag:(a b) -sold:true'`
`widerow search shop items '{"TermQuery": {"field_name": "tag", "term": "a"}}' --output jsonl`
`widerow search shop items --sort=-price,_pk --limit 5 --columns title,price --group-by tag`
""",
)
_WHY: Final = command(
    _why,
    TABLE_NAME,
    _INDEX,
    Positional("key", "PK", "A JSON array, or its only value."),
    _LINE,
    *_SERVER,
    JSON_OUTPUT,
    help="Say why an index finds a row or does not: its fields, its tokens, clauses of a query.",
    more="Exit code 1 if the row is not found.",
    examples="""
`widerow search why shop items '["a", 7]' 'title:tea AND price:>10'` — the key as a JSON array
`widerow search why shop items a` — of a table whose key is one column
""",
)
_LIST: Final = command(
    _list,
    OPTIONAL_TABLE,
    *_SERVER,
    JSON_OUTPUT,
    help="List search indexes.",
    examples="""
`widerow search list` — of all tables of the instance
`widerow search list articles --json`
""",
)
_SHOW: Final = command(
    _show,
    TABLE_NAME,
    _INDEX,
    *_SERVER,
    JSON_OUTPUT,
    help="Show an index: its fields, how many rows it has, whether it is built.",
    examples="""
`widerow search show articles words`
`widerow search show articles words --json`
""",
)
SEARCH: Final = group(
    "Example: `widerow search articles words title:tea`",
    {"query": _QUERY, "why": _WHY, "list": _LIST, "show": _SHOW},
    default="query",
)
