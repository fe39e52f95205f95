"""A headless Chromium of the system without a network, and what it logs about a page."""

from __future__ import annotations

import base64
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER, DRIVER = "chromium", "chromedriver"

ARGUMENTS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    # In a container root has no sandbox; the page is the test's own.
    "--no-sandbox",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

PATIENCE = 60.0
"""Time in which a page is drawn on a busy machine, s."""


def missing() -> str:
    """Return why no browser can be started; empty if one can."""
    gone = [name for name in (BROWSER, DRIVER) if shutil.which(name) is None]
    return f"{' and '.join(gone)} missing: apt-get install chromium chromium-driver" if gone else ""


class Page:
    """A page in the browser, with its console and its network log."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path) -> None:
        """Open a file, and wait until its figures are drawn."""
        self.driver.get(path.as_uri())
        self.wait_for_turn(1)

    def run(self, script: str, *given: object) -> Any:
        """Run JavaScript with `arguments`, and return its value."""
        return self.driver.execute_script(script, *given)

    def wait_for_turn(self, turn: int) -> None:
        """Wait until all figures are drawn for the given time."""
        end = time.monotonic() + PATIENCE
        while int(self.run("return document.body.dataset.drawn || 0")) < turn:
            assert time.monotonic() < end, f"not drawn: {self.console()}"
            time.sleep(0.05)

    def console(self) -> list[str]:
        """Return the messages since the last call."""
        return [one["message"] for one in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses requested since the last call."""
        events = (
            json.loads(one["message"])["message"] for one in self.driver.get_log("performance")
        )
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def resize(self, width: int) -> None:
        """Make the page so many CSS pixels wide, as on a phone or a desk."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )

    def picture(self, path: Path) -> None:
        """Write a picture of the whole page."""
        found = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True}
        )
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    """Start the browser."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.binary_location = str(shutil.which(BROWSER))
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(shutil.which(DRIVER))))
    try:
        yield Page(driver)
    finally:
        driver.quit()
