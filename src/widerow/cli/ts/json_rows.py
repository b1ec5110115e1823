"""Keys, columns, rows and tables in the vendor's JSON (ts-cli). Pure.

Attributes are `{"c": name, "v": value, "t": type, "ts": version}`; a number without a type is a
double unless `"isint": true` says otherwise, as the vendor's program reads it. Exported rows are
`{"PK": {"Values": […]}, "Attr": {"Values": [{"C": …, "V": …, "TS": …, "IsInt": true}]}}`.
"""

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any, Final

from widerow.cli.tablestore.keys import KeyColumns, json_key
from widerow.cli.tablestore.words import WordInvalid
from widerow.client.rows import CellEdit
from widerow.client.tables import TableFacts
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.tablestore.row import CellOperation
from widerow.model.values import Value
from widerow.rows.plain_values import Row
from widerow.transfer.columns import kind_named

__all__ = [
    "attribute_edits",
    "definition_json",
    "definition_words",
    "exported_edits",
    "exported_line",
    "increment_edits",
    "key_words",
]

_FIELDS: Final = frozenset(("c", "v", "t", "ts", "isint"))


def _parsed(text: str, wanted: str) -> Any:  # noqa: ANN401  # whatever JSON holds
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WordInvalid(f"{text!r} is not JSON such as {wanted}: {error}") from error


def key_words(text: str) -> list[str]:
    """The key columns of `create`, as `widerow table create` takes them. Raises: `WordInvalid`."""
    wanted = '[{"c":"uid","t":"string"},{"c":"pid","t":"integer"}]'
    columns = _parsed(text, wanted)
    if not isinstance(columns, list) or not columns:
        raise WordInvalid(f"{text} is not a JSON list such as {wanted}")
    words = []
    for each in columns:
        given = _lowered(each, wanted)
        auto = str(given.get("opt", "none")).lower()
        if auto not in ("none", "", "auto"):
            raise WordInvalid(f'"opt": {auto}: it is auto or none')
        words.append(
            f"{given.get('c', '')}:{given.get('t', '')}" + (":auto" if auto == "auto" else "")
        )
    return words


def _lowered(given: Any, wanted: str) -> dict[str, Any]:  # noqa: ANN401  # whatever JSON holds
    if not isinstance(given, dict):
        raise WordInvalid(f"{json.dumps(given)} is not an object such as {wanted}")
    return {str(name).lower(): value for name, value in given.items()}


def attribute_edits(text: str) -> list[CellEdit]:
    """The columns that `--attr` puts. Raises: `WordInvalid`."""
    wanted = '[{"c":"name","v":"x"},{"c":"n","v":1,"isint":true}]'
    columns = _parsed(text, wanted)
    if not isinstance(columns, list):
        raise WordInvalid(f"{text} is not a JSON list such as {wanted}")
    return [_edit(_lowered(each, wanted)) for each in columns]


def _edit(given: Mapping[str, Any]) -> CellEdit:
    unknown = given.keys() - _FIELDS
    name, version = given.get("c"), given.get("ts")
    if unknown or not isinstance(name, str) or "v" not in given:
        raise WordInvalid(f'{json.dumps(dict(given))}: a column is {{"c": name, "v": value}}')
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        raise WordInvalid(f"{name}: ts is milliseconds since 1970, not {json.dumps(version)}")
    return CellEdit(name, _value(name, given), version)


def _value(name: str, given: Mapping[str, Any]) -> Value:
    value, told = given["v"], given.get("t")
    kind = None if told is None else kind_named(str(told))
    if told is not None and kind is None:
        raise WordInvalid(f"{name}: {told} is not a type of a column")
    if kind is None:
        kind = _natural_kind(value, is_integer=given.get("isint") is True)
    made = _converted(value, kind)
    if made is None:
        wanted = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" if kind else "a value of a column"
        raise WordInvalid(f"{name}: {json.dumps(value)} is not {wanted}")
    return made


def _natural_kind(
    value: Any,  # noqa: ANN401  # whatever JSON holds
    *,
    is_integer: bool,
) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if is_integer else "double"
    return "string" if isinstance(value, str) else ""


