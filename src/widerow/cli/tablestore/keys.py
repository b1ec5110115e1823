"""Keys as they are typed: values in order, or columns by name; and ranges of keys.

`c-1 7`, `CardID=c-1 OrderNumber=7`, and `["c-1",7]` are the same key. Words stand for values in
the order of the key until one has a `=`; a value with a `=` in it is given by name. A part of a
range is one word with commas: `c-1,7`, where a value with a comma in it stands in double quotes.
"""

import csv
import json
from base64 import b64decode
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from widerow.cli.tablestore.words import (
    Assignment,
    ReadBytes,
    WordInvalid,
    parse_assignment,
    parse_value,
)
from widerow.client.reading import KeyRange
from widerow.client.rows import encode_plain_key
from widerow.client.tables import TableFacts
from widerow.limits import INT64_MAX, INT64_MIN, KEY_VALUE_BYTES_MAX
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyInput, KeyMarker, KeyType, KeyValue

__all__ = [
    "KeyBounds",
    "KeyColumns",
    "column_kinds",
    "json_key",
    "key_range",
    "named_json_key",
    "split_row_words",
    "text_after_prefix",
    "text_before",
    "whole_key",
]

KeyColumns = tuple[tuple[str, KeyInput], ...]
"""A key: names and values, in the order of the table's key."""

_KINDS: Final = {KeyType.INTEGER: "integer", KeyType.STRING: "string", KeyType.BINARY: "binary"}
_SURROGATES: Final = range(0xD800, 0xE000)
_CHARACTER_MAX: Final = 0x10FFFF
_GREATEST: Final = {4: chr(_CHARACTER_MAX), 3: "\uffff", 2: "\u07ff", 1: "\x7f"}
"""The greatest character of so many bytes of UTF-8."""
_STAR: Final = "*"


class KeyBounds(NamedTuple):
    """A range as it is typed; empty texts are not given.

    `prefix`: values of the first key columns; the last one, if it is text and ends with a star,
    stands for all texts that begin so. `first` is included, `end` is not, in the order of the scan.
    """

    prefix: str = ""
    first: str = ""
    end: str = ""
    backward: bool = False


def column_kinds(table: TableFacts) -> dict[str, str]:
    """The names of the types of all columns that have one: those of the key, and defined ones."""
    return table.defined | {column.name: _KINDS[column.type] for column in table.key}


def split_row_words(
    words: Sequence[str], table: TableFacts, read: ReadBytes
) -> tuple[KeyColumns, list[Assignment]]:
    """The key that the words give, and the columns behind it that are not of the key.

    A key column that the server counts up may be left out. Raises: `WordInvalid`.
    """
    count = next((place for place, word in enumerate(words) if "=" in word), len(words))
    if count == 1 and words[0].startswith("["):
        return json_key(words[0], table), [parse_assignment(word) for word in words[1:]]
    columns = [column for column in table.key if column.name != table.auto_increment or count == 0]
    if count == len(table.key):
        columns = list(table.key)
    if count > len(table.key):
        raise WordInvalid(f"{words[len(table.key)]!r} is one value too many; {_wanted(table)}")
    named = {column.name: column for column in table.key}
    given = {
        column.name: _key_word(column, word, table, read)
        for column, word in zip(columns, words[:count], strict=False)
    }
    others = []
    for each in map(parse_assignment, words[count:]):
        column = named.get(each.name)
        if column is None:
            others.append(each)
        elif each.name in given:
            raise WordInvalid(f"the key column {each.name} is given twice")
        else:
            given[each.name] = _key_word(column, each.text, table, read)
    return whole_key(given, table), others


def _key_word(column: KeyColumn, word: str, table: TableFacts, read: ReadBytes) -> KeyInput:
    if column.name == table.auto_increment and word == "auto":
        return KeyMarker.AUTO_INCREMENT
    value = parse_value(column.name, word, _KINDS[column.type], read)
    assert not isinstance(value, bool | float), "keys are of three kinds"
    return value


