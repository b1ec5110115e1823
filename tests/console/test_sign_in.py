"""Signing in, changing a row and signing out with a real Chromium, and what pages elsewhere cannot.

Through every door that a console has: loopback addresses, another host name, TLS, a proxy that
speaks TLS; with scripts and without. docs/operating/console.md, "Who may come in".
"""

import html
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import pytest
from tests.console import stocked
from tests.console.chromium import browsing
from tests.console.elsewhere import Elsewhere, make_pair, pages_elsewhere, tls_in_front
from tests.console.looking import PICTURE_BYTES_MAX, ROOT, Looking
from tests.console.stocked import CARDS, INSTANCE
from tools.debian import INSTALL_SECONDS

from widerow.testing.server import WiderowServer

pytestmark = pytest.mark.timeout(INSTALL_SECONDS + 120)

PICTURES: Final = ROOT / "docs/operating/pictures"
ROW: Final = f'row?instance={INSTANCE}&table={CARDS}&id=["c-0004",4]'
KEYS: Final = """
[[key]]
id = "ada"
secret = "a long secret"
"""
FLAGS: Final = ("--host-resolver-rules=MAP *.test 127.0.0.1", "--ignore-certificate-errors")
HARMLESS: Final = (
    "status of 4",  # an answer that the test asked for
    "Cross-Origin-Opener-Policy header has been ignored",  # plain HTTP under another host name
    "frame-ancestors 'none'",  # the answer to a form in a frame
)
DOORS: Final = ("loopback", "IPv6", "host name", "TLS", "TLS by a proxy")
NIGHT: Final = ("IPv6", "host name")


class Consoles(NamedTuple):
    """`doors`: addresses of consoles that ask for a key; `opened` is one that asks for none."""

    doors: dict[str, str]
    opened: str


def _port(endpoint: str) -> int:
    found = urlsplit(endpoint).port
    assert found is not None
    return found


@pytest.fixture(scope="module")
def consoles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consoles]:
    folder = tmp_path_factory.mktemp("doors")
    keys = folder / "keys.toml"
    keys.write_text(KEYS, encoding="utf-8")
    keys.chmod(0o600)
    pair = make_pair(folder)
    tls = {"tls_cert": str(pair.certificate), "tls_key": str(pair.key)}
    with ExitStack() as stack:

        def endpoint(**settings: str) -> str:
            server = WiderowServer(instance=INSTANCE, settings=settings)
            stack.enter_context(server)
            stocked.stock(server)
            return server.endpoint

        plain = endpoint(credentials=str(keys))
        secured = endpoint(credentials=str(keys), **tls)
        behind = stack.enter_context(tls_in_front(pair, "127.0.0.1", _port(plain)))
        doors = {
            "loopback": plain,
            "IPv6": endpoint(credentials=str(keys), host="::1"),
            "host name": f"http://db.test:{_port(plain)}",
            "TLS": f"https://db.test:{_port(secured)}",
            "TLS by a proxy": f"https://front.test:{behind}",
        }
        yield Consoles(doors, endpoint())


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with pages_elsewhere() as pages:
        yield pages


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(True, id="with scripts"),
        pytest.param(False, id="without scripts", marks=pytest.mark.night),
    ],
)
def looking(
    request: pytest.FixtureRequest, consoles: Consoles, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Looking]:
    with browsing(tmp_path_factory.mktemp("chromium"), *FLAGS) as browser:
        if not request.param:
            browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        look = Looking(browser, consoles.opened, PICTURES, "console-")
        look.open("")
        look.find('[data-do="theme"]').click()
        has_scripts = look.find("html").get_attribute("data-theme") is not None
        assert has_scripts is request.param
        yield look
        told = [each["message"] for each in browser.get_log("browser")]
        assert [each for each in told if not any(words in each for words in HARMLESS)] == []


with_scripts = pytest.mark.parametrize("looking", [True], indirect=True)


def title(look: Looking, words: str) -> None:
    """Wait until the page has this title."""
    look.wait(f"document.querySelector('h1')?.textContent === {json.dumps(words)}")


def fill_in(look: Looking, secret: str) -> None:
    for name, text in (("id", "ada"), ("secret", secret)):
        field = look.find(f'[name="{name}"]')
        field.clear()
        field.send_keys(text)
    look.find("button.main").click()


def sign_in(look: Looking, door: str) -> None:
    look.root = f"{door}/console/"
    look.browser.get(door + "/console/sign-in")
    fill_in(look, "a long secret")
    title(look, "Tables")


def city(look: Looking) -> str:
    look.open(ROW)
    value: str = look.find('textarea[aria-label="Value of city"]').get_attribute("value")
    return value


# --- a person -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "door", [pytest.param(door, marks=[pytest.mark.night] * (door in NIGHT)) for door in DOORS]
)
def test_a_person_signs_in_changes_a_row_and_signs_out(
    looking: Looking, consoles: Consoles, door: str
) -> None:
    look = looking
    look.root = f"{consoles.doors[door]}/console/"
    look.size(1280, 720)
    look.open("")
    title(look, "Sign in")
    fill_in(look, "a wrong secret")
    look.wait("document.querySelector('[role=alert]') !== null")
    assert "This is not an access key of this server." in look.find("[role=alert]").text
    assert look.find('[name="id"]').get_attribute("value") == "ada"
    fill_in(look, "a long secret")
    title(look, "Tables")
    before = city(look)
    look.find('textarea[aria-label="Value of amount"]').send_keys(" many")
    look.find('button[value="edit"]').click()
    look.wait("document.querySelector('#problem .note') !== null")
    assert "is not an integer" in look.find("#problem").text
    assert city(look) == before
    look.change("city", "Bern" if before == "Basel" else "Basel")
    look.find('form[action$="sign-out"] button').click()
    title(look, "Sign in")
    look.picture("sign-in")
    look.open(ROW)
    title(look, "Sign in")


