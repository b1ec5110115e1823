"""From a request to its page: the visitor, the page, and the form of the answer.

Every page is shown as HTML and, under the same path with `.json` behind it, as the document that
the HTML is made from. Answers are not cached on the way, load nothing from other sites, and run no
script but files of this package.
"""

import json
import logging
from collections.abc import Mapping
from typing import Final

from widerow.auth.keyring import AccessKey
from widerow.auth.policy import authorize
from widerow.console.forms import fields_of
from widerow.console.gate import Gate, Visitor
from widerow.console.multipart import FORM_BYTES_MAX, is_multipart, read_multipart
from widerow.console.pages import PAGES_OF_CONSOLE
from widerow.console.parts import (
    ROOT,
    ConsolePage,
    ConsoleRefused,
    Download,
    Languages,
    Moved,
    PageDocument,
    Upload,
    Visit,
    address,
)
from widerow.console.refusals import refusal_of
from widerow.console.rendering import Rendering
from widerow.console.statics import find_static
from widerow.errors import WiderowError
from widerow.limits import CONSOLE_BODY_BYTES_MAX, CONSOLE_IMPORT_BYTES_MAX
from widerow.server.loopback import is_loopback
from widerow.server.message import Request, Response
from widerow.server.page_thread import ServerParts
from widerow.server.unforeseen import log_unforeseen

__all__ = ["Console"]

_log = logging.getLogger("widerow.console")

_JSON: Final = ".json"
_STATIC: Final = "/static/"
_SIGN_IN: Final = "sign-in"
_SIGN_OUT: Final = "sign-out"
_NO_COOKIE: Final = "Allow cookies for this address, open the page again and sign in there."
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("connect", "img", "script", "style")),
        *("form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"),
    )
)
# Referrer-Policy: with `no-referrer`, browsers would send `Origin: null` with this console's own
# forms.
_SAFE: Final = "".join(
    f"{line}\r\n"
    for line in (
        f"content-security-policy: {_POLICY}",
        "x-content-type-options: nosniff",
        "x-frame-options: DENY",
        "referrer-policy: same-origin",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
        "permissions-policy: camera=(), geolocation=(), microphone=()",
    )
).encode()
_FRESH: Final = b"cache-control: no-store\r\n"
_HTML: Final = b"content-type: text/html; charset=utf-8\r\n"
_DOCUMENT: Final = b"content-type: application/json\r\n"


