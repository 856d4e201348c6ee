"""Happenings of values in a worker, with which hooks are called."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import attrs

from redisson_dq._common.texts import counted, described
from redisson_dq.errors import DecodeError
from redisson_dq.observing import Away, BackAgain, Happening, OfQueue
from redisson_dq.observing.log import Words, line

__all__ = [
    "Away",
    "BackAgain",
    "DeadLettered",
    "Dropped",
    "Failed",
    "GivenUp",
    "HandedBack",
    "Happening",
    "ItemCancelled",
    "Lost",
    "OfValue",
    "Received",
    "Recovered",
    "Retried",
    "Succeeded",
    "TimedOut",
    "Unhandled",
    "Unreadable",
]


@attrs.frozen(kw_only=True)
class Dropped(OfQueue):
    """A value was dropped: an equal one was handled within the time of ``unique_for=``. ``data`` are its bytes."""

    data: bytes = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Unreadable(OfQueue):
    """``count`` values came that the codec cannot read. :class:`DeadLettered` follows for each.

    Where Redis refused to make them dead letters, ``error.kept_in`` is None, and they come again at their deadlines.
    """

    count: int
    error: DecodeError


@line(logging.ERROR)
def _unreadable(came: Unreadable) -> Words:
    return Words("queue %r: %s cannot be read: %s", came.queue, counted(came.count, "value", "values"), came.error)


@attrs.frozen(kw_only=True)
class OfValue(OfQueue):
    """A happening of one value. ``event`` is its handler's argument, None when no handler takes the value.

    ``handler`` is the name of the handler's function, or an empty str.
    """

    id: str
    attempt: int
    handler: str = ""
    event: Any = attrs.field(default=None, repr=False)

    @property
    def display_name(self) -> str:
        """The delivery's id, and that of the offer, for log lines."""
        offer_id = None if self.event is None else self.event.offer_id
        return self.id if offer_id is None else f"{self.id} (offered as {offer_id!r})"


@attrs.frozen(kw_only=True)
class Received(OfValue):
    """A value was received. ``lateness`` is how long after its due time, where that is known."""

    lateness: timedelta | None = None


@attrs.frozen(kw_only=True)
class Recovered(OfValue):
    """A value was received whose earlier receivers died or held it beyond the deadline, ``crashes`` times in all."""

    crashes: int


@attrs.frozen(kw_only=True)
class Unhandled(OfValue):
    """No handler takes the value, for the ``reason``. :class:`DeadLettered` follows."""

    reason: str


@line(logging.ERROR)
def _unhandled(value: Unhandled) -> Words:
    return Words("queue %r: %s is moved to the dead letters: %s", value.queue, value.display_name, value.reason)


@attrs.frozen(kw_only=True)
class Succeeded(OfValue):
    """The handler returned, and the value is gone. ``duration`` is how long the handler took."""

    duration: timedelta


@attrs.frozen(kw_only=True)
class Failed(OfValue):
    """The handler raised ``error``. :class:`Retried` or :class:`GivenUp` follows when Redis has noted that.

    ``delay`` is the time after which the value is to come again. It is None for a value that is given up, and ``why``
    says what was exhausted.
    """

    error: BaseException
    duration: timedelta
    delay: timedelta | None = None
    why: str = ""


@line(logging.ERROR)
def _failed(failed: Failed) -> Words:
    reason = described(failed.error)
    if failed.delay is None:
        text = "queue %r: %s is given up: %s: %s"
        words = failed.queue, failed.display_name, failed.why, reason
        return Words(text, *words, traceback_of=failed.error)
    text = "queue %r: %s failed, and %s comes again in %.1f s: %s"
    seconds = failed.delay.total_seconds()
    return Words(text, failed.queue, failed.handler, failed.display_name, seconds, reason, level=logging.WARNING)


@attrs.frozen(kw_only=True)
class TimedOut(OfValue):
    """The handler has not returned within its ``timeout``. It was cancelled or notified; :class:`Failed` follows."""

    timeout: timedelta


@line(logging.ERROR)
def _timed_out(late: TimedOut) -> Words:
    return Words("queue %r: %s has not handled %s within %s", late.queue, late.handler, late.display_name, late.timeout)


@attrs.frozen(kw_only=True)
class Retried(OfValue):
    """The value waits, and comes again after ``delay``."""

    delay: timedelta
    error: BaseException


@attrs.frozen(kw_only=True)
class GivenUp(OfValue):
    """The value is not delivered again; ``why`` says what was exhausted. :class:`DeadLettered` follows.

    ``on_failed`` runs before. When ``on_failed`` raises, the value stays leased and is delivered again, and
    no hook is called.
    """

    why: str
    error: BaseException


@attrs.frozen(kw_only=True)
class DeadLettered(OfValue):
    """The value is in the dead-letter list, with ``reason``. ``data`` are its bytes."""

    reason: str
    data: bytes = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class HandedBack(OfValue):
    """The value was given back uncounted, as the worker stops."""


@attrs.frozen(kw_only=True)
class ItemCancelled(OfValue):
    """The item was cancelled while its handler ran, which did not handle the value. It is not delivered again."""


@attrs.frozen(kw_only=True)
class Lost(OfValue):
    """The lease ended before its handler did. The value may be handled elsewhere; the outcome here does not count."""
