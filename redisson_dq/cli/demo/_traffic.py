"""The demo's producer and consumer, through the public API: in two threads, or as two tasks of an event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import attrs

from redisson_dq import aio, connect
from redisson_dq.cli.demo._board import Board, Item
from redisson_dq.cli.demo._clock import ServerTime
from redisson_dq.codecs import StringCodec

__all__ = ["Traffic"]

_GRACE = 5.0  # seconds after the last due time until an item counts as lost
_LINGER = 0.3  # seconds after the last arrival in which a second one would show
_PAGE = 10_000  # items; the most that one call reads


@attrs.define
class Traffic:
    """Offers the items of a board and takes them, until every item came or counts as lost.

    Notes due times and arrivals on the board, and calls ``show`` with each item that arrived.
    """

    url: str
    name: str
    board: Board
    clock: ServerTime
    show: Callable[[Item], None]
    _offered_ms: float = attrs.field(init=False, default=0.0)

    def in_threads(self) -> None:
        """A second thread offers, and this one takes."""
        self._offered_ms = self.clock.now_ms()
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(1))
            client = stack.enter_context(connect(self.url, codec=StringCodec()))
            queue = client.blocking_queue(self.name)
            offering = pool.submit(_carry_out, self._offers(client.delayed_queue(queue)))
            while (seconds := self._patience()) > 0:
                self._took(queue.poll(timeout=seconds))
            offering.result()

    async def in_tasks(self) -> None:
        """One task offers, another one takes."""
        self._offered_ms = self.clock.now_ms()
        async with aio.connect(self.url, codec=StringCodec()) as client:
            queue = client.blocking_queue(self.name)
            await asyncio.gather(
                self._take_in_task(queue), _carry_out_in_task(self._offers(client.delayed_queue(queue)))
            )

    async def _take_in_task(self, queue: Any) -> None:
        while (seconds := self._patience()) > 0:
            self._took(await queue.poll(timeout=seconds))

    def _patience(self) -> float:
        """For how many seconds the consumer waits on; none when the run is over."""
        if self.board.missing:
            end_ms = self._offered_ms + (self.board.longest + _GRACE) * 1000
        else:
            end_ms = self.board.last_ms + _LINGER * 1000
        return (end_ms - self.clock.now_ms()) / 1000

    def _took(self, value: str | None) -> None:
        if value is not None and (item := self.board.arrived(value, self.clock.now_ms())):
            self.show(item)

    def _offers(self, delayed: Any) -> Generator[Callable[[], Any], Any, None]:
        """Yields the producer's calls one by one, and gets the reply of each. Learns the due times from them."""
        for item in self.board.singles:
            item.due_ms = _ms((yield partial(delayed.offer, item.value, item.delay)))
        if bulk := self.board.bulk:
            sent_ms = self.clock.now_ms()
            yield partial(delayed.offer_all, [(item.value, item.delay) for item in bulk])
            waiting = {item.value: _ms(item) for item in (yield partial(delayed.items, 0, _PAGE - 1))}
            for item in bulk:
                # An item that waits no more was not due before this, so it is never shown too early.
                item.due_ms = waiting.get(item.value, sent_ms + item.delay * 1000)
        self._offered_ms = self.clock.now_ms()


def _ms(item: Any) -> float:
    return float(item.due.timestamp() * 1000)


def _carry_out(calls: Generator[Callable[[], Any], Any, None]) -> None:
    with contextlib.suppress(StopIteration):
        call = next(calls)
        while True:
            call = calls.send(call())


async def _carry_out_in_task(calls: Generator[Callable[[], Any], Any, None]) -> None:
    with contextlib.suppress(StopIteration):
        call = next(calls)
        while True:
            call = calls.send(await call())
