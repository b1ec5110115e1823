"""The page that creates a Tablestore table: its name, key, versions and time to live."""

from collections.abc import Mapping
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.console.forms import typed_value
from widerow.console.parts import ConsoleRefused, Moved, PageDocument, Visit, address, not_permitted
from widerow.console.places import known_instances
from widerow.console.refusals import with_refusal
from widerow.console.row_keys import KEY_TYPE_NAMES
from widerow.model.tablestore.requests import CreateTable, OptionsChange, ThroughputChange
from widerow.model.tablestore.schema import KeyColumn

__all__ = ["show_create"]

_KEY_COLUMNS: Final = 4  # of a table (semantics §2.1)
_DAY_SECONDS: Final = 86_400
_KEY_TYPES: Final = {name: kind for kind, name in KEY_TYPE_NAMES.items()}
_FOREVER: Final = -1
_AUTOMATIC: Final = "integer, made by the server"


def show_create(visit: Visit) -> PageDocument | Moved:
    """The form for a new table, or the CreateTable of a form. Needs the permission to manage."""
    if not visit.may(Permission.MANAGE):
        raise not_permitted(Permission.MANAGE)
    form = visit.form
    document: PageDocument = {
        "instances": known_instances(visit),
        "kinds": [*_KEY_TYPES, _AUTOMATIC],
        "key_columns": _KEY_COLUMNS,
        "filled": dict(form or {}),
    }
    if form is None:
        return document
    made: dict[str, str] = {}
    shown = with_refusal(document, lambda: made.update(_create(visit, form)) or {})
    return shown if "refusal" in shown else Moved(address("table", **made))


def _create(visit: Visit, form: Mapping[str, str]) -> dict[str, str]:
    """Create the table of a form; its place. Raises the refusals of the service."""
    instance, name = form.get("instance", "").strip(), form.get("name", "").strip()
    visit.parts.identity().instances.admit(instance, visit.key)
    days = form.get("days", "").strip()
    kept = _FOREVER if not days else _number("days", days) * _DAY_SECONDS
    request = CreateTable(
        name,
        _key(form),
        (),
        ThroughputChange(0, 0),
        OptionsChange(
            time_to_live=kept,
            max_versions=_number("versions", form.get("versions", "1")),
            max_version_offset=_DAY_SECONDS,
        ),
    )
    visit.parts.committer.run(visit.parts.tablestore.create_table(instance, request))
    return {"instance": instance, "table": name}


def _number(name: str, text: str) -> int:
    number: Any = typed_value(name, "integer", text)
    return int(number)


def _key(form: Mapping[str, str]) -> tuple[KeyColumn, ...]:
    """The key of a form: the columns that have a name, without a gap between them."""
    names = [form.get(f"key.{number}.name", "").strip() for number in range(_KEY_COLUMNS)]
    given = len([name for name in names if name])
    if not all(names[:given]):
        raise ConsoleRefused(
            400, "A key column between others has no name.", "Name the columns without a gap."
        )
    return tuple(
        _column(name, form.get(f"key.{n}.type", "")) for n, name in enumerate(names[:given])
    )


def _column(name: str, kind: str) -> KeyColumn:
    if kind == _AUTOMATIC:
        return KeyColumn(name, _KEY_TYPES["integer"], auto_increment=True)
    if kind not in _KEY_TYPES:
        raise ConsoleRefused(400, f"{name}: there is no type {kind[:40]!r}.", "Choose one.")
    return KeyColumn(name, _KEY_TYPES[kind])
