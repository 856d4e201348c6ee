"""Which module imports which, read from the sources: neither packages nor modules form a cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import redisson_dq

PACKAGE = Path(redisson_dq.__file__).parent

Graph = dict[str, set[str]]

#: Cycles that have a reason. A comment in their modules tells it.
EXPLAINED: list[tuple[str, ...]] = []


def modules_of(package: Path) -> dict[str, Path]:
    """Every module below a package, by its name."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if path.name == "__init__.py" else parts)] = path
    return found


def imports_of(text: str, modules: dict[str, Path]) -> set[str]:
    """The modules that a source imports, at any depth of it and under TYPE_CHECKING too."""
    named: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            named |= {
                deeper if (deeper := f"{node.module}.{alias.name}") in modules else node.module for alias in node.names
            }
    return named & modules.keys()


def unit_of(module: str, modules: dict[str, Path]) -> str:
    """A folder without sub-folders is one unit. Beside sub-folders each module is a unit of its own."""
    folder = modules[module].parent
    has_packages = any(path.parent.parent == folder for path in modules.values() if path.name == "__init__.py")
    return module if has_packages else ".".join(folder.relative_to(PACKAGE.parent).parts)


def cycles(graph: Graph) -> list[tuple[str, ...]]:
    """The strongly connected parts with more than one member, each in order."""
    return sorted({tuple(sorted(part)) for part in _parts(graph) if len(part) > 1})


def _parts(graph: Graph) -> Iterator[set[str]]:
    reached = {node: _reachable(graph, node) for node in graph}
    for node, others in reached.items():
        yield {node} | {other for other in others if node in reached.get(other, ())}


def _reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        node = ahead.pop()
        if node not in seen:
            seen.add(node)
            ahead += graph.get(node, ())
    return seen


@pytest.fixture(scope="module")
def graph() -> Graph:
    modules = modules_of(PACKAGE)
    return {name: imports_of(path.read_text("utf-8"), modules) - {name} for name, path in modules.items()}


def test_the_whole_package_is_read(graph: Graph) -> None:
    assert "redisson_dq._async.queues.handle" in graph["redisson_dq._async.queues.waiting"]
    assert "redisson_dq.wire.commands" in graph["redisson_dq._async.runtime"]
    assert "redisson_dq._async.client" in graph["redisson_dq.aio"]


def test_no_package_imports_one_that_imports_it(graph: Graph) -> None:
    modules = modules_of(PACKAGE)
    units: Graph = {}
    for name, imported in graph.items():
        unit = unit_of(name, modules)
        units.setdefault(unit, set()).update(unit_of(other, modules) for other in imported)
    assert {"redisson_dq.wire.calls", "redisson_dq._async.queues", "redisson_dq.errors"} <= units.keys()
    assert cycles({unit: others - {unit} for unit, others in units.items()}) == []


def test_no_module_imports_one_that_imports_it(graph: Graph) -> None:
    """Imports for types alone count too. A module knows its callers by a protocol."""
    assert cycles(graph) == EXPLAINED


def test_decisions_about_waits_use_no_time_and_do_nothing() -> None:
    imported = {
        name.partition(".")[0]
        for path in (PACKAGE / "waiting").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _named(node)
    }
    assert "redisson_dq" in imported
    assert not imported & {"asyncio", "queue", "redis", "socket", "threading", "time"}


def _named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module is not None else []


def test_a_cycle_is_found_wherever_the_import_stands(tmp_path: Path) -> None:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop.b import B\n")
    (package / "b.py").write_text("import json\n\ndef late():\n    import shop.c\n")
    (package / "c.py").write_text("from shop import a\n")
    (package / "d.py").write_text("from shop import a, b\n")
    modules = modules_of(package)
    graph = {name: imports_of(path.read_text(), modules) for name, path in modules.items()}
    assert graph["shop.d"] == {"shop.a", "shop.b"}
    assert cycles(graph) == [("shop.a", "shop.b", "shop.c")]
