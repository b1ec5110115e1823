"""A program that keeps sessions in Tablestore for an hour."""

from typing import Any

from tablestore import (
    CapacityUnit,
    Condition,
    OTSClient,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableMeta,
    TableOptions,
)

TABLE = "session"
_HOUR_SECONDS = 3600


class Sessions:
    """Sessions by their identifiers."""

    def __init__(self, client: OTSClient) -> None:
        """Sessions that are reached by `client`."""
        self._client = client

    def create_table(self) -> None:
        """Make the table of sessions."""
        self._client.create_table(
            TableMeta(TABLE, [("id", "STRING")]),
            TableOptions(time_to_live=_HOUR_SECONDS),
            ReservedThroughput(CapacityUnit(0, 0)),
        )

    def begin(self, identity: str, card: int) -> None:
        """Begin a session, or begin it anew."""
        row = Row([("id", identity)], [("card", card)])
        self._client.put_row(TABLE, row, Condition(RowExistenceExpectation.IGNORE))

    def card_of(self, identity: str) -> Any:  # noqa: ANN401  # the SDK has no types
        """The card of a session, or None where there is none, or it has ended."""
        _, row, _ = self._client.get_row(TABLE, [("id", identity)])
        return None if row is None else row.attribute_columns[0][1]
