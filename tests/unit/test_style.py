"""Rules that no linter checks: one word for a caught error, one form of sections, one rule for underscores."""

from __future__ import annotations

import ast
import functools
import gc
import re
import subprocess
from pathlib import Path

import redisson_dq

PACKAGE = Path(redisson_dq.__file__).parent
SOURCES = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
ROOT = PACKAGE.parent
ALL_SOURCES = SOURCES | {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for folder in ("tests", "docs", "examples", ".ci")
    for path in (ROOT / folder).rglob("*.py")
    if "proto" not in path.parts
}


@functools.cache
def parsed(text: str) -> ast.Module:
    """The tree of a source. All trees stay, and looking for garbage among them takes most of the time."""
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()


# Where a section ends, whatever its depth.
WIDTH = 118


def test_a_caught_error_has_one_name() -> None:
    """``error``; one that is caught while another is handled, or beside one, is a ``failure``."""
    found = {
        f"{name}: {caught[0].strip()}"
        for name, text in ALL_SOURCES.items()
        for caught in re.finditer(r"^ *except\b[^:]* as (\w+):", text, re.MULTILINE)
        if caught[1] not in ("error", "failure")
    }
    assert sorted(found) == []


def test_sections_have_one_form() -> None:
    """``# -- what follows ------``, of one width."""
    found = [
        f"{name}:{number}: {line}"
        for name, text in ALL_SOURCES.items()
        for number, line in enumerate(text.splitlines(), 1)
        if re.match(r"\s*#\s*[-=*#~]{2}", line)
        and not (re.fullmatch(r"\s*# -- \w.* -+", line) and len(line) == WIDTH)
        and not line.strip("# -").startswith("sync")
    ]
    assert found == []


def names_at_the_top(tree: ast.Module) -> set[str]:
    """The public definitions of a module: functions, classes and values, except type variables and the logger."""
    found = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            value = node.value
            is_variable = isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec")
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name) and not is_variable}
    return {name for name in found if name != "logger" and not name.startswith("__")}


def listed(tree: ast.Module) -> set[str]:
    """``__all__``."""
    names: set[str] = set()
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(node, (ast.Assign, ast.AugAssign)):
            names |= set(ast.literal_eval(node.value)) if not isinstance(node.value, ast.Attribute) else set()
    return names


# Parsed by the tests that need it: every process of a run imports this module.
@functools.cache
def trees() -> dict[str, ast.Module]:
    return {name: parsed(text) for name, text in SOURCES.items()}


def test_what_is_not_listed_begins_with_an_underscore() -> None:
    found = {
        f"{name}: {each}"
        for name, tree in trees().items()
        if not name.endswith("__.py")
        for each in names_at_the_top(tree) - listed(tree)
        if not each.startswith("_")
    }
    assert sorted(found) == []


def test_what_others_import_is_listed() -> None:
    names = {name: listed(tree) for name, tree in trees().items()}
    wanted = {
        (name, node.module.removeprefix("redisson_dq.").replace(".", "/") + ".py", alias.name)
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("redisson_dq.") and node.module
        for alias in node.names
        if alias.name != "*"  # gives what is listed
    }
    # What a package gives is a module, or listed by its own __init__.
    assert (
        sorted(
            f"{name}: {each} of {module}"
            for name, module, each in wanted
            if module in names and each not in names[module]
        )
        == []
    )


#: Names that are intentionally in several modules, and the reasons.
ONE_NAME_EACH = {
    "Reader": "each codec has one",
    "Token": "a filter has many, and the dashboard may have one",
    "Writer": "each codec has one",
    **dict.fromkeys(("State", "Trigger", "Do"), "each table of decisions has its own"),
    **dict.fromkeys(("ArrayDeque", "EmptyList", "EmptyMap", "EmptySet"), "java.util has one, and kotlin.collections"),
}


def classes_and_aliases(tree: ast.Module) -> set[str]:
    """The classes at the top of a module, underscores left out, and its public type aliases."""
    found = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    found |= {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Subscript, ast.BinOp))
        for target in node.targets
        if isinstance(target, ast.Name) and re.match(r"[A-Z]\w*[a-z]", target.id)
    }
    return {name.lstrip("_") for name in found}


def test_a_class_has_a_name_of_its_own() -> None:
    """Two classes that are different things do not share a name, not even in different packages."""
    modules: dict[str, list[str]] = {}
    for name, tree in trees().items():
        if not name.startswith("_sync/"):
            for each in classes_and_aliases(tree):
                modules.setdefault(each, []).append(name)
    shared = {each: sorted(found) for each, found in modules.items() if len(found) > 1}
    assert {each: found for each, found in shared.items() if each not in ONE_NAME_EACH} == {}
    assert ONE_NAME_EACH.keys() - shared.keys() == set()


