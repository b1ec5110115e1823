"""Conditions as they are typed: `age >= 18 and city = 'Hangzhou'`, for filters and for writes.

    condition  = and-part { "or" and-part }
    and-part   = not-part { "and" not-part }
    not-part   = "not" not-part | "(" condition ")" | comparison
    comparison = column ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) value
               | column "is" [ "not" ] "null"
               | column [ "not" ] "in" "(" value { "," value } ")"
               | column [ "not" ] "between" value "and" value
    column     = name [ ":" type ], the name bare or in `backquotes`
    value      = 18 | 1.5 | 'text' | "text" | true | false | 0x6869

A column that a row lacks makes a comparison false, as null does in SQL. INTEGER and DOUBLE are
never equal to the server (semantics §5.3), so a whole number is compared as both, unless the column
has a type, by the table or by what is typed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from widerow.cli.tablestore.words import WordInvalid, kind_of
from widerow.limits import FILTER_NODES_MAX, INT64_MAX, INT64_MIN
from widerow.model.tablestore.filter import (
    Comparator,
    Comparison,
    Composite,
    Filter,
    LogicalOperator,
)
from widerow.model.values import Value
from widerow.rows.cells import encode_variant
from widerow.transfer.columns import kind_named
from widerow.wire.tablestore import messages as m

__all__ = ["encode_filter", "parse_condition"]

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    | (?P<binary>0[xX](?:[0-9a-fA-F]{2})*(?!\w))
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<quoted>`(?:[^`]|``)+`)
    | (?P<name>[^\W\d][\w.\-]*)
    | (?P<sign><=|>=|<>|!=|==|[=<>(),:])
    )""",
    re.VERBOSE,
)
_COMPARATORS: Final = {
    "=": Comparator.EQUAL,
    "==": Comparator.EQUAL,
    "!=": Comparator.NOT_EQUAL,
    "<>": Comparator.NOT_EQUAL,
    "<": Comparator.LESS_THAN,
    "<=": Comparator.LESS_EQUAL,
    ">": Comparator.GREATER_THAN,
    ">=": Comparator.GREATER_EQUAL,
}
_PRESENCE: Final = frozenset((Comparator.EXIST, Comparator.NOT_EXIST))
_TRUTHS: Final = {"true": True, "false": False}
_WORDS: Final = frozenset(("and", "or", "not", "is", "null", "in", "between", "true", "false"))
_DEPTH_MAX: Final = FILTER_NODES_MAX  # parentheses in each other; the server takes as many nodes
_END: Final = ("end", "")
_FILTER_SINGLE: Final = 1
_FILTER_COMPOSITE: Final = 2


class _Token(NamedTuple):
    kind: str
    text: str
    place: int  # of its first character, from 1


def parse_condition(text: str, kinds: Mapping[str, str]) -> Filter:
    """The filter that `text` means. `kinds`: the types of columns that have one in the table.

    Raises: `WordInvalid`, which says where and what was expected. Linear.
    """
    reader = _Reader(text, kinds)
    found = reader.alternatives(0)
    reader.expect_end()
    return found


def encode_filter(tree: Filter) -> bytes:
    """The bytes of a filter, as requests carry it (wire §3)."""
    return _message(tree).SerializeToString()


def _message(tree: Filter) -> m.Filter:
    if isinstance(tree, Composite):
        composite = m.CompositeColumnValueFilter(
            combinator=tree.operator, sub_filters=map(_message, tree.filters)
        )
        return m.Filter(type=_FILTER_COMPOSITE, filter=composite.SerializeToString())
    single = m.SingleColumnValueFilter(
        comparator=tree.comparator,
        column_name=tree.column,
        column_value=b"" if tree.comparator in _PRESENCE else encode_variant(tree.value),
        filter_if_missing=not tree.pass_if_missing,
        latest_version_only=tree.latest_version_only,
    )
    return m.Filter(type=_FILTER_SINGLE, filter=single.SerializeToString())


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while text[position:].strip():
        found = _TOKEN.match(text, position)
        if found is None:
            place = len(text) - len(text[position:].lstrip())
            raise WordInvalid(
                f"{text!r}: {text[place]!r} at character {place + 1} is not expected; a comparison "
                "is NAME = VALUE, also with != < <= > >=, and texts stand in quotes"
            )
        kind = found.lastgroup
        assert kind is not None, "one of the groups has matched"
        yield _Token(kind, found[kind], found.start(kind) + 1)
        position = found.end()
    yield _Token(*_END, len(text) + 1)


