"""The supervisor's return of what dead processes held."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from redisson_dq.cli.worker.recovery import Recovery
from tests.conftest import PATIENCE


@pytest.mark.parametrize("answers", [False, True])
def test_an_end_before_redis_answers_says_that_values_are_left(caplog: pytest.LogCaptureFixture, answers: bool) -> None:
    began, answer = threading.Event(), threading.Event()

    def asked(owner: bytes, queues: Sequence[str]) -> int:
        began.set()
        assert answer.wait(PATIENCE)
        return 0

    worker: Any = SimpleNamespace(_return_leases=asked)
    recovery = Recovery(worker)
    recovery.hand_back(b"1234", ("orders",))
    assert began.wait(PATIENCE)
    if answers:
        answer.set()
    recovery.close(PATIENCE if answers else 0.01)
    answer.set()
    assert ("values of dead processes return at their deadline: 1" in caplog.text) is not answers
