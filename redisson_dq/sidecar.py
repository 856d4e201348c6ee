"""Moves the due items of queues and consumes nothing: once, or beside the services that own the queues.

Use it when nothing moves: Redisson moves items only while it has the delayed queue itself open. Any program may move
its items, in either envelope format. ``redisson-dq move`` is built on these calls.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from threading import Event

import attrs

from redisson_dq._operations.shell import command_line
from redisson_dq._sync.client import Client
from redisson_dq._sync.queues.delayed import DelayedQueue
from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError, WrongTypeError
from redisson_dq.health import ClientHealth
from redisson_dq.observing import Happening, Moved
from redisson_dq.stats import QueueStats
from redisson_dq.wire import calls
from redisson_dq.wire.names import exact_name, named
from redisson_dq.wire.partitions import partition_names, whole_of

__all__ = ["MovedQueue", "Sidecar", "move_due", "names_for"]

logger = logging.getLogger("redisson_dq")

# A queue is given up when nothing has moved for this many seconds.
_PATIENCE = 10.0
_PAUSE = 0.02
# How many values of a queue are made ready again.
_AT_ONCE = 1000


@attrs.frozen(kw_only=True)
class MovedQueue:
    """The outcome for one queue: how many items were moved, how many are still due, and why.

    ``error`` is why the queue was refused: the user lacks rights, or a key has the wrong type.
    """

    name: str
    moved: int
    left: int
    reason: str | None = None
    error: RedissonDQError | None = attrs.field(default=None, eq=False)


def names_for(client: Client, queues: Iterable[str], partitions: int | None = None) -> list[str]:
    """The names that these names and patterns currently stand for. A queue in partitions yields the name of each.

    Redis is scanned for patterns and partitions. A pattern also matches the queue whose name is the text of the
    pattern, and all partitions of a queue whose name it matches. A name that is no pattern is always returned, even if
    the queue does not exist. With ``partitions`` it stands for this many partitions, which are always returned too.
    """
    wanted = list(dict.fromkeys(queues))
    exact = [exact_name(each) for each in wanted]
    patterns = [named(each) for each, name in zip(wanted, exact, strict=True) if name is None]
    wholes = {name for name in exact if name is not None}
    names = dict.fromkeys(_there(client, wholes, partitions))
    try:
        for name in client.queue_names():
            whole = whole_of(name, client.runtime.options.name_mapper)
            known_as = {name} if whole is None else {name, whole[0]}
            # A name may itself contain the characters of a pattern.
            if not known_as.isdisjoint(wanted) or any(any(map(each, known_as)) for each in patterns):
                names[name] = None
    except RedisReplyError as error:
        # Not every user may scan. Queues without partitions do not need it.
        if patterns:
            raise
        logger.info("partitions are not looked for: %s", error)
    except RedisConnectionError as error:
        # Queues on the other nodes of a cluster do not need the node that is away.
        if patterns or not client.runtime.connections.is_cluster:
            raise
        logger.warning("partitions are not looked for: %s", error)
    return sorted(names)


def _there(client: Client, wholes: Iterable[str], partitions: int | None) -> list[str]:
    """The names that are known without asking Redis."""
    if partitions is None:
        return list(wholes)
    mapper = client.runtime.options.name_mapper
    return [name for whole in wholes for name in partition_names(whole, partitions, mapper)]


def move_due(client: Client, queues: Sequence[str], partitions: int | None = None) -> list[MovedQueue]:
    """Moves all items of these queues that are due now to their ready lists, and takes none. Returns a row for each
    queue.

    Values of dead receivers become ready again, too. ``queues`` are names and patterns. With ``partitions`` each name
    stands for this many. Items that fall due meanwhile may be moved too. If a queue is paused, the user has no rights
    to it, or its items do not move for 10 s, its row has a reason. Example::

        for row in move_due(client, ["orders", "bills*"]):
            print(row.name, row.moved, row.left, row.reason or "")

    The client moves these queues from now on. Raises ArgumentError, RedisConnectionError, RedisReplyError, ClosedError.
    """
    counts: dict[str, int] = {}

    def count(happening: Happening) -> None:
        if isinstance(happening, Moved):
            counts[happening.queue] = counts.get(happening.queue, 0) + happening.count

    client.observe(count)
    try:
        names = names_for(client, queues, partitions)
        if not names:
            return []
        refusals, wrong, times = _refused(client, names)
        left: dict[str, tuple[int, str | None]] = {name: (0, str(error)) for name, error in refusals.items()}
        able = [name for name in names if name not in left]
        handles = [_opened(client, name) for name in able]
        _make_ready_again(client, handles, counts)
        if able:
            left |= _wait(client, able, max(times), counts)
            _hear_all(client)
        for handle in handles:
            handle.destroy()
    finally:
        client.stop_observing(count)
    rows: dict[str, MovedQueue] = {}
    for name in names:
        whole = whole_of(name, client.runtime.options.name_mapper)
        shown = name if whole is None else whole[0]
        before = rows.get(shown, MovedQueue(name=shown, moved=0, left=0))
        late, reason = left.get(name, (0, None))
        rows[shown] = MovedQueue(
            name=shown,
            moved=before.moved + counts.get(name, 0),
            left=before.left + late,
            reason=before.reason or reason,
            error=before.error or refusals.get(name) or wrong.get(name),
        )
    return list(rows.values())


def _refused(
    client: Client, names: Sequence[str]
) -> tuple[dict[str, RedissonDQError], dict[str, WrongTypeError], list[datetime]]:
    """The queues that cannot be read, with the refusals, the queues with a key of the wrong type, and the times of the
    reads.
    """
    refused: dict[str, RedissonDQError] = {}
    wrong: dict[str, WrongTypeError] = {}
    times = []
    for name, figures in client.stats(*names, return_exceptions=True).items():
        # On a cluster, other nodes may still answer.
        if isinstance(figures, RedisConnectionError) and not client.runtime.connections.is_cluster:
            raise figures
        if isinstance(figures, RedissonDQError):
            refused[name] = figures
        else:
            times.append(figures.server_time)
            for key in figures.wrong_types[:1]:
                wrong[name] = WrongTypeError(str(key), key=key.key, expected=key.expected, found=key.type)
    return refused, wrong, times


def _opened(client: Client, name: str) -> DelayedQueue[object]:
    handle: DelayedQueue[object] = client.delayed_queue(name)
    handle.start_moving()
    return handle


def _make_ready_again(client: Client, handles: Sequence[DelayedQueue[object]], counts: dict[str, int]) -> None:
    """Makes values ready again that were handed to receivers which are gone. If a receiver is only slow, it finds its
    value at the head of the list.
    """
    requests = [calls.return_arrivals(handle.keys, _AT_ONCE) for handle in handles]
    found = client.runtime.connections.run_many(requests)
    for handle, count in zip(handles, found, strict=True):
        # If a queue refuses, the reads that follow find the reason.
        if isinstance(count, int):
            counts[handle.name] = counts.get(handle.name, 0) + count


def _wait(
    client: Client, names: Sequence[str], began: datetime, counts: dict[str, int]
) -> dict[str, tuple[int, str | None]]:
    """Waits until the items that were due at the beginning have moved. Returns how many are left in other queues."""
    clock = client.runtime.connections.clock
    left: dict[str, tuple[int, str | None]] = {}
    waiting, progress = set(names), (-1, clock.monotonic())
    while waiting:
        found = client.stats(*waiting, return_exceptions=True)
        for name, figures in found.items():
            if isinstance(figures, RedissonDQError):
                raise figures
            reason = _obstacle(figures)
            if reason is not None:
                left[name] = (figures.overdue, reason)
            if reason is not None or not _is_late(figures, began):
                waiting.discard(name)
        moved = sum(counts.values())
        if moved != progress[0]:
            progress = (moved, clock.monotonic())
        elif clock.monotonic() - progress[1] > _PATIENCE:
            for name in waiting:
                overdue = client.stats(name)[name].overdue
                left[name] = (overdue, f"it does not move: {command_line('doctor', [name])} tells why")
            return left
        if waiting:
            clock.sleep(_PAUSE)
    return left


def _hear_all(client: Client) -> None:
    """Waits until the client has reported all moves. Redis shows a move before its reply arrives."""
    driver, told = client.runtime.transfer_driver, Event()
    if driver is not None:
        # The driver reports a transfer in the same step that sends it.
        driver.later("move_due", 0, told.set)
        told.wait(_PATIENCE)


def _is_late(figures: QueueStats, began: datetime) -> bool:
    return figures.overdue > 0 and figures.server_time - figures.late_by <= began


def _obstacle(figures: QueueStats) -> str | None:
    if figures.wrong_types:
        return figures.error
    return "it is paused" if figures.is_paused and figures.overdue else None


class Sidecar:
    """Keeps queues moving, including queues that match a pattern and appear later. It does not close its client.

    ``queues`` are names and patterns. :meth:`look` opens the queues that are new; call it once a minute. Partitions are
    found by their keys. With ``partitions`` each name has this many, which are opened even before they have keys.
    """

    def __init__(self, client: Client, queues: Sequence[str], partitions: int | None = None) -> None:
        self._client, self._queues, self._partitions = client, tuple(queues), partitions
        self._open: dict[str, DelayedQueue[object]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The queues that are moved, each partition by its own name."""
        return tuple(self._open)

    def look(self) -> list[str]:
        """Opens new queues, and returns their names. While Redis is away, it returns none."""
        try:
            names = names_for(self._client, self._queues, self._partitions)
        except RedissonDQError as error:
            logger.warning("cannot look for queues: %s", error)
            wholes = [name for name in map(exact_name, self._queues) if name is not None]
            names = _there(self._client, wholes, self._partitions)
        new = [name for name in names if name not in self._open]
        for name in new:
            self._open[name] = _opened(self._client, name)
        return new

    def health(self, timeout: float = 0.5) -> ClientHealth:
        """The health of the client. Waits this many seconds at most."""
        return self._client.health(timedelta(seconds=timeout))
