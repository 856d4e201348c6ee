"""One of many Python processes that race for the same items: ``python -m tests.workers.racing WORK JSON``.

It says ``ready``, starts at the first line it reads (JSON: the ids), and ends with one line of JSON: what it was told.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from typing import Any

import redisson_dq
from redisson_dq._redis.tuning import tuned
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DuplicateItemError


def _ids(chance: random.Random) -> list[str]:
    """In an order of its own."""
    print("ready", flush=True)
    ids: list[str] = json.loads(sys.stdin.readline())
    chance.shuffle(ids)
    return ids


def cancel(url: str, queue: str, seed: int, envelope: Any) -> dict[str, str]:
    """Cancels each item once."""
    with redisson_dq.connect(url, codec=StringCodec(), envelope=envelope) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        return {id: delayed.cancel(id).value for id in _ids(random.Random(seed))}


def reschedule(url: str, queue: str, seed: int, envelope: Any) -> dict[str, str]:
    """Gives each item another due time, up to 0.3 s ahead. What was ready gets a new entry, which Java has to read."""
    chance = random.Random(seed)
    with redisson_dq.connect(url, codec=StringCodec(), envelope=envelope) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        return {id: delayed.reschedule(id, chance.random() * 0.3).value for id in _ids(chance)}


def offer(url: str, queue: str, seed: int, on_duplicate: Any, delay: float) -> dict[str, tuple[str, str]]:
    """Offers each id with a value that names this process: what came of it, and the value that stands."""
    told = {}
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        for id in _ids(random.Random(seed)):
            try:
                item = delayed.offer(f"{id} of {seed}", delay, id=id, on_duplicate=on_duplicate)
            except DuplicateItemError:
                told[id] = ("rejected", "")
            else:
                assert item.outcome is not None
                told[id] = (item.outcome.value, item.value)
    return told


def recur(url: str, queue: str, seed: int, every: float) -> dict[str, Any]:
    """Declares a recurring offer at its start, as every process of a service does, and takes until the next line."""
    over = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.readline()
        over.set()

    with tuned(probe_interval=3600), redisson_dq.connect(url, codec=StringCodec()) as client:
        ready = client.blocking_queue(queue)
        (id,) = _ids(random.Random(seed))
        outcome = client.delayed_queue(ready).offer_recurring("tick", id, every=every)
        reader = threading.Thread(target=wait_for_the_end)
        reader.start()
        taken = 0
        while not over.is_set():
            taken += ready.poll(timeout=0.2) is not None
        reader.join()
    return {"outcome": outcome.value, "taken": taken}


WORK = {work.__name__: work for work in (cancel, reschedule, offer, recur)}

if __name__ == "__main__":
    print(json.dumps(WORK[sys.argv[1]](**json.loads(sys.argv[2]))))
