"""A run of tests ends, and runs them all, also when its processes end in the middle of their files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment

CONFTEST = """
import pytest

from tests.by_file import ByFile

@pytest.hookimpl
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)
"""
PASS = "def test_{0}(): pass\n"
END = "def test_{0}(): __import__('os')._exit(1)\n"


def run(directory: Path, *files: str) -> str:
    (directory / "conftest.py").write_text(CONFTEST)
    for number, file in enumerate(files):
        (directory / f"test_{number}.py").write_text(file)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--no-loadscope-reorder", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "--rootdir", str(directory)],
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout.splitlines()[-1]


def file_of(*kinds: str) -> str:
    return "".join(kind.format(name) for name, kind in enumerate(kinds))


def test_the_last_file_is_cut_short(tmp_path: Path) -> None:
    assert "1 failed, 8 passed" in run(
        tmp_path, file_of(PASS, PASS, PASS), file_of(PASS, PASS), file_of(PASS, END, PASS, PASS)
    )


@pytest.mark.nightly
def test_every_kind_of_end(tmp_path: Path) -> None:
    files = file_of(END), file_of(END, PASS, END), file_of(PASS, PASS), file_of(END, END, PASS), file_of(PASS, END)
    assert "6 failed, 5 passed" in run(tmp_path, *files)
