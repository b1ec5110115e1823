"""The pages of typed rows: listed by a partial key, shown and written as JSON."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.console.grid import files_of, grid_columns, grid_place, names_chosen, next_address
from widerow.console.parts import ConsoleRefused, Moved, PageDocument, Visit, address, not_permitted
from widerow.console.places import TablePlace, sizes_of, the_typed_table
from widerow.console.refusals import refusal_of, with_refusal
from widerow.engine.typed.ddl.text import type_text
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.scan import MultiRowSelection, scan_rows, select_rows
from widerow.engine.typed.stored import StoredRow
from widerow.limits import (
    CONSOLE_DOWNLOAD_SCANNED_MAX,
    CONSOLE_ROWS_DEFAULT,
    CONSOLE_ROWS_MAX,
    RANGE_ROWS_MAX,
)
from widerow.model.typed.json_rows import row_from_json
from widerow.model.typed.requests import OperationKind, Version, WriteChoice
from widerow.storage.interface import Reader

__all__ = ["show_typed_row", "show_typed_rows", "typed_records"]

_COLUMNS_MAX: Final = 12  # of a grid, unless others are chosen

_SCANNED: Final = f"The range has more than {CONSOLE_DOWNLOAD_SCANNED_MAX:,} records."
_STALE: Final = "Somebody else wrote it. Below are the row as it is and what you typed."


class _Bounded:
    """A reader that scans a bounded number of records; `last`: the key where it stopped."""

    def __init__(self, reader: Reader, most: int) -> None:
        self._reader = reader
        self._most = most
        self.last = b""
        self.is_cut = False

    def get(self, key: bytes) -> bytes | None:
        return self._reader.get(key)

    def get_many(self, keys: Any) -> list[bytes | None]:  # noqa: ANN401  # the reader's own
        return self._reader.get_many(keys)

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        for number, pair in enumerate(self._reader.scan(start, stop, reverse=reverse)):
            if number == self._most:
                self.is_cut = True
                return
            self.last = pair[0]
            yield pair


def show_typed_rows(visit: Visit, name: TablePlace) -> PageDocument:
    """A page of rows, at most a hundred. Parameters: `k0`, `k1`, …, `order`, `limit`, `after`.

    A page reads at most 5000 records: rows of child tables lie between those of their parents.
    """
    form = the_typed_table(visit, name)
    limit = visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX)
    chosen = names_chosen(visit.asked)
    columns = grid_columns((each.name, [type_text(each.type)]) for each in form.table.fields)
    shown = chosen or [each["name"] for each in columns][:_COLUMNS_MAX]
    known = [{**each, "shown": each["name"] in shown} for each in columns]
    document: PageDocument = {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "key": _key_columns(form),
        "prefix": [],
        "asked": {
            each: visit.asked.get(each, "") for each in ("k0", "k1", "k2", "k3", "order", "limit")
        },
        "chosen": chosen,
        "columns": [each for each in known if each["shown"]],
        "known": known,
        "rows": [],
        "place": None,
        "limit": limit,
        "more": "",
        "may_write": visit.may(Permission.WRITE),
    }
    return with_refusal(document, lambda: _page(visit, name, form, limit))


def _page(visit: Visit, name: TablePlace, form: TableForm, limit: int) -> PageDocument:
    """The rows of the page, and the key of the next page."""
    reverse = visit.asked.get("order") == "down"
    selection = _selection(visit, form, reverse=reverse)
    engine = visit.parts.typed
    bounded = _Bounded(engine.store.snapshot(), RANGE_ROWS_MAX)
    with visit.parts.long_work():
        rows = scan_rows(bounded, selection, engine.now_hour(), reverse=reverse)
        found = list(islice(rows, limit + 1))
    more = ""
    if len(found) > limit or bounded.is_cut:
        last = found[limit - 1].encoded_key if len(found) > limit else bounded.last
        more = next_address(visit, "rows", last.hex(), len(found[:limit]))
    size = sizes_of(visit, [name]).get(name) if more else None
    return {
        "rows": [_row(each) for each in found[:limit]],
        "place": grid_place(visit, len(found[:limit]), more, size),
        "more": more,
        "files": files_of(visit),
    }


def typed_records(visit: Visit, name: TablePlace) -> Iterator[dict[str, Any]]:
    """The rows that the address asks for, from its `after` on, as JSON has them."""
    form = the_typed_table(visit, name)
    identity = visit.asked.get("id", "")
    chosen = {*names_chosen(visit.asked), *form.table.primary_key}
    is_all = len(chosen) == len(form.table.primary_key)
    bounded: _Bounded | None = None
    if identity:
        row = visit.parts.typed.get(form, row_from_json(identity, form.table, key_only=True))
        found: Iterable[Any] = () if row is None else (row,)
    else:
        reverse = visit.asked.get("order") == "down"
        selection = _selection(visit, form, reverse=reverse)
        engine = visit.parts.typed
        bounded = _Bounded(engine.store.snapshot(), CONSOLE_DOWNLOAD_SCANNED_MAX)
        found = scan_rows(bounded, selection, engine.now_hour(), reverse=reverse)
    for each in found:
        values: dict[str, Any] = json.loads(each.to_json())
        yield {n: value for n, value in values.items() if is_all or n in chosen}
    if bounded is not None and bounded.is_cut:
        raise ConsoleRefused(413, _SCANNED, "Give values for the first columns of the key.")


def _key_columns(form: TableForm) -> list[PageDocument]:
    table = form.table
    return [
        {"name": each, "type": type_text(kind)}
        for each, kind in zip(table.primary_key, table.key_types, strict=True)
    ]


def _selection(visit: Visit, form: TableForm, *, reverse: bool) -> MultiRowSelection:
    """The rows of the partial key, from the end of the page before."""
    given: dict[str, Any] = {}
    for number, column in enumerate(form.table.primary_key):
        text = visit.asked.get(f"k{number}", "")
        if text:
            given |= row_from_json(_as_json(form, column, text), form.table, key_only=True)
    selection = select_rows(form, given, None, (), ())
    after = visit.asked.get("after", "")
    if not after:
        return selection
    try:
        key = bytes.fromhex(after)
    except ValueError:
        key = b""
    if not selection.start <= key < selection.stop:
        raise ConsoleRefused(
            400, "The address names no place in this table.", "Begin again from the first page."
        )
    return selection.since(key, reverse=reverse)


def _as_json(form: TableForm, column: str, text: str) -> str:
    """The text of one column as a JSON object: unquoted if the column's type is numeric."""
    kind = form.table.key_types[form.table.primary_key.index(column)]
    is_text = type_text(kind).startswith(("STRING", "ENUM", "TIMESTAMP", "BINARY", "FIXED"))
    return json.dumps({column: text}) if is_text else f"{{{json.dumps(column)}:{text}}}"


