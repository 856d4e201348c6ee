# Generated from redisson_dq/_async/fair.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""Takes from several lists in turns, each of which may live on another node of a cluster.

No blocking command spans nodes, so each list has a tap of its own: a worker, and a connection while it blocks. One
more worker looks first: at all lists that no tap is blocked on, where nothing has to be waited for. It takes an equal
share of each that has something, beginning behind the list that gave last, so a full one never starves another. When
all are empty it opens their taps.

A blocked tap says that its list is empty. It stays blocked for a moment when nobody waits any more: to unblock all of
them after each value, and to block them again for the next, would cost more than the values do. What comes to such a
tap goes back to its place.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from .._pairs import Switch, Worker
from ..errors import RedisConnectionError
from ..wire import commands
from ..wire.blocking import Pop, Taken
from ..wire.commands import End
from .connections import Connections
from .line import Line
from .receiver import LAST_REPLY, Tap

__all__ = ["FairReceiver"]

logger = logging.getLogger("redisson_dq")

# How long taps stay blocked when nobody waits.
_STAY = 1.0


class FairReceiver(Line):
    """Takes from the same end of several lists for all local callers, over one connection for each list."""

    def __init__(self, connections: Connections, sources: Sequence[Pop]) -> None:
        """``sources`` have one key each."""
        super().__init__(sources[0].key)
        self._connections = connections
        self._end: End = sources[0].end
        self._taps = {source.key: Tap(connections, source, self) for source in sources}
        # Whose turn it is comes first.
        self._turns = list(self._taps)
        # Lists that had something at the last look, and have not been asked since.
        self._full: list[str] = []
        self._changed = Switch()
        self._worker: Worker | None = None

    @property
    def trouble(self) -> RedisConnectionError | None:
        return next((tap.trouble for tap in self._taps.values() if tap.is_open and tap.trouble), None)

    def close(self) -> None:
        """Ends every wait with ClosedError, then the workers and their connections. No item is lost."""
        self.shut()
        self._changed.on()
        worker = self._worker
        if worker is not None:
            worker.stop(LAST_REPLY)
        for tap in self._taps.values():
            tap.close()

    def _left_over(self, limit: int) -> list[Taken]:
        found: list[Taken] = []
        for tap in self._taps.values():
            found += tap.left_over(limit - len(found))
        return found

    def _put_away(self, values: list[Taken]) -> None:
        for key, tap in self._taps.items():
            back = [taken for taken in values if taken.key == key]
            if back:
                tap.put_away(back)

    def _work(self) -> None:
        self._changed.on()
        if self._worker is None:
            self._worker = Worker(self._run, f"redisson_dq-fair-{self.name}")

    def _served(self) -> None:
        self._changed.on()

    def _nobody_waits(self) -> None:
        self._changed.on()

    def _run(self) -> None:
        while free := self._next_round():
            try:
                # One list alone need not be looked at: its tap does not block where there is something.
                found = len(free) > 1 and self._look(free)
            except Exception as error:
                logger.debug("queue %r: cannot look what is ready: %s", self.name, error)
                # What keeps us from looking keeps the taps from taking, and they can tell why.
                found = False
            if not found:
                with self.mutex:
                    for key in free:
                        self._taps[key].open()

    def _next_round(self) -> list[str]:
        """Waits until somebody waits; gives the lists that no tap is open for, in turn, or none when it has to end."""
        while True:
            with self.mutex:
                free = [key for key in self._turns if not self._taps[key].is_open]
                if self.waits and free:
                    return free
                if self.closed:
                    return []
                self._changed.off()
                stay = None if self.waits else _STAY
            if self._changed.wait(stay):
                continue
            for tap in self._taps.values():
                tap.release()
            with self.mutex:
                if not self.waits:
                    # From here on another caller starts another worker.
                    self._worker = None
                    return []

    def _look(self, keys: list[str]) -> bool:
        """Takes what is ready in these lists for those who wait. False when it is time to block."""
        self._full = [key for key in self._full if key in keys]
        looked = not self._full
        if looked:
            # Errors are left to the taps, which retry or tell.
            lengths = self._connections.run_many([commands.length_of(key) for key in keys], transaction=False)
            self._full = [key for key, length in zip(keys, lengths, strict=True) if isinstance(length, int) and length]
        with self.mutex:
            wanted = self.claim()
        asked, self._full = self._full[:wanted], self._full[wanted:]
        values: list[Taken] = []
        try:
            requests = [
                commands.pop_many(key, self._end, wanted // len(asked) + (place < wanted % len(asked)))
                for place, key in enumerate(asked)
            ]
            for key, found in zip(asked, self._connections.run_many(requests, transaction=False), strict=True):
                if isinstance(found, list) and found:
                    values += [Taken(key=key, data=data) for data in found]
                    self._pass_turn(key)
        finally:
            with self.mutex:
                self.unclaim(wanted)
        if values:
            self.give(values)
        # What was found at an earlier look may have been taken by others since.
        return bool(values) or (bool(asked) and not looked)

    def _pass_turn(self, key: str) -> None:
        """The list gave something: all others come before it now."""
        behind = self._turns.index(key) + 1
        self._turns = self._turns[behind:] + self._turns[:behind]
