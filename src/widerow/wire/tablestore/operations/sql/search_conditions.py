"""From conditions of WHERE to queries of a search index that the same rows match (sql §6).

Each condition becomes the query of the rows for which it holds, or of those for which it does not:
so NOT goes down to the comparisons, and what is unknown for a row matches neither. A condition for
which there is no such query is left to whoever reads the rows.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlglot import exp

from widerow.limits import (
    INT64_MAX,
    INT64_MIN,
    SEARCH_KEYWORD_BYTES_MAX,
    SEARCH_QUERY_DEPTH_MAX,
    SEARCH_QUERY_NODES_MAX,
    SEARCH_TERMS_MAX,
    SEARCH_WILDCARD_CHARACTERS_MAX,
)
from widerow.model.search.query import (
    BoolQuery,
    ExistsQuery,
    KnnVectorQuery,
    MatchPhraseQuery,
    MatchQuery,
    NestedQuery,
    Query,
    QueryOperator,
    RangeQuery,
    TermQuery,
    TermsQuery,
    WildcardQuery,
)
from widerow.model.search.schema import SearchFieldType
from widerow.model.tablestore.mapping import MappedColumn
from widerow.model.values import Value
from widerow.wire.tablestore.operations.sql.searched_fields import SearchedField, is_alike

__all__ = ["SEARCH_FUNCTIONS", "SearchConditions", "functions_in"]

SEARCH_FUNCTIONS: Final = {
    "TEXT_MATCH": "TEXT field",
    "TEXT_MATCH_PHRASE": "TEXT field",
    "ARRAY_EXTRACT": "array field",
    "NESTED_QUERY": "NESTED field",
    "VECTOR_QUERY_FLOAT32": "VECTOR field",
    "SCORE": "query",
}
"""The functions that only a search index answers, and what each is for."""

_NODES_MAX: Final = SEARCH_QUERY_NODES_MAX // 4  # of one condition: others stand beside it
_DEPTH_MAX: Final = SEARCH_QUERY_DEPTH_MAX - 4
_NEGATED: Final = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_TURNED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS: Final[dict[type, str]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_ORDERED: Final = frozenset((SearchFieldType.LONG, SearchFieldType.DOUBLE, SearchFieldType.KEYWORD))


class _NoQuery(Exception):  # no error: the condition stays where it is
    """There is no query for a condition."""


def functions_in(node: exp.Expr) -> set[str]:
    """The search functions in an expression, outside of queries in it."""
    inside = node.walk(prune=lambda each: isinstance(each, exp.Select) and each is not node)
    names = {each.name.upper() for each in inside if isinstance(each, exp.Anonymous)}
    return names & SEARCH_FUNCTIONS.keys()


class SearchConditions:
    """Makes queries over the fields of one index.

    `columns`: the mapped columns by names in lower case. `virtual`: a field that is read from
    another column stands for a mapped column as well. `alias`: the table's name in the statement.
    """

    def __init__(
        self,
        fields: Mapping[str, SearchedField],
        columns: Mapping[str, MappedColumn],
        alias: str,
        *,
        virtual: bool,
    ) -> None:
        self._fields = fields
        self._columns = columns
        self._alias = alias.lower()
        self._virtual = virtual
        self._path = ""  # of the NESTED_QUERY whose condition is read
        self._nodes = 0
        self._depth = 0

    def query(self, node: exp.Expr) -> Query | None:
        """The query of the rows for which a condition holds; None where there is none."""
        self._nodes = self._depth = 0
        try:
            return self._of(node, holds=True)
        except _NoQuery:
            return None

    def _of(self, node: exp.Expr, *, holds: bool) -> Query:
        """The query of the rows for which a condition holds, or does not hold."""
        self._nodes += 1
        self._depth += 1
        if self._nodes > _NODES_MAX or self._depth > _DEPTH_MAX:
            raise _NoQuery
        make = _MAKERS.get(type(node))
        if make is None:
            raise _NoQuery
        found = make(self, node, holds)
        self._depth -= 1
        return found

    # --- conditions --------------------------------------------------------------------------

    def _paren(self, node: exp.Paren, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        return self._of(node.this, holds=holds)

    def _not(self, node: exp.Not, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        return self._of(node.this, holds=not holds)

    def _connected(self, node: exp.Connector, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        parts = tuple([self._of(each, holds=holds) for each in node.flatten()])
        return _all(*parts) if isinstance(node, exp.And) is holds else _any(*parts)

    def _compared(self, node: exp.Binary, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        sign = _SIGNS[type(node)]
        left, right = node.this, node.expression
        if not _names_field(left):
            left, right, sign = right, left, _TURNED[sign]
        return self._comparison(left, sign, [right], holds=holds)

    def _between(self, node: exp.Between, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        low = self._comparison(node.this, ">=", [node.args["low"]], holds=holds)
        high = self._comparison(node.this, "<=", [node.args["high"]], holds=holds)
        return _all(low, high) if holds else _any(low, high)

    def _one_of(self, node: exp.In, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        if not node.expressions or len(node.expressions) > SEARCH_TERMS_MAX:
            raise _NoQuery
        return self._comparison(node.this, "=", node.expressions, holds=holds)

    def _like(self, node: exp.Like, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        field = self._single(node.this)
        if field.type is not SearchFieldType.KEYWORD:
            raise _NoQuery
        pattern = _wildcards(_text(node.expression))
        if not pattern or len(pattern) > SEARCH_WILDCARD_CHARACTERS_MAX:
            raise _NoQuery
        found = self._inside(field, WildcardQuery(field.name, pattern))
        return self._or_not(field, found, holds=holds is not bool(node.args.get("negate")))

    def _is(self, node: exp.Is, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        if not isinstance(node.expression, exp.Null):
            raise _NoQuery
        exists = self._inside(*self._existing(self._single(node.this)))
        return _none(exists) if holds else exists

    def _comparison(
        self, left: exp.Expr, sign: str, values: Sequence[exp.Expr], *, holds: bool
    ) -> Query:
        """A field, or an element of an array, compared with a value or with one of several."""
        if isinstance(left, exp.Anonymous) and left.name.upper() == "ARRAY_EXTRACT":
            field = self._array(left)
            found = self._inside(field, _some(field, sign, [_value(field, v) for v in values]))
            return found if holds else _none(found)
        field = self._named(left)
        if field.path != self._path:  # an element that the row has somewhere
            found = self._inside(field, _some(field, sign, [_value(field, v) for v in values]))
            return found if holds else _none(found)
        field = self._single(left)
        given = [_value(field, each) for each in values]
        wanted = sign if holds else _NEGATED[sign]
        if wanted != "!=":
            return _some(field, wanted, given)
        return _all(self._existing(field)[1], _none(_some(field, "=", given)))

    def _function(self, node: exp.Anonymous, holds: bool) -> Query:  # noqa: FBT001  # as `_of`
        make = _FUNCTIONS.get(node.name.upper())
        if make is None:
            raise _NoQuery
        found = make(self, node.expressions)
        return found if holds else _none(found)

    # --- functions ---------------------------------------------------------------------------

    def _match(self, arguments: Sequence[exp.Expr]) -> Query:
        if len(arguments) not in (2, 3):
            raise _NoQuery
        field = self._of_type(arguments[0], SearchFieldType.TEXT)
        operator, least = _options(_text(arguments[2]) if len(arguments) == 3 else "")
        return self._inside(field, MatchQuery(field.name, _text(arguments[1]), operator, least))

    def _phrase(self, arguments: Sequence[exp.Expr]) -> Query:
        if len(arguments) != 2:
            raise _NoQuery
        field = self._of_type(arguments[0], SearchFieldType.TEXT)
        return self._inside(field, MatchPhraseQuery(field.name, _text(arguments[1])))

    def _nested(self, arguments: Sequence[exp.Expr]) -> Query:
        """One document at a nested path for which the condition holds."""
        if len(arguments) != 1 or self._path:
            raise _NoQuery
        paths = {self._named(each).path for each in arguments[0].find_all(exp.Column)}
        if len(paths) != 1 or not all(paths):
            raise _NoQuery
        self._path = paths.pop()
        try:
            return NestedQuery(self._path, self._of(arguments[0], holds=True))
        finally:
            self._path = ""

    def _near(self, arguments: Sequence[exp.Expr]) -> Query:
        if len(arguments) != 3 or self._path:
            raise _NoQuery
        field = self._of_type(arguments[0], SearchFieldType.VECTOR)
        try:
            vector = tuple([float(each) for each in json.loads(_text(arguments[1]))])
            top = int(arguments[2].name)
        except (ValueError, TypeError, RecursionError) as error:
            raise _NoQuery from error
        return KnnVectorQuery(field.name, vector, top)

    # --- fields ------------------------------------------------------------------------------

    def _named(self, node: exp.Expr) -> SearchedField:
        if not isinstance(node, exp.Column) or node.table.lower() not in ("", self._alias):
            raise _NoQuery
        field = self._fields.get(node.name.lower())
        if field is None or not field.definition.index:
            raise _NoQuery
        return field

    def _single(self, node: exp.Expr) -> SearchedField:
        """A field that stands for its column: it has one value in a row, the column's."""
        field = self._named(node)
        if field.path != self._path:
            raise _NoQuery
        column = self._columns.get(field.name.lower())
        if not self._path and (
            column is None or not is_alike(field, column, virtual=self._virtual)
        ):
            raise _NoQuery
        return field

    def _array(self, node: exp.Anonymous) -> SearchedField:
        if len(node.expressions) != 1:
            raise _NoQuery
        field = self._named(node.expressions[0])
        if not field.definition.is_array:
            raise _NoQuery
        return field

    def _of_type(self, node: exp.Expr, kind: SearchFieldType) -> SearchedField:
        field = self._named(node)
        if field.type is not kind:
            raise _NoQuery
        return field

    def _existing(self, field: SearchedField) -> tuple[SearchedField, Query]:
        return field, ExistsQuery(field.name)

    def _inside(self, field: SearchedField, query: Query) -> Query:
        """The query, for documents of a nested path where the field is theirs."""
        return query if field.path == self._path else NestedQuery(field.path, query)

    def _or_not(self, field: SearchedField, query: Query, *, holds: bool) -> Query:
        return query if holds else _all(self._existing(field)[1], _none(query))


