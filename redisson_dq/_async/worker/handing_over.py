"""Gives values that were received to the worker, each to its handler, and renews their leases from then on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.assigning import Assigner
from redisson_dq._async.worker.calling_up import call_up_more
from redisson_dq._async.worker.intake import Intake
from redisson_dq._concurrency.handler_pools import AsyncPoolWork
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import DecodeError
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.lease_source import MOST_AT_ONCE, LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.taken import Taken

__all__ = ["Came", "HandOver", "page"]

# How many values of keys that take turns are parked in one call, some 0.1 ms each. 100,000 values of one key are so
# before 1 % of them are handled.
_SORTED = 200

logger = logging.getLogger("redisson_dq")


@attrs.frozen
class Came:
    """The values of one list, and the error for those that cannot be read."""

    intake: Intake
    deliveries: Sequence[Delivery[Any]]
    error: DecodeError | None


class HandOver:
    """For one fetcher, which is in one thread or task at a time."""

    def __init__(self, runtime: Runtime, assigner: Assigner) -> None:
        self._runtime = runtime
        self._assigner = assigner
        # Deliveries that were handed over, and are not renewed yet.
        self._handed_over: list[Delivery[Any]] = []

    async def received(self, intake: Intake, taken: Iterable[Taken], wanted: int, lifeline: Lifeline) -> list[Came]:
        """The deliveries of values that came. Where that fails, the values are let go."""
        try:
            return await self.opened(intake, await self._leased(intake, taken, wanted))
        except BaseException:
            lifeline.let_go()
            raise

    async def _leased(self, intake: Intake, taken: Iterable[Taken], wanted: int) -> list[Leased]:
        """The leases of values that came. Those that were only seen are leased now, at most ``wanted`` of them."""
        found: list[Leased] = []
        seen: dict[str, list[bytes]] = {}
        for each in taken:
            if isinstance(each, Leased):
                found.append(each)
            else:
                seen.setdefault(each.key, []).append(each.data)
        for key, data in seen.items():
            side, source = intake.reception.sources[key]
            found += await self.admitted(intake, side, source, data, wanted)
        return found

    async def admitted(
        self, intake: Intake, side: OpenQueue[Any], source: LeaseSource, seen: Sequence[bytes], wanted: int
    ) -> list[Leased]:
        """Leases those of the seen values whose turn it is, at most this many."""
        if not seen:
            return []
        asked = intake.admission_of(seen, side)
        request = source.admit(wanted, asked.limits, asked.seen)
        admitted = await intake.leaser.run_again(request, source.visible, None)
        for data in admitted.dropped:
            self._assigner.reports.duplicate(intake, data)
        intake.admitting.leased(admitted.leased, asked.passed)
        if admitted.called_up:
            await call_up_more(self._runtime.connections, source)
        return admitted.leased

    async def opened(self, intake: Intake, leased: Sequence[Leased]) -> list[Came]:
        """The deliveries of leased values of one queue."""
        by_key: dict[str, list[Leased]] = {}
        for each in leased:
            by_key.setdefault(each.key, []).append(each)
        return [
            Came(intake, *await intake.leaser.deliveries(*intake.reception.sources[key], some))
            for key, some in by_key.items()
        ]

    def accept(self, came: Iterable[Came], start: Callable[[AsyncPoolWork], object]) -> None:
        """Gives them to the worker. ``start`` begins a handling.

        Where that fails, the values come again at the deadlines of their leases.
        """
        for each in came:
            if each.error is not None:
                self._assigner.reports.unreadable(each.intake, each.error)
            self._assigner.accept(each.intake, each.deliveries, start)
            self._handed_over += each.deliveries

    def renew(self) -> None:
        """Begins to renew the leases of values that are not done yet. Handlers begin before that."""
        leased, self._handed_over = [each for each in self._handed_over if not lease_of(each).is_ending], []
        if leased:
            try:
                self._runtime.renewal.add(leased, self._assigner.lose)
            except Exception:
                # A defect. It ends no receiving.
                logger.exception("worker: the leases of %d values are not renewed", len(leased))


def page(wanted: int, *, sorts: bool = False) -> int:
    """How many values are peeked at if this many may be leased: some may have to wait, and others come after them.

    Where keys take turns (``sorts``), the values of one key are soon past, however many there are.
    """
    return min(MOST_AT_ONCE, 4 * wanted + (_SORTED if sorts else 28))
