"""Any text is a keyring or is refused in words that hold no secret."""

from typing import Final

from widerow.auth.keyring import CredentialsInvalid, Keyring

__all__ = ["SEEDS", "check"]

_CANARY: Final = "canary"
_TEMPORARY: Final = (
    b"[[temporary_key]]\nid='t'\nsecret = 'canary'\nparent='a'\n"
    b"expires=2027-01-31T12:00:00Z\nsecurity_token='t'"
)
SEEDS: Final = (
    b"[[key]]\nid = 'a'\nsecret = 'canary'\n",
    b"[[key]]\nid='a'\nsecret='canary'\ninstances=['i']\npermissions=['read']\nsecurity_token='t'",
    b"[[key]]\nid = 'a'\nsecret = 'canary\n",
    b"[[key]]\nid = 'a'\nsecret = ['canary']\n",
    b"key = 'canary'",
    b"[[key]]\nid='a'\nsecret='b'\n" + _TEMPORARY,
    _TEMPORARY,
    b"[[api_key]]\nname='n'\nsha256='" + b"0a" * 32 + b"'\nexpires=2027-01-31T12:00:00Z",
)


def check(data: bytes) -> None:
    """Load `data`."""
    text = data.decode("utf-8", "replace")
    try:
        keyring = Keyring.load(text)
    except CredentialsInvalid as error:
        # Names and ids are told; a secret is none of them unless the text says so itself.
        told = f"{error!r}{error}"
        if text.count(_CANARY) == 1 and f"secret = '{_CANARY}'" in text:
            assert _CANARY not in told, "a secret shows"
        return
    assert len(keyring) > 0
    assert f"secret = '{_CANARY}'" not in repr(keyring)
