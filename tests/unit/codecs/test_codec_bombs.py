"""A few compressed bytes take no more memory than was allowed, whatever small elements they become."""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64encode
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.unit.codecs.bombs import CODECS, ELEMENTS, LIMIT, SHAPES, bomb

# Estimates are not exact: of short texts, say. Python itself keeps some memory.
_TIMES_OVER, _SPARE = 3, 1_500_000


def grown(path: Path, bombs: list[tuple[str, str, str]]) -> dict[str, int]:
    """By how many bytes a process grows that reads these."""
    rows = [(*each, b64encode(data).decode()) for each in bombs if (data := bomb(*each)) is not None]
    assert rows
    path.write_text(json.dumps(rows), "utf-8")
    command = [sys.executable, "-m", "tests.unit.codecs.bombs", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * PATIENCE)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(rows)
    return {"/".join(names): count for *names, count in told}


def test_small_elements_take_no_more_than_allowed(tmp_path: Path) -> None:
    found = grown(tmp_path / "bombs", [(codec, element, "list") for codec in CODECS for element in ("sets", "lists")])
    assert len(found) > 30
    assert {each: count for each, count in found.items() if count > _TIMES_OVER * LIMIT + _SPARE} == {}


@pytest.mark.nightly
@pytest.mark.parametrize("codec", CODECS)
def test_no_small_element_of_any_codec_takes_more_than_allowed(tmp_path: Path, codec: str) -> None:
    found = grown(tmp_path / "bombs", list(product([codec], ELEMENTS, SHAPES)))
    assert {each: count for each, count in found.items() if count > _TIMES_OVER * LIMIT + _SPARE} == {}
