"""`namespace`: where tables are looked for whose names do not say it (cli §6)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.session import Session
from widerow.model.typed.names import DEFAULT_NAMESPACE, same_name

__all__ = ["NAMESPACE"]


def _namespace(session: Session, given: Arguments) -> str:
    if given.words:
        (wanted,) = given.words
        held = [DEFAULT_NAMESPACE, *session.store.namespaces()]
        found = next((name for name in held if same_name(name, wanted)), None)
        if found is None:
            raise CommandFault(f"Namespace does not exist: {wanted}")
        session.namespace = "" if found == DEFAULT_NAMESPACE else found
    return f"Namespace is {session.namespace or DEFAULT_NAMESPACE}"


NAMESPACE: Final = Command(
    name="namespace",
    shortest=4,
    description="Says which namespace is in use, or uses another one.",
    run=_namespace,
    takes=(0, 1),
    words="[name]",
)