def _row(row: StoredRow) -> PageDocument:
    return {
        "id": row.key.to_json(),
        "values": json.loads(row.to_json()),
        "version": row.version.to_bytes().hex(),
        "modified_ms": row.modified_ms,
        "expires_ms": row.expires_ms,
    }


def show_typed_row(visit: Visit, name: TablePlace) -> PageDocument | Moved:
    """One row as JSON, to be shown, written or deleted.

    Without `id`, a form for a new row. A row is written only if it has not changed since it was
    shown.
    """
    form = the_typed_table(visit, name)
    if visit.form is not None:
        return _write(visit, name, form, visit.form)
    identity = visit.asked.get("id", "")
    found = None
    if identity:
        key = row_from_json(identity, form.table, key_only=True)
        found = visit.parts.typed.get(form, key)
        if found is None:
            raise ConsoleRefused(404, "There is no such row (any more).", "Look at the rows again.")
    return {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "is_new": found is None,
        "id": identity,
        "key": _key_columns(form),
        "fields": [{"name": each.name, "type": type_text(each.type)} for each in form.table.fields],
        "row": None if found is None else _row(found),
        "text": _template(form) if found is None else found.to_json(pretty=True),
        "may_write": visit.may(Permission.WRITE),
    }


def _template(form: TableForm) -> str:
    """A JSON object with all columns, to be filled in."""
    return json.dumps(dict.fromkeys([each.name for each in form.table.fields]), indent=2)


def _write(
    visit: Visit,
    name: TablePlace,
    form: TableForm,
    sent: Any,  # noqa: ANN401  # a form's fields
) -> PageDocument | Moved:
    if not visit.may(Permission.WRITE):
        raise not_permitted(Permission.WRITE)
    choice = _choice(form, sent)
    result = visit.parts.committer.run(visit.parts.typed.write(form, choice))
    asked = {"instance": name.instance, "table": name.name, "model": name.model}
    if not result.success:
        is_new = choice.kind is OperationKind.PUT_IF_ABSENT
        words = "There is such a row already." if is_new else "The row is not what it was."
        refused = ConsoleRefused(409, words, _STALE)
        if choice.kind is OperationKind.DELETE_IF_VERSION:
            raise refused
        there = visit.parts.typed.get(form, {n: choice.values[n] for n in form.table.primary_key})
        conflict = {
            "now": None if there is None else there.to_json(pretty=True),
            "version": "" if there is None else there.version.to_bytes().hex(),
            "typed": sent.get("text", ""),
        }
        told = {"refusal": refusal_of(refused)[1], "conflict": conflict}
        return {**asked, "kinds": [], "is_new": False, "id": sent.get("id", ""), **told}
    if choice.kind is OperationKind.DELETE_IF_VERSION:
        return Moved(address("rows", **asked))
    row = dict(choice.values)
    if result.generated is not None and form.table.generated is not None:
        row[form.table.generated.name] = result.generated
    key = {each: row[each] for each in form.table.primary_key}
    stored = visit.parts.typed.get(form, key)
    return Moved(address("row", **asked, id="" if stored is None else stored.key.to_json()))


def _choice(form: TableForm, sent: Any) -> WriteChoice:  # noqa: ANN401  # a form's fields
    """The write of a form. Raises: `ConsoleRefused`, `InvalidRequest`."""
    version = sent.get("version", "")
    held = None
    if version:
        try:
            held = Version.from_bytes(bytes.fromhex(version))
        except ValueError as error:
            raise ConsoleRefused(
                400, "The form names no version.", "Open the row again."
            ) from error
    if sent.get("do") == "delete":
        key = row_from_json(sent.get("id", ""), form.table, key_only=True)
        return WriteChoice(OperationKind.DELETE_IF_VERSION, key, held)
    row = row_from_json(sent.get("text", ""), form.table)
    if held is None:
        return WriteChoice(OperationKind.PUT_IF_ABSENT, row)
    return WriteChoice(OperationKind.PUT_IF_VERSION, row, held)
