"""`widerow compat`: the actions of the protocol and what becomes of each."""

import json
import sys

from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED

__all__ = ["show_compatibility"]


def show_compatibility(*, as_json: bool, supported: bool) -> None:
    """Print the matrix, as a table or as one JSON document; `supported`: served actions only."""
    rows = [
        {
            "action": name,
            "status": "served",
            "permission": entry.permission,
            "feature": "commits" if entry.writes else "reads",
        }
        for name, entry in OPERATIONS.items()
    ]
    if not supported:
        rows += [
            {"action": name, "status": "refused", "permission": "", "feature": feature}
            for name, feature in UNSUPPORTED.items()
        ]
    if as_json:
        sys.stdout.write(json.dumps(rows) + "\n")
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # same

    table = Table("action", "status", "permission", "what it does or belongs to")
    for row in rows:
        style = None if row["status"] == "served" else "dim"
        table.add_row(*row.values(), style=style)
    console = Console()
    console.print(table)
    console.print(f"{len(OPERATIONS)} of {len(OPERATIONS) + len(UNSUPPORTED)} actions are served.")
