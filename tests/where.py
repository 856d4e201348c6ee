"""Lists the tests to run first after a change of a file, best first.

    python -m tests.where redisson_dq/scheduling/engine.py redisson_dq/scripts/transfer.lua
    python -m tests.where --trace              runs the tests, and notes what each test file calls
    python -m tests.where --trace tests/unit   the same for some of them; further arguments are pytest's

The notes are in build/where/, one file for each test file. They are not committed, and each traced run renews those of
the tests that it ran. A test file without notes is judged by its text: by what it imports, by its name, and by the
words that it shares with the file. Tests that a mutation of the file names (``tests/mutations.py``) come first.

A line of Lua counts as called where the function in ``wire/calls/`` that makes its request was called. A process that
a test starts is not traced.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import hypot, log
from pathlib import Path

import attrs

from redisson_dq.scripts.script import load, names
from tests.mutations import MUTATIONS, ROOT

__all__ = ["NOTES", "Found", "noted_in", "source_of", "where"]

#: The folder of the notes.
NOTES = ROOT / "build" / "where"

_MUTATED, _LEAST = 1000.0, 0.5
_CALLS = ("redisson_dq/calls", "redisson_dq/wire/calls")
# What the same words, a direct import, an import by a supporting module and the file's name are worth.
_ALIKE, _IMPORTED, _IMPORTED_BESIDE, _NAMED = 10.0, 4.0, 1.0, 3.0


@attrs.frozen(order=True)
class Found:
    """A test file, how much it has to do with the file that was asked for, and why."""

    score: float
    path: str
    why: str = attrs.field(order=False)


def where(path: str, notes: Path = NOTES) -> list[Found]:
    """The test files for one file of the package, best first. Raises FileNotFoundError."""
    path = source_of(path)
    if not (ROOT / path).is_file():
        raise FileNotFoundError(f"{path} is no file of this project; its path begins with redisson_dq/")
    mutated = {each.test.partition("::")[0] for each in MUTATIONS if each.path == path}
    traced = noted_in(notes)
    wanted = _functions_of_script(path) if path.endswith(".lua") else None
    called = {test: _within(functions, path, wanted) for test, functions in traced.items()}
    callers = Counter(function for functions in called.values() for function in functions)
    texts = _by_text(path)
    found = []
    for test in _test_files():
        score, why = 0.0, []
        if test in mutated:
            score, why = _MUTATED, ["a mutation of the file fails here"]
        if called.get(test):
            # What few tests call says more. A test that calls little else is about the file.
            rare = sum(1 / callers[function] for function in called[test])
            score += 10 * rare * (len(called[test]) / len(traced[test])) ** 0.5
            why.append(f"calls {len(called[test])} of its functions")
        elif test not in traced:
            score += texts[test]
            why.append("by its text")
        if score >= _LEAST:
            found.append(Found(score, test, ", ".join(why)))
    return sorted(found, key=lambda each: (-each.score, each.path))


def source_of(path: str) -> str:
    """The path below the root, of the hand-written file where it is a generated one."""
    absolute = Path(path).resolve()
    below = absolute.relative_to(ROOT).as_posix() if absolute.is_relative_to(ROOT) else path
    return below.replace("redisson_dq/_sync/", "redisson_dq/_async/")


# -- what was traced -------------------------------------------------------------------------------------------------


def noted_in(notes: Path) -> dict[str, set[str]]:
    """The functions that each test file called, as ``path:name``."""
    return {
        read["test"]: set(read["functions"]) for read in (json.loads(each.read_text()) for each in notes.glob("*.json"))
    }


def _within(functions: set[str], path: str, wanted: set[str] | None) -> set[str]:
    return functions & wanted if wanted is not None else {each for each in functions if each.startswith(f"{path}:")}


# -- scripts ---------------------------------------------------------------------------------------------------------


def _scripts_of(path: str) -> set[str]:
    """The names of the scripts that have this file in them."""
    stem = Path(path).stem
    return {name for name in names() if stem in load(name).includes} if "/include/" in path else {stem}


def _functions_of_script(path: str) -> set[str]:
    """The functions and methods that make the requests of these scripts."""
    scripts = _scripts_of(path)
    return {
        f"{folder}/{module.name}:{name}"
        for folder in _CALLS
        for module in (ROOT / folder).glob("*.py")
        for name, node in _functions_in(ast.parse(module.read_text("utf-8")))
        if scripts & {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
    }


def _functions_in(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, ast.FunctionDef))


# -- what the text of a test tells -----------------------------------------------------------------------------------


@cache
def _test_files() -> tuple[str, ...]:
    return tuple(sorted(each.relative_to(ROOT).as_posix() for each in (ROOT / "tests").rglob("test_*.py")))


def _words(path: str) -> list[str]:
    return re.findall(r"[a-z]{3,}", (ROOT / path).read_text("utf-8").lower())


@cache
def _imports(path: str) -> frozenset[str]:
    """The modules that a file imports, and those that ``from package import name`` may mean."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return frozenset(found)


