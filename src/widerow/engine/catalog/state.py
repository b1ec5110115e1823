"""What the catalogue holds at one moment, as a value that never changes.

Readers take the state once and may ask it as long as they like: a change of the catalogue makes
another state, and one assignment shows it to everybody.
"""

from typing import Any, Final, NamedTuple, final

__all__ = ["EMPTY_STATE", "CatalogState", "Leftover"]


class Leftover(NamedTuple):
    """Bytes of a dropped table or index that are not all gone: what a drop note says.

    `id`: the number of the table or index. `key`: of the note. `prefixes`: the ranges that go as
    a whole. `top`: rows of table `id` lie between other tables' rows under this one and are looked
    for (0: there are none). `due_us`: microseconds since 1970 from which on nothing can be written
    there any more, so that the ranges may be removed for good (0: at once).
    """

    id: int
    key: bytes
    prefixes: tuple[bytes, ...]
    top: int = 0
    due_us: int = 0


@final
class CatalogState:
    """Every table of every model, every namespace and every drop note.

    `epoch`: how many changes the catalogue has had. `by_name`: tables by the space of their model,
    owner and name; `by_id`: tables by their numbers, which are unique over all models;
    `namespaces`: names as they were declared, by space and folded name; `leftovers`: drop notes by
    the number of what was dropped; `taken`: where models share names (`CatalogModel.named_with`),
    the numbers of tables by that word, the owner, and each name that the table takes.
    """

    __slots__ = ("by_id", "by_name", "epoch", "leftovers", "namespaces", "taken")

    def __init__(
        self,
        epoch: int,
        by_name: dict[tuple[bytes, str, str], Any],
        by_id: dict[int, Any],
        namespaces: dict[tuple[bytes, str], str],
        leftovers: dict[int, Leftover],
        taken: dict[tuple[str, str, str], int],
    ) -> None:
        """A state of these parts, which nobody changes afterwards."""
        self.epoch = epoch
        self.by_name = by_name
        self.by_id = by_id
        self.namespaces = namespaces
        self.leftovers = leftovers
        self.taken = taken

    def names(self, space: bytes, owner: str) -> list[str]:
        """The names of an owner's tables of one model, sorted."""
        return sorted(
            [name for found, whose, name in self.by_name if whose == owner and found == space]
        )

    def held(self, word: str, owner: str) -> int:
        """How many tables an owner has in the models that share names by a word, for a quota.

        Some count as several (`counts_as` of a table).
        """
        numbers = {
            number
            for (shared, whose, _), number in self.taken.items()
            if whose == owner and shared == word
        }
        return sum([self.by_id[number].counts_as for number in numbers])

    def copy(self, epoch: int) -> "CatalogState":
        """A copy with another epoch, for a change. Linear in the size of the catalogue."""
        return CatalogState(
            epoch,
            self.by_name.copy(),
            self.by_id.copy(),
            self.namespaces.copy(),
            self.leftovers.copy(),
            self.taken.copy(),
        )


EMPTY_STATE: Final = CatalogState(0, {}, {}, {}, {}, {})
