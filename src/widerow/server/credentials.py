"""The access keys in force: read at the start, and again whenever their file changes.

The file's bytes are looked at twice a second, so a key that was taken out of it is refused within a
second; SIGHUP looks at once. Bytes are compared, not dates: two changes within one tick of a file
system's clock look alike by date. A file that cannot be used leaves the keys as they are (a typing
mistake must not lock everyone out), which is logged as an error once for each content and counted
in `widerow_credentials_failures_total`.

API keys travel as they are, so they open something only where nobody reads along: on a port that
speaks TLS, or behind a proxy that does, which the operator vouches for (`api_keys_behind_proxy`).
Elsewhere they are refused, and the log says so whenever the file is read.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from widerow.auth.keyring import CredentialsInvalid, Keyring
from widerow.auth.policy import AccessRules, InstancePolicy
from widerow.errors import InvalidRequest
from widerow.limits import CREDENTIALS_BYTES_MAX, CREDENTIALS_LOOK_SECONDS
from widerow.server.metrics import Metrics
from widerow.server.readers import warn_of_key_readers
from widerow.server.settings import Settings, SettingsInvalid

__all__ = ["CredentialsFile", "load_identity"]

_log = logging.getLogger("widerow.server")

Replace = Callable[[AccessRules], None]


class CredentialsFile:
    """The credentials file of the settings, and the rules it holds. For the loop's thread."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        assert settings.credentials is not None, "there is no file to look at"
        self._path = Path(settings.credentials)
        self._instances = _instances(settings)
        self._takes_api_keys = settings.tls_cert is not None or settings.api_keys_behind_proxy
        self._metrics = metrics
        self._seen: bytes | None = None
        self._failed = ""

    def load(self) -> AccessRules:
        """The rules that the file holds now. Raises: `SettingsInvalid`, which names no secret."""
        self._seen = _read(self._path)
        warn_of_key_readers(self._path)
        return AccessRules(self._parse(self._seen), self._instances)

    async def watch(self, replace: Replace) -> None:
        """Hand a changed file's identity to `replace`, until cancelled."""
        while True:
            await asyncio.sleep(CREDENTIALS_LOOK_SECONDS)
            await self.look(replace)

    async def look(self, replace: Replace) -> None:
        """Hand the file's identity to `replace` if its bytes are not those seen last."""
        try:
            found = await asyncio.to_thread(_read, self._path)
            if found == self._seen:
                self._failed = ""  # the file is again as the rules in force
                return
            keyring = self._parse(found)
            warn_of_key_readers(self._path)
        except SettingsInvalid as error:
            self._keep(str(error))
            return
        self._seen, self._failed = found, ""
        replace(AccessRules(keyring, self._instances))
        _log.info("access keys replaced", extra={"facts": {"keys": len(keyring)}})

    def _parse(self, content: bytes) -> Keyring:
        try:
            keyring = Keyring.load(content.decode(), takes_api_keys=self._takes_api_keys)
        except UnicodeDecodeError:
            raise SettingsInvalid(f"credentials {self._path}: not UTF-8 text") from None
        except CredentialsInvalid as error:
            raise SettingsInvalid(f"credentials {self._path}: {error}") from None
        if keyring.api_keys and not self._takes_api_keys:
            facts = {"api_keys": len(keyring.api_keys)}
            _log.warning(
                "API keys are refused: the port speaks no TLS; see --api-keys-behind-proxy",
                extra={"facts": facts},
            )
        return keyring

    def _keep(self, reason: str) -> None:
        """Keep the rules in force, and log each reason once."""
        if reason != self._failed:
            self._failed = reason
            self._metrics.credentials_failures += 1
            _log.error("access keys stay as they were", extra={"facts": {"reason": reason}})


def load_identity(settings: Settings) -> AccessRules:
    """The rules of the default key pair and of instances in the settings.

    Raises: `SettingsInvalid`.
    """
    return AccessRules(Keyring.default(), _instances(settings))


def _instances(settings: Settings) -> InstancePolicy:
    if settings.instances is None:
        return InstancePolicy()
    try:
        return InstancePolicy(frozenset(settings.instances))
    except InvalidRequest as error:
        raise SettingsInvalid(f"instances: {error}") from error


def _read(path: Path) -> bytes:
    """The file's bytes, of which there may not be too many. Raises: `SettingsInvalid`."""
    try:
        with path.open("rb") as file:
            content = file.read(CREDENTIALS_BYTES_MAX + 1)
    except OSError as error:
        raise SettingsInvalid(f"cannot read credentials {path}: {error.strerror}") from error
    if len(content) > CREDENTIALS_BYTES_MAX:
        raise SettingsInvalid(f"credentials {path}: more than {CREDENTIALS_BYTES_MAX} bytes")
    return content
