"""The site is built without fault, asks no other host, and can be read and searched from a disk."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest
from tests.console.chromium import browsing
from tools.debian import INSTALL_SECONDS

pytest.importorskip("zensical", reason="pip install zensical")

from tools import build_site
from tools.markdown_pages import ROOT, pages

pytestmark = pytest.mark.timeout(INSTALL_SECONDS + 120)

LOADS: Final = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
"""From tags to what a browser fetches for them unasked."""


class Loaded(HTMLParser):
    """What a page makes a browser fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(LOADS.get(tag, ""))
        if address:
            self.addresses.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site.build(tmp_path_factory.mktemp("site"))


@pytest.mark.night
def test_every_page_is_there_and_none_asks_another_host_or_leads_nowhere(site: Path) -> None:
    for page in pages():
        place = page.relative_to(ROOT).with_suffix(".html")
        index = place.with_name("index.html") if place.stem == "README" else place
        assert (site / index).is_file(), page
    found = 0
    for file in site.rglob("*.html"):
        for address in Loaded(file.read_text(encoding="utf-8")).addresses:
            assert not re.match(r"(?:\w+:)?//", address), f"{file}: {address}"
            found += 1
    assert found > 500
    for file in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", file.read_text(encoding="utf-8")), file
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        for address in re.findall(r"<a [^>]*href=\"?([^\"#> ]+)", text):
            if not re.match(r"\w+:|/", address):
                assert (file.parent / address).resolve().exists(), f"{file}: {address}"


SEARCH: Final = """
const done = arguments[0];
const until = async (find) => {
  for (;;) {
    const found = find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
(async () => {
  document.querySelector("[for=__search], .md-search__button").click();
  const hosts = () => [...document.querySelectorAll("div")].find((each) => each.shadowRoot);
  const root = (await until(hosts)).shadowRoot;
  const input = await until(() => root.querySelector("input"));
  input.value = "durability";
  input.dispatchEvent(new Event("input", { bubbles: true }));
  const hit = await until(() => root.querySelector('a[href*="DURABILITY"]'));
  done(hit.innerText);
})();
"""
"""Opens the search, types a word, and waits for the page that is about it."""


@pytest.mark.night
def test_it_is_searched_in_a_browser_from_the_disk(site: Path, tmp_path: Path) -> None:
    with browsing(tmp_path) as browser:
        browser.set_script_timeout(60)
        browser.get((site / "index.html").as_uri())
        assert "Durability" in browser.execute_async_script(SEARCH)
        assert browser.get_log("browser") == []
