"""The generator of the synchronous modules: it walks folders, compares whole files, refuses orphans and dead rules."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).resolve().parent.parent.parent / ".ci" / "unasync.py"

# Every rule of the table matches something in it.
SOURCE = '''\
"""Shows every rule."""

import redis.asyncio

from redisson_dq._async.inner.shown import shown
from redisson_dq._concurrency import AsyncBackgroundTask, async_finish


class Shown:
    async def __aenter__(self):
        return await async_finish(self)

    async def __aexit__(self, *_):
        await self.aclose()

    def __aiter__(self):
        # sync: return iter(())
        return AsyncBackgroundTask(redis.asyncio)
'''


@pytest.fixture
def unasync() -> ModuleType:
    spec = importlib.util.spec_from_file_location("unasync", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "_async"
    (folder / "inner").mkdir(parents=True)
    (folder / "shown.py").write_text(SOURCE, "utf-8")
    (folder / "inner" / "shown.py").write_text("async def inside(): ...\n", "utf-8")
    return folder


def write(made: dict[str, str], target: Path) -> None:
    for name, text in made.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, "utf-8")


def test_committed_modules_are_the_generated_ones() -> None:
    subprocess.run([sys.executable, str(PROGRAM), "--check"], check=True)


def test_folders_are_walked(unasync: ModuleType, source: Path) -> None:
    made = unasync.generate(source)
    assert set(made) == {"shown.py", "inner/shown.py"}
    assert "def inside(): ...\n" in made["inner/shown.py"]
    assert "async" not in made["inner/shown.py"].partition("\n")[2]
    assert "from redisson_dq._sync.inner.shown import shown\n" in made["shown.py"]
    assert "redisson_dq/_async/inner/shown.py" in made["inner/shown.py"].splitlines()[0]


@pytest.mark.parametrize("name", ["shown.py", "inner/shown.py"])
def test_a_line_too_many_is_noticed(unasync: ModuleType, source: Path, tmp_path: Path, name: str) -> None:
    made = unasync.generate(source)
    write(made, tmp_path / "_sync")
    assert unasync.differing(made, tmp_path / "_sync") == []
    with (tmp_path / "_sync" / name).open("a", encoding="utf-8") as file:
        file.write("\nadded = True\n")
    assert unasync.differing(made, tmp_path / "_sync") == [name]


@pytest.mark.parametrize("name", ["orphan.py", "inner/orphan.py", "other/orphan.py"])
def test_a_module_without_a_source_is_noticed(unasync: ModuleType, source: Path, tmp_path: Path, name: str) -> None:
    made = unasync.generate(source)
    write({**made, name: "made_by_hand = True\n"}, tmp_path / "_sync")
    assert unasync.differing(made, tmp_path / "_sync") == [name]


@pytest.mark.parametrize("name", ["shown.py", "inner/shown.py"])
def test_a_missing_module_is_noticed(unasync: ModuleType, source: Path, tmp_path: Path, name: str) -> None:
    made = unasync.generate(source)
    write(made, tmp_path / "_sync")
    (tmp_path / "_sync" / name).unlink()
    assert unasync.differing(made, tmp_path / "_sync") == [name]


def test_a_rule_that_matches_nothing_is_an_error(unasync: ModuleType, source: Path) -> None:
    (source / "shown.py").write_text(SOURCE.replace("__aiter__", "__repr__"), "utf-8")
    with pytest.raises(SystemExit, match="__aiter__"):
        unasync.generate(source)


# -- what the folder may hold ----------------------------------------------------------------------------------------

#: A class or function that is the same for threads and asyncio, and longer than this, belongs in a shared module.
LONGEST_SHARED = 20
# One class under two names.
_SAME = {"AsyncMutex"}
_FLAVOURED = re.compile(r"Async[A-Z]|async_[a-z]|aclose$|__a(enter|exit|iter)__$")

Definition = tuple[str, str]


def flavourless(source: Path, package: str) -> dict[Definition, int]:
    """The classes and functions of a folder whose two flavours are equal, and their lines: they neither wait, nor use
    anything that has two flavours.
    """
    known: dict[Definition, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef] = {}
    used: dict[Definition, set[Definition]] = {}
    differs: set[Definition] = set()
    for path in source.rglob("*.py"):
        module = ".".join((package, *path.relative_to(source).with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(path.read_text("utf-8"))
        imported = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for definition in tree.body:
            if isinstance(definition, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                nodes = list(ast.walk(definition))
                words = {getattr(node, field, "") for node in nodes for field in ("id", "attr", "name")} - _SAME
                name = module, definition.name
                known[name] = definition
                used[name] = {imported.get(word, (module, word)) for word in words if isinstance(word, str)} - {name}
                waits = any(isinstance(node, (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor)) for node in nodes)
                if waits or any(_FLAVOURED.match(word) for word in words if isinstance(word, str)):
                    differs.add(name)
                differs |= {other for other in used[name] if other[0].startswith("redis.asyncio")}
    while more := {name for name, others in used.items() if name not in differs and others & differs}:
        differs |= more
    return {name: (each.end_lineno or 0) - each.lineno + 1 for name, each in known.items() if name not in differs}


def test_a_part_without_a_flavour_has_no_second_copy(unasync: ModuleType) -> None:
    found = flavourless(unasync.SOURCE, "redisson_dq._async")
    assert ("redisson_dq._async.pipeline", "Reply") in found
    assert ("redisson_dq._async.pipeline", "Pipeline") not in found
    long = {name: lines for name, lines in found.items() if lines > LONGEST_SHARED}
    assert long == {}, "move them out of _async/, to the room that they belong to"


def test_a_part_that_uses_one_with_a_flavour_has_one_too(tmp_path: Path) -> None:
    (tmp_path / "sends.py").write_text("class Sends:\n    async def send(self):\n        pass\n")
    (tmp_path / "uses.py").write_text(
        "from shop.sends import Sends\n\ndef made():\n    return Sends()\n\ndef two():\n    return 1 + 1\n\n"
        "def closes(it):\n    return it.aclose()\n"
    )
    assert flavourless(tmp_path, "shop") == {("shop.uses", "two"): 2}
