"""The pages of the console. A feature brings its page by adding it here, and its template.

A page is one function from a visit to a document, one file in `templates`, and one entry here.
"""

from typing import Final

from widerow.console.create_page import show_create
from widerow.console.download import send_rows
from widerow.console.health import show_health
from widerow.console.heat_page import show_heat
from widerow.console.import_page import show_import
from widerow.console.nodes_page import show_nodes
from widerow.console.overview import show_overview
from widerow.console.parts import ConsolePage
from widerow.console.points_page import show_points
from widerow.console.query_page import show_query
from widerow.console.requests_page import show_requests
from widerow.console.row_page import show_row
from widerow.console.rows_page import show_rows
from widerow.console.search_page import show_search
from widerow.console.series_page import show_series
from widerow.console.sql_page import show_sql
from widerow.console.table_page import show_table
from widerow.console.value_page import show_value

__all__ = ["PAGES_OF_CONSOLE"]

PAGES_OF_CONSOLE: Final = (
    ConsolePage("", "Tables", "overview.html", show_overview, nav="Tables"),
    ConsolePage("heat", "Heat map", "heat.html", show_heat, nav="Heat map"),
    ConsolePage("requests", "Requests", "requests.html", show_requests, nav="Requests"),
    ConsolePage("search", "Search", "search.html", show_search, nav="Search"),
    ConsolePage("sql", "SQL", "sql.html", show_sql, nav="SQL", changes=True),
    ConsolePage("health", "Health", "health.html", show_health, nav="Health"),
    ConsolePage("nodes", "Nodes", "nodes.html", show_nodes, nav="Nodes"),
    ConsolePage("table", "Table", "table.html", show_table, changes=True),
    ConsolePage("rows", "Rows", "rows.html", show_rows),
    ConsolePage("series", "Series", "series.html", show_series),
    ConsolePage("points", "Points", "points.html", show_points),
    ConsolePage("query", "SQL", "query.html", show_query, changes=True),
    ConsolePage("create", "New table", "create.html", show_create, changes=True),
    ConsolePage("import", "Import", "import.html", show_import, changes=True, uploads=True),
    ConsolePage("download", "Download", "", send_rows),
    ConsolePage("value", "Value", "value.html", show_value),
    ConsolePage("row", "Row", "row.html", show_row, changes=True),
)
"""All pages, in the order of the menu."""
