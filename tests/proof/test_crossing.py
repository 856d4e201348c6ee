"""Two searches and two copies of the model agree on the same histories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.proof.crossing import by_porcupine, by_us
from tests.proof.history import FORMAT
from tests.proof.making import Lines, right
from tests.proof.planting import PLANTS, planted


def _written(lines: Lines, path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in ({"format": FORMAT}, *lines)))
    return path


@pytest.mark.nightly
def test_porcupine_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [_written(right(seed, 150), tmp_path / f"right-{seed}.jsonl") for seed in range(50)]
    wrong = [
        _written(planted(kind, seed, 150), tmp_path / f"{kind}-{seed}.jsonl") for kind in PLANTS for seed in range(20)
    ]
    # Nothing is excused there, and the clock was never set.
    monkeypatch.setenv("REDISSON_DQ_HISTORIES", str(tmp_path / "recorded"))
    assert not run(FAULTS["kill-normal"], ["leases", "asyncioleases", "workers"], seed=1).all_findings
    recorded = list((tmp_path / "recorded").iterdir())
    assert len(recorded) == 1
    found = by_porcupine([*paths, *wrong, *recorded])
    for path in (*paths, *wrong, *recorded):
        assert found[path] == by_us(path), path
    assert all(not found[path] for path in (*paths, *recorded))
    # The order of two items is none of one item's steps.
    assert all(found[path] for path in wrong if not path.name.startswith("wrong order"))
