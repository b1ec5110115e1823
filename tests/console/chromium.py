"""A headless Chromium for tests: Debian's, installed by the test itself where it may."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

_PACKAGES: Final = ("chromium", "chromium-driver")
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
INSTALL_SECONDS: Final = 400


def _apt(*words: str) -> int:
    # Another test process may be installing the same: apt waits for it.
    command = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", *words]
    done = subprocess.run(  # noqa: S603  # packages of the machine's own distribution
        command,
        capture_output=True,
        check=False,
        timeout=INSTALL_SECONDS,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )
    return done.returncode


def chromium() -> tuple[str, str]:
    """The browser and its driver, or a skip that says what is missing."""
    if shutil.which("chromedriver") is None and shutil.which("apt-get") and os.geteuid() == 0:
        _apt("update")
        _apt("install", "--no-install-recommends", *_PACKAGES)
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip(f"no Chromium here; as root: apt-get install {' '.join(_PACKAGES)}")
    return browser, driver


@contextmanager
def browsing(profile: Path, *flags: str) -> Iterator[Any]:
    """A browser with an empty profile and more flags; selenium's driver of it."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415  # as above

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