def whole_key(given: dict[str, KeyInput], table: TableFacts) -> KeyColumns:
    """The key of these columns, in order; the server counts up what may be left out.

    Raises: `WordInvalid` where a column is missing.
    """
    if table.auto_increment is not None:
        given.setdefault(table.auto_increment, KeyMarker.AUTO_INCREMENT)
    missing = [column.name for column in table.key if column.name not in given]
    if missing:
        raise WordInvalid(f"no value of {', '.join(missing)}; {_wanted(table)}")
    return tuple((column.name, given[column.name]) for column in table.key)


def _wanted(table: TableFacts) -> str:
    columns = ", ".join(f"{each.name} ({_KINDS[each.type]})" for each in table.key)
    return f"the key of {table.name} is {columns}, in this order or as NAME=VALUE"


def json_key(text: str, table: TableFacts) -> KeyColumns:
    """A key as a JSON list of its values, as the vendor's command line has it (ts-cli).

    `null` is left to the server, in a column that it counts up. Raises: `WordInvalid`.
    """
    try:
        values = json.loads(text)
    except ValueError as error:
        raise WordInvalid(f'{text} is not a JSON list such as ["c-1",7]: {error}') from error
    if not isinstance(values, list):
        raise WordInvalid(f'{text} is not a JSON list such as ["c-1",7]')
    if len(values) != len(table.key):
        raise WordInvalid(f"{len(values)} values; {_wanted(table)}")
    return named_json_key(
        {column.name: value for column, value in zip(table.key, values, strict=True)}, table
    )


def named_json_key(values: dict[str, Any], table: TableFacts) -> KeyColumns:
    """The key whose values JSON has by the names of their columns. Raises: `WordInvalid`."""
    given = {
        column.name: _json_value(column, values[column.name], table)
        for column in table.key
        if column.name in values
    }
    return whole_key({name: value for name, value in given.items() if value is not None}, table)


def _json_value(
    column: KeyColumn,
    value: Any,  # noqa: ANN401  # whatever JSON holds
    table: TableFacts,
) -> KeyInput | None:
    if value is None and column.name == table.auto_increment:
        return None
    made: KeyValue | None = None
    match column.type:
        case KeyType.INTEGER:
            whole = isinstance(value, int) and not isinstance(value, bool)
            made = value if whole and INT64_MIN <= value <= INT64_MAX else None
        case KeyType.STRING:
            made = value if isinstance(value, str) else None
        case KeyType.BINARY:
            made = _json_bytes(value)
    if made is None:
        raise WordInvalid(
            f"{json.dumps(value)} is not a value of {column.name} ({_KINDS[column.type]})"
        )
    return made


def _json_bytes(
    value: Any,  # noqa: ANN401  # whatever JSON holds
) -> bytes | None:
    """Base64, or an object that says so, as exports have it."""
    text = value.get("binary") if isinstance(value, dict) and len(value) == 1 else value
    try:
        return b64decode(text, validate=True) if isinstance(text, str) else None
    except ValueError:
        return None


# --- ranges --------------------------------------------------------------------------------------


def key_range(bounds: KeyBounds, table: TableFacts, read: ReadBytes) -> KeyRange:
    """The range of keys that is asked for, all of them without a bound. Raises: `WordInvalid`.

    Key columns that a bound leaves out are filled so that all rows with the given ones lie on one
    side of it: a first bound takes them in, an end leaves them out.
    """
    low, high = KeyMarker.INF_MIN, KeyMarker.INF_MAX
    near, far = (high, low) if bounds.backward else (low, high)
    first: tuple[KeyInput, ...] = ()
    last: tuple[KeyInput, ...] = ()
    if bounds.prefix:
        if bounds.first or bounds.end:
            raise WordInvalid("give a prefix, or where the range begins and ends, and not both")
        if bounds.prefix.endswith(_STAR):
            first, last = _text_prefix(bounds, table, read)
            far = near
        else:
            first = last = _partial(bounds.prefix, table, read)
            if len(first) == len(table.key):
                raise WordInvalid(f"{bounds.prefix} is a whole key; read its row with `row get`")
    if bounds.first:
        first = _partial(bounds.first, table, read)
    if bounds.end:
        last, far = _partial(bounds.end, table, read), near
    return KeyRange(
        encode_plain_key(_filled(first, table, near)),
        encode_plain_key(_filled(last, table, far)),
        bounds.backward,
    )


