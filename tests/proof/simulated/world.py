"""Plays a plan: clients of the asyncio flavour as it ships, in the loop of a world, whose calls become a history."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import socket
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import redis

import redisson_dq.aio
from redisson_dq.aio.worker import HandedBack, Received, Retry, Succeeded, Worker
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling import clock as clocks
from tests.faults.world import World as _Places
from tests.proof.checker import check
from tests.proof.history import Call, History
from tests.proof.recording import Recorded
from tests.proof.simulated.loop import Loop, Net
from tests.proof.simulated.server import Redis
from tests.proof.simulated.steps import FAULTS, SERVER_FAULTS, Plan, Step

__all__ = ["Outcome", "played"]

_QUEUE = "orders"
# Seconds, the most that there is: every outcome of a world.
_REMEMBERED = 30 * 86_400.0
# Seconds after the last step until everything has come that will come soon.
_AFTER = 900.0


@attrs.frozen
class Outcome:
    """The outcome of a plan. ``digest`` covers its history and every byte between clients and server."""

    digest: str
    findings: tuple[str, ...]
    operations: int
    commands: int
    #: Seconds that have passed in the world.
    seconds: float
    history: str


class _Clock(clocks.SystemClock):
    """The clock of clients in a world."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.monotonic = loop.time

    def now_us(self) -> int:
        return self._loop.now_us

    def calendar_us(self) -> int:  # type: ignore[override]
        return time.time_ns() // 1000

    async def async_sleep_until(self, moment_us: int, *, busy: bool) -> None:
        """No time passes while a processor is busy."""
        await asyncio.sleep(max(0, moment_us - self._loop.now_us) / 1_000_000)


