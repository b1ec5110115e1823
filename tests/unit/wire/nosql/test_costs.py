"""What requests consume, as the original counts it (nosql-wire §4)."""

from typing import Any

from tests.fuzz.nson import answered_in_order, request

KEY = {"s": 1, "id": "b"}


def row(size: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # columns
    return {**KEY, "m": {"k": "x" * size}, **more}


def put(size: int, code: int = 3, **members: Any) -> bytes:  # noqa: ANN401  # members
    return request(code, {"l": row(size), **members})


def costs(*requests: bytes) -> list[tuple[int, int, int]]:
    """Read units, and kilobytes read and written, of requests one after the other."""
    answers = answered_in_order(requests)
    return [(each["c"]["ru"], each["c"]["rk"], each["c"]["wk"]) for each in answers]


def test_reads_count_begun_kilobytes_and_absolute_ones_twice() -> None:
    found = costs(
        put(2500),
        request(2, {"co": {"y": 1}, "k": KEY}),
        request(2, {"co": {"y": 0}, "k": KEY}),
        request(2, {"co": {"y": 0}, "k": {"s": 1, "id": "none"}}),
    )
    assert found == [(0, 0, 3), (3, 3, 0), (6, 3, 0), (2, 1, 0)]


def test_writes_count_the_row_and_the_one_that_it_replaces() -> None:
    found = costs(put(500), put(1500), put(500, rr=True), put(500, 4), put(500, 5))
    assert found == [(0, 0, 1), (0, 0, 3), (4, 2, 3), (2, 1, 0), (2, 1, 2)]


def test_deletes_count_what_was_there() -> None:
    delete = request(0, {"k": KEY})
    assert costs(put(1500), delete, delete) == [(0, 0, 2), (4, 2, 2), (2, 1, 0)]
    several = request(10, {"k": {"s": 1}})
    assert costs(put(1500), several, several)[1:] == [(6, 3, 3), (2, 1, 0)]


def test_a_sequence_counts_its_writes_together() -> None:
    """One that a replacing put aborts counts what was written and undone."""
    first = {"o": 3, "l": row(500)}

    def second(code: int) -> dict[str, Any]:
        return {"o": code, "l": {**KEY, "id": "none"}, "a": True}

    asked = [request(9, {"no": 2, "os": [first, second(code)]}) for code in (3, 5)]
    assert costs(asked[0])[0] == (0, 0, 2)
    assert costs(asked[1])[0] == (2, 1, 1)
    missing = {"o": 0, "k": {**KEY, "id": "none"}, "a": True}
    assert costs(request(9, {"no": 2, "os": [first, missing]}))[0] == (2, 1, 0)
