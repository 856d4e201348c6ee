"""A run of tests ends, and runs them all, also when its processes end in the middle of their files."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import pytest

from tests.by_file import ByFile
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


class Process:
    """A process of a run, as the distribution knows it."""

    def __init__(self) -> None:
        self.sent: list[int] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.sent += numbers


def test_files_that_need_a_jvm_go_to_two_processes_while_there_are_others() -> None:
    files = [f"tests/{folder}/test_{number}.py" for number in range(3) for folder in ("unit", "interop", "web")]
    by_file, processes = ByFile.__new__(ByFile), [Process() for _ in range(5)]
    by_file.assigned_work = {process: {} for process in processes}
    by_file.registered_collections = dict.fromkeys(processes, files)
    by_file.workqueue = OrderedDict((file, {file: False}) for file in files)
    for number in (4, 0, 2, 3, 1, 4, 4, 2, 4):
        by_file._assign_work_unit(processes[number])
    folders = [[files[number].split("/")[1] for number in process.sent] for process in processes]
    assert folders == [["interop"], ["interop"], ["web"] * 2, ["web"], ["unit"] * 3 + ["interop"]]


@pytest.mark.nightly
def test_every_kind_of_end(tmp_path: Path) -> None:
    files = file_of(END), file_of(END, PASS, END), file_of(PASS, PASS), file_of(END, END, PASS), file_of(PASS, END)
    assert "6 failed, 5 passed" in run(tmp_path, *files)
