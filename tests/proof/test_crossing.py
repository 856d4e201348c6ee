"""Two searches and two copies of the model agree on the same histories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proof.crossing import crossed


@pytest.mark.nightly
def test_porcupine_finds_the_same(tmp_path: Path) -> None:
    count, differ = crossed(tmp_path, seed=0)
    assert count == 371
    assert not differ
