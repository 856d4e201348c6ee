"""How late items arrive: arrival in the consumer minus due time, both on this machine's clock.

A pass is one subject and one set of due times. The producer is neither library: it writes Redisson's keys with
plain commands, all of them before the first item falls due, so that nothing but the consumer's side is
measured. Subjects take turns and never run at the same time; within a repetition their items are the same.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import redis

from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks.measures import Settings, Spread, percentile
from tests.benchmarks.subjects import Subject

__all__ = ["PERCENTILES", "Pass", "Summary", "measure", "summaries"]

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "max": 100.0}

_QUEUE = "benchmark"
_WARM_UP = "warm-up"
_MEASURED = "measured"
_PATIENCE = 30.0
_SEED = 20240229

# What only clients send. Commands inside scripts are counted by Redis under their own names too (ZADD, LREM ...).
_TRANSFERS = ("evalsha", "eval", "fcall")
_FROM_CLIENTS = (
    *_TRANSFERS,
    *("blpop", "brpop", "blmove", "brpoplpush", "lpop", "rpop"),
    *("subscribe", "psubscribe", "unsubscribe", "punsubscribe", "ping", "hello", "script|load", "script|exists"),
    *("client|id", "client|unblock", "client|setname", "client|setinfo"),
)


@attrs.frozen(kw_only=True)
class Pass:
    """What one subject did with one set of items. ``lateness_us`` is in order of arrival."""

    subject: str
    repetition: int
    lateness_us: list[int]
    #: Arrived before the due time; never arrived; arrived more than once.
    early: int
    lost: int
    twice: int
    #: Calls that Redis counted during the pass, by command; those of the producer and of scripts are among them.
    calls: dict[str, int]
    #: How long the server worked on them, in microseconds.
    busy_us: dict[str, int]
    #: By how much the wall clock was corrected against a steady one meanwhile.
    clock_step_us: int
    load: float

    @property
    def transfers(self) -> int:
        return sum(self.calls.get(name, 0) for name in _TRANSFERS)

    @property
    def commands(self) -> int:
        return sum(self.calls.get(name, 0) for name in _FROM_CLIENTS)


@attrs.frozen(kw_only=True)
class Summary:
    """One subject over all repetitions. Lateness in ms; what went wrong is added up."""

    subject: str
    lateness_ms: dict[str, Spread]
    early: int
    lost: int
    twice: int
    transfers_per_item: Spread
    commands_per_item: Spread


def measure(server: Any, subjects: Sequence[Subject], settings: Settings, say: Callable[[str], None]) -> list[Pass]:
    """Runs every pass on ``server``, an EmbeddedServer of whose data nothing is kept."""
    passes = []
    with redis.Redis.from_url(server.url) as admin:
        for repetition in range(settings.repeat):
            # Another one goes first each time.
            first = repetition % len(subjects)
            for subject in [*subjects[first:], *subjects[:first]]:
                say(f"lateness {repetition + 1}/{settings.repeat}: {subject.name}")
                passes.append(_pass(admin, server.url, subject, repetition, settings))
    return passes


def summaries(passes: Sequence[Pass]) -> list[Summary]:
    """One for each subject, in the order of their first passes."""
    return [
        _summary(name, [one for one in passes if one.subject == name])
        for name in dict.fromkeys(one.subject for one in passes)
    ]


def _summary(name: str, passes: Sequence[Pass]) -> Summary:
    lateness = [[late / 1000 for late in one.lateness_us] for one in passes if one.lateness_us]
    return Summary(
        subject=name,
        lateness_ms={
            label: Spread.of([percentile(one, share) for one in lateness]) for label, share in PERCENTILES.items()
        },
        early=sum(one.early for one in passes),
        lost=sum(one.lost for one in passes),
        twice=sum(one.twice for one in passes),
        transfers_per_item=Spread.of([one.transfers / len(one.lateness_us) for one in passes if one.lateness_us]),
        commands_per_item=Spread.of([one.commands / len(one.lateness_us) for one in passes if one.lateness_us]),
    )


def _pass(admin: redis.Redis, url: str, subject: Subject, repetition: int, settings: Settings) -> Pass:
    keys = QueueKeys.of(_QUEUE)
    chance = random.Random(_SEED + repetition)
    span_ms = round(settings.seconds * 1000)
    offsets = [chance.randint(1, span_ms) for _ in range(settings.items)]
    # At the pace of the measured items.
    warm_up = [1 + number * span_ms // settings.items for number in range(settings.warm_up)]
    limit = 2 * _PATIENCE + sum(_lead_ms(part) + max(part, default=0) for part in (warm_up, offsets)) / 1000

    admin.flushall()
    subject.listen(url, _QUEUE, len(warm_up) + len(offsets), limit)
    _eventually(lambda: _subscribers(admin, keys) == 1, f"{subject.name} did not subscribe")
    _put(admin, keys, _WARM_UP, warm_up, chance)
    _eventually(lambda: _is_empty(admin, keys), f"{subject.name} did not take the warm-up", max(warm_up, default=0))
    time.sleep(0.2)

    load = os.getloadavg()[0]
    before, busy_before, steady = _stats(admin, "calls"), _stats(admin, "usec"), _clock_us()
    _put(admin, keys, _MEASURED, offsets, chance)
    arrivals = subject.arrivals()
    step, after, busy_after = _clock_us() - steady, _stats(admin, "calls"), _stats(admin, "usec")
    subject.leave()
    _eventually(lambda: _subscribers(admin, keys) == 0, f"{subject.name} did not leave")

    late = _lateness(arrivals)
    numbers = {number for number, _ in late}
    return Pass(
        subject=subject.name,
        repetition=repetition,
        lateness_us=[us for _, us in late],
        early=sum(us < 0 for _, us in late),
        lost=settings.items - len(numbers),
        twice=len(late) - len(numbers),
        calls=_grown(before, after),
        busy_us=_grown(busy_before, busy_after),
        clock_step_us=step,
        load=load,
    )


def _lead_ms(offsets: Sequence[int]) -> int:
    """From the first command of the producer to the time the due times count from."""
    return 500 + len(offsets) // 4


def _put(admin: redis.Redis, keys: QueueKeys, label: str, offsets: Sequence[int], chance: random.Random) -> None:
    """As Redisson's offers do: entry into the zset and the list, and a message for every new head."""
    start_ms = time.time_ns() // 1_000_000 + _lead_ms(offsets)
    head_ms = None
    with admin.pipeline(transaction=False) as pipeline:
        for number, offset in enumerate(offsets):
            due_ms = start_ms + offset
            member = wrap(Envelope.CURRENT, chance.randbytes(8), f"{label} {number} {due_ms}".encode())
            pipeline.zadd(keys.timeout, {member: due_ms})
            pipeline.rpush(keys.envelopes, member)
            if head_ms is None or due_ms < head_ms:
                head_ms = due_ms
                pipeline.publish(keys.channel, due_ms)
        pipeline.execute()
    if head_ms is not None and time.time_ns() // 1_000_000 >= head_ms:
        raise RuntimeError("the machine is too slow: the first item was due before the last one was put in")


