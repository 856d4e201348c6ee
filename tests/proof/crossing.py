"""Judges histories a second time, by porcupine: another search, in Go, with another copy of the model."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.proof.history import read
from tests.proof.linear import order_of
from tests.proof.operations import happened

__all__ = ["by_porcupine", "by_us"]

_PROGRAM = Path(__file__).parent / "porcupine"


def by_porcupine(paths: Sequence[Path]) -> dict[Path, list[str]]:
    """Of each history the items for which porcupine finds no order. Needs Go."""
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "judge"
        subprocess.run(["go", "build", "-o", str(program), "."], cwd=_PROGRAM, check=True)
        said = subprocess.run([str(program), *map(str, paths)], check=True, capture_output=True, text=True).stdout
    told = [json.loads(line) for line in said.splitlines()]
    return {Path(each["file"]): sorted(each["wrong"] or []) for each in told}


def by_us(path: Path) -> list[str]:
    """The items for which our own search finds none."""
    found = happened(lambda: read(path))
    return sorted(
        item
        for items in found.queues.values()
        for item, operations in items.items()
        if not order_of(operations, by_clock=not found.is_set)[0]
    )
