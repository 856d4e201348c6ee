"""How long one tenant with many ready values delays the others, with ``turns=`` and without.

    python -m tests.benchmarks.turns                      some seconds
    python -m tests.benchmarks.turns --noisy 100000       as many ready values of one tenant

The scripts are those of a worker, on a real server. Each handling takes the same time, which is not waited for: the
figures do not depend on the machine. They are the time from the arrival of a value of the others to the end of its
handling, and how many other values began in between.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import random
from typing import Any

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.working.incoming import page
from redisson_dq.working.limits import Admission, Limit
from tests.benchmarks.measures import percentile
from tests.conftest import PROGRAMS
from tests.integration.admitting import Opened, opened, told, words_of

__all__ = ["delays", "main"]

_SLOTS, _OTHERS, _HANDLING = 8, 20, 0.05
#: How much of the slots the others need.
_LOAD = 0.3


def delays(queue: Opened, by: Admission | None, noisy: int, arrivals: int) -> tuple[list[float], list[float]]:
    """The seconds of each of the others' values, and the values that began between its arrival and its own begin."""
    chance, numbers = random.Random(1), itertools.count()
    for start in range(0, noisy, 1000):
        queue.add_all([json.dumps([0, next(numbers)]) for _ in range(min(1000, noisy - start))])
    comes, coming = 0.0, []
    for _ in range(arrivals):
        comes += chance.expovariate(_LOAD * _SLOTS / _HANDLING)
        coming.append((comes, json.dumps([1 + chance.randrange(_OTHERS), next(numbers)])))
    coming.reverse()
    came: dict[str, tuple[float, int]] = {}
    running: list[tuple[float, int, Any]] = []
    seconds, places, begun, now = list[float](), list[float](), 0, 0.0
    while len(seconds) < arrivals:
        next_end = running[0][0] if running else float("inf")
        if coming and coming[-1][0] <= next_end:
            now, value = coming.pop()
            came[value] = now, begun
            queue.add(value)
        else:
            now, _, delivery = heapq.heappop(running)
            delivery.ack()
            if delivery.value in came:
                seconds.append(now - came[delivery.value][0])
        for _ in range(2):
            if len(running) < _SLOTS:
                for delivery in _begin(queue, by, _SLOTS - len(running)):
                    begun += 1
                    if delivery.value in came:
                        places.append(begun - 1 - came[delivery.value][1])
                    heapq.heappush(running, (now + _HANDLING, next(numbers), delivery))
    return seconds, places


def _begin(queue: Opened, by: Admission | None, count: int) -> list[Any]:
    by = by or Admission(name="h", limit=Limit(1000))
    source = queue.source(3600, limits=words_of(by))
    seen = queue.connections.run(source.peek(page(count, sorts=by.turns is not None)))
    return told(queue, by, count, 3600, seen=seen)[1] if seen else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--noisy", type=int, default=2000, help="ready values of one tenant (2000)")
    parser.add_argument("--arrivals", type=int, default=300, help="values of the others (300)")
    terms = parser.parse_args()
    in_turn = Admission(name="h", turns=lambda value: json.loads(value)[0])
    runs = {
        "the others alone": (in_turn, 0),
        f"beside {terms.noisy} of one tenant, turns": (in_turn, terms.noisy),
        f"beside {min(terms.noisy, 2000)} of one tenant, no turns": (None, min(terms.noisy, 2000)),
    }
    print(f"{_SLOTS} slots, {_HANDLING} s for each value, {_OTHERS} others that need {_LOAD:.0%} of the slots")
    for name, (by, noisy) in runs.items():
        with EmbeddedServer(program=PROGRAMS["redis"]()) as server:
            with redisson_dq.connect(server.url, codec=StringCodec()) as client:
                seconds, places = delays(opened(client), by, noisy, terms.arrivals)
        told = [f"p{rank} {percentile(seconds, rank):.3f} s" for rank in (50, 99)]
        told += [f"p{rank} {percentile(places, rank):.0f} values" for rank in (50, 99)]
        print(f"{name}: {', '.join(told)}, most {max(seconds):.3f} s and {max(places):.0f} values", flush=True)


if __name__ == "__main__":
    main()
