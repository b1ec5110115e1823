"""The console in a real Chromium: by eye, by keyboard, on a narrow screen, light and dark.

One browser for all of it. The pictures of docs/operating/console.md are made here, where
`WIDEROW_PICTURES` is set.
"""

import json
from collections.abc import Iterator
from typing import Final

import pytest
from tests.console import stocked
from tests.console.chromium import browsing
from tests.console.looking import PICTURE_BYTES_MAX, ROOT, Looking
from tests.console.stocked import (
    ARTICLES,
    CARDS,
    HOT,
    INSTANCE,
    LONG_CARD,
    LONG_NOTE,
    METERS,
    put_long,
)
from tests.support.http import Sender, Wire
from tools.debian import INSTALL_SECONDS

from widerow.testing.server import WiderowServer

pytestmark = pytest.mark.timeout(INSTALL_SECONDS + 120)

PICTURES: Final = ROOT / "docs/operating/pictures"
AT: Final = f"instance={INSTANCE}&table={CARDS}"
STUDENTS: Final = "instance=sysdefault&table=students&model=nosql"
NARROW: Final = 360
SERIES: Final = f"series?instance={INSTANCE}&table={METERS}&model=timeseries"
POINTS: Final = (
    f"points?instance={INSTANCE}&table={METERS}&model=timeseries"
    "&measurement=cpu&source=rack-7&tags=host%3Dweb-1,region%3Deu"
)
_DROPPED: Final = """(() => {{
  const files = new DataTransfer();
  files.items.add(new File([{}], "rows.csv"));
  document.querySelector(".drop").dispatchEvent(
    new DragEvent("drop", {{ bubbles: true, cancelable: true, dataTransfer: files }}));
}})()"""
"""Drops a file of this text on a page."""
SHOWN: Final = (
    *("overview", "heat-map", "heat-map-dark", "rows", "row", "row-dark", "search", "requests"),
    *("refused", "conflict", "sql", "query"),
    *("narrow-overview", "narrow-heat-map", "narrow-requests", "narrow-row", "narrow-rows"),
    *("points", "narrow-points"),
)


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer(instance=INSTANCE, settings=stocked.Settings) as started:
        stocked.stock(started)
        stocked.heat(started)
        put_long(started)
        stocked.stock_points(started)
        yield started


@pytest.fixture(scope="module")
def looking(server: WiderowServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looking]:
    with browsing(tmp_path_factory.mktemp("chromium")) as browser:
        yield Looking(browser, server.endpoint, PICTURES, "console-")


def test_a_person_finds_the_hot_key_and_changes_a_row(looking: Looking) -> None:
    look = looking
    look.size(1280, 800)
    look.open("")
    assert look.find("h1").text == "Tables"
    look.picture("overview")
    look.follow("a.state.look")  # hot key
    assert HOT in look.find(".note.bad").text
    assert look.find("svg.map path.h8").is_displayed()
    assert look.find("text.hot").text.startswith(HOT)
    look.size(1280, 1000)
    look.picture("heat-map")
    look.point_at('.band[data-range^="keys from c-0042"]')
    assert "units a second" in look.find(".tip").text
    assert "keys from c-0042 up to" in look.find(".tip").text
    look.follow('.band[data-range^="keys from c-0042"]')
    assert look.find('input[name="from"]').get_attribute("value") == HOT
    look.open(f"heat?{AT}")
    look.follow('a[href*="of=reads"]')
    assert look.find("svg.map path.h8").is_displayed()
    look.follow(f'a[href*="k0={HOT}"]')
    assert look.find('input[name="k0"]').get_attribute("value") == HOT
    look.size(1280, 720)
    look.open(f"rows?{AT}&k0=c-0003")
    look.picture("rows")
    look.find("tbody a").click()
    look.size(1280, 900)
    look.picture("row")
    look.change("city", "Zürich")


