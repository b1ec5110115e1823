"""Tables of all models as the console names them, and their statistics."""

from typing import Any, Final, NamedTuple

from widerow.console.parts import ConsoleRefused, PageDocument, Visit
from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.engine.partitions.table_load import TableLoad
from widerow.engine.timeseries.engine import TimeseriesEngine
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.engine.typed.form import TableForm
from widerow.errors import NotFound
from widerow.model.tablestore.schema import Table
from widerow.model.timeseries.table import TimeseriesTable

__all__ = [
    "MODELS",
    "TablePlace",
    "all_tables",
    "asked_table",
    "known_instances",
    "series_engine",
    "sizes_of",
    "table_load_of",
    "the_series_table",
    "the_table",
    "the_typed_table",
]

MODELS: Final = {
    "tablestore": "Tablestore",
    "timeseries": "Tablestore timeseries",
    "nosql": "Oracle NoSQL",
}
"""The table models by the name that addresses have, with the name that people read."""


class TablePlace(NamedTuple):
    """A table. `instance`: for a typed table its namespace."""

    instance: str
    name: str
    model: str

    @property
    def partitioned(self) -> tuple[str, str]:
        """The instance and the address by which the engine finds the table's partitions."""
        if self.model == "nosql":
            return self.instance, f"{self.instance}:{self.name}"
        return self.instance, self.name

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of an address that name the table."""
        return {"instance": self.instance, "table": self.name, "model": self.model}


def all_tables(visit: Visit) -> list[TablePlace]:
    """Every table that the visitor may see, by instance and name; indexes are not among them.

    Cost: the catalogue, which is in memory.
    """
    found = [
        TablePlace(each.owner, each.name, model.name)
        for model in visit.parts.engine.open_models()
        for each in model.listed()
    ]
    instances = {each.instance for each in found}
    opened = {each for each in instances if visit.opens(each)}
    return sorted(each for each in found if each.instance in opened)


def known_instances(visit: Visit) -> list[str]:
    """The instances that the visitor may open, as far as they are known by name."""
    rules = visit.parts.identity().instances
    known = set(rules.names or ()) | set(visit.key.instances or ())
    known |= {each.instance for each in all_tables(visit) if each.model != "nosql"}
    return sorted(each for each in known if visit.opens(each))


def asked_table(visit: Visit) -> TablePlace:
    """The table that the address names. Raises as `Visit.place` does, and `ConsoleRefused`."""
    instance, table = visit.place()
    model = visit.asked.get("model", "tablestore")
    if model not in MODELS:
        raise ConsoleRefused(400, f"There is no model {model[:40]!r}.", "Choose a table again.")
    return TablePlace(instance, table, model)


def the_table(visit: Visit, name: TablePlace) -> Table:
    """The Tablestore table of that name. Raises: `NotFound`, `InvalidRequest`."""
    return visit.parts.tablestore.describe_table(name.instance, name.name)


def series_engine(visit: Visit) -> TimeseriesEngine:
    """The operations of timeseries tables."""
    return visit.parts.engine.operations(TIMESERIES)


def the_series_table(visit: Visit, name: TablePlace) -> TimeseriesTable:
    """The timeseries table of that name. Raises: `NotFound`."""
    return series_engine(visit).find(name.instance, name.name)


def the_typed_table(visit: Visit, name: TablePlace) -> TableForm:
    """The typed table of that name. Raises: `NotFound`."""
    form = visit.parts.typed.tables.get_qualified(f"{name.instance}:{name.name}")
    if form is not None:
        return form
    raise ConsoleRefused(
        404,
        f"There is no typed table {name.name[:200]} in {name.instance[:200]}.",
        "Choose a table on the overview.",
    )


def table_load_of(visit: Visit, name: TablePlace) -> tuple[Partitioned, TableLoad]:
    """The partitions and the load of a table. On the loop. Raises: `NotFound`."""
    engine = visit.parts.engine
    divided = engine.find_partitioned(*name.partitioned)
    return divided, engine.partitions.load_of(divided)


def sizes_of(visit: Visit, names: list[TablePlace]) -> dict[TablePlace, PageDocument]:
    """Rows, bytes, partitions and load of tables, from statistics; no row is counted."""
    engine = visit.parts.engine

    def look() -> dict[TablePlace, PageDocument]:
        found: dict[TablePlace, PageDocument] = {}
        for name in names:
            try:
                divided, load = table_load_of(visit, name)
            except NotFound:
                continue  # dropped meanwhile
            found[name] = _sizes(load, len(engine.partitions.reports(divided)))
        return found

    return visit.parts.on_loop(look)


def _sizes(load: TableLoad, reports: int) -> dict[str, Any]:
    return {
        "rows": load.sizes.rows,
        "bytes": load.sizes.size,
        "partitions": len(load.bounds) + 1,
        "units_per_second": round(load.rate, 1),
        "largest_share": round(load.largest_share, 4),
        "reports": reports,
    }
