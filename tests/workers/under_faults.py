"""A process of a load: ``python -m tests.workers.under_faults JSON``.

It goes on until it is killed, or as its mode says. It tells what it does by lines on stdout, each written at once:
``took NAME``, ``acked NAME``, ``asked NAME DELAY TIME``, ``in NAME``, ``refused NAME``, ``wrong TEXT``. A line is there
even when the process is killed right after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel

import redisson_dq
import redisson_dq.aio
from redisson_dq._redis.tuning import tuned
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError

_PATIENCE = 20.0


def tell(*lines: str) -> None:
    os.write(1, "".join(f"{line}\n" for line in lines).encode())


def connected(way: dict[str, Any]) -> Any:
    """A client, as soon as the fault lets it in."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return _connect(way)
        except (RedissonDQError, redis.RedisError):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _connect(way: dict[str, Any]) -> Any:
    with tuned(probe_interval=2):
        if "url" in way:
            return redisson_dq.connect(way["url"], codec=StringCodec())
        if "cluster" in way:
            return redisson_dq.Client(redis.RedisCluster.from_url(way["cluster"]), codec=StringCodec())
        sentinel = redis.sentinel.Sentinel([("127.0.0.1", way["sentinel"])])
        return redisson_dq.Client(sentinel.master_for("main"), codec=StringCodec())


@contextlib.asynccontextmanager
async def _connected(way: dict[str, Any]) -> AsyncIterator[Any]:
    """The same with asyncio."""
    if "cluster" in way:
        made: Any = redis.asyncio.RedisCluster.from_url(way["cluster"])
    elif "sentinel" in way:
        made = redis.asyncio.sentinel.Sentinel([("127.0.0.1", way["sentinel"])]).master_for("main")
    else:
        made = redis.asyncio.Redis.from_url(way["url"])
    try:
        with tuned(probe_interval=2):
            opening = redisson_dq.aio.Client(made, codec=StringCodec())
        async with opening as client:
            yield client
    finally:
        await made.aclose()


@contextlib.contextmanager
def _told(item: str, delay: float) -> Iterator[None]:
    """Tells of an offer: before it, and what came of it. Nobody knows what came of one that may be done."""
    tell(f"asked {item} {delay} {time.time()}")
    try:
        yield
        tell(f"in {item}")
    except ClosedError:
        raise
    except RedissonDQError as error:
        if not getattr(error, "maybe_done", False):
            tell(f"refused {item}")


class _Ways:
    """Everything that a process does beside taking what others offer: partitions, recurring offers, pipelines."""

    def __init__(self, client: Any, name: str, rng: random.Random) -> None:
        self._client, self._load, self._rng = client, name.removeprefix("faults-"), rng
        self._number = arguments["first"]
        self._delayed = client.delayed_queue(name)
        self.parts = client.blocking_queue(f"{name}-parts", partitions=arguments["partitions"])
        self._parts_delayed = client.delayed_queue(f"{name}-parts", partitions=arguments["partitions"])
        self._beats = client.blocking_queue(f"{name}-beat")
        self._metronome = client.delayed_queue(f"{name}-beat")

    def offer(self) -> None:
        """Offers one item in any way, unless the load has stopped to offer."""
        if os.path.exists(arguments["stop"]):
            return
        self._number += 1
        item, delay = f"item:{self._load}:{self._number}", self._rng.choice((0.0, 0.05, self._rng.random() * 0.3))
        with _told(item, delay):
            if self._rng.random() < 0.5:
                self._parts_delayed.offer(item, delay=delay)
            else:
                with self._client.pipeline(transaction=self._rng.random() < 0.5) as pipe:
                    pipe.add(self._delayed.requests.offer(item, delay=delay))

    def beat(self) -> None:
        """Takes an occurrence of what recurs all the time."""
        self._metronome.offer_recurring("beat", "beat", every=0.05)
        self._beats.poll(timeout=0.1)


def _heard(value: str) -> None:
    tell(f"took {value}")


class Interrupted(BaseException):
    """What the handler of a signal raises."""


def take(client: Any, name: str, rng: random.Random) -> None:
    """Takes one at a time, so that a kill finds at most one in hand."""
    queue = client.blocking_queue(name)
    while True:
        tell(f"took {queue.take()}")


def lease(client: Any, name: str, rng: random.Random) -> None:
    """Acks in one transaction with a note of it, so that each item that is gone has one note."""
    queue = client.blocking_queue(name, delivery_limit=None)
    done = client.blocking_queue(f"{{{name}}}-done", transfer=False)
    while True:
        with contextlib.suppress(RedissonDQError):
            for each in queue.receive(rng.choice((1, 5, 20)), visibility_timeout=4):
                step = rng.random()
                if step < 0.8:
                    with client.pipeline(transaction=True) as pipe:
                        pipe.add(each.requests.ack())
                        pipe.add(done.requests.add(each.value))
                    tell(f"acked {each.value}")
                elif step < 0.95:
                    each.nack(delay=rng.random() * 0.1)


def offer(client: Any, name: str, rng: random.Random, first: int) -> None:
    """Offers with and without id, under names of its own."""
    delayed = client.delayed_queue(name)
    number = first
    while True:
        number += 1
        item, delay = f"item:{name.removeprefix('faults-')}:{number}", rng.choice((0.0, 0.05, rng.random() * 0.3))
        with _told(item, delay):
            delayed.offer(item, delay=delay, **({"id": item} if rng.random() < 0.3 else {}))
        time.sleep(rng.uniform(0, 0.02))


