"""Quotes, comments, `;`, continuation: from text to commands and words (cli §1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.kv.scanner import Lines, Scanner, split_words

# cli §1: words; quotes, no mixing, escapes as in C; comments
WORDS = [
    ("a  b\tc", ["a", "b", "c"]),
    ("""-name "two words" -x""", ["-name", "two words", "-x"]),
    ("""'it is "so"'""", ['it is "so"']),
    ('''"it's"''', ["it's"]),
    (r"""'it\'s'""", ["it's"]),
    (r'''"a\tb\n\\\"\101\60"''', ['a\tb\n\\"A0']),
    ("""ab"cd"ef""", ["ab", "cd", "ef"]),
    ("''", [""]),
    ("", []),
    (r"a\b", [r"a\b"]),
]

# cli §1: what ends a command, and what does not
SCANS = [
    ("a b", ("a b",), False, False),
    ("a; b ;", ("a", "b"), True, False),
    ("a;; ;b", ("a", "b"), False, False),
    ("add-field x # note; no command", ("add-field x",), False, False),
    ("a; # done", ("a",), True, False),
    ("""put ';' "#" ';'""", ("""put ';' "#" ';'""",), False, False),
    ("put 'open; # not", ("put 'open; # not",), False, True),
    (r"""put 'it\'s; '""", (r"""put 'it\'s; '""",), False, False),
    ("a\nb", ("a b",), False, False),
    ("# only a comment", (), False, False),
]


def scan(text: str) -> Scanner:
    scanner = Scanner()
    scanner.feed(text)
    return scanner


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_end_at_white_space_and_quotes(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(("text", "commands", "ended", "open_quote"), SCANS)
def test_commands_end_at_semicolons_outside_quotes(
    text: str, commands: tuple[str, ...], *, ended: bool, open_quote: bool
) -> None:
    found = scan(text)
    assert (found.commands, found.ended, found.open_quote) == (commands, ended, open_quote)
    assert found.count == len(commands)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)))
def test_any_words_survive_quoting(words: list[str]) -> None:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    quoted = ['"' + "".join(escapes.get(each, each) for each in word) + '"' for word in words]
    line = " ".join(quoted)
    found = scan(line)
    assert [split_words(command) for command in found.commands] == ([words] if words else [])
    assert not found.open_quote


@given(st.text("ab;'\"\\# \n", max_size=40))
def test_a_scan_loses_nothing_but_comments_and_semicolons(text: str) -> None:
    found = scan(text)
    assert all(command == command.strip() != "" for command in found.commands)
    again = scan(" ; ".join(found.commands))
    if not found.open_quote:
        assert again.commands == found.commands


def collect(lines: list[str], *, blank_ends: bool = True, incomplete: str = "?") -> list[str]:
    """The commands of `lines`, where one that ends in `incomplete` wants more."""
    reader = Lines(lambda line: line.endswith(incomplete), blank_ends=blank_ends)
    found: list[str] = []
    for line in lines:
        found += reader.take(line)
    return found + list(reader.end())


# cli §1: continuation, several commands on a line, incomplete commands, comments
LINES = [
    (["a", "b"], ["a", "b"]),
    (["  ## a comment", "a"], ["a"]),
    (["a \\", "b \\", "c"], ["a  b  c"]),
    (["\\", "a"], ["a"]),
    (["\\"], []),
    (["put 'a \\", "b';"], ["put 'a  b'"]),
    (["a \\ # no continuation", "b"], ["a \\", "b"]),
    (["a; b"], ["a", "b"]),
    (["a; b;", "c"], ["a", "b", "c"]),
    (["a; b", "c;", "d"], ["a", "b c", "d"]),
    (["a ?", "b"], ["a ? b"]),
    (["a ?", "b;", "c"], ["a ? b", "c"]),
    (["a ?", "", "b"], ["a ?", "b"]),
    (["a ?", "# note", "b;", "c"], ["a ? b", "c"]),
    (["put 'x", "y';", "b"], ["put 'x y'", "b"]),
    (["put 'x", "# in the quote';"], ["put 'x # in the quote'"]),
    (["", "  ", ";", "a"], ["a"]),
]


@pytest.mark.parametrize(("lines", "commands"), LINES)
def test_lines_make_commands(lines: list[str], commands: list[str]) -> None:
    assert collect(lines) == commands


def test_a_blank_line_ends_nothing_at_a_terminal() -> None:
    assert collect(["a ?", "", "b;"], blank_ends=False) == ["a ?  b"]


@given(st.lists(st.sampled_from(["a", "b c", "d 'e f' -x"]), min_size=1, max_size=6), st.data())
def test_commands_are_the_same_on_one_line_and_on_many(
    commands: list[str], data: st.DataObject
) -> None:
    separators = [data.draw(st.sampled_from([";", ";\n", " ;\n\n"])) for _ in commands]
    text = "".join(f"{each}{end}" for each, end in zip(commands, separators, strict=True))
    assert collect(text.splitlines()) == commands