def _lateness(arrivals: Sequence[tuple[str, int]]) -> list[tuple[int, int]]:
    """(number, lateness in us) of the items that count."""
    late = []
    for value, at_us in arrivals:
        label, number, due_ms = value.split()
        if label == _MEASURED:
            late.append((int(number), at_us - int(due_ms) * 1000))
    return late


def _stats(admin: redis.Redis, field: str) -> dict[str, int]:
    stats: Any = admin.info("commandstats")
    return {name.removeprefix("cmdstat_"): entry[field] for name, entry in stats.items()}


def _grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    grown = {name: count - before.get(name, 0) for name, count in sorted(after.items())}
    return {name: count for name, count in grown.items() if count}


def _subscribers(admin: redis.Redis, keys: QueueKeys) -> int:
    answer: Any = admin.pubsub_numsub(keys.channel)
    return int(answer[0][1])


def _is_empty(admin: redis.Redis, keys: QueueKeys) -> bool:
    return not admin.exists(keys.ready, keys.timeout)


def _clock_us() -> int:
    return (time.time_ns() - time.monotonic_ns()) // 1000


def _eventually(condition: Callable[[], bool], complaint: str, extra_ms: int = 0) -> None:
    deadline = time.monotonic() + _PATIENCE + extra_ms / 1000
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(complaint)
        time.sleep(0.02)
