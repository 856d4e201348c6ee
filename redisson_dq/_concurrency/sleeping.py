"""How a thread or a task sleeps, and lets others run first."""

from __future__ import annotations

import asyncio
import time

__all__ = [
    "async_give_way",
    "async_stand_back",
    "give_way",
    "stand_back",
]


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


# For this many seconds. An item that falls due meanwhile is moved that much later.
_STAND_BACK = 0.0003
