"""Calls the observers of a client, and the log, with each happening. An observer that fails harms nobody."""

from __future__ import annotations

import inspect
import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from redisson_dq._clock import Clock
from redisson_dq._texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.observing.happenings import Answered, Happening, Sent
from redisson_dq.observing.log import log
from redisson_dq.observing.operations import Operations, may_be_of_a_signal

__all__ = ["Observer", "Observers"]

logger = logging.getLogger("redisson_dq")

#: A function, or an object that can be called. It is called with each happening, where that happens: in any thread, or
#: in a task of the loop. The client goes on when it has returned.
Observer = Callable[[Happening], object]

_numbers = itertools.count(1)


class Observers(list[Observer]):
    """The observers of one client. A list, so that the look whether anybody watches costs next to nothing.

    The log is told of every happening too, and does not count. So a place that is passed often asks first::

        if observers:
            observers.tell(Moved(...))

    A happening that the log tells of is told in any case.
    """

    def __init__(self, observer: Observer | None = None) -> None:
        """Raises ArgumentError."""
        super().__init__()
        # Those that have failed. The log has the first error of each.
        self._failed: list[Observer] = []
        self._here = threading.local()
        #: Those that are called around operations, as a trace needs it.
        self.operations = Operations()
        if observer is not None:
            self.add(observer)

    def add(self, observer: Observer) -> None:
        """Adds an observer. Raises ArgumentError unless it is a function that need not be awaited."""
        call = getattr(observer, "__call__", None)  # noqa: B004 - the function behind it is looked at
        if call is None or isinstance(observer, type):
            raise ArgumentError(f"an observer is a function of one argument, not {shown(observer)}")
        if inspect.iscoroutinefunction(observer) or inspect.iscoroutinefunction(call):
            raise ArgumentError(
                f"an observer is called and not awaited, and {shown(observer)} is a coroutine function; a plain "
                "function may put what it hears into a queue for one"
            )
        if observer not in self:
            self.append(observer)

    def discard(self, observer: Observer) -> None:
        """Removes an observer, if it is one."""
        with suppress(ValueError):
            self.remove(observer)

    @property
    def is_telling_here(self) -> bool:
        """Whether an observer runs in the calling thread."""
        return getattr(self._here, "tells", False)

    def tell(self, happening: Happening) -> None:
        """Calls the log and all observers, one after the other. Nothing that an observer raises comes out.

        In the main thread KeyboardInterrupt and SystemExit do, as a signal may have raised them.

        An observer may call the client. No observer hears of the happenings of that call.
        """
        log(happening)
        if not self or self.is_telling_here:
            return
        self._here.tells = True
        try:
            for observer in tuple(self):
                try:
                    observer(happening)
                except BaseException as error:
                    # A signal strikes in the main thread alone. In any other one the observer ends no thread of the
                    # client's.
                    if may_be_of_a_signal(error):
                        raise
                    self._note_failure(observer, happening)
        finally:
            self._here.tells = False

    def _note_failure(self, observer: Observer, happening: Happening) -> None:
        if observer not in self._failed:
            self._failed.append(observer)
            logger.exception(
                "observer %r failed at %r; it is called again, and further errors of it are not logged",
                observer,
                happening,
            )

    @contextmanager
    def exchange(self, request: str, keys: tuple[str, ...], clock: Clock) -> Iterator[None]:
        """Tells that a request is about to be sent, and at the end of the block that it was answered, or failed."""
        answered = self.sent(request, keys, clock)
        try:
            yield
        except BaseException as error:
            answered(error)
            raise
        answered(None)

    def sent(self, request: str, keys: tuple[str, ...], clock: Clock) -> Callable[[BaseException | None], None]:
        """Tells that a request is about to be sent.

        Gives a function, to be called once, with None when the request was answered, else with the error.
        """
        number, began = next(_numbers), clock.monotonic()
        self.tell(Sent(number=number, request=request, keys=keys))

        def answered(error: BaseException | None) -> None:
            duration = timedelta(seconds=clock.monotonic() - began)
            self.tell(Answered(number=number, request=request, keys=keys, duration=duration, error=error))

        return answered
