"""The queues of a server: their figures, with the partitions of a queue as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from redisson_dq.admin import Admin
from redisson_dq.admin.entries import figures_together
from redisson_dq.admin.names import exact_name, named
from redisson_dq.errors import RedissonDQError
from redisson_dq.stats import QueueStats

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["Overview", "figures_of", "grouped", "overview"]

# The figures of this many queues are read in one round trip.
_TOGETHER = 100


@attrs.frozen(kw_only=True)
class Overview:
    """A queue with its figures. ``partitions`` is the number of partitions found, or None for a queue without
    partitions.

    ``error`` is why the figures of the queue or of a partition are missing.
    """

    name: str
    stats: QueueStats | None
    partitions: int | None = None
    error: RedissonDQError | None = None

    @property
    def problem(self) -> str | None:
        """Why the figures are incomplete: the error, or keys of the wrong type. None if they are complete."""
        return str(self.error) if self.error is not None else None if self.stats is None else self.stats.error


def overview(client: Client, match: str | None = None) -> Iterator[Overview]:
    """The queues whose names match a pattern, with their figures, sorted by name.

    The names come from SCAN in calls of 1,000 keys, and from the subscriptions. A queue that has only ready values is
    found only if the pattern is its name. The figures take one round trip for 100 queues. The partitions of a queue are
    one row. Example::

        for each in overview(client, "orders*"):
            print(each.name, each.stats)

    Raises ArgumentError, RedisConnectionError, RedisReplyError.
    """
    wanted = named(match)
    wholes = grouped(client, client.queue_names())
    found = [(name, parts) for name, parts in sorted(wholes.items()) if name == match or wanted(name)]
    yield from figures_of(client, found)
    exact = None if match is None else exact_name(match)
    if exact is not None and not found:
        yield from (each for each in figures_of(client, [(exact, [exact])]) if each.stats is None or each.stats.exists)


def grouped(client: Client, names: Iterable[str]) -> dict[str, list[str]]:
    """Each queue with its parts: the names of the partitions that are in ``names``, or only the queue's own name."""
    wholes: dict[str, list[str]] = {}
    admin = Admin(client)
    for name in names:
        whole = admin.whole(name)
        wholes.setdefault(name if whole is None else whole[0], []).append(name)
    return wholes


def figures_of(client: Client, queues: Sequence[tuple[str, list[str]]]) -> Iterator[Overview]:
    """The figures of queues, each with the names of its parts, in one round trip for 100 queues."""
    for i in range(0, len(queues), _TOGETHER):
        some = queues[i : i + _TOGETHER]
        told = client.stats(*(part for _, parts in some for part in parts), return_exceptions=True)
        for each, parts in some:
            yield _together(each, parts, [told[part] for part in parts])


def _together(whole: str, parts: list[str], found: list[QueueStats | RedissonDQError]) -> Overview:
    error = next((each for each in found if isinstance(each, RedissonDQError)), None)
    count = None if parts == [whole] else len(parts)
    figures = [each for each in found if isinstance(each, QueueStats)]
    if not figures:
        return Overview(name=whole, stats=None, partitions=count, error=error)
    stats = figures[0] if count is None else figures_together(whole, figures)
    return Overview(name=whole, stats=stats, partitions=count, error=error)
