"""The commands of `widerow credentials` and their flags; what they do is in `credentials.py`."""

from typing import Annotated, Any, Final

import typer

from widerow.cli.flags import JSON_OUTPUT, Flag, with_flags

__all__ = ["credentials_app"]

credentials_app: Final = typer.Typer(
    help="Make and revoke temporary keys and API keys in a credentials file.",
    epilog="Example: `widerow credentials list --file keys.toml`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

_FILE: Final = Flag(
    "file", str, "The credentials file of the server.", "FILE", ..., "WIDEROW_CREDENTIALS"
)
_RIGHTS: Final = (
    Flag("instances", str, "Instances that it opens; all if not given.", "A,B", None),
    Flag("permissions", str, "What it may do: read, write, manage; all if not given.", "A,B", None),
)
_API_KEY_EXAMPLES: Final = """Examples:

`widerow credentials api-key notebook --file keys.toml --instances shop --permissions read`

`widerow credentials api-key nightly --file keys.toml --expires-in 90d --json`
"""
_TEMPORARY_EXAMPLES: Final = """Examples:

`widerow credentials temporary-key reporting --file keys.toml` — for an hour

`widerow credentials temporary-key reporting --file keys.toml --expires-in 15m --permissions read`
"""
_REVOKE_EXAMPLES: Final = """Examples:

`widerow credentials revoke notebook --file keys.toml` — a server refuses it within a second

`widerow credentials revoke --expired --file keys.toml`
"""
_LIST_EXAMPLES: Final = """Examples:

`widerow credentials list --file keys.toml`
"""


@credentials_app.command("api-key", epilog=_API_KEY_EXAMPLES)
@with_flags(
    _FILE,
    *_RIGHTS,
    Flag("expires_in", str, "When it ends, as in 12h or 90d; never if not given.", "TIME", None),
    JSON_OUTPUT,
)
def _api_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Make an API key and show it, once."""
    from widerow.cli.credentials import make_api_key  # noqa: PLC0415  # only this command

    make_api_key(name, given)


@credentials_app.command("temporary-key", epilog=_TEMPORARY_EXAMPLES)
@with_flags(
    _FILE,
    *_RIGHTS,
    Flag("expires_in", str, "When it ends, as in 15m or 12h.", "TIME", "1h"),
    JSON_OUTPUT,
)
def _temporary_key(
    parent: Annotated[
        str, typer.Argument(metavar="ID", help="The access key for which it stands.")
    ],
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Make a temporary key (id, secret and security token) for an access key, and show it."""
    from widerow.cli.credentials import make_temporary_key  # noqa: PLC0415  # only this command

    make_temporary_key(parent, given)


@credentials_app.command("revoke", epilog=_REVOKE_EXAMPLES)
@with_flags(
    _FILE,
    Flag("expired", bool, "Those that open nothing any more, instead of names.", default=False),
    JSON_OUTPUT,
)
def _revoke(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Temporary keys and API keys."),
    ] = None,
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Take temporary keys and API keys out of the file."""
    from widerow.cli.credentials import revoke_keys  # noqa: PLC0415  # only this command

    revoke_keys(names or [], given)


@credentials_app.command("list", epilog=_LIST_EXAMPLES)
@with_flags(_FILE, JSON_OUTPUT)
def _list(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show the keys of the file, what they may do and until when, without their secrets."""
    from widerow.cli.credentials import list_keys  # noqa: PLC0415  # only this command

    list_keys(given)
