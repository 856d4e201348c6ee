"""Handles of both flavours that write their calls into a history.

``Recorded(handle, history, "orders")`` has the calls of the handle. Those that the format knows are noted before they
are sent and when they have ended. What they return is recorded too: a delivery with its ``ack``, an item with its
``cancel``. A call of asyncio is noted when it is made, and again when it was awaited.
"""

from __future__ import annotations

import inspect
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from redisson_dq.errors import RedissonDQError
from tests.proof.history import Call, History

__all__ = ["Recorded", "ended", "epoch_ms"]

# What is asked, by the method's name.
_TAKES = {"take", "poll", "drain_to"}
_SETTLES = {"ack": "ack", "nack": "nack", "reject": "reject", "extend": "extend"}
_SETTLE_MANY = {f"{f}_all": f for f in _SETTLES}
_RECORDED = {
    *_TAKES,
    *_SETTLES,
    *_SETTLE_MANY,
    *("offer", "offer_all", "offer_recurring", "receive", "cancel", "reschedule", "redrive"),
}
# A lease is renewed when at most this share of its time is left: two thirds, and a twelfth if another one is due.
_RENEWED = 3 / 4
_tasks = itertools.count(1)


class Recorded:
    """A queue, a delayed queue, a delivery or an item whose calls are written down."""

    def __init__(self, inner: Any, history: History, queue: str, *, asyncio: bool = False) -> None:
        self._inner, self._history, self._queue, self._asyncio = inner, history, queue, asyncio
        # Of a renewed delivery: the deadline that was written last, and the last one whose renewal had no answer.
        self._noted: int | None = None
        self._unanswered: int | None = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name == "inner":
            return Recorded(found, self._history, self._queue, asyncio=True)
        if name == "partitions":
            return [Recorded(each, self._history, self._queue, asyncio=self._asyncio) for each in found]
        return _Recording(self, name, found) if name in _RECORDED and callable(found) else found

    def bridged(self, bridge: Callable[[Any], Any]) -> Recorded:
        """What asyncio returned, for callers outside its loop."""
        return Recorded(bridge(self._inner), self._history, self._queue)

    @property
    def name_and_lease(self) -> list[str]:
        return [self._inner.value, self._inner.id]

    def renewed(self) -> None:
        """Records the deadline that background renewals have set."""
        # The time that is left is read first: the next renewal may end between the two.
        remaining = self._inner.remaining.total_seconds()
        deadline = epoch_ms(self._inner.deadline)
        if self._noted is not None and deadline != self._noted:
            call = self._history.invoke("renewal", "extend", self._queue, [self.name_and_lease], at=self._since)
            call.ok([["extended", deadline]])
            self._noted = deadline
        if self._noted is None or self._unanswered == deadline:
            return
        if remaining <= _RENEWED * self._visible:
            # The replies to its renewals were lost, if it was renewed.
            asked, delay = [self.name_and_lease], 1000 * self._visible
            call = self._history.invoke("renewal", "extend", self._queue, asked, at=self._since, delay=delay)
            call.info("overdue")
            self._unanswered = deadline

    def received(self, *, renew: bool) -> list[Any]:
        """Its row in the answer of a receive."""
        deadline, received = epoch_ms(self._inner.deadline), epoch_ms(self._inner.received)
        if renew:
            self._noted, self._since, self._visible = deadline, time.monotonic_ns(), (deadline - received) / 1000
        return [*self.name_and_lease, received, deadline]


