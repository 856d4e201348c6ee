"""Which tests to run first after a change of a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.mutations import MUTATIONS, ROOT
from tests.where import main, noted_in, source_of, where

# It reads all tests, and only helps their authors.
pytestmark = pytest.mark.nightly

_ENGINE = "redisson_dq/scheduling/engine.py"
_DRIVER = "redisson_dq/_async/moving/transfer_driver.py"
_TRANSFER = "redisson_dq/scripts/transfer.lua"
_ONE_MOVER = "tests/integration/moving/test_one_mover.py"


def first(path: str, notes: Path, count: int = 10) -> list[str]:
    return [found.path for found in where(path, notes)[:count]]


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        (_ENGINE, {"tests/unit/test_engine.py", "tests/unit/test_transfer_driver.py"}),
        ("redisson_dq/_async/moving/probe.py", {"tests/unit/test_transfer_driver.py"}),
        ("redisson_dq/_async/queues/delayed.py", {"tests/integration/partitions/test_partitioned_delayed.py"}),
        ("redisson_dq/java/locales.py", {"tests/unit/codecs/test_codec_json3.py"}),
        ("redisson_dq/cli/partitions.py", {"tests/unit/cli/test_partitions_command.py"}),
        (_TRANSFER, {"tests/integration/moving/test_passes.py", _ONE_MOVER, "tests/unit/test_scripts.py"}),
        ("redisson_dq/scripts/include/mover.lua", {_ONE_MOVER}),
    ],
)
def test_without_notes_the_texts_tell(path: str, tests: set[str], tmp_path: Path) -> None:
    assert tests <= set(first(path, tmp_path))


def test_a_test_that_a_mutation_names_comes_first(tmp_path: Path) -> None:
    for path in sorted({mutation.path for mutation in MUTATIONS}):
        named = {mutation.test.partition("::")[0] for mutation in MUTATIONS if mutation.path == path}
        assert set(first(path, tmp_path, len(named))) == named


def test_what_was_traced_counts_before_the_texts(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.where",
        "--trace",
        "-n",
        "1",
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
    ]
    tests = ["tests/unit/test_pace.py", "tests/unit/test_transfer_driver.py"]
    told = {**environment(), "REDISSON_DQ_WHERE": str(tmp_path)}
    subprocess.run([*command, "-k", "slow or confirmed", *tests], cwd=ROOT, env=told, check=True, capture_output=True)
    noted = noted_in(tmp_path)
    assert set(noted) == set(tests)
    # Each test file has notes of its own, and threads count.
    assert "redisson_dq/scheduling/pace.py:Pace.took" in noted[tests[0]]
    assert not any(function.startswith(_DRIVER) for function in noted[tests[0]])
    assert any(function.startswith(_DRIVER) for function in noted[tests[1]])
    assert not any("/_sync/" in function for function in noted[tests[1]])
    [driver] = [found for found in where(_DRIVER, tmp_path) if found.path == tests[1]]
    assert "of its functions" in driver.why
    assert tests[0] not in [found.path for found in where(_DRIVER, tmp_path)]


def test_a_test_about_the_file_comes_before_one_that_calls_everything(tmp_path: Path) -> None:
    about, broad = "tests/unit/test_timer.py", "tests/unit/worker/test_starter.py"
    functions = [f"{_ENGINE}:Engine.{name}" for name in ("fired", "close")]
    (tmp_path / "a.json").write_text(json.dumps({"test": about, "functions": functions}))
    others = [f"redisson_dq/items.py:f{number}" for number in range(100)]
    (tmp_path / "b.json").write_text(json.dumps({"test": broad, "functions": functions + others}))
    shown = first(_ENGINE, tmp_path, 1000)
    assert shown.index(about) < shown.index(broad)


@pytest.mark.parametrize("path", [_TRANSFER, "redisson_dq/scripts/include/mover.lua"])
def test_a_script_is_called_where_its_request_is_made(path: str, tmp_path: Path) -> None:
    calls = "redisson_dq/wire/calls/moving.py"
    for number, (test, function) in enumerate(
        [(_ONE_MOVER, "transfer"), ("tests/integration/queues/test_lean.py", "tidy")]
    ):
        (tmp_path / f"{number}.json").write_text(json.dumps({"test": test, "functions": [f"{calls}:{function}"]}))
    found = {each.path: each.why for each in where(path, tmp_path)}
    assert "calls 1 of its functions" in found[_ONE_MOVER]
    assert "tests/integration/queues/test_lean.py" not in found


def test_a_generated_file_stands_for_its_source(tmp_path: Path) -> None:
    assert source_of(str(ROOT / "redisson_dq/_sync/runtime.py")) == "redisson_dq/_async/runtime.py"
    assert where("redisson_dq/_sync/runtime.py", tmp_path) == where("redisson_dq/_async/runtime.py", tmp_path)


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["where", *arguments])
        main()
        return capsys.readouterr()

    lines = run(_ENGINE, _TRANSFER, "--most", "3")[0].splitlines()
    assert lines[0] == f"{_ENGINE}: run these first"
    assert lines[1].startswith("  tests/unit/test_engine.py  (")
    assert lines[4] == f"{_TRANSFER}: run these first"
    assert len(lines) == 8
    for words, told in (
        (["redisson_dq/nothing.py"], "redisson_dq/nothing.py is no file of this project"),
        ([], "name a file"),
    ):
        with pytest.raises(SystemExit) as ended:
            run(*words)
        out, error = capsys.readouterr()
        assert (ended.value.code, out, told in error) == (2, "", True)
