"""`widerow profile`, `widerow env` and `widerow completion`."""

import os
import sys
from typing import Annotated, Any, Final

import typer

from widerow.cli.connection import CONNECTION_FIELDS
from widerow.cli.flags import JSON_OUTPUT, Flag, with_flags
from widerow.cli.names import profile_names
from widerow.cli.shells import COMPLETE_VARIABLE, PROGRAM, SHELLS, shown_script

__all__ = ["COMPLETION_EXAMPLES", "ENV_EXAMPLES", "completion", "env", "profile_app"]

profile_app: Final = typer.Typer(
    help="Named connections: a server, an instance and a key, kept in a file of yours.",
    epilog="Example: `widerow profile add work --endpoint http://db1:8087 --instance shop`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

_Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The profile's name.", autocompletion=profile_names),
]

ENV_EXAMPLES: Final = """Examples:

`widerow env` — every variable, what it does, its value; secrets are masked

`widerow env --set` — only those that are set

`widerow env --json`
"""
COMPLETION_EXAMPLES: Final = """Examples:

`source <(widerow completion bash)` — for this shell; put it into ~/.bashrc for all

`widerow completion zsh > ~/.zfunc/_widerow` — with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc

`widerow completion fish > ~/.config/fish/completions/widerow.fish`
"""
_ADD_EXAMPLES: Final = """Examples:

`widerow profile add shop --endpoint http://db:8087 --instance shop --access-key-id reporting`
— asks for the secret

`widerow profile add cloud --endpoint https://inst.region.ots.example.com --instance inst`

The first profile is used from then on; `widerow profile use` takes another one. The file is
`$XDG_CONFIG_HOME/widerow/profiles.toml`, and only its owner can read it.
"""
_LIST_EXAMPLES: Final = """Examples:

`widerow profile list` — a star is before the one in use
"""
_USE_EXAMPLES: Final = """Examples:

`widerow profile use shop`

`widerow --help` — every command that asks a server also takes `--profile NAME`
"""
_REMOVE_EXAMPLES: Final = """Examples:

`widerow profile remove shop`
"""


