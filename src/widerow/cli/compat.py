"""`widerow compat`: the operations of each protocol and what becomes of them."""

from typing import Final

from widerow.cli.command import Given, command, switch
from widerow.cli.flags import JSON_OUTPUT
from widerow.cli.showing import print_document, print_table, print_text
from widerow.wire.dialects import DIALECTS

__all__ = ["COMPAT", "show_compatibility"]


def show_compatibility(given: Given) -> None:
    """Print the matrix, as a table or as one JSON document."""
    rows = [
        {
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
            {"action": name, "status": "refused", "permission": "", "feature": feature}
            for dialect in DIALECTS
            for name, feature in dialect.refused.items()
        ]
    if given["as_json"]:
        print_document(rows)
        return
    print_table(
        ("action", "status", "permission", "what it does or belongs to"),
        (tuple(row.values()) for row in rows),
        styles=("" if row["status"] == "served" else "dim" for row in rows),
    )
    served = sum(len(dialect.operations) for dialect in DIALECTS)
    refused = sum(len(dialect.refused) for dialect in DIALECTS)
    print_text(f"{served} of {served + refused} actions are served.")


COMPAT: Final = command(
    show_compatibility,
    JSON_OUTPUT,
    switch("supported", "Only the actions that are served."),
    examples="""
`widerow compat --supported`
`widerow compat --json`
""",
)
