"""Places inside a row that clauses of UPDATE change, and what each clause does there (ddl §3).

A row that is changed is a list of its columns' values, copied as deep as it is changed. Every
function here says whether it changed anything.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JSON_NULL, JsonNull

__all__ = [
    "Cast",
    "PlaceKind",
    "UpdatePlace",
    "add_elements",
    "copied",
    "document",
    "merge_patch",
    "put_fields",
    "remove_places",
    "set_place",
]

Cast = Callable[[Sequence[Any], FieldType], Any]
"""Items of an expression as a value of a column's or member's type. Raises `InvalidRequest`."""

JSON: Final = FieldType(Kind.JSON)


class PlaceKind(Enum):
    """What a place is in its container."""

    COLUMN = "column"
    FIELD = "field of a record"
    MEMBER = "value of a map or of an object"
    ELEMENT = "element of an array"


@dataclass(frozen=True, slots=True)
class UpdatePlace:
    """A place: a container, and where in it. `type`: of what may stand there."""

    container: Any
    key: Any
    type: FieldType
    kind: PlaceKind
    nullable: bool = True
    name: str = ""

    @property
    def value(self) -> Any:  # noqa: ANN401  # any stored value
        """What stands there; a null inside JSON is `JSON_NULL`."""
        value = self.container[self.key]
        inside = self.kind in (PlaceKind.MEMBER, PlaceKind.ELEMENT)
        if value is None and inside and self.type.kind is Kind.JSON:
            return JSON_NULL
        return value

    def put(self, value: Any) -> None:  # noqa: ANN401  # any stored value
        """Replace what stands there."""
        inside = self.kind in (PlaceKind.MEMBER, PlaceKind.ELEMENT)
        self.container[self.key] = None if inside and isinstance(value, JsonNull) else value


def copied(value: Any) -> Any:  # noqa: ANN401  # any stored value
    """A copy that shares no array, map or record with the value."""
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    return value


def document(value: Any) -> Any:  # noqa: ANN401  # any value of a query
    """A value as it is stored inside JSON, where None is a JSON null."""
    if isinstance(value, JsonNull):
        return None
    if isinstance(value, list):
        return [document(item) for item in value]
    if isinstance(value, Mapping):
        return {name: document(item) for name, item in value.items()}
    return value


def set_place(place: UpdatePlace, items: Sequence[Any], cast: Cast) -> bool:
    """SET: no item changes nothing; a null of either kind makes a column or a field NULL."""
    if not items:
        return False
    outer = place.kind in (PlaceKind.COLUMN, PlaceKind.FIELD)
    if outer and len(items) == 1 and (items[0] is None or isinstance(items[0], JsonNull)):
        place.put(None)
    else:
        place.put(cast(items, place.type))
    return True


def add_elements(
    place: UpdatePlace, items: Sequence[Any], position: int | None, cast: Cast
) -> bool:
    """ADD: into an array, at a position from its front, or at its end; anything else stays."""
    array = place.value
    if not isinstance(array, list) or not items:
        return False
    element = place.type.element or JSON
    at = len(array) if position is None else min(max(position, 0), len(array))
    array[at:at] = [_inside(cast([item], element), element) for item in items]
    return True


def put_fields(place: UpdatePlace, items: Sequence[Any], cast: Cast) -> bool:
    """PUT: the fields of maps and records into a map or an object; anything else stays."""
    target = place.value
    maps = [item for item in items if isinstance(item, Mapping)]
    if place.type.kind is Kind.RECORD or not isinstance(target, MutableMapping) or not maps:
        return False
    element = place.type.element or JSON
    changed = False
    for each in maps:
        for name, value in each.items():
            target[name] = _inside(cast([value], element), element)
            changed = True
    return changed


def remove_places(places: Sequence[UpdatePlace]) -> bool:
    """REMOVE: members of maps and objects, elements of arrays; of one array the last ones first."""
    arrays: dict[int, tuple[list[Any], set[int]]] = {}
    for place in places:
        if place.kind is PlaceKind.ELEMENT:
            arrays.setdefault(id(place.container), (place.container, set()))[1].add(place.key)
        else:
            place.container.pop(place.key, None)
    for array, positions in arrays.values():
        array[:] = [item for at, item in enumerate(array) if at not in positions]
    return bool(places)


def merge_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401  # any value of a document
    """JSON MERGE (RFC 7386): a null of the patch removes a member; no object replaces the target.

    Both are documents, in which None is a JSON null.
    """
    if not isinstance(patch, Mapping):
        return copied(patch)
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def _inside(value: Any, kind: FieldType) -> Any:  # noqa: ANN401  # any value of a document
    return None if isinstance(value, JsonNull) and kind.kind is Kind.JSON else value