@profile_app.command("add", epilog=_ADD_EXAMPLES)
@with_flags(
    *(
        Flag(
            field.name,
            str,
            field.help,
            "SECRET" if field.name in ("access_key_secret", "security_token") else "TEXT",
            None,
        )
        for field in CONNECTION_FIELDS
    ),
    Flag("use", bool, "Use it from now on.", default=False),
)
def _add(name: _Name, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Keep a connection under a name; one of that name is replaced."""
    from widerow.cli.profiles import (  # noqa: PLC0415  # only this command
        ProfileInvalid,
        load_profiles,
        profiles_path,
        save_profiles,
    )

    use = given.pop("use")
    if not any(given.values()):
        raise ProfileInvalid("nothing to keep: give --endpoint, --instance or --access-key-id")
    if given["access_key_id"] and not given["access_key_secret"]:
        given["access_key_secret"] = _asked_secret(given["access_key_id"])
    path = profiles_path(os.environ)
    profiles = load_profiles(path).changed(name, given)
    save_profiles(path, profiles.using(name) if use else profiles)
    in_use = "" if (profiles.using(name) if use else profiles).current != name else ", in use now"
    sys.stderr.write(f"kept the profile {name}{in_use}\n")


def _asked_secret(key_id: str) -> str:
    """The secret that is typed where nobody sees it, or a line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    from getpass import getpass  # noqa: PLC0415  # only to ask

    return getpass(f"secret of {key_id}: ")


@profile_app.command("list", epilog=_LIST_EXAMPLES)
@with_flags(JSON_OUTPUT)
def _list(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show the profiles, without their secrets."""
    import json  # noqa: PLC0415  # only this command

    from widerow.cli.environment import masked  # noqa: PLC0415  # same
    from widerow.cli.profiles import load_profiles, profiles_path  # noqa: PLC0415  # same
    from widerow.cli.tablestore.grid import Grid  # noqa: PLC0415  # same
    from widerow.cli.tablestore.output import print_grid  # noqa: PLC0415  # same

    profiles = load_profiles(profiles_path(os.environ))
    rows = {
        name: {key: masked(key, value) for key, value in fields.items()}
        for name, fields in profiles.named.items()
    }
    if given["as_json"]:
        document = {"current": profiles.current or None, "profiles": rows}
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
        return
    names = ("endpoint", "instance", "access_key_id")
    lines = [
        [f"{'*' if name == profiles.current else ' '} {name}", *(row.get(key, "") for key in names)]
        for name, row in rows.items()
    ]
    if lines:
        print_grid(Grid(("  profile", "endpoint", "instance", "access key"), lines))
    else:
        sys.stderr.write("no profile yet; make one with `widerow profile add`\n")


@profile_app.command("use", epilog=_USE_EXAMPLES)
def _use(name: _Name) -> None:
    """Use a profile from now on, in every command that asks a server."""
    from widerow.cli.profiles import (  # noqa: PLC0415  # only this command
        load_profiles,
        profiles_path,
        save_profiles,
    )

    path = profiles_path(os.environ)
    save_profiles(path, load_profiles(path).using(name))


@profile_app.command("remove", epilog=_REMOVE_EXAMPLES)
def _remove(name: _Name) -> None:
    """Take a profile out of the file."""
    from widerow.cli.profiles import (  # noqa: PLC0415  # only this command
        load_profiles,
        profiles_path,
        save_profiles,
    )

    path = profiles_path(os.environ)
    save_profiles(path, load_profiles(path).without(name))


@with_flags(
    Flag("set", bool, "Only variables that are set.", default=False),
    JSON_OUTPUT,
    Flag("profile", str, "The connection with this profile.", "NAME", None),
)
def env(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show all environment variables that count, what each does, and the connection they make."""
    from widerow.cli.environment import masked, variable_documents  # noqa: PLC0415  # only here
    from widerow.cli.profiles import asked_connection  # noqa: PLC0415  # same
    from widerow.cli.tablestore.output import print_json  # noqa: PLC0415  # same

    found = asked_connection({}, given["profile"])
    connection = {
        name: {"value": masked(name, value), "source": found.sources[name]}
        for name, value in found.values.items()
    }
    variables = variable_documents(os.environ)
    if given["set"]:
        variables = [each for each in variables if each["value"] is not None]
    if given["as_json"]:
        print_json({"connection": connection, "variables": variables})
    else:
        _print_environment(connection, variables)


def _print_environment(connection: dict[str, Any], variables: list[dict[str, Any]]) -> None:
    from widerow.cli.tablestore.grid import Grid  # noqa: PLC0415  # only this command
    from widerow.cli.tablestore.output import print_grid  # noqa: PLC0415  # same

    lines = [[name, each["value"], each["source"]] for name, each in connection.items()]
    print_grid(Grid(("connection", "value", "from"), lines))
    groups = dict.fromkeys(each["group"] for each in variables)
    for group in groups:
        sys.stdout.write("\n")
        rows = [
            [each["name"], "" if each["value"] is None else each["value"], each["help"]]
            for each in variables
            if each["group"] == group
        ]
        title = f"{group} (widerow does not read these)" if group == "other clients" else group
        print_grid(Grid((title, "value", "what it does"), rows))


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", help="bash, zsh or fish.", autocompletion=lambda: list(SHELLS)
        ),
    ],
) -> None:
    """Print the script that completes commands and flags of widerow in a shell."""
    from typer import completion as scripts  # noqa: PLC0415  # only this command

    if shell not in SHELLS:
        raise typer.BadParameter(f"{shell} is none of {', '.join(SHELLS)}")
    script = scripts.get_completion_script(  # type: ignore[attr-defined]  # of typer's own command
        prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE, shell=shell
    )
    sys.stdout.write(shown_script(shell, script) + "\n")
