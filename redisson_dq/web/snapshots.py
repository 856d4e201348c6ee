"""Reads all queues at most once a second, for all users, and remembers the last hour in this process.

Nothing is written to Redis. A snapshot reads the figures of at most 200 queues, the oldest figures first. So 500 queues
are read within three seconds, at the same cost per second as 200.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime

import attrs

from redisson_dq import Client
from redisson_dq.admin import Admin
from redisson_dq.admin.refusals import is_login_refused, serves_nobody
from redisson_dq.browsing import Overview, figures_of, grouped
from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError
from redisson_dq.stats import QueueStats

__all__ = ["MINUTES", "Minute", "SeenQueue", "Snapshots"]

#: How many minutes are remembered.
MINUTES = 60
# How many queues are read in one snapshot, once all are known.
_BUDGET = 200
# SCAN: keys per call, calls per snapshot, and the most calls for the first snapshot.
_SCANNED, _CALLS, _FIRST_CALLS = 1000, 10, 2000


@attrs.define(kw_only=True)
class Minute:
    """One minute of a queue, as recorded by snapshots. Flows are the minimum that must have happened between snapshots.

    ``came`` is the increase of all values, ``left`` the decrease, ``moved`` the decrease of waiting values. ``late_s``
    is the largest age of an overdue value.
    """

    number: int
    came: int = 0
    left: int = 0
    moved: int = 0
    late_s: float = 0.0
    ready: int = 0
    waiting: int = 0


@attrs.define(kw_only=True)
class SeenQueue:
    """The latest figures of a queue. ``changed`` is the number of the snapshot in which its figures last changed."""

    name: str
    parts: tuple[str, ...]
    found: Overview | None = None
    at: float = float("-inf")
    changed: int = 0
    minutes: deque[Minute] = attrs.field(factory=lambda: deque(maxlen=MINUTES))

    def take(self, found: Overview, at: float, number: int) -> None:
        """Stores new figures."""
        before, now = self.found, found.stats
        if before is None or _figures(before) != _figures(found):
            self.changed = number
        self.found, self.at = found, at
        if now is None:
            return
        minute = int(now.server_time.timestamp() // 60)
        if not self.minutes or self.minutes[-1].number != minute:
            self.minutes.append(Minute(number=minute))
        last = self.minutes[-1]
        last.ready, last.waiting = now.ready, now.waiting
        last.late_s = max(last.late_s, now.late_by.total_seconds())
        if before is not None and before.stats is not None:
            more = _all(now) - _all(before.stats)
            last.came += max(0, more)
            last.left += max(0, -more)
            last.moved += max(0, before.stats.waiting - now.waiting)


def _all(stats: QueueStats) -> int:
    return stats.ready + stats.waiting + stats.in_flight


def _is_away(error: RedissonDQError) -> bool:
    """Whether an error is about the server, not about one queue."""
    return isinstance(error, RedisConnectionError) or serves_nobody(error) or is_login_refused(error)


def _figures(found: Overview) -> object:
    """Everything except the time of the figures."""
    if found.stats is None:
        return str(found.error)
    return attrs.evolve(found.stats, server_time=datetime.min), found.partitions


class Snapshots:
    """The queues of one client. Any thread may call it."""

    #: The largest age of figures, in seconds.
    fresh = 1.0
    #: A round of scans begins this many seconds after the previous one.
    rescan = 10.0

    def __init__(self, client: Client) -> None:
        self.client = client
        self._mutex = threading.Lock()
        self._queues: dict[str, SeenQueue] = {}
        self._scan: Iterator[None] | None = None
        self._scanned_at = self._taken_at = float("-inf")
        self._is_old = False
        #: All names of the last complete round.
        self.is_whole = False
        #: Why a node of the cluster did not answer in the last round. Its queues may be missing.
        self.away: RedisConnectionError | None = None
        #: How many snapshots have begun. ``number`` is the last one that ended, and ``trouble`` is why it failed.
        self.begun = self.number = 0
        self.trouble: RedissonDQError | None = None

    def take(self, only: Iterable[str] | None = None) -> None:
        """Takes a snapshot if the last one is a second old. ``only`` has the names of the wanted queues.

        Concurrent callers wait for its end, and share it. Raises RedissonDQError.
        """
        clock = Admin(self.client).clock
        with self._mutex:
            if clock.monotonic() - self._taken_at < self.fresh * 0.9 and not self._is_old:
                if self.trouble is not None:
                    raise self.trouble
                return
            self._is_old = False
            self.begun += 1
            try:
                self._look(clock.monotonic(), None if only is None else frozenset(only))
                self.trouble = None
            except RedissonDQError as error:
                self.trouble = error
                raise
            finally:
                self._taken_at = clock.monotonic()
                self.number += 1

    def queues(self) -> list[SeenQueue]:
        """All known queues, by name."""
        with self._mutex:
            return [each for _, each in sorted(self._queues.items()) if each.found is not None]

    @property
    def server_time(self) -> datetime | None:
        """Redis's time of the last successful snapshot."""
        found = (each.found.stats for each in self.queues() if each.found is not None)
        return max((each.server_time for each in found if each is not None), default=None)

    def queue(self, name: str) -> SeenQueue | None:
        """One of them."""
        return self._queues.get(name)

    def forget(self) -> None:
        """Requests a new snapshot after an action has changed something. A running one may not include the change."""
        self._is_old = True

    # -- looking -----------------------------------------------------------------------------------------------------

    def _look(self, now: float, only: frozenset[str] | None) -> None:
        # A page may be open for a queue that has no key yet.
        if only is None or not self.is_whole or not only <= self._queues.keys():
            self._find_names(now)
        chosen = [each for name, each in self._queues.items() if only is None or name in only]
        chosen.sort(key=lambda each: each.at)
        asked, count = [], 0
        for each in chosen:
            if count and each.at > float("-inf") and count + len(each.parts) > _BUDGET:
                break
            asked.append(each)
            count += len(each.parts)
        told = list(figures_of(self.client, [(each.name, list(each.parts)) for each in asked]))
        # Redis answers for none of them: the last figures stay. On a cluster, a single node may be away.
        away = [each.error for each in told if each.error is not None and each.stats is None and _is_away(each.error)]
        if away and len(away) == len(told):
            raise away[0]
        for found in told:
            self._queues[found.name].take(found, now, self.number + 1)

    def _find_names(self, now: float) -> None:
        """Continues the round of scans, or begins one. The first round runs to its end."""
        if self._scan is None:
            if now - self._scanned_at < self.rescan:
                return
            self._scan = self._round()
        scan, self._scan = self._scan, None
        for _ in range(_CALLS if self.is_whole else _FIRST_CALLS):
            if next(scan, self) is self:
                self._scanned_at = now
                return
        self._scan = scan

    def _round(self) -> Iterator[None]:
        """Scans all keys and channels, in one step per call. On a cluster, some nodes may be away."""
        admin, names = Admin(self.client), set[str]()

        def note(found: Iterable[str]) -> None:
            fresh = {name for raw in found if (name := admin.name(raw)) is not None} - names
            names.update(fresh)
            self._note(grouped(self.client, fresh), is_all=False)

        nodes, away = admin.nodes(), list[RedisConnectionError]()
        for node in nodes:
            cursor = 0
            try:
                # Not every user may read the channels.
                with contextlib.suppress(RedisReplyError):
                    note(admin.heard(node))
                while True:
                    found = admin.scan(cursor, node, _SCANNED)
                    note(found.names)
                    cursor = found.cursor
                    if not cursor:
                        break
                    yield
            except RedisConnectionError as error:
                away.append(error)
        if len(away) == len(nodes):
            raise away[0]
        self._note(grouped(self.client, names), is_all=not away)
        self.is_whole = self.is_whole or not away
        self.away = away[0] if away else None

    def _note(self, wholes: dict[str, list[str]], *, is_all: bool) -> None:
        for name, parts in wholes.items():
            seen = self._queues.get(name)
            if seen is None:
                self._queues[name] = SeenQueue(name=name, parts=tuple(parts))
            elif is_all or not set(parts) <= set(seen.parts):
                seen.parts = tuple(sorted({*parts} if is_all else {*parts, *seen.parts}))
        if is_all:
            for name in self._queues.keys() - wholes.keys():
                del self._queues[name]
