"""The source distribution has what its scripts need."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The files in these folders are in the repository, except for leftovers of tools.
FOLDERS = (".ci", "docs", "examples", "interop/src", "packaging", "redisson_dq", "tests")
LEFT_BEHIND = {"__pycache__", ".pytest_cache", ".ruff_cache", "target", "build"}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        # Before Python 3.11.4 extractall() has no filter=.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(folder)
    (tree,) = (path for path in folder.iterdir() if path.is_dir())
    return tree


def test_nothing_of_the_repository_is_missing(unpacked: Path) -> None:
    def files(root: Path) -> set[str]:
        found = (path.relative_to(root) for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file())
        return {str(path) for path in found if not LEFT_BEHIND & set(path.parts)}

    assert files(unpacked) == files(ROOT)
    pages = [path.name for path in ROOT.glob("*.md")]
    assert len(pages) == 4
    for name in (*pages, "LICENSE", "Makefile", "pyproject.toml", "interop/pom.xml"):
        assert (unpacked / name).is_file(), name


@pytest.mark.parametrize("script", ["docs/demo.sh", "tests/run.sh", ".ci/run"])
def test_a_script_begins_in_the_unpacked_tree(unpacked: Path, tmp_path: Path, script: str) -> None:
    """As far as it goes without downloads: to the virtual environment, for which it is given no Python."""
    environment = {**os.environ, "PYTHON": "no-python", "REDISSON_DQ_VENV": str(tmp_path / "venv")}
    done = subprocess.run(["bash", script], cwd=unpacked, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: PYTHON=no-python is no Python 3.10 or newer\n"


def test_the_generator_of_the_threaded_code_runs_in_the_unpacked_tree(unpacked: Path) -> None:
    command = [sys.executable, ".ci/unasync.py", "--check"]
    subprocess.run(command, cwd=unpacked, check=True, capture_output=True, text=True)
