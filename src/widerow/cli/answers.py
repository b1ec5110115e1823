"""The answers of commands: JSON for programs where `--json` is given, else what people read.

A command has one answer: a document, and what shows it to people. Standard output then has that
document alone; a stream of rows has one on each line. A command that fails answers with a document
on standard error: `{"error": {"message": …}}`, with `code` and `request` where a server refused.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = [
    "JSON_WORD",
    "facts_lines",
    "print_document",
    "print_row",
    "tell",
    "tell_error",
    "tell_failure",
]

JSON_WORD: Final = "--json"


def tell(given: Mapping[str, Any], document: Any, show: Callable[[], object]) -> None:  # noqa: ANN401  # whatever JSON holds
    """Print `document` where the flags of a command ask for JSON; else let `show` print."""
    if given.get("as_json"):
        print_document(document)
    else:
        show()


def print_document(document: Any) -> None:  # noqa: ANN401  # whatever JSON holds
    """Print a JSON document: on one line, and with line breaks on a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(f"{json.dumps(document, ensure_ascii=False, indent=2)}\n")
    else:
        print_row(document)
    sys.stdout.flush()


def print_row(document: Any) -> None:  # noqa: ANN401  # whatever JSON holds
    """Print a JSON document on one line: one of a stream."""
    sys.stdout.write(f"{json.dumps(document, ensure_ascii=False)}\n")


def tell_failure(message: str, facts: Mapping[str, str], show: Callable[[], object]) -> None:
    """Say on standard error why this process failed: as a document, or as `show` does.

    `facts`: what else is known of it, by name; those without a value are left out. Whether JSON is
    asked for is seen from the words of the process: flags may be what is wrong.
    """
    if JSON_WORD in sys.argv[1:]:
        known = {name: value for name, value in facts.items() if value}
        document = {"error": {"message": message, **known}}
        sys.stderr.write(f"{json.dumps(document, ensure_ascii=False)}\n")
    else:
        show()


def tell_error(error: Exception | str) -> None:
    """Say on standard error what is wrong: a sentence, or a document (`tell_failure`).

    Of an error that a server answered, with its code and the request's id in the server's log.
    """
    message = str(error)
    code, request = (getattr(error, name, "") for name in ("code", "request_id"))
    line = f"widerow: {message}{f' [request {request}]' if request else ''}\n"
    tell_failure(message, {"code": code, "request": request}, lambda: sys.stderr.write(line))


def facts_lines(document: Mapping[str, Any]) -> list[str]:
    """A document as lines of names and values; a list of documents has a line for each."""
    lines = []
    for name, value in document.items():
        many = isinstance(value, list) and all(isinstance(each, dict) for each in value)
        lines += [_facts(each) for each in value] if many else [f"{name}={_word(value)}"]
    return lines


def _facts(document: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_word(value)}" for name, value in document.items())


def _word(value: Any) -> str:  # noqa: ANN401  # whatever JSON holds
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