def signals(client: Any, name: str, rng: random.Random) -> None:
    """A handler raises at random instants of the waits, real signals one after the other; the client works on."""
    plain, ways = client.blocking_queue(name), _Ways(client, name, rng)
    armed = is_over = False

    def interrupt(*_: Any) -> None:
        if armed:
            raise Interrupted

    def leave(*_: Any) -> None:
        nonlocal is_over
        is_over = True

    signal.signal(signal.SIGALRM, interrupt)
    signal.signal(signal.SIGTERM, leave)
    got: list[Any] = []
    while not is_over:
        try:
            try:
                armed = True
                # Again and again: one that raises while something is freed ends nothing.
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 0.02), rng.choice((0.02, 0.0005)))
                while True:
                    # No signal handler can run between the call and the append to the list.
                    step = rng.randrange(6)
                    if step == 0:
                        got += plain.poll(3, timeout=0.05)
                    elif step == 1:
                        got += [plain.take()]
                    elif step == 2:
                        got += ways.parts.poll(3, timeout=0.05)
                    elif step == 3:
                        ways.beat()
                    elif step == 4:
                        plain.unsubscribe(plain.subscribe_on_elements(_heard))
                    else:
                        ways.offer()
            finally:
                armed = False
        except Interrupted:
            armed = False
        except RedissonDQError:
            armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        told, got = got, []
        tell(*(f"took {each}" for each in told))
    client.close()


def asyncio_signals(client: Any, name: str, rng: random.Random) -> None:
    """A signal cancels the main task of a loop, again and again. Each loop has a client of its own."""
    client.close()
    is_over = False

    def leave(*_: Any) -> None:
        nonlocal is_over
        is_over = True

    signal.signal(signal.SIGTERM, leave)

    async def keep_on(call: Callable[[], Any]) -> None:
        while True:
            found = await call()
            # No await between the value and its line.
            tell(*(f"took {each}" for each in (found if isinstance(found, list) else [found])))

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGALRM, task.cancel)
        try:
            async with _connected(client_way) as own:
                signal.setitimer(signal.ITIMER_REAL, rng.choice((0.0005, 0.005, 0.3)) * rng.uniform(0.1, 1))
                queue = own.blocking_queue(name)
                await asyncio.gather(keep_on(queue.take), keep_on(lambda: queue.poll(3, timeout=0.1)))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    while not is_over:
        with contextlib.suppress(asyncio.CancelledError, RedissonDQError, redis.RedisError):
            asyncio.run(main())


def fork(client: Any, name: str, rng: random.Random) -> None:
    """Forks while its threads wait. The client refuses to work in the child, which makes one of its own."""
    queue, ways = client.blocking_queue(name), _Ways(client, name, rng)
    threading.Thread(target=take, args=(client, name, rng), daemon=True).start()
    threading.Thread(target=_take_parts, args=(ways,), daemon=True).start()
    queue.subscribe_on_elements(_heard)
    while True:
        time.sleep(rng.uniform(0.0, 0.1))
        ways.offer()
        child = os.fork()
        if child:
            _ended(child)
            continue
        code = 1
        try:
            try:
                queue.take()
                tell("wrong take() of the parent's client works in a forked process")
            except ClosedError:
                code = 0
            with _connect(client_way) as own:
                value = own.blocking_queue(name).poll(timeout=0.2)
                if value is not None:
                    tell(f"took {value}")
        except RedissonDQError:
            pass
        except BaseException as error:
            tell(f"wrong in a forked process: {error!r}")
        finally:
            # As a child that ends in order does, and one that does not.
            if rng.random() < 0.5:
                client.close()
            os._exit(code)


def _take_parts(ways: _Ways) -> None:
    while True:
        with contextlib.suppress(RedisConnectionError):
            tell(*(f"took {each}" for each in ways.parts.poll(1, timeout=1)))
            ways.beat()


def _ended(child: int) -> None:
    until = time.monotonic() + _PATIENCE
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            tell("wrong a forked process does not end")
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.005)


def leave(client: Any, name: str, rng: random.Random) -> None:
    """The interpreter ends while threads wait, with and without a close()."""
    queue, ways = client.blocking_queue(name), _Ways(client, name, rng)

    def keep_on(call: Callable[[], Any]) -> None:
        with contextlib.suppress(RedissonDQError):
            while True:
                value = call()
                if value is not None:
                    tell(f"took {value}")

    for call in (queue.take, lambda: queue.poll(timeout=0.3), lambda: ways.parts.poll(timeout=0.3), ways.beat):
        threading.Thread(target=keep_on, args=(call,), daemon=True).start()
    queue.subscribe_on_elements(_heard)
    until = time.monotonic() + rng.uniform(0.05, 0.5)
    while time.monotonic() < until:
        ways.offer()
        time.sleep(0.05)
    if rng.random() < 0.5:
        client.close()
    if rng.random() < 0.3:
        raise SystemExit(0)


MODES: dict[str, Callable[..., None]] = {
    "take": take,
    "lease": lease,
    "offer": offer,
    "signals": signals,
    "asyncio_signals": asyncio_signals,
    "fork": fork,
    "leave": leave,
}

if __name__ == "__main__":
    arguments = json.loads(sys.argv[1])
    client_way = arguments["way"]
    made = connected(client_way)
    more = [arguments["first"]] if arguments["mode"] == "offer" else []
    MODES[arguments["mode"]](made, arguments["name"], random.Random(arguments["seed"]), *more)
