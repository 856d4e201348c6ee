"""The constants of ``redisson-dq plan``: what each call costs a Redis server, by counters of the server.

One client makes one call after the other, so a counter grows only by these calls. The CPU is that of the server's main
thread, which a busy machine changes less than the time that passes. The figures are in ``redisson_dq/planning.py``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import attrs
import redis

import redisson_dq
from redisson_dq import codecs
from redisson_dq.codecs import StringCodec
from redisson_dq.wire import calls
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks.measures import LEAN, SYNC, Run
from tests.benchmarks.tables import Goal, Table
from tests.benchmarks.watching import used_memory

__all__ = ["CALLS", "Cost", "fill", "goals", "measure", "tables"]

_QUEUE = "benchmark"
_KEYS = QueueKeys.of(_QUEUE)
_HOUR = 3600.0
_SEED = 20261126
#: Items of one measurement, and the values of a call that has many.
_ITEMS, _MANY = 1000, 100
_WAITING, _MILLION = 10_000, 1_000_000
_LARGE = 10_000
#: With larger values fewer items are measured.
_MOST_BYTES = 20_000_000
#: The codecs that are measured, with values of so many parts.
_CODECS = (
    *("CborJacksonCodec", "JsonJacksonCodec", "Kryo5Codec", "MsgPackJacksonCodec", "SerializationCodec"),
    *("SmileJacksonCodec", "StringCodec"),
)
_PARTS = (3, 100)
#: The calls that are measured, in the order of an item's life.
CALLS = ("offer", "offer many", "move", "move many", "take", "take many", "receive", "receive many", "ack", "ack many")
#: The same, where due times and offers are in different orders.
MIXED = ("move mixed", "move mixed many")


@attrs.frozen(kw_only=True)
class Cost:
    """What ``items`` values in ``calls`` calls cost while ``waiting`` others waited.

    ``memory`` is what the waiting ones took, ``log`` the bytes that replicas and an append-only file get. ``log`` is
    None where it was not measured, as the file costs CPU.
    """

    envelope: str
    waiting: int
    value_bytes: int
    call: str
    calls: int
    items: int
    cpu_us: float
    client_us: float
    received: float
    sent: float
    memory: int
    log: float | None


def measure(run: Run) -> list[Cost]:
    """Every envelope with every number that waits, and with every size of a value."""
    found: list[Cost] = []
    sizes = run.settings.sizes
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url, socket_timeout=600))
        stack.callback(admin.flushall)
        values = (*sizes.value_bytes, _LARGE)
        for envelope in (SYNC, LEAN):
            points = [(waiting, min(values)) for waiting in sizes.growth["backlog"]]
            few = min(_WAITING, max(sizes.growth["backlog"]))
            points += [(few, size) for size in values]
            for waiting, size in dict.fromkeys(points):
                run.say(f"plan, {waiting:,} of {size:,} bytes: {envelope}")
                # Filling a queue with millions of items takes a minute.
                for _ in range(run.settings.repeat if waiting < _MILLION else 1):
                    found += _costs(admin, run.server.url, envelope, waiting, size, logs=False)
            for size in values:
                run.say(f"plan, the log of {size:,} bytes: {envelope}")
                admin.config_set("appendfsync", "no")
                admin.config_set("appendonly", "yes")
                try:
                    found += _costs(admin, run.server.url, envelope, min(few, 1000), size, logs=True)
                finally:
                    admin.config_set("appendonly", "no")
    run.say("plan, codecs")
    return found + [one for name in _CODECS for one in _codings(name, run.settings.offers)]


def _codings(name: str, repetitions: int) -> Iterator[Cost]:
    """Encodes and decodes a map of texts and numbers, or a text."""
    codec: codecs.Codec = getattr(codecs, name)()
    for parts in _PARTS:
        lines: Any = [{"sku": f"part-{number}", "count": number, "price": number + 0.5} for number in range(parts)]
        value = str(lines) if name == "StringCodec" else {"id": "order-42", "lines": lines}
        data = codec.encode(value)
        for call, work in (("encode", lambda: codec.encode(value)), ("decode", lambda: codec.decode(data))):  # noqa: B023
            best = float("inf")
            for _ in range(3):
                began = time.process_time()
                for _ in range(repetitions):
                    work()
                best = min(best, (time.process_time() - began) * 1e6)
            yield Cost(
                envelope="any",
                waiting=0,
                value_bytes=len(data),
                call=f"{call} {name}",
                calls=repetitions,
                items=repetitions,
                cpu_us=0.0,
                client_us=best,
                received=0,
                sent=0,
                memory=0,
                log=None,
            )


def fill(url: str, queue: str, count: int, size: int, *, lean: bool, client: Any = None, **options: Any) -> None:
    """Offers values of so many bytes, each due a moment after the one before, in an hour and later."""
    values = (("x" * size, _HOUR + number / 10_000) for number in range(count))
    with ExitStack() as stack:
        made = client or stack.enter_context(redisson_dq.connect(url, codec=StringCodec()))
        made.delayed_queue(queue, transfer=False, lean=lean, **options).offer_all(values)


def _costs(admin: redis.Redis, url: str, envelope: str, waiting: int, size: int, *, logs: bool) -> Iterator[Cost]:
    admin.flushall()
    before = used_memory(admin)
    fill(url, _QUEUE, waiting, size, lean=envelope == LEAN)
    memory = used_memory(admin) - before
    items = max(10, min(_ITEMS, waiting // 10, _MOST_BYTES // size))
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        for call, many, prepare, work in _works(admin, client, envelope, items, size):
            if prepare is not None:
                prepare()
            # The first call of a kind loads its script.
            work(many)
            if prepare is not None:
                prepare()
            idle = _counters(admin)
            first = _counters(admin)
            began = time.process_time()
            number = items // many if many > 1 else items
            for _ in range(max(1, number)):
                work(many)
            client_us = (time.process_time() - began) * 1e6
            last = _counters(admin)
            # Without the cost of reading the counters.
            cpu_us, received, sent, log = (
                after - 2 * ahead + before for after, ahead, before in zip(last, first, idle, strict=True)
            )
            yield Cost(
                envelope=envelope,
                waiting=waiting,
                value_bytes=size,
                call=call,
                calls=max(1, number),
                items=max(1, number) * many,
                cpu_us=cpu_us,
                client_us=client_us,
                received=received,
                sent=sent,
                memory=memory,
                log=log if logs else None,
            )


_Work = Callable[[int], None]


def _works(
    admin: redis.Redis, client: Any, envelope: str, items: int, size: int
) -> Iterator[tuple[str, int, Callable[[], None] | None, _Work]]:
    """Each kind of call: its name, the values of one call, what makes values ready for it, and the call."""
    delayed = client.delayed_queue(_QUEUE, transfer=False, lean=envelope == LEAN)
    value, many, chance = "x" * size, min(_MANY, items), random.Random(_SEED)
    run = client.runtime.connections.run

    def offer(count: int) -> None:
        if count == 1:
            delayed.offer(value, 2 * _HOUR)
        else:
            delayed.offer_all((value, 2 * _HOUR) for _ in range(count))

    def first_are_due() -> None:
        _make_due(admin, admin.zrange(_KEYS.timeout, 0, items - 1))

    def any_are_due() -> None:
        count = admin.zcard(_KEYS.timeout)
        ranks = chance.sample(range(count), min(items, count))
        with admin.pipeline(transaction=False) as pipeline:
            for rank in ranks:
                pipeline.zrange(_KEYS.timeout, rank, rank)
            _make_due(admin, [found[0] for found in pipeline.execute()])

    def move(count: int) -> None:
        run(calls.transfer(_KEYS, count, 1000, "plan", cluster=False))

    yield "offer", 1, None, offer
    yield "offer many", many, None, offer
    yield "move", 1, first_are_due, move
    yield "move many", many, first_are_due, move
    if envelope == SYNC and items >= 2 * _MANY:
        yield "move mixed", 1, any_are_due, move
        yield "move mixed many", many, any_are_due, move
    run(calls.hand_over(_KEYS, "plan"))
    admin.delete(_KEYS.ready)
    queue = client.blocking_queue(_QUEUE)
    taken: list[Any] = []

    def ready() -> None:
        for _ in range(items // many + 2):
            queue.add_all([value] * many)

    def receive(count: int) -> None:
        if count == 1:
            taken.append(queue.receive(timeout=5))
        else:
            taken.extend(queue.receive(count, timeout=5))

    def ack(count: int) -> None:
        if count == 1:
            taken.pop().ack()
        else:
            queue.ack_all([taken.pop() for _ in range(min(count, len(taken)))])

    def received() -> None:
        ready()
        taken.clear()
        while len(taken) < items + many:
            receive(many)

    yield "take", 1, ready, lambda _: queue.poll()
    yield "take many", many, ready, lambda count: queue.poll(limit=count)
    yield "receive", 1, ready, receive
    yield "receive many", many, ready, receive
    yield "ack", 1, received, ack
    yield "ack many", many, received, ack


def _make_due(admin: redis.Redis, members: Any) -> None:
    past = time.time_ns() // 1_000_000 - len(members) - 1000
    admin.zadd(_KEYS.timeout, {member: past + number for number, member in enumerate(members)})


def _counters(admin: redis.Redis) -> tuple[float, int, int, int]:
    """CPU of the main thread in us, bytes received, bytes sent, bytes of the append-only file."""
    told: Any = admin.info("everything")
    cpu = told["used_cpu_user_main_thread"] + told["used_cpu_sys_main_thread"]
    return cpu * 1e6, told["total_net_input_bytes"], told["total_net_output_bytes"], told.get("aof_current_size", 0)


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Cost]) -> list[Table]:
    """One: the least of each measurement."""
    least: dict[tuple[str, str, int, int, bool], Cost] = {}
    for one in found:
        key = (one.call, one.envelope, one.waiting, one.value_bytes, one.log is None)
        # Other load only makes a call more expensive.
        least[key] = min(least.get(key, one), one, key=lambda cost: cost.cpu_us)
    rows = [
        (
            one.call,
            one.envelope,
            f"{one.waiting:,}",
            f"{one.value_bytes:,}",
            f"{one.items / one.calls:,.0f}",
            f"{one.cpu_us / one.calls:,.1f}",
            f"{one.client_us / one.calls:,.1f}",
            f"{one.received / one.calls:,.0f}",
            f"{one.sent / one.calls:,.0f}",
            "" if one.log is None else f"{one.log / one.items:,.0f}",
            f"{one.memory / max(1, one.waiting):,.1f}",
        )
        for one in least.values()
    ]
    return [
        Table(
            title="The cost of each call, by the server's counters",
            header=(
                "call",
                "entries",
                "waiting",
                "bytes of a value",
                "items a call",
                "server us a call",
                "client us a call",
                "bytes in a call",
                "bytes out a call",
                "log bytes an item",
                "memory an entry",
            ),
            rows=rows,
        )
    ]


def goals(found: Sequence[Cost]) -> list[Goal]:
    """None: ``tests/integration/programs/test_plan_holds.py`` holds the plan to the figures."""
    return []
