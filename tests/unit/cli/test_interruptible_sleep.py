"""The sleep of a command that stays: a signal ends it, whenever it comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from redisson_dq.cli.frame import interruptible_sleep

#: Longer than any sleep here. A sleep that misses its signal runs into the time limit of the test.
LONG = 600.0


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """The signals whose handler has run."""
    numbers: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: numbers.append(number))
    try:
        yield numbers
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.timeout(60)
def test_a_signal_right_before_the_sleep_ends_it(handled: list[int]) -> None:
    """Its handler has run by then, or runs too late to keep a lock from sleeping."""
    with interruptible_sleep() as sleep:
        for _ in range(3):
            signal.raise_signal(signal.SIGUSR1)
            sleep(LONG)
            sleep(0.001)
    assert handled == [signal.SIGUSR1] * 3


@pytest.mark.timeout(60)
def test_a_signal_that_another_thread_gets_ends_it(handled: list[int]) -> None:
    with interruptible_sleep() as sleep:
        thread = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
        thread.start()
        sleep(LONG)
        thread.join()
    assert handled == [signal.SIGUSR1]


def test_outside_the_main_thread_it_only_sleeps() -> None:
    ended = threading.Event()

    def run() -> None:
        with interruptible_sleep() as sleep:
            sleep(0.001)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ended.is_set()


def test_afterwards_signals_are_as_before() -> None:
    with interruptible_sleep():
        pass
    assert signal.set_wakeup_fd(-1) == -1
