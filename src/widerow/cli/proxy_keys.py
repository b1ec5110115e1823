"""The keys that a proxy signs with: those of profiles, read again whenever their file changes.

The file is looked at twice a second, as a server looks at its credentials. A file that cannot be
used, or has the profile no more, leaves the keys as they are; that is logged once for each content.
"""

import asyncio
import logging
from pathlib import Path
from typing import Final

from widerow.cli.connection import resolve_connection
from widerow.cli.profiles import load_profiles
from widerow.client.signing import Signer
from widerow.errors import WiderowError
from widerow.limits import CREDENTIALS_LOOK_SECONDS

__all__ = ["ProfileKeys"]

_log = logging.getLogger("widerow.proxy")
_NOT_THERE: Final = b""


class ProfileKeys:
    """Signers by the names of their profiles. For one loop's thread."""

    def __init__(self, path: Path) -> None:
        """`path`: the file of profiles, which is read with the first signer."""
        self._path = path
        self._signers: dict[str, Signer] = {}
        self._seen = _NOT_THERE

    def signer(self, profile: str) -> Signer:
        """Who signs with the keys of a profile, from now on and as these change.

        Raises: `ProfileInvalid`.
        """
        self._seen = _content(self._path)
        return self._signers.setdefault(profile, Signer(*self._read(profile)))

    async def watch(self) -> None:
        """Let the signers go by the file, until cancelled."""
        while self._signers:
            await asyncio.sleep(CREDENTIALS_LOOK_SECONDS)
            self.look(await asyncio.to_thread(_content, self._path))

    def look(self, found: bytes) -> None:
        """Take the keys of the file if its bytes, `found`, are not those seen last."""
        if found == self._seen:
            return
        self._seen = found
        try:
            fresh = {profile: Signer(*self._read(profile)) for profile in self._signers}
        except WiderowError as error:
            facts = {"reason": str(error)}
            _log.error("keys of profiles stay as they were", extra={"facts": facts})
            return
        for profile, signer in fresh.items():
            self._signers[profile].follow(signer)
        _log.info("keys of profiles replaced", extra={"facts": {"profiles": list(fresh)}})

    def _read(self, profile: str) -> tuple[str, str, str, str]:
        """Id, secret, security token and instance of a profile."""
        name, fields = load_profiles(self._path).named_or_current(profile)
        found = resolve_connection({}, {}, fields, name).values
        pair = found["access_key_id"], found["access_key_secret"]
        return *pair, found["security_token"], fields.get("instance", "")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return _NOT_THERE
