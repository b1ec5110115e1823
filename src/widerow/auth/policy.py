"""The policy: principal x action x instance -> allowed, or an error.

Data belongs to instances, never to keys: two keys that may open an instance see the same tables,
and a new key for an old instance sees all there is. So do transactions and tunnels: one key may go
on with what another one began, for example a new temporary key after the former one has expired.
"""

from dataclasses import dataclass
from typing import Final

from widerow.auth.keyring import (
    ALL_PERMISSIONS,
    AccessKey,
    ApiKey,
    Keyring,
    Permission,
    is_instance_name,
)
from widerow.errors import InvalidRequest, NotPermitted, Rule

__all__ = ["ANY_INSTANCE", "AccessRules", "InstancePolicy", "authorize"]

_NAME_SHOWN_MAX: Final = 255  # of an invalid name, in the error about it


@dataclass(frozen=True, slots=True)
class InstancePolicy:
    """Which instances the server has. `names`: None for any valid name, made on first use."""

    names: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Refuse a list with a name that no request could use."""
        for name in self.names or ():
            if not is_instance_name(name):
                raise InvalidRequest(Rule.INSTANCE_NAME, name=name)

    def admit(self, instance: str, key: AccessKey | ApiKey) -> None:
        """Return if `key` may open `instance`.

        Raises: `InvalidRequest` (INSTANCE_NAME), `NotPermitted` (INSTANCE_UNKNOWN when the
        server does not have it, INSTANCE_FORBIDDEN when the key is limited to others).
        """
        if self.names is None:
            if not is_instance_name(instance):
                raise InvalidRequest(Rule.INSTANCE_NAME, name=instance[:_NAME_SHOWN_MAX])
        elif instance not in self.names:
            raise NotPermitted(Rule.INSTANCE_UNKNOWN)
        if key.instances is not None and instance not in key.instances:
            raise NotPermitted(Rule.INSTANCE_FORBIDDEN)


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The keys and instances in force. Immutable: a change replaces the whole value."""

    keyring: Keyring
    instances: InstancePolicy


ANY_INSTANCE: Final = InstancePolicy()


def authorize(key: AccessKey | ApiKey, permission: Permission) -> None:
    """Return if `key` has `permission`. Raises: `NotPermitted` (PERMISSION_MISSING)."""
    permissions = key.permissions
    if permissions is not ALL_PERMISSIONS and permission not in permissions:
        raise NotPermitted(Rule.PERMISSION_MISSING, permission=permission.value)
