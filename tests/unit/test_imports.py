"""Which module imports which, read from the sources: neither packages nor modules form a cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import redisson_dq

PACKAGE = Path(redisson_dq.__file__).parent

Graph = dict[str, set[str]]

#: The three areas of CONTRIBUTING.md. Each room that is in neither of these belongs to the core.
VALUES = {"codecs", "java"}
OPERATIONS = {"browsing", "cli", "doctor", "mending", "migrating", "planning", "web", "_operations"}

#: The rooms that an area may import beside its own. The core may import all but operations and their facade.
_PUBLIC = {"redisson_dq", "durability", "errors", "health", "inspection", "items", "observing", "stats"}
MAY_IMPORT = {
    "values": {"_common", "errors"},
    "operations": {
        *VALUES,
        *_PUBLIC,
        "admin",
        "_common",
        "_version",
        "embedded",
        "prometheus",
        "scheduling",
        "sidecar",
    },
}
#: What single rooms may import besides, with the reason.
BESIDES = {
    "__main__": {"cli": "python -m redisson_dq is the command line"},
    "sidecar": {"_operations": "the line of the command that helps"},
    "cli": {
        "__main__": "the processes of a worker are started by it",
        "_concurrency": "the signals that stop a worker",
        "aio": "a worker's flavour",
        "worker": "a worker's flavour",
        "working": "handlers, as a worker declares them",
    },
    "doctor": {"scripts": "the commands that each script sends", "worker": "a handler tries a value"},
}

#: Cycles that have a reason. A comment in their modules states it.
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
    assert "redisson_dq.wire.commands" in graph["redisson_dq._async.watching"]
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
    """Type-only imports count too. A module knows its callers by a protocol."""
    assert cycles(graph) == EXPLAINED


def room_of(module: str) -> str:
    """The folder or the module below the package; the package itself has its own name."""
    return module.split(".")[1] if "." in module else module


def area_of(room: str) -> str:
    return "values" if room in VALUES else "operations" if room in OPERATIONS else "core"


def test_each_area_imports_what_its_list_allows(graph: Graph) -> None:
    wrong, used = set(), set()
    for module, imported in graph.items():
        room = room_of(module)
        area = area_of(room)
        for other in map(room_of, imported):
            if area_of(other) == area and not (room != "admin" and other == "admin"):
                continue
            if area == "core":
                is_allowed = (area_of(other) != "operations" and other != "admin") or room == "__main__"
            else:
                is_allowed = other in MAY_IMPORT[area]
            used.add((room, other))
            if not is_allowed and other not in BESIDES.get(room, {}):
                wrong.add(f"{module} imports {other}")
    assert sorted(wrong) == []
    assert [(room, other) for room, others in BESIDES.items() for other in others if (room, other) not in used] == []


@pytest.mark.parametrize("room", sorted(OPERATIONS))
def test_operations_go_through_the_facade(room: str) -> None:
    """Neither by imports, nor by the attributes of a client."""
    found = [
        path.relative_to(PACKAGE).as_posix()
        for path in [*PACKAGE.glob(f"{room}.py"), *(PACKAGE / room).rglob("*.py")]
        if ".runtime" in path.read_text("utf-8")
    ]
    assert found == []


def test_decisions_about_waits_use_no_time_and_do_nothing() -> None:
    imported = {
        name.partition(".")[0]
        for path in (PACKAGE / "waits").rglob("*.py")
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
