"""Observers that count, at next to no cost."""

from __future__ import annotations

from collections.abc import Sequence

from redisson_dq.items import SettleOutcome
from redisson_dq.observing.happenings import Happening

__all__ = ["Tally"]


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
