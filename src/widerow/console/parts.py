"""The parts of the console's pages: a page as a value, a visit, and the end of a visit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import urlencode

from widerow.auth.keyring import AccessKey, Permission
from widerow.auth.policy import authorize
from widerow.errors import InvalidRequest, NotPermitted, Rule, WiderowError
from widerow.server.page_thread import ServerParts

if TYPE_CHECKING:
    from widerow.model.search.requests import Search
    from widerow.model.search.schema import SearchSchema
    from widerow.model.tablestore.filter import Filter

__all__ = [
    "ROOT",
    "ConsolePage",
    "ConsoleRefused",
    "Download",
    "Languages",
    "Moved",
    "PageDocument",
    "ReadCondition",
    "ReadSearch",
    "Upload",
    "Visit",
    "address",
    "not_permitted",
]

ROOT: Final = "/console/"
PageDocument = dict[str, Any]
"""The document of a page, as JSON takes it."""


class ConsoleRefused(WiderowError):
    """A page that cannot be shown: its status, what is wrong, and what to do about it."""

    def __init__(self, status: int, words: str, hint: str = "") -> None:
        super().__init__(words)
        self.status = status
        self.hint = hint


class ReadCondition(Protocol):
    """Reads a condition on rows. Raises errors of `widerow.errors`."""

    def __call__(self, text: str, kinds: Mapping[str, str], /) -> "Filter":
        """`kinds`: the types of declared columns in the table."""
        ...


class ReadSearch(Protocol):
    """Reads a search query for an index. Raises errors of `widerow.errors`."""

    def __call__(
        self, asked: tuple[str, str, str], sort: str, limit: int, schema: "SearchSchema", /
    ) -> "Search":
        """`asked`: table, index and query."""
        ...


class Upload(NamedTuple):
    """A file that came with a form: its name as the browser has it, and its bytes."""

    name: str
    data: bytes


class Languages(NamedTuple):
    """Parsers for what people type, given by whoever opens the console."""

    condition: ReadCondition
    search: ReadSearch


@dataclass(frozen=True)
class Visit:
    """One request for a page.

    `asked`: the parameters of the address; `form`: the fields of a request that changes something,
    None for one that only looks. `key`: the visitor's access key. `signed_in`: whether there is a
    session. `upload`: the file of the form.
    """

    parts: ServerParts
    languages: Languages
    key: AccessKey
    asked: Mapping[str, str]
    form: Mapping[str, str] | None = None
    signed_in: bool = False
    upload: Upload | None = None

    def may(self, permission: Permission) -> bool:
        """Whether the visitor's key has this permission."""
        try:
            authorize(self.key, permission)
        except NotPermitted:
            return False
        return True

    def opens(self, instance: str) -> bool:
        """Whether the visitor's key opens this instance."""
        try:
            self.parts.identity().instances.admit(instance, self.key)
        except (NotPermitted, InvalidRequest):
            return False
        return True

    def place(self) -> tuple[str, str]:
        """The instance and the table in the address, checked that the visitor may open them.

        Raises: `ConsoleRefused` where the address names none, `NotPermitted`, `InvalidRequest`.
        """
        instance, table = self.asked.get("instance", ""), self.asked.get("table", "")
        if not instance or not table:
            raise ConsoleRefused(
                400, "The address names no table.", "Choose a table on the overview."
            )
        self.parts.identity().instances.admit(instance, self.key)
        return instance, table

    def number(self, name: str, default: int, most: int) -> int:
        """A number from 1 to `most` of the address. Raises: `ConsoleRefused`."""
        text = self.asked.get(name, "")
        if not text:
            return default
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
            raise ConsoleRefused(
                400, f"{name} cannot be {text[:40]!r}.", f"Give a number from 1 to {most}."
            )
        return int(text[:9])


class Download(NamedTuple):
    """The end of a visit that asked for a file: its name, content type and bytes."""

    name: str
    kind: str
    body: bytes


class Moved(NamedTuple):
    """The end of a visit that changed something: the page to look at next."""

    location: str


@dataclass(frozen=True)
class ConsolePage:
    """A page. A feature brings one by adding it to the list in `pages.py`.

    `path`: behind `/console/`, "" for the first page. `template`: the name of a file in
    `templates`, "" where `show` makes no document. `show` makes the document or a file, or moves
    the visitor on after a change; it raises errors of `widerow.errors`. `nav`: what the menu calls
    the page, "" for a page that is reached from another one. `changes`: it takes requests that
    change something. `uploads`: these may bring a file. `permission`: what a visitor needs to look
    at it; a page that changes something asks for more by itself.
    """

    path: str
    title: str
    template: str
    show: Callable[[Visit], PageDocument | Moved | Download]
    nav: str = ""
    changes: bool = False
    uploads: bool = False
    permission: Permission = Permission.READ


def address(path: str, **asked: str | int) -> str:
    """The address of a page with these parameters; empty ones are left out."""
    given = urlencode({name: value for name, value in asked.items() if value != ""})
    return f"{ROOT}{path}" + (f"?{given}" if given else "")


def not_permitted(permission: Permission) -> NotPermitted:
    """The error for a visitor who may read but not change."""
    return NotPermitted(Rule.PERMISSION_MISSING, permission=permission.value)