def _all(*parts: Query) -> Query:
    return parts[0] if len(parts) == 1 else BoolQuery(filter=parts)


def _any(*parts: Query) -> Query:
    return parts[0] if len(parts) == 1 else BoolQuery(should=parts)


def _none(query: Query) -> Query:
    return BoolQuery(must_not=(query,))


def _some(field: SearchedField, sign: str, values: Sequence[Value]) -> Query:
    """Documents of which one value compares so with one of these; several only with `=`."""
    if sign == "=" and len(values) > 1:
        return TermsQuery(field.name, tuple(values))
    (value,) = values
    if sign == "=":
        return TermQuery(field.name, value)
    if field.type is SearchFieldType.BOOLEAN and sign == "!=":
        return TermQuery(field.name, not value)
    if field.type not in _ORDERED:
        raise _NoQuery
    if sign == "!=":
        return _any(RangeQuery(field.name, stop=value), RangeQuery(field.name, start=value))
    if sign in ("<", "<="):
        return RangeQuery(field.name, stop=value, include_stop=sign == "<=")
    return RangeQuery(field.name, start=value, include_start=sign == ">=")


def _names_field(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) or (
        isinstance(node, exp.Anonymous) and node.name.upper() == "ARRAY_EXTRACT"
    )


# --- values ----------------------------------------------------------------------------------


