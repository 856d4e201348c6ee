"""A real Chromium that drives the dashboard of the command line, on a real Redis.

The browser, the Redis and the dashboard are shared by a file. The Chromium is that of the system.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import emptied

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_MAC = "/Applications/Chromium.app/Contents/MacOS/Chromium"
# Tests wait for events, which may be late on a busy machine.
expect.set_options(timeout=20_000)
# A page must not fail, log an error, or contact another host.
_TELLS = {"error", "warning"}


def chromium() -> str:
    """The path of the browser. A machine without one fails the tests."""
    given = os.environ.get("REDISSON_DQ_CHROMIUM")
    found = given or next(filter(None, map(shutil.which, _NAMES)), None) or (_MAC if Path(_MAC).exists() else None)
    assert found, f"no Chromium: install one of {', '.join(_NAMES)}, or set REDISSON_DQ_CHROMIUM"
    return found


@contextlib.contextmanager
def serving(url: str, *options: str, token: str = "") -> Iterator[str]:
    """Runs ``redisson-dq dashboard`` on a free port, and gives its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "redisson_dq", "dashboard", "--url", url, "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "REDISSON_DQ_DASHBOARD_TOKEN": token} if token else None,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("dashboard at http://"), line
        yield line.split()[-1].rstrip("/")
    finally:
        process.terminate()
        assert process.wait(30) == 0
        process.stdout.close()


@attrs.frozen
class Tab:
    """A tab of the browser, and the errors that it has reported."""

    page: Page
    root: str
    complaints: list[str]

    def open(self, path: str) -> Page:
        """Goes to a path of the dashboard."""
        self.page.goto(self.root + path, wait_until="load")
        return self.page


#: Opens a tab: ``tab(dark=True, width=360, script=False)``.
OpenTab = Callable[..., Tab]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the file. Its client runs an event loop in this thread as long as it lives."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium())
        yield made
        made.close()


@pytest.fixture(scope="module")
def server(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty Redis for the file."""
    return emptied(servers("redis"))


@pytest.fixture
def open_tab(browser: Browser, root: str) -> Iterator[OpenTab]:
    """Opens tabs. A page that fails, or that contacts another host, fails the test."""
    with contextlib.ExitStack() as stack:

        def opened(*, dark: bool = False, width: int = 1280, script: bool = True, **options: Any) -> Tab:
            context = browser.new_context(
                viewport={"width": width, "height": 900},
                color_scheme="dark" if dark else "light",
                java_script_enabled=script,
                reduced_motion="reduce",
                **options,
            )
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(20_000)
            complaints: list[str] = []
            stack.callback(lambda: pytest.fail("\n".join(complaints)) if complaints else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if said.type in _TELLS else None)
            page.on(
                "request",
                lambda asked: None if asked.url.startswith(root) else complaints.append(f"asks {asked.url}"),
            )
            return Tab(page, root, complaints)

        yield opened
