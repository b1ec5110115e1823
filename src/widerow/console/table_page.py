"""The page of one table of any model: schema, options, indexes, size, partitions."""

from collections.abc import Mapping
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.console.heat_page import describe_partition
from widerow.console.parts import ConsoleRefused, Moved, PageDocument, Visit, address, not_permitted
from widerow.console.places import (
    MODELS,
    TablePlace,
    asked_table,
    sizes_of,
    table_load_of,
    the_series_table,
    the_table,
    the_typed_table,
)
from widerow.engine.typed.ddl.text import definition_text, type_text
from widerow.engine.typed.form import TableForm
from widerow.limits import CONSOLE_PARTITIONS_MAX
from widerow.model.search.schema import SearchField
from widerow.model.tablestore.schema import Table
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.typed.schema_json import table_document

__all__ = ["show_table"]

_DROPPED_HERE: Final = ("tablestore", "nosql")  # a page of points writes nothing


def show_table(visit: Visit) -> PageDocument | Moved:
    """The document of a table, without reading its rows; with a form, the end of the table."""
    name = asked_table(visit)
    if visit.form is not None:
        return _drop(visit, name, visit.form)
    if name.model == "tablestore":
        described = _describe_table(visit, the_table(visit, name))
    elif name.model == "timeseries":
        now_us = visit.parts.engine_clock.now_us()
        described = _describe_series_table(the_series_table(visit, name), now_us)
    else:
        described = _describe_typed(the_typed_table(visit, name))
    partitions, more = _partitions(visit, name)
    return {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "model_name": MODELS[name.model],
        "may_write": visit.may(Permission.WRITE),
        "may_drop": visit.may(Permission.MANAGE) and name.model in _DROPPED_HERE,
        **described,
        "size": sizes_of(visit, [name]).get(name, {}),
        "partitions": partitions,
        "partitions_left_out": more,
        "endpoint": visit.parts.endpoint(),
    }


def _drop(visit: Visit, name: TablePlace, form: Mapping[str, str]) -> Moved:
    """Drop the table whose name was typed. Raises the refusals of the service."""
    if not visit.may(Permission.MANAGE):
        raise not_permitted(Permission.MANAGE)
    if name.model not in _DROPPED_HERE:
        raise ConsoleRefused(
            405,
            "The console does not drop timeseries tables.",
            "Send DeleteTimeseriesTable with an SDK.",
        )
    typed = form.get("confirm", "")
    if typed != name.name:
        raise ConsoleRefused(
            400,
            f"The name that was typed is {typed[:80]!r}, and the table is {name.name}.",
            "Type the name of the table as it is, if its rows may be lost.",
        )
    if name.model == "tablestore":
        plan = visit.parts.tablestore.delete_table(name.instance, name.name)
    else:
        plan = visit.parts.typed.drop_table(the_typed_table(visit, name))
    visit.parts.committer.run(plan)
    return Moved(address("", dropped=1))


def _partitions(visit: Visit, name: TablePlace) -> tuple[list[PageDocument], int]:
    """The first partitions of a table, and how many are left out."""

    def look() -> tuple[list[PageDocument], int]:
        divided, load = table_load_of(visit, name)
        kind = visit.parts.engine.partitions.partition_key(divided)
        facts = load.facts()
        whole = sum(each.rate for each in facts)
        shown = [describe_partition(each, kind, whole) for each in facts[:CONSOLE_PARTITIONS_MAX]]
        return shown, max(0, len(facts) - CONSOLE_PARTITIONS_MAX)

    return visit.parts.on_loop(look)


