"""A run of tests ends, and runs them all, also when its processes end in the middle of their files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.by_file import next_file
from tests.conftest import environment

PASS = "def test_{0}(): pass\n"
END = "def test_{0}(): __import__('os')._exit(1)\n"
FAIL = "def test_{0}(): print('said'); assert False\n"
SHARED = """
import pytest

@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    yield tmp_path_factory.mktemp("shared")
    assert not {0}, "the shared one cannot end"
"""
USE = "def test_{0}(shared, tmp_path): assert shared.is_dir() and tmp_path.is_dir()\n"


def run(directory: Path, *files: str, status: int = 1, options: tuple[str, ...] = ()) -> str:
    for number, file in enumerate(files):
        (directory / f"part_{number % 3}").mkdir(exist_ok=True)
        (directory / f"part_{number % 3}" / f"test_{number}.py").write_text(file)
    command = [sys.executable, "-m", "pytest", "-p", "tests.by_file", "--processes", "2"]
    command += ["-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "--rootdir", str(directory), *options],
        cwd=directory,
        env={**environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout


def file_of(*kinds: str) -> str:
    return "".join(kind.format(name) for name, kind in enumerate(kinds))


def test_the_last_file_is_cut_short(tmp_path: Path) -> None:
    told = run(tmp_path, file_of(PASS, PASS, PASS), file_of(PASS, PASS), file_of(PASS, END, PASS, PASS))
    assert "1 failed, 8 passed" in told.splitlines()[-1]


def test_a_failure_is_shown_with_what_it_said(tmp_path: Path) -> None:
    told = run(tmp_path, file_of(FAIL, PASS), file_of(PASS))
    assert "1 failed, 2 passed" in told.splitlines()[-1]
    assert told.count("Captured stdout call") == 1
    assert "\nsaid\n" in told


@pytest.mark.parametrize("breaks", [False, True])
def test_what_a_process_shares_lasts_until_its_last_file(tmp_path: Path, breaks: bool) -> None:
    (tmp_path / "conftest.py").write_text(SHARED.format(breaks))
    told = run(tmp_path, file_of(USE, USE), file_of(USE), file_of(PASS), file_of(USE), status=int(breaks))
    assert "5 passed" in told.splitlines()[-1]
    assert ("the shared one cannot end" in told) == breaks


def test_what_cannot_be_collected_stops_the_run(tmp_path: Path) -> None:
    assert "1 error during collection" in run(tmp_path, file_of(PASS), "import nothing_of_this_name", status=2)


def test_files_that_need_a_jvm_go_to_two_processes_while_there_are_others() -> None:
    files = {f"tests/{folder}/test_{number}.py": [0] for number in range(3) for folder in ("unit", "interop", "web")}
    taken: list[list[str]] = [[] for _ in range(5)]
    for process in (4, 0, 2, 3, 1, 4, 4, 2, 4):
        file = next_file(files, process, 5)
        del files[file]
        taken[process].append(file.split("/")[1])
    assert taken == [["interop"], ["interop"], ["web"] * 2, ["web"], ["unit"] * 3 + ["interop"]]


@pytest.mark.nightly
def test_every_kind_of_end(tmp_path: Path) -> None:
    files = file_of(END), file_of(END, PASS, END), file_of(PASS, PASS), file_of(END, END, PASS), file_of(PASS, END)
    assert "6 failed, 5 passed" in run(tmp_path, *files).splitlines()[-1]
