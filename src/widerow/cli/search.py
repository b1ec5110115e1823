"""`widerow search`: ask a search index from the shell, and why it finds a row or does not.

Over the protocol, so of any endpoint that speaks Tablestore. A first word that is no command is a
table: `widerow search shop items 'title:tea'` is `widerow search query shop items 'title:tea'`.
"""

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from widerow.cli.flags import JSON_OUTPUT, Flag, listed, server_flags, with_flags
from widerow.cli.names import OneTable, TableName
from widerow.system import SystemClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from widerow.cli.search_why import SearchFinding
    from widerow.client.connection import Client
    from widerow.model.search.schema import SearchSchema
    from widerow.wire.tablestore import search_messages as m

__all__ = ["query_of", "search_app"]

_QUERY_EXAMPLES: Final = """Examples:

`widerow search shop items 'title:"green tea" AND price:[10 TO 20] tag:(a b) -sold:true'`

`widerow search shop items '{"TermQuery": {"field_name": "tag", "term": "a"}}' --output jsonl`

`widerow search shop items --sort=-price,_pk --limit 5 --columns title,price --group-by tag`
"""
_WHY_EXAMPLES: Final = """Examples:

`widerow search why shop items '["a", 7]' 'title:tea AND price:>10'` — the key as a JSON array

`widerow search why shop items a` — of a table whose key is one column
"""
_SERVER: Final = server_flags("The server; any that speaks Tablestore.")
_OUTPUTS: Final = ("table", "json", "jsonl")


class _Searching(TyperGroup):
    """Commands, and without the name of one a query."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  # click's, or typer's copy of it
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["query", *args]
        return super().parse_args(ctx, args)


_LIST_EXAMPLES: Final = """Examples:

`widerow search list` — of all tables of the instance

`widerow search list articles --json`
"""
_SHOW_EXAMPLES: Final = """Examples:

`widerow search show articles words`

