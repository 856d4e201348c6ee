"""The live stream: one snapshot a second, shared by all tabs, and none while nobody watches.

Each event is ``event: NAME`` with JSON in ``data:``.

==============  ======================================================================================================
``snapshot``    ``{"now": ISO time, "rows": [FleetRow, ...], "gone": [names], "missing": text}``: queues whose figures
                have changed, and why queues of a node may be missing. The first one is newer than the request. Of the
                series a row has those that the first page draws
``trouble``     ``{"text": ...}``: Redis is away, or refuses; the next snapshot ends it
``doctor``      ``{"at": ISO time, "verdict": ..., "findings": [...]}``: the doctor has looked again. Findings are those
                about the queue of the tab, or about the server, each with ``severity``, ``check``, ``queue``, ``text``
==============  ======================================================================================================

A tab that does not read skips events: it gets the newest state when it reads again, and is dropped after ten seconds.
So a slow tab uses no memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterator
from datetime import datetime
from typing import Any, Protocol

import anyio
import anyio.to_thread
import attrs
from starlette.types import Receive, Scope, Send

from redisson_dq.doctor import Report
from redisson_dq.errors import RedissonDQError
from redisson_dq.web.doctor import FleetDoctor
from redisson_dq.web.fleet import Judged, fleet_row, missing, verdicts, worst_of
from redisson_dq.web.frame import last_figures, sentence
from redisson_dq.web.plain import json_bytes
from redisson_dq.web.seeing import Seeing, named_in
from redisson_dq.web.snapshots import SeenQueue, Snapshots

__all__ = ["Live", "LiveStream"]

# How often an idle tab gets a comment, so that a broken connection is noticed.
_IDLE = 15.0
# How often a user's rights to the queues are checked again.
_ASK_AGAIN = 30.0
_MOST_TABS = 1000
# How many bytes of the stream are passed to the server at a time.
_PIECE = 65_536


class Live:
    """Takes snapshots while there are tabs. It belongs to the event loop of the application."""

    #: The interval between snapshots, and the time after which a tab that does not read is dropped, in seconds.
    every, slow = 1.0, 10.0

    def __init__(self, snapshots: Snapshots, doctor: FleetDoctor) -> None:
        self.snapshots = snapshots
        self.doctor = doctor
        self._tabs: dict[object, str | None] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._judged: tuple[Report | None, dict[str | None, Judged]] = (None, {})
        self._rows: dict[str, tuple[object, bytes]] = {}

    async def rows(self, queues: list[SeenQueue]) -> list[bytes]:
        """The JSON of the rows of these queues. Each is built once for all tabs, and other requests are served
        meanwhile.
        """
        found = []
        for each in queues:
            assert each.found is not None
            now = None if each.found.stats is None else each.found.stats.server_time
            state = each.changed, self.judged.get(each.name), now and now.replace(second=0, microsecond=0)
            known, text = self._rows.get(each.name, (None, b""))
            if known != state:
                row = fleet_row(each, self.judged, now)
                drawn = attrs.evolve(row.series, came=(), moved=(), waiting=(), ready=())
                text = json_bytes(attrs.evolve(row, series=drawn))
                self._rows[each.name] = state, text
                await asyncio.sleep(0)
            found.append(text)
        return found

    @property
    def judged(self) -> dict[str | None, Judged]:
        """The doctor's verdicts, computed once for all tabs."""
        report = self.doctor.report
        if self._judged[0] is not report:
            self._judged = report, verdicts(report)
        return self._judged[1]

    @property
    def tabs(self) -> int:
        """How many tabs are open."""
        return len(self._tabs)

    @property
    def is_running(self) -> bool:
        """Whether snapshots are being taken."""
        return self._task is not None and not self._task.done()

    def enter(self, queue: str | None) -> object | None:
        """Adds a tab, for one queue or for all; None if there are too many."""
        if len(self._tabs) >= _MOST_TABS:
            return None
        tab = object()
        self._tabs[tab] = queue
        if not self.is_running:
            self._task = asyncio.get_running_loop().create_task(self._run())
        return tab

    def leave(self, tab: object) -> None:
        """Removes a tab."""
        self._tabs.pop(tab, None)

    async def news(self, timeout: float) -> bool:
        """Waits for the next snapshot. False if none came in time."""
        news = self._news
        with anyio.move_on_after(timeout):
            await news.wait()
            return True
        return False

    def close(self) -> None:
        """Ends the snapshots."""
        for task in (self._task, self._looking):
            if task is not None:
                task.cancel()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._tabs:
            began = loop.time()
            wanted = set(self._tabs.values())
            only = None if None in wanted else {each for each in wanted if each is not None}
            with contextlib.suppress(RedissonDQError):
                await anyio.to_thread.run_sync(self.snapshots.take, only)
            self.look()
            self._rows = {name: row for name, row in self._rows.items() if self.snapshots.queue(name) is not None}
            self._news.set()
            self._news = asyncio.Event()
            await asyncio.sleep(max(0.0, began + self.every - loop.time()))

    def look(self) -> None:
        """Runs the doctor in the background, if it is time."""
        if self.doctor.is_due() and (self._looking is None or self._looking.done()):
            self._looking = asyncio.get_running_loop().create_task(self._diagnose())

    async def first_look(self, patience: float) -> None:
        """Waits for the first diagnosis, at most this many seconds."""
        self.look()
        if self.doctor.report is None and self._looking is not None:
            await asyncio.wait({self._looking}, timeout=patience)

    async def _diagnose(self) -> None:
        await anyio.to_thread.run_sync(self.doctor.look)


