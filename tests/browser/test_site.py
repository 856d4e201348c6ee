"""No page of the built site is cut off or has to be scrolled horizontally on a phone, a tablet or a screen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
#: The elements that stick out of the window, except inside elements with their own scroll bar.
STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = node => node && node !== document.body
    && (/auto|scroll|hidden/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  return [...document.querySelectorAll('[role=main] *')]
    .filter(node => node.getBoundingClientRect().right > width + 1 && !scrolls(node))
    .map(node => node.tagName + ': ' + node.textContent.trim().slice(0, 60)).slice(0, 3);
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-E", "-q", "-c", "docs", ".", str(built)]
    subprocess.run(command, cwd=ROOT, check=True)
    return built


@pytest.mark.nightly
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_sticks_out(site: Path, browser: Browser, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    found = {}
    for path in sorted((site / "docs").rglob("*.html")):
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        if out := page.evaluate(STICKING_OUT):
            found[path.relative_to(site).as_posix()] = out
    page.close()
    assert found == {}


@pytest.mark.nightly
def test_the_quick_reference_fits_on_two_sheets(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((site / "docs" / "quick-reference.html").as_uri())
    printed = page.pdf(format="A4", margin={"top": "10mm", "bottom": "10mm", "left": "12mm", "right": "12mm"})
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 4