@cache
def _beside(test: str) -> tuple[str, ...]:
    """The supporting modules that a test imports."""
    paths = [f"{module.replace('.', '/')}.py" for module in _imports(test) if module.startswith("tests.")]
    return tuple(path for path in paths if not Path(path).name.startswith("test_") and (ROOT / path).is_file())


@cache
def _weights(path: str) -> Mapping[str, float]:
    """The words of a file, each by how seldom tests have it. The squares add up to 1."""
    counts = Counter(_words(path))
    rarity, tests = _rarity(), len(_test_files())
    weights = {word: (1 + log(count)) * rarity.get(word, log(tests)) for word, count in counts.items()}
    length = hypot(*weights.values()) or 1.0
    return {word: weight / length for word, weight in weights.items()}


@cache
def _rarity() -> Mapping[str, float]:
    tests = _test_files()
    having = Counter(word for test in tests for word in set(_words(test)))
    return {word: log(len(tests) / count) for word, count in having.items()}


def _by_text(path: str) -> dict[str, float]:
    # A test may import either flavour.
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")}
    modules |= {each.replace("._async.", "._sync.") for each in modules}
    scripts = _scripts_of(path) if path.endswith(".lua") else set()
    own, stem = _weights(path), set(Path(path).stem.split("_"))
    scores = {}
    for test in _test_files():
        scores[test] = (
            _ALIKE * sum(weight * own.get(word, 0.0) for word, weight in _weights(test).items())
            + _IMPORTED * bool(modules & _imports(test))
            + _IMPORTED_BESIDE * any(modules & _imports(each) for each in _beside(test))
            + _NAMED * len(stem & set(Path(test).stem.split("_"))) / len(stem)
            + _IMPORTED * _speaks_of(test, scripts) / max(1, len(scripts))
        )
    return scores


def _speaks_of(test: str, scripts: set[str]) -> int:
    """How many of these scripts a test calls or loads."""
    if not scripts:
        return 0
    text = (ROOT / test).read_text("utf-8")
    return sum(bool(re.search(rf'calls\.{name}\(|load\("{name}"\)|\b{name}\.lua', text)) for name in scripts)


# -- the command -----------------------------------------------------------------------------------------------------


def _shown(path: str, most: int) -> Iterable[str]:
    found = where(path)[:most]
    yield f"{source_of(path)}: {'run these first' if found else 'no test file has to do with it'}"
    yield from (f"  {each.path}  ({each.why})" for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.where", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="files of redisson_dq/")
    parser.add_argument("--most", type=int, default=10, help="how many test files to show, 10 unless told")
    parser.add_argument(
        "--trace", nargs=argparse.REMAINDER, help="run the tests and note what they call; the rest is for pytest"
    )
    arguments = parser.parse_args()
    if arguments.trace is not None:
        command = [sys.executable, "-m", "pytest", "-p", "tests.where_trace", *arguments.trace]
        sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)
    if not arguments.files:
        parser.error("name a file, such as redisson_dq/scripts/transfer.lua")
    try:
        for path in arguments.files:
            print(*_shown(path, arguments.most), sep="\n")
    except FileNotFoundError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
