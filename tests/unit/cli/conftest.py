"""Java classes for the tests of ``generate-classes``, compiled from the sources beside this file."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.peer import JAVAC, VERSIONS, build

SOURCES = Path(__file__).parent / "java"
#: What mypy knows of the library. The next run begins with it.
CACHE = Path(__file__).parents[3] / ".mypy_cache" / "of_generated_modules"


@pytest.fixture(scope="session")
def java_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the compiled classes: packages shop and depot, and Reflect."""
    target = tmp_path_factory.mktemp("java") / "classes"
    sources = sorted(map(str, SOURCES.rglob("*.java")))
    subprocess.run([*JAVAC, "-encoding", "UTF-8", "-nowarn", "-d", str(target), *sources], check=True)
    return target


@pytest.fixture(scope="session")
def acme_classes() -> Path:
    """The classes of ``interop/``, compiled: package com.acme among others."""
    return build(VERSIONS[0]) / "classes"


@pytest.fixture(scope="session")
def mypy_strict(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """mypy --strict without settings, as arguments of Python. One process of the run checks the library before that."""
    CACHE.mkdir(parents=True, exist_ok=True)
    mypy = ["-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", str(CACHE)]
    imports = tmp_path_factory.mktemp("mypy") / "imports.py"
    imports.write_text("import attrs\nimport pydantic\n\nfrom redisson_dq import java\n")
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([sys.executable, *mypy, str(imports)], env=environment(), check=True, capture_output=True)
    return mypy


@pytest.fixture(scope="session")
def acme_jar(acme_classes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Package com.acme as a jar."""
    path = tmp_path_factory.mktemp("jars") / "acme.jar"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for file in sorted((acme_classes / "com" / "acme").glob("*.class")):
            jar.write(file, file.relative_to(acme_classes))
    return path
