"""Guards between callers: a mutex for fields, permits, and a lock for sending."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable

__all__ = ["AsyncMutex", "AsyncSemaphore", "AsyncSendLock", "Mutex", "Semaphore", "SendLock"]

#: Guards fields for a few lines that neither block nor await. One event loop needs no guard. A signal handler that
#: closes the client may find its own thread inside.
AsyncMutex = contextlib.nullcontext
# ``threading.RLock`` is a function in Python around this class.
Mutex = type(threading.RLock())

#: Lets so many callers in at once. The others wait until one leaves.
AsyncSemaphore = asyncio.Semaphore


class Semaphore:
    """So many may be inside at a time.

    Going in and going out is one call of C code each. So a signal handler that raises leaves no lock held and no permit
    lost. ``threading.Semaphore`` is Python code, and may be left locked for ever.
    """

    def __init__(self, count: int) -> None:
        self._permits: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(count):
            self._permits.put(None)

    def locked(self) -> bool:
        """Whether the next caller has to wait."""
        return self._permits.empty()

    @property
    def __enter__(self) -> Callable[[], None]:
        return self._permits.get

    def __exit__(self, *_: object) -> None:
        self._permits.put(None)


#: Held while bytes are written to a connection that several callers share.
AsyncSendLock = asyncio.Lock
SendLock = threading.Lock