def test_rows_are_a_grid_of_chosen_columns_and_copied_as_json(looking: Looking) -> None:
    look = looking
    look.size(1280, 800)
    look.allow_the_clipboard()
    look.open(f"rows?{AT}&k0={LONG_CARD}")
    shown = "[...document.querySelectorAll('thead th')].map(each => each.firstChild?.data)"
    assert look.run(shown)[2:-1] == ["amount", "note"]
    right = "getComputedStyle(document.querySelector('td:nth-child(3)')).textAlign"
    assert look.run(right) == "right"
    look.find(".more summary").click()
    look.wait("document.querySelector('.more .whole').textContent.length > 3000")
    assert look.find(".more .whole").text == LONG_NOTE
    look.find(".menu summary").click()
    look.find('[name="show.amount"]').click()
    look.find(".menu button").click()
    look.wait("location.search.includes('show.note')")
    assert look.run(shown)[2:-1] == ["note"]
    look.find("[data-copy]").click()
    look.wait("document.querySelector('[data-copy]').textContent === 'Copied'")
    assert json.loads(look.clipboard()) == [
        {"CardID": LONG_CARD, "OrderNumber": 1, "note": LONG_NOTE},
    ]


def test_a_table_is_created_filled_by_dropping_a_file_and_dropped(looking: Looking) -> None:
    look = looking
    look.size(1280, 800)
    look.open("")
    look.follow('a[href$="/create"]')
    look.find('[name="name"]').send_keys("dropped")
    look.find('[name="key.0.name"]').send_keys("id")
    look.find("button.main").click()
    look.wait("document.querySelector('h1').textContent === 'dropped'")
    look.open(f"import?instance={INSTANCE}&table=dropped")
    look.run(_DROPPED.format("'x'.repeat(5e6)"))
    assert look.find(".problem").is_displayed()
    assert not look.find("button.main").is_enabled()
    look.run(_DROPPED.format("'id,n\\na,1\\nb,2\\n'"))
    assert not look.find(".problem").is_displayed()
    look.find("button.main").click()
    look.wait("location.pathname.endsWith('/rows')")
    assert "Rows of the file: 2." in look.find(".note.good").text
    assert len(look.browser.find_elements("css selector", "tbody tr")) == 2
    look.open(f"table?instance={INSTANCE}&table=dropped")
    look.find('[name="confirm"]').send_keys("dropped")
    look.find("button.bad").click()
    look.wait("document.querySelector('h1').textContent === 'Tables'")
    assert "Dropped." in look.find(".note.good").text


def test_a_refused_change_is_told_on_the_page_and_nothing_typed_is_lost(looking: Looking) -> None:
    look = looking
    look.open(f'row?{AT}&id=["c-0004",4]')
    field = look.find('textarea[aria-label="Value of amount"]')
    field.clear()
    field.send_keys("many")
    look.find('button[value="edit"]').click()
    look.wait("document.querySelector('#problem .note') !== null")
    assert "is not an integer" in look.find("#problem").text
    assert look.find('textarea[aria-label="Value of amount"]').get_attribute("value") == "many"


def test_of_two_people_who_edit_one_row_the_second_sees_both_values(
    server: WiderowServer, looking: Looking
) -> None:
    look = looking
    look.size(1280, 720)
    look.open(f'row?{AT}&id=["{LONG_CARD}",1]')
    field = look.find('textarea[aria-label="Value of amount"]')
    field.clear()
    field.send_keys("7")
    put_long(server, amount=5)
    look.find('button[value="edit"]').click()
    look.wait("document.querySelector('.both') !== null")
    assert [each.text for each in look.browser.find_elements("css selector", ".both td.v")] == [
        "5 integer"
    ]
    look.size(1280, 480)
    look.picture("conflict")
    assert len(look.browser.find_elements("css selector", "main form")) > 1
    shown = [
        each.is_displayed() for each in look.browser.find_elements("css selector", "main form")
    ]
    assert shown.count(True) == 1  # and not that of the row as it was
    mine = look.find('.both textarea[aria-label="Value of amount"]')
    assert mine.get_attribute("value") == "7"
    look.find('.both ~ * button, #problem button[value="edit"]').click()
    look.wait("document.querySelector('.note.good') !== null")
    assert look.find('textarea[aria-label="Value of amount"]').get_attribute("value") == "7"