def _text_prefix(
    bounds: KeyBounds, table: TableFacts, read: ReadBytes
) -> tuple[tuple[KeyInput, ...], tuple[KeyInput, ...]]:
    """Where the keys begin and end whose last given value begins with a text, by direction."""
    values = _partial(bounds.prefix[: -len(_STAR)], table, read)
    begin = values[-1] if values else ""
    if not isinstance(begin, str):
        raise WordInvalid(f"--prefix {bounds.prefix}: only text can begin with something")
    after = text_after_prefix(begin)
    under: KeyInput = begin
    above: KeyInput = KeyMarker.INF_MAX if after is None else after
    if bounds.backward:
        under, above = (
            text_before(begin) if begin else KeyMarker.INF_MIN,
            KeyMarker.INF_MAX if after is None else text_before(after),
        )
    low, high = (*values[:-1], under), (*values[:-1], above)
    return (high, low) if bounds.backward else (low, high)


def text_after_prefix(prefix: str) -> str | None:
    """The smallest text above all those that begin with `prefix`; None where there is none."""
    kept = prefix.rstrip(chr(_CHARACTER_MAX))
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)


def text_before(text: str) -> str:
    """The greatest text below `text`, which is not empty, that a key column can hold."""
    last = ord(text[-1]) - 1
    if last < 0:
        return text[:-1]
    begin = text[:-1] + chr(_SURROGATES.start - 1 if last in _SURROGATES else last)
    room = KEY_VALUE_BYTES_MAX - len(begin.encode())
    return begin + "".join(
        _GREATEST[size] * (room // size if size == 4 else room % 4 == size) for size in (4, 3, 2, 1)
    )


def _partial(text: str, table: TableFacts, read: ReadBytes) -> tuple[KeyInput, ...]:
    """The values of the first key columns, of a word with commas or of a JSON list."""
    if text.startswith("["):
        return _json_partial(text, table)
    try:
        words = next(csv.reader([text], strict=True), [""])
    except csv.Error as error:
        raise WordInvalid(f"{text}: {error}") from error
    if len(words) > len(table.key):
        raise WordInvalid(f"{text} has {len(words)} values; {_wanted(table)}")
    columns = table.key[: len(words)]
    return tuple(
        _key_word(column, _without_name(column, word), table, read)
        for column, word in zip(columns, words, strict=True)
    )


def _without_name(column: KeyColumn, word: str) -> str:
    """A value that may have the name of its column before it."""
    return word.removeprefix(f"{column.name}=")


def _json_partial(text: str, table: TableFacts) -> tuple[KeyInput, ...]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise WordInvalid(f'{text} is not a JSON list such as ["c-1",7]: {error}') from error
    if len(values) > len(table.key):
        raise WordInvalid(f"{text} has {len(values)} values; {_wanted(table)}")
    made: list[KeyInput] = []
    for column, value in zip(table.key, values, strict=False):
        marker = KeyMarker.__members__.get(value) if isinstance(value, str) else None
        if marker in (KeyMarker.INF_MIN, KeyMarker.INF_MAX):
            made.append(marker)
            continue
        found = _json_value(column, value, table)
        if found is None:
            raise WordInvalid(f"{column.name} has no value in {text}")
        made.append(found)
    return tuple(made)


def _filled(values: Iterable[KeyInput], table: TableFacts, marker: KeyMarker) -> KeyColumns:
    given = list(values)
    given += [marker] * (len(table.key) - len(given))
    return tuple((column.name, value) for column, value in zip(table.key, given, strict=True))
