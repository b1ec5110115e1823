"""Mapping tables: how SQL sees a table (sql §2, §3)."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

__all__ = ["MappedColumn", "SearchMapping", "SqlMapping", "SqlType"]


class SqlType(Enum):
    """The types of mapped columns, as DESCRIBE tells them."""

    BIGINT = "bigint(20)"
    DOUBLE = "double"
    BOOL = "tinyint(1)"
    VARCHAR = "varchar(1024)"
    MEDIUMTEXT = "mediumtext"
    VARBINARY = "varbinary(1024)"
    MEDIUMBLOB = "mediumblob"


class MappedColumn(NamedTuple):
    """A column of a mapping. `nullable` is what DESCRIBE tells; a missing cell is NULL anyway."""

    name: str
    type: SqlType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class SqlMapping:
    """The mapping of a table, whose name and primary key it has.

    `consistent`: search indexes do not serve its queries; `exact`: none that may be inexact does.
    """

    columns: tuple[MappedColumn, ...]
    consistent: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class SearchMapping:
    """How SQL sees a search index of a table: under a name of its own, with some of its fields."""

    name: str
    index: str
    columns: tuple[MappedColumn, ...]
