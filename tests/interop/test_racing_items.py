"""Many processes that work on the same items at the same time, while Python and Java move them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.items import Outcome
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, by_night, environment, eventually
from tests.flavours import Flavour
from tests.integration.server import announced
from tests.interop.conftest import OpenJava
from tests.interop.sides import HOUR, NO_PROBE, Java, Taker, waiting
from tests.peer import VERSIONS

#: How many processes race, and for how many items.
sizes = pytest.mark.parametrize(
    ("processes", "items"), [(4, 200), pytest.param(8, 600, marks=pytest.mark.nightly)], ids=["few", "many"]
)


class Race:
    """Processes of ``tests.workers.racing`` that start together."""

    def __init__(self, works: Iterable[str], **arguments: Any) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tests.workers.racing"]
        self._processes = [
            subprocess.Popen(
                [*command, work, json.dumps({**arguments, "seed": seed})],
                stdin=pipe,
                stdout=pipe,
                encoding="utf-8",
                env=environment(),
            )
            for seed, work in enumerate(works)
        ]
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

    def start(self, ids: list[str]) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(json.dumps(ids) + "\n")
            process.stdin.flush()

    def end(self) -> list[Any]:
        """What each of them reports. One that waits for another line gets it."""
        return [json.loads(process.communicate("\n", timeout=4 * PATIENCE)[0]) for process in self._processes]

    def kill(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()


@contextmanager
def race(works: Iterable[str], **arguments: Any) -> Iterator[Race]:
    made = Race(works, **arguments)
    try:
        yield made
    finally:
        made.kill()


@contextmanager
def delivery(url: str, look: redis.Redis, queue: str, mover: Java) -> Iterator[list[str]]:
    """Java moves, and Python moves and takes, until nothing is left; what was taken is in the list then."""
    taken: list[str] = []
    mover.call("open_delayed")
    with Flavour().connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        taker = Taker(client.blocking_queue(queue))
        yield taken
        eventually(lambda: waiting(look, queue) == 0, within=2 * PATIENCE)
        client.close()
    taken += taker.ended()
    # What the client had popped for nobody when it was closed has gone back.
    left: list[bytes] = look.lrange(queue, 0, -1)  # type: ignore[assignment]
    taken += [value.decode() for value in left]


def offered(delayed: Any, client: Any, delays: Iterable[float]) -> dict[str, str]:
    """Items of both kinds of ids: the value of each."""
    with client.pipeline() as pipeline:
        replies = [
            pipeline.add(delayed.requests.offer(f"{number}", delay, id=f"own {number}" if number % 2 else None))
            for number, delay in enumerate(delays)
        ]
    return {reply.result.id: reply.result.value for reply in replies}


def check(reports: list[dict[str, str]], taken: list[str], values: dict[str, str]) -> Counter[str]:
    """Checks that the answers about an item match what happened to it, once. Returns the counts of outcomes."""
    times = Counter(taken)
    happened: Counter[str] = Counter()
    for id, value in values.items():
        answers = Counter(report[id] for report in reports)
        if times[value]:
            assert times[value] == 1
            assert answers.keys() <= {"delivered", "rescheduled"}
            happened["delivered"] += 1
        else:
            assert answers["cancelled"] == 1
            assert answers.keys() <= {"cancelled", "unknown", "rescheduled"}
            happened["cancelled"] += 1
    assert len(taken) == happened["delivered"]
    return happened


@pytest.mark.parametrize(
    ("version", "envelope"), [(VERSIONS[0], "current"), pytest.param(VERSIONS[-1], "legacy", marks=pytest.mark.nightly)]
)
@sizes
@pytest.mark.parametrize(
    "works",
    [
        pytest.param(["cancel", "cancel"], id="cancels", marks=pytest.mark.nightly),
        pytest.param(["cancel", "reschedule"], id="cancels and reschedules"),
    ],
)
def test_an_item_is_cancelled_once_or_delivered_once(
    redis7: EmbeddedServer,
    look: redis.Redis,
    java: OpenJava,
    queue: str,
    works: list[str],
    version: str,
    envelope: str,
    processes: int,
    items: int,
) -> None:
    chance = random.Random(3)
    # Some come before the race, most while it runs, and some cannot come unless they are rescheduled.
    delays = [chance.choice([0, HOUR, chance.random() * 2, chance.random()]) for _ in range(items)]
    with race(works * (processes // 2), url=redis7.url, queue=queue, envelope=envelope) as racing:
        with Flavour().connect(redis7.url, codec=StringCodec(), envelope=envelope) as client:
            values = offered(client.delayed_queue(queue, transfer=False), client, delays)
        mover = java(redis7.url, version=version, codec="StringCodec")
        with delivery(redis7.url, look, queue, mover) as taken:
            racing.start(list(values))
            reports = racing.end()
    happened = check(reports, taken, values)
    assert happened["cancelled"]
    assert happened["delivered"]
    assert not look.exists(*(getattr(QueueKeys.of(queue), name) for name in ("ready", "timeout", "envelopes")))


@sizes
@pytest.mark.parametrize("on_duplicate", ["reject", by_night("keep")])
def test_of_many_offers_with_one_id_one_stands(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, on_duplicate: str, processes: int, items: int
) -> None:
    ids = [f"{number}" for number in range(items)]
    with race(["offer"] * processes, url=redis7.url, queue=queue, on_duplicate=on_duplicate, delay=0.05) as racing:
        with delivery(redis7.url, look, queue, java(redis7.url, codec="StringCodec")) as taken:
            racing.start(ids)
            reports = racing.end()
    stands = {}
    for id in ids:
        outcomes = Counter(report[id][0] for report in reports)
        assert outcomes == {"offered": 1, {"reject": "rejected", "keep": "kept"}[on_duplicate]: processes - 1}
        ((_, stands[id]),) = [report[id] for report in reports if report[id][0] == "offered"]
    assert sorted(taken) == sorted(stands.values())


@sizes
def test_of_many_offers_that_replace_each_other_one_stands(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, processes: int, items: int
) -> None:
    ids = [f"{number}" for number in range(items)]
    with race(["offer"] * processes, url=redis7.url, queue=queue, on_duplicate="replace", delay=HOUR) as racing:
        racing.start(ids)
        reports = racing.end()
    for id in ids:
        assert Counter(report[id][0] for report in reports) == {"offered": 1, "replaced": processes - 1}
    assert look.zcard(QueueKeys.of(queue).timeout) == look.llen(QueueKeys.of(queue).envelopes) == items
    with (
        Flavour().connect(redis7.url, codec=StringCodec()) as client,
        delivery(redis7.url, look, queue, java(redis7.url, codec="StringCodec")) as taken,
    ):
        delayed = client.delayed_queue(queue, transfer=False)
        standing = [delayed.find(id).value for id in ids]
        assert {delayed.run_now(id) for id in ids} == {Outcome.RESCHEDULED}
    assert sorted(taken) == sorted(standing)


def test_a_recurring_offer_comes_once_for_each_time(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str
) -> None:
    """Five processes declare it, move and take; Java moves and takes as well."""
    keys = QueueKeys.of(queue)
    other = java(redis7.url, codec="StringCodec")
    other.call("open_delayed")
    with (
        race(["recur"] * 5, url=redis7.url, queue=queue, every=0.1) as processes,
        Flavour().connect(redis7.url, codec=StringCodec()) as client,
        announced(look, keys.channel) as dues,
    ):
        delayed = client.delayed_queue(queue, transfer=False)
        processes.start(["tick"])
        eventually(lambda: len(dues()) >= 10)
        java_took = other.call("take_many", count=5, timeoutMs=int(PATIENCE * 1000))
        eventually(lambda: len(dues()) >= 30)
        (offer,) = delayed.recurring()
        assert delayed.cancel_recurring("tick")
        eventually(lambda: waiting(look, queue) == 0)
        reports = processes.end()
        come = dues()

    assert Counter(report["outcome"] for report in reports) == {"offered": 1, "kept": 4}
    assert len(java_took) == 5
    assert sorted(set(come)) == come, "each time once, in order"
    assert {(due - come[0]) % 100 for due in come} == {0}, "on the grid"
    assert round(offer.next_due.timestamp() * 1000) in come
    # The last one had come, or was cancelled.
    taken = len(java_took) + sum(report["taken"] for report in reports) + look.llen(keys.ready)
    assert taken in (len(come) - 1, len(come))
