"""What mypy and pyright make of the public calls: the types tests/typing/api.py says, and the errors it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
API = ROOT / "tests" / "typing" / "api.py"

# Where a type comes from is not what the comments are about.
_MODULE = re.compile(r"\b(?:\w+\.)+(?=\w)")


def expected(mark: str) -> dict[int, str]:
    """Line number -> what its comment says behind the mark."""
    lines = API.read_text("utf-8").splitlines()
    found = ((number, re.search(mark, line)) for number, line in enumerate(lines, 1))
    return {number: match[1] for number, match in found if match}


REVEALED = expected(r"reveal_type\(.*\)  # (.+)$")
WRONG = expected(r"# wrong: (.+)$")


def plain(type_name: str) -> str:
    return _MODULE.sub("", type_name).rstrip("?")


def test_the_file_says_enough() -> None:
    assert len(REVEALED) > 55
    assert len(WRONG) == 40


def test_mypy_says_the_same() -> None:
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--show-error-codes", "--no-pretty", str(API)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    said = [re.match(r"tests/typing/api\.py:(\d+): (\w+): (.*)$", line) for line in run.stdout.splitlines()]
    lines = [(int(match[1]), match[2], match[3]) for match in said if match]
    revealed = {
        number: plain(text.removeprefix('Revealed type is "').removesuffix('"'))
        for number, kind, text in lines
        if kind == "note" and text.startswith("Revealed type")
    }
    assert revealed == REVEALED
    codes = {number: re.search(r"\[([\w-]+)\]$", text) for number, kind, text in lines if kind == "error"}
    kinds = {"arg-type": "argument", "call-overload": "overload", "attr-defined": "attribute", "call-arg": "name"}
    assert {number: kinds[code[1]] for number, code in codes.items() if code} == WRONG, run.stdout


def test_the_typed_queue_of_the_readme_passes_mypy(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    [typed] = [block for block in blocks if "type=" in block]
    example = tmp_path / "example.py"
    example.write_text(typed + "    reveal_type(reminders.take())\n    reminders.offer('text')\n", "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-pretty", str(example)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    said = [line.partition(": ")[2] for line in run.stdout.splitlines()]
    revealed, wrong = said
    assert revealed == 'note: Revealed type is "example.Reminder"'
    assert wrong == (
        'error: Argument 1 to "offer" of "ReadyQueue" has incompatible type "str"; expected "Reminder"  [arg-type]'
    )


def pyright(*paths: str) -> list[dict[str, Any]]:
    """All that it says of these files."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", *paths]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    found: list[dict[str, Any]] = json.loads(run.stdout)["generalDiagnostics"]
    return found


@pytest.mark.nightly
def test_pyright_has_nothing_against_the_library() -> None:
    assert pyright("redisson_dq") == []


@pytest.mark.nightly
def test_pyright_says_the_same() -> None:
    found = pyright(str(API))
    here = [one for one in found if Path(one["file"]) == API]
    revealed = {
        one["range"]["start"]["line"] + 1: plain(re.findall(r'is "(.*)"', one["message"])[0])
        for one in here
        if one["severity"] == "information"
    }
    assert revealed == REVEALED
    # Where no overload fits, Pyright names the argument of the one that fits best, or the call.
    kinds = {
        "reportArgumentType": {"argument", "overload"},
        "reportCallIssue": {"overload", "name"},
        "reportAttributeAccessIssue": {"attribute"},
    }
    errors = {one["range"]["start"]["line"] + 1: kinds[one["rule"]] for one in here if one["severity"] == "error"}
    assert errors.keys() == WRONG.keys()
    assert [line for line, kind in WRONG.items() if kind not in errors[line]] == []
    assert [one for one in found if one not in here] == []
