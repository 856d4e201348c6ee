"""The tutorials are walked: by day with the programs of this environment, by night in a fresh one, with Maven."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, by_night
from tests.tutorials import PAGES, ROOT, Command, Walk, pattern, steps

START = PAGES / "index.md"
ORDER = [PAGES / name for name in re.findall(r"^\| \d \| \[.+?\]\((.+?)\)", START.read_text("utf-8"), re.MULTILINE)]


def test_every_tutorial_has_its_place() -> None:
    assert sorted(ORDER) == sorted(set(PAGES.glob("*.md")) - {START})


@pytest.mark.parametrize("page", [START, *ORDER], ids=lambda page: page.stem)
def test_a_tutorial_is_short(page: Path) -> None:
    assert len(page.read_text("utf-8").split()) <= 1000


def environment(path: Path) -> dict[str, str]:
    """A user's environment at a terminal, which shows each line at once and is wider than the lines of the pages."""
    own = ("PYTEST_", "PYTHON", "REDISSON_", "VIRTUAL_ENV")
    others = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    terminal = {"PYTHONUNBUFFERED": "1", "COLUMNS": "120", "TERM": "dumb", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return others | terminal | {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}


#: The one that each newcomer walks. What others show of the test kit, the pages of docs/how-to try as well.
BY_DAY = {"first-steps"}


@pytest.mark.parametrize(
    "page", [page if page.stem in BY_DAY else by_night(page) for page in ORDER], ids=lambda page: page.stem
)
def test_a_tutorial_is_walked(page: Path, tmp_path: Path) -> None:
    with Walk(tmp_path, environment(Path(sys.executable).parent), patience=PATIENCE) as walk:
        walk.go(START, at_night=False)
        walk.go(page, at_night=False)


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_a_newcomer_walks_them_all(tmp_path: Path) -> None:
    """In one folder and one shell, from a clone on. pip builds the wheel, and Maven the Java service."""
    (tmp_path / "redisson-dq").symlink_to(ROOT)
    with Walk(tmp_path, environment(Path(sys.base_prefix) / "bin"), patience=600) as walk:
        for page in (START, *ORDER):
            walk.go(page, at_night=True)


@pytest.mark.parametrize(
    ("shown", "printed", "matches"),
    [
        ("", "", True),
        ("", "a\n", False),
        ("a.b", "a.b\n", True),
        ("a.b", "a-b\n", False),
        ("due <time>, late", "due 12:30 UTC, late\n", True),
        ("due <time>, late", "due , late\n", False),
        ("due <time>", "due\n12:30\n", False),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("a\n...\nd", "a\nb\nc\n", False),
        ("a\n\nb", "a\nb\n", False),
        ("due        codec\nin <time>  Kryo5", "due    codec\nin 1h  Kryo5\n", True),
        ("a  b", "a b\n", False),
        ("a b", "a  b\n", False),
    ],
)
def test_printed_lines_are_compared_as_the_pages_say(shown: str, printed: str, matches: bool) -> None:
    lines = tuple(shown.split("\n")) if shown else ()
    assert (pattern(lines).fullmatch(printed) is not None) is matches


def test_a_command_has_the_lines_below_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ a \\\n> b\nc\n\nd\n$ e\n```\n\n<!-- at night; by day: f -->\n```console\n$ g\n```\n", "utf-8"
    )
    ab = [Command("a \\\nb", ("c", "", "d")), Command("e")]
    assert list(steps(page, at_night=False)) == [*ab, Command("f")]
    assert list(steps(page, at_night=True)) == [*ab, Command("g")]
