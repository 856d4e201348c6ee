"""Signals that end a worker of threads, also in the moments in which it begins to listen for them."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from redisson_dq._concurrency.stop_signals import signals


def test_a_signal_right_after_a_handler_was_set_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    real = signal.signal

    def followed_by_a_signal(number: int, handler: Any) -> Any:
        before = real(number, handler)
        if callable(handler) and handler is not signal.default_int_handler and number == signal.SIGTERM:
            signal.raise_signal(number)
        return before

    monkeypatch.setattr(signal, "signal", followed_by_a_signal)
    with signals(told.set):
        monkeypatch.undo()
        assert told.wait(5)
