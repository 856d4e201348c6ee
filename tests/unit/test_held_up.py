"""Waits with a timeout end, even if the machine suspends the process for longer at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import PATIENCE, environment
from tests.unit.test_style import SOURCES

# A wait that begins right after an event is one that can go wrong: before Python 3.13 a ``SimpleQueue`` then works out
# how much of the time is left, and waits forever when it is less than nothing.
_WAITS = {
    "inbox": """
        from redisson_dq.scheduling.clock import SYSTEM
        from redisson_dq._concurrency import Inbox
        inbox = Inbox(SYSTEM)
        for number in range(20_000):
            inbox.put(number)
            assert inbox.next(None) == number
            assert inbox.next(0.000_001) is None
    """,
    "timer": """
        import threading
        from redisson_dq.scheduling.clock import SYSTEM
        from redisson_dq.scheduling.timer import Timer
        timer = Timer(SYSTEM)
        fired = threading.Semaphore(0)
        for number in range(10_000):
            timer.arm("a", 1 + number % 30, fired.release)
            fired.acquire()
    """,
}


@pytest.mark.parametrize("what", _WAITS)
def test_every_short_wait_of_a_process_that_is_stopped_again_and_again_ends(what: str) -> None:
    program = [sys.executable, "-c", "if True:" + _WAITS[what]]
    deadline = time.monotonic() + PATIENCE
    with subprocess.Popen(program, env=environment()) as process:
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.000_02)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.000_1)
        is_over = process.poll() is not None
        process.kill()
    assert is_over, "a wait has not ended"
    assert process.returncode == os.EX_OK


def test_one_module_alone_waits_on_such_a_queue_with_a_time() -> None:
    found = [name for name, text in SOURCES.items() if ".get(timeout=" in text]
    assert found == ["_concurrency/waiting.py"]
