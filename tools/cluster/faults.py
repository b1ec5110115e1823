"""What can happen to the servers of a cluster, as values: cause it, wait, put it right again."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from random import Random  # noqa: TID251  # seeded: which faults come must repeat
from threading import Event, Thread
from time import monotonic
from typing import Final, NamedTuple

from tools.cluster.hbase import Cluster
from tools.cluster.postgres import PostgresServer
from tools.cluster.regions import REFUSALS, RegionKeeper

__all__ = [
    "Fault",
    "Heal",
    "NotCaused",
    "disturbed",
    "hbase_faults",
    "postgres_faults",
    "region_changes",
]

Heal = Callable[[], object]

_BETWEEN_SECONDS: Final = (0.5, 5.0)  # from the end of a fault to the next one
_RECOVERY_SECONDS_MAX: Final = 60.0
_LOOK_SECONDS: Final = 0.5


class NotCaused(Exception):
    """A fault could not be caused now, and why."""


class Fault(NamedTuple):
    """One fault. `begin` causes it and returns what puts it right again, `seconds` later or more.

    `begin` raises `NotCaused` where that cannot be done at the moment.

    `weight`: how often it comes, beside those of the others; faults that take long come seldom.
    """

    name: str
    begin: Callable[[Random], Heal]
    seconds: float
    weight: int


def _nothing() -> None:
    """What needs no repair."""


def region_changes(keeper: RegionKeeper) -> list[Fault]:
    """Regions that are split, merged and moved."""

    def done(change: Callable[[Random], str]) -> Callable[[Random], Heal]:
        def begin(random: Random) -> Heal:
            try:
                change(random)
            except REFUSALS as error:  # a server is away, or the region was new
                raise NotCaused(str(error)) from error
            return _nothing

        return begin

    return [
        Fault("region split", done(keeper.split), 0, 10),
        Fault("regions merged", done(keeper.merge), 0, 8),
        Fault("region moved", done(keeper.move), 0, 10),
    ]


def _holders(cluster: Cluster, keeper: RegionKeeper) -> list[int]:
    """The numbers of region servers that have rows of tables; of all, where that is not known."""
    places = list(enumerate(cluster.region_servers, 1))
    with suppress(*REFUSALS):
        addresses = {str(region.address) for region in keeper.data()}
        return [number for number, place in places if place in addresses]
    return [number for number, _ in places]


def hbase_faults(cluster: Cluster, keeper: RegionKeeper) -> list[Fault]:
    """Faults of a cluster with three region servers."""

    def running(random: Random, kinds: Sequence[str]) -> list[str]:
        """Processes of these kinds with one number. Raises `NotCaused` where one does not run."""
        number = random.choice(_holders(cluster, keeper))
        names = [kind.format(number) for kind in kinds]
        if not cluster.running().keys() >= set(names):  # its session had ended, so it ended itself
            cluster.heal()
            raise NotCaused(f"not all of these run: {', '.join(names)}")
        return names

    def kill(*kinds: str) -> Callable[[Random], Heal]:
        def begin(random: Random) -> Heal:
            for name in running(random, kinds):
                cluster.stop_one(name)
            return cluster.heal

        return begin

    def pause(kind: str) -> Callable[[Random], Heal]:
        def begin(random: Random) -> Heal:
            (name,) = running(random, (kind,))
            cluster.pause_one(name)

            def heal() -> None:
                cluster.resume_one(name)
                cluster.heal()

            return heal

        return begin

    return [
        Fault("region server killed", kill("server{}"), 5, 2),
        Fault("region server and its data node killed", kill("server{}", "data{}"), 5, 1),
        Fault("data node killed", kill("data{}"), 5, 1),
        Fault("region server paused for 3 s", pause("server{}"), 3, 1),
        Fault("region server paused for 30 s", pause("server{}"), 30, 1),
        Fault("data node paused for 10 s", pause("data{}"), 10, 1),
        Fault("master killed", kill("master"), 5, 1),
        Fault("ZooKeeper killed", kill("zookeeper"), 2, 1),
        Fault("name node killed", kill("namenode"), 5, 1),
        *region_changes(keeper),
    ]


def postgres_faults(server: PostgresServer) -> list[Fault]:
    """Faults of a database."""

    def restart(how: str) -> Callable[[Random], Heal]:
        def begin(_: Random) -> Heal:
            server.stop(how)
            return server.start

        return begin

    def terminate(_: Random) -> Heal:
        server.terminate()
        return _nothing

    return [
        Fault("connections ended by the database", terminate, 0, 8),
        Fault("database restarted (-m fast)", restart("fast"), 0, 1),
        Fault("database restarted (-m immediate)", restart("immediate"), 0, 2),
        Fault("database away for 5 s", restart("immediate"), 5, 1),
    ]


@contextmanager
def disturbed(
    faults: Sequence[Fault], seed: int, serves: Callable[[], bool] = lambda: True
) -> Iterator[Counter[str]]:
    """Cause faults, one after another, until the end of the block; how often each came.

    Behind the block everything is put right again. `serves`: whether the database has come back
    from the fault before; the next one waits for that, up to `_RECOVERY_SECONDS_MAX`. On a machine
    so busy that a master does not begin between two faults, all would be away for good otherwise.
    """
    random = Random(seed)  # noqa: S311  # no secret
    times: Counter[str] = Counter()
    over = Event()
    failed: list[BaseException] = []

    def trouble() -> None:
        try:
            while not over.wait(random.uniform(*_BETWEEN_SECONDS)):
                (fault,) = random.choices(faults, [each.weight for each in faults])
                with suppress(NotCaused), ExitStack() as ends:
                    ends.callback(fault.begin(random))
                    over.wait(fault.seconds)
                    times[fault.name] += 1
                until = monotonic() + _RECOVERY_SECONDS_MAX
                while not serves() and monotonic() < until and not over.wait(_LOOK_SECONDS):
                    continue
        except BaseException as error:  # noqa: BLE001  # told in the thread that waits
            failed.append(error)

    thread = Thread(target=trouble, name="faults")
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()
    if failed:
        raise failed[0]