def _text(node: exp.Expr) -> str:
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise _NoQuery
    return str(node.name)


def _number(node: exp.Expr) -> str:
    negative = isinstance(node, exp.Neg)
    inner = node.this if negative else node
    if not isinstance(inner, exp.Literal) or inner.is_string:
        raise _NoQuery
    return f"-{inner.name}" if negative else str(inner.name)


def _long(node: exp.Expr) -> int:
    text = _number(node)
    if not text.lstrip("-").isdecimal() or not INT64_MIN <= int(text) <= INT64_MAX:
        raise _NoQuery
    return int(text)


def _exact_double(node: exp.Expr) -> float:
    text = _number(node)
    number = float(text)
    if text.lstrip("-").isdecimal() and int(text) != number:
        raise _NoQuery  # an integer between two doubles
    if number in (float("inf"), float("-inf")):
        raise _NoQuery
    return number


def _boolean(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Boolean):
        raise _NoQuery
    return bool(node.this)


def _keyword(node: exp.Expr) -> str:
    text = _text(node)
    if len(text.encode()) > SEARCH_KEYWORD_BYTES_MAX:
        raise _NoQuery
    return text


_VALUES: Final[dict[SearchFieldType, Callable[[exp.Expr], Value]]] = {
    SearchFieldType.LONG: _long,
    SearchFieldType.DOUBLE: _exact_double,
    SearchFieldType.BOOLEAN: _boolean,
    SearchFieldType.KEYWORD: _keyword,
}


