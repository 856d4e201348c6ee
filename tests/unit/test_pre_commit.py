"""The hooks before a commit pass, with the files named one by one as pre-commit names them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_a_hook_has_nothing_against_the_tree(hook: dict[str, Any]) -> None:
    program, *arguments = hook["entry"].split()
    assert program.startswith(".venv/bin/")
    command = [str(Path(sys.executable).parent / Path(program).name), *arguments]
    if hook.get("pass_filenames", True):
        command += [str(path) for folder in ("redisson_dq", "tests", "docs") for path in (ROOT / folder).rglob("*.py")]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
