"""docs/how-it-works.md tells the truth about the tree: its rooms, the walks, and one meaning for each word."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.unit.test_imports import imports_of, modules_of

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "redisson_dq"
PAGE = (ROOT / "docs" / "how-it-works.md").read_text("utf-8")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
WALKS = re.findall(r"^<!-- walk -->\n\n((?:\|.*\n)+)", PAGE, re.MULTILINE)


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].partition("\n## ")[0]


def defined(path: Path) -> set[str]:
    """The functions of a module, those of a class behind its name."""
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, _FUNCTIONS)}
        elif isinstance(node, _FUNCTIONS):
            names.add(node.name)
    return names


@pytest.mark.parametrize("walk", WALKS, ids=["offer", "take", "receive", "ack", "handling"])
def test_a_walk_names_what_there_is_and_is_short(walk: str) -> None:
    steps = re.findall(r"^\| `([^`]+)` \| (?:`([^`]+)`)? ?\|", walk, re.MULTILINE)
    assert 3 <= len({path for path, _ in steps}) <= 5
    for path, function in steps:
        assert (PACKAGE / path).is_file()
        if function:
            assert function in defined(PACKAGE / path)


def rooms() -> list[tuple[str, ...]]:
    """What each line of the tree names, by its path."""
    lines = []
    parents: list[str] = []
    for line in section("The house").split("```")[1].splitlines()[2:]:
        depth = (len(line) - len(line.lstrip())) // 2
        names = line.strip().partition("  ")[0].split()
        lines.append(tuple("".join([*parents[: depth - 1], name]) for name in names))
        parents = [*parents[: depth - 1], *(name for name in names[-1:] if name.endswith("/"))]
    return lines


def test_the_tree_has_every_folder_and_no_other() -> None:
    shown: set[str] = set()
    for path in (path for line in rooms() for path in line):
        assert (PACKAGE / path).is_dir() if path.endswith("/") else (PACKAGE / path).is_file(), path
        assert path not in shown, f"{path} is shown twice"
        shown.add(path)
    folders = {f"{path.parent.relative_to(PACKAGE).as_posix()}/" for path in PACKAGE.rglob("*.py")} - {"./"}
    # The inner folders of codecs, cli and the generated package are not shown.
    inner = ("_sync/", "codecs/", "cli/")
    assert [name for name in sorted(folders - shown) if not name.startswith(inner)] == []


def test_a_module_imports_from_its_own_line_of_the_tree_and_from_those_below() -> None:
    lines = {path: number for number, line in enumerate(rooms()) for path in line}

    def line_of(module: str) -> int:
        """Its folder's, or its own if it stands beside folders. An inner folder counts as the one around it."""
        _, *parts = module.split(".")
        place = "/".join(parts[: 2 if parts[:1] == ["_async"] else 1]) or "__init__"
        return lines[f"{place}/" if f"{place}/" in lines else f"{place}.py"]

    modules = {name: path for name, path in modules_of(PACKAGE).items() if not re.search(r"\._(sync|_main__)\b", name)}
    upwards = {
        f"{name} imports {other}"
        for name, path in modules.items()
        for other in imports_of(path.read_text("utf-8"), modules)
        if line_of(other) < line_of(name)
    }
    assert len(modules) > 200
    assert sorted(upwards) == []


def test_rooms_for_new_parts_exist() -> None:
    table = section("The house").rpartition("| a new |")[2]
    rooms = {name for name in re.findall(r"`([\w/.]+)`", table) if name.endswith(("/", ".py"))}
    assert rooms >= {"scheduling/", "requests/", "wire/calls/", "java/", "codecs/", "cli/"}
    assert [room for room in rooms if not (PACKAGE / room).exists()] == []


def test_each_word_has_one_meaning() -> None:
    words = re.findall(r"^\| ([a-z ]+) \| ", section("Words"), re.MULTILINE)[1:]
    assert 20 <= len(words) == len(set(words))
