"""Calls the observers of a client, and the log, with each happening. An observer that fails has no effect on the
client.
"""

from __future__ import annotations

import inspect
import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Union

from redisson_dq._common.signatures import takes
from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.happenings import Answered, Happening, Sent
from redisson_dq.observing.log import is_logged, log, switch_of
from redisson_dq.observing.operations import Operations, may_be_of_a_signal
from redisson_dq.scheduling.clock import Clock

__all__ = ["LogValues", "Observer", "Observers", "Tally", "check_log_values"]

logger = logging.getLogger("redisson_dq")

#: A function, or an object that can be called. It is called with each happening, where that happens: in any thread, or
#: in a task of the loop. The client goes on when it has returned.
Observer = Callable[[Happening], object]

#: Whether the log shows values, or the function that gives the object to show in a value's place.
LogValues = Union[bool, Callable[[Any], object]]

# How many characters of a value's text are logged.
_LONGEST_VALUE = 500

#: The name of a request, and its keys.
_Named = tuple[str, tuple[str, ...]]
#: The error of each request, or None.
_Errors = list[Union[BaseException, None]]

_numbers = itertools.count(1)


class Tally:
    """An observer that counts. Offers, transfers, receipts, handlings and settlements come by its methods.

    To make a happening takes longer than to count it. Happenings of the ``kinds`` come by a call, as to any observer.
    The methods are called in any thread, and must not raise.
    """

    kinds: tuple[type[Happening], ...] = ()

    def offered(self, queue: str, count: int) -> None:
        """A call has offered this many items, or added that many values to the ready list."""

    def transferred(self, queue: str, seconds: float, was_early: bool) -> None:
        """Redis has answered a transfer after this many seconds.

        ``was_early``: it ran before the due time that it was sent for, and moved nothing.
        """

    def leased(self, queue: str, count: int, repeated: int, late_ms: Sequence[int]) -> None:
        """This many values were received, ``repeated`` of them not for the first time.

        ``late_ms`` is how long after their due times, of those whose due time is known.
        """

    def settled(self, queue: str, outcome: SettleOutcome) -> None:
        """A lease has ended, or is lost. ``queue`` is a partition's name where the queue has some."""

    def handled(self, queue: str, handler: str, seconds: float, failed: bool) -> None:
        """A handler has returned after this many seconds, or raised. A batch is one call."""

    def __call__(self, happening: Happening) -> object:
        """A happening of one of the ``kinds``."""