class Console:
    """The console of one server. On the thread of its pages."""

    def __init__(
        self,
        parts: ServerParts,
        languages: Languages,
        pages: tuple[ConsolePage, ...] = PAGES_OF_CONSOLE,
    ) -> None:
        self._parts = parts
        self._languages = languages
        self._pages = {page.path: page for page in pages}
        settings = parts.settings
        self._gate = Gate(
            parts.clock,
            parts.entropy,
            open_here=is_loopback(settings.host) and settings.credentials is None,
            endpoint=parts.endpoint(),
            sessions=parts.sessions,
        )
        self._rendering = Rendering(pages)

    def answer(self, request: Request) -> Response:
        """The answer to a request for a page. Never raises for what a request says."""
        target, _, asked = request.target.partition(b"?")
        path = target.decode("latin-1").removeprefix(ROOT.rstrip("/"))
        as_json = path.endswith(_JSON)
        visitor: Visitor | None = None
        try:
            # refusals of foreign host names are shown with these files
            if path.startswith(_STATIC):
                return _static(path.removeprefix(_STATIC))
            self._gate.check_host(request.headers)
            if not path:
                return self._moved(request, Moved(ROOT))
            path = path.removeprefix("/").removesuffix(_JSON)
            keyring = self._parts.identity().keyring
            visitor = self._gate.visitor(request.headers, keyring)
            if path == _SIGN_IN:
                return self._sign_in(request, fields_of(asked))
            if visitor is None:
                return self._to_sign_in(request, as_json=as_json)
            if path == _SIGN_OUT:
                return self._sign_out(request, visitor)
            return self._page(request, (path, asked), visitor, as_json=as_json)
        except Exception as error:  # noqa: BLE001  # every request is answered
            return self._refused(error, visitor, as_json=as_json)

    # --- pages -------------------------------------------------------------------------------

    def _page(
        self, request: Request, target: tuple[str, bytes], visitor: Visitor, *, as_json: bool
    ) -> Response:
        path, asked = target
        page = self._pages.get("" if as_json and path == "index" else path)
        if page is None:
            raise ConsoleRefused(404, "There is no such page.", "Choose one of the menu.")
        form, upload = self._form(request, visitor, page)
        authorize(visitor.key, page.permission)
        visit = Visit(
            self._parts,
            self._languages,
            visitor.key,
            fields_of(asked),
            form,
            bool(visitor.session),
            upload,
        )
        shown = page.show(visit)
        if isinstance(shown, Moved):
            return self._moved(request, shown, as_json=as_json)
        if isinstance(shown, Download):
            return _file(shown)
        refusal = shown.get("refusal")  # shown with the form that was filled in
        status = 200 if refusal is None else refusal["status"]
        if as_json:
            return _json(status, shown if refusal is None else {"error": refusal})
        return self._html(page.template, shown, visitor, (page, visit.asked), status)

    def _form(
        self, request: Request, visitor: Visitor, page: ConsolePage
    ) -> tuple[Mapping[str, str] | None, Upload | None]:
        """The fields and the file of a request that makes a change; None for one that reads."""
        if request.method in (b"GET", b"HEAD"):
            return None, None
        if request.method != b"POST" or not page.changes:
            raise ConsoleRefused(405, "This page only shows something.", "Ask for it with GET.")
        kind = request.headers.get("content-type", "")
        if not page.uploads or not is_multipart(kind):
            return self._checked_form(request, visitor.session), None
        if len(request.body) > FORM_BYTES_MAX:
            size = CONSOLE_IMPORT_BYTES_MAX // 1024**2
            raise ConsoleRefused(413, f"The file is larger than {size} MiB.", "Use widerow import.")
        form, upload = read_multipart(kind, request.body)
        self._check_token(request, visitor.session, form)
        return form, upload

    def _checked_form(self, request: Request, session: str) -> dict[str, str]:
        """The fields of a form, checked to be from this console. Raises: `ConsoleRefused`."""
        if len(request.body) > CONSOLE_BODY_BYTES_MAX:
            raise ConsoleRefused(413, "The form is too large.", "Use an SDK for rows of this size.")
        form = fields_of(request.body)
        self._check_token(request, session, form)
        return form

    def _check_token(self, request: Request, session: str, form: dict[str, str]) -> None:
        token = form.pop("csrf", "") or request.headers.get("x-csrf-token", "")
        self._gate.check_form(request.headers, session, token)

    def _html(
        self,
        template: str,
        document: PageDocument,
        visitor: Visitor | None,
        seen: "tuple[ConsolePage | None, Mapping[str, str]]" = (None, {}),
        status: int = 200,
    ) -> Response:
        page, asked = seen
        session = "" if visitor is None else visitor.session
        frame = {
            "page": page,
            "asked": dict(asked),
            "csrf": self._gate.token(session),
            "who": None if visitor is None else visitor.key.id,
            "signed_in": bool(session),
            "now_ms": self._parts.clock.now_us() // 1000,
            "endpoint": self._parts.endpoint(),
            "worker": self._parts.worker,
        }
        if page is not None:
            query = {name: text for name, text in asked.items() if text}
            frame["as_json"] = address(f"{page.path or 'index'}.json", **query)
        body = self._rendering.page(template, document, frame)
        return Response(status, _HTML + _FRESH + _SAFE, body)

    def _moved(self, request: Request, moved: Moved, *, as_json: bool = False) -> Response:
        if as_json:
            return _json(200, {"moved": moved.location})
        location = moved.location.encode("ascii")
        if "hx-request" in request.headers:
            return Response(200, b"hx-redirect: " + location + b"\r\n" + _FRESH + _SAFE, b"")
        return Response(303, b"location: " + location + b"\r\n" + _FRESH + _SAFE, b"")

    def _refused(self, error: Exception, visitor: Visitor | None, *, as_json: bool) -> Response:
        if not isinstance(error, WiderowError | UnicodeError):
            log_unforeseen(_log, error)
        status, told = refusal_of(error)
        if as_json:
            return _json(status, {"error": told})
        return self._html("refused.html", told, visitor, status=status)

    # --- sessions ----------------------------------------------------------------------------

    def _to_sign_in(self, request: Request, *, as_json: bool) -> Response:
        if as_json or request.method not in (b"GET", b"HEAD"):
            raise ConsoleRefused(403, "Sign in first.", f"Open {ROOT}{_SIGN_IN}.")
        return self._moved(request, Moved(ROOT + _SIGN_IN))

    def _sign_in(self, request: Request, asked: Mapping[str, str]) -> Response:
        """The sign-in form, or the start of a session with an access key."""
        if request.method != b"POST":
            is_link = request.headers.get("sec-fetch-site") == "cross-site"
            document = {"id": asked.get("id", ""), "by_link": is_link}
            return self._entrance(self._gate.entry(request.headers), document, 200)
        entry = self._gate.entry_of(request.headers)
        if not entry:
            raise ConsoleRefused(403, "Your browser sent no cookie back.", _NO_COOKIE)
        form = self._checked_form(request, entry)
        try:
            session = self._gate.sign_in(
                form.get("id", "").strip(),
                form.get("secret", ""),
                form.get("token", "").strip(),
                self._parts.identity().keyring,
            )
        except ConsoleRefused as error:
            _, told = refusal_of(error)
            return self._entrance(entry, {"id": form.get("id", ""), "refused": told}, error.status)
        response = self._moved(request, Moved(ROOT))
        cookie = self._gate.session_cookie(request.headers, session)
        return Response(response.status, response.head + cookie, b"")

    def _entrance(self, entry: str, document: PageDocument, status: int) -> Response:
        visitor = Visitor(AccessKey("", ""), entry)
        page = self._html("sign_in.html", document, visitor, status=status)
        return Response(page.status, page.head + self._gate.entry_cookie(entry), page.body)

    def _sign_out(self, request: Request, visitor: Visitor) -> Response:
        if request.method != b"POST":
            raise ConsoleRefused(405, "Use the button to sign out.", "It is in the menu.")
        self._checked_form(request, visitor.session)
        self._gate.sign_out(visitor.session)
        response = self._moved(request, Moved(ROOT + _SIGN_IN))
        cookie = self._gate.session_cookie(request.headers, "")
        return Response(response.status, response.head + cookie, b"")


def _json(status: int, document: PageDocument) -> Response:
    body = json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
    return Response(status, _DOCUMENT + _FRESH + _SAFE, body + b"\n")


def _file(sent: Download) -> Response:
    lines = (
        f'content-type: {sent.kind}\r\ncontent-disposition: attachment; filename="{sent.name}"\r\n'
    )
    return Response(200, lines.encode("ascii") + _FRESH + _SAFE, sent.body)


def _static(name: str) -> Response:
    found = find_static(name)
    if found is None:
        raise ConsoleRefused(404, "There is no such file.", "")
    kind, data = found
    lines = f"content-type: {kind}\r\ncache-control: private, max-age=86400\r\n".encode()
    return Response(200, lines + _SAFE, data)
