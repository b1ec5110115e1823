"""A browser that looks at a console, and takes the pictures of the documents."""

import io
import os
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
PICTURE_BYTES_MAX: Final = 150_000


class Looking:
    """A browser that looks at a console."""

    def __init__(
        self,
        browser: Any,  # noqa: ANN401  # selenium's
        endpoint: str,
        folder: Path,
        prefix: str,
    ) -> None:
        """`folder`: for its pictures, whose names begin with `prefix`."""
        self.browser = browser
        self.folder = folder
        self.prefix = prefix
        self.root = f"{endpoint}/console/"

    def open(self, path: str) -> None:
        self.browser.get(self.root + path)

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def find(self, selector: str) -> Any:  # noqa: ANN401  # selenium's
        return self.browser.find_element("css selector", selector)

    def follow(self, selector: str) -> None:
        """Click on what leads to another page, and wait for it."""
        self.run("window.isFormerPage = true")
        self.find(selector).click()
        self.wait("!window.isFormerPage && document.readyState === 'complete'")

    def run(self, script: str) -> Any:  # noqa: ANN401  # whatever the script returns
        return self.browser.execute_script(f"return {script}")

    def wait(self, script: str) -> None:
        """Until a script says yes."""
        from selenium.webdriver.support.wait import WebDriverWait  # noqa: PLC0415  # as browsing

        WebDriverWait(self.browser, 20, 0.05).until(lambda _: self.run(script))

    def allow_the_clipboard(self) -> None:
        """As a browser allows it where a person clicks."""
        kinds = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": kinds})

    def clipboard(self) -> str:
        """The text that was copied."""
        read = (
            "navigator.clipboard.readText().then(arguments[0], error => arguments[0](`${error}`))"
        )
        return str(self.browser.execute_async_script(read))

    def point_at(self, selector: str) -> None:
        """Move the pointer over an element."""
        from selenium.webdriver import ActionChains  # noqa: PLC0415  # only where there is a browser

        ActionChains(self.browser).move_to_element(self.find(selector)).perform()

    def change(self, column: str, value: str) -> None:
        """Change a column on the page of a row, and see that it was done."""
        selector = f'textarea[aria-label="Value of {column}"]'
        field = self.find(selector)
        field.clear()
        field.send_keys(value)
        self.find('button[value="edit"]').click()
        self.wait("document.querySelector('.note.good') !== null")
        assert self.find(selector).get_attribute("value") == value

    def picture(self, name: str) -> None:
        """Take a picture, with few colours, where that is asked for."""
        if os.environ.get("WIDEROW_PICTURES"):
            from PIL import Image  # noqa: PLC0415  # only where pictures are made

            taken = Image.open(io.BytesIO(self.browser.get_screenshot_as_png())).convert("RGB")
            self.folder.mkdir(exist_ok=True)
            path = self.folder / f"{self.prefix}{name}.png"
            taken.quantize(128).save(path, "PNG", optimize=True)