class Observers(list[Observer]):
    """The observers of one client. It is a list, so that checking whether there are observers costs next to nothing.

    The log gets every happening too. So a place that is passed often asks first::

        if observers.heard[Moved]:
            observers.tell(Moved(...))

    A place without a log line may check ``if observers`` first.
    """

    def __init__(self, observer: Observer | None = None) -> None:
        """Raises ArgumentError."""
        super().__init__()
        # The observers that have failed. The first error of each is logged.
        self._failed: list[Observer] = []
        self._here = threading.local()
        #: The interceptors, which are called around operations. Traces need this.
        self.operations = Operations()
        #: Whether and how the log shows values.
        self.log_values: LogValues = False
        #: The tallies, which count values without objects.
        self.tallies: tuple[Tally, ...] = ()
        #: Whether the log or an observer is called for a kind of happenings. Otherwise they need not be made.
        self.heard = _Heard(self)
        if observer is not None:
            self.add(observer)

    def add(self, observer: Observer) -> None:
        """Adds an observer. Raises ArgumentError unless it is a function that need not be awaited."""
        call = getattr(observer, "__call__", None)  # noqa: B004 - the function behind it is looked at
        if call is None or isinstance(observer, type):
            raise ArgumentError(f"an observer must be a function of one argument, not {shown(observer)}")
        if inspect.iscoroutinefunction(observer) or inspect.iscoroutinefunction(call):
            raise ArgumentError(
                f"an observer is called and not awaited, and {shown(observer)} is a coroutine function; a plain "
                "function may put the happening into a queue for one"
            )
        if not takes(observer, 1):
            raise ArgumentError(f"an observer must be a function of one argument, not {shown(observer)}")
        if observer not in self:
            self.append(observer)
            self._changed()

    def discard(self, observer: Observer) -> None:
        """Removes an observer, if it is one."""
        with suppress(ValueError):
            self.remove(observer)
        self._changed()

    def _changed(self) -> None:
        self.tallies = tuple(each for each in self if isinstance(each, Tally))
        self.heard.clear()

    def texts(self, kind: type[Happening], values: Iterable[object]) -> tuple[str, ...]:
        """The texts of values for a line of the log. None without ``log_values=``, or where that line is not wanted."""
        if not self.log_values or not is_logged(kind):
            return ()
        return tuple(self._text(value) for value in values)

    def _text(self, value: object) -> str:
        try:
            text = repr(value if self.log_values is True else self.log_values(value))  # type: ignore[operator]
        except Exception as error:
            # The error's text may have a part of the value that was to be hidden.
            return f"({type(error).__name__} in log_values=)"
        return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."

    @property
    def is_telling_here(self) -> bool:
        """Whether an observer runs in the calling thread."""
        return getattr(self._here, "tells", False)

    def hush(self) -> None:
        """Keeps the happenings of the calling thread from all observers from here on. The log still has them."""
        self._here.tells = True

    def tell(self, happening: Happening) -> None:
        """Calls the log and all observers, one after the other. Errors of an observer are not raised, except
        KeyboardInterrupt and SystemExit in the main thread, which a signal may have raised.

        An observer may call the client. The happenings of that call are not reported to observers.
        """
        log(happening)
        if not self or self.is_telling_here:
            return
        self._here.tells = True
        try:
            for observer in tuple(self):
                if not isinstance(happening, _kinds_of(observer)):
                    continue
                try:
                    observer(happening)
                except BaseException as error:
                    # A signal is handled only in the main thread. In any other thread the observer must not end the
                    # client's thread.
                    if may_be_of_a_signal(error):
                        raise
                    self._note_failure(observer, happening)
        finally:
            self._here.tells = False

    def _note_failure(self, observer: Observer, happening: Happening) -> None:
        if observer not in self._failed:
            self._failed.append(observer)
            logger.exception(
                "observer %r failed for %r; it is still called, and its further errors are not logged",
                observer,
                happening,
            )

    @contextmanager
    def exchange(self, requests: Iterable[_Named], clock: Clock, *, waits: bool = False) -> Iterator[_Errors]:
        """Reports that requests are about to be sent, and at the end of the block that they were answered or failed.

        The block puts the errors that Redis answered with into the list that it is given, by the requests' places. An
        error that ends the block is every request's. ``waits``: Redis may let the answer wait for a value.
        """
        began = clock.monotonic()
        told = [Sent(number=next(_numbers), request=name, keys=keys, waits=waits) for name, keys in requests]
        for sent in told:
            self.tell(sent)
        errors: _Errors = [None] * len(told)
        try:
            yield errors
        except BaseException as error:
            errors[:] = [error] * len(told)
            raise
        finally:
            duration = timedelta(seconds=clock.monotonic() - began)
            for sent, failure in zip(told, errors, strict=True):
                self.tell(
                    Answered(
                        number=sent.number,
                        request=sent.request,
                        keys=sent.keys,
                        waits=waits,
                        duration=duration,
                        error=failure,
                    )
                )


class _Heard(dict[type[Happening], bool]):
    """Whether somebody hears a kind of happenings. It is a dict, as it is asked several times for each value."""

    def __init__(self, observers: Observers) -> None:
        super().__init__()
        self._observers = observers
        # Of the kinds that only the log has a line for. It may be set up again at any time.
        self._switches: dict[type[Happening], Callable[[], bool]] = {}

    def __missing__(self, kind: type[Happening]) -> bool:
        if kind in self._switches:
            return self._switches[kind]()
        is_observed, is_on = any(issubclass(kind, _kinds_of(each)) for each in self._observers), switch_of(kind)
        if is_on is not None and not is_observed:
            self._switches[kind] = is_on
            return is_on()
        self[kind] = is_observed
        return is_observed

    def clear(self) -> None:
        """Asks again: there are other observers."""
        self._switches.clear()
        super().clear()


def check_log_values(value: object) -> bool:
    """Whether ``log_values=`` can be that."""
    return isinstance(value, bool) or (callable(value) and not inspect.iscoroutinefunction(value))


def _kinds_of(observer: Observer) -> tuple[type[Happening], ...]:
    """A plain function gets all kinds."""
    return observer.kinds if isinstance(observer, Tally) else _ALL


_ALL = (Happening,)