@pytest.mark.parametrize("door", [pytest.param("host name", marks=pytest.mark.night), "TLS"])
def test_who_signed_in_makes_a_table_fills_it_asks_it_and_drops_it(
    looking: Looking, consoles: Consoles, tmp_path: Path, door: str
) -> None:
    look = looking
    sign_in(look, consoles.doors[door])
    look.find('a[href$="/create"]').click()
    name = f"made_{len(door)}"
    look.find('[name="name"]').send_keys(name)
    look.find('[name="key.0.name"]').send_keys("id")
    look.find("button.main").click()
    title(look, name)
    file = tmp_path / "rows.csv"
    file.write_text("id,town\na,Delft\nb,Lima\n", encoding="utf-8")
    look.open(f"import?instance={INSTANCE}&table={name}")
    look.find("[type=file]").send_keys(str(file))
    look.find("button.main").click()
    look.wait("document.querySelector('.note.good') !== null")
    look.open(f"sql?instance={INSTANCE}&statement=SELECT id FROM {name}")
    look.find("button.main").click()
    look.wait("document.querySelector('.plan') !== null")
    assert [each.text for each in look.browser.find_elements("css selector", "tbody td")] == [
        *("a", "b"),
    ]
    look.open(f"table?instance={INSTANCE}&table={name}")
    look.find('[name="confirm"]').send_keys(name)
    look.find("button.bad").click()
    title(look, "Tables")


def test_consoles_of_one_host_do_not_sign_out_each_other(
    looking: Looking, consoles: Consoles
) -> None:
    """Cookies belong to a host whatever the port, and plain HTTP may not replace those of TLS."""
    look = looking
    names = ("TLS", "host name")
    for name in names:
        sign_in(look, consoles.doors[name])
    for name in names:
        look.root = f"{consoles.doors[name]}/console/"
        look.open("")
        title(look, "Tables")


def test_an_open_console_needs_no_key_and_takes_changes(
    looking: Looking, consoles: Consoles
) -> None:
    look = looking
    look.root = f"{consoles.opened}/console/"
    before = city(look)
    assert not look.browser.find_elements("css selector", 'form[action$="sign-out"]')
    look.change("city", "Bern" if before == "Basel" else "Basel")


# --- pages elsewhere ------------------------------------------------------------------------------

SENDING: Final = {
    "of a page": "{form}",
    "of a page without an origin": '<meta name="referrer" content="no-referrer">{form}',
    "of a frame in a sandbox": '<iframe sandbox="allow-forms" srcdoc="{quoted}"></iframe>',
}


@with_scripts
@pytest.mark.parametrize("way", SENDING)
@pytest.mark.parametrize(
    ("door", "host"),
    [("opened", "elsewhere.test"), ("opened", "127.0.0.1"), ("host name", "db.test")],
)
def test_a_form_of_another_page_changes_nothing_even_with_our_token(
    looking: Looking, consoles: Consoles, elsewhere: Elsewhere, way: str, door: str, host: str
) -> None:
    """Of another site, of another port of this machine, of another port of a signed-in host."""
    look = looking
    root = consoles.doors.get(door, consoles.opened)
    if door != "opened":
        sign_in(look, root)
    look.root = f"{root}/console/"
    before = city(look)
    token = look.find('main [name="csrf"]').get_attribute("value")
    kept = look.find('[name="col.1.was"]').get_attribute("value")
    assert json.loads(kept) == ["string", before]
    fields = {
        "csrf": token,
        "id": '["c-0004",4]',
        "do": "edit",
        "col.1.name": "city",
        "col.1.was": kept,
        "col.1.type": "string",
        "col.1.value": f"{way} of {host}",
    }
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{html.escape(text)}">'
        for name, text in fields.items()
    )
    target = html.escape(look.root + ROW)
    form = f'<form method="post" action="{target}">{hidden}<button>Send</button></form>'
    elsewhere.pages["/form"] = SENDING[way].format(form=form, quoted=html.escape(form))
    look.browser.get(f"http://{host}:{elsewhere.port}/form")
    if "sandbox" in way:
        look.browser.switch_to.frame(0)
    look.find("button").click()
    look.browser.switch_to.default_content()
    if "sandbox" not in way:  # what a frame is answered, a browser does not show
        title(look, "You may not do that")
    assert city(look) == before


def test_a_link_of_another_site_signs_nobody_out(
    looking: Looking, consoles: Consoles, elsewhere: Elsewhere
) -> None:
    """The session is kept back there (`SameSite=Strict`), and one click goes on with it."""
    look = looking
    sign_in(look, consoles.doors["TLS"])
    elsewhere.pages["/link"] = f'<a href="{look.root}health">Our console</a>'
    look.browser.get(f"http://elsewhere.test:{elsewhere.port}/link")
    look.find("a").click()
    title(look, "Sign in")
    look.find(".note a").click()
    title(look, "Tables")


@with_scripts
def test_an_open_console_does_not_answer_to_a_name_that_was_made_to_lead_here(
    looking: Looking, consoles: Consoles
) -> None:
    look = looking
    look.browser.get(f"http://rebinds.test:{_port(consoles.opened)}/console/")
    title(look, "This server does not answer to that name")
    assert f"{consoles.opened}/console/" in look.find("[role=alert]").text


def test_the_picture_of_the_documents_is_there() -> None:
    data = (PICTURES / "console-sign-in.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < PICTURE_BYTES_MAX
