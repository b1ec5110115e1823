"""A shell on a store in memory, fed with lines and listened to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from widerow import nosql
from widerow.cli.kv.commands import COMMANDS
from widerow.cli.kv.script import run_script
from widerow.cli.kv.session import Mode, Session, ShellStore, open_target
from widerow.testing.clock import FakeClock, FakeEntropy

SCRIPTS = Path(__file__).resolve().parents[3] / "examples" / "kv"


class Shell:
    """One shell. `run` returns what it printed and the exit code of the script."""

    def __init__(self, store: ShellStore) -> None:
        self.said: list[str] = []
        self.session = Session(
            store=store,
            clock=FakeClock(),
            write=self.said.append,
            modes=[Mode("kv", COMMANDS)],
            reopen=open_target,
        )

    @property
    def store(self) -> nosql.TypedStore:
        """The store, where it is one of this process."""
        assert isinstance(self.session.store, nosql.TypedStore)
        return self.session.store

    def run(self, script: str, *, stop: bool = False) -> tuple[str, int]:
        self.said.clear()
        code = run_script(self.session, script.splitlines(), stop=stop)
        return "".join(f"{line}\n" for line in self.said), code

    def products(self) -> None:
        """Put the seed's table with a key of three columns into the store."""
        assert self.run((SCRIPTS / "products-by-class.kv").read_text())[1] == 0

    def rows(self) -> None:
        """The same table, its shard key the first column, with three rows and a child table."""
        script = """
        table create -name myProducts
        add-field -type STRING -name productType
        add-field -type INTEGER -name number
        add-field -type INTEGER -name inventoryCount
        add-field -type DOUBLE -name weight
        primary-key -field productType -field number
        shard-key -field productType
        exit
        plan add-table -name myProducts
        table create -name myProducts.parts
        add-field -type STRING -name part
        primary-key -field part
        exit
        plan add-table -name myProducts.parts
        put table -name myProducts -json '{"productType":"hat","number":1,"inventoryCount":5}'
        put table -name myProducts -json '{"productType":"hat","number":2,"inventoryCount":8}'
        put table -name myProducts -json '{"productType":"tie","number":1,"inventoryCount":12}'
        """
        assert self.run(script)[1] == 0


@pytest.fixture
def shell() -> Iterator[Shell]:
    with nosql.open(
        "memory:", clock=FakeClock(), entropy=FakeEntropy(), housekeeping=False
    ) as store:
        yield Shell(store)


@pytest.fixture
def scripts() -> Path:
    return SCRIPTS
