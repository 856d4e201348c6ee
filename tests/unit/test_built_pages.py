"""The built site shows what its pages say: no raw markup, no label that names another page, nothing from elsewhere."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: The markup left over when a directive, a role, a fence, a table or a link was not parsed.
RAW = re.compile(
    r":{3,}\s*\{|^\s*`{3}|\{[a-z-]+\}`|:\w+:`|\]\([\w./#-]+\)|^\|[ -]*-{3}|\.\. \w+::|\*\*\w+\*\*", re.MULTILINE
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-EW", "-q", "-c", "docs", ".", str(built)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return built


def text_of(page: str) -> str:
    """What a reader sees, without code."""
    body = page.partition('role="main"')[2].partition("</article>")[0].partition(">")[2]
    body = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", body))


@pytest.mark.nightly
def test_no_page_shows_raw_markup(site: Path) -> None:
    pages = sorted((site / "docs").rglob("*.html"))
    assert len(pages) > 80
    found = {path.name: RAW.findall(text_of(path.read_text("utf-8"))) for path in pages}
    assert {name: marks for name, marks in found.items() if marks} == {}


@pytest.mark.nightly
def test_no_page_asks_another_host(site: Path) -> None:
    asked = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^\"]*")
    pages = sorted(site.rglob("*.html"))
    assert {path.name: asked.findall(path.read_text("utf-8")) for path in pages if asked.search(path.read_text())} == {}


@pytest.mark.parametrize(
    "text",
    ["::::{container} landing", "```text", "{ref}`x`", ":meth:`x`", "[a](b.md)", "|---|---|", ".. note::", "**a**"],
)
def test_raw_markup_is_found(text: str) -> None:
    assert RAW.search(text)


@pytest.mark.parametrize("text", ["a: b", "x | y", "pause... go", "2 ** 3", "f(x)[0] (y)"])
def test_text_is_none(text: str) -> None:
    assert not RAW.search(text)


def test_a_label_that_is_a_page_names_the_page_that_it_leads_to() -> None:
    """``[deploy.md](dashboard.md)`` sent readers to another page than it said."""
    wrong = [
        f"{path.name}: [{label}]({target})"
        for path in (ROOT / "docs").rglob("*.md")
        for label, target in re.findall(r"\[([\w-]+\.md)\]\(([^)#]+)", path.read_text("utf-8"))
        if Path(label).name != Path(target).name
    ]
    assert wrong == []
