"""Moves the items of queues to others, while producers and consumers run, until no more items arrive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import attrs

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import command_line
from redisson_dq.admin.entries import ExchangeStep
from redisson_dq.admin.refusals import passes
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError, DurabilityError, RedissonDQError
from redisson_dq.migrating.batches import BatchMover, SourceQueue
from redisson_dq.migrating.holding import held_batches
from redisson_dq.migrating.journal import Journal
from redisson_dq.migrating.reading import KINDS
from redisson_dq.migrating.recoding import Recoding
from redisson_dq.migrating.sites import NOTED, QueueSite
from redisson_dq.migrating.writing import HeldWriter

__all__ = ["Migrated", "Migration"]

T = TypeVar("T")

# How many batches of ready values are moved before one of another kind.
_READY_FIRST = 50
# If a round finds nothing, the next one begins after this many seconds.
_PAUSE = 0.1


@attrs.frozen(kw_only=True)
class Migrated:
    """The figures of a migration."""

    #: How many items all runs of the migration have moved, by kind.
    moved: dict[str, int]
    #: How many items are still in the source, by kind, and how many could not be converted, by reason.
    left: dict[str, int]
    refused: dict[str, int]
    #: Whether it was stopped before its end.
    stopped: bool = False


class Migration:
    """Moves all items of some queues, which may be the partitions of one queue, to other queues."""

    def __init__(
        self,
        sites: Sequence[QueueSite],
        recoding: Recoding,
        *,
        journal: Journal | None = None,
        to_file: HeldWriter | None = None,
        durable: Durability | None = None,
        progress: Callable[[str, int], None] | None = None,
        on_state: Callable[[str, int], None] | None = None,
        away: Callable[[str], None] | None = None,
    ) -> None:
        """``progress`` is called with a kind and the number of moved items, ``on_state`` with the state of each batch
        and its number. ``away`` is called with the reason while the migration waits for a condition to pass.
        ``durable`` is the confirmation that is required before the next batch. Nothing is sent before :meth:`run`.
        """
        self._recoding = recoding
        self._batches = BatchMover(
            sites,
            recoding,
            journal=journal,
            to_file=to_file,
            durable=durable,
            on_state=on_state or (lambda state, batch: None),
        )
        self._sources = self._batches.sources
        self._targets = [] if to_file else list(recoding.targets)
        self._progress = progress or (lambda kind, count: None)
        self._away = away or (lambda reason: None)
        self._clock = sites[0].queue.servers.clock
        self._stop: Callable[[], bool] = lambda: False
        self._patience = 0
        self._is_sure = False

    def moved(self) -> dict[str, int]:
        """How many items all runs have moved so far, by kind."""
        return dict(self._batches.moved())

    # -- the whole ---------------------------------------------------------------------------------------------------

    def run(
        self, *, quiet: float = 1.0, follow: bool = False, stop: Callable[[], bool] = lambda: False, patience: int = 60
    ) -> Migrated:
        """Moves everything, until no item has arrived for ``quiet`` seconds and no receiver holds a value.

        With ``follow`` it keeps forwarding until ``stop`` is true, and then completes. Without ``follow``, ``stop``
        ends it between two batches, and the next run continues. It may be interrupted or killed at any point.

        Raises the errors of Redis. A temporary condition, such as a failover, is waited out for up to ``patience``
        seconds.
        """
        self._stop, self._patience = stop, patience
        self._waiting_out(self._check)
        with self._movers():
            self._again(self._settings)
            idle = 0.0
            while not stop():
                begun = self._clock.monotonic()
                # A value may have been put back since the last round, so one more round follows once no value is held.
                is_last = not follow and idle >= quiet and not self._again(self._in_flight)
                if self._again(self._round):
                    idle = 0.0
                    continue
                if self._batches.in_place or is_last:
                    break
                # Reading many leases takes a while. Redis gets a pause of the same length.
                self._clock.sleep(max(_PAUSE, self._clock.monotonic() - begun))
                idle += self._clock.monotonic() - begun
        if stop() and not follow:
            moved = self._again(self._batches.moved)
            return Migrated(moved=dict(moved), left={}, refused=dict(self._batches.reasons), stopped=True)
        moved = self._again(self._finish)
        return Migrated(moved=dict(moved), left=self._waiting_out(self._left), refused=dict(self._batches.reasons))

    def _check(self) -> None:
        sites = [source.site for source in self._sources]
        for site in (*sites, *self._recoding.targets):
            if site.ask("capacity", "EXISTS"):
                raise ArgumentError(
                    f"queue {site.name!r}: it is bounded ({site.key('capacity')!r} counts its room), and room cannot "
                    "move along with values; delete that key first, and set the size of the new queue at the end"
                )
        for site in sites:
            for other in self._targets:
                if site.client is not other.client and _is_same(site, other):
                    raise ArgumentError(
                        f"queue {site.name!r}: the other URL leads to the same queue; leave --to-url out"
                    )
            for held in held_batches(site):
                if held.to not in [writer.name for writer in self._batches.writers]:
                    raise ArgumentError(
                        f"queue {site.name!r}: {site.keys.migrating!r} holds items of a migration to {held.to!r}; "
                        "end that one first, by --resume and its journal or by its own arguments"
                    )

    @contextmanager
    def _movers(self) -> Iterator[None]:
        """Keeps due items becoming ready meanwhile, in the source and in the target."""
        places = [source.site for source in self._sources]
        places += [] if self._batches.in_place else self._targets
        handles = [site.client.delayed_queue(site.name) for site in places]
        try:
            for handle in handles:
                handle.start_moving()
            yield
        finally:
            for handle in handles:
                handle.destroy()

    def _again(self, step: Callable[[], T]) -> T:
        """Carries out a step. If an earlier failure left a batch unfinished, that batch is completed first."""

        def recovered() -> T:
            is_sure, self._is_sure = self._is_sure, False
            if not is_sure:
                self._batches.recover()
            found = step()
            self._is_sure = True
            return found

        return self._waiting_out(recovered)

    def _waiting_out(self, step: Callable[[], T]) -> T:
        """Carries out a repeatable step, and waits out temporary conditions."""
        until, is_first = self._clock.monotonic() + self._patience, True
        while True:
            try:
                return step()
            except RedissonDQError as error:
                # A missing replica may come back.
                may_pass = passes(error) or isinstance(error, DurabilityError)
                if not may_pass or self._clock.monotonic() >= until or self._stop():
                    raise
                if is_first:
                    self._away(str(error))
                is_first = False
                self._clock.sleep(1.0)

    def _round(self) -> int:
        """Moves ready values while there are any, and one batch of each other kind."""
        count = 0
        for source in self._sources:
            if self._batches.in_place:
                count += self._move(source, "waiting")
                continue
            for kind in KINDS:
                # Items that become due meanwhile go after them.
                for _ in range(_READY_FIRST):
                    moved = self._move(source, "ready")
                    count += moved
                    if not moved:
                        break
                if kind != "ready":
                    count += self._move(source, kind)
        return count

    def _move(self, source: SourceQueue, kind: str) -> int:
        count = 0 if self._stop() else self._batches.move(source, kind)
        if count:
            self._progress(kind, count)
        return count

    def _in_flight(self) -> int:
        if self._batches.in_place:
            return 0
        count = 0
        for source in self._sources:
            held, vanished = source.reader.in_flight(), source.reader.vanished()
            if vanished and source.site.ask("settings", "HGET", "paused"):
                resume = command_line("resume", [source.site.name], ["--yes"])
                values = counted(vanished, "value whose lease is", "values whose leases are")
                raise ArgumentError(
                    f"queue {source.site.name!r}: it is paused, so nobody takes back {values} over; all others have "
                    f"moved; let it go on by {resume}, and the migration by --resume"
                )
            count += held
        return count

    def _left(self) -> dict[str, int]:
        left: Counter[str] = Counter()
        for source in self._sources:
            # A source that is also a target keeps its own items.
            if source.own is not None:
                continue
            sizes = source.site.sizes()
            for kind, part in KINDS.items():
                left[kind] += sizes.get(part, 0) - (sizes.get("leases", 0) if kind == "waiting" else 0)
        return {kind: count for kind, count in left.items() if count > 0}

    # -- beside the items --------------------------------------------------------------------------------------------

    def _settings(self) -> None:
        """Copies the pause of a queue to its new name before any item is moved there."""
        if self._batches.in_place:
            return
        for source in self._sources:
            settings = [content for page in source.site.pages("settings") for content in page]
            for site in self._targets:
                puts: list[list[ExchangeStep]] = [
                    [("+n", site.key("settings"), field, value)]
                    for field, value in settings
                    if ("settings", field) not in NOTED
                ]
                site.queue.exchange(site.types, puts)

    def _finish(self) -> Counter[str]:
        """Moves the records of items that are gone, and the settings. Removes the notes. Returns the counts."""
        # The last batch may have been held by a late script.
        self._batches.recover()
        for source in self._sources:
            if self._targets and source.own is None:
                self._batches.move_leftovers(source)
                settings = [content for page in source.site.pages("settings") for content in page]
                takes: list[list[ExchangeStep]] = [
                    [("-h", source.site.key("settings"), field, value)] for field, value in settings
                ]
                source.site.queue.exchange(source.site.types, takes)
        moved = self._batches.moved()
        self._batches.forget()
        return moved


def _is_same(one: QueueSite, other: QueueSite) -> bool:
    """Whether two clients lead to one queue: the same server process, database and name."""
    if one.raw != other.raw or one.queue.servers.database != other.queue.servers.database:
        return False
    ids = [re.search(rb"run_id:(\w+)", each.queue.server_info()) for each in (one, other)]
    return ids[0] is not None and ids[1] is not None and ids[0][1] == ids[1][1]