def _converted(value: Any, kind: str) -> Value | None:  # noqa: ANN401  # whatever JSON holds
    """The value as a type; None where it is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "integer" if is_number and (isinstance(value, int) or value.is_integer()):
            return int(value) if INT64_MIN <= value <= INT64_MAX else None
        case "double" if is_number and abs(value) <= sys.float_info.max:
            return float(value)
        case "boolean" if isinstance(value, bool):
            return value
        case "string" if isinstance(value, str):
            return value
        case "binary" if isinstance(value, str):
            return _base64(value)
        case _:
            return None


def _base64(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


def increment_edits(text: str) -> list[CellEdit]:
    """The columns that `--increment` adds to, as `--attr` has them. Raises: `WordInvalid`."""
    edits = []
    for each in attribute_edits(text):
        whole = isinstance(each.value, float) and each.value.is_integer()
        value = int(each.value) if isinstance(each.value, float) and whole else each.value
        if isinstance(value, bool) or not isinstance(value, int) or each.version is not None:
            raise WordInvalid(f"{each.column}: an increment is a whole number, without ts")
        edits.append(CellEdit(each.column, value, None, CellOperation.INCREMENT))
    return edits


# --- exported rows -------------------------------------------------------------------------------


def exported_line(row: Row) -> str:
    """A row as `export` writes it: the newest version of each column."""
    key = [b64encode(value).decode() if isinstance(value, bytes) else value for _, value in row.key]
    columns: dict[str, dict[str, Any]] = {}
    for cell in row.cells:
        columns.setdefault(cell.column, _exported(cell.column, cell.value, cell.version))
    document = {"PK": {"Values": key}, "Attr": {"Values": list(columns.values())}}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _exported(name: str, value: Value, version: int) -> dict[str, Any]:
    if isinstance(value, bytes):
        # The type is ours: the vendor's form has no way to say that a text is binary.
        return {"C": name, "V": b64encode(value).decode(), "T": "binary", "TS": version}
    exported: dict[str, Any] = {"C": name, "V": value, "TS": version}
    if isinstance(value, int) and not isinstance(value, bool):
        exported["IsInt"] = True
    return exported


def exported_edits(
    text: str, table: TableFacts, *, ignore_versions: bool
) -> tuple[KeyColumns, list[CellEdit]]:
    """The row of a line of an export. Raises: `WordInvalid`."""
    wanted = '{"PK":{"Values":["86",6771]},"Attr":{"Values":[{"C":"age","V":32,"IsInt":true}]}}'
    document = _lowered(_parsed(text, wanted), wanted)
    key = _lowered(document.get("pk"), wanted).get("values")
    if not isinstance(key, list):
        raise WordInvalid(f"{text[:80]} is not a row such as {wanted}")
    columns = _lowered(document.get("attr") or {}, wanted).get("values") or []
    if not isinstance(columns, list):
        raise WordInvalid(f"{text[:80]} is not a row such as {wanted}")
    edits: Iterable[CellEdit] = (_edit(_lowered(each, wanted)) for each in columns)
    if ignore_versions:
        edits = (each._replace(version=None) for each in edits)
    return json_key(json.dumps(key), table), list(edits)


# --- definitions ---------------------------------------------------------------------------------


def definition_json(document: Mapping[str, Any]) -> dict[str, Any]:
    """A table as `desc` shows it and `create -i` reads it; `document`: that of `table show`."""
    key = [
        {
            "C": each["name"],
            "T": each["type"],
            "Opt": "auto" if "auto_increment" in each else "none",
        }
        for each in document["key"]
    ]
    return {
        "Name": document["name"],
        "Meta": {"Pk": key},
        "Option": {"TTL": document["ttl"], "Version": document["max_versions"]},
        "CU": {"Read": document["reserved_read"], "Write": document["reserved_write"]},
    }


def definition_words(text: str) -> tuple[str, list[str], dict[str, Any]]:
    """Name, key columns and options of a table in that form. Raises: `WordInvalid`."""
    wanted = '{"Name":"t","Meta":{"Pk":[{"C":"uid","T":"string"}]},"Option":{"TTL":-1,"Version":1}}'
    document = _lowered(_parsed(text, wanted), wanted)
    meta = _lowered(document.get("meta"), wanted)
    option = _lowered(document.get("option") or {}, wanted)
    units = _lowered(document.get("cu") or {}, wanted)
    given = {
        "ttl": None if option.get("ttl") is None else str(option["ttl"]),
        "max_versions": _whole(option.get("version"), "Version"),
        "reserved_read": _whole(units.get("read"), "Read"),
        "reserved_write": _whole(units.get("write"), "Write"),
    }
    return str(document.get("name") or ""), key_words(json.dumps(meta.get("pk"))), given


def _whole(value: Any, name: str) -> int | None:  # noqa: ANN401  # whatever JSON holds
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise WordInvalid(f"{name}: {json.dumps(value)} is not a number")
