"""Judges histories a second time, by porcupine: another search, in Go, with another copy of the model."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.proof.history import FORMAT, read
from tests.proof.linear import order_of
from tests.proof.making import Lines, right
from tests.proof.making_bounds import BOUNDS
from tests.proof.operations import happened
from tests.proof.planting import PLANTS, planted

__all__ = ["crossed"]

_PROGRAM = Path(__file__).parent / "porcupine"


def crossed(folder: Path, seed: int) -> tuple[int, list[str]]:
    """The number of histories that both have judged, right and wrong ones and a load, and their disagreements."""
    numbers = range(seed, seed + 50)
    fine = [_written(right(number, 150), folder / f"right-{number}.jsonl") for number in numbers]
    wrong = [
        _written(planted(kind, number, 150), folder / f"{kind}-{number}.jsonl")
        for kind in PLANTS
        for number in numbers[:20]
    ]
    fine.append(_recorded(folder / "recorded", seed))
    found = by_porcupine([*fine, *wrong])
    said = [f"{path.name}: not the same" for path in (*fine, *wrong) if found[path] != by_us(path)]
    said += [f"{path.name}: refused" for path in fine if found[path]]
    # The order of two items, and how many there are, is none of one item's steps.
    named = [path for path in wrong if not path.name.startswith(("wrong order", *BOUNDS))]
    return len(found), said + [f"{path.name}: not found" for path in named if not found[path]]


def _recorded(folder: Path, seed: int) -> Path:
    """The history of a load in which nothing is excused and the clock was never set."""
    os.environ["REDISSON_DQ_HISTORIES"] = str(folder)
    try:
        result = run(FAULTS["kill-normal"], ["leases", "asyncioleases", "workers"], seed=seed)
    finally:
        del os.environ["REDISSON_DQ_HISTORIES"]
    assert not result.all_findings, result.all_findings
    (path,) = folder.iterdir()
    return path


def _written(lines: Lines, path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in ({"format": FORMAT}, *lines)))
    return path


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
