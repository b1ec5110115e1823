"""The state of a vendor's shell: where it is connected, and which table is in use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from widerow.cli.sql import SqlSession, rows_as_table
from widerow.cli.tablestore.grid import Grid, render_grid
from widerow.cli.tablestore.output import terminal_width, text_width
from widerow.cli.ts.command import TsCommand, TsUsage
from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client, Endpoint
from widerow.client.series import check_series_table
from widerow.client.tables import TableFacts, known_table

__all__ = ["TsSession"]


@dataclass(slots=True)
class TsSession:
    """What the commands share.

    `kept`: the parts of the connection, by their names; `keep` keeps them as a profile, and returns
    its name. `ask`: answers a question of the person at the terminal, None where there is nobody.
    `of_series`: the table in use is one of time series.
    `columns`: names that were seen of each table, for completion. `in_sql`: lines are statements.
    """

    endpoint: Endpoint
    kept: Mapping[str, str]
    commands: Sequence[TsCommand]
    write: Callable[[str], None]
    keep: Callable[[Mapping[str, str]], str]
    ask: Callable[[str], str] | None = None
    table: str = ""
    of_series: bool = False
    finished: bool = False
    columns: dict[str, set[str]] = field(default_factory=dict)
    in_sql: bool = False
    _client: Client | None = None
    _statements: SqlSession | None = None

    @property
    def client(self) -> Client:
        """The connection, opened when it is needed; it does not wait long for an answer."""
        if self._client is None:
            self._client = Client(self.endpoint, patience=FIRST_PATIENCE_SECONDS)
        return self._client

    @property
    def statements(self) -> SqlSession:
        """What runs statements of SQL, over the connection that is open."""
        if self._statements is None or self._statements.client is not self.client:
            self._statements = SqlSession(self.client, rows_as_table)
            self._statements.write = self.write
        return self._statements

    @property
    def prompt(self) -> str:
        """The text before a line that is typed: the instance, and the table in use."""
        if self.in_sql:
            return f"{self.endpoint.instance}:sql> "
        return f"{self.endpoint.instance}{':' if self.table else ''}{self.table}> "

    def connect(self, endpoint: Endpoint, kept: Mapping[str, str]) -> None:
        """Use another server or instance from now on; no table is in use then."""
        self.close()
        self.endpoint, self.kept = endpoint, kept
        self.use("")

    def use(self, table: str, *, of_series: bool = False) -> None:
        """Use a table from now on; "": none."""
        self.table, self.of_series = table, of_series

    def close(self) -> None:
        """Close the connection. Idempotent."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def facts(self, named: str | None = None) -> TableFacts:
        """The table of this name, or the one in use.

        Raises: `TsUsage` where none is in use; `RequestFailed` where there is no such table.
        """
        if not named and self.of_series:
            raise TsUsage(
                f"{self.table} is a table of time series, which putts, getts, qtm, "
                "update_timeseries_meta and import_timeseries are about; give -t TABLE for another"
            )
        name = named or self.table
        if not name:
            raise TsUsage("no table is in use; `use -t TABLE` first, or give -t TABLE")
        table = known_table(self.client, name)
        self.saw(name, [column.name for column in table.key])
        self.saw(name, table.defined)
        return table

    def series(self, named: str | None = None) -> str:
        """The name of this timeseries table, or of the one in use.

        Raises: `TsUsage` where none is in use; `RequestFailed` where there is no such table.
        """
        if named:
            check_series_table(self.client, named)
            return named
        if not self.of_series:
            raise TsUsage(
                "no table of time series is in use; `use --ts -t TABLE` first, or give -t TABLE"
            )
        return self.table

    def show(self, grid: Grid) -> None:
        """Write a table, as wide as the terminal at most where there is one."""
        rendered = render_grid(grid, terminal_width(), text_width, ruled=True)
        self.write("\n".join(rendered.lines))
        if rendered.cut:
            values = "1 value is" if rendered.cut == 1 else f"{rendered.cut:,} values are"
            self.write(f"{values} cut (…); -o FILE has them whole.")

    def saw(self, table: str, columns: object) -> None:
        """Remember names of columns for completion."""
        assert isinstance(columns, (list, set, dict, tuple))
        self.columns.setdefault(table, set()).update(columns)
