"""The pages of docs/how-to: their files are written into a folder and run as a user would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.testing.test_plugin import run

PAGES = sorted((Path(__file__).parents[2] / "docs" / "how-to").glob("*.md"))
#: Those of most pages, with a section for each. Some pages show their own.
TESTS = Path(__file__).parent / "how_to_tests.md"
_FILE = re.compile(r"^```python\n# (?P<name>\w+\.py)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


def files_of(page: Path) -> dict[str, str]:
    return {match["name"]: match["text"] for match in _FILE.finditer(page.read_text("utf-8"))}


def test_all_pages_pass_their_own_tests(tmp_path: Path) -> None:
    """One run for all, so that the server starts once. Names of files are unique among the pages."""
    written: list[str] = []
    for page in (*PAGES, TESTS):
        for name, text in files_of(page).items():
            written.append(name)
            (tmp_path / name).write_text(text, "utf-8")
    assert len(written) == len(set(written))
    tests = sum(name.startswith("test_") for name in written)
    cases = sum(text.count("\ndef test_") for page in (*PAGES, TESTS) for text in files_of(page).values())
    assert tests >= len(PAGES)
    done = run(tmp_path, "", "-rfE")
    assert f"{cases} passed" in done.stdout, done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_test(page: Path) -> None:
    of_its_own = any(name.startswith("test_") for name in files_of(page))
    assert of_its_own is not (f"\n## {page.stem}\n" in TESTS.read_text("utf-8"))
