"""What a divided store knows of its servers."""

from typing import NamedTuple

__all__ = ["ServerState"]


class ServerState(NamedTuple):
    """A server of the database, by the place where it listens.

    `waiting`: calls that wait for its answers. `silent_seconds`: for how long it has sent nothing
    while a call waited; 0 where none waits. `late_writes`: writes that groups did not wait for.
    """

    server: str
    waiting: int = 0
    silent_seconds: float = 0.0
    late_writes: int = 0
