"""Partition keys made of several columns: built, and taken apart again.

A design says which columns form a key, the connector between them, which integers get leading
zeros, and whether a hash is put in front. `build` and `parse` are each other's inverse for every
key that is built; values whose key could not be parsed are refused with the reason.

    '000054,a100,6777'   DeviceID in six digits, SellerID, CardID, connected by a comma
    'ddba200001'         OrderNumber behind the first four digits of its md5
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from widerow.errors import WiderowError
from widerow.limits import INT64_MAX, INT64_MIN, KEY_VALUE_BYTES_MAX

__all__ = [
    "ALGORITHMS",
    "CONNECTOR_DEFAULT",
    "HashPrefix",
    "KeyDesign",
    "KeyDesignInvalid",
    "KeyPart",
    "KeyRefused",
    "PartKind",
    "PartValue",
]

PartValue = int | str

CONNECTOR_DEFAULT: Final = ","  # less than every digit and letter
ALGORITHMS: Final = tuple(
    # Without the two algorithms whose length the caller chooses.
    sorted(name for name in hashlib.algorithms_guaranteed if not name.startswith("shake"))
)
"""Hash algorithms that every Python has, by their names in `hashlib`."""


class KeyDesignInvalid(WiderowError):
    """A design whose keys could not be parsed; the message says why."""


class KeyRefused(WiderowError):
    """A value that this design has no key for, or a text that is not a key of it."""


class PartKind(Enum):
    """The type of a column, which decides how it is written into the key."""

    TEXT = "text"
    INTEGER = "integer"


@dataclass(frozen=True, slots=True)
class KeyPart:
    """One column in the key.

    `width` is the number of digits to which an integer is padded with zeros; None writes it as it
    is. Raises: `KeyDesignInvalid` for a width that no integer has.
    """

    column: str
    kind: PartKind = PartKind.TEXT
    width: int | None = None

    def __post_init__(self) -> None:
        """Check that only integers have a width, of at most 19 digits."""
        if self.width is None:
            return
        if self.kind is not PartKind.INTEGER:
            raise KeyDesignInvalid(f"{self.column} is a text; zeros go in front of integers only")
        if not 1 <= self.width <= len(str(INT64_MAX)):
            raise KeyDesignInvalid(
                f"{self.column}: a width is 1 to {len(str(INT64_MAX))} digits, not {self.width}"
            )

    def write(self, value: PartValue) -> str:
        """The text of a value in the key. Raises `KeyRefused`."""
        if self.kind is PartKind.TEXT:
            if not isinstance(value, str):
                raise KeyRefused(f"{self.column} is a text, not {value!r}")
            return value
        if not isinstance(value, int) or isinstance(value, bool):
            raise KeyRefused(f"{self.column} is an integer, not {value!r}")
        if not INT64_MIN <= value <= INT64_MAX:
            raise KeyRefused(f"{self.column}: {value} has more than 64 bits")
        return str(value) if self.width is None else self._padded(value, self.width)

    def _padded(self, value: int, width: int) -> str:
        if value < 0:
            raise KeyRefused(
                f"{self.column}: {value} is negative; zeros in front keep the order of numbers "
                "from 0 upwards only, so add a constant first"
            )
        digits = str(value).zfill(width)
        if len(digits) > width:
            raise KeyRefused(
                f"{self.column}: {value} has more than {width} digits; widen the column for all "
                "keys, as keys of two widths do not sort together"
            )
        return digits

    def read(self, text: str) -> PartValue:
        """The value of a text of `write`. Raises `KeyRefused`."""
        if self.kind is PartKind.TEXT:
            return text
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise KeyRefused(f"{self.column}: {text!r} is not an integer")
        value = int(text)
        if self.write(value) != text:
            raise KeyRefused(f"{self.column}: {text!r} is not how {value} is written in this key")
        return value


@dataclass(frozen=True, slots=True)
class HashPrefix:
    """The first digits of a hash, in front of the key.

    The hash is of the first `columns` columns as written in the key, with connectors, in UTF-8;
    None: of all columns. Rows that agree in these columns stay together. `line_feed` hashes a line
    feed after them, as `echo 200001 | md5sum` does. Raises: `KeyDesignInvalid`.
    """

    algorithm: str = "md5"
    digits: int = 4
    columns: int | None = None
    line_feed: bool = False

    def __post_init__(self) -> None:
        """Check that the algorithm is known and has so many digits."""
        if self.algorithm not in ALGORITHMS:
            raise KeyDesignInvalid(
                f"no hash is called {self.algorithm!r}; known are {', '.join(ALGORITHMS)}"
            )
        longest = hashlib.new(self.algorithm, usedforsecurity=False).digest_size * 2
        if not 1 <= self.digits <= longest:
            raise KeyDesignInvalid(
                f"{self.algorithm} has 1 to {longest} digits to take, not {self.digits}"
            )
        if self.columns is not None and self.columns < 1:
            raise KeyDesignInvalid("a hash is computed of at least one column")

    def of(self, text: str) -> str:
        """The prefix of a key that begins with these columns."""
        data = (text + "\n" * self.line_feed).encode()
        found = hashlib.new(self.algorithm, data, usedforsecurity=False)
        return found.hexdigest()[: self.digits]


@dataclass(frozen=True, slots=True)
class KeyDesign:
    """How a partition key is made of columns.

    `connector` is one character, or empty where every part but the last is an integer of fixed
    width. Raises: `KeyDesignInvalid` where keys could not be parsed.
    """

    parts: tuple[KeyPart, ...]
    connector: str = CONNECTOR_DEFAULT
    prefix: HashPrefix | None = None

    def __post_init__(self) -> None:
        """Check that keys can be parsed."""
        names = [part.column for part in self.parts]
        if not names:
            raise KeyDesignInvalid("a key is made of at least one column")
        if len(set(names)) < len(names):
            raise KeyDesignInvalid(f"a column is named twice in {', '.join(names)}")
        if self.prefix and self.prefix.columns and self.prefix.columns > len(names):
            raise KeyDesignInvalid(
                f"the hash is of {self.prefix.columns} columns, and the key has {len(names)}"
            )
        if len(self.connector) > 1:
            raise KeyDesignInvalid(
                f"the connector is one character, not {self.connector!r}: what stands behind the "
                "first would decide the order of some keys and not of others"
            )
        for part in self.parts[:-1]:
            self._check_connector(part)

    def _check_connector(self, part: KeyPart) -> None:
        if not self.connector and part.width is None:
            raise KeyDesignInvalid(
                f"without a connector nobody can say where {part.column} ends; give one, or "
                "zeros in front if it is an integer"
            )
        written_with = "0123456789" + "-" * (part.width is None)
        if part.kind is PartKind.INTEGER and self.connector and self.connector in written_with:
            raise KeyDesignInvalid(
                f"the connector {self.connector!r} may stand inside the integer {part.column}"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the key, in their order."""
        return tuple(part.column for part in self.parts)

    def build(self, values: Sequence[PartValue]) -> str:
        """The key of these values, one for each part. Linear in their length.

        Raises: `KeyRefused` for a value of the wrong type, one that holds the connector before the
        last column, an integer that does not fit its width, or a key above 1024 bytes.
        """
        if len(values) != len(self.parts):
            raise KeyRefused(f"{len(values)} values for {len(self.parts)} columns")
        texts = [part.write(value) for part, value in zip(self.parts, values, strict=True)]
        if self.connector:
            for part, text in zip(self.parts, texts[:-1], strict=False):
                if self.connector in text:
                    raise KeyRefused(
                        f"{part.column}: {text!r} holds the connector {self.connector!r}, so its "
                        "end could not be found again; choose another connector"
                    )
        try:
            key = self._prefix_of(texts) + self.connector.join(texts)
            size = len(key.encode())
        except UnicodeEncodeError as error:
            raise KeyRefused(f"{values!r} is not text that UTF-8 can write") from error
        if size > KEY_VALUE_BYTES_MAX:
            raise KeyRefused(f"the key has {size} bytes; a table takes {KEY_VALUE_BYTES_MAX}")
        return key

    def parse(self, key: str) -> tuple[PartValue, ...]:
        """The values of a key of `build`. Raises `KeyRefused` for any other text."""
        if self.prefix is None:
            return self._values(key)
        digits = self.prefix.digits
        values = self._values(key[digits:])
        if self.build(values) != key:
            raise KeyRefused(f"{key!r} does not begin with the {self.prefix.algorithm} of its rest")
        return values

    def _values(self, rest: str) -> tuple[PartValue, ...]:
        texts = (
            rest.split(self.connector, len(self.parts) - 1) if self.connector else self._cut(rest)
        )
        if len(texts) != len(self.parts):
            raise KeyRefused(
                f"{rest!r} has {len(texts)} parts, and this key {len(self.parts)}: "
                f"{', '.join(self.columns)}"
            )
        return tuple(part.read(text) for part, text in zip(self.parts, texts, strict=True))

    def _cut(self, rest: str) -> list[str]:
        """The parts of a key without a connector: all but the last have a fixed width."""
        texts = []
        for part in self.parts[:-1]:
            width = part.width or 0
            texts.append(rest[:width])
            rest = rest[width:]
        return [*texts, rest]

    def _prefix_of(self, texts: Sequence[str]) -> str:
        if self.prefix is None:
            return ""
        return self.prefix.of(self.connector.join(texts[: self.prefix.columns]))
