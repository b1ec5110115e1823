"""`add-field`: add a column, a field of a record, or the type of elements (cli §3)."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from widerow.cli.kv.build_levels import field_level
from widerow.cli.kv.command import Command, missing_argument, number_of
from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Session
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.model.typed.coerce import check_default
from widerow.model.typed.texts import binary_from_text
from widerow.model.typed.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    STRING,
    Field,
    FieldType,
    Kind,
    enum_of,
    fixed_binary,
    timestamp,
)
from widerow.model.typed.values import TypedValue
from widerow.written_numbers import real_number

__all__ = ["ADD_FIELD"]

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,20}")
# The flag that only this type takes, and whether the type requires it.
_TYPE_FLAGS: Final = {
    Kind.ENUM: ("-enum-values", True),
    Kind.FIXED_BINARY: ("-size", True),
    Kind.TIMESTAMP: ("-precision", False),
}
_TYPES: Final[Mapping[Kind, Callable[[Arguments], FieldType]]] = {
    Kind.INTEGER: lambda _: INTEGER,
    Kind.LONG: lambda _: LONG,
    Kind.DOUBLE: lambda _: DOUBLE,
    Kind.FLOAT: lambda _: FLOAT,
    Kind.STRING: lambda _: STRING,
    Kind.BOOLEAN: lambda _: BOOLEAN,
    Kind.BINARY: lambda _: BINARY,
    Kind.FIXED_BINARY: lambda given: fixed_binary(number_of(given, "-size") or 0),
    Kind.ENUM: lambda given: enum_of(given.need("-enum-values").split(",")),
    Kind.TIMESTAMP: lambda given: timestamp(number_of(given, "-precision") or 0),
}


def _kind(given: Arguments) -> Kind:
    typed = given.need("-type")
    try:
        kind = Kind(typed.upper())
    except ValueError as error:
        raise ArgumentFault(typed) from error
    if kind not in _TYPES:
        raise CommandFault(f"Unsupported datatype: {kind.value}")
    return kind


def _check(session: Session, given: Arguments) -> None:
    collection = field_level(session).collection
    if not collection and not given.has("-name"):
        raise missing_argument("-name", "add-field")
    kind = _kind(given)
    for owner, (flag, required) in _TYPE_FLAGS.items():
        if owner is kind and required and not given.has(flag):
            raise missing_argument(flag, "add-field")
        if owner is not kind and given.has(flag):
            raise ArgumentFault(f"{flag} can only be used with {owner.value}")
    if collection:
        for flag in ("-name", "-default", "-not-nullable", "-desc"):
            if given.has(flag):
                raise ArgumentFault(f"{flag} is not allowed for the type field of {collection}")


def _add_field(session: Session, given: Arguments) -> None:
    kind = _TYPES[_kind(given)](given)
    name = given.get("-name") or ""
    text = given.get("-default")
    field = Field(
        name,
        kind,
        nullable=not given.has("-not-nullable"),
        default=None if text is None else _default(text, kind, name),
        comment=given.get("-desc"),
    )
    field_level(session).add(field)


def _default(text: str, kind: FieldType, name: str) -> TypedValue:
    read = _READERS.get(kind.kind)
    return check_default(text if read is None else read(text, kind, name), kind, name)


def _whole(text: str, kind: FieldType, _: str) -> TypedValue:
    bits, word = (31, "integer") if kind.kind is Kind.INTEGER else (63, "long")
    if not _WHOLE.fullmatch(text) or not -(1 << bits) <= int(text) < 1 << bits:
        raise ArgumentFault(f"{text}, not a valid {word} number.")
    return int(text)


def _floating(text: str, kind: FieldType, _: str) -> TypedValue:
    try:
        return real_number(text.strip())
    except ValueError as error:
        raise ArgumentFault(f"{text}, not a valid {kind.kind.value.lower()}.") from error


def _boolean(text: str, _: FieldType, __: str) -> TypedValue:
    return text.lower() == "true"  # the vendor reads any other text as false


# How the text of a default value is read, where the value is not the text itself.
_READERS: Final[Mapping[Kind, Callable[[str, FieldType, str], TypedValue]]] = {
    Kind.INTEGER: _whole,
    Kind.LONG: _whole,
    Kind.FLOAT: _floating,
    Kind.DOUBLE: _floating,
    Kind.BOOLEAN: _boolean,
    Kind.BINARY: binary_from_text,
    Kind.FIXED_BINARY: binary_from_text,
}

ADD_FIELD: Final = Command(
    name="add-field",
    shortest=5,
    description=(
        "Adds a field. Types: INTEGER, LONG, DOUBLE, FLOAT, STRING, BOOLEAN, BINARY,\n"
        "FIXED_BINARY (with -size), ENUM (with -enum-values), TIMESTAMP (-precision 0 to 9).\n"
        "In a map or array it says what the elements are, and takes no -name."
    ),
    run=_add_field,
    flags=(
        ShellFlag("-type", "type", required=True),
        ShellFlag("-name", "field-name"),
        ShellFlag("-not-nullable"),
        ShellFlag("-default", "value"),
        ShellFlag("-desc", "description"),
        ShellFlag("-size", "size"),
        ShellFlag("-enum-values", "value[,value[,…]]"),
        ShellFlag("-precision", "digits"),
    ),
    check=_check,
)
