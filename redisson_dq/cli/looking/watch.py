"""``redisson-dq watch``: a table of queues that is redrawn continuously."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any

import attrs
import click

from redisson_dq.cli.frame import (
    FINE,
    BoundedNumber,
    Column,
    Output,
    Seconds,
    Server,
    dead_letter_option,
    found_partitions,
    json_option,
    partitions_option,
    queues_argument,
    quit_key,
    server_options,
    tell_part_of_cluster,
)
from redisson_dq.cli.looking._values import span_in_words
from redisson_dq.errors import RedisConnectionError, RedissonDQError

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq.browsing import DueTimes
    from redisson_dq.cli.documents.looking import DueCounts, Lateness, WatchDocument, WatchedRow
    from redisson_dq.stats import QueueStats

__all__ = ["command"]

_BARS = " ▁▂▃▄▅▆▇█"
_SPANS = "due|1s|10s|1m|10m|1h|1d|7d|later"
# How many queues are watched if none is named.
_MOST = 20


@attrs.frozen(kw_only=True)
class _WatchedQueue:
    """One queue in one round. ``change`` is the change of waiting and ready items per second since the previous round.

    ``at`` is the time of the round, by the client's clock: the server's clock may be changed between two rounds.
    ``error`` is why a queue has no figures, while others have some.
    """

    name: str
    at: float = 0.0
    stats: QueueStats | None = None
    due: DueTimes | None = None
    error: RedissonDQError | None = None
    waiting_change: float | None = None
    ready_change: float | None = None

    @property
    def problem(self) -> str | None:
        """Why its figures are missing."""
        return str(self.error) if self.error is not None else None if self.stats is None else self.stats.error


@click.command(
    help=f"""Watch QUEUEs, or the first {_MOST} of the server, until q or Ctrl-C.

    The bars count the items that wait by their due times: {_SPANS.replace("|", ", ")}.
    A change is by how many values a second a side grows or shrinks. p50 and p99 say how late overdue items are.
    """
)
@queues_argument(required=False)
@click.option("--interval", metavar="S", type=Seconds(), default=2.0, help="Look every S seconds (2).")
@click.option("--count", metavar="N", type=BoundedNumber(int, 1, what="a number of looks"), help="End after N looks.")
@partitions_option
@dead_letter_option
@server_options
@json_option
def command(
    queues: tuple[str, ...],
    interval: float,
    count: int | None,
    partitions: int | None,
    dead_letter: str | None,
    server: Server,
    output: Output,
) -> int:
    """Carry out ``watch``: 0 after q or ``--count`` looks, 130 after Ctrl-C. With ``--json`` each look is a line."""
    with server.client() as client, contextlib.ExitStack() as stack:
        tell_part_of_cluster(client)
        show, waited = stack.enter_context(output.live()), stack.enter_context(quit_key())
        watched = _WatchedTable(client, queues, partitions, dead_letter)
        for looks in itertools.count(1):
            problem = watched.look()
            if output.as_json:
                rows = [] if problem else [_as_fields(each) for each in watched.looks]
                told: WatchDocument = {"error": problem, "queues": rows}
                output.line(**told)
            else:
                show(_COLUMNS, [_row(each) for each in watched.looks], problem or watched.note)
            if looks == count or waited(interval):
                break
    return FINE


class _WatchedTable:
    """The queues at the last successful round. The first round must succeed."""

    def __init__(
        self, client: Client, queues: tuple[str, ...], partitions: int | None, dead_letter: str | None
    ) -> None:
        self._client, self._names, self._partitions = client, queues, partitions
        self._dead_letter = dead_letter
        self._parts: dict[str, int | None] = {}
        self.looks: list[_WatchedQueue] = []
        self.note = ""

    def look(self) -> str | None:
        """Reads all queues. After the first round, an error is shown, such as that Redis is away."""
        try:
            looks = self._looks()
            if looks and all(each.error is not None for each in looks):
                raise looks[0].error or RedissonDQError()
        except RedissonDQError as error:
            if not self.note:
                raise
            return f"no figures since {self.note}: {error}"
        self.looks = looks
        times = [each.stats.server_time for each in looks if each.stats is not None]
        problems = [f"{each.name}: {each.problem}" for each in looks if each.problem]
        self.note = "; ".join([f"{max(times):%H:%M:%S} UTC", *problems]) if times else "no queue found yet"
        return None

    def _looks(self) -> list[_WatchedQueue]:
        before = {each.name: each for each in self.looks}
        looks = []
        # If there was no queue, there may be some by now.
        self._names = self._names or _first_names(self._client)
        for name in self._names:
            try:
                if name not in self._parts:
                    self._parts[name] = found_partitions(self._client, name, self._partitions, may_be_missing=True)
                look = _look(self._client, name, self._parts[name], self._dead_letter, before.get(name))
                if look.stats is not None and not look.stats.exists:
                    # It may be created with partitions.
                    del self._parts[name]
            except RedisConnectionError:
                raise
            except RedissonDQError as error:
                look = _WatchedQueue(name=name, error=error)
            looks.append(look)
        return looks


def _first_names(client: Client) -> tuple[str, ...]:
    from redisson_dq.browsing import overview

    return tuple(each.name for each in itertools.islice(overview(client), _MOST))


def _look(
    client: Client, name: str, partitions: int | None, dead_letter: str | None, last: _WatchedQueue | None
) -> _WatchedQueue:
    from redisson_dq.admin import Admin
    from redisson_dq.browsing import due_times

    stats = client.stats(name, partitions=partitions, dead_letter=dead_letter)[name]
    before = None if last is None else last.stats
    at = Admin(client).clock.monotonic()
    seconds = 0.0 if last is None else at - last.at

    def change(now: int, then: int) -> float | None:
        return (now - then) / seconds if seconds > 0 else None

    return _WatchedQueue(
        name=name,
        at=at,
        stats=stats,
        due=due_times(client, name, partitions),
        waiting_change=None if before is None else change(stats.waiting, before.waiting),
        ready_change=None if before is None else change(stats.ready, before.ready),
    )


# If not all figures fit, those that show whether something is stuck are left out last.
_COLUMNS = [
    Column("queue", cut=True, least=24),
    Column("waiting", right=True),
    Column("/s", right=True, spare=5),
    Column("overdue", right=True, spare=1),
    Column("p50", right=True, spare=7),
    Column("p99", right=True, spare=3),
    Column("ready", right=True, spare=2),
    Column("/s", right=True, spare=6),
    Column("in flight", right=True, spare=8),
    Column("dead", right=True, spare=9),
    Column(_SPANS.replace("|", " "), spare=4),
]


def _row(look: _WatchedQueue) -> list[object]:
    stats, due = look.stats, look.due
    if stats is None or due is None:
        return [f"{look.name}: {look.error}", *[None] * (len(_COLUMNS) - 1)]
    late = due.late
    return [
        f"{stats.name}{' (paused)' if stats.is_paused else ''}",
        stats.waiting,
        _signed(look.waiting_change),
        stats.overdue,
        span_in_words(late[0]) if late else None,
        span_in_words(late[2]) if late else None,
        stats.ready,
        _signed(look.ready_change),
        stats.in_flight,
        stats.dead,
        _bars([due.overdue, *due.within, due.later]),
    ]


def _signed(change: float | None) -> str | None:
    return None if change is None else f"{change:+,.1f}"


def _bars(counts: list[int]) -> str:
    """One bar a span, each below its name in the head of the column."""
    most = max(counts)
    cells = []
    for name, count in zip(_SPANS.split("|"), counts, strict=True):
        height = 0 if not most else max(1 if count else 0, round(count / most * (len(_BARS) - 1)))
        cells.append((_BARS[height] * min(2, len(name))).ljust(len(name)))
    return " ".join(cells)


def _as_fields(look: _WatchedQueue) -> WatchedRow:
    return {
        "name": look.name,
        "error": look.problem,
        "stats": look.stats,
        "waiting_change": look.waiting_change,
        "ready_change": look.ready_change,
        "late_seconds": None if look.due is None else _lateness(look.due),
        "due": None if look.due is None else _counts(look.due),
    }


def _lateness(due: DueTimes) -> Lateness:
    p50, p90, p99, most = (each.total_seconds() for each in due.late) if due.late else (None,) * 4
    return {"p50": p50, "p90": p90, "p99": p99, "max": most}


def _counts(due: DueTimes) -> DueCounts:
    made: Any = dict(zip(_SPANS.split("|"), [due.overdue, *due.within, due.later], strict=True))
    counts: DueCounts = made
    return counts
