"""The places that held items are written to. Each takes a batch once, however often it is given one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from redisson_dq.admin.entries import DoneMark, ExchangeStep
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.migrating.holding import as_steps
from redisson_dq.migrating.sites import QueueSite

__all__ = ["HeldWriter", "ToQueue"]


class HeldWriter(Protocol):
    """A place that held items are written to."""

    @property
    def name(self) -> str:
        """The name by which held items tell it from others."""
        ...

    def write(self, migration: str, batch: int, items: Sequence[Mapping[str, Any]]) -> None:
        """Puts a batch in, once, however often it is called."""

    def seen(self, migration: str) -> int:
        """The number of the last batch that was put in, as far as the place knows it; 0 for none."""
        ...

    def forget(self, migration: str) -> None:
        """Removes the note of the last batch."""


class ToQueue:
    """Another queue, at any server. Its hash ``migrating`` has the number of the last batch."""

    def __init__(self, site: QueueSite, durable: Durability | None) -> None:
        self._site = site
        self._durable = durable
        self._last: dict[str, int] = {}

    @property
    def name(self) -> str:
        """The queue's raw name."""
        return self._site.raw

    def write(self, migration: str, batch: int, items: Sequence[Mapping[str, Any]]) -> None:
        """Puts a batch in where the number of the one before is there.

        So a script that comes late, after the end of its migration, finds no number, and puts nothing in.
        """
        site, name = self._site, _note(migration)
        if migration not in self._last:
            # A first batch finds one too.
            site.ask("migrating", "HSETNX", name, 0)
            self._last[migration] = self.seen(migration)
        stands: ExchangeStep = ("=h", site.keys.migrating, name, str(self._last[migration]))
        mark = DoneMark(key=site.keys.migrating, name=name, number=batch)
        puts = [[stands, *as_steps(site, item["puts"])] for item in items]
        keys = site.keys
        done = site.queue.exchange(
            site.types, puts, mark=mark, timeout=keys.timeout, channel=keys.channel, durable=self._durable
        )
        if done is not None and not all(done):
            raise ArgumentError(
                f"queue {site.name!r}: another run of this migration has written to it meanwhile; end that one, and go "
                "on by --resume"
            )
        self._last[migration] = batch

    def seen(self, migration: str) -> int:
        """Reads the number from Redis."""
        return int(self._site.ask("migrating", "HGET", _note(migration)) or 0)

    def forget(self, migration: str) -> None:
        """Removes the number."""
        self._last.clear()
        self._site.ask("migrating", "HDEL", _note(migration))


def _note(migration: str) -> str:
    return f"migrate {migration}"