def _describe_table(visit: Visit, table: Table) -> PageDocument:
    """The definition of a Tablestore table.

    `lag_seconds` of an index: how far it is behind; None where this server does not know.
    """
    options, reserved = table.options, table.throughput.reserved
    lags = {
        each.name: round(each.seconds, 3)
        for each in visit.parts.engine.index_lags()
        if each.table == table.qualified
    }
    return {
        "id": table.id,
        "created_ms": table.created_us // 1000,
        "key": [
            {"name": each.name, "type": each.type.value, "auto_increment": each.auto_increment}
            for each in table.key_columns
        ],
        "columns": [{"name": each.name, "type": each.type.name} for each in table.defined_columns],
        "options": {
            "time_to_live": options.time_to_live,
            "max_versions": options.max_versions,
            "max_version_offset": options.max_version_offset,
            "allow_update": options.allow_update,
            "update_full_row": options.update_full_row,
            "local_transactions": table.local_transactions,
            "reserved_read": reserved.read,
            "reserved_write": reserved.write,
        },
        "indexes": [
            {
                "name": each.name,
                "kind": "local" if each.is_local else "global",
                "key": list(each.key_columns),
                "columns": list(each.defined_columns),
                "ready": each.ready,
                "lag_seconds": 0.0 if each.is_local else lags.get(each.name),
            }
            for each in table.indexes
        ],
        "search": [
            {"name": each.name, "fields": [_search_field(field) for field in each.schema.fields]}
            for each in table.search
        ],
        "stream": None if table.stream is None else {"hours": table.stream.expiration_hours},
        "tunnels": [each.name for each in table.tunnels],
        "deliveries": [each.name for each in table.deliveries],
    }


def _search_field(field: SearchField) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": field.type.name,
        "array": bool(field.is_array),
        "analyzer": None if field.analyzer is None else field.analyzer.name.value,
    }


def _describe_series_table(table: TimeseriesTable, now_us: int) -> PageDocument:
    """The definition of a timeseries table; `created_ms`: None, as no record of it is kept.

    `phase` of an analytical store: what it takes in, as clients are told.
    """
    options = table.options
    return {
        "id": table.id,
        "created_ms": None,
        "key": [
            *[{"name": each, "type": "STRING", "part": "series"} for each in table.key],
            {"name": "_time", "type": "INTEGER", "part": "time"},
            *[
                {"name": each.name, "type": each.type.value, "part": "field"}
                for each in table.field_keys
            ],
        ],
        "columns": [],
        "options": {
            "time_to_live": options.ttl_s,
            "meta_time_to_live": options.meta_ttl_s,
            "allow_update_attributes": options.update_attributes,
            "hashed": table.hashed,
            "meta_index": table.meta_index,
        },
        "indexes": [],
        "search": [],
        "lastpoints": [{"name": each.name, "ready": each.ready} for each in table.lastpoints],
        "stores": [
            {
                "name": each.name,
                "time_to_live": each.ttl_s,
                "sync": each.sync.name.lower(),
                "phase": each.phase(now_us).name.lower(),
            }
            for each in table.stores
        ],
        "stream": {"hours": table.stream.expiration_hours},
        "tunnels": [each.name for each in table.tunnels],
    }


def _describe_typed(form: TableForm) -> PageDocument:
    """The definition of a typed table."""
    table = form.table
    keys = set(table.primary_key)
    sharded = set(table.shard_key)
    types = dict(zip(table.primary_key, table.key_types, strict=True))
    return {
        "id": table.id,
        "created_ms": table.created_us // 1000,
        "key": [
            {"name": each, "type": type_text(types[each]), "shard": each in sharded}
            for each in table.primary_key
        ],
        "columns": [
            {"name": each.name, "type": type_text(each.type), "nullable": each.nullable}
            for each in table.fields
            if each.name not in keys
        ],
        "options": {
            "time_to_live": None if table.ttl is None else table.ttl.text(),
            "parent": table.parent,
            "comment": table.comment,
        },
        "indexes": [
            {
                "name": each.name,
                "kind": "secondary",
                "key": [field.path for field in each.fields],
                "columns": [],
                "ready": each.ready,
            }
            for each in table.indexes
        ],
        "search": [],
        "definition": definition_text(table),
        "document": table_document(table),
    }