class _Timer:
    """Alarms in the loop, in the place of a thread."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._handles: dict[str, asyncio.TimerHandle] = {}

    def arm(self, name: str, delay_us: int, signal: Callable[[], None]) -> None:
        self.disarm(name)
        self._handles[name] = self._loop.call_later(delay_us / 1_000_000, signal)

    def disarm(self, name: str) -> None:
        if handle := self._handles.pop(name, None):
            handle.cancel()

    def is_short(self) -> bool:
        return False

    def close(self) -> None:
        for name in list(self._handles):
            self.disarm(name)


class _Parts(clocks.ClientParts):
    def __init__(self, loop: Loop, is_long: bool) -> None:
        self._loop, self._is_long = loop, is_long

    def timer(self, usual: object, clock: object) -> Any:
        return _Timer(self._loop)

    def housekeeping(self, seconds: float) -> float:
        return max(seconds, 86_400.0) if self._is_long else seconds


class _Log(logging.Handler):
    """Defects that the library itself has noticed."""

    def __init__(self, findings: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._findings = findings

    def emit(self, record: logging.LogRecord) -> None:
        error = "" if record.exc_info is None else logging.Formatter().formatException(record.exc_info)
        self._findings.append(f"logged: {record.getMessage()}\n{error}")


class _Scribe(History):
    """A history whose moments are exact."""

    now: Callable[[], tuple[int, int]]

    def line(self, *args: Any, **more: Any) -> None:
        mono, server = self.now()
        self.clock(mono, mono, server)
        super().line(*args, **more)


class _Client:
    """A process of its own. It may end at any moment, and another one takes its place."""

    def __init__(self, world: _World, number: int) -> None:
        self._world, self._number = world, number
        self._lives = 0
        self._begin()

    def _begin(self) -> None:
        world, self._lives = self._world, self._lives + 1
        name = f"client-{self._number}-{self._lives}"
        self.net = world.loop.nets[name] = Net(world.loop, name, random.Random(f"{world.plan.seed}-{name}"))
        self.net.run(self._connect, name)

    def _connect(self, name: str) -> None:
        world = self._world
        self.client = redisson_dq.aio.connect(f"redis://{name}:6379", codec=StringCodec(), remember=_REMEMBERED)
        history = self._history = _OfOne(world.history, self.net)
        queue = self.client.blocking_queue(_QUEUE, delivery_limit=None)
        self.queue = Recorded(queue, history, _QUEUE, asyncio=True)  # type: ignore[arg-type]
        self.delayed = Recorded(self.client.delayed_queue(_QUEUE), history, _QUEUE, asyncio=True)  # type: ignore[arg-type]

    # -- faults ------------------------------------------------------------------------------------------------------

    def cut(self) -> None:
        self.net.cut()

    def lose(self) -> None:
        self.net.loses += 1

    def partition(self, ms: int) -> None:
        self.net.partition(ms / 1000)

    def crash(self) -> None:
        self.net.die()
        self._world.lost(self.net.name, self._world.server.handed.pop(self.net.name, []))
        self._begin()

    # -- calls -------------------------------------------------------------------------------------------------------

    async def offer(self, number: int, delay_ms: int, named: bool) -> None:
        value = f"item:world:{number}"
        options = {"id": value, "on_duplicate": "keep"} if named else {}
        self._world.named[number] = named
        await self.delayed.offer(value, delay=delay_ms / 1000, **options)

    async def again(self, number: int, delay_ms: int) -> None:
        # After a cancel it is another item, though the value is the same.
        if self._world.named.get(number) and number not in self._world.cancelled:
            await self.offer(number, delay_ms, True)

    async def cancel(self, number: int) -> None:
        if self._world.named.get(number):
            self._world.cancelled.add(number)
            await self.delayed.cancel(f"item:world:{number}")

    async def reschedule(self, number: int, delay_ms: int) -> None:
        if self._world.named.get(number):
            await self.delayed.reschedule(f"item:world:{number}", delay=delay_ms / 1000)

    async def redrive(self) -> None:
        await self.queue.redrive()

    async def take(self, wait_ms: int, cancelled_ms: int) -> None:
        call = self.queue.poll(1, timeout=wait_ms / 1000)
        # A cancelled caller that does not wait loses its value: docs/guarantees.md.
        if not (wait_ms and cancelled_ms):
            await call
            return
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(call, cancelled_ms / 1000)

    async def receive(self, limit: int, wait_ms: int, lease_ms: int, work_ms: int, end: str) -> None:
        found = await self.queue.receive(limit, timeout=wait_ms / 1000, visibility_timeout=lease_ms / 1000)
        for delivery in found:
            await asyncio.sleep(work_ms / 1000)
            if end == "extend":
                await delivery.extend(lease_ms / 1000)
                await delivery.ack()
            elif end != "forget":
                await getattr(delivery, end)()

    async def work(self, span_ms: int, lease_ms: int, work_ms: int, fails: int) -> None:
        """Runs a worker for some time. Every handling fails whose number ``fails`` divides."""
        began, handled = time.monotonic_ns(), 0
        chance = random.Random(f"{self._world.plan.seed}-{began}")
        worker = Worker(self.client, visibility_timeout=lease_ms / 1000, chance=chance)
        told = _OfWorker(self._history)

        @worker.handler(_QUEUE, concurrency=2, retry=Retry(limit=None, backoff=0.05))
        async def handle(value: str, event: Any) -> None:
            nonlocal handled
            handled += 1
            failing = handled % fails == 0
            await asyncio.sleep(work_ms / 1000)
            told.ends(event, "nack" if failing else "ack")
            if failing:
                raise ValueError("now and then")

        worker.on(Received, Succeeded, HandedBack)(told.happened)
        await worker.start()
        await asyncio.sleep(span_ms / 1000)
        await worker.stop(grace=1)


class _OfWorker:
    """Writes down what a worker does, as far as it tells: the end of a call, and some moment before its beginning."""

    def __init__(self, history: _OfOne) -> None:
        self._history = history
        self._began = time.monotonic_ns()
        #: By lease: the delivery, and the call that ends it.
        self._received: dict[str, Recorded] = {}
        self._ending: dict[str, Any] = {}

    def happened(self, happening: Any) -> None:
        if isinstance(happening, Received):
            delivery = Recorded(happening.event.delivery, self._history, _QUEUE, asyncio=True)  # type: ignore[arg-type]
            self._received[happening.id] = delivery
            call = self._history.invoke("worker", "receive", _QUEUE, 1, at=self._began, renew=True)
            call.ok([delivery.received(renew=True)])
        elif isinstance(happening, Succeeded):
            self._ending[happening.id].ok(["acked"])
        else:
            self.ends(happening, "nack", at=self._began)

    def ends(self, event: Any, f: str, **more: Any) -> None:
        """Where the worker does not tell the outcome nobody knows it."""
        delivery = self._received[event.id]
        delivery.renewed()
        self._ending[event.id] = self._history.invoke("worker", f, _QUEUE, [delivery.name_and_lease], **more)


class _OfOne:
    """The history, as long as the client lives: a process that is gone has got no answer."""

    def __init__(self, history: History, net: Net) -> None:
        self._history, self._net = history, net
        self._ops = 0

    def invoke(self, process: str, f: str, queue: str, value: Any = None, **more: Any) -> Any:
        if self._net.is_dead:
            return Call(self, 0, process, f, queue)  # type: ignore[arg-type]
        self._ops += 1
        made = self._history.invoke(f"{self._net.name}/{self._ops}", f, queue, value, **more)
        return Call(self, made._op, made._process, f, queue)  # type: ignore[arg-type]

    def line(self, *args: Any, **more: Any) -> None:
        if not self._net.is_dead:
            self._history.line(*args, **more)


class _World:
    def __init__(self, plan: Plan, folder: Path, shim: Path) -> None:
        self.plan = plan
        self.named: dict[int, bool] = {}
        self.cancelled: set[int] = set()
        self.findings: list[str] = []
        self.server = Redis(folder, shim, plan.seed, self.lost)
        self.loop = self.server.loop = Loop(self.server)
        self.loop.set_exception_handler(self._raised)
        self.history = _Scribe(folder / f"world-{plan.seed}.jsonl", world=plan.seed)
        self.history.now = lambda: (self.loop.now_us * 1000, self.server.now_us)

    def lost(self, client: str, values: list[str]) -> None:
        """A reply had these, and no call of the client may ever give them."""
        if values:
            call = self.history.invoke(f"lost reply of {client}", "take", _QUEUE, len(values))
            call.info("its reply was lost", sorted(set(values)))

    def run(self) -> float:
        self.server.start()
        asyncio.set_event_loop(self.loop)
        with clocks.using(_Clock(self.loop), _Parts(self.loop, self.plan.is_long)):
            self.loop.run_until_complete(self._play())
        self._look()
        self.history.close()
        return self.loop.time()

    async def _play(self) -> None:
        started = self.loop.time()
        self._clients = [_Client(self, number) for number in range(self.plan.clients)]
        tasks: list[tuple[Net, asyncio.Task[None]]] = []
        for step in self.plan.steps:
            await asyncio.sleep(max(0.0, started + step.at_ms / 1000 - self.loop.time()))
            client = self._clients[step.client]
            if step.what in SERVER_FAULTS:
                self._fault(step.what, *step.args)
            elif step.what in FAULTS:
                getattr(client, step.what)(*step.args)
            else:
                tasks.append((client.net, client.net.run(self.loop.create_task, self._called(client, step))))
        for net, task in tasks:
            # One of a process that is gone never ends.
            while not (net.is_dead or task.done()):
                await asyncio.sleep(1)
        await self._drained()

    async def _called(self, client: _Client, step: Step) -> None:
        try:
            await getattr(client, step.what)(*step.args)
        except RedissonDQError:
            pass
        except Exception as error:
            self.findings.append(f"raised: {step}: {type(error).__name__}: {error}")

    def _fault(self, what: str, ms: int, lost_ms: int = 0) -> None:
        seconds, now = ms / 1000, self.loop.time()
        if what == "slow":
            self.server.stand_still(seconds)
        elif what == "clock":
            self.server.step_clock(seconds)
        elif not self.server.refuses:
            since = now - lost_ms / 1000
            if lost_ms:
                self.history.excuse("undone", round(since * 1e9), round(now * 1e9), "a failover")
                # It may also have undone that they were put back.
                for name in list(self.server.handed):
                    self.lost(name, self.server.handed.pop(name))
            self.server.cut_power(seconds, since)

    async def _drained(self) -> None:
        """Consumes everything, with a client that meets no fault."""
        client = _Client(self, self.plan.clients)
        ends = self.loop.time() + _AFTER
        while self.loop.time() < ends and not self._is_empty():
            with suppress(RedissonDQError):
                for delivery in await client.queue.receive(20, timeout=20, visibility_timeout=60):
                    await delivery.ack()

    def _is_empty(self) -> bool:
        if self.server.refuses:
            return False
        with redis.Redis(unix_socket_path=self.server.path) as admin:
            return not _Behind(admin).due_or_ready([_QUEUE])

    def _look(self) -> None:
        with redis.Redis(unix_socket_path=self.server.path) as admin:
            self.server._set_clock()
            call = self.history.invoke("judge", "look", _QUEUE)
            self.loop.now_us += 1
            call.ok(_Behind(admin).left([_QUEUE]))

    def _raised(self, loop: object, context: dict[str, Any]) -> None:
        # One of a client whose process is gone.
        if "was destroyed but it is pending" in context["message"]:
            return
        self.findings.append(f"raised: {context['message']}: {context.get('exception')!r}")


class _Behind(_Places):
    """Only to look where the items are."""

    def __init__(self, admin: Any) -> None:
        self.admins = [admin]


def _decided(seed: int, loop: Loop, server: Redis) -> None:
    """Makes all that a process takes from its machine a matter of the seed. For a process that plays one world."""
    random.seed(seed)
    os.getpid = lambda: 1
    socket.gethostname = lambda: "world"
    time.monotonic = loop.time
    time.monotonic_ns = lambda: loop.now_us * 1000
    time.time_ns = lambda: server.now_us * 1000
    time.time = lambda: server.now_us / 1_000_000
    time.perf_counter = loop.time


def played(plan: Plan, shim: Path, kept: Path | None = None) -> Outcome:
    """Plays a plan. Changes this process for good, so each world has one of its own (``search.py``)."""
    # The time of garbage collection depends on everything that the process has done before.
    gc.disable()
    folder = Path(tempfile.mkdtemp(prefix="world-", dir=shim.parent))
    world = _World(plan, folder, shim)
    _decided(plan.seed, world.loop, world.server)
    logging.getLogger("redisson_dq").addHandler(_Log(world.findings))
    try:
        seconds = world.run()
    except AssertionError as error:
        world.findings.append(f"stuck: {error}")
        world.history.close()
        seconds = world.loop.time()
    finally:
        world.server.stop()
    path = world.history.path
    report = check(path)
    world.server.digest.update(path.read_bytes())
    return Outcome(
        digest=world.server.digest.hexdigest(),
        findings=(*map(str, report.findings), *dict.fromkeys(world.findings)),
        operations=report.operations,
        commands=world.server.commands,
        seconds=seconds - 1000,
        history=str(path),
    )
