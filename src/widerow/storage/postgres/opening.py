"""Opening connections: what is checked before the database is used, and the errors.

Everything is asked anew of each connection, because settings change while servers run.
"""

from typing import Any, Final

import psycopg
from psycopg import errors, sql

from widerow.errors import StorageFailure, StoreBusy
from widerow.storage.postgres.session import ConnectionLost, DatabaseSession, StatementFailed
from widerow.storage.postgres.statements import CREATE_TABLE, SETTINGS, TABLE

__all__ = ["make_table", "open_session"]

_VERSION_MIN: Final = 120000  # MATERIALIZED
_CONNECT_SECONDS_MAX: Final = 5
_NOT_SYNCED: Final = {
    "fsync": "the database does not sync its log (fsync=off), so a loss of power would take back "
    "what was acknowledged; set fsync=on in postgresql.conf and reload it",
    "synchronous_commit": "the database answers before it has synced (synchronous_commit=off), so "
    "a crash would take back what was acknowledged; set synchronous_commit=on in postgresql.conf, "
    "or for this user: ALTER ROLE ... SET synchronous_commit=on",
}


def open_session(url: str) -> DatabaseSession:
    """A connection that is ready for use.

    Raises: `StoreBusy` where the database cannot be reached, `StorageFailure` where it cannot be
    used as it is.
    """
    connection = _connected(url)
    try:
        _check(connection)
        _set(connection)
        return DatabaseSession(connection)
    except (psycopg.OperationalError, ConnectionLost) as error:
        connection.close()
        raise StoreBusy(f"the connection to the database was lost: {error}") from error
    except (psycopg.Error, StatementFailed) as error:
        connection.close()
        raise StorageFailure(f"the database cannot be used: {error}") from error
    except BaseException:
        connection.close()
        raise


def make_table(url: str) -> None:
    """Make the table, if it is not there. Raises what `open_session` does."""
    connection = _connected(url)
    try:
        _check(connection)
        found = connection.execute("SELECT to_regclass(%s)", (TABLE,)).fetchone()
        if found is None or found[0] is None:
            connection.execute(CREATE_TABLE)
    except (errors.UniqueViolation, errors.DuplicateTable):
        pass  # another process made it at the same moment
    except psycopg.Error as error:
        raise StorageFailure(
            f"the table {TABLE} cannot be made: {error}. The user needs the right to create tables "
            "in the first schema of its search_path"
        ) from error
    finally:
        connection.close()


def _connected(url: str) -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS_MAX)
    except psycopg.OperationalError as error:
        told = str(error).strip()
        raise StoreBusy(f"the database cannot be reached, or refuses the user: {told}") from error
    except psycopg.Error as error:
        raise StorageFailure(f"the URL of the database cannot be used: {error}") from error


def _check(connection: psycopg.Connection[Any]) -> None:
    """Raise `StorageFailure` for a database that would lose what was acknowledged."""
    if connection.info.server_version < _VERSION_MIN:
        raise StorageFailure(
            f"the database has version {connection.info.server_version // 10000}; widerow needs "
            f"{_VERSION_MIN // 10000} or later"
        )
    asked = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"
    for name, setting in connection.execute(asked, (list(_NOT_SYNCED),)):
        if setting == "off":
            raise StorageFailure(_NOT_SYNCED[name])
    found = connection.execute("SHOW transaction_read_only").fetchone()
    if found is not None and found[0] == "on":
        raise StoreBusy("the database takes no writes: it is a standby, or set to read only")


def _set(connection: psycopg.Connection[Any]) -> None:
    known = connection.execute(
        "SELECT name FROM pg_settings WHERE name = ANY(%s)", (list(SETTINGS),)
    ).fetchall()
    for (name,) in known:
        connection.execute(
            sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(SETTINGS[name]))
        )
