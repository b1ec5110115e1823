"""The JSON text of a table as GET_TABLE answers it (nosql-wire §5.2)."""

import json

from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.table import TimeToLive, TypedTable
from widerow.model.typed.types import JSON, LONG
from widerow.wire.nosql.schema_text import cloud_schema_json


def made(builder: TableBuilder) -> TypedTable:
    return builder.add_field("k", LONG).add_field("j", JSON).primary_key("k").build()


def test_the_time_of_before_images_stands_behind_the_time_to_live() -> None:
    builder = TableBuilder("t").ttl(TimeToLive.days(5)).before_image(TimeToLive.hours(24))
    told = json.loads(cloud_schema_json(made(builder), None, []))
    assert list(told)[3:7] == ["name", "ttl", "beforeImageTTL", "id"]
    assert told["beforeImageTTL"] == "24 HOURS"


def test_a_frozen_schema_is_not_told() -> None:
    frozen, plain = made(TableBuilder("t").freeze()), made(TableBuilder("t"))
    assert cloud_schema_json(frozen, None, []) == cloud_schema_json(plain, None, [])
