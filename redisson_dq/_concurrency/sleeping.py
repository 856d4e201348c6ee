"""How a thread or a task lets time pass, and lets others go first."""

from __future__ import annotations

import asyncio
import time

from redisson_dq._clock import now_us

__all__ = [
    "async_give_way",
    "async_sleep",
    "async_sleep_until",
    "async_stand_back",
    "give_way",
    "sleep",
    "sleep_until",
    "stand_back",
]

async_sleep = asyncio.sleep
sleep = time.sleep


async def async_give_way() -> None:
    """Lets the other tasks of the loop go on first."""
    await asyncio.sleep(0)


def give_way() -> None:
    """Lets a thread go on first that has just been woken. It would wait until this one waits for something."""
    time.sleep(0)


async def async_stand_back() -> None:
    """A loop reads one reply after the other, in any order of tasks."""


def stand_back() -> None:
    """Leaves the interpreter's lock to threads that are about to be woken.

    Otherwise they would wait until this one has read its own reply, and has worked on it.
    """
    time.sleep(_STAND_BACK)


# For so many seconds. An item that falls due meanwhile is moved that much later.
_STAND_BACK = 0.0003
# A selector rounds up to whole milliseconds, and a thread that sleeps wakes up 0.1 ms late. So a busy
# wait ends a sleep.
_SELECTOR_US = 1_300
_BUSY_US = 300


async def async_sleep_until(moment_us: int, *, busy: bool) -> None:
    """Returns at a moment of the monotonic clock. With ``busy`` it does not sleep at the end, and is exact to 0.02 ms.

    The loop goes on meanwhile.
    """
    while (left_us := moment_us - now_us()) > 0:
        if not busy:
            await asyncio.sleep(left_us / 1_000_000)
        else:
            await asyncio.sleep(max(0, left_us - _SELECTOR_US) / 1_000_000)


def sleep_until(moment_us: int, *, busy: bool) -> None:
    """Returns at a moment of the monotonic clock. With ``busy`` it does not sleep for the last 0.3 ms."""
    while (left_us := moment_us - now_us()) > 0:
        if not busy:
            time.sleep(left_us / 1_000_000)
        elif left_us > _BUSY_US:
            time.sleep((left_us - _BUSY_US) / 1_000_000)
