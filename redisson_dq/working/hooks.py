"""Hooks: the user's functions that are called with the happenings of a worker."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from redisson_dq.observing import Happening, Observers, Settled
from redisson_dq.working.happenings import Succeeded

__all__ = ["Hooks"]

logger = logging.getLogger("redisson_dq")


class Hooks:
    """Calls each hook with the happenings of its kinds, after the client's observers. Any thread may use it."""

    def __init__(self) -> None:
        self._hooks: list[tuple[tuple[type[Happening], ...], Callable[[Any], object]]] = []
        #: The observers of the client that the worker works with.
        self.observers = Observers()
        # The threads in which hooks run just now.
        self._telling: set[int] = set()

    def add(self, kinds: tuple[type[Happening], ...], function: Callable[[Any], object]) -> None:
        """Adds a hook for these kinds, or for all happenings where none is named."""
        self._hooks.append((kinds or (Happening,), function))

    @property
    def is_telling_here(self) -> bool:
        """Whether a hook or an observer runs in the calling thread."""
        return self.observers.is_telling_here or threading.get_ident() in self._telling

    def hears(self, *kinds: type[Happening]) -> bool:
        """Whether the log, a hook or an observer is called for one of these kinds. Otherwise the happening need not be
        made.
        """
        for kind in kinds:
            if self.observers.heard[kind]:
                return True
        # Mostly there is none.
        return bool(self._hooks) and any(issubclass(kind, heard) for heard, _ in self._hooks for kind in kinds)

    @property
    def hears_acks(self) -> bool:
        """Whether somebody is called, or counts, when Redis has noted that values are done."""
        return bool(self.observers.tallies) or self.observers.heard[Settled] or self.hears(Succeeded)

    def tell(self, happening: Happening) -> None:
        """Calls the log, the observers and the hooks, in this order."""
        self.observers.tell(happening)
        self.call(happening)

    def call(self, happening: Happening) -> None:
        """Calls only the hooks. Errors of a hook are logged."""
        here = threading.get_ident()
        for kinds, function in self._hooks:
            if isinstance(happening, kinds):
                self._telling.add(here)
                try:
                    function(happening)
                except BaseException:
                    # An exception that ends the program would end a loop or a thread of the worker.
                    logger.exception("worker: a hook failed for %r", happening)
                finally:
                    self._telling.discard(here)
