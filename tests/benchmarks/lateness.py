"""How late items arrive: arrival in the consumer minus due time, both on this machine's clock.

A pass is one subject and one set of due times. The producer is neither library: it writes Redisson's keys with plain
commands, all of them before the first item falls due, so that only the consumer's side is measured. Subjects take turns
and never run at the same time. Within a repetition, they get the same items.

Before that, this library offers items one by one whose lateness counts from the call of ``offer(delay=)`` plus the
delay.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from contextlib import ExitStack

import attrs
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks.limit import limit_us
from tests.benchmarks.measures import Run, Settings, Spread, percentile
from tests.benchmarks.processes import Worker
from tests.benchmarks.subjects import Subject
from tests.benchmarks.watching import FROM_CLIENTS, TRANSFERS, Watch, eventually, is_empty, subscribers

__all__ = ["PERCENTILES", "Pass", "Summary", "measure", "put", "summaries"]

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "max": 100.0}

_QUEUE = "benchmark"
_BACKGROUND = "background"
_WARM_UP = "warm-up"
_MEASURED = "measured"
_WISHED = "wished"
# For this many measured items there is one such offer, with a delay between these limits, in seconds.
_WISHED_SHARE = 4
_DELAYS = (0.2, 0.3)
_PATIENCE = 30.0
_SEED = 20240229


@attrs.frozen(kw_only=True)
class Pass:
    """The result of one subject with one set of items. ``lateness_us`` is in order of arrival."""

    subject: str
    #: Consumers on the queue, and items offered to another queue each second.
    processes: int
    background: int
    #: The figures over all passes.
    background_reached: float = 0.0
    repetition: int
    lateness_us: list[int]
    #: Lateness from the time that the caller asked for, in order of arrival.
    from_wish_us: list[int]
    #: The lateness of the machine itself right before the pass.
    limit_us: float
    #: Items that arrived before the due time, never, and more than once.
    early: int
    lost: int
    twice: int
    #: Calls that Redis counted during the pass, by command, including those of the producer and of scripts.
    calls: dict[str, int]
    #: The time that these calls took, in microseconds, and the CPU seconds of the server.
    busy_us: dict[str, int]
    server_cpu_s: float
    longest_script_us: int
    #: The correction of the wall clock against a monotonic one meanwhile.
    clock_step_us: int
    load: float

    @property
    def transfers(self) -> int:
        return sum(self.calls.get(name, 0) for name in TRANSFERS)

    @property
    def commands(self) -> int:
        return sum(self.calls.get(name, 0) for name in FROM_CLIENTS)


@attrs.frozen(kw_only=True)
class Summary:
    """One subject over all repetitions. Lateness is in ms. Errors are added up."""

    subject: str
    processes: int
    background: int
    lateness_ms: dict[str, Spread]
    from_wish_ms: dict[str, Spread]
    #: The lateness of the machine itself, and the p50 of each pass divided by it.
    limit_ms: Spread
    times_the_limit: Spread
    early: int
    lost: int
    twice: int
    transfers_per_item: Spread
    commands_per_item: Spread
    server_us_per_item: Spread


def measure(run: Run, subjects: Sequence[Subject], *, background: int = 0, part: str = "lateness") -> list[Pass]:
    """Runs every pass, with each background load of offers to another queue."""
    passes = []
    settings = run.settings
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url))
        if background:
            load = stack.enter_context(Worker())
            load.send("load", url=run.server.url, queue=_BACKGROUND, per_second=background)
        for repetition in range(settings.repeat):
            # Each time another one is first.
            first = repetition % len(subjects)
            for subject in [*subjects[first:], *subjects[:first]]:
                run.say(f"{part} {repetition + 1}/{settings.repeat}: {subject.name}")
                passes.append(_pass(admin, run.server.url, subject, repetition, background, settings))
        if background:
            load.tell()
            written, seconds = load.answer()
            passes = [attrs.evolve(one, background_reached=written / seconds) for one in passes]
    return passes


def summaries(passes: Sequence[Pass]) -> list[Summary]:
    """A summary for each subject, number of processes and background load, in the order of their first passes."""
    cases: dict[tuple[str, int, int], list[Pass]] = {}
    for one in passes:
        cases.setdefault((one.subject, one.processes, one.background), []).append(one)
    return [_summary(found) for found in cases.values()]


def _summary(passes: Sequence[Pass]) -> Summary:
    arrived = [one for one in passes if one.lateness_us]
    return Summary(
        subject=passes[0].subject,
        processes=passes[0].processes,
        background=passes[0].background,
        lateness_ms=_percentiles([one.lateness_us for one in arrived]),
        from_wish_ms=_percentiles([one.from_wish_us for one in arrived]),
        limit_ms=Spread.of([one.limit_us / 1000 for one in arrived]),
        times_the_limit=Spread.of([percentile(one.lateness_us, 50) / one.limit_us for one in arrived]),
        early=sum(one.early for one in passes),
        lost=sum(one.lost for one in passes),
        twice=sum(one.twice for one in passes),
        transfers_per_item=Spread.of([one.transfers / len(one.lateness_us) for one in arrived]),
        commands_per_item=Spread.of([one.commands / len(one.lateness_us) for one in arrived]),
        server_us_per_item=Spread.of([one.server_cpu_s * 1e6 / len(one.lateness_us) for one in arrived]),
    )


def _percentiles(passes_us: Sequence[Sequence[int]]) -> dict[str, Spread]:
    """In ms."""
    return {
        label: Spread.of([percentile(one, share) / 1000 for one in passes_us]) for label, share in PERCENTILES.items()
    }


def _pass(admin: redis.Redis, url: str, subject: Subject, repetition: int, background: int, settings: Settings) -> Pass:
    keys = QueueKeys.of(_QUEUE)
    chance = random.Random(_SEED + repetition)
    span_ms = round(settings.seconds * 1000)
    offsets = [chance.randint(1, span_ms) for _ in range(settings.items)]
    # At the pace of the measured items.
    warm_up = [1 + number * span_ms // settings.items for number in range(settings.warm_up)]
    wishes = max(1, settings.items // _WISHED_SHARE)
    limit = (
        3 * _PATIENCE + settings.seconds + sum(_lead_ms(one) + max(one, default=0) for one in (warm_up, offsets)) / 1000
    )

    admin.flushall()
    machine_us = limit_us(url)
    subject.listen(url, _QUEUE, len(warm_up) + wishes + len(offsets), limit)
    # Starting many processes takes long on few cores.
    starting_ms = 2000 * subject.processes
    eventually(lambda: subscribers(admin, keys) == subject.processes, f"{subject.name} did not subscribe", starting_ms)
    put(admin, keys, _WARM_UP, warm_up, chance)
    eventually(lambda: is_empty(admin, keys), f"{subject.name} did not take the warm-up", max(warm_up, default=0))
    _wish(url, wishes, settings.seconds / settings.items, chance)
    eventually(
        lambda: is_empty(admin, keys), f"{subject.name} did not take what was wished for", round(_DELAYS[1] * 1000)
    )
    time.sleep(0.2)

    load, steady = os.getloadavg()[0], _clock_us()
    watch = Watch(admin)
    put(admin, keys, _MEASURED, offsets, chance)
    arrivals = subject.arrivals()
    step = _clock_us() - steady
    watch.end()
    subject.leave()
    eventually(lambda: subscribers(admin, keys) == 0, f"{subject.name} did not leave")

    late = _late(arrivals)
    numbers = {number for number, _ in late}
    return Pass(
        subject=subject.name,
        processes=subject.processes,
        background=background,
        repetition=repetition,
        lateness_us=[us for _, us in late],
        from_wish_us=_from_wish(arrivals),
        limit_us=machine_us,
        early=sum(us < 0 for _, us in late),
        lost=settings.items - len(numbers),
        twice=len(late) - len(numbers),
        calls=watch.calls,
        busy_us=watch.busy_us,
        server_cpu_s=watch.cpu_s,
        longest_script_us=watch.longest_us,
        clock_step_us=step,
        load=load,
    )


def _lead_ms(offsets: Sequence[int]) -> int:
    """The time from the producer's first command to the start of the offsets."""
    return 500 + len(offsets) // 4