#: Functions that each format of the codecs has.
OF_EACH_FORMAT = {"dumps", "loads", "parse", "utf8", "varint"}


def test_a_function_of_the_codecs_has_a_name_of_its_own() -> None:
    """What a reader finds by its name in one codec is not something else in another."""
    modules: dict[str, list[str]] = {}
    for name, tree in trees().items():
        for node in tree.body if name.startswith("codecs/") else ():
            if isinstance(node, ast.FunctionDef) and node.name in listed(tree):
                modules.setdefault(node.name, []).append(name)
    assert {each for each, found in modules.items() if len(found) > 1} == OF_EACH_FORMAT


# -- private members -------------------------------------------------------------------------------------------------


def attributes(tree: ast.Module) -> list[ast.Attribute]:
    """Attributes that begin with one underscore."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    ]


def is_own(node: ast.Attribute) -> bool:
    """Whether the object is the method's own."""
    return ast.unparse(node.value) in ("self", "cls", "super()")


def private_names() -> set[str]:
    """The private attributes of the library's objects and modules, packages left out."""
    of_objects = {node.attr for tree in trees().values() for node in attributes(tree) if is_own(node)}
    of_modules = {name for tree in trees().values() for name in names_at_the_top(tree) if name.startswith("_")}
    functions = {
        node.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and re.match(r"_[a-z]", node.name)
    }
    packages = {name.rpartition("/")[2].removesuffix(".py") for name in trees()}
    return (of_objects | of_modules | functions) - packages


#: Documented names of the standard library that begin so.
STANDARD = {"_exit", "_replace"}
#: What the supervisor calls of a worker in another package. They are no user's.
OF_SUPERVISORS = {"_owner", "_return_leases"}
#: By file what pytest shows in no other way.
OF_PYTEST = {"conftest.py": {"_calls"}}


def members(tree: ast.Module) -> set[str]:
    """What the module's classes define or announce in their bodies."""
    in_classes = [node for each in tree.body if isinstance(each, ast.ClassDef) for node in each.body]
    return {node.name for node in in_classes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))} | {
        node.target.id for node in in_classes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def of_others(tree: ast.Module) -> list[ast.Attribute]:
    """Private attributes of objects that the module's own classes have not got."""
    found = attributes(tree)
    own = {node.attr for node in found if is_own(node)} | members(tree)
    return [node for node in found if not is_own(node) and node.attr not in own]


def test_no_module_reaches_into_the_objects_of_another() -> None:
    """What two of them need is an object that both are given, or a function beside the class."""
    found = {
        f"{name}: {ast.unparse(node)}"
        for name, tree in trees().items()
        if name.startswith("_async/")
        for node in of_others(tree)
    }
    # An item's calls are its queue's, and a client knows its own queues by their runtime.
    items = {f"_async/queues/delayed_item.py: self._queue.{name}" for name in ("_run", "_side")}
    assert found == items | {"_async/opening.py: queue._runtime"}


def test_tests_use_no_private_names() -> None:
    """They read and replace what a module lists, or what an object shows without an underscore."""
    private = private_names()
    tests = {path: parsed(path.read_text("utf-8")) for path in Path(__file__).parents[1].rglob("*.py")}
    read = {
        f"{path.name}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in tests.items()
        for node in of_others(tree)
        if node.attr in private - STANDARD - OF_SUPERVISORS - OF_PYTEST.get(path.name, set())
    }
    replaced = {
        f"{path.name}:{node.lineno}: {node.value}"
        for path, tree in tests.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"redisson_dq\.[\w.{}]+", node.value) and node.value.rpartition(".")[2] in private
    }
    replaced |= {
        f"{path.name}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in tests.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        if any(isinstance(each, ast.Constant) and each.value in private for each in node.args)
        if ast.unparse(node.func).endswith(("setattr", "patch.object"))
    }
    assert sorted(read | replaced) == []


def test_a_test_file_says_what_it_is_about() -> None:
    """One file, one subject: its first line names it."""
    files = [path for path in Path(__file__).parents[1].rglob("test_*.py") if "typing" not in path.parts]
    assert len(files) > 100
    assert [path.name for path in files if not ast.get_docstring(parsed(path.read_text("utf-8")))] == []


def test_files_of_tests_have_names_of_their_own() -> None:
    """Pytest imports each by only its name, as their folders are not packages."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_no_file_has_the_marks_of_a_merge() -> None:
    found = subprocess.run(
        ["git", "grep", "-n", "-I", "-E", "^(<<<<<<<|>>>>>>>|[|]{7}) "], cwd=ROOT, capture_output=True, text=True
    )
    assert found.stdout.splitlines() == []
    assert found.returncode == 1, found.stderr
