"""Whether some order of operations, one after another, explains the history of one row.

    python -m tests.support.linearizability --operations 4000
    python -m tests.support.linearizability --histories 20 --faults

The command starts a server, with `--faults` kills and pauses it, and checks the histories of its
clients.

The search is Wing and Gong's with Lowe's cache: take any operation that was called before the first
answer that is still missing from the order, see whether its answer fits, go on with the rest, go
back where nothing fits, and never look twice at the same set of operations with the same state.
Sets are integers with a bit for each operation. An operation with an unknown outcome may come
anywhere after its call, or never.

The cost grows with the number of overlapping operations: a thousand operations of four clients take
a moment, those of sixteen may never end. Histories are therefore of single rows, with few clients
and few unknowns.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import Console
from rich.progress import track
from tests.support.histories import NO_ROW, ClientCall, State, step
from tests.support.recording import Recorder, Recording, ServerFaults

__all__ = ["UnexplainedRow", "check", "judge", "main"]


class _Entry:
    """A call or an answer, in the list of entries that are not explained yet."""

    __slots__ = ("answer", "index", "next", "previous")

    def __init__(self, index: int) -> None:
        self.index = index  # number of the operation
        self.answer: _Entry | None = None  # of a call: its answer, if it is known
        self.previous: _Entry = self
        self.next: _Entry | None = None

    def take(self) -> None:
        """Take a call and its answer out of the list."""
        for entry in (self, self.answer):
            if entry is not None:
                entry.previous.next = entry.next
                if entry.next is not None:
                    entry.next.previous = entry.previous

    def put_back(self) -> None:
        """Undo `take`."""
        for entry in (self.answer, self):
            if entry is not None:
                entry.previous.next = entry
                if entry.next is not None:
                    entry.next.previous = entry


def _entries(history: Sequence[ClientCall]) -> _Entry:
    """The head of the list of calls and answers by time; at equal times calls come first."""
    moments: list[tuple[int, int, int, _Entry]] = []
    calls = set()
    for index, operation in enumerate(history):
        call = _Entry(index)
        calls.add(call)
        moments.append((operation.called, 0, index, call))
        if operation.returned is not None:
            call.answer = _Entry(index)
            moments.append((operation.returned, 1, index, call.answer))
    head = last = _Entry(-1)
    for _, _, _, entry in sorted(moments, key=lambda each: each[:3]):
        last.next, entry.previous = entry, last
        last = entry
    return head


def check(history: Sequence[ClientCall], initial: State = NO_ROW) -> ClientCall | None:
    """None if an order explains the history; else the operation at which the longest order ends."""
    head = _entries(history)
    calls = {id(entry) for entry in _walk(head) if _is_call(entry, history)}
    left = sum(operation.known for operation in history)
    taken: list[tuple[_Entry, State]] = []
    state, done, deepest = initial, 0, -1
    stuck: ClientCall | None = None
    known_to_fail: set[tuple[int, State]] = set()
    entry = head.next
    while left:
        assert entry is not None, "an answer is in the list as long as one is left"
        if id(entry) in calls:
            fits, after = step(state, history[entry.index])
            mark = (done | 1 << entry.index, after)
            if not fits or mark in known_to_fail:
                entry = entry.next
                continue
            known_to_fail.add(mark)
            taken.append((entry, state))
            state, done = after, mark[0]
            left -= entry.answer is not None
            entry.take()
            entry = head.next
            continue
        # An answer whose call has no place before it: the operation taken last was wrong.
        if len(taken) > deepest:
            deepest, stuck = len(taken), history[entry.index]
        if not taken:
            return stuck
        entry, state = taken.pop()
        done &= ~(1 << entry.index)
        left += entry.answer is not None
        entry.put_back()
        entry = entry.next
    return None


def _walk(head: _Entry) -> list[_Entry]:
    entries = []
    entry = head.next
    while entry is not None:
        entries.append(entry)
        entry = entry.next
    return entries


def _is_call(entry: _Entry, history: Sequence[ClientCall]) -> bool:
    return entry.answer is not None or not history[entry.index].known


class UnexplainedRow(NamedTuple):
    """A row whose history no order explains, and where the longest order ended."""

    row: int
    operation: ClientCall


def judge(recording: Recording) -> list[UnexplainedRow]:
    """Check every row of a recording."""
    found = [(row, check(history)) for row, history in sorted(recording.rows.items())]
    return [UnexplainedRow(row, operation) for row, operation in found if operation is not None]


_COMMAND: Final = "python -m tests.support.linearizability"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 1 if a history has no explanation."""
    parser = argparse.ArgumentParser(
        prog=_COMMAND,
        description="Record clients of a real server, check what they saw; print one JSON line.",
        epilog="examples: --operations 4000 | --histories 20 --operations 2000 --faults",
    )
    parser.add_argument("--histories", type=int, default=1, help="how many (%(default)s)")
    parser.add_argument("--operations", type=int, default=4000, help="of each (%(default)s)")
    parser.add_argument("--clients", type=int, default=4, help="at most 8 (%(default)s)")
    parser.add_argument("--rows", type=int, default=8, help="they meet on (%(default)s)")
    parser.add_argument("--faults", action="store_true", help="kill and pause the server")
    parser.add_argument("--seed", type=int, default=1, help="of what is asked (%(default)s)")
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    begun = time.monotonic()
    facts: Counter[str] = Counter()
    findings: list[UnexplainedRow] = []
    faults = ServerFaults() if options.faults else None
    with Recorder(options.clients, options.rows, faults=faults) as recorder:
        seeds = range(options.seed, options.seed + options.histories)
        for seed in track(seeds, "histories", console=console, disable=not console.is_terminal):
            recording = recorder.record(seed, options.operations)
            facts.update(recording.facts())
            findings += judge(recording)
    line = {
        "check": "linearizability",
        "seed": options.seed,
        "volume": options.histories,
        "violations": len(findings),
        "seconds": round(time.monotonic() - begun, 1),
        **facts,
    }
    sys.stdout.write(json.dumps(line) + "\n")
    for finding in findings:
        sys.stderr.write(f"row {finding.row}: nothing explains {finding.operation}\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
