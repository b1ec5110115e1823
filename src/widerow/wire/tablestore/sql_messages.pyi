# Made by tools/gen_messages.py from the .proto files beside it; do not edit.
# ruff: noqa: A002  # arguments are named as the fields are

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
)
from google.protobuf.message import Message

class CapacityUnit(Message):
    read: int
    write: int
    def __init__(
        self,
        *,
        read: int | None = ...,
        write: int | None = ...,
    ) -> None: ...

class ConsumedCapacity(Message):
    @property
    def capacity_unit(self) -> CapacityUnit: ...
    def __init__(
        self,
        *,
        capacity_unit: CapacityUnit | None = ...,
    ) -> None: ...

class TableConsumedCapacity(Message):
    table_name: str | bytes
    @property
    def consumed(self) -> ConsumedCapacity: ...
    is_timeseries_meta: bool
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        consumed: ConsumedCapacity | None = ...,
        is_timeseries_meta: bool | None = ...,
    ) -> None: ...

class SearchConsumedCapacity(Message):
    table_name: str | bytes
    index_name: str | bytes
    @property
    def consumed(self) -> ConsumedCapacity: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
        consumed: ConsumedCapacity | None = ...,
    ) -> None: ...

class SQLQueryRequest(Message):
    query: str | bytes
    version: int
    sql_version: int
    search_token: str | bytes
    def __init__(
        self,
        *,
        query: str | None = ...,
        version: int | None = ...,
        sql_version: int | None = ...,
        search_token: str | None = ...,
    ) -> None: ...

class SQLQueryResponse(Message):
    @property
    def consumes(self) -> RepeatedCompositeFieldContainer[TableConsumedCapacity]: ...
    rows: bytes
    version: int
    type: int
    @property
    def search_consumes(self) -> RepeatedCompositeFieldContainer[SearchConsumedCapacity]: ...
    affected_rows: int
    next_search_token: str | bytes
    def __init__(
        self,
        *,
        consumes: Iterable[TableConsumedCapacity] | None = ...,
        rows: bytes | None = ...,
        version: int | None = ...,
        type: int | None = ...,
        search_consumes: Iterable[SearchConsumedCapacity] | None = ...,
        affected_rows: int | None = ...,
        next_search_token: str | None = ...,
    ) -> None: ...
