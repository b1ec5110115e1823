"""Documents of a search index as plain Python objects, for the reference evaluator.

Written from the page (search §2, §3), without code of `widerow.search`, which is compared with it.
The analyzers that need a dictionary are missing.
"""

import ipaddress
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from widerow.model.search.schema import (
    AnalyzerName,
    JsonKind,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
    VectorMetric,
)
from widerow.model.values import Value

__all__ = [
    "PlainDocument",
    "grid_value",
    "parse_date",
    "plain_address",
    "plain_document",
    "plain_from_text",
    "plain_point",
    "plain_tokens",
]

_T: Final = SearchFieldType
_ELEMENTS_MAX: Final = 256
_BYTES_MAX: Final = {_T.KEYWORD: 4096, _T.FUZZY_KEYWORD: 2048, _T.TEXT: 2 * 1024 * 1024}
_LONG: Final = range(-(2**63), 2**63)
_ARRAY_GAP: Final = 100  # positions between the texts of an array, as Elasticsearch leaves them
_EPOCHS: Final = {
    "epoch_second": 10**9,
    "epoch_millis": 10**6,
    "epoch_micros": 10**3,
    "epoch_nanos": 1,
}
_LETTERS: Final = {
    "yyyy": r"(?P<y>\d{4})",
    "MM": r"(?P<M>\d{2})",
    "dd": r"(?P<d>\d{2})",
    "HH": r"(?P<H>\d{2})",
    "mm": r"(?P<m>\d{2})",
    "ss": r"(?P<s>\d{2})",
    "SSS": r"(?P<S>\d{3})",
}
_INTEGRAL: Final = re.compile(r"[+-]?\d+")


@dataclass(slots=True)
class PlainDocument:
    """One row, or one element below a row.

    `values`: by full name of a field, the values that searches, sorts and groups use: int, float,
    bool, bytes (KEYWORD in UTF-8, IP in 16 bytes), points as pairs, vectors as tuples, texts as
    they are. `tokens`: of TEXT, by field, pairs of position and token. `children`: by path.
    """

    key: bytes
    offset: int = 0
    values: dict[str, list[Any]] = field(default_factory=dict)
    tokens: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    children: "dict[str, list[PlainDocument]]" = field(default_factory=dict)

    def below(self, path: str) -> "Iterator[PlainDocument]":
        """The documents at a nested path, at any depth."""
        for at, there in self.children.items():
            if at == path:
                yield from there
            elif path.startswith(f"{at}."):
                for each in there:
                    yield from each.below(path)


def plain_document(schema: SearchSchema, key: bytes, columns: Mapping[str, Value]) -> PlainDocument:
    """A row as its index has it; `columns` with those of the primary key."""
    found = PlainDocument(key)
    for each in schema.fields:
        value = columns.get(each.source or each.name)
        if value is not None:
            _read_column(found, each, value)
    return found


def _read_column(into: PlainDocument, asked: SearchField, value: Value) -> None:
    if asked.type in {_T.NESTED, _T.JSON}:
        parsed = _parse(value)
        if asked.type is _T.NESTED or asked.json is JsonKind.NESTED:
            _read_nested(into, asked, asked.name, parsed)
        else:
            _read_object(into, asked, asked.name, parsed)
    elif asked.is_array and asked.type is not _T.VECTOR:
        elements = _parse(value)
        if elements is not None:
            _read_elements(into, asked, asked.name, elements)
    else:
        if asked.source:
            value = _virtual(asked, value)
        _add(into, asked, asked.name, _of_column(asked, value))


def _virtual(asked: SearchField, value: Value) -> Value:
    """The value of a virtual field of another type (search §2.5): texts of numbers, and back."""
    if asked.type in {_T.KEYWORD, _T.FUZZY_KEYWORD, _T.TEXT} and type(value) in {int, float}:
        return repr(value)
    if asked.type in {_T.LONG, _T.DOUBLE} and isinstance(value, str):
        number = _number(asked.type, value)
        return value if number is None else number
    return value


def _parse(value: object) -> Any:  # noqa: ANN401  # JSON is anything
    try:
        return json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _read_nested(into: PlainDocument, asked: SearchField, path: str, parsed: object) -> None:
    elements = [parsed] if isinstance(parsed, dict) else parsed
    if not isinstance(elements, list) or len(elements) > _ELEMENTS_MAX:
        return
    there = []
    for offset, element in enumerate(elements):
        if isinstance(element, dict):
            child = PlainDocument(into.key, offset)
            _read_members(child, asked, path, element)
            there.append(child)
    if there:
        into.children[path] = there


