"""`widerow compat`: the operations of each protocol and what becomes of them."""

from collections.abc import Mapping, Sequence
from typing import Final

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Given, command, switch
from widerow.wire.dialects import DIALECTS

__all__ = ["COMPAT", "show_compatibility"]


def show_compatibility(given: Given) -> None:
    """Print the matrix, as a table or as one JSON document."""
    rows = [
        {
            "protocol": dialect.name,
            "action": name,
            "status": "served",
            "permission": entry.permission.value,
            "feature": "commits" if entry.writes else "reads",
        }
        for dialect in DIALECTS
        for name, entry in dialect.operations.items()
    ]
    if not given["supported"]:
        rows += [
            {
                "protocol": dialect.name,
                "action": name,
                "status": "refused",
                "permission": "",
                "feature": feature,
            }
            for dialect in DIALECTS
            for name, feature in dialect.refused.items()
        ]
    tell(given, rows, lambda: _show(rows))


def _show(rows: Sequence[Mapping[str, str]]) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Column, Table  # noqa: PLC0415  # only to show something

    action = Column("action", no_wrap=True, min_width=max(len(row["action"]) for row in rows))
    table = Table("protocol", action, "status", "permission", "what it does or belongs to")
    for row in rows:
        style = None if row["status"] == "served" else "dim"
        table.add_row(*row.values(), style=style)
    console = Console()
    console.print(table)
    for dialect in DIALECTS:
        served = len(dialect.operations)
        total = served + len(dialect.refused)
        console.print(f"{dialect.name}: {served} of {total} actions are served.")


COMPAT: Final = command(
    show_compatibility,
    JSON_OUTPUT,
    switch("supported", "Only the actions that are served."),
    examples="""
`widerow compat --supported`
`widerow compat --json`
""",
)
