"""The environment variables that widerow and the clients of the service use, and what each does.

Names and users of the clients' variables are those of ts-cli.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, command, switch
from widerow.cli.connection import CONNECTION_FIELDS, PROFILE_VARIABLE
from widerow.cli.profiles import asked_connection
from widerow.cli.tablestore.grid import Grid
from widerow.cli.tablestore.output import print_grid
from widerow.server.settings import DESCRIPTIONS, PREFIX
from widerow.storage.opener import shown_url

__all__ = ["ENV", "VARIABLES", "Variable", "masked", "variable_documents"]

Json = dict[str, Any]

_SECRET_ENDS: Final = ("SECRET", "SECRETACCESSKEY", "TOKEN", "API_KEY", "_SK_ENV")
_MASK: Final = "********"


class Variable(NamedTuple):
    """A variable: its group, its name, what it does, and whether a command of widerow reads it."""

    group: str
    name: str
    help: str
    is_read: bool


def _connection_variables() -> list[Variable]:
    return [
        Variable("connection", name, _said(field.help, place), is_read=True)
        for field in CONNECTION_FIELDS
        for place, name in enumerate(field.variables)
    ]


def _said(words: str, place: int) -> str:
    return words if place == 0 else f"The same, if none above is set: {words[0].lower()}{words[1:]}"


_SERVER: Final = [
    *(
        Variable("server", f"{PREFIX}{name.upper()}", words, is_read=True)
        for name, words in DESCRIPTIONS.items()
    ),
    Variable(
        "server", f"{PREFIX}CONFIG", "The configuration file of `widerow serve`.", is_read=True
    ),
]
_PROGRAM: Final = [
    Variable("commands", PROFILE_VARIABLE, "Which profile is used.", is_read=True),
    Variable("commands", "NO_COLOR", "If not empty, nothing is coloured.", is_read=True),
    Variable(
        "commands",
        "XDG_CONFIG_HOME",
        "Holds widerow/profiles.toml; ~/.config if not set.",
        is_read=True,
    ),
    Variable(
        "commands",
        "XDG_STATE_HOME",
        "Holds the shells' histories, widerow/*-history; ~/.local/state if not set.",
        is_read=True,
    ),
]
_OTHERS: Final = [
    Variable("other clients", name, words, is_read=False)
    for names, words in (
        (("TABLESTORE_REGION", "OTS_REGION"), "The region, for V4 signatures of SDKs."),
        (("OTS_SIGN_VERSION",), "The signature that agent-storage sends."),
        (("TABLESTORE_API_KEY",), "An API key, in place of an access key."),
        (
            (
                *("TABLESTORE_MEMORY_STORE_NAME", "TABLESTORE_MEMORY_APP_ID"),
                *("TABLESTORE_MEMORY_TENANT_ID", "TABLESTORE_MEMORY_AGENT_ID"),
                "TABLESTORE_MEMORY_RUN_ID",
            ),
            "Whose memories the agent's command line reads.",
        ),
        (
            ("TABLESTORE_OSS_ENDPOINT", "TABLESTORE_OSS_BUCKET_NAME"),
            "Where the agent's command line keeps files.",
        ),
        (("TABLESTORE_LOG_LEVEL", "TABLESTORE_LOG_DIR"), "The vendor's programs' own log."),
        (
            ("end_point", "instance_name", "access_key_id", "access_key_secret"),
            "Samples of LangChain and LlamaIndex.",
        ),
        (
            (
                *("endpoint", "instancename", "instancenameinternal"),
                *("accesskeyid", "accesskeysecret"),
            ),
            "Tests of the Java SDK.",
        ),
        (("accessKeyId", "secretAccessKey", "stsToken"), "Tests of the Node.js SDK."),
        (
            (
                *("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"),
                "ALIBABA_CLOUD_SECURITY_TOKEN",
            ),
            "The vendor's chain of default credentials.",
        ),
    )
    for name in names
]
VARIABLES: Final = (*_connection_variables(), *_PROGRAM, *_SERVER, *_OTHERS)
"""Every variable, in the order in which they are shown."""


def masked(name: str, value: str) -> str:
    """A value as it may be shown: of a secret nothing but whether there is one."""
    if name == f"{PREFIX}STORE":
        return shown_url(value)
    return _MASK if value and name.upper().endswith(_SECRET_ENDS) else value


def variable_documents(environment: Mapping[str, str]) -> list[Json]:
    """Every variable with its present value, for JSON; null where it is not set."""
    return [
        {
            "group": each.group,
            "name": each.name,
            "value": masked(each.name, environment[each.name])
            if each.name in environment
            else None,
            "read": each.is_read,
            "help": each.help,
        }
        for each in VARIABLES
    ]


def _env(given: Given) -> None:
    found = asked_connection({}, given["profile"])
    connection = {
        name: {"value": masked(name, value), "source": found.sources[name]}
        for name, value in found.values.items()
    }
    variables = variable_documents(os.environ)
    if given["set"]:
        variables = [each for each in variables if each["value"] is not None]
    document = {"connection": connection, "variables": variables}
    tell(given, document, lambda: _print_environment(connection, variables))


def _print_environment(connection: dict[str, Any], variables: list[dict[str, Any]]) -> None:
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


ENV: Final = command(
    _env,
    switch("set", "Only variables that are set."),
    JSON_OUTPUT,
    Flag("profile", "The connection with this profile.", "NAME"),
    examples="""
`widerow env` — every variable, what it does, its value; secrets are masked
`widerow env --set` — only those that are set
`widerow env --json`
""",
)