def test_a_statement_is_run_with_the_keyboard_and_its_rows_are_copied(looking: Looking) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415  # only where there is a browser

    look = looking
    look.size(1280, 900)
    look.open(f"table?{AT}")
    look.follow('a[href^="/console/sql?"]')
    field = look.find("textarea[name=statement]")
    assert field.get_attribute("value") == f"SELECT * FROM `{CARDS}` LIMIT 25"
    field.clear()
    field.send_keys(f"SELECT city, count(*) AS cards, avg(amount) AS mean\nFROM {CARDS}\n")
    field.send_keys("WHERE CardID < 'd'\nGROUP BY city ORDER BY cards DESC, city")
    field.send_keys(Keys.CONTROL, Keys.ENTER)
    look.wait("document.querySelector('.plan') !== null")
    assert "Rows 1 to 6 of 6" in look.find(".tools").text
    left, right = (
        look.find(each).rect for each in (".beside > .grid", ".beside > .panel + .panel")
    )
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]
    look.picture("sql")
    look.find("[data-copy]").click()
    look.wait("document.querySelector('[data-copy]').textContent === 'Copied'")
    assert json.loads(look.clipboard())[0].keys() == {"city", "cards", "mean"}


def test_a_statement_over_a_typed_table_is_run_and_told_where_it_is_wrong(looking: Looking) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415  # only where there is a browser

    look = looking
    look.size(1280, 900)
    look.allow_the_clipboard()
    look.open(f"rows?{STUDENTS}")
    look.follow('a[href^="/console/query?"]')
    field = look.find("textarea[name=statement]")
    assert field.get_attribute("value") == "SELECT * FROM students LIMIT 25"
    field.clear()
    field.send_keys("SELECT name, credits\nFROM students WHERE credit > 30")
    field.send_keys(Keys.CONTROL, Keys.ENTER)
    look.wait("document.querySelector('.note.bad') !== null")
    field, told = look.find("textarea[name=statement]"), look.find(".note.bad")
    assert field.get_attribute("value").endswith("WHERE credit > 30")
    assert "a column named credit" in told.text
    assert 0 < told.rect["y"] - field.rect["y"] - field.rect["height"] < 150
    assert look.find(".caret").text.splitlines()[0].startswith("FROM students WHERE credit > 30")
    field.send_keys(Keys.CONTROL, Keys.END)
    field.send_keys(*(Keys.BACKSPACE,) * 5, "s > 30 AND name < 'D' ORDER BY credits DESC")
    look.find("button.main").click()
    look.wait("document.querySelector('.plan') !== null")
    assert "Rows 1 to 2 of 2" in look.find(".tools").text
    left, right = (
        look.find(each).rect for each in (".beside > .grid", ".beside > .panel + .panel")
    )
    assert (left["y"], left["x"] < right["x"]) == (right["y"], True)
    look.picture("query")
    look.find("[data-copy]").click()
    look.wait("document.querySelector('[data-copy]').textContent === 'Copied'")
    assert json.loads(look.clipboard())[0] == {"name": "Chen", "credits": 32}


def test_a_series_is_found_and_its_spike_is_told(looking: Looking) -> None:
    look = looking
    look.size(1280, 1000)
    look.open(SERIES)
    look.find('[name="tags"]').send_keys("host=web*")
    look.follow("button.main")
    look.follow("tbody a")
    assert look.find("h2").text == "cpu"
    spike = "[...document.querySelectorAll('.mark')].find(e => e.textContent.endsWith(': 100.0'))"
    look.run(f"{spike}.setAttribute('id', 'spike')")
    look.point_at("#spike")
    assert look.run("document.querySelector('#spike').matches(':hover')")
    look.picture("points")
    look.follow(".tabs a[href*='span=1h']")
    assert "has no points in this time" in look.find(".note").text
    look.size(390, 1000)
    look.open(POINTS)
    assert look.run("document.documentElement.scrollWidth") <= 390
    look.picture("narrow-points")


def test_it_is_used_with_the_keyboard(looking: Looking) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415  # only where there is a browser

    look = looking
    look.open("")
    body = look.find("body")
    body.send_keys(Keys.TAB)
    assert look.run("document.activeElement.className") == "skip"
    body.send_keys("/")
    assert look.run("document.activeElement.name") == "q"
    look.find('[name="q"]').send_keys("artic", Keys.ENTER)
    look.wait("location.search === '?q=artic'")
    assert look.find("tbody").text.startswith(ARTICLES)
    look.open(f'row?{AT}&id=["c-0004",4]')
    look.find('[data-do="column"]').click()
    assert look.run("document.activeElement.name").endswith(".name")