class _IsLetIn(Protocol):
    """Whether the user of a stream is still logged in, and with ``ask`` still has the right to it."""

    async def __call__(self, *, ask: bool) -> bool: ...


async def _always(*, ask: bool) -> bool:
    return True


#: A function that returns which of some names the user may see, and one that makes the view filter of these.
_Allowed = Callable[[list[str]], Awaitable[Collection[str]]]
_Seeing = Callable[[Collection[str], Collection[str]], Seeing]


class LiveStream:
    """The response to one tab: an ASGI application."""

    #: The right to the stream is checked again after this many seconds.
    check_again = 5.0

    def __init__(
        self,
        live: Live,
        queue: str | None,
        allowed: _Allowed,
        seeing: _Seeing = lambda known, allowed: Seeing(allowed),
        is_let_in: _IsLetIn = _always,
    ) -> None:
        self._live, self._queue = live, queue
        self._ask_allowed, self._make_seeing, self._ask_let_in = allowed, seeing, is_let_in
        self._allowed: dict[str, bool] = {}
        self._judged: dict[str | None, Judged] = {}
        self._asked_at = self._checked_at = float("-inf")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The page of the tab may be newer than a snapshot that began before it.
        older = self._live.snapshots.begun
        tab = self._live.enter(self._queue)
        if tab is None:
            await send({"type": "http.response.start", "status": 503, "headers": [(b"retry-after", b"10")]})
            await send({"type": "http.response.body", "body": b"too many tabs"})
            return
        try:
            headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async with anyio.create_task_group() as group:
                group.start_soon(self._left, receive, group.cancel_scope)
                await self._told(send, older)
                group.cancel_scope.cancel()
        finally:
            self._live.leave(tab)

    async def _left(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _told(self, send: Send, older: int) -> None:
        """Sends each snapshot except the ``older`` ones, until the tab stops reading or its user is logged out."""
        loop, told_at = asyncio.get_running_loop(), 0.0
        seen, diagnosed, known, was_away, missed = 0, None, frozenset[str](), False, ""
        text = [b"retry: 2000\n\n"]
        while True:
            for piece in _pieces(text):
                with anyio.move_on_after(self._live.slow) as slow:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                if slow.cancelled_caught:
                    return
                told_at = loop.time()
            snapshots = self._live.snapshots
            has_news = await self._live.news(_IDLE) and snapshots.number > older
            if not await self._is_let_in():
                return
            text = []
            if snapshots.trouble is not None:
                text = _event("trouble", json_bytes({"text": last_figures(snapshots.trouble, self._seeing())}))
                seen, was_away = 0, True
            elif has_news:
                rows, names, seen = await self.changed_rows(seen)
                gone = sorted(known - names)
                known = names
                misses = missing(snapshots, self._seeing())
                if rows or gone or was_away or missed != misses:
                    missed = misses
                    text = _snapshot(snapshots.server_time, rows, gone, missed)
                    was_away = False
            if self._live.doctor.made != diagnosed:
                diagnosed = self._live.doctor.made
                text += _event("doctor", json_bytes({"at": diagnosed, **await self.told_by_doctor()}))
            if not text and loop.time() - told_at >= _IDLE:
                text = [b": nothing new\n\n"]

    async def changed_rows(self, seen: int) -> tuple[list[bytes], frozenset[str], int]:
        """The rows that have changed since a snapshot, as JSON, all names, and the number of the last one.

        A row has also changed if the doctor's verdict on it has changed.
        """
        snapshots = self._live.snapshots
        number, queues = snapshots.number, snapshots.queues()
        if self._queue is not None:
            queues = [each for each in queues if each.name == self._queue]
        await self._ask([each.name for each in queues])
        queues = [each for each in queues if self._allowed.get(each.name)]
        judged, before = self._live.judged, self._judged
        self._judged = judged
        news = [each for each in queues if each.changed > seen or judged.get(each.name) != before.get(each.name)]
        return await self._live.rows(news), frozenset(each.name for each in queues), number

    async def told_by_doctor(self) -> dict[str, Any]:
        """The findings shown above the figures of the tab's page, and the worst verdict that its user may see."""
        report, judged = self._live.doctor.report, self._live.judged
        # The doctor may have run before there is a snapshot for this tab.
        await self._ask([*named_in(report), *(each.name for each in self._live.snapshots.queues())])
        seen = [name for name in judged if name is None or self._allowed.get(name)]
        return {
            "verdict": worst_of(judged[name][0] for name in seen),
            "findings": [
                {"severity": each.severity.value, "check": each.check, "queue": each.queue, "text": sentence(each.text)}
                for each in self._seeing().findings(report)
                if each.queue == self._queue
            ],
        }

    def _seeing(self) -> Seeing:
        return self._make_seeing(self._allowed.keys(), [name for name, may in self._allowed.items() if may])

    async def _is_let_in(self) -> bool:
        now = asyncio.get_running_loop().time()
        is_due = now - self._checked_at > self.check_again
        if is_due:
            self._checked_at = now
        return await self._ask_let_in(ask=is_due)

    async def _ask(self, names: list[str]) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._asked_at > _ASK_AGAIN:
            self._allowed, self._asked_at = {}, now
        unknown = [name for name in names if name not in self._allowed]
        if unknown:
            allowed = set(await self._ask_allowed(unknown))
            self._allowed.update({name: name in allowed for name in unknown})


def _event(name: str, *data: bytes) -> list[bytes]:
    return [b"event: " + name.encode() + b"\ndata: ", *data, b"\n\n"]


def _snapshot(now: datetime | None, rows: list[bytes], gone: list[str], missed: str) -> list[bytes]:
    joined = (part for row in rows for part in (b",", row))
    # Without the comma before the first row.
    next(joined, None)
    end = b'],"gone":%s,"missing":%s}' % (json_bytes(gone), json_bytes(missed))
    return _event("snapshot", b'{"now":%s,"rows":[' % json_bytes(now), *joined, end)


def _pieces(parts: list[bytes]) -> Iterator[bytes]:
    """The parts, which all tabs share, in pieces of limited size. Only one piece waits for a tab that does not read."""
    piece = bytearray()
    for each in parts:
        piece += each
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)
