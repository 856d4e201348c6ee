"""How long it takes to deliver very many items that fall due together. One process takes many of them at once.

``entries.py`` says how the items get there. Time runs from the first due time to the arrival of the last item.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any, Protocol

import attrs
import redis

from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries
from tests.benchmarks.measures import JAVA_ENTRIES, LEAN, REDISSON, SYNC, Run, Spread
from tests.benchmarks.processes import Worker
from tests.benchmarks.subjects import Arrivals, java_address
from tests.benchmarks.tables import Goal, Table, at_most
from tests.benchmarks.watching import Watch, eventually, subscribers
from tests.peer import JavaPeer

__all__ = [
    "ORDERS",
    "Contender",
    "Drain",
    "contenders",
    "drained",
    "goals",
    "measure",
    "script_ms",
    "short_scripts",
    "tables",
]

QUEUE = "benchmark"

#: The orders of due times relative to the offers: functions of the number of items and a seed.
AT_ONCE, IN_ORDER, AT_RANDOM = "one moment", "1 s, in offer order", "1 s, random order"
ORDERS: dict[str, Callable[[int, int], list[int]]] = {
    AT_ONCE: lambda count, seed: [0] * count,
    IN_ORDER: lambda count, seed: sorted(_offsets(count, seed)),
    AT_RANDOM: lambda count, seed: _offsets(count, seed),
}

_LIMIT = 1000  # values of one take
_WARM_UP = 2000
# With more items, one repetition is enough, because each takes seconds.
_REPEATED = 50_000


def _offsets(count: int, seed: int) -> list[int]:
    chance = random.Random(seed)
    return [chance.randrange(1000) for _ in range(count)]


@attrs.frozen(kw_only=True)
class Drain:
    """One drain. ``seconds`` are from the first due time to the last arrival, or to the limit."""

    subject: str
    items: int
    #: Entries in the queue, including those that fall due.
    waiting: int
    order: str
    repetition: int
    seconds: float
    #: Items that arrived within the limit, before their due time, not at all, and more than once.
    arrived: int
    early: int
    lost: int
    twice: int
    limit_s: float
    #: 0 when no script call took a tenth of a millisecond.
    longest_script_us: int
    scripts: int
    server_cpu_s: float
    calls: dict[str, int]

    @property
    def complete(self) -> bool:
        return not self.lost


class Taker(Protocol):
    """A process that takes many items in a call."""

    def listen(self, url: str, count: int, timeout: float) -> None:
        """Starts to take ``count`` values within a time limit in seconds. Does not wait."""

    def arrivals(self) -> Arrivals:
        """Waits for the values. The client is closed afterwards."""

    def close(self) -> None:
        """Ends the process."""


@attrs.frozen(kw_only=True)
class Contender:
    """The consumer, and the kind of entries."""

    name: str
    write: Callable[[str, str, int], None]
    taker: Taker


class _PythonTaker:
    def __init__(self) -> None:
        self._worker = Worker()
        self._limit = 0.0

    def listen(self, url: str, count: int, timeout: float) -> None:
        self._limit = timeout + 30.0
        self._worker.send("drain", url=url, queue=QUEUE, count=count, timeout=timeout, limit=_LIMIT)

    def arrivals(self) -> Arrivals:
        return [(value, at_us) for batch, at_us in self._worker.answer(self._limit) for value in batch]

    def close(self) -> None:
        self._worker.close()


class _JavaTaker:
    def __init__(self, peer: JavaPeer) -> None:
        self._peer = peer
        self._limit = 0.0
        self._taken: Future[Any] = Future()

    def listen(self, url: str, count: int, timeout: float) -> None:
        self._limit = timeout + 30.0
        self._peer.call("open", address=java_address(url), codec="StringCodec")
        self._peer.call("open_delayed", queue=QUEUE)
        self._taken = self._peer.submit(
            "drain", queue=QUEUE, count=count, limit=_LIMIT, timeoutMs=round(timeout * 1000)
        )

    def arrivals(self) -> Arrivals:
        batches = self._taken.result(self._limit)
        self._peer.call("close", timeout=self._limit)
        return [(value, round(batch["atMs"] * 1000)) for batch in batches for value in batch["values"]]

    def close(self) -> None:
        """The JVM belongs to whoever started it."""


def contenders(run: Run, stack: ExitStack) -> list[Contender]:
    """All contenders with their processes, which end with the stack."""
    taker = _PythonTaker()
    stack.callback(taker.close)
    found = [
        Contender(name=SYNC, write=entries.mirrored, taker=taker),
        Contender(name=LEAN, write=entries.lean, taker=taker),
        Contender(name=JAVA_ENTRIES, write=entries.java, taker=taker),
    ]
    if run.peer is not None:
        found.append(Contender(name=REDISSON, write=entries.java, taker=_JavaTaker(run.peer)))
    return found


def measure(run: Run) -> list[Drain]:
    """Every size in every order, contenders in turn."""
    sizes, found = run.settings.sizes, []
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url))
        everyone = contenders(run, stack)
        for contender in everyone:
            _one(run, admin, contender, min(_WARM_UP, min(sizes.drains)), IN_ORDER, 0)
        for items in sizes.drains:
            for repetition in range(run.settings.repeat if items <= _REPEATED else 1):
                for order in ORDERS:
                    for contender in everyone:
                        if contender.name == REDISSON and items > sizes.redisson_drains:
                            continue
                        run.say(f"drain {items:,}, {order}, {repetition + 1}: {contender.name}")
                        found.append(_one(run, admin, contender, items, order, repetition))
    return found


def _one(run: Run, admin: redis.Redis, contender: Contender, items: int, order: str, repetition: int) -> Drain:
    keys = QueueKeys.of(QUEUE)
    admin.flushall()
    contender.write(run.server.url, QUEUE, items)
    members = entries.numbered(admin, keys)
    return drained(run, admin, contender, members, waiting=items, order=order, repetition=repetition)


def drained(
    run: Run,
    admin: redis.Redis,
    contender: Contender,
    members: Sequence[bytes],
    *,
    waiting: int,
    order: str,
    repetition: int,
) -> Drain:
    """Makes these waiting entries due, in that order, and lets the contender take them."""
    keys, limit, count = QueueKeys.of(QUEUE), run.settings.sizes.drain_limit, len(members)
    contender.taker.listen(run.server.url, count, limit + 10.0)
    eventually(lambda: subscribers(admin, keys) == 1, f"{contender.name} did not subscribe")
    watch = Watch(admin)
    offsets = ORDERS[order](count, repetition)
    start_ms = entries.make_due(admin, keys, members, offsets)
    due_us = {
        f"{entries.number_of(member)}": (start_ms + offset) * 1000
        for member, offset in zip(members, offsets, strict=True)
    }
    arrivals = contender.taker.arrivals()
    watch.end()
    eventually(lambda: subscribers(admin, keys) == 0, f"{contender.name} did not leave", round(limit * 1000))
    first_us = (start_ms + min(offsets)) * 1000
    arrived = {value for value, _at_us in arrivals}
    complete = len(arrived) == count
    return Drain(
        subject=contender.name,
        items=count,
        waiting=waiting,
        order=order,
        repetition=repetition,
        seconds=(max(at_us for _value, at_us in arrivals) - first_us) / 1e6 if complete else limit,
        arrived=len(arrived),
        early=sum(at_us < due_us[value] for value, at_us in arrivals),
        lost=count - len(arrived),
        twice=len(arrivals) - len(arrived),
        limit_s=limit,
        longest_script_us=watch.longest_us,
        scripts=watch.calls.get("evalsha", 0) + watch.calls.get("eval", 0),
        server_cpu_s=watch.cpu_s,
        calls=watch.calls,
    )


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Drain]) -> list[Table]:
    """One: a row for each size, order and contender."""
    rows = [(f"{items:,}", order, subject, *_figures(runs)) for (items, order, subject), runs in grouped(found).items()]
    largest = {f"{size:,}" for size in sorted({one.items for one in found})[-2:]}
    return [
        Table(
            chart="drain",
            brief=[row for row in rows if row[0] in largest and row[1] != IN_ORDER],
            title="Drain: seconds from the first due time to the last arrival",
            header=(
                *("items", "due", "consumer", "seconds", "longest script, ms", "scripts"),
                *("server CPU, s", "early", "lost, twice"),
            ),
            rows=rows,
        )
    ]


def grouped(found: Sequence[Drain]) -> dict[tuple[int, str, str], list[Drain]]:
    """The repetitions by items, order and subject."""
    cases: dict[tuple[int, str, str], list[Drain]] = {}
    for one in found:
        cases.setdefault((one.items, one.order, one.subject), []).append(one)
    return cases


def _figures(runs: Sequence[Drain]) -> tuple[str, ...]:
    seconds = Spread.of([one.seconds for one in runs]).text(2)
    if not all(one.complete for one in runs):
        seconds = f"{min(one.arrived for one in runs):,} came within {runs[0].limit_s:g}"
    return (
        seconds,
        script_ms(runs).text(1),
        Spread.of([one.scripts for one in runs]).text(0),
        Spread.of([one.server_cpu_s for one in runs]).text(2),
        f"{sum(one.early for one in runs)}",
        f"{sum(one.lost for one in runs)}, {sum(one.twice for one in runs)}",
    )


def short_scripts(what: str, ours: Sequence[Drain]) -> Goal:
    """The goal that no call was too long. A single call misses it, whatever the median."""
    longest = [one.longest_script_us / 1000 for one in ours if one.waiting < 100_000]
    text = f"{SYNC}: {what}: no script longer than 20 ms below 100,000 waiting"
    return at_most(text, Spread.of([max(longest)]) if longest else None, 20.0, unit="ms")


def script_ms(runs: Sequence[Drain]) -> Spread:
    """The longest script call of each run."""
    return Spread.of([one.longest_script_us / 1000 for one in runs])


def goals(found: Sequence[Drain]) -> list[Goal]:
    """The time that a drain may take, and the time that Redis may be blocked."""
    cases = grouped(found)
    made = []
    for items, limit in ((50_000, 1.5), (200_000, 4.0)):
        runs = cases.get((items, AT_RANDOM, SYNC))
        seconds = Spread.of([one.seconds for one in runs]) if runs else None
        made.append(at_most(f"{SYNC}: {items:,} random within 1 s drained in {limit:g} s", seconds, limit, unit="s"))
    ours = [one for one in found if one.subject != REDISSON]
    made.append(short_scripts("drain", ours))
    wrong = sum(one.early + one.lost + one.twice for one in ours)
    text = f"{SYNC}: no item of a drain early, lost or twice"
    made.append(Goal(text=text, found=f"{wrong}" if ours else "", met=wrong == 0 if ours else None))
    return made
