"""Functions of JSON texts: paths `$`, `.key`, `."key"`, `[n]`, `[*]`, `.*` (sql §7)."""

import json
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final

from widerow.wire.tablestore.operations.sql.functions.signature import Functions, taking
from widerow.wire.tablestore.operations.sql.kinds import SqlKind

__all__ = ["JSON_FUNCTIONS", "extract", "unquoted_json"]

_STEP: Final = re.compile(r'\s*(?:\.\s*("(?:[^"\\]|\\.)*"|[^.\[\s"*]+|\*)|\[\s*([0-9]+|\*)\s*\])')
_STEPS_MAX: Final = 100


def _steps(path: str) -> list[str | int | None] | None:
    """Keys, numbers, and None for all; None for a text that is not a path."""
    text = path.strip()
    if not text.startswith("$"):
        return None
    steps: list[str | int | None] = []
    position = 1
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None or len(steps) == _STEPS_MAX:
            return None
        key, number = found.groups()
        if number is not None:
            steps.append(None if number == "*" else int(number))
        elif key == "*":
            steps.append(None)
        else:
            steps.append(json.loads(key) if key.startswith('"') else key)
        position = found.end()
    return steps


def _reached(value: Any, steps: list[str | int | None]) -> Iterator[Any]:  # noqa: ANN401  # JSON
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step is None:
        parts = value.values() if isinstance(value, dict) else value
        for each in parts if isinstance(value, dict | list) else ():
            yield from _reached(each, rest)
    elif isinstance(step, str):
        if isinstance(value, dict) and step in value:
            yield from _reached(value[step], rest)
    elif isinstance(value, list):
        if step < len(value):
            yield from _reached(value[step], rest)
    elif step == 0:  # a value is its own first element
        yield from _reached(value, rest)


def extract(text: str, *paths: str) -> str | None:
    """The value at a path as JSON; with several paths, or one with a wildcard, an array."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    several = len(paths) > 1
    found: list[Any] = []
    for path in paths:
        steps = _steps(path)
        if steps is None:
            return None
        several = several or None in steps
        found += _reached(value, steps)
    if not found:
        return None
    return json.dumps(found if several else found[0], ensure_ascii=False)


def unquoted_json(text: str) -> str:
    """The text of a JSON string; any other text stays."""
    if not text.startswith('"'):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, str) else text


def _extract_text(text: str, path: str) -> str | None:
    found = extract(text, path)
    return None if found is None else unquoted_json(found)


JSON_FUNCTIONS: Final[Functions] = MappingProxyType(
    {
        "JSON_EXTRACT": taking("t*", SqlKind.TEXT, extract, 2),
        "JSON_UNQUOTE": taking("t", SqlKind.TEXT, unquoted_json),
        "->": taking("tt", SqlKind.TEXT, extract),
        "->>": taking("tt", SqlKind.TEXT, _extract_text),
    }
)