`widerow search show articles words --json`
"""
search_app: Final = typer.Typer(
    cls=_Searching,
    help="Ask search indexes, and why they find a row or do not.",
    epilog="Example: `widerow search articles words title:tea`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_Index = Annotated[str, typer.Argument(metavar="INDEX", help="The index's name.")]
_Query = Annotated[
    str, typer.Argument(metavar="[QUERY]", help="A line of text, or JSON.", show_default=False)
]


@search_app.command("query", epilog=_QUERY_EXAMPLES)
@with_flags(
    *_SERVER,
    Flag("sort", str, "Fields, _score, _pk; - before one: descending.", "A,-B", None),
    Flag("limit", int, "How many rows.", "NUMBER", 10),
    Flag("columns", str, "These columns; * is all. Without it those of the index.", "A,B", None),
    Flag("group_by", str, "Count the rows of each value of this field.", "FIELD", None),
    Flag("highlight", str, "Mark what matched in these fields.", "A,B", None),
    Flag("output", str, "table, json or jsonl.", "FORM", "table"),
)
def query(table: TableName, index: _Index, query: _Query = "", **given: Any) -> None:  # noqa: ANN401  # by name
    """Find rows."""
    from widerow.cli.search_answer import (  # noqa: PLC0415  # only here
        answer_document,
        columns_of_index,
        print_answer,
    )

    if given["output"] not in _OUTPUTS:
        raise typer.BadParameter(f"write one of {', '.join(_OUTPUTS)}", param_hint="--output")
    with _connected(given) as client:
        schema = _schema_for(client, (table, index, query), given)
        shown = listed(given["columns"]) or columns_of_index(schema)
        request = _request((table, index, query), schema, shown, given)
        from widerow.wire.tablestore import search_messages as m  # noqa: PLC0415  # only here

        found = answer_document(client.call("Search", request, m.SearchResponse))
    if given["output"] == "json":
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
    elif given["output"] == "jsonl":
        for each in found["hits"]:
            sys.stdout.write(json.dumps(each, ensure_ascii=False) + "\n")
    else:
        print_answer(found, () if given["columns"] else shown)


@search_app.command("why", epilog=_WHY_EXAMPLES)
@with_flags(*_SERVER, JSON_OUTPUT)
def why(
    table: TableName,
    index: _Index,
    key: Annotated[str, typer.Argument(metavar="PK", help="A JSON array, or its only value.")],
    query: _Query = "",
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Say why an index finds a row or does not: its fields, its tokens, each clause of a query.

    Exit code 1 if the row is not found.
    """
    from widerow.cli.search_why import explain  # noqa: PLC0415  # it loads numpy

    with _connected(given) as client:
        described, schema = _described(client, table, index)
        row = _row(client, table, key)
    asked = None if not query else _decoded(query_of(query, schema))
    now_ms = SystemClock().now_us() // 1000
    found = explain(schema, row, asked, (described.time_to_live, now_ms))
    if given["as_json"]:
        document = [each._asdict() for each in found]
        sys.stdout.write(json.dumps({"findings": document}, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("".join(f"{_line(each)}\n" for each in found))
    raise typer.Exit(0 if all(each.good is not False for each in found if not each.depth) else 1)


@search_app.command("list", epilog=_LIST_EXAMPLES)
@with_flags(*_SERVER, JSON_OUTPUT)
def list_(
    table: OneTable = None,
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """List search indexes."""
    from widerow.wire.tablestore import search_messages as m  # noqa: PLC0415  # only here
    from widerow.wire.tablestore.operations.bodies import text  # noqa: PLC0415  # same

    asked = (
        m.ListSearchIndexRequest() if table is None else m.ListSearchIndexRequest(table_name=table)
    )
    with _connected(given) as client:
        answer = client.call("ListSearchIndex", asked, m.ListSearchIndexResponse)
    found = [{"table": text(e.table_name), "index": text(e.index_name)} for e in answer.indices]
    if given["as_json"]:
        sys.stdout.write(json.dumps({"indexes": found}) + "\n")
    else:
        sys.stdout.write("".join(f"{each['table']}  {each['index']}\n" for each in found))


@search_app.command("show", epilog=_SHOW_EXAMPLES)
@with_flags(*_SERVER, JSON_OUTPUT)
def show(table: TableName, index: _Index, **given: Any) -> None:  # noqa: ANN401  # by name
    """Show an index: its fields, how many rows it has, whether it is built."""
    from widerow.cli.search_answer import index_document, print_index  # noqa: PLC0415  # only here

    with _connected(given) as client:
        described, schema = _described(client, table, index)
    found = index_document(table, index, described, schema)
    if given["as_json"]:
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
    else:
        print_index(found)


def _line(found: "SearchFinding") -> str:
    mark = {True: "yes", False: "no ", None: "   "}[found.good]
    return f"{mark} {'  ' * found.depth}{found.text}"


@contextmanager
def _connected(given: dict[str, Any]) -> "Iterator[Client]":
    from widerow.cli.connection import endpoint_of  # noqa: PLC0415  # only to ask a server
    from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client  # noqa: PLC0415  # same

    with Client(endpoint_of(given), patience=FIRST_PATIENCE_SECONDS) as client:
        yield client


def _described(
    client: "Client", table: str, index: str
) -> "tuple[m.DescribeSearchIndexResponse, SearchSchema]":
    from widerow.wire.tablestore import search_messages as m  # noqa: PLC0415  # only here
    from widerow.wire.tablestore.operations.search.schemas import decode_schema  # noqa: PLC0415  # same
    from widerow.wire.tablestore.operations.search.unfolding import Unfolding  # noqa: PLC0415  # same

    asked = m.DescribeSearchIndexRequest(table_name=table, index_name=index)
    found = client.call("DescribeSearchIndex", asked, m.DescribeSearchIndexResponse)
    return found, decode_schema(found.schema, Unfolding())


def query_of(text: str, schema: "SearchSchema") -> "m.Query":
    """A query as people write it: a line of text, or JSON. Raises: `QueryUnreadable`."""
    from widerow.cli.search_json import query_of_json  # noqa: PLC0415  # only here
    from widerow.cli.search_text import placed_fields, query_of_text  # noqa: PLC0415  # same

    if text.lstrip().startswith("{"):
        return query_of_json(text)
    return query_of_text(text, placed_fields(schema.fields))


def _decoded(query: "m.Query") -> Any:  # noqa: ANN401  # a query of the model
    from widerow.wire.tablestore.operations.search.queries import decode_query  # noqa: PLC0415  # only here
    from widerow.wire.tablestore.operations.search.unfolding import Unfolding  # noqa: PLC0415  # same

    return decode_query(Unfolding(), query)


def _row(client: "Client", table: str, key: str) -> Any:  # noqa: ANN401  # a RowFound or None
    from widerow.cli.search_answer import key_of_text, row_found  # noqa: PLC0415  # only here
    from widerow.client.tables import known_table, read_rows  # noqa: PLC0415  # same

    facts = known_table(client, table)
    (row,) = read_rows(client, facts, [key_of_text(key, facts.key)])
    return None if row is None else row_found(row)


def _schema_for(
    client: "Client", asked: tuple[str, str, str], given: dict[str, Any]
) -> "SearchSchema":
    """The fields of the index, where the query or the columns follow from them; else none."""
    from widerow.model.search.schema import SearchSchema  # noqa: PLC0415  # only here

    table, index, text = asked
    if given["columns"] and (not text or text.lstrip().startswith("{")):
        return SearchSchema(())
    return _described(client, table, index)[1]


def _request(
    asked: tuple[str, str, str],
    schema: "SearchSchema",
    columns: "Sequence[str]",
    given: dict[str, Any],
) -> "m.SearchRequest":
    from widerow.cli.search_answer import columns_asked, sorters_of  # noqa: PLC0415  # only here
    from widerow.wire.tablestore import search_messages as m  # noqa: PLC0415  # same

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