class _Recording:
    """One method of a recorded handle."""

    def __init__(self, handle: Recorded, name: str, method: Callable[..., Any]) -> None:
        self._handle, self._name, self._method = handle, name, method

    def __call__(self, *args: Any, **options: Any) -> Any:
        handle, name = self._handle, self._name
        f = "take" if name in _TAKES else _SETTLE_MANY.get(name, name.partition("_")[0])
        asked, more = self._asked(f, args, options)
        process = f"{handle._queue}/task-{next(_tasks)}" if handle._asyncio else threading.current_thread().name
        call = handle._history.invoke(process, f, handle._queue, asked, **more)
        plain = [_plain(each) for each in args]
        try:
            result = self._method(*plain, **options)
            if inspect.isawaitable(result):
                return self._awaited(call, f, asked, options, result)
        except BaseException as error:
            ended(call, error, single=name != "offer_all")
            raise
        return self._told(call, f, asked, options, result)

    async def _awaited(self, call: Call, f: str, asked: Any, options: dict[str, Any], result: Any) -> Any:
        try:
            found = await result
        except BaseException as error:
            ended(call, error)
            raise
        return self._told(call, f, asked, options, found)

    def _asked(self, f: str, args: Sequence[Any], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        inner = self._handle._inner
        if self._name == "offer":
            return [[args[0], 1000 * _seconds(options.get("delay", 0))]], {"named": "id" in options}
        if self._name == "offer_all":
            return [[value, 1000 * _seconds(delay)] for value, delay in args[0]], {}
        if self._name == "offer_recurring":
            return [[args[1], 0]], {"named": True, "due": epoch_ms(options["start"])}
        if f in ("take", "receive"):
            return args[0] if args else 1, {"renew": True} if options.get("renew") else {}
        if f in ("cancel", "reschedule"):
            by_id = bool(args) and isinstance(args[0], str)
            delay = options.get("delay", args[by_id] if len(args) > by_id else 0)
            return [args[0] if by_id else inner.value], {"delay": 1000 * _seconds(delay)}
        if f == "redrive":
            return None, {}
        deliveries = args[0] if self._name in _SETTLE_MANY else [self._handle]
        for each in deliveries:
            each.renewed()
        delay = options.get("delay") or 0
        if f == "extend":
            delay = options.get("visibility_timeout", args[-1] if args else 0)
        return [each.name_and_lease for each in deliveries], {"delay": 1000 * _seconds(delay)}

    def _told(self, call: Call, f: str, asked: Any, options: dict[str, Any], result: Any) -> Any:
        """Records the answer, and returns it to the caller."""
        handle = self._handle
        if f == "offer":
            if self._name == "offer":
                call.ok([[result.outcome.value, epoch_ms(result.due)]])
                return Recorded(result, handle._history, handle._queue, asyncio=handle._asyncio)
            call.ok([["offered", None] for _ in asked])
        elif f == "take":
            call.ok(result if isinstance(result, list) else [] if result is None else [result])
        elif f == "receive":
            many = isinstance(result, list)
            found = [
                Recorded(each, handle._history, handle._queue, asyncio=handle._asyncio)
                for each in (result if many else [] if result is None else [result])
            ]
            call.ok([each.received(renew=bool(options.get("renew"))) for each in found])
            return found if many else found[0] if found else None
        elif f == "redrive":
            call.ok(result.count)
        elif f == "cancel":
            call.ok([result.value])
        elif f == "reschedule":
            due = getattr(handle._inner, "due", None)
            call.ok([result.value, epoch_ms(due) if due is not None and result else None])
        elif f == "extend":
            # An extension also tells that the item was cancelled meanwhile.
            outcome = "cancelled" if result and handle._inner.cancelled else result.value
            call.ok([[outcome, epoch_ms(handle._inner.deadline)]])
        else:
            call.ok([each.value for each in (result if isinstance(result, list) else [result])])
        return result


def ended(call: Call, error: BaseException, *, single: bool = True) -> None:
    """Records that a call has raised: nothing was done, or the outcome is unknown."""
    is_ours = isinstance(error, RedissonDQError) and not getattr(error, "maybe_done", False)
    # Of several batches an earlier one may be in.
    if is_ours and single and type(error).__name__ != "ClosedError":
        call.fail(error)
    else:
        call.info(error)


def epoch_ms(moment: datetime) -> int:
    """A time in whole epoch ms, as Redis has it."""
    return round(moment.timestamp() * 1000)


def _seconds(delay: float | timedelta) -> float:
    return delay.total_seconds() if isinstance(delay, timedelta) else delay


def _plain(arg: Any) -> Any:
    if isinstance(arg, list):
        return [_plain(each) for each in arg]
    return arg._inner if isinstance(arg, Recorded) else arg
