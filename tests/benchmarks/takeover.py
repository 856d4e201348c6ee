"""How late items are right after their mover was killed, with other processes on the same queue.

Several processes move items. One other process takes them: it moves nothing, and is never killed. MONITOR shows the
mover: the process that makes the next script call. Each process has a name that CLIENT LIST shows.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import attrs
import redis

from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks.lateness import put
from tests.benchmarks.measures import SYNC, Run, Spread
from tests.benchmarks.processes import Worker
from tests.benchmarks.tables import Goal, Table
from tests.benchmarks.watching import eventually, is_empty, subscribers

__all__ = ["Takeover", "goals", "measure", "tables"]

_QUEUE = "benchmark"
_SEED = 20240303
# Due times of one round: an item every 20 ms. The kill falls into the first second, items of the second after it count.
_EVERY_MS, _SPAN_MS, _AFTER_MS = 20, 2_500, 1_000


@attrs.frozen(kw_only=True)
class Takeover:
    """One kill. ``lateness_us`` is that of the items due within a second after it, in due order."""

    processes: int
    repetition: int
    lateness_us: list[int]
    lost: int
    twice: int


def measure(run: Run) -> list[Takeover]:
    """Kills whoever moves, again and again; another process takes its place in between."""
    sizes, url, keys, chance = run.settings.sizes, run.server.url, QueueKeys.of(_QUEUE), random.Random(_SEED)
    rounds: list[tuple[int, list[int]]] = []
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(url))
        admin.flushall()
        taker = stack.enter_context(Worker())
        movers: dict[str, Worker] = {}
        stack.callback(lambda: _close(movers.values()))
        taker.send("consume", url=url, queue=_QUEUE, transfer=False)
        for number in range(sizes.kills):
            while len(movers) < sizes.movers:
                name = f"mover-{number}-{len(movers)}"
                movers[name] = Worker()
                movers[name].send("hold", flavour="sync", url=f"{url}?client_name={name}", queues=[_QUEUE], tasks=0)
            eventually(lambda: subscribers(admin, keys) == sizes.movers, "the movers did not subscribe")
            run.say(f"takeover {number + 1}/{sizes.kills}")
            due_ms = put(admin, keys, "item", range(0, _SPAN_MS, _EVERY_MS), chance)
            time.sleep(max(0.0, due_ms[0] / 1000 - time.time()) + chance.random())
            mover = _mover(admin)
            time.sleep(chance.random() * _EVERY_MS / 1000)
            movers.pop(mover).kill()
            rounds.append((time.time_ns() // 1000, due_ms))
            eventually(lambda: is_empty(admin, keys), "nobody moves any more", _SPAN_MS)
        taker.tell()
        arrivals = [(int(value.split()[2]), at_us) for value, at_us in taker.answer()]
    return [
        _takeover(sizes.movers, number, killed_us, due_ms, arrivals)
        for number, (killed_us, due_ms) in enumerate(rounds)
    ]


def _close(workers: Iterable[Worker]) -> None:
    for worker in workers:
        worker.close()


def _mover(admin: redis.Redis) -> str:
    """The ``client_name`` of the process whose script call comes next."""
    with admin.monitor() as monitor:
        for seen in monitor.listen():
            if seen["command"].upper().startswith("EVAL") and seen["client_type"] == "tcp":
                address = f"{seen['client_address']}:{seen['client_port']}"
                break
    clients: Any = admin.client_list()
    name = next(str(client["name"]) for client in clients if client["addr"] == address)
    return name.partition("/")[0]


def _takeover(
    processes: int, number: int, killed_us: int, due_ms: Sequence[int], arrivals: Sequence[tuple[int, int]]
) -> Takeover:
    counted = {due for due in due_ms if 0 <= due * 1000 - killed_us <= _AFTER_MS * 1000}
    found = [(due, at_us) for due, at_us in arrivals if due in counted]
    return Takeover(
        processes=processes,
        repetition=number,
        lateness_us=[at_us - due * 1000 for due, at_us in sorted(found)],
        lost=len(counted) - len({due for due, _at_us in found}),
        twice=len(found) - len({due for due, _at_us in found}),
    )


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Takeover]) -> list[Table]:
    """One row: over all kills."""
    if not any(one.lateness_us for one in found):
        return []
    worst = Spread.of([max(one.lateness_us) / 1000 for one in found if one.lateness_us])
    every = Spread.of([late / 1000 for one in found for late in one.lateness_us])
    row = (
        f"{found[0].processes}",
        f"{len(found)}",
        every.text(2),
        worst.text(2),
        f"{sum(one.lost for one in found)}, {sum(one.twice for one in found)}",
    )
    return [
        Table(
            title=f"Takeover: lateness in ms of the items due within {_AFTER_MS / 1000:g} s after the mover was killed",
            header=("processes", "kills", "all items", "the latest of each kill", "lost, twice"),
            rows=[row],
        )
    ]


def goals(found: Sequence[Takeover]) -> list[Goal]:
    """A death must not cost an item."""
    wrong = sum(one.lost + one.twice for one in found)
    text = f"{SYNC}: no item lost or twice when the process that moves is killed"
    return [Goal(text=text, found=f"{wrong}" if found else "", met=wrong == 0 if found else None)]
