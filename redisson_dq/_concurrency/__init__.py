"""Everything that is not the same in the asyncio and the threaded flavour, written by hand side by side.

``_async/`` is written by hand and ``_sync/`` is generated from it by renaming: ``AsyncThing`` becomes ``Thing``,
``await`` is removed. A pair here has the same methods with the same meaning, so the code above it reads the same.

``handler_pools``, ``layers`` and ``stop_signals`` have the pairs that only a worker needs. They are imported by
themselves.
"""

from redisson_dq._concurrency.calling import (
    AsyncCallback,
    AsyncHome,
    Callback,
    Home,
    async_call,
    async_check_callback,
    call,
    check_callback,
)
from redisson_dq._concurrency.guards import AsyncMutex, AsyncSemaphore, AsyncSendLock, Mutex, Semaphore, SendLock
from redisson_dq._concurrency.tasks import (
    AsyncBackgroundTask,
    AsyncCancelled,
    AsyncFailure,
    AsyncWork,
    BackgroundTask,
    Cancelled,
    Failure,
    Work,
    async_finish,
    async_finish_or_undo,
    async_here,
    finish,
    finish_or_undo,
    here,
)
from redisson_dq._concurrency.waiting import (
    AsyncInbox,
    AsyncPromise,
    AsyncSwitch,
    Inbox,
    Promise,
    Switch,
    async_give_way,
    async_stand_back,
    give_way,
    stand_back,
)

__all__ = [
    "AsyncBackgroundTask",
    "AsyncCallback",
    "AsyncCancelled",
    "AsyncFailure",
    "AsyncHome",
    "AsyncInbox",
    "AsyncMutex",
    "AsyncPromise",
    "AsyncSemaphore",
    "AsyncSendLock",
    "AsyncSwitch",
    "AsyncWork",
    "BackgroundTask",
    "Callback",
    "Cancelled",
    "Failure",
    "Home",
    "Inbox",
    "Mutex",
    "Promise",
    "Semaphore",
    "SendLock",
    "Switch",
    "Work",
    "async_call",
    "async_check_callback",
    "async_finish",
    "async_finish_or_undo",
    "async_give_way",
    "async_here",
    "async_stand_back",
    "call",
    "check_callback",
    "finish",
    "finish_or_undo",
    "give_way",
    "here",
    "stand_back",
]
