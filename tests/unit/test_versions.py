"""The versions in ``tests/versions.py`` are those that the project declares, tests and shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.vector_files import FOLDER, KINDS
from tests.versions import CLIENTS, LIBRARIES, NEWEST, OLDEST, PYTHONS, REDISSONS

ROOT = Path(__file__).resolve().parents[2]


def _text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def _number(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def test_the_newest_is_first() -> None:
    assert sorted(REDISSONS, key=_number, reverse=True) == [*REDISSONS]
    assert sorted(PYTHONS, key=_number) == [*PYTHONS]


def test_the_package_declares_them() -> None:
    project = _text("pyproject.toml")
    assert re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project) == [*PYTHONS]
    assert f'requires-python = ">={PYTHONS[0]}"' in project
    assert f'"redis[hiredis]>={CLIENTS[0].removeprefix("==").removesuffix(".0")}' in project


def test_each_push_runs_each_python() -> None:
    found = re.search(r"python: \[(.*)\]", _text(".github/workflows/tests.yml"))
    assert found
    assert re.findall(r"[\d.]+", found[1]) == [*PYTHONS]


def test_each_redisson_has_its_vectors_and_no_other_has() -> None:
    names = {f"{kind}-{version}.jsonl" for kind, versions in KINDS.items() for version in versions}
    assert {path.name for path in FOLDER.glob("*.jsonl")} == {*names, f"kotlin-{NEWEST}.jsonl", "kotlin-classes.jsonl"}


@pytest.mark.parametrize(
    "path",
    ["docs/sharing-with-redisson.md", "docs/tutorials/spring-boot-and-fastapi.md", "examples/shop/java/pom.xml"],
)
def test_what_users_copy_has_the_newest_redisson(path: str) -> None:
    assert re.findall(r"<artifactId>redisson</artifactId>\s*<version>(.*?)</version>", _text(path)) == [NEWEST]


@pytest.mark.parametrize("path", ["docs/kotlin.md", "docs/redisson-methods.md", "interop/README.md", "CONTRIBUTING.md"])
def test_the_pages_name_no_redisson_that_is_not_proven(path: str) -> None:
    named = set(re.findall(r"(?:Redisson |-|-k |target/)([34]\.\d+\.\d+)\b", _text(path)))
    assert named <= {*REDISSONS, "3.21.0", "3.21.1", "3.23.4"}
    assert NEWEST in named


def test_the_peer_takes_each_library_from_here() -> None:
    pom = _text("interop/pom.xml")
    taken = set(re.findall(r"\$\{library\.(\w+)\.(?:version|group)\}", pom))
    assert taken == {library for libraries in LIBRARIES.values() for library in libraries}
    assert not re.search(r"<version>4\.\d|<version>3\.[25]0", pom)
    assert OLDEST not in pom
