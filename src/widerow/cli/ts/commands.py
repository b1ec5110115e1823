"""The table of commands of `widerow ts` (ts-cli)."""

from typing import Final

from widerow.cli.ts.data import (
    DELETE_ROW,
    EXPORT_ROWS,
    GET_ROW,
    IMPORT_ROWS,
    PUT_ROW,
    SCAN,
    UPDATE_ROW,
)
from widerow.cli.ts.definitions import (
    ALTER,
    CREATE,
    CREATE_INDEX,
    CREATE_TUNNEL,
    DESCRIBE,
    DESCRIBE_TUNNEL,
    DROP,
    DROP_INDEX,
    DROP_TUNNEL,
    GET_SPLITS,
    LIST,
    LIST_TUNNEL,
    USE,
)
from widerow.cli.ts.searched import DESCRIBE_SEARCH_INDEX, DROP_SEARCH_INDEX, LIST_SEARCH_INDEX
from widerow.cli.ts.settings import CLEAR, CONFIG, ELSEWHERE, EXIT_TS, TS_HELP
from widerow.cli.ts.statements import SQL_MODE
from widerow.cli.ts.timeseries import GET_POINTS, IMPORT_POINTS, PUT_POINT, QUERY_METAS, UPDATE_META

__all__ = ["TS_COMMANDS"]

TS_COMMANDS: Final = (
    TS_HELP,
    CONFIG,
    *(LIST, USE, CREATE, DESCRIBE, ALTER, DROP, GET_SPLITS),
    *(PUT_ROW, GET_ROW, UPDATE_ROW, DELETE_ROW, SCAN, EXPORT_ROWS, IMPORT_ROWS),
    *(PUT_POINT, GET_POINTS, IMPORT_POINTS, QUERY_METAS, UPDATE_META),
    *(CREATE_INDEX, DROP_INDEX),
    *(LIST_SEARCH_INDEX, DESCRIBE_SEARCH_INDEX, DROP_SEARCH_INDEX),
    SQL_MODE,
    *(CREATE_TUNNEL, LIST_TUNNEL, DESCRIBE_TUNNEL, DROP_TUNNEL),
    *(CLEAR, EXIT_TS),
    *ELSEWHERE,
)
"""Every command, in the order in which `help` lists them; those that are refused last."""