def test_colours_follow_the_system_and_the_switch(looking: Looking) -> None:
    look = looking
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    look.size(1280, 1000, dark=True)
    look.open(f"heat?{AT}")
    dark = look.run(ground)
    look.picture("heat-map-dark")
    look.size(1280, 900, dark=True)
    look.open(f'row?{AT}&id=["c-0004",4]')
    look.picture("row-dark")
    look.find('[data-do="theme"]').click()
    light = look.run(ground)
    assert light != dark
    look.open("")
    assert look.run(ground) == light  # it is remembered
    look.find('[data-do="theme"]').click()
    assert look.run(ground) == dark
    look.run("localStorage.clear()")
    look.size(1280, 800)
    look.open("")
    assert look.run(ground) == light


def test_live_requests_are_drawn_and_refreshed(server: WiderowServer, looking: Looking) -> None:
    look = looking
    sender = Sender(instance=INSTANCE)
    with Wire(server.endpoint) as wire:
        for _ in range(40):
            wire.ask(sender.request("ListTable"))
        wire.ask(sender.request("DescribeTable", b"\x0a\x06absent"))
    look.size(1280, 1000)
    look.open("requests")
    look.wait("document.querySelectorAll('.chart canvas').length === 2")
    assert "OTSObjectNotExist" in look.find("#live").text
    look.run("document.querySelector('#live').dataset.mark = 'old'")
    look.wait("document.querySelector('#live').dataset.mark === undefined")  # swapped by htmx
    look.wait("document.querySelectorAll('.chart canvas').length === 2")
    look.picture("requests")
    with Wire(server.endpoint) as wire:
        for _ in range(60):
            wire.ask(sender.request("DescribeTable", b"\x0a\x06absent"))
    look.size(390, 844)
    look.open("requests?code=OTSObjectNotExist")
    assert look.find('[name="code"]').get_attribute("value") == "OTSObjectNotExist"
    assert not look.find(".cards thead").is_displayed()
    assert look.run("document.documentElement.scrollHeight") < 6000  # 29,000 as a table
    look.run("document.querySelectorAll('h2')[3].scrollIntoView()")
    look.picture("narrow-requests")


def test_search_and_errors(looking: Looking) -> None:
    look = looking
    look.size(1280, 720)
    look.open(f"search?instance={INSTANCE}&table={ARTICLES}&query=title:tea&sort=-price")
    assert len(look.browser.find_elements("css selector", "tbody tr")) == 3
    look.picture("search")
    look.open(f"rows?{AT}&where=amount > > 5")
    assert "it needs a value" in look.find("[role=alert]").text
    assert look.find("[name=where]").get_attribute("value") == "amount > > 5"
    look.picture("refused")
    look.open(f"rows?instance={INSTANCE}&table=absent")
    assert look.find("h1").text == "There is nothing here"


@pytest.mark.parametrize(
    "path",
    [
        "",
        f"table?{AT}",
        f"rows?{AT}",
        f'row?{AT}&id=["c-0004",4]',
        f"heat?{AT}",
        SERIES,
        POINTS,
        "requests",
        "health",
        "nodes",
        "sql",
        f"query?{STUDENTS}",
        "create",
        f"import?{AT}",
        f'value?{AT}&id=["c-0004",4]&column=city',
        f"search?instance={INSTANCE}&table={ARTICLES}&query=tea",
    ],
)
def test_every_page_fits_a_narrow_screen(looking: Looking, path: str) -> None:
    look = looking
    look.size(NARROW, 740)
    look.open(path)
    assert look.run("document.documentElement.scrollWidth") <= NARROW
    names = {"": "overview", f"heat?{AT}": "heat-map", f'row?{AT}&id=["c-0004",4]': "row"}
    names[f"rows?{AT}"] = "rows"
    if path in names:
        look.size(NARROW, 1280 if path else 740)
        look.picture(f"narrow-{names[path]}")


def test_no_page_was_blocked_or_failed_in_the_browser(looking: Looking) -> None:
    """The policy lets through all that the pages need, and scripts raise nothing."""
    told = [each["message"] for each in looking.browser.get_log("browser")]
    assert [each for each in told if "status of 40" not in each] == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_pictures_of_the_documents_are_there(name: str) -> None:
    data = (PICTURES / f"console-{name}.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < PICTURE_BYTES_MAX