def _value(field: SearchedField, node: exp.Expr) -> Value:
    """A value that stands in the statement, of the field's own type."""
    read = _VALUES.get(field.type)
    if read is None:
        raise _NoQuery
    return read(node)


def _wildcards(pattern: str) -> str:
    """A pattern of LIKE as one of wildcards."""
    made = []
    letters = iter(pattern)
    for letter in letters:
        if letter == "\\":
            letter = next(letters, letter)  # noqa: PLW2901  # what stands behind it
            made.append("\\" + letter if letter in "*?\\" else letter)
        elif letter in "%_":
            made.append("*" if letter == "%" else "?")
        else:
            made.append("\\" + letter if letter in "*?" else letter)
    return "".join(made)


def _options(text: str) -> tuple[QueryOperator, str | None]:
    """Operator and minimum_should_match of TEXT_MATCH, by name or bare."""
    operator, least = QueryOperator.OR, None
    for part in text.split(","):
        word = part.rpartition("=")[2].strip().strip("\"'")
        if not word:
            continue
        if word.upper() in ("OR", "AND"):
            operator = QueryOperator[word.upper()]
        elif word.isdecimal():
            least = word
        else:
            raise _NoQuery
    return operator, least


_FUNCTIONS: Final[dict[str, Callable[[SearchConditions, Sequence[exp.Expr]], Query]]] = {
    "TEXT_MATCH": SearchConditions._match,  # noqa: SLF001  # its own table
    "TEXT_MATCH_PHRASE": SearchConditions._phrase,  # noqa: SLF001  # its own table
    "NESTED_QUERY": SearchConditions._nested,  # noqa: SLF001  # its own table
    "VECTOR_QUERY_FLOAT32": SearchConditions._near,  # noqa: SLF001  # its own table
}
_Maker = Callable[[SearchConditions, Any, bool], Query]
_MAKERS: Final[dict[type, _Maker]] = {
    exp.Paren: SearchConditions._paren,  # noqa: SLF001  # its own table
    exp.Not: SearchConditions._not,  # noqa: SLF001  # its own table
    exp.And: SearchConditions._connected,  # noqa: SLF001  # its own table
    exp.Or: SearchConditions._connected,  # noqa: SLF001  # its own table
    exp.Between: SearchConditions._between,  # noqa: SLF001  # its own table
    exp.In: SearchConditions._one_of,  # noqa: SLF001  # its own table
    exp.Like: SearchConditions._like,  # noqa: SLF001  # its own table
    exp.Is: SearchConditions._is,  # noqa: SLF001  # its own table
    exp.Anonymous: SearchConditions._function,  # noqa: SLF001  # its own table
    **dict.fromkeys(_SIGNS, SearchConditions._compared),  # noqa: SLF001  # its own table
}
