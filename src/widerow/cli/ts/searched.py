"""Commands on search indexes (ts-cli), as far as the vendor's page has their syntax."""

import json
from collections.abc import Iterable
from typing import Any, Final

from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.cli.tablestore.grid import Grid
from widerow.cli.tablestore.search_indexes import drop_search_index, listed_search_indexes
from widerow.cli.ts.command import TsCommand
from widerow.cli.ts.session import TsSession
from widerow.model.search.schema import SearchFieldType
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["DESCRIBE_SEARCH_INDEX", "DROP_SEARCH_INDEX", "LIST_SEARCH_INDEX"]

_TABLE: Final = ShellFlag("--table", "TABLE", "the table, if not the one in use", short="-t")
_NAME: Final = ShellFlag("--name", "NAME", "its name", required=True, short="-n")


def _list(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table")).name
    names = listed_search_indexes(session.client, table)
    if not names:
        session.write(f"No search index of {table}.")
        return
    session.show(Grid(("TableName", "IndexName"), [[table, each] for each in names]))


def _describe(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table")).name
    asked = m.DescribeSearchIndexRequest(table_name=table, index_name=given.get("--name"))
    found = session.client.call("DescribeSearchIndex", asked, m.DescribeSearchIndexResponse)
    routing = [text(each) for each in found.schema.index_setting.routing_fields]
    document = {
        "IndexSetting": {"RoutingFields": routing or None},
        "FieldSchemas": _fields(found.schema.field_schemas),
    }
    session.write(json.dumps(document, ensure_ascii=False, indent=4))


def _fields(sent: Iterable[m.FieldSchema]) -> list[dict[str, Any]]:
    """Fields under the names of the vendor's messages, as its own command writes them."""
    return [
        {
            "".join(part.capitalize() for part in field.name.split("_")): _value(field.name, value)
            for field, value in each.ListFields()
        }
        for each in sent
    ]


def _value(name: str, value: Any) -> Any:  # noqa: ANN401  # of any field of the message
    if name == "field_type":
        return SearchFieldType(value).name
    if name == "field_schemas":
        return _fields(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, bool | int | float | str):
        return value
    return str(value) if hasattr(value, "ListFields") else [text(each) for each in value]


def _drop(session: TsSession, given: Arguments) -> None:
    table, name = session.facts(given.get("--table")).name, given.get("--name") or ""
    drop_search_index(session.client, table, name)
    session.write(f"Dropped the search index {name} of {table}.")


LIST_SEARCH_INDEX: Final = TsCommand(
    name="list_search_index",
    description="Lists the search indexes of the table.",
    run=_list,
    flags=(_TABLE,),
    example="list_search_index -t mytable",
)
DESCRIBE_SEARCH_INDEX: Final = TsCommand(
    name="describe_search_index",
    description="Shows the schema of a search index.",
    run=_describe,
    flags=(_TABLE, _NAME),
    example="describe_search_index -t mytable -n find",
)
DROP_SEARCH_INDEX: Final = TsCommand(
    name="drop_search_index",
    description="Drops a search index; the rows stay.",
    run=_drop,
    flags=(_TABLE, _NAME),
    example="drop_search_index -t mytable -n find",
)
