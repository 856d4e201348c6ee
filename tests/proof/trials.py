"""Small runs of the real library that are recorded and judged, each for some of its safeguards.

Beside these, each load of the fault suite is such a run. A trial that finds nothing with the library as it is, and
something once a safeguard was taken out, shows that the checker can say no (``ablations.py``).
"""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ClosedError, RedissonDQError
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.worker import Limit, Rate, Succeeded
from tests.conftest import PROGRAMS, eventually
from tests.faults.gate import Gate
from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.faults.world import World
from tests.flavours import AsyncioFlavour, Flavour
from tests.proof.checker import Report, check
from tests.proof.history import Call, keep
from tests.proof.recording import Recorded, epoch_ms
from tests.proof.simulated.search import Worlds
from tests.proof.simulated.steps import planned
from tests.proof.walking import Difference, Walk

__all__ = ["STAGED", "TRIALS", "Stage", "staged", "trial"]

# Tokens a second of each customer.
_TOKENS, _BURST = 12, 4
# Seconds in which an item comes that is due. The client looks by itself every 30 s.
_WITHIN = 4.0


class Stage:
    """A server, and clients whose calls are recorded."""

    def __init__(self, world: World) -> None:
        self.world, self.history = world, world.history
        self.flavour = Flavour()
        self._ends: list[Callable[[], object]] = []
        # The judge's look finds names that end in a number, and no others.
        self.numbers = itertools.count()
        self.taken = threading.Semaphore(0)

    def connect(self, url: str) -> Any:
        """A client of its own, which looks for nothing by itself."""
        client = self.flavour.connect(url, codec=StringCodec(), probe_interval=60)
        self.ends(client.close)
        return client

    def client(self, url: str) -> tuple[Recorded, Recorded]:
        """The two handles of a client of its own."""
        client = self.connect(url)
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders", transfer=False)
        return Recorded(queue, self.history, "orders"), Recorded(delayed, self.history, "orders")

    def ends(self, end: Callable[[], object]) -> None:
        """What is to be ended with the stage."""
        self._ends.append(end)

    def consume(self, queue: Recorded) -> None:
        """Takes in a thread of its own, until the client is closed."""
        thread = threading.Thread(target=self._take, args=(queue,), name="consumer", daemon=True)
        thread.start()
        self.ends(lambda: thread.join(20))

    def offer(self, delayed: Recorded, delay: float, *, patience: float = _WITHIN + 1) -> bool:
        """Offers an item, and waits until it was taken. False when that takes too long."""
        delayed.offer(f"item:trial:{next(self.numbers)}", delay=delay)
        return self.taken.acquire(timeout=patience)

    def close(self) -> None:
        for end in self._ends:
            end()
        self.flavour.close()

    def _take(self, queue: Recorded) -> None:
        while True:
            try:
                queue.take()
                self.taken.release()
            except ClosedError:
                return
            except RedissonDQError:
                time.sleep(0.01)


def _subscriptions(stage: Stage, rng: random.Random) -> None:
    """A producer's message comes while the consumer's subscription is broken."""
    queue, _ = stage.client(stage.world.gate.url)
    _, delayed = stage.client(stage.world.server.url)
    stage.consume(queue)
    if not stage.offer(delayed, 0.0):
        return
    for _ in range(8):
        stage.world.admin.client_kill_filter(_type="pubsub")
        if not stage.offer(delayed, rng.uniform(0.0, 0.2)):
            return


def _movers(stage: Stage, rng: random.Random) -> None:
    """The client that moves the queue stands still, and another one waits."""
    port, admin, keys = stage.world.server.port, stage.world.admin, QueueKeys.of("orders")
    assert port is not None
    with Gate(lambda: port) as gate:
        # A client that is alone is no mover. Of two that are there before the consumer, one is.
        for _ in range(2):
            stage.client(gate.url)[0].start_moving()
        eventually(lambda: admin.get(keys.mover))
        _, delayed = stage.client(stage.world.server.url)
        queue, _ = stage.client(stage.world.gate.url)
        stage.consume(queue)
        eventually(lambda: admin.pubsub_numsub(keys.channel)[0][1] == 3)
        gate.freeze()
        for _ in range(3):
            if not stage.offer(delayed, rng.uniform(0.1, 0.3)):
                break
        gate.clear()
        stage.close()


def _renewals(stage: Stage, rng: random.Random) -> None:
    """Work that takes longer than its lease, and at last one whose renewals are made and have no answer."""
    queue, delayed = stage.client(stage.world.gate.url)
    for number in range(2):
        delayed.offer(f"item:trial:{number}", delay=0.0)
        delivery = queue.receive(timeout=5, visibility_timeout=0.6, renew=True)
        time.sleep(rng.uniform(1.2, 1.6))
        delivery.ack()
    delayed.offer("item:trial:2", delay=0.0)
    delivery = queue.receive(timeout=5, visibility_timeout=0.6, renew=True)
    stage.world.gate.trap("extend.lua", "reply", "cut", times=100)
    time.sleep(rng.uniform(0.65, 0.75))
    stage.world.gate.clear()
    delivery.ack()


def _foreign_entries(stage: Stage, rng: random.Random) -> None:
    """Another program writes into the zset of the queue what is no entry."""
    queue, delayed = stage.client(stage.world.gate.url)
    stage.consume(queue)
    for _ in range(3):
        stage.world.admin.zadd(QueueKeys.of("orders").timeout, {b"junk %d" % rng.randrange(1000): 1})
        if not stage.offer(delayed, 0.05):
            return


