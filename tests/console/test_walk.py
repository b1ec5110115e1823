"""The walk of docs/start/five-minutes.md, in a real Chromium, with what the page has one type.

The page's own blocks fill the server. Its pictures are made here, where `WIDEROW_PICTURES` is set.
"""

import re
from collections.abc import Iterator
from typing import Final

import pytest
from tests.console.chromium import browsing
from tests.console.looking import PICTURE_BYTES_MAX, ROOT, Looking
from tests.console.stocked import pass_seconds
from tests.pages.examples import Place, examples, run_page
from tools.debian import INSTALL_SECONDS

from widerow.testing.server import WiderowServer

pytestmark = pytest.mark.timeout(INSTALL_SECONDS + 120)

PAGE: Final = ROOT / "docs/start/five-minutes.md"
PICTURES: Final = ROOT / "docs/start/pictures"
SHOWN: Final = ("tables", "rows", "row", "heat-map", "heat-map-dark", "narrow")
HEAT: Final = "heat?instance=widerow&table=purchases"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WiderowServer]:
    """A server to which was done what the page says, up to the program that makes a key hot."""
    found = list(examples(PAGE))
    program = next(number for number, each in enumerate(found) if each.kind == "python")
    with WiderowServer(instance="widerow") as started:
        place = Place(tmp_path_factory.mktemp("walk"), started.endpoint)
        run_page(found[: program + 2], place)
        pass_seconds(started, 75)
        yield started


@pytest.fixture(scope="module")
def looking(server: WiderowServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looking]:
    with browsing(tmp_path_factory.mktemp("chromium")) as browser:
        yield Looking(browser, server.endpoint, PICTURES, "walk-")


def test_the_rows_are_found_and_one_is_changed(looking: Looking) -> None:
    look = looking
    look.size(1280, 420)
    look.open("")
    assert look.find("tbody tr").text.startswith("purchases 2,000")
    look.picture("tables")
    look.find('a[href^="/console/rows"]').click()
    look.size(1280, 720)
    assert len(look.browser.find_elements("css selector", "tbody tr")) == 25
    look.picture("rows")
    look.find("tbody a").click()
    look.size(1280, 780)
    look.picture("row")
    look.change("amount", "260")


def test_the_hot_key_is_found_in_the_heat_map(looking: Looking) -> None:
    look = looking
    look.size(1280, 1180)
    look.open("")
    look.follow('tbody a[href^="/console/heat"]')
    assert look.find("text.hot").text.startswith("c-1")
    assert look.find("svg.map path.h8").is_displayed()
    assert re.search(r"c-1 (8[5-9]|90) %", look.find("#live").text)
    times = [each.text for each in look.browser.find_elements("css selector", "svg.times text")]
    assert len(set(times)) == len(times)
    assert "no split divides" in look.find("#live").text
    look.picture("heat-map")
    look.size(1280, 1180, dark=True)
    look.open(HEAT)
    look.picture("heat-map-dark")


def test_it_is_found_on_a_telephone_too(looking: Looking) -> None:
    look = looking
    look.size(360, 1260)
    look.open(HEAT)
    assert look.run("document.documentElement.scrollWidth") <= 360
    assert look.find("text.hot").is_displayed()
    look.picture("narrow")


def test_nothing_failed_in_the_browser(looking: Looking) -> None:
    assert looking.browser.get_log("browser") == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_pictures_are_there_and_the_page_shows_them(name: str) -> None:
    data = (PICTURES / f"walk-{name}.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < PICTURE_BYTES_MAX
    assert f"pictures/walk-{name}.png" in PAGE.read_text(encoding="utf-8")


def test_the_page_shows_no_other_pictures() -> None:
    shown = re.findall(r"pictures/walk-([\w-]+)\.png", PAGE.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(SHOWN)
