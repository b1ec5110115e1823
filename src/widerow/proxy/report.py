"""What differed, collected: counts by action and class, and the first examples of each.

Pure. A report is written as JSON (`document`) and as Markdown (`markdown`), each example with the
request and both answers in the vendor's names, and with the difference in a sentence.
"""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from widerow.client.http import HttpAnswer
from widerow.limits import REPORT_EXAMPLES, REPORT_TEXT_CHARACTERS_MAX
from widerow.proxy.comparing import AnswerDifference, DifferenceClass
from widerow.proxy.decoding import Tree, answer_tree, jsonable, request_tree
from widerow.proxy.exchange import Exchange
from widerow.proxy.side_by_side import compact_lines, side_by_side
from widerow.proxy.wording import difference_told

__all__ = ["DifferenceReport", "ReportExample"]

_CUT: Final = " … (cut)"


class ReportExample(NamedTuple):
    """One difference, with the request and both answers as JSON has them."""

    action: str
    number: int
    kind: DifferenceClass
    path: str
    upstream: Tree
    other: Tree
    request: Tree
    upstream_answer: Tree
    other_answer: Tree
    told: str

    def document(self) -> dict[str, Tree]:
        """For JSON."""
        return {
            "action": self.action,
            "number": self.number,
            "class": self.kind.value,
            "path": self.path,
            "told": self.told,
            "upstream": self.upstream,
            "other": self.other,
            "request": self.request,
            "upstream_answer": self.upstream_answer,
            "other_answer": self.other_answer,
        }


class DifferenceReport:
    """Counts and examples of one comparison.

    `upstream` and `other` name the two sides. `ignored`: classes that are counted and that make no
    answer a different one.
    """

    def __init__(
        self, upstream: str, other: str, ignored: Collection[DifferenceClass] = ()
    ) -> None:
        self.upstream = upstream
        self.other = other
        self.ignored = frozenset(ignored)
        self.compared: Counter[str] = Counter()
        self.differing: Counter[str] = Counter()
        self.classes: Counter[tuple[str, DifferenceClass]] = Counter()
        self.skipped: Counter[str] = Counter()
        self.examples: list[ReportExample] = []
        self._shown: Counter[tuple[str, DifferenceClass]] = Counter()

    @property
    def has_differences(self) -> bool:
        """Whether any answer differed, ignored classes aside."""
        return bool(self.differing)

    def skip(self, reason: str) -> None:
        """One request was not compared. `reason`: of a few texts, for they are counted."""
        self.skipped[reason] += 1

    def add(
        self, exchange: Exchange, other: HttpAnswer, differences: Sequence[AnswerDifference]
    ) -> None:
        """One request was compared, with these differences."""
        action = exchange.request.action
        self.compared[action] += 1
        kinds = {each.kind for each in differences}
        if kinds - self.ignored:
            self.differing[action] += 1
        for kind in kinds:
            self.classes[action, kind] += 1
        for each in differences:
            if self._shown[action, each.kind] < REPORT_EXAMPLES:
                self._shown[action, each.kind] += 1
                self.examples.append(self._example(exchange, other, each))

    def _example(
        self, exchange: Exchange, other: HttpAnswer, found: AnswerDifference
    ) -> ReportExample:
        request = exchange.request
        return ReportExample(
            request.action,
            self.compared.total(),
            found.kind,
            found.path,
            _bounded(found.upstream),
            _bounded(found.other),
            _bounded(request_tree(request.action, request.headers, request.body)),
            _bounded(answer_tree(request.action, exchange.answer)),
            _bounded(answer_tree(request.action, other)),
            difference_told(found),
        )

    def document(self) -> dict[str, Any]:
        """The whole report as one JSON document."""
        return {
            "upstream": self.upstream,
            "other": self.other,
            "compared": self.compared.total(),
            "differing": self.differing.total(),
            "ignored": sorted(each.value for each in self.ignored),
            "skipped": dict(self.skipped),
            "actions": [
                {
                    "action": action,
                    "compared": count,
                    "differing": self.differing[action],
                    "classes": {
                        kind.value: self.classes[action, kind]
                        for kind in DifferenceClass
                        if self.classes[action, kind]
                    },
                }
                for action, count in sorted(self.compared.items())
            ],
            "examples": [each.document() for each in self.examples],
        }

    def markdown(self) -> str:
        """The whole report as a page for a person."""
        lines = [
            f"# {self.differing.total()} of {self.compared.total()} answers differ",
            "",
            f"Upstream: {_code(self.upstream)}. Other: {_code(self.other)}.",
            *[f"Not compared, {reason}: {count}." for reason, count in self.skipped.items()],
            "",
            "| action | compared | differing | "
            + " | ".join(kind.value for kind in DifferenceClass)
            + " |",
            "|---|" + "---:|" * (2 + len(DifferenceClass)),
        ]
        for action, count in sorted(self.compared.items()):
            kinds = [str(self.classes[action, kind] or "") for kind in DifferenceClass]
            cells = (_cell(action), str(count), str(self.differing[action]), *kinds)
            lines.append(f"| {' | '.join(cells)} |")
        for each in self.examples:
            lines += ["", *_example_lines(each)]
        return "\n".join(lines) + "\n"


def _example_lines(example: ReportExample) -> list[str]:
    return [
        f"## {_cell(example.action)}: {example.kind.value} at {_code(example.path)}",
        "",
        f"Request {example.number}: {_code(example.told)}",
        *_block("Request:", "json", compact_lines(example.request)),
        *_block(
            "The upstream's answer, and the other's:",
            "text",
            side_by_side(example.upstream_answer, example.other_answer),
        ),
    ]


def _block(title: str, kind: str, lines: list[str]) -> list[str]:
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return ["", title, "", f"{fence}{kind}", *lines, fence]


def _code(text: str) -> str:
    """As code on one line, whatever it holds."""
    text = " ".join(text.split())
    mark = "``" if "`" in text else "`"
    return f"{mark}{' ' if '`' in text else ''}{text}{' ' if '`' in text else ''}{mark}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _bounded(tree: Tree) -> Tree:
    """The tree as JSON has it; its beginning as text where it is too long for a report."""
    found = jsonable(tree)
    text = json.dumps(found, ensure_ascii=False)
    if len(text) <= REPORT_TEXT_CHARACTERS_MAX:
        return found
    return text[:REPORT_TEXT_CHARACTERS_MAX] + _CUT