class _Reader:
    """Reads a condition token by token."""

    def __init__(self, text: str, kinds: Mapping[str, str]) -> None:
        self._text = text
        self._kinds = kinds
        self._tokens = list(_tokens(text))
        self._position = 0

    # --- the grammar ------------------------------------------------------------------------

    def alternatives(self, depth: int) -> Filter:
        """A condition."""
        return self._joined(LogicalOperator.OR, "or", depth)

    def _joined(self, operator: LogicalOperator, word: str, depth: int) -> Filter:
        is_or = operator is LogicalOperator.OR
        parts = [self._part(depth, alternatives=is_or)]
        while self._take_word(word):
            parts.append(self._part(depth, alternatives=is_or))
        return parts[0] if len(parts) == 1 else Composite(operator, tuple(parts))

    def _part(self, depth: int, *, alternatives: bool) -> Filter:
        if alternatives:
            return self._joined(LogicalOperator.AND, "and", depth)
        return self._negation(depth)

    def _negation(self, depth: int) -> Filter:
        if depth > _DEPTH_MAX:
            raise WordInvalid(f"more than {_DEPTH_MAX} parentheses or nots in each other")
        if self._take_word("not"):
            return Composite(LogicalOperator.NOT, (self._negation(depth + 1),))
        if self._take_sign("("):
            found = self.alternatives(depth + 1)
            self._need_sign(")")
            return found
        return self._comparison()

    def _comparison(self) -> Filter:
        name, kind = self._column()
        if self._take_word("is"):
            present = self._take_word("not")
            if not self._take_word("null"):
                raise self._unexpected("null")
            return Comparison(name, Comparator.EXIST if present else Comparator.NOT_EXIST, b"")
        negated = self._take_word("not")
        if self._take_word("in"):
            return _negated(self._members(name, kind), negated=negated)
        if self._take_word("between"):
            return _negated(self._between(name, kind), negated=negated)
        token = self._next
        comparator = _COMPARATORS.get(token.text) if token.kind == "sign" else None
        if comparator is None or negated:
            raise self._unexpected("in or between" if negated else "=, <, is null, in or between")
        self._position += 1
        return self._compared(name, kind, comparator)

    def _column(self) -> tuple[str, str | None]:
        token = self._next
        if token.kind == "quoted":
            name = token.text[1:-1].replace("``", "`")
        elif token.kind == "name" and token.text.lower() not in _WORDS:
            name = token.text
        else:
            raise self._unexpected("a column")
        self._position += 1
        if not self._take_sign(":"):
            return name, self._kinds.get(name)
        told = self._next
        kind = kind_named(told.text) if told.kind == "name" else None
        if kind is None:
            raise self._unexpected("a type")
        self._position += 1
        return name, kind

    def _members(self, name: str, kind: str | None) -> Filter:
        self._need_sign("(")
        parts = [self._compared(name, kind, Comparator.EQUAL)]
        while self._take_sign(","):
            parts.append(self._compared(name, kind, Comparator.EQUAL))
        self._need_sign(")")
        return parts[0] if len(parts) == 1 else Composite(LogicalOperator.OR, tuple(parts))

    def _between(self, name: str, kind: str | None) -> Filter:
        low = self._compared(name, kind, Comparator.GREATER_EQUAL)
        if not self._take_word("and"):
            raise self._unexpected("and")
        high = self._compared(name, kind, Comparator.LESS_EQUAL)
        return Composite(LogicalOperator.AND, (low, high))

    def _compared(self, name: str, kind: str | None, comparator: Comparator) -> Filter:
        value = self._value()
        values = _as_kind(name, value, kind)
        parts = tuple(Comparison(name, comparator, each, pass_if_missing=False) for each in values)
        return parts[0] if len(parts) == 1 else Composite(LogicalOperator.OR, parts)

    def _value(self) -> Value:
        token = self._next
        self._position += 1
        if token.kind == "number":
            return _number_of(token.text)
        if token.kind == "binary":
            return bytes.fromhex(token.text[2:])
        if token.kind == "text":
            return token.text[1:-1].replace(token.text[0] * 2, token.text[0])
        if token.kind == "name" and token.text.lower() in _TRUTHS:
            return _TRUTHS[token.text.lower()]
        self._position -= 1
        raise self._unexpected("a value; texts stand in quotes")

    # --- tokens -----------------------------------------------------------------------------

    @property
    def _next(self) -> _Token:
        return self._tokens[self._position]

    def expect_end(self) -> None:
        """Refuse what stands behind the condition."""
        if self._next.kind != "end":
            raise self._unexpected("and, or, or the end")

    def _take_word(self, word: str) -> bool:
        return self._take("name", word)

    def _take_sign(self, sign: str) -> bool:
        return self._take("sign", sign)

    def _take(self, kind: str, text: str) -> bool:
        taken = self._next.kind == kind and self._next.text.lower() == text
        self._position += taken
        return taken

    def _need_sign(self, sign: str) -> None:
        if not self._take_sign(sign):
            raise self._unexpected(sign)

    def _unexpected(self, wanted: str) -> WordInvalid:
        token = self._next
        place = "at its end" if token.kind == "end" else f"at character {token.place}"
        shown = "" if token.kind == "end" else f" and not {token.text}"
        return WordInvalid(f"{self._text!r}: {place} it needs {wanted}{shown}")


def _negated(tree: Filter, *, negated: bool) -> Filter:
    return Composite(LogicalOperator.NOT, (tree,)) if negated else tree


def _number_of(text: str) -> Value:
    if re.fullmatch(r"[+-]?[0-9]+", text) is None:
        return float(text)
    number = int(text) if len(text) <= 20 else INT64_MAX + 1
    if not INT64_MIN <= number <= INT64_MAX:
        raise WordInvalid(f"{text} has more than 64 bits")
    return number


def _as_kind(name: str, value: Value, kind: str | None) -> tuple[Value, ...]:
    """The values to compare with, by the type of the column. Raises: `WordInvalid`."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if kind is None:
        same = whole and int(float(value)) == value
        return (value, float(value)) if same else (value,)
    if whole and kind == "double":
        return (float(value),)
    if kind_of(value) != kind:
        raise WordInvalid(f"{name} is {kind}, and is compared with {kind_of(value)}")
    return (value,)