def _read_object(into: PlainDocument, asked: SearchField, path: str, parsed: object) -> None:
    for element in parsed if isinstance(parsed, list) else [parsed]:
        if isinstance(element, dict):
            _read_members(into, asked, path, element)


def _read_members(
    into: PlainDocument, asked: SearchField, path: str, element: Mapping[str, object]
) -> None:
    for each in asked.fields:
        value, name = element.get(each.name), f"{path}.{each.name}"
        if value is None:
            continue
        if each.type is _T.NESTED or each.json is JsonKind.NESTED:
            _read_nested(into, each, name, value)
        elif each.type is _T.JSON:
            _read_object(into, each, name, value)
        elif each.type is _T.VECTOR:
            _add(into, each, name, _vector(each, value))
        else:
            _read_elements(into, each, name, value)


def _read_elements(into: PlainDocument, asked: SearchField, name: str, value: object) -> None:
    elements = value if isinstance(value, list) else [value]
    for each in elements[:_ELEMENTS_MAX]:
        _add(into, asked, name, _of_json(asked, each))


def _add(into: PlainDocument, asked: SearchField, name: str, value: object) -> None:
    if value is None:
        return
    into.values.setdefault(name, []).append(value)
    if asked.type is _T.TEXT:
        assert isinstance(value, str), "a text is a text"
        there = into.tokens.setdefault(name, [])
        first = there[-1][0] + 1 + _ARRAY_GAP if there else 0
        analyzer = asked.analyzer or TextAnalyzer()
        if analyzer.name is AnalyzerName.FUZZY:
            return  # the texts are searched themselves
        there.extend((first + at, token) for at, token in enumerate(plain_tokens(analyzer, value)))


def _of_column(asked: SearchField, value: Value) -> Any:  # noqa: ANN401  # a value of the field's type
    """A column's value as the field has it, None where it cannot (search §2)."""
    kind = type(value)
    match asked.type:
        case SearchFieldType.LONG:
            return value if kind is int else None
        case SearchFieldType.DOUBLE:
            return _finite(value) if isinstance(value, float) else None
        case SearchFieldType.BOOLEAN:
            return value if kind is bool else None
        case SearchFieldType.DATE:
            return parse_date(asked, value)
        case SearchFieldType.VECTOR:
            return _vector(asked, value)
        case _:
            return plain_from_text(asked, value) if isinstance(value, str) else None


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value


def _of_json(asked: SearchField, value: object) -> Any:  # noqa: ANN401  # a value of the field's type
    """A value in JSON as the field has it (search §2)."""
    if asked.type in {_T.LONG, _T.DOUBLE}:
        return _number(asked.type, value)
    if asked.type is _T.BOOLEAN:
        return value if isinstance(value, bool) else None
    if asked.type is _T.DATE:
        return parse_date(asked, value)
    if asked.type in {_T.KEYWORD, _T.FUZZY_KEYWORD, _T.TEXT} and type(value) in {int, float}:
        return plain_from_text(asked, json.dumps(value))
    return plain_from_text(asked, value) if isinstance(value, str) else None


def _number(kind: SearchFieldType, value: object) -> Any:  # noqa: ANN401  # int or float
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = int(value) if _INTEGRAL.fullmatch(value) else float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or (isinstance(value, float) and math.isnan(value)):
        return None
    if kind is _T.DOUBLE:
        return float(value)
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if int(value) in _LONG else None


def plain_from_text(asked: SearchField, text: str) -> Any:  # noqa: ANN401  # a value of the field's type
    """A text as a value of a KEYWORD, TEXT, IP or GEO_POINT field; None where it is invalid."""
    if len(text.encode()) > _BYTES_MAX.get(asked.type, math.inf):
        return None
    match asked.type:
        case SearchFieldType.KEYWORD | SearchFieldType.FUZZY_KEYWORD:
            return text.encode()
        case SearchFieldType.TEXT:
            return text
        case SearchFieldType.IP:
            return plain_address(text)
        case SearchFieldType.GEO_POINT:
            return plain_point(text)
        case _:
            return None


