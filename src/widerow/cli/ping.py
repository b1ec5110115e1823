"""`widerow ping`: whether a server is ready, by its own page for that.

It needs no key. Health checks run it every few seconds, so it loads little.
"""

import sys
import time
from threading import Event
from typing import TYPE_CHECKING, Final, NamedTuple

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, command, switch
from widerow.cli.names import profile_names
from widerow.cli.profiles import asked_connection
from widerow.errors import WiderowError
from widerow.written_numbers import real_number

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = ["PING", "PingInvalid", "ping_server"]

_TIMEOUT_SECONDS: Final = 2.0
_READY: Final = 200
_PAUSE_SECONDS: Final = 0.1
_SECONDS_MAX: Final = 86_400.0
_WORDS_MAX: Final = 500  # bytes of an answer that are shown
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  # to be asked, not served


class PingInvalid(WiderowError):
    """What to ask, or for how long, cannot be understood; the message says what to give."""


class _Asked(NamedTuple):
    """The place of a server, and the file of its own certificate; None trusts the system's."""

    url: str
    certificate: str | None = None


def ping_server(given: Given) -> int:
    """Ask until it is ready or the time is over; one line says which. 0 if it is ready, else 1.

    `given`: a flag that is left out or None is not given. Raises: `PingInvalid`, and
    `WiderowError` for a profile or a setting that cannot be used.
    """
    timeout = _seconds("timeout", given.get("timeout"), _TIMEOUT_SECONDS)
    wait = _seconds("wait", given.get("wait"), 0.0)
    page = "/livez" if given.get("live") else "/readyz"
    place = _place(given.get("endpoint"), given.get("profile"))
    started = time.monotonic()
    while True:
        status, words = _answer(place, page, timeout)
        ready = status == _READY
        if ready or time.monotonic() - started >= wait:
            break
        Event().wait(_PAUSE_SECONDS)
    document = {"endpoint": place.url, "ready": ready, "status": status or None, "answer": words}
    after = f" after {wait:g} s" if wait else ""
    if ready:
        tell(given, document, lambda: sys.stdout.write(f"{place.url} is {words}\n"))
        return 0
    line = f"widerow: {place.url} is not ready{after}: {words}\n"
    tell(given, document, lambda: sys.stderr.write(line))
    return 1


def _seconds(name: str, given: str | None, default: float) -> float:
    try:
        found = default if given is None else real_number(given)
    except ValueError:
        found = -1.0
    if not (0 < found <= _SECONDS_MAX or found == default):
        raise PingInvalid(f"--{name} is a number of seconds, up to a day, not {given!r}")
    return found


def _place(endpoint: str | None, profile: str | None) -> _Asked:
    """The endpoint that is named, or else the address at which a server here would listen."""
    found = asked_connection({"endpoint": endpoint}, profile)
    if found.sources["endpoint"] != "default":
        return _Asked(found.values["endpoint"].rstrip("/"))
    from widerow.server.settings import resolve  # noqa: PLC0415  # only where nothing is named

    settings = resolve({})
    if settings.port == 0:
        raise PingInvalid("port 0 is any free one; the ready line names it: give --endpoint")
    host = _HERE.get(settings.host, settings.host)
    shown = f"[{host}]" if ":" in host else host
    scheme = "http" if settings.tls_cert is None else "https"
    return _Asked(f"{scheme}://{shown}:{settings.port}", settings.tls_cert)


def _answer(place: _Asked, page: str, timeout: float) -> tuple[int, str]:
    """Status and words of the page; status 0 and the reason if there is no answer."""
    from widerow.client.http import NO_ANSWER, HttpRequest, ask_url  # noqa: PLC0415  # only to ask

    try:
        trusted = None if place.certificate is None else _trusted(place.certificate)
        answer = ask_url(place.url, HttpRequest(page), timeout, limit=_WORDS_MAX, tls=trusted)
    except TimeoutError:
        return 0, f"no answer within {timeout:g} s"
    except ConnectionRefusedError:
        return 0, "nothing listens there; is the server started?"
    except NO_ANSWER as error:
        return 0, str(error) or type(error).__name__
    words = answer.body.decode("utf-8", "replace").strip()
    return answer.status, words or f"status {answer.status}"


def _trusted(certificate: str) -> "SSLContext":
    """Trust in the file of the server here, whatever name is in it. Raises: `OSError`."""
    import ssl  # noqa: PLC0415  # only for a server that speaks TLS

    context = ssl.create_default_context(cafile=certificate)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = False  # it is asked by its address; the file itself is what is trusted
    return context


PING: Final = command(
    ping_server,
    Flag(
        "endpoint",
        "The server, http://HOST:PORT (WIDEROW_ENDPOINT); else that of the profile, else the one "
        "that is served here.",
        "URL",
    ),
    Flag("profile", "Which of `widerow profile list`.", "NAME", offered=profile_names),
    Flag("timeout", "How long to wait for an answer; 2 if not given.", "SECONDS"),
    Flag("wait", "How long to go on asking until it is ready.", "SECONDS"),
    switch("live", "Ask whether the process serves, ready or not."),
    JSON_OUTPUT,
    examples="""
`widerow ping` — the server that `widerow serve` starts here, by the same variables and file
`widerow ping --endpoint http://db:8087 --timeout 1`
`widerow ping --wait 30 && make load` — as soon as it is ready
Exit codes: 0 it is ready, 1 it is not, or does not answer, 2 it cannot be asked.
""",
)
