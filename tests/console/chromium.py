"""A headless Chromium for tests: Debian's, installed by the test itself where it may."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tools.debian import CHROMIUM, install

_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)


def chromium() -> tuple[str, str]:
    """The browser and its driver, or a skip that says what is missing."""
    if shutil.which("chromedriver") is None:
        install(*CHROMIUM)
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip(f"no Chromium here; as root: apt-get install {' '.join(CHROMIUM)}")
    return browser, driver


@contextmanager
def browsing(profile: Path, *flags: str) -> Iterator[Any]:
    """A browser with an empty profile and more flags; selenium's driver of it."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415  # selenium may not be installed

    browser, driver = chromium()
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*_FLAGS, *flags, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield opened
    finally:
        opened.quit()
