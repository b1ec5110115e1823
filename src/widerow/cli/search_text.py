"""Queries that people write as a line of text, as messages of the protocol.

    title:"green tea" AND price:[10 TO 20] tag:(a b) -sold:true

What stands beside each other has to hold all of it (AND says the same); OR binds weaker, `-` and
NOT turn a condition round, parentheses hold together. A condition is a field, a colon and

    word          a token of a text, the value of any other field; with * or ? in it a form
    "some words"  of a text the words behind each other, of any other field the value
    *             any value at all
    [1 TO 5}      from 1 up to 5 without it; * is not a bound; >5 >=5 <5 <=5 as well
    (a b "c d")   any of these

`^2` behind a condition doubles its score. Words without a field are looked for in all texts. Fields
below a nested path are asked for by their full names.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from widerow.cli.search_json import QueryUnreadable, any_query, query_message
from widerow.model.search.query import NestedScoreMode
from widerow.model.search.schema import JsonKind, SearchField, SearchFieldType
from widerow.model.values import Value
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import search_messages as m
from widerow.written_numbers import real_number, whole_number

__all__ = ["PlacedField", "placed_fields", "query_of_text", "value_of_text"]

_T: Final = SearchFieldType
_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<open>\() | (?P<close>\)) | (?P<colon>:)
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | (?P<bounds>[\[{][^\]}]*[\]}])
      | (?P<compare>[<>]=?)
      | (?P<boost>\^[0-9.]+)
      | (?P<sign>[-+](?=\S))
      | (?P<word>(?:\\.|[^\s()":\[\]{}^<>\\])+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_BOUNDS: Final = re.compile(r"([\[{])\s*(.*?)\s+TO\s+(.*?)\s*([\]}])", re.DOTALL)
_EPOCH: Final = "epoch_"
_DEPTH_MAX: Final = 30


class PlacedField(NamedTuple):
    """A field, and the nested paths that it lies below, the outermost first."""

    field: SearchField
    paths: tuple[str, ...]


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def placed_fields(
    fields: Iterable[SearchField], prefix: str = "", paths: tuple[str, ...] = ()
) -> dict[str, PlacedField]:
    """All fields of a schema by their full names."""
    found: dict[str, PlacedField] = {}
    for each in fields:
        name = prefix + each.name
        found[name] = PlacedField(each, paths)
        nested = each.type is _T.NESTED or each.json is JsonKind.NESTED
        found |= placed_fields(each.fields, f"{name}.", (*paths, name) if nested else paths)
    return found


def query_of_text(text: str, fields: Mapping[str, PlacedField]) -> m.Query:
    """Read a line. Raises: `QueryUnreadable`, which names the place in it."""
    reader = _Reader(text, fields)
    if not reader.left:
        return query_message(m.MatchAllQuery())
    found = reader.either()
    if reader.left:
        raise reader.wrong("an end, or AND, OR")
    return found


def value_of_text(field: SearchField, text: str) -> Value:
    """A text as a value that a query may compare a field with. Raises: `QueryUnreadable`."""
    try:
        match field.type:
            case SearchFieldType.LONG | SearchFieldType.DOUBLE:
                return real_number(text) if re.search(r"[.eE]", text) else whole_number(text)
            case SearchFieldType.BOOLEAN:
                return {"true": True, "false": False}[text.lower()]
            case SearchFieldType.DATE if text.lstrip("-").isdecimal() and any(
                each.startswith(_EPOCH) for each in field.date_formats
            ):
                return whole_number(text)
            case _:
                return text
    except (ValueError, KeyError) as error:
        raise QueryUnreadable(
            f"{text} is not of type {field.type.name}, as {field.name} is"
        ) from error


class _Reader:
    """Reads tokens from left to right; each method one level of what binds how strongly."""

    def __init__(self, text: str, fields: Mapping[str, PlacedField]) -> None:
        self._text = text
        self._fields = fields
        self._depth = 0
        self.left = list(_tokens(text))

    def wrong(self, expected: str) -> QueryUnreadable:
        at = self.left[0].at if self.left else len(self._text)
        return QueryUnreadable(f"expected {expected} at character {at + 1} of {self._text!r}")

    def _next(self, *kinds: str) -> _Token | None:
        if self.left and self.left[0].kind in kinds:
            return self.left.pop(0)
        return None

    def _keyword(self, *words: str) -> bool:
        if self.left and self.left[0].kind == "word" and self.left[0].text in words:
            self.left.pop(0)
            return True
        return False

    def either(self) -> m.Query:
        """Conditions with OR between them."""
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise QueryUnreadable(f"more than {_DEPTH_MAX} parentheses within each other")
        found = [self._every()]
        while self._keyword("OR", "||"):
            found.append(self._every())
        self._depth -= 1
        return any_query(found)

    def _every(self) -> m.Query:
        """Conditions beside each other."""
        wanted: list[m.Query] = []
        refused: list[m.Query] = []
        while True:
            sign = self._next("sign")
            inverse = (sign is not None and sign.text == "-") or self._keyword("NOT")
            (refused if inverse else wanted).append(self._condition())
            if not self._keyword("AND", "&&") and self._ends():
                break
        if not refused and len(wanted) == 1:
            return wanted[0]
        return query_message(m.BoolQuery(must_queries=wanted, must_not_queries=refused))

    def _ends(self) -> bool:
        """Whether what stands beside each other ends here."""
        if not self.left:
            return True
        kind, text, _ = self.left[0]
        return kind == "close" or (kind == "word" and text in {"OR", "||"})

    def _condition(self) -> m.Query:
        if self._next("open"):
            found = self.either()
            if not self._next("close"):
                raise self.wrong("a closing parenthesis")
            return found
        name = self._next("word", "quoted")
        if name is None:
            raise self.wrong("a field, a word or a parenthesis")
        if name.kind == "quoted" or not self._next("colon"):
            return self._anywhere(name)
        placed = self._fields.get(_plain(name))
        if placed is None:
            known = ", ".join(sorted(self._fields))
            raise QueryUnreadable(f"the index has no field {_plain(name)}; it has {known}")
        return _below(placed, self._about(_plain(name), placed.field))

    def _anywhere(self, word: _Token) -> m.Query:
        texts = [name for name, each in self._fields.items() if each.field.type is _T.TEXT]
        if not texts:
            raise QueryUnreadable(f"the index has no texts to look for {word.text} in; FIELD:VALUE")
        weight = self._weight()
        return any_query(
            _below(self._fields[name], _one(name, self._fields[name].field, word, weight))
            for name in texts
        )

    def _about(self, name: str, field: SearchField) -> m.Query:
        """What is said of a field."""
        bounds = self._next("bounds")
        if bounds is not None:
            return _between(name, field, bounds.text)
        compare = self._next("compare")
        if compare is not None:
            bound = value_of_text(field, self._signed("a bound"))
            return _compared(name, compare.text, bound)
        if self._next("open"):
            words = []
            while not self._next("close"):
                word = self._next("word", "quoted")
                if word is None:
                    raise self.wrong("a value or a closing parenthesis")
                words.append(word)
            if not words:
                raise self.wrong("values in parentheses before this")
            weight = self._weight()
            return any_query(_one(name, field, each, weight) for each in words)
        quoted = self._next("quoted")
        word = quoted or _Token("word", self._signed("a value"), 0)
        return _one(name, field, word, self._weight())

    def _signed(self, what: str) -> str:
        sign = self._next("sign")
        word = self._next("word", "quoted")
        if word is None:
            raise self.wrong(what)
        text = _plain(word) if word.kind == "quoted" else word.text
        return (sign.text if sign else "") + text

    def _weight(self) -> float | None:
        boost = self._next("boost")
        if boost is None:
            return None
        try:
            return real_number(boost.text[1:])
        except ValueError as error:
            raise QueryUnreadable(f"{boost.text} is not a weight; write ^2 or ^0.5") from error


def _tokens(text: str) -> Iterable[_Token]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise QueryUnreadable(
                f"character {at + 1} of {text!r} fits nothing; write values in quotes"
            )
        yield _Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup))
        at = found.end()


def _plain(token: _Token) -> str:
    """The text that a word or a quoted text stands for."""
    text = token.text[1:-1] if token.kind == "quoted" else token.text
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _one(name: str, field: SearchField, word: _Token, weight: float | None) -> m.Query:
    """The condition that one word or one quoted text is."""
    inner: m.WildcardQuery | m.MatchPhraseQuery | m.MatchQuery | m.TermQuery
    text = _plain(word)
    if word.kind == "word" and word.text == "*":
        return query_message(m.ExistsQuery(field_name=name))
    if word.kind == "word" and re.search(r"(?<!\\)[*?]", word.text):
        inner = m.WildcardQuery(field_name=name, value=word.text)
    elif field.type is _T.TEXT and word.kind == "quoted":
        inner = m.MatchPhraseQuery(field_name=name, text=text)
    elif field.type is _T.TEXT:
        inner = m.MatchQuery(field_name=name, text=text)
    else:
        inner = m.TermQuery(field_name=name, term=encode_variant(value_of_text(field, text)))
    if weight is not None:
        inner.weight = weight
    return query_message(inner)


def _between(name: str, field: SearchField, text: str) -> m.Query:
    parts = _BOUNDS.fullmatch(text)
    if parts is None:
        raise QueryUnreadable(
            f"{text} is not a range; write [1 TO 5], or {{1 TO 5}} without its ends"
        )
    inner = m.RangeQuery(
        field_name=name, include_lower=parts[1] == "[", include_upper=parts[4] == "]"
    )
    if parts[2] != "*":
        inner.range_from = encode_variant(value_of_text(field, parts[2].strip('"')))
    if parts[3] != "*":
        inner.range_to = encode_variant(value_of_text(field, parts[3].strip('"')))
    return query_message(inner)


def _compared(name: str, sign: str, bound: Value) -> m.Query:
    data, included = encode_variant(bound), "=" in sign
    if sign.startswith(">"):
        return query_message(m.RangeQuery(field_name=name, range_from=data, include_lower=included))
    return query_message(m.RangeQuery(field_name=name, range_to=data, include_upper=included))


def _below(placed: PlacedField, found: m.Query) -> m.Query:
    """A condition on a field, asked where the field lies."""
    if not placed.paths:
        return found
    mode = int(NestedScoreMode.MAX)
    return query_message(m.NestedQuery(path=placed.paths[-1], query=found, score_mode=mode))
