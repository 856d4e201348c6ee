"""Guards between callers: a mutex for fields, permits, and a lock for sending."""

from __future__ import annotations

import asyncio
import queue
import threading

__all__ = ["AsyncMutex", "AsyncSemaphore", "AsyncSendLock", "Mutex", "Semaphore", "SendLock"]

#: Guards fields for a few lines that neither block nor await. A signal handler that closes the client may find its own
#: thread inside. ``threading.RLock`` is a function in Python around this class.
Mutex = type(threading.RLock())
# One event loop needs no guard, and a context manager in Python that does nothing takes longer than this one.
AsyncMutex = Mutex

#: Lets this many callers in at once. The others wait until one leaves.
AsyncSemaphore = asyncio.Semaphore


class Semaphore(queue.SimpleQueue[object]):
    """How many may be inside at a time. A queue of permits.

    Going in and going out is one call of C code each. So a signal handler that raises leaves no lock held and no permit
    lost. ``threading.Semaphore`` is Python code, and may be left locked for ever.
    """

    def __init__(self, count: int) -> None:
        for _ in range(count):
            self.put(None)

    __enter__ = queue.SimpleQueue.get
    #: A permit is any object: here the type of the error that ends the block. A queue of this kind is never full, so
    #: it takes no notice of the two other arguments.
    __exit__ = queue.SimpleQueue.put
    #: Whether the next caller has to wait.
    locked = queue.SimpleQueue.empty


#: Held while bytes are written to a connection that several callers share.
AsyncSendLock = asyncio.Lock
SendLock = threading.Lock
