"""What holds for the tests of single parts."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def even_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are as long as their tables say, without the part that is left to chance."""
    monkeypatch.setattr("redisson_dq.scheduling.pauses.JITTER", 0.0)