def put(admin: redis.Redis, keys: QueueKeys, label: str, offsets_ms: Sequence[int], chance: random.Random) -> list[int]:
    """Writes like Redisson's offers: an entry into the zset and the list, and a message for every new head. Returns the
    due times."""
    start_ms = time.time_ns() // 1_000_000 + _lead_ms(offsets_ms)
    head_ms = None
    with admin.pipeline(transaction=False) as pipeline:
        for number, offset in enumerate(offsets_ms):
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
    return [start_ms + offset for offset in offsets_ms]


def _wish(url: str, count: int, gap: float, chance: random.Random) -> None:
    """Offers items one after the other. Each value is the time that its caller wants, in epoch us."""
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue(_QUEUE, transfer=False)
        for number in range(count):
            time.sleep(gap)
            delay = chance.uniform(*_DELAYS)
            delayed.offer(f"{_WISHED} {number} {time.time_ns() // 1000 + round(delay * 1e6)}", delay)


def _from_wish(arrivals: Sequence[tuple[str, int]]) -> list[int]:
    found = [(value.split(), at_us) for value, at_us in arrivals]
    return [at_us - int(wish_us) for (label, _, wish_us), at_us in found if label == _WISHED]


def _late(arrivals: Sequence[tuple[str, int]]) -> list[tuple[int, int]]:
    """The (number, lateness in us) of the counted items."""
    late = []
    for value, at_us in arrivals:
        label, number, due_ms = value.split()
        if label == _MEASURED:
            late.append((int(number), at_us - int(due_ms) * 1000))
    return late


def _clock_us() -> int:
    return (time.time_ns() - time.monotonic_ns()) // 1000
