"""What may follow on a line that is being typed: names of commands, flags and tables."""

from collections.abc import Iterable
from typing import Final

from widerow.cli.kv.command import Command, Group, matching, understood
from widerow.cli.kv.session import Session
from widerow.cli.kv.words import split_words

__all__ = ["completions"]

# Flags whose value is the name of a table in the store, or of one that was built.
_TABLE_FLAGS: Final = frozenset(("-name", "-table", "-ancestor", "-child", "-parent"))


def completions(session: Session, line: str) -> list[str]:
    """The words that may stand where the cursor is, at the end of `line`, each with a space."""
    start = line.rpartition(";")[2]
    words = split_words(start)
    typed = "" if not words or start[-1:].isspace() else words.pop()
    candidates = _candidates(session, words)
    return [f"{each} " for each in sorted(candidates) if each.lower().startswith(typed.lower())]


def _candidates(session: Session, words: list[str]) -> Iterable[str]:
    entries = understood(session)
    if not words:
        return [entry.name for entry in entries]
    entry = matching(words[0], entries)
    rest = words[1:]
    if isinstance(entry, Group):
        if not rest:
            return [command.name for command in entry.commands]
        entry = matching(rest[0], entry.commands)
        rest = rest[1:]
    if not isinstance(entry, Command):
        return []
    flags = entry.own_flags
    last = flags.get(rest[-1]) if rest else None
    if last is not None and last.value:
        return _tables(session) if last.name in _TABLE_FLAGS else []
    return [name for name, flag in flags.items() if flag.repeated or name not in rest]


def _tables(session: Session) -> set[str]:
    held = {table.definition.qualified for table in session.store.tables()}
    return held | set(session.staged)
