"""A row of the table of errors, and the codes that make rows.

`INVALID("text", "when")` is a row whose text is the service's own, `INVALID.ours("text", "when")`
one whose text is shown nowhere.
"""

from typing import NamedTuple, Self, final

__all__ = ["Code", "Foreign"]


class Foreign(NamedTuple):
    """What one error looks like to a client.

    `template` takes its facts from the error's details, in braces; `{fact!v}` names a type of key
    value as the protocol does. `when` says in a few words what happened. `published`: the text is
    the service's own, as far as tests and documents show it.
    """

    code: str
    status: int
    template: str
    when: str
    published: bool = True


@final
class Code(str):
    """A code as it is sent. It stands for one status."""

    __slots__ = ("status",)
    status: int

    def __new__(cls, name: str, status: int) -> Self:
        """The code of this name."""
        code = super().__new__(cls, name)
        code.status = status
        return code

    def __call__(self, template: str, when: str) -> Foreign:
        """A row whose text is the service's own."""
        return Foreign(str(self), self.status, template, when)

    def ours(self, template: str, when: str) -> Foreign:
        """A row whose text is ours."""
        return Foreign(str(self), self.status, template, when, published=False)
