"""The pages are true: their code runs, their links work, and the names in them exist."""

from __future__ import annotations

import doctest
import inspect
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import aio, errors, worker
from redisson_dq._redis.options import Options
from redisson_dq.aio import worker as aio_worker
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.scripts.script import load, names

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").glob("*.md")),
        *sorted((ROOT / "examples").glob("*/*.md")),
    ]
}
EVERYTHING = "\n".join(PAGES.values())

# Code is run unless a comment above its fence gives the reason: <!-- not run: reason -->
_BLOCK = re.compile(r"(?P<mark><!-- not run: [^\n]+ -->\n+)?^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]\n]+\]\((?P<target>[^)\s]+)\)")

DOCUMENTED_URL = "redis://localhost:6379/0"


def _blocks(page: str, *, interactive: bool) -> list[str]:
    """The page's runnable code, each block on its own lines."""
    # tests/tutorials.py walks the tutorials.
    text = "" if page.startswith("docs/tutorials/") else PAGES[page]
    return [
        "\n" * text.count("\n", 0, match.start("code")) + match["code"]
        for match in _BLOCK.finditer(text)
        if match["mark"] is None and match["code"].startswith(">>>") is interactive
    ]


def _run(code: str, page: str, url: str) -> dict[str, Any]:
    """Runs a block. It need not import redisson_dq again, nor close its client."""
    made: dict[str, Any] = {"__name__": "__main__", "redisson_dq": redisson_dq}
    logger = logging.getLogger("redisson_dq")
    level, handlers = logger.level, logger.handlers[:]
    try:
        exec(compile(code.replace(DOCUMENTED_URL, url), str(ROOT / page), "exec", dont_inherit=True), made)
    finally:
        for value in made.values():
            if isinstance(value, redisson_dq.Client):
                value.close()
        logger.setLevel(level)
        logger.handlers[:] = handlers
    return made


@pytest.mark.parametrize("page", [page for page in PAGES if _blocks(page, interactive=False)])
def test_code_runs(server: EmbeddedServer, page: str) -> None:
    for code in _blocks(page, interactive=False):
        with redis.Redis.from_url(server.url) as admin:
            admin.flushall()
        _run(code, page, server.url)


def test_the_rows_of_a_table_have_the_cells_of_its_heading() -> None:
    """A row that was wrapped, or run into another, shows as text."""
    wrong: list[tuple[str, str]] = []
    for page, text in PAGES.items():
        bars = 0
        for row in _FENCED.sub("", text).splitlines():
            found = len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row))) if row.startswith("|") else 0
            if found and (not row.endswith("|") or found != (bars or found)):
                wrong.append((page, row))
            bars = found and (bars or found)
    assert wrong == []


@pytest.mark.parametrize("page", [page for page in PAGES if _blocks(page, interactive=True)])
def test_what_is_typed_gives_what_is_shown(page: str) -> None:
    session: dict[str, Any] = {}
    for code in _blocks(page, interactive=True):
        example = doctest.DocTestParser().get_doctest(code, session, page, page, 0)
        report: list[str] = []
        assert doctest.DocTestRunner().run(example, out=report.append, clear_globs=False).failed == 0, "".join(report)
        session = example.globs


