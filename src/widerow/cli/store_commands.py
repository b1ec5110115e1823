"""`widerow doctor`, `widerow backup`, `widerow restore`: their flags. The work is elsewhere."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from widerow.cli.setting_flags import with_settings

__all__ = [
    "BACKUP_EXAMPLES",
    "DOCTOR_EXAMPLES",
    "RESTORE_EXAMPLES",
    "backup",
    "doctor",
    "restore",
]

_STORE_SETTINGS: Final = ("path", "store", "cache_mb")

DOCTOR_EXAMPLES: Final = """Examples:

`widerow doctor --path /srv/widerow` — stop the server first

`widerow doctor --path /srv/widerow --json`
"""
BACKUP_EXAMPLES: Final = """Examples:

`widerow backup /backups/monday --path /srv/widerow` — the server may go on

`widerow backup /backups/monday --path /srv/widerow --json`
"""
RESTORE_EXAMPLES: Final = """Examples:

`widerow restore /backups/monday --path /srv/widerow` — into a directory that does not exist

`widerow restore /backups/monday --check` — verify a backup, keep nothing
"""


@with_settings(_STORE_SETTINGS)
def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    digest: Annotated[
        bool, typer.Option("--digest", help="Sum up everything: equal for equal stores.")
    ] = False,
    **flags: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Verify every record of a store that no server has open. Exit code 1 on findings."""
    from widerow.cli.doctor import examine  # noqa: PLC0415  # only this command

    raise typer.Exit(examine(flags, as_json=as_json, digest=digest))


@with_settings(_STORE_SETTINGS)
def backup(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="New directory for the backup.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    **flags: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Copy a store, whether a server has it open or not: everything acknowledged until now."""
    from widerow.cli.backup import backup_store  # noqa: PLC0415  # only this command

    raise typer.Exit(backup_store(flags, target, as_json=as_json))


@with_settings(_STORE_SETTINGS)
def restore(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of the backup.")],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Verify the backup and keep nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    **flags: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Make a store from a backup, verified byte by byte and record by record."""
    from widerow.cli.backup import restore_store  # noqa: PLC0415  # only this command

    raise typer.Exit(restore_store(flags, source, check=check, as_json=as_json))