def _departures(stage: Stage, rng: random.Random) -> None:
    """A value comes when its caller has left, and the reply to its way back is lost."""
    gate, flavour = stage.world.gate, AsyncioFlavour()
    client = flavour.connect(gate.url, codec=StringCodec(), probe_interval=60)
    leaving = Recorded(client.blocking_queue("orders"), stage.history, "orders")
    staying, delayed = stage.client(stage.world.server.url)
    for number in range(3):
        gate.trap("BLPOP", "reply", "delay", seconds=0.4)
        waiting = flavour.submit(leaving.inner.take)
        eventually(lambda: stage.world.admin.info("clients")["blocked_clients"])
        gate.trap("put_back.lua", "reply", "cut")
        delayed.offer(f"item:trial:{number}", delay=0.0)
        time.sleep(rng.uniform(0.05, 0.15))
        waiting.cancel()
        time.sleep(1.0)
        gate.clear()
        if not staying.poll(3, timeout=2.0):
            break
    staying.poll(9, timeout=0.5)
    client.close()
    flavour.close()


def _keys(stage: Stage, rng: random.Random) -> None:
    """Two workers share the slots and the tokens of three customers, most of whose values are parked."""
    rate = Rate(_TOKENS, per=1, burst=_BURST, by="customer")
    delayed = stage.connect(stage.world.server.url).delayed_queue("orders", transfer=False)
    # While values wait, one more token than the bucket holds is on its way.
    rounds: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"limit": Limit(1, by="customer")}, {"limit": 1}),
        ({"limit": Limit(2, by="customer")}, {"limit": 2}),
        ({"limit": Limit(2, by="customer"), "rate": rate}, {"limit": 2, "rate": [_TOKENS, 1000, _BURST + 1]}),
    ]
    for number, (options, bounds) in enumerate(rounds):
        workers = [_KeyedWorker(stage, rng.random(), bounds, **options) for _ in range(2)]
        for _ in range(24):
            item = f"item:trial:{next(stage.numbers)}"
            value = json.dumps({"customer": f"{rng.choice('abc')}-{number}", "item": item})
            call = stage.history.invoke("producer", "offer", "orders", [[item, 50.0]])
            call.ok([["offered", epoch_ms(delayed.offer(value, delay=0.05).due)]])
        came = all(stage.taken.acquire(timeout=_WITHIN + 1) for _ in range(24))
        for worker in workers:
            worker.stop()
        if not came:
            return


class _KeyedWorker:
    """A worker with a client of its own, whose handlings are recorded."""

    def __init__(self, stage: Stage, seed: float, bounds: dict[str, Any], **options: Any) -> None:
        self._stage, self._bounds, self._chance = stage, bounds, random.Random(seed)
        # By lease: the call that ends it.
        self._ending: dict[str, Call] = {}
        worker = stage.flavour.worker(stage.connect(stage.world.server.url))
        worker.handler("orders", concurrency=6, **options)(self._handle)
        worker.on()(self._happened)
        worker.start()
        self.stop = worker.stop
        stage.ends(worker.stop)

    def _handle(self, value: str, event: Any) -> None:
        told, delivery, history = json.loads(value), event.delivery, self._stage.history
        row = [told["item"], event.id, epoch_ms(delivery.received), epoch_ms(delivery.deadline)]
        call = history.invoke("worker", "receive", "orders", 1, **self._bounds)
        call.ok([row], keys=[told["customer"]])
        time.sleep(self._chance.uniform(0.03, 0.08))
        self._ending[event.id] = history.invoke("worker", "ack", "orders", [row[:2]])

    def _happened(self, happening: Any) -> None:
        if isinstance(happening, Succeeded):
            self._ending.pop(happening.id).ok(["acked"])
            self._stage.taken.release()


_STAGED: dict[str, Callable[[Stage, random.Random], None]] = {
    "subscriptions": _subscriptions,
    "movers": _movers,
    "renewals": _renewals,
    "foreign": _foreign_entries,
    "departures": _departures,
    "keys": _keys,
}
#: The names of the staged ones.
STAGED = tuple(_STAGED)
#: All orders of the scripts, worlds of several seeds, the staged ones, and "faults/FAULT/LOAD".
TRIALS = ("walk", "world", *STAGED, "faults/FAULT/LOAD")
# So many worlds are one trial.
_WORLDS = 25


def trial(name: str, seed: int) -> str:
    """Runs a trial; gives what was found, or an empty text."""
    if name == "walk":
        return _walked()
    if name == "world":
        return _played(seed)
    if name.startswith("faults/"):
        _, fault, *loads = name.split("/")
        result = run(FAULTS[fault], loads, seed, times=2 * FAULTS[fault].times)
        return "\n".join(map(str, result.all_findings))
    with World() as world:
        world.record(trial=name, seed=seed)
        report = staged(_STAGED[name], world, seed)
        return f"{report}\nkept: {keep(world.history.path)}" if report.findings else ""


def staged(play: Callable[[Stage, random.Random], None], world: World, seed: int, *, within: float = _WITHIN) -> Report:
    """Plays on a stage in a world that records, and judges that."""
    stage = Stage(world)
    try:
        play(stage, random.Random(seed))
    finally:
        stage.close()
        world.history.invoke("judge", "look", "orders").ok(world.left(["orders"]))
        world.history.close()
    return check(world.history.path, within=within)


def _walked() -> str:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, redis.Redis.from_url(server.url) as admin:
        for items, ticks in ((1, 2), (2, 2)):
            try:
                Walk(admin, items, ticks).run()
            except (Difference, redis.ResponseError) as error:
                return f"walk: {error}"
    return ""


def _played(seed: int) -> str:
    with Worlds() as worlds:
        for number in range(seed, seed + _WORLDS):
            if found := worlds.play(planned(number)).findings:
                return "\n".join((*found, f"world {number}"))
    return ""