def test_the_first_example_prints_what_the_page_shows(
    server: EmbeddedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    first = _blocks("README.md", interactive=False)[0]
    shown = re.search(r"```text\n(.*?)```", PAGES["README.md"], re.DOTALL)
    assert shown
    # It leaves nothing that would be found first the next time.
    for _ in range(2):
        _run(first, "README.md", server.url)
        assert capsys.readouterr().out == shown[1]
    with redis.Redis.from_url(server.url) as admin:
        assert admin.keys() == []
    assert len([line for line in first.splitlines() if line]) <= 12


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _leads_somewhere(page: str, target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = (ROOT / page).parent / name if name else ROOT / page
    return path.exists() and (not anchor or anchor in _anchors(path.read_text("utf-8")))


def test_links_lead_somewhere() -> None:
    found = [(page, match["target"]) for page, text in PAGES.items() for match in _LINK.finditer(_FENCED.sub("", text))]
    own = [(page, target) for page, target in found if not target.startswith(("http://", "https://"))]
    assert len(own) > 500
    assert [(page, target) for page, target in own if not _leads_somewhere(page, target)] == []


def test_the_generated_sections_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "make_diagram.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_list_of_pages_for_language_models_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "make_llms.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tests_that_are_named_are_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", EVERYTHING)
    assert len(named) > 10
    missing = [f"{path}::{name}" for path, name in named if f"def {name}" not in (ROOT / path).read_text("utf-8")]
    assert missing == []


@pytest.mark.parametrize("module", [redisson_dq, aio, worker, aio_worker])
def test_public_names_are_mentioned(module: Any) -> None:
    assert [name for name in module.__all__ if not re.search(rf"\b{name}\b", EVERYTHING)] == []


@pytest.mark.parametrize(
    "public",
    [*(getattr(aio, name) for name in aio.__all__ if name != "connect"), aio_worker.Worker, aio_worker.Event],
)
def test_public_methods_are_mentioned(public: type) -> None:
    methods = [name for name, _ in inspect.getmembers(public, inspect.isfunction) if not name.startswith("_")]
    assert [name for name in methods if not re.search(rf"\b{name}\b", EVERYTHING)] == []


def test_every_option_has_a_row() -> None:
    named = inspect.signature(Options).parameters
    assert [name for name in named if f"\n| `{name}=` |" not in PAGES["docs/options.md"]] == []


def test_every_error_has_a_row() -> None:
    assert [name for name in errors.__all__ if f"\n| `{name}` |" not in PAGES["docs/errors.md"]] == []


def test_the_commands_of_every_script_are_listed() -> None:
    for name in names():
        commands = re.findall(r"redis\.call\('(\w+)'", load(name).source)
        assert [command for command in commands if f"`{command}`" not in PAGES["docs/rights.md"]] == []


def test_every_error_of_a_built_in_kind_says_so() -> None:
    rows = {row.split("|")[1].strip(" `"): row.split("|")[2] for row in _rows(PAGES["docs/errors.md"])}
    for name in errors.__all__:
        kinds = [base.__name__ for base in getattr(errors, name).__bases__ if base.__module__ == "builtins"]
        assert [kind for kind in kinds if name != "RedissonDQError" and f"`{kind}`" not in rows[name]] == []


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| `")]


def _texts() -> dict[str, str]:
    """What users read: the pages, and the texts of the library."""
    return PAGES | {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "redisson_dq").rglob("*.py")
    }


@pytest.mark.parametrize(
    "tool", ["pip install", "pipx install", "pipx run", "uv add", "uvx", "uv pip install", "poetry add"]
)
def test_nobody_is_told_to_install_the_package_from_an_index(tool: str) -> None:
    """The package is not published. Users install it from a clone, or from a wheel built from one."""
    told = {
        f"{name}: {line.strip()}"
        for name, text in _texts().items()
        for line in text.splitlines()
        if re.search(rf"\b{tool}\b[^|`]*?[\s\"'](?:redisson-dq|redisson_dq)(?![\w/.*-]*\.whl)", line.partition("#")[0])
    }
    assert told == set()


def test_what_an_error_says_to_install_is_what_the_extra_needs() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8").partition("[project.optional-dependencies]")[2]
    extras = set(re.findall(r'^\w+ = \["([^"]+)"\]$', project.partition("\n[")[0], re.MULTILINE))
    assert len(extras) == 10
    told = {
        found
        for name, text in _texts().items()
        if name.endswith(".py")
        for found in re.findall(r"pip install '([^'.]+(?:\.[^']+)?)'", text)
    }
    # Without rich the command line prints plain text. pip installs newer versions than those that an extra leaves out.
    assert told == {re.sub(r",!=[^,]*", "", extra) for extra in extras} - {"rich>=13"}
