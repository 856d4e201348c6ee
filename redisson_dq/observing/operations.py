"""Operations on messages, and the functions that are called when one begins and when it ends.

A happening is reported when it is over. That is too late for a trace: an offer carries the trace on, and a handler runs
inside of it. So an interceptor is called before an operation begins::

    def interceptor(operation):
        began = time.monotonic()
        return lambda error: print(operation.name, operation.queue, time.monotonic() - began, error)

    observers.operations.append(interceptor)

Without an interceptor no operation is made: each place costs one ``if``.
"""

from __future__ import annotations

import logging
import threading
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Protocol

import attrs

from redisson_dq.errors import ClosedError, RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.tables import TableEnum

__all__ = [
    "Ended",
    "TracedLease",
    "Interceptor",
    "OperationKind",
    "Operation",
    "Operations",
    "Receipt",
    "Under",
    "may_be_of_a_signal",
]

logger = logging.getLogger("redisson_dq")


class OperationKind(TableEnum):
    """The kinds of operations, by the names that the conventions of OpenTelemetry have for them."""

    SEND = "send"
    RECEIVE = "receive"
    PROCESS = "process"
    SETTLE = "settle"


class TracedLease(Protocol):
    """The part of a lease that interceptors use."""

    #: A note of the interceptor about the handling, for the end of the lease.
    handling: Any

    @property
    def id(self) -> bytes: ...

    @property
    def name(self) -> str: ...

    @property
    def offer_id(self) -> str | None: ...

    @property
    def attempt(self) -> int: ...

    @property
    def context(self) -> Mapping[str, str]: ...


@attrs.define(kw_only=True, eq=False)
class Operation:
    """One operation on messages of a queue. Its facts may come while it goes on."""

    kind: OperationKind
    #: The call's name, such as ``"offer"``.
    name: str
    #: The queue's name as it was opened. A partition has a name of its own.
    queue: str
    #: How many messages, where the call is one for many, else None.
    count: int | None = None
    #: The ``id=`` of the offer, or the one that the offer made.
    id: str | None = None
    #: The name of the function that handles the messages.
    handler: str = ""
    #: The context of an offer. An interceptor may replace it.
    context: Mapping[str, str] | None = None
    #: Whether the messages have room for a context.
    carries: bool = False
    #: The leases of the messages. Values that were taken have none.
    leases: Sequence[TracedLease] = ()
    #: The outcome of the end of one lease.
    outcome: str | None = None
    #: Whether a lease had ended before, so that the call did nothing about it.
    finds_lost: bool = False
    #: Whether a worker does it, so that there is no caller.
    of_worker: bool = False
    #: Why it counts as failed although it raises nothing.
    error: BaseException | None = None


#: A function that is called once, with None or the error that the operation ended with.
Ended = Callable[["BaseException | None"], object]

#: A function that is called where an operation begins, in its thread or task. Without values a receipt has no end.
Interceptor = Callable[[Operation], Ended]


class Operations(list[Interceptor]):
    """The interceptors of one client. Their errors change nothing."""

    def __init__(self) -> None:
        super().__init__()
        # The interceptors that have failed. The first error of each is logged.
        self._failed: list[Interceptor] = []

    def around(self, kind: OperationKind, name: str, queue: str, **facts: Any) -> Under | nullcontext[None]:
        """A context manager around an operation. It yields the operation, or None without an interceptor."""
        return self.begin(kind, name, queue, **facts) if self else _NOTHING

    def begin(self, kind: OperationKind, name: str, queue: str, **facts: Any) -> Under:
        """Reports that an operation begins."""
        operation = Operation(kind=kind, name=name, queue=queue, **facts)
        ends: list[tuple[Interceptor, Ended]] = []
        for interceptor in tuple(self):
            try:
                ends.append((interceptor, interceptor(operation)))
            except BaseException as error:
                self._note(interceptor, error)
        return Under(self, operation, ends)

    def receiving(self, name: str, queue: str, **facts: Any) -> Receipt:
        """Reports that a receipt begins. Returns the context manager around it."""
        return Receipt(self.begin(OperationKind.RECEIVE, name, queue, **facts)) if self else _UNASKED

    def _note(self, interceptor: Interceptor, error: BaseException) -> None:
        if may_be_of_a_signal(error):
            raise error
        if interceptor not in self._failed:
            self._failed.append(interceptor)
            logger.error(
                "interceptor %r failed; it is still called, and its further errors are not logged",
                interceptor,
                exc_info=error,
            )


class Under:
    """An operation under way. As a context manager it ends with the block."""

    def __init__(self, operations: Operations, operation: Operation, ends: list[tuple[Interceptor, Ended]]) -> None:
        self._operations = operations
        self.operation = operation
        self._ends = ends

    def __enter__(self) -> Operation:
        return self.operation

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(error)

    def end_settling(self, result: Sequence[SettleOutcome] | BaseException) -> None:
        """Reports that leases were ended, or why they were not."""
        if isinstance(result, BaseException):
            self.end(result)
            return
        self.operation.finds_lost = SettleOutcome.LOST in result
        if len(result) == 1:
            self.operation.outcome = result[0].value
        self.end()

    def end(self, error: BaseException | None = None) -> None:
        """Reports that it has ended. The interceptor that was called last is notified first."""
        ends, self._ends = self._ends, []
        for interceptor, ended in reversed(ends):
            try:
                ended(self.operation.error or error)
            except BaseException as failure:
                self._operations._note(interceptor, failure)


class Receipt:
    """The receipt of values by one call: ``with operations.receiving(...) as receipt:`` around all of it.

    It ends when values came (:meth:`took`), and when an error of this library leaves the block. A receipt without
    values has no end. The end of its queue is no failure. Without an interceptor, one object serves every receipt.

    A caller that holds values by a lifeline has a ``try`` around the block, which lets go of them. So an interruption
    at the end of the block loses nothing.
    """

    def __init__(self, under: Under | None) -> None:
        self._under = under

    def __enter__(self) -> Receipt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.failed(error)

    def failed(self, error: BaseException | None) -> None:
        """This error leaves the block. For a call that has no such block, and no receipt without an interceptor."""
        if self._under is not None and isinstance(error, RedissonDQError) and not isinstance(error, ClosedError):
            self._under.end(error)

    def took(self, count: int, *, leases: Iterable[TracedLease] = (), queue: str | None = None) -> None:
        """This many values came. ``leases`` are theirs. ``queue`` gave them, where that is another one."""
        if self._under is None or not count:
            return
        operation = self._under.operation
        operation.leases = list(leases)
        if operation.count is not None:
            operation.count = count
        if queue is not None:
            operation.queue = queue
        self._under.end()


_NOTHING = nullcontext()
# The receipt without an interceptor.
_UNASKED = Receipt(None)


def may_be_of_a_signal(error: BaseException) -> bool:
    """Whether an error in a function of the user's may come from a signal, which is handled only in the main thread."""
    is_of_function = isinstance(error, (Exception, CancelledError))
    return not is_of_function and threading.current_thread() is threading.main_thread()
