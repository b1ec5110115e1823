"""When a search index serves a statement, and what it decides of it (sql §8).

An index serves a statement by itself where it has every column that the statement needs, and the
mapping allows it; where USE INDEX names it; where a search function asks for one of its fields; and
always for a mapping of the index.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from sqlglot import exp

from widerow.model.search.query import MATCH_ALL, BoolQuery, Query
from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.mapping import MappedColumn
from widerow.wire.tablestore.operations.sql.documents import SearchScan
from widerow.wire.tablestore.operations.sql.search_conditions import SearchConditions, functions_in
from widerow.wire.tablestore.operations.sql.searched_fields import (
    SearchedField,
    has_column,
    is_alike,
    is_sortable,
    searched_fields_of,
)
from widerow.wire.tablestore.operations.sql.tables import SeenTable

__all__ = ["SearchWanted", "Searched", "serving_index"]

_FOR_EVER: Final = -1


class SearchWanted(NamedTuple):
    """What a statement wants of its one table.

    `alias`: the table's name in it. `needed`: the columns. `conjuncts`: conditions of WHERE.
    `hint`: the indexes behind USE INDEX; None: no hint. `order`: columns in lower case, and whether
    down. `functions`: the search functions in it. `alone`: no index is chosen without a hint.
    """

    seen: SeenTable
    alias: str
    needed: tuple[MappedColumn, ...]
    conjuncts: Sequence[exp.Expr]
    hint: tuple[str, ...] | None
    order: Sequence[tuple[str, bool]]
    functions: frozenset[str]
    alone: bool


class Searched(NamedTuple):
    """What an index reads, which conditions are left, and whether rows come as they are wanted."""

    scan: SearchScan
    rest: list[exp.Expr]
    ordered: bool


def serving_index(wanted: SearchWanted) -> Searched | None:
    """What a search index reads for a statement; None where none serves it."""
    seen = wanted.seen
    if seen.search is not None:
        return _searched(wanted, seen.search, virtual=True)
    for index in _candidates(wanted):
        fields = searched_fields_of(index)
        hinted = wanted.hint is not None
        if not hinted and not all(has_column(fields, each) for each in wanted.needed):
            continue
        found = _searched(wanted, index, virtual=False)
        if not wanted.functions or not any(map(functions_in, found.rest)):
            return found
    if wanted.functions and wanted.hint is None:
        for index in _candidates(wanted):
            found = _searched(wanted, index, virtual=False)
            if not any(map(functions_in, found.rest)):
                return found
    return None


def _candidates(wanted: SearchWanted) -> Iterator[SearchIndex]:
    """The indexes that a mapping of the table, or the statement, allows."""
    mapping = wanted.seen.mapping
    allowed = not (mapping.consistent or mapping.exact or wanted.alone)
    for index in wanted.seen.table.search:
        if wanted.hint is not None:
            if index.name.lower() in {each.lower() for each in wanted.hint}:
                yield index
            continue
        # One that is to replace another is being built; one that forgets rows has other ones.
        if allowed and not index.source and index.time_to_live == _FOR_EVER:
            yield index


def _searched(wanted: SearchWanted, index: SearchIndex, *, virtual: bool) -> Searched:
    """What an index reads, with the conditions that it can decide."""
    fields = searched_fields_of(index)
    columns = {each.name.lower(): each for each in wanted.seen.mapping.columns}
    conditions = SearchConditions(fields, columns, wanted.alias, virtual=virtual)
    stored = _stored(wanted, fields, virtual=virtual)
    reads_rows = len(stored) < len(wanted.needed)
    decided: list[exp.Expr] = []
    rest: list[exp.Expr] = []
    plain: list[Query] = []
    scored: list[Query] = []
    for node in wanted.conjuncts:
        query = conditions.query(node)
        searches = bool(wanted.functions) and bool(functions_in(node))
        if query is not None:
            decided.append(node)
            (scored if searches else plain).append(query)
        if query is None or (reads_rows and not searches):
            rest.append(node)  # a row may have changed since it was found
    order, reverse, ordered = _order(wanted, fields, virtual=virtual)
    scan = SearchScan(
        wanted.seen.table,
        index,
        _joined(scored, plain),
        tuple([each.sql(dialect="mysql") for each in decided]),
        wanted.needed,
        stored,
        order,
        reverse,
        "SCORE" in wanted.functions,
    )
    return Searched(scan, rest, ordered)


def _joined(scored: list[Query], plain: list[Query]) -> Query:
    """All of these, of which the first ones give scores."""
    if not scored and not plain:
        return MATCH_ALL
    if len(scored) + len(plain) == 1:
        return (scored + plain)[0]
    return BoolQuery(must=tuple(scored), filter=tuple(plain))


def _stored(
    wanted: SearchWanted, fields: dict[str, SearchedField], *, virtual: bool
) -> dict[str, str]:
    """The fields that give values, by columns: all that are needed, or those that rows lack."""
    found: dict[str, str] = {}
    own: dict[str, str] = {}
    for column in wanted.needed:
        field = fields.get(column.name.lower())
        if field is not None and is_sortable(field) and is_alike(field, column, virtual=virtual):
            found[column.name] = field.name
            if field.definition.source is not None:
                own[column.name] = field.name
    expires = wanted.seen.table.options.time_to_live != _FOR_EVER
    return found if len(found) == len(wanted.needed) and not expires else own


def _order(
    wanted: SearchWanted, fields: dict[str, SearchedField], *, virtual: bool
) -> tuple[tuple[tuple[str, bool], ...], bool, bool]:
    """The fields to sort by, the direction of the key, and whether that is what is wanted."""
    names = [name for name, _ in wanted.order]
    key = [column.name.lower() for column in wanted.seen.table.key_columns]
    ways = {down for _, down in wanted.order}
    if names == key[: len(names)] and len(ways) <= 1:
        return (), ways == {True}, bool(names)
    columns = {each.name.lower(): each for each in wanted.needed}
    found = []
    for name, down in wanted.order:
        field, column = fields.get(name), columns.get(name)
        if field is None or column is None or not is_sortable(field):
            return (), False, False
        if not is_alike(field, column, virtual=virtual):
            return (), False, False
        found.append((field.name, down))
    return tuple(found), False, True
