"""Every refusal of the dialect says all that its text has a place for."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Final

from widerow.model.typed.rules import TypedRule
from widerow.wire import nosql
from widerow.wire.nosql.rules import NosqlRule
from widerow.wire.nosql.sql.statement_rules import StatementRule

HERE: Final = Path(nosql.__file__).parent
RULES: Final = {"NosqlRule": NosqlRule, "StatementRule": StatementRule, "TypedRule": TypedRule}


def refusals() -> Iterator[tuple[str, str, set[str]]]:
    """Where an error is made of a rule, the rule's text, and the names of what is told."""
    for file in sorted(HERE.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            rule, told = call.args[0], {each.arg for each in call.keywords}
            if (
                isinstance(rule, ast.Attribute)
                and isinstance(rule.value, ast.Name)
                and rule.value.id in RULES
                and None not in told
            ):
                text = RULES[rule.value.id][rule.attr].value
                yield f"{file.name}:{call.lineno}", text, {each for each in told if each}


def test_a_rule_is_told_with_every_name_of_its_text() -> None:
    made = list(refusals())
    assert len(made) > 100
    for place, text, told in made:
        assert {name for _, name, _, _ in Formatter().parse(text) if name} <= told, place
