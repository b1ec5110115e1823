"""The way to rows that a statement takes (docs/protocol/differences.md; ddl §3: index use)."""

from collections.abc import Sequence
from dataclasses import replace

from widerow.engine.typed.form import TableForm
from widerow.model.typed import types
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.index_paths import checked_index
from widerow.model.typed.table import Index, IndexField, TypedTable
from widerow.wire.nosql.sql.access_path import KeyCondition
from widerow.wire.nosql.sql.choose import Hints, PathCandidate, WantedOrder, WantedRows, choose_path

INDEXES = {
    "by_age": ("age",),
    "by_city_age": ("city", "age"),
    "by_tag": ("tags[]",),
    "by_phone": ("phones[].area", "phones[].kind"),
    "by_income": ("income",),
}


def people() -> TableForm:
    phone = types.record_of(types.Field("area", types.INTEGER), types.Field("kind", types.STRING))
    builder = TableBuilder("people").add_field("g", types.INTEGER).add_field("id", types.INTEGER)
    for name in ("age", "income"):
        builder.add_field(name, types.INTEGER)
    builder.add_field("city", types.STRING).add_field("tags", types.array_of(types.STRING))
    builder.add_field("phones", types.array_of(phone))
    table = replace(builder.primary_key("g", "id").shard_key("g").build(), id=1, path=(1,))
    indexes = tuple(_index(table, number, name) for number, name in enumerate(INDEXES, start=2))
    return TableForm(replace(table, indexes=indexes))


def _index(table: TypedTable, number: int, name: str) -> Index:
    fields = tuple(IndexField(path) for path in INDEXES[name])
    index = Index(name, fields, id=number, with_nulls=name != "by_income", ready=True)
    return checked_index(table, index)


class Constant:
    def evaluate(self, frame: object) -> Sequence[int]:  # noqa: ARG002  # needs no row
        return [1]


def equal(path: str, element: int = 0) -> PathCandidate:
    return PathCandidate(path, KeyCondition("=", (Constant(),)), element)


def above(path: str) -> PathCandidate:
    return PathCandidate(path, KeyCondition(">", (Constant(),)))


def by(*paths: str, descending: bool = False) -> tuple[WantedOrder, ...]:
    return tuple(WantedOrder(path, descending) for path in paths)


PRIMARY = "primary index"
CHOICES: list[tuple[WantedRows, str, bool]] = [
    # what is wanted; the way; whether it gives the wanted order
    (WantedRows(), PRIMARY, False),
    (WantedRows((equal("age"),)), "by_age", False),
    (WantedRows((above("age"),)), "by_age", False),
    (WantedRows((PathCandidate("age", KeyCondition("!="), pushed=False),)), "by_age", False),
    (WantedRows((equal("city"), above("age"))), "by_city_age", False),
    (WantedRows((equal("g"),)), PRIMARY, False),
    (WantedRows((equal("g"), equal("age"))), "by_age", False),
    (WantedRows((equal("g"), equal("id"), equal("age"))), PRIMARY, False),
    (WantedRows((equal("tags[]"), equal("tags[]"))), "by_tag", False),
    (WantedRows((equal("phones[].area", 1), equal("phones[].kind", 1))), "by_phone", False),
    (WantedRows((), by("age")), "by_age", True),
    (WantedRows((), by("age", "g", "id")), "by_age", True),
    (WantedRows((), by("age", descending=True)), "by_age", True),
    (WantedRows((), (WantedOrder("age"), WantedOrder("g", descending=True))), PRIMARY, False),
    (WantedRows((), (WantedOrder("age", nulls_first=True),)), PRIMARY, False),
    (WantedRows((), by("income")), PRIMARY, False),
    (WantedRows((), by("g", "id")), PRIMARY, True),
    (WantedRows((equal("g"),), by("id", descending=True)), PRIMARY, True),
    (WantedRows((equal("city"),), by("age")), "by_city_age", True),
    (WantedRows((equal("age"),), by("g", "id")), "by_age", True),
    (WantedRows((above("age"),), by("g", "id")), "by_age", False),
    (WantedRows((), by("tags[]")), PRIMARY, False),
    (WantedRows((equal("g"),), groups=("city",)), "by_city_age", False),
    (WantedRows(groups=("city", "age")), "by_city_age", False),
    (WantedRows(extreme="age"), "by_age", False),
    (WantedRows((above("age"),), hints=Hints(forced="by_city_age")), "by_city_age", False),
    (WantedRows((above("age"),), hints=Hints(preferred=("",))), PRIMARY, False),
    (
        WantedRows((above("age"), equal("city")), hints=Hints(preferred=("by_age",))),
        "by_age",
        False,
    ),
]


def test_the_way_that_is_taken() -> None:
    form = people()
    for wanted, name, ordered in CHOICES:
        chosen = choose_path(form, wanted)
        assert (chosen.path.name, chosen.ordered) == (name, ordered), wanted


def test_conditions_on_members_are_of_one_member() -> None:
    apart = WantedRows((equal("phones[].area"), equal("phones[].kind")))
    together = WantedRows((equal("phones[].area", 1), equal("phones[].kind", 1)))
    form = people()
    assert len(choose_path(form, apart).path.conditions) == 1
    assert len(choose_path(form, together).path.conditions) == 2