def plain_address(text: str) -> bytes | None:
    """An address in 16 bytes; addresses of version 4 are mapped into version 6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.version == 4:  # of the Internet Protocol
        return bytes(10) + b"\xff\xff" + address.packed
    return address.packed


def plain_point(text: str) -> tuple[float, float] | None:
    """A point on the grid of 32 bits (search §4.6)."""
    parts = text.split(",")
    try:
        latitude, longitude = (float(each) for each in parts)
    except ValueError:
        return None
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):  # degrees
        return None
    return grid_value(latitude, 180), grid_value(longitude, 360)


def grid_value(degrees: float, whole: int) -> float:
    """Degrees as they are stored: rounded down to one of 2³² steps."""
    steps = min(math.floor(degrees * 2**32 / whole), 2**31 - 1)
    return steps * whole / 2**32


def _vector(asked: SearchField, value: object) -> tuple[float, ...] | None:
    numbers = _parse(value) if isinstance(value, str) else value
    options = asked.vector
    assert options, "a vector field has options"
    if not isinstance(numbers, list) or len(numbers) != options.dimension:
        return None
    if not all(type(each) in {int, float} for each in numbers):
        return None
    if options.metric is VectorMetric.COSINE and not any(numbers):
        return None
    return tuple(float(each) for each in numbers)


# --- dates ----------------------------------------------------------------------------------------


def parse_date(asked: SearchField, value: object) -> int | None:
    """Nanoseconds since 1970, by the first format that reads the value (search §2.3)."""
    for each in asked.date_formats:
        found = _date(each, value)
        if found is not None and 0 <= found < 2**63:
            return found
    return None


def _date(pattern: str, value: object) -> int | None:
    unit = _EPOCHS.get(pattern)
    if unit is not None:
        return value * unit if type(value) is int else None
    if not isinstance(value, str):
        return None
    parts = re.fullmatch(_expression(pattern), value, re.ASCII)
    if parts is None:
        return None
    numbers = {name: int(number) for name, number in parts.groupdict().items()}
    try:
        moment = datetime(
            numbers["y"],
            numbers.get("M", 1),
            numbers.get("d", 1),
            numbers.get("H", 0),
            numbers.get("m", 0),
            numbers.get("s", 0),
            tzinfo=UTC,
        )
    except ValueError:
        return None
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // _SECOND
    return seconds * 10**9 + numbers.get("S", 0) * 10**6


def _expression(pattern: str) -> str:
    found = ""
    for part in re.finditer(r"'([^']*)'|(([a-zA-Z])\3*)|([^a-zA-Z']+)", pattern):
        found += _LETTERS[part[2]] if part[2] else re.escape(part[1] or part[4])
    return found


_SECOND: Final = datetime(1970, 1, 1, 0, 0, 1) - datetime(1970, 1, 1)  # noqa: DTZ001  # a difference


# --- analyzers ------------------------------------------------------------------------------------


def plain_tokens(analyzer: TextAnalyzer, text: str) -> list[str]:
    """The tokens of a text in their order (search §3)."""
    if not analyzer.case_sensitive:
        text = text.lower()
    match analyzer.name:
        case AnalyzerName.SPLIT if analyzer.delimiter is None or analyzer.delimiter.isspace():
            return text.split()
        case AnalyzerName.SPLIT:
            return [each for each in text.split(analyzer.delimiter) if each]
        case AnalyzerName.SINGLE_WORD:
            return _single_words(text, delimit=analyzer.delimit_word)
        case _:
            raise NotImplementedError(f"{analyzer.name} has no plain tokens")


def _single_words(text: str, *, delimit: bool) -> list[str]:
    found: list[str] = []
    last = ""
    for letter in text:
        kind = _kind(letter)
        if kind == "alone" or (
            kind and (not last or last == "alone" or (delimit and kind != last))
        ):
            found.append(letter)
        elif kind:
            found[-1] += letter
        last = kind
    return found


def _kind(letter: str) -> str:
    """Empty for a separator, "alone" for ideographs, kana, hangul, else "letter" or "digit"."""
    name = unicodedata.name(letter, "")
    if name.startswith(("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER", "HANGUL SYLLABLE")):
        return "alone"
    if letter.isalpha():
        return "letter"
    return "digit" if letter.isdigit() else ""
