"""Rows of the table of errors, as the tables of its families have them (`error_table.py`)."""

__all__ = ["ErrorRow", "invalid_row"]

ErrorRow = tuple[str, int, str, str, bool]
"""Code, status, template, when, and whether the text is the service's own (`Foreign`)."""


def invalid_row(template: str, when: str, *, published: bool = False) -> ErrorRow:
    """A request that breaks a rule: OTSParameterInvalid."""
    return "OTSParameterInvalid", 400, template, when, published
