"""Highlights of matches in texts (search §5.6)."""

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["FragmentOrder", "Highlight", "HighlightEncoder", "HighlightParameter"]


class FragmentOrder(IntEnum):
    """The order of fragments: as in the text, or those with most matches first."""

    TEXT_SEQUENCE = 1
    SCORE = 2


class HighlightEncoder(IntEnum):
    """Whether the text around the tags is escaped for HTML."""

    PLAIN = 1
    HTML = 2


@dataclass(frozen=True, slots=True)
class HighlightParameter:
    """The highlight of one field; `fragment_size` in characters."""

    field: str
    fragments: int = 1
    fragment_size: int = 100
    pre_tag: str = "<em>"
    post_tag: str = "</em>"
    order: FragmentOrder = FragmentOrder.TEXT_SEQUENCE


@dataclass(frozen=True, slots=True)
class Highlight:
    """The highlights of a request, by field."""

    parameters: tuple[HighlightParameter, ...]
    encoder: HighlightEncoder = HighlightEncoder.PLAIN
