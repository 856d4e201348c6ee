"""The targets of held items. Each accepts a batch only once, however often it is written."""

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
    """A target of held items."""

    @property
    def name(self) -> str:
        """The name that identifies it in held items."""
        ...

    def write(self, migration: str, batch: int, items: Sequence[Mapping[str, Any]]) -> None:
        """Writes a batch, only once however often it is called."""

    def seen(self, migration: str) -> int:
        """The number of the last written batch, if the target stores it; 0 for none."""
        ...

    def forget(self, migration: str) -> None:
        """Removes the note of the last batch."""


class ToQueue:
    """Another queue, on any server. Its hash ``migrating`` has the number of the last batch."""

    def __init__(self, site: QueueSite, durable: Durability | None) -> None:
        self._site = site
        self._durable = durable
        self._last: dict[str, int] = {}

    @property
    def name(self) -> str:
        """The queue's raw name."""
        return self._site.raw

    def write(self, migration: str, batch: int, items: Sequence[Mapping[str, Any]]) -> None:
        """Writes a batch if the number of the previous batch is there.

        So a late script, after the end of its migration, finds no number and writes nothing.
        """
        site, name = self._site, _note(migration)
        if migration not in self._last:
            # The first batch also needs a number.
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
