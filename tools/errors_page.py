"""The page of errors, made of the table of errors: `python -m tools.generated_pages errors`."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from widerow.wire.tablestore.errors.row import Foreign
from widerow.wire.tablestore.errors.table import FAILURES, FOREIGN, UNEXPECTED, FailureAnswer

__all__ = ["page"]

_HEAD: Final = """\
# Errors

For whoever reads a code or a message of the Tablestore dialect and asks where it comes from. Made
of `src/widerow/wire/tablestore/errors/`.

A failed request is answered with the status, and with the code and the message in a protobuf
`Error`. In a batch, a failed row carries the same `Error`, and the batch itself succeeds. Braces
stand for facts of the request. Codes and texts are those of the service, as its tests and documents
show them; `ours` marks a text that they do not show. Two rules may share a text; the response
header `x-widerow-hint` then tells them apart, and says what to do.
"""
_COLUMNS: Final = "| status | code | message | when | text |\n|---|---|---|---|---|"


def page() -> str:
    """The text of the page."""
    rules = "\n".join(_row(row) for row in sorted(FOREIGN.values(), key=_order))
    return "\n".join(
        (
            _HEAD,
            "## Requests\n",
            _COLUMNS,
            rules,
            "\n## Failures of the server\n",
            "| status | code | message | when | hint |\n|---|---|---|---|---|",
            *_failures(),
            "",
        )
    )


def _order(row: Foreign) -> tuple[int, str]:
    return row.status, row.code


def _row(row: Foreign) -> str:
    whose = "" if row.published else "ours"
    message = row.template.replace("|", "\\|").replace("!v}", "}")
    return f"| {row.status} | {row.code} | `{message}` | {row.when} | {whose} |"


def _failures() -> Iterator[str]:
    failure: FailureAnswer
    for failure in chain(FAILURES.values(), (UNEXPECTED,)):
        row = failure.foreign
        yield f"| {row.status} | {row.code} | `{row.template}` | {row.when} | {failure.hint} |"
