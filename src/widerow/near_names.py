"""Names that are like one that is wrong, as a question."""

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """`Did you mean 'a' or 'b'?` with up to three of `names`, the nearest first; else empty.

    Case counts for nothing. Costs time in proportion to the lengths of all names.
    """
    by_folded = {each.casefold(): each for each in names}
    near = difflib.get_close_matches(name.casefold(), by_folded)
    return f"Did you mean {' or '.join(repr(by_folded[each]) for each in near)}?" if near else ""
