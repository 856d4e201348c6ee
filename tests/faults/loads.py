"""The loads during faults: offers of every kind, and one kind of take for each load.

A load reports to its ledger. It ends with its client; the run counts the items that it leaves in Redis. A new way to
take needs a new load here, and rules in ``rules.py``.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar

from redisson_dq import partition_names
from redisson_dq.codecs import Codec
from redisson_dq.errors import ClosedError, NoThreadError, RedisConnectionError, RedisReplyError, RedissonDQError
from tests.faults.awaits import cancelled_at
from tests.faults.ledger import Ledger
from tests.faults.rules import AT_ONCE, WAITS, Rules
from tests.faults.world import World
from tests.flavours import AsyncioFlavour, Flavour
from tests.proof.history import Call
from tests.proof.recording import Recorded, ended

__all__ = ["HELD", "LOADS", "Asyncio", "Load", "kind_of"]

# Seconds between two steps of the producer. Some 150 items a second: what is under way when a fault comes matters.
_STEP = 0.03
_LONGEST_DELAY = 0.3
# The most by which a wait may exceed its timeout. The actual figure is printed.
HELD = 8.0


class Load:
    """One client with a producer and consumers in threads."""

    rules: ClassVar[Rules] = WAITS
    lean: ClassVar[bool] = False
    partitions: ClassVar[int | None] = None
    consumers: ClassVar[tuple[str, ...]] = ("take", "poll", "poll_many", "short_poll")
    #: A load that has taken this many items counts as running.
    warm: ClassVar[int] = 30
    queue_options: ClassVar[dict[str, Any]] = {}
    #: None: the world's.
    codec: Codec[Any] | None = None
    #: The number of takers besides its consumers.
    others: ClassVar[int] = 0
    #: Steps that wait without a timeout, and so never give up.
    endless: ClassVar[tuple[str, ...]] = ("_take",)

    def __init__(self, name: str, world: World, ledger: Ledger, seed: int) -> None:
        self.name, self.ledger, self.history = name, ledger, world.history
        self.queue_name = f"faults-{name}"
        self.refused: set[str] = set()
        self.worst_wait = 0.0
        #: Until then nothing is offered, for consumers that are behind: many threads share one CPU here.
        self.rests_until = 0.0
        self._rng = random.Random(f"{seed}-{name}")
        self._flavour = self._make_flavour()
        self._world = world
        self._offering = threading.Event()
        self._closing = False
        self._threads: list[threading.Thread] = []

    # -- for the run -------------------------------------------------------------------------------------------------

    @property
    def queues(self) -> list[str]:
        """The names in Redis. For a partitioned queue, those of all partitions."""
        return [self.queue_name] if self.partitions is None else partition_names(self.queue_name, self.partitions)

    @property
    def is_idle(self) -> bool:
        """Whether nothing was taken recently."""
        return time.time() - self.ledger.last_taken > 0.3

    def start(self) -> None:
        self.client = self._world.connect(self._flavour, self.codec)
        options = {} if self.partitions is None else {"partitions": self.partitions}
        self.queue = self._recorded(self.client.blocking_queue(self.queue_name, **options, **self.queue_options))
        self.delayed = self._recorded(self.client.delayed_queue(self.queue_name, lean=self.lean, **options))
        self._offering.set()
        self._thread(self._offer_all_the_time)
        self._consume()

    def burst(self, count: int) -> None:
        """Offers ``count`` items that are due at the same moment."""
        pairs = [(self.ledger.next(0.3), 0.3) for _ in range(count)]
        names = [name for name, _ in pairs]
        self._told(names, lambda: self.delayed.offer_all(pairs))
        # More than one batch, of which one may have been refused.
        self.ledger.unsure(names)

    def stop_offering(self) -> None:
        self._offering.clear()

    def close(self) -> None:
        self._closing = True
        self.client.close()
        for thread in self._threads:
            thread.join(20)
            if thread.is_alive():
                self.ledger.found("held", f"{thread.name} goes on after close()")
        self._flavour.close()

    # -- offering ----------------------------------------------------------------------------------------------------

    def _offer_all_the_time(self) -> None:
        steps = (self._offer, self._offer, self._offer_many, self._offer_with_id, self._offer_cancel)
        while self._offering.is_set():
            try:
                if time.monotonic() >= self.rests_until:
                    self._rng.choice(steps)()
            except ClosedError:
                return
            time.sleep(self._rng.uniform(0, 2 * _STEP))

    def _delay(self) -> float:
        return self._rng.choice((0.0, 0.001, 0.05, self._rng.uniform(0, _LONGEST_DELAY)))

    def _told(self, names: Sequence[str], call: Callable[[], Any]) -> Any:
        """Makes the call that offers these items, and reports the outcome to the ledger."""
        try:
            result = call()
        except RedisConnectionError as error:
            if not error.maybe_done:
                self.ledger.answered(names, "refused")
            time.sleep(self._world.after_refusal)
            return None
        except ClosedError:
            raise
        except RedissonDQError as error:
            self.refused.add(kind_of(error))
            # An error that is not a connection error means that nothing was done, unless it says otherwise.
            if not getattr(error, "maybe_done", False):
                self.ledger.answered(names, "refused")
            time.sleep(self._world.after_refusal)
            return None
        self.ledger.answered(names, "in")
        return result

    def _offer(self) -> None:
        delay = self._delay()
        name = self.ledger.next(delay)
        self._told([name], lambda: self.delayed.offer(name, delay=delay))

    def _offer_many(self) -> None:
        delays = [self._delay() for _ in range(self._rng.randint(2, 20))]
        pairs = [(self.ledger.next(delay), delay) for delay in delays]
        names = [name for name, _ in pairs]
        self._told(names, lambda: self.delayed.offer_all(pairs))
        if self.partitions is not None:
            # One partition may have refused its part of an offer while another accepted its own.
            self.ledger.unsure(names)

    def _offer_with_id(self) -> None:
        """An offer in doubt is sent again, which its id makes safe."""
        delay = self._delay()
        name = self.ledger.next(delay)
        self._until_told(name, lambda: self.delayed.offer(name, delay=delay, id=name, on_duplicate="keep"))

    def _until_told(self, name: str, offer: Callable[[], object]) -> None:
        """Makes an offer whose id makes it safe to make again, until it is answered."""
        for _ in range(3):
            try:
                offer()
            except RedisConnectionError:
                time.sleep(self._world.after_refusal)
                continue
            except ClosedError:
                raise
            except RedissonDQError as error:
                self.refused.add(kind_of(error))
                time.sleep(self._world.after_refusal)
                return
            self.ledger.answered([name], "in")
            return

    def _offer_cancel(self) -> None:
        """Offers an item and cancels it, if it still waits."""
        name = self.ledger.next(0.2)
        item = self._told([name], lambda: self.delayed.offer(name, delay=0.2))
        if item is None:
            return
        try:
            outcome = item.cancel()
        except RedisConnectionError:
            self.ledger.answered([name], "asked")
        except ClosedError:
            raise
        except RedissonDQError as error:
            self.refused.add(kind_of(error))
        else:
            if outcome:
                self.ledger.answered([name], "cancelled")

    # -- taking ------------------------------------------------------------------------------------------------------

    def _consume(self) -> None:
        for number, kind in enumerate(self.consumers):
            self._thread(self._take_all_the_time, getattr(self, f"_{kind}"), random.Random(self._rng.random() + number))

    def _take_all_the_time(self, step: Callable[[random.Random], None], rng: random.Random) -> None:
        while True:
            try:
                step(rng)
            except ClosedError as error:
                if not self._closing:
                    self.ledger.found("raised", f"{step.__name__}, though nobody has closed the client: {error}")
                return
            except RedisConnectionError:
                if step.__name__ in self.endless:
                    self.ledger.found("raised", f"{step.__name__}() raised RedisConnectionError instead of waiting on")
                time.sleep(self._world.after_refusal)
            except RedisReplyError as error:
                self.refused.add(kind_of(error))
                if step.__name__ in self.endless and not self._world.refuses(error):
                    self.ledger.found("raised", f"{step.__name__}() raised: {kind_of(error)}")
                time.sleep(self._world.after_refusal)
            except Exception as error:
                self.ledger.found("raised", f"{step.__name__}: {error!r}")
                return

    def _take(self, rng: random.Random) -> None:
        self.ledger.took([self.queue.take()])

    def _poll(self, rng: random.Random) -> None:
        timeout = rng.uniform(0.5, 0.9)
        value = self._within(timeout, lambda: self.queue.poll(timeout=timeout))
        self.ledger.took([] if value is None else [value])

    def _short_poll(self, rng: random.Random) -> None:
        timeout = rng.uniform(0.001, 0.3)
        value = self._within(timeout, lambda: self.queue.poll(timeout=timeout))
        self.ledger.took([] if value is None else [value])

    def _poll_many(self, rng: random.Random) -> None:
        timeout, limit = rng.uniform(0.1, 0.9), rng.choice((2, 10, 1500))
        self.ledger.took(self._within(timeout, lambda: self.queue.poll(limit, timeout=timeout)))

    def _within(self, timeout: float, call: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            return call()
        finally:
            beyond = time.monotonic() - began - timeout
            self.worst_wait = max(self.worst_wait, beyond)
            if beyond > HELD:
                self.ledger.found("held", f"a wait ended more than {HELD:.0f} s after its time")

    # -- inside ------------------------------------------------------------------------------------------------------

    def _make_flavour(self) -> Flavour:
        return Flavour()

    def _begun(self, f: str, value: Any, **more: Any) -> Call:
        """Records the begin of a call that no recorded handle makes."""
        return self.history.invoke(threading.current_thread().name, f, self.queue_name, value, **more)

    def _took(self, names: list[str], began: int) -> None:
        """Records values that no recorded handle has taken."""
        self._begun("take", len(names), at=began).ok(names)
        self.ledger.took(names)

    def _recorded(self, handle: Any) -> Any:
        """The handle, with its calls written into the history."""
        return Recorded(handle, self.history, self.queue_name)

    def _thread(self, work: Callable[..., None], *args: Any) -> None:
        name = f"load-{self.name}-{len(self._threads)}"
        thread = threading.Thread(target=work, args=args, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()


class Lean(Load):
    """The same with lean offers."""

    lean = True


class Partitions(Load):
    """The same on a queue of four partitions."""

    partitions = 4


class Asyncio(Load):
    """The same with asyncio, where tasks are cancelled at random moments."""

    consumers: ClassVar[tuple[str, ...]] = (*Load.consumers, "cancelled", "cancelled")

    def _make_flavour(self) -> Flavour:
        return AsyncioFlavour()

    def _cancelled(self, rng: random.Random) -> None:
        """A wait that is cancelled. Values that it had returned count as taken, and nothing may be lost."""
        assert isinstance(self._flavour, AsyncioFlavour)
        queue = self.queue.inner
        calls: list[tuple[Callable[..., Any], tuple[int, ...], dict[str, float]]] = [
            (queue.take, (), {}),
            (queue.poll, (), {"timeout": 5.0}),
            (queue.poll, (), {"timeout": 0.2}),
            (queue.poll, (5,), {"timeout": 0.2}),
            (queue.poll, (100,), {"timeout": 5.0}),
        ]
        call, args, options = rng.choice(calls)

        async def told() -> None:
            # There is no await between the value and the ledger.
            value = await call(*args, **options)
            self.ledger.took(value if isinstance(value, list) else [] if value is None else [value])

        self._cancel(told, rng)

    def _cancel(self, call: Callable[[], Any], rng: random.Random) -> None:
        """Cancels the task of a call: at one of its first awaits, or at a random moment."""
        assert isinstance(self._flavour, AsyncioFlavour)
        at_await = rng.choice((None, rng.randint(1, 6)))
        future: Any = self._flavour.submit(call if at_await is None else cancelled_at(call, at_await))
        if at_await is None:
            time.sleep(rng.choice((0.0, 0.0005, 0.002, 0.01, 0.05)) * rng.random())
            future.cancel()
        try:
            future.result(HELD if at_await is None else 4 * HELD)
        except (CancelledError, RedisConnectionError):
            return
        except FutureTimeoutError:
            future.cancel()
            if at_await is None:
                self.ledger.found("held", "a cancelled call did not end")


class AsyncioPartitions(Asyncio):
    """The same with asyncio on a queue of four partitions."""

    partitions = 4


class Listeners(Load):
    """Listeners that are subscribed and unsubscribed meanwhile."""

    def _consume(self) -> None:
        self._began = time.monotonic_ns()
        self._thread(self._resubscribe, random.Random(self._rng.random()))
        for _ in range(2):
            self.queue.subscribe_on_elements(self._told_by_listener)

    def _told_by_listener(self, value: str) -> None:
        self._took([value], self._began)

    def _resubscribe(self, rng: random.Random) -> None:
        try:
            while True:
                try:
                    listener = self.queue.subscribe_on_elements(self._told_by_listener)
                except NoThreadError as error:
                    self.refused.add(kind_of(error))
                    time.sleep(self._world.after_refusal)
                    continue
                time.sleep(rng.uniform(0, 0.1))
                self.queue.unsubscribe(listener)
        except ClosedError:
            return


class AsyncioListeners(Listeners):
    """The same with asyncio."""

    def _make_flavour(self) -> Flavour:
        return AsyncioFlavour()


class Pipelines(Load):
    """Offers and takes in pipelines, some of them transactions. A pipeline takes at once."""

    rules = AT_ONCE
    consumers = ("take_in_pipeline", "take_in_pipeline")

    def _offer_many(self) -> None:
        delays = [self._delay() for _ in range(self._rng.randint(2, 20))]
        names = [self.ledger.next(delay) for delay in delays]
        calls = [self._begun("offer", [[name, 1000 * d]]) for name, d in zip(names, delays, strict=True)]
        pipe = self.client.pipeline(transaction=self._rng.random() < 0.5)
        replies = [
            pipe.add(self.delayed.requests.offer(name, delay=delay)) for name, delay in zip(names, delays, strict=True)
        ]
        try:
            pipe.execute()
        except ClosedError:
            raise
        except RedissonDQError as error:
            self.refused.add(kind_of(error))
        for name, call, reply in zip(names, calls, replies, strict=True):
            if getattr(reply, "_is_there", False) or getattr(getattr(reply, "inner", None), "_is_there", False):
                self._told([name], lambda call=call, reply=reply: self._result(call, reply))  # type: ignore[misc]

    def _result(self, call: Call, reply: Any) -> Any:
        try:
            result = reply.result
        except RedissonDQError as error:
            ended(call, error)
            raise
        call.ok([["offered", None]])
        return result

    def _take_in_pipeline(self, rng: random.Random) -> None:
        limit, began = rng.randint(1, 20), time.monotonic_ns()
        pipe = self.client.pipeline(transaction=rng.random() < 0.5)
        one, many = pipe.add(self.queue.requests.poll()), pipe.add(self.queue.requests.poll(limit))
        with suppress(RedissonDQError):
            pipe.execute()
        for reply, most in ((one, 1), (many, limit)):
            try:
                value = reply.result
            except RedissonDQError:
                self.ledger.ended_without_telling(most)
                continue
            self._took(value if isinstance(value, list) else [] if value is None else [value], began)
        time.sleep(rng.uniform(0, 0.05))
        self.queue.size()


class Immediate(Load):
    """Takes that do not wait: ``poll()``, ``poll(limit)``, ``drain_to``."""

    rules = AT_ONCE
    consumers = ("now", "now")

    def _now(self, rng: random.Random) -> None:
        kind = rng.randrange(3)
        try:
            if kind == 0:
                value = self.queue.poll()
                self.ledger.took([] if value is None else [value])
            else:
                self.ledger.took(self.queue.poll(limit=20) if kind == 1 else self.queue.drain_to(20))
        except RedisConnectionError:
            self.ledger.ended_without_telling(20)
            raise
        time.sleep(rng.uniform(0, 0.02))


class Recurring(Load):
    """Recurring offers with one occurrence within the run, known by its value; and one that recurs all the time."""

    _EVERY = 0.02

    def start(self) -> None:
        super().start()
        self._beats = 0
        self._beating_since = time.monotonic()
        every = timedelta(seconds=self._EVERY)
        self.metronome = self.client.delayed_queue(f"{self.queue_name}-beat")
        self.metronome.offer_recurring("beat", "beat", every=every)
        beats = self.client.blocking_queue(f"{self.queue_name}-beat")
        self._thread(self._count_beats, beats)

    def close(self) -> None:
        super().close()
        most = (time.monotonic() - self._beating_since) / self._EVERY + 2
        if self._beats > most:
            self.ledger.found("twice", f"{self._beats} occurrences where {most:.0f} is the most there can be")
        if not self._beats:
            self.ledger.found("lost", "no occurrence came of the offer that recurs all the time")

    def _offer(self) -> None:
        # Not in the past when the offer is made.
        delay = self._delay() + 0.2
        name = self.ledger.next(delay)
        start = datetime.fromtimestamp(self._world.clock() + delay, timezone.utc)
        day = timedelta(days=1)
        self._until_told(name, lambda: self.delayed.offer_recurring(name, name, every=day, start=start, end=start))

    def _count_beats(self, beats: Any) -> None:
        while True:
            try:
                beats.take()
                self._beats += 1
            except ClosedError:
                return
            except RedissonDQError:
                time.sleep(0.05)


def kind_of(error: Exception) -> str:
    """The error without the parts that differ each time."""
    text = re.sub(r"item:[a-z0-9:]+|[0-9]+", "_", str(error))
    return f"{type(error).__name__}: {text.rsplit(': ', 1)[-1][:40]}"


#: By name. The modules of the other loads add theirs.
LOADS: dict[str, type[Load]] = {
    "threads": Load,
    "asyncio": Asyncio,
    "lean": Lean,
    "partitions": Partitions,
    "asynciopartitions": AsyncioPartitions,
    "listeners": Listeners,
    "asynciolisteners": AsyncioListeners,
    "pipelines": Pipelines,
    "immediate": Immediate,
    "recurring": Recurring,
}
