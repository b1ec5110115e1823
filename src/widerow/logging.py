"""Structured logs on stderr: one line for each event, as text or as JSON.

An event is a constant sentence and facts (`extra={"facts": {...}}`). Facts are names, counts and
ids; never cell values, keys of rows, or secrets.
"""

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TextIO

__all__ = ["FORMATS", "LEVELS", "configure_logging"]

FORMATS: Final = ("text", "json")
LEVELS: Final = ("debug", "info", "warning", "error", "critical")


def configure_logging(
    form: str,
    level: str,
    stream: TextIO | None = None,
    facts: Mapping[str, object] | None = None,
) -> None:
    """Send widerow's log to `stream` (stderr) as `form`, from `level` on. Call again to change.

    `facts`: what each line says of this process.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_JsonLines(facts) if form == "json" else _TextLines(facts))
    logger = logging.getLogger("widerow")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
    logging.getLogger("asyncio").handlers[:] = [handler]


class _Lines(logging.Formatter):
    def __init__(self, facts: Mapping[str, object] | None) -> None:
        super().__init__()
        self._own = facts or {}

    def facts_of(self, record: logging.LogRecord) -> dict[str, object]:
        """What a line says: of this process, then of the event."""
        return {**self._own, **getattr(record, "facts", {})}


class _JsonLines(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **self.facts_of(record),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class _TextLines(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        facts = "".join(
            f" {name}={_quoted(value)}" for name, value in self.facts_of(record).items()
        )
        text = f"{_time(record)} {record.levelname.lower():8} {record.getMessage()}{facts}"
        if record.exc_info and record.exc_info[0] is not None:
            text += "\n" + self.formatException(record.exc_info)
        return text


def _quoted(value: object) -> str:
    """`value` if it is one word, else its JSON, so that a value cannot begin a new line."""
    words = str(value)
    plain = words.isascii() and words.isprintable() and not set(words) & set(' "=')
    return words if plain and words else json.dumps(words)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
