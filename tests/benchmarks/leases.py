"""Receiving under a lease: rate, lateness and cost, compared with PING and take() of the same round.

One process, the synchronous flavour. Every figure is the median of short, alternating slices, so a slow second of the
machine affects all of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import attrs
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from tests.benchmarks import entries
from tests.benchmarks.measures import SYNC, Run, Settings, Spread, percentile, ratios
from tests.benchmarks.tables import Goal, Table, at_least, at_most
from tests.benchmarks.watching import FROM_CLIENTS, command_stats, eventually, grown, used_memory

__all__ = ["Figure", "goals", "measure", "tables"]

_QUEUE = "benchmark"
_VALUE = "v" * 100
_BATCH = 100
_SECONDS_IDLE = 10.0
# The duration of a lease that expires, in seconds, and the number of such leases.
_LEASE, _ENDINGS = 0.2, 20

#: The names of the measurements in the tables and the JSON.
PING, TAKE, PAIR, TAKE_MANY, PAIR_MANY = "PING", "take", "receive + ack", "poll(100)", "receive(100) + ack_all"
COMMANDS, COMMANDS_WAITING, COMMANDS_MANY = "commands an item", "commands an item that is waited for", "... in batches"
REDELIVERY = "redelivery after the end of a lease, ms"
LATE_TAKE, LATE_TRIP = "lateness of take, ms", "lateness of take and a PING behind it, ms"
LATE_RECEIVE = "lateness of receive, ms"
SIZE, ACK, SIZE_FULL, ACK_FULL = (
    "in_flight_size, us",
    "ack, us",
    "in_flight_size with many waiting, us",
    "ack with many waiting, us",
)
IDLE = "commands a second while a receiver waits"
BYTES = "bytes of a lease of 100 bytes, beyond the ready value"
_RATES = (PING, TAKE, PAIR, TAKE_MANY, PAIR_MANY)


@attrs.frozen(kw_only=True)
class Figure:
    """One measurement and its repetitions. Rates are items a second."""

    what: str
    values: list[float]


def measure(run: Run) -> list[Figure]:
    """Everything, one after the other. Takes about ten seconds, and half a minute for the waiting entries."""
    settings, url = run.settings, run.server.url
    found: dict[str, list[float]] = {}
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(url, socket_timeout=60))
        client = stack.enter_context(redisson_dq.connect(url, codec=StringCodec()))
        queue, delayed = client.blocking_queue(_QUEUE), client.delayed_queue(_QUEUE)
        parts: dict[str, Callable[[], dict[str, list[float]]]] = {
            "rates": lambda: _rates(admin, queue, settings),
            "commands": lambda: _commands(admin, queue),
            "ends of leases": lambda: _endings(queue),
            "lateness": lambda: _lateness(admin, queue, delayed, settings),
            "memory": lambda: {BYTES: [_bytes(admin, queue)]},
            "idle": lambda: {IDLE: [_idle(admin, queue, min(_SECONDS_IDLE, settings.sizes.idle))]},
            "among many that wait": lambda: _among_many(run, admin, queue),
        }
        for name, work in parts.items():
            run.say(f"leases: {name}")
            admin.flushall()
            found |= work()
        admin.flushall()
    return [Figure(what=what, values=values) for what, values in found.items()]


def _filled(queue: Any, count: int) -> None:
    for start in range(0, count, 1000):
        queue.add_all([_VALUE] * min(1000, count - start))


def _rates(admin: redis.Redis, queue: Any, settings: Settings) -> dict[str, list[float]]:
    calls = max(20, settings.offers // 4)
    calls_many = max(2, calls // 20)
    kinds: dict[str, tuple[Callable[[], Any], int, int]] = {
        PING: (admin.ping, calls, 0),
        TAKE: (queue.take, calls, 1),
        PAIR: (lambda: queue.receive(timeout=5).ack(), calls, 1),
        TAKE_MANY: (lambda: queue.poll(_BATCH, timeout=5), calls_many, _BATCH),
        PAIR_MANY: (lambda: queue.ack_all(queue.receive(_BATCH, timeout=5)), calls_many, _BATCH),
    }
    found: dict[str, list[float]] = {what: [] for what in kinds}
    for _ in range(settings.rounds + 1):
        for what, (call, times, items) in kinds.items():
            _filled(queue, times * items)
            began = time.perf_counter()
            for _ in range(times):
                call()
            found[what].append(times * max(1, items) / (time.perf_counter() - began))
    # The first round opens connections and loads scripts.
    return {what: rates[1:] for what, rates in found.items()}


def _sent(admin: redis.Redis, work: Callable[[], None]) -> int:
    before = command_stats(admin, "calls")
    work()
    after = grown(before, command_stats(admin, "calls"))
    # Scripts take from the list themselves. Pushing a value here is the producer's command.
    return sum(after.get(name, 0) for name in FROM_CLIENTS if name not in ("lpop", "rpop"))


def _commands(admin: redis.Redis, queue: Any) -> dict[str, list[float]]:
    items = 200

    def alone() -> None:
        for _ in range(items):
            assert queue.receive(timeout=5).ack()

    def many() -> None:
        for _ in range(items // _BATCH):
            assert all(queue.ack_all(queue.receive(_BATCH, timeout=5)))

    def waited_for() -> None:
        blocked = threading.Thread(target=alone)
        blocked.start()
        for _ in range(items):
            eventually(lambda: admin.info("clients")["blocked_clients"] > 0, "nobody waits")
            admin.rpush(queue.keys.ready, _VALUE)
        blocked.join()

    found = {}
    for what, work, ready in (
        (COMMANDS, alone, items),
        (COMMANDS_MANY, many, items),
        (COMMANDS_WAITING, waited_for, 0),
    ):
        _filled(queue, ready)
        found[what] = [_sent(admin, work) / items]
    return found


def _endings(queue: Any) -> dict[str, list[float]]:
    found = []
    for _ in range(_ENDINGS):
        queue.add(_VALUE)
        lost = queue.receive(timeout=5, visibility_timeout=_LEASE)
        again = queue.receive(timeout=5)
        found.append((time.time() - lost.deadline.timestamp()) * 1000)
        assert again.ack()
    return {REDELIVERY: found}


def _lateness(admin: redis.Redis, queue: Any, delayed: Any, settings: Settings) -> dict[str, list[float]]:
    """Alternating. A round trip after a wait takes longer than one in a sequence, so it is measured too."""
    kinds: dict[str, Callable[[], Any]] = {
        LATE_TAKE: queue.take,
        LATE_TRIP: lambda: (queue.take(), admin.ping()),
        LATE_RECEIVE: lambda: queue.receive(timeout=30),
    }
    found: dict[str, list[float]] = {what: [] for what in kinds}
    for _ in range(min(200, settings.items)):
        for what, get in kinds.items():
            item = delayed.offer(_VALUE, delay=0.01)
            got = get()
            found[what].append(time.time() * 1000 - item.due.timestamp() * 1000)
            if what == LATE_RECEIVE:
                assert got.ack()
    return found


def _bytes(admin: redis.Redis, queue: Any) -> float:
    leases = 10_000
    _filled(queue, leases)
    before = used_memory(admin)
    for _ in range(leases // 1000):
        queue.receive(1000, timeout=5, visibility_timeout=600)
    return (used_memory(admin) - before) / leases


def _idle(admin: redis.Redis, queue: Any, seconds: float) -> float:
    waiting = threading.Thread(target=lambda: queue.receive().ack())
    waiting.start()
    eventually(lambda: admin.info("clients")["blocked_clients"] > 0, "nobody waits")
    time.sleep(0.5)
    sent = _sent(admin, lambda: time.sleep(seconds))
    queue.add(_VALUE)
    waiting.join()
    return sent / seconds


def _among_many(run: Run, admin: redis.Redis, queue: Any) -> dict[str, list[float]]:
    found = {}
    for size, ack, waiting in ((SIZE, ACK, 0), (SIZE_FULL, ACK_FULL, max(run.settings.sizes.waiting))):
        entries.lean(run.server.url, _QUEUE, waiting)
        _filled(queue, 200)
        held = queue.receive(200, timeout=5, visibility_timeout=600)
        found[size] = [_us(queue.in_flight_size) for _ in held]
        found[ack] = [_us(delivery.ack) for delivery in held]
    return found


def _us(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e6


# -- report ----------------------------------------------------------------------------------------------------------


def _by_name(found: Sequence[Figure]) -> dict[str, list[float]]:
    return {one.what: one.values for one in found}


def tables(found: Sequence[Figure]) -> list[Table]:
    """Rates compared with the PING of the same round, and all other figures."""
    figures = _by_name(found)
    rates = [
        (what, Spread.of(figures[what]).text(0), ratios(figures[what], figures[PING]).text(2))
        for what in _RATES
        if what in figures
    ]
    others = [
        (what, f"{percentile(values, 50):,.2f}", f"{percentile(values, 99):,.2f}")
        for what, values in figures.items()
        if what not in _RATES
    ]
    return [
        Table(title="Leases: items a second", header=("call", "items a second", "of PING"), rows=rates),
        Table(title="Leases: cost and lateness", header=("what", "p50", "p99"), rows=others),
    ]


def goals(found: Sequence[Figure]) -> list[Goal]:
    """The cost that leases may have."""
    figures = _by_name(found)

    def spread(what: str) -> Spread | None:
        return Spread.of(figures[what]) if what in figures else None

    pair = ratios(figures[PAIR], figures[PING]) if PAIR in figures else None
    trip = 1000 / Spread.of(figures[PING]).median if PING in figures else 0.0
    received, allowed = None, 0.0
    if LATE_TRIP in figures:
        received, allowed = Spread.of([percentile(figures[LATE_RECEIVE], 50)]), percentile(figures[LATE_TRIP], 50)
    return [
        at_least(f"{SYNC}: receive + ack one after the other at 0.35 of PING", pair, 0.35),
        at_least(f"{SYNC}: receive(100) + ack_all at 40,000/s", spread(PAIR_MANY), 40_000, digits=0),
        at_most(f"{SYNC}: at most 5 commands an item, waiting included", spread(COMMANDS_WAITING), 5.0),
        at_most(f"{SYNC}: at most 0.1 commands an item in batches", spread(COMMANDS_MANY), 0.1),
        at_most(f"{SYNC}: redelivery within 50 ms and a round trip", spread(REDELIVERY), 50 + trip, unit="ms"),
        at_most(f"{SYNC}: a received item no later than take() and a PING", received, allowed, unit="ms"),
        at_most(f"{SYNC}: nothing more is sent while a receiver waits", spread(IDLE), 0.1),
    ]
