"""What a function of SQL is: how many arguments it takes, what it makes of them, what it gives."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Context
from typing import Any, Final, NamedTuple, Protocol

from widerow.errors import AnyRule, Detail
from widerow.model.typed.types import Kind
from widerow.wire.nosql.sql.items import EnumItem
from widerow.wire.nosql.sql.texts import item_type_name, text_of

__all__ = [
    "CALL",
    "NULL_ITEMS",
    "ArgumentItems",
    "Env",
    "FunctionFault",
    "FunctionRule",
    "Items",
    "SqlFunction",
    "is_null",
    "promote_text",
    "promotion",
    "text_argument",
]

Items = Sequence[Any]  # what an expression gives: no item (EMPTY), one, or many
ArgumentItems = Sequence[Items]
NULL_ITEMS: Final[Items] = (None,)
CALL: Final = -1  # the place of the function itself, in a fault


class Env(Protocol):
    """What functions know besides their arguments."""

    @property
    def now_us(self) -> int:
        """Microseconds since 1970 when the statement began."""
        ...

    @property
    def context(self) -> Context:
        """Digits and rounding of NUMBER that the client asked for."""
        ...

    def random(self, count: int) -> bytes:
        """So many random bytes."""
        ...


class SqlFunction(NamedTuple):
    """A function: `call` takes the items of each argument and gives items.

    It takes `least` to `most` arguments. `result` is the type that it gives, None where that
    depends on its arguments; `precision` is that of a TIMESTAMP. `call` raises `FunctionFault`.
    """

    least: int
    most: int
    call: Callable[[ArgumentItems, Env], Items]
    result: Kind | None = None
    precision: int = 0


class FunctionRule(AnyRule):
    """What functions refuse; the value is the text of the error."""

    PROMOTE = "Cannot promote item {item}\nof type :\n{type}\nto type :\n{wanted}"
    CAST = "Cannot cast value \n{item}\nof type \n{type}\nto type \n{wanted}"
    PATTERN = "The pattern parameter [{text}] contains an unsupported regular expression."
    FLAGS = (
        "The flags parameter [{text}] of regex_like is invalid: "
        "flags are among d, i, x, l, s, c, u, U"
    )
    JSON = "Failed to parse JSON input: {text}"
    GEO = "Support for GeoJson data is not available in the Community Edition of Oracle NoSQL"
    DURATION = (
        "The duration string [{text}] specified for the timestamp_add function is invalid: "
        "Invalid interval string '{text}', unit can be [YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, "
        "MILLISECOND, NANOSECOND]"
    )
    UNIT = (
        "Invalid unit '{text}', supported units: [YEAR, IYEAR, QUARTER, MONTH, IWEEK, WEEK, DAY, "
        "HOUR, MINUTE, SECOND]"
    )
    PART = "Unrecognized unit: {text}"
    BUCKET = (
        "Invalid arbitrary interval '{text}', valid units are WEEK, DAY, HOUR, MINUTE and SECOND"
    )
    RANGE = (
        "Timestamp should be in range from -6383-01-01T00:00:00Z to "
        "9999-12-31T23:59:59.999999999Z: {text}"
    )
    FORMAT = "Failed to format the timestamp with pattern '{pattern}': {text}"
    PARSE = "Failed to parse the date string '{value}' with the pattern: {pattern}: {text}"
    COMPLEX = (
        "Input to the size() function has wrong type\nExpected a complex item. Actual item type "
        'is:\n{{\n  "type" : "{type}"\n}}'
    )
    SEVERAL = "Result set with more than one item cannot be promoted  to type Any?"
    SUMMED = "Invalid input type for the {name}function:\n{type}"
    TEXT_SIZE = "The text of {name} has more than {limit} characters"

    def told(self, details: Mapping[str, Detail]) -> str:
        """The text of the error."""
        return str(self.value).format_map(details)


class FunctionFault(Exception):
    """A function refuses an argument.

    `argument` tells whose place in the statement the message names: the number of an argument,
    `CALL` for the function itself; None: it names none.
    """

    def __init__(self, rule: FunctionRule, argument: int | None, **details: Detail) -> None:
        self.rule = rule
        self.argument = argument
        self.details = details
        super().__init__(rule.told(details))


def is_null(items: Items) -> bool:
    """Whether items are SQL NULL, alone."""
    return len(items) == 1 and items[0] is None


def text_argument(items: Items) -> str | None:
    """The text of an argument; None for SQL NULL, EMPTY and several items."""
    if len(items) != 1 or items[0] is None:
        return None
    return text_of(items[0])


def promote_text(arguments: ArgumentItems, at: int) -> str | None:
    """An argument that has to be a STRING; None for SQL NULL and EMPTY.

    Raises `FunctionFault` for items of other types and for several items.
    """
    items = arguments[at]
    if len(items) > 1:
        raise FunctionFault(FunctionRule.SEVERAL, at)
    if not items or items[0] is None:
        return None
    if not isinstance(items[0], str) or isinstance(items[0], EnumItem):
        raise promotion(items[0], "String", at)
    return str(items[0])


def promotion(item: Any, wanted: str, at: int) -> FunctionFault:  # noqa: ANN401  # any item
    """That an argument is of another type."""
    return FunctionFault(
        FunctionRule.PROMOTE, at, item=text_of(item), type=item_type_name(item), wanted=wanted
    )
