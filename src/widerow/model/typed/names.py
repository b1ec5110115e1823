"""Names of tables, fields, indexes, enumeration symbols and namespaces (model §1).

Names keep their case and are compared without it; enumeration symbols are compared as they are.
"""

import re
from typing import Final

from widerow.errors import InvalidRequest
from widerow.limits import (
    FIELD_NAME_CHARACTERS_MAX,
    INDEX_NAME_CHARACTERS_MAX,
    NAMESPACE_CHARACTERS_MAX,
    TYPED_TABLE_NAME_CHARACTERS_MAX,
)
from widerow.model.typed.rules import TypedRule

__all__ = [
    "DEFAULT_NAMESPACE",
    "check_enum_symbol",
    "check_field_name",
    "check_index_name",
    "check_name_component",
    "check_namespace",
    "folded",
    "in_namespace",
    "same_name",
    "split_name",
]

DEFAULT_NAMESPACE: Final = "sysdefault"

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_NAMESPACE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.\-@]*\Z")
_SYSTEM_PREFIX: Final = "sys$"


def folded(name: str) -> str:
    """The lower-case form, by which names are compared."""
    return name.lower()


def same_name(left: str, right: str) -> bool:
    """Whether two names differ in case at most."""
    return left == right or left.lower() == right.lower()


def check_name_component(name: str) -> None:
    """One component of a table's name. Raises `InvalidRequest`."""
    if name.lower().startswith(_SYSTEM_PREFIX):
        raise InvalidRequest(TypedRule.NAME_SYSTEM, name=name)
    _check(name, "Table", TYPED_TABLE_NAME_CHARACTERS_MAX)


def check_field_name(name: str) -> None:
    """A column's or record field's name. Raises `InvalidRequest`."""
    _check(name, "Field", FIELD_NAME_CHARACTERS_MAX)


def check_index_name(name: str) -> None:
    """An index's name. Raises `InvalidRequest`."""
    _check(name, "Index", INDEX_NAME_CHARACTERS_MAX)


def check_enum_symbol(symbol: str) -> None:
    """A symbol of an enumeration. Raises `InvalidRequest`."""
    if not _NAME.match(symbol):
        raise InvalidRequest(TypedRule.ENUM_NAME_CHARACTERS, name=symbol)


def check_namespace(name: str) -> None:
    """A namespace's name. Raises `InvalidRequest`."""
    if len(name) > NAMESPACE_CHARACTERS_MAX:
        raise InvalidRequest(
            TypedRule.NAME_LENGTH,
            name=name[:NAMESPACE_CHARACTERS_MAX],
            kind="Namespace",
            limit=NAMESPACE_CHARACTERS_MAX,
        )
    if not _NAMESPACE.match(name):
        raise InvalidRequest(TypedRule.NAMESPACE_CHARACTERS, name=name)


def split_name(qualified: str) -> tuple[str, str]:
    """Namespace and table of `[namespace:]table[.child]*`; the default namespace is ''."""
    namespace, colon, table = qualified.partition(":")
    if not colon:
        return "", qualified
    return ("" if same_name(namespace, DEFAULT_NAMESPACE) else namespace), table


def in_namespace(name: str, namespace: str) -> str:
    """A table's name with its namespace: this one unless it names one itself."""
    own = ":" in name or not namespace or same_name(namespace, DEFAULT_NAMESPACE)
    return name if own else f"{namespace}:{name}"


def _check(name: str, kind: str, limit: int) -> None:
    if not _NAME.match(name):
        raise InvalidRequest(TypedRule.NAME_CHARACTERS, kind=kind, name=name[: 2 * limit])
    if len(name) > limit:
        raise InvalidRequest(TypedRule.NAME_LENGTH, kind=kind, name=name[: 2 * limit], limit=limit)
