"""The pictures of the pages are those that a browser takes of the dashboard, and are light."""

from __future__ import annotations

import re
from pathlib import Path

from tests.browser.shots import IMAGES, PICTURES

ROOT = Path(__file__).parents[2]


def test_each_picture_of_the_dashboard_is_one_of_the_shots() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/dashboard-([a-z]+)\.png", page.read_text("utf-8"))}
    assert shown == set(PICTURES)
    assert {each.name for each in IMAGES.glob("dashboard-*")} == {f"dashboard-{name}.png" for name in PICTURES}


def test_the_pictures_are_light() -> None:
    sizes = {each.name: each.stat().st_size for each in IMAGES.glob("*.png")}
    assert {name: size for name, size in sizes.items() if size >= 150_000} == {}
