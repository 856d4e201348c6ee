"""The transfer driver without a server: each request is answered by the test, and time passes by hand."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import attrs
import pytest

from redisson_dq._async.moving.transfer_driver import TransferDriver as AsyncTransferDriver
from redisson_dq._redis.tuning import tuned
from redisson_dq._sync.moving.transfer_driver import TransferDriver
from redisson_dq.errors import ClosedError, RedisConnectionError, RedisReplyError
from redisson_dq.items import TransferCounts
from redisson_dq.observing import Observers
from redisson_dq.observing.outage import Outage
from redisson_dq.observing.refusals import Refusals
from redisson_dq.scheduling.clock import using
from redisson_dq.scheduling.recurrence import Recurrence
from redisson_dq.scheduling.tries import Tries
from redisson_dq.wire.calls import Transferred
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request
from tests.conftest import PATIENCE, eventually
from tests.flavours import AsyncioFlavour, Flavour
from tests.hand_clock import HandClock
from tests.unit.test_client_clock import beside, options

ORDERS, MAILS = QueueKeys.of("orders"), QueueKeys.of("mails")
CLIENT = "4f6c0a9be1d25738"
#: How far the server's clock is ahead.
EPOCH_US = 1_700_000_000_000_000
#: The seconds between two probes.
PROBE = 3600.0
#: The seconds from a transfer to the call that drops what is over.
TIDY = 30.0


@attrs.frozen
class Sent:
    """One request that waits for its answer."""

    request: Request[Any]
    _reply: Future[Any]

    @property
    def name(self) -> str:
        """The script's name, or the command's, and the queue."""
        what = str(self.request.words[0]) if self.request.script is None else self.request.script.name
        [queue] = [keys.ready for keys in (ORDERS, MAILS) if self.request.key in attrs.asdict(keys).values()]
        return f"{what} {queue}"

    @property
    def words(self) -> tuple[Any, ...]:
        """Of a script its arguments, of a command all but its name."""
        return (
            self.request.words[1:]
            if self.request.script is None
            else self.request.words[len(self.request.script.keys) + 1 :]
        )

    def answer(self, reply: Any) -> None:
        """Gives the request its result, or the error that it raises."""
        if isinstance(reply, Exception):
            self._reply.set_exception(reply)
        else:
            self._reply.set_result(reply)


class Wire:
    """The stand-in for a client's connections. The test gets the sent commands in order."""

    client, database, is_cluster = CLIENT, 0, False
    #: Whether new connections lead to another server.
    is_over = False

    def __init__(self, clock: HandClock) -> None:
        self.clock = clock
        self.outage, self.refusals = Outage(clock, Observers(None)), Refusals(clock)
        self.tries = Tries(clock)
        self.unheard: dict[str, Any] = {}
        self.sent: queue.SimpleQueue[Sent] = queue.SimpleQueue()
        #: The commands on the connection of the subscription.
        self.subscribed: queue.SimpleQueue[tuple[str, ...]] = queue.SimpleQueue()
        #: What the server says there.
        self.messages: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self.refreshed = 0
        self.replies: list[Future[Any]] = []
        #: How often the next message was asked for.
        self.reads = 0

    def asked(self, request: Request[Any]) -> Future[Any]:
        reply: Future[Any] = Future()
        self.replies.append(reply)
        self.sent.put(Sent(request, reply))
        return reply

    def leave(self) -> None:
        """Ends what a test that failed has left without an answer."""
        for reply in self.replies:
            if not reply.done():
                reply.set_exception(ClosedError())

    def heard(self) -> list[Any]:
        self.reads += 1
        message = self.messages.get()
        if not message:
            raise ConnectionError("closed")
        return message


class SyncWire(Wire):
    def run(self, request: Request[Any], *, before_sending: Any = None, after_sending: Any = None) -> Any:
        if before_sending is not None:
            before_sending()
        reply = self.asked(request)
        if after_sending is not None:
            after_sending()
        return reply.result()

    def run_many(self, requests: list[Request[Any]]) -> list[Any]:
        return [result_of(reply) for reply in [self.asked(request) for request in requests]]

    def connected(self, key: str, role: str, queue: str) -> Any:
        return self

    def check_pause(self, key: str) -> None:
        """A connection could be made at the last try."""

    def check_server(self, key: str) -> None:
        """Not looked at here."""

    def refresh(self) -> None:
        self.refreshed += 1

    # -- the connection of the subscription --------------------------------------------------------------------------

    def send(self, *words: str) -> None:
        self.subscribed.put(words)

    def hear(self) -> Any:
        return self.heard()

    def hang_up(self) -> None:
        self.messages.put([])

    def close(self) -> None:
        pass


class AsyncWire(Wire):
    async def run(self, request: Request[Any], *, before_sending: Any = None, after_sending: Any = None) -> Any:
        if before_sending is not None:
            await before_sending()
        reply = self.asked(request)
        if after_sending is not None:
            await after_sending()
        return await asyncio.wrap_future(reply)

    async def run_many(self, requests: list[Request[Any]]) -> list[Any]:
        replies = [self.asked(request) for request in requests]
        return await asyncio.to_thread(lambda: [result_of(reply) for reply in replies])

    async def connected(self, key: str, role: str, queue: str) -> Any:
        return self

    async def check_pause(self, key: str) -> None:
        """A connection could be made at the last try."""

    async def check_server(self, key: str) -> None:
        """Not looked at here."""

    async def refresh(self) -> None:
        self.refreshed += 1

    async def send(self, *words: str) -> None:
        self.subscribed.put(words)

    async def hear(self) -> Any:
        return await asyncio.to_thread(self.heard)

    async def hang_up(self) -> None:
        self.messages.put([])

    async def aclose(self) -> None:
        pass


def result_of(reply: Future[Any]) -> Any:
    """What ``run_many`` gives for a request: an error is a result as well."""
    return reply.exception() or reply.result()


class Rig:
    """A driver, its stand-in for Redis, and its clock."""

    def __init__(self, flavour: Flavour, **changed: Any) -> None:
        self._flavour = flavour
        self.clock = HandClock()
        self.counts = TransferCounts()
        #: The keys of the lists that the client receives from.
        self.receives: set[str] = set()
        batch = changed.pop("transfer_batch", None)
        with using(self.clock), tuned(probe_interval=PROBE, transfer_batch=batch):
            self._options = attrs.evolve(options(), observer=None, **changed)
        self.wire: Any = AsyncWire(self.clock) if isinstance(flavour, AsyncioFlavour) else SyncWire(self.clock)
        self._said = 0
        self.driver: Any = self._made()

    def _made(self) -> Any:
        arguments: Any = self.wire, self._options, self.receives.__contains__, self.counts
        if not isinstance(self._flavour, AsyncioFlavour):
            return TransferDriver(*arguments)

        async def make() -> AsyncTransferDriver:
            return AsyncTransferDriver(*arguments)

        return self._flavour.run(make())

    def next(self, name: str) -> Sent:
        """The next request, which has to be this one."""
        sent: Sent = self.wire.sent.get(timeout=PATIENCE)
        assert sent.name == name
        return sent

    def says(self, kind: str, channel: str, body: Any = 1) -> None:
        """A message of the server's on the connection of the subscription."""
        self._said += 1
        self.wire.messages.put([kind.encode(), channel.encode(), body])

    def heard(self) -> None:
        """Returns when the driver knows of all that was said."""
        eventually(lambda: self.wire.reads == self._said + 1)

    def announces(self, keys: QueueKeys, in_seconds: float) -> None:
        self.says("message", keys.channel, b"%d" % self.due_ms(in_seconds))

    def due_ms(self, in_seconds: float) -> int:
        """A due time on the server's clock."""
        return round((EPOCH_US + self.clock.now_us()) / 1000 + in_seconds * 1000)

    def transferred(self, next_in: float | None = None, role: str = "alone", **changed: Any) -> Transferred:
        """The result of a transfer after which the next entry is due in this many seconds."""
        told = Transferred(
            moved=0,
            set_aside=0,
            expired=0,
            now_us=EPOCH_US + self.clock.now_us(),
            role=role,
            recurring=(),
            newer=(),
            step=(b"done", 0),
            next_ms=None if next_in is None else self.due_ms(next_in),
        )
        return attrs.evolve(told, **changed)

    def subscribes(self, *channels: str) -> None:
        """Returns when these channels were subscribed, in one command or in several."""
        missing = set(channels)
        while missing:
            command, *named = self.wire.subscribed.get(timeout=PATIENCE)
            assert command == "SUBSCRIBE"
            missing -= set(named)

    def attached(self, keys: QueueKeys, holder: object = "holder") -> Sent:
        """The first transfer of a queue, which the server's confirmation leads to."""
        self.driver.attach(keys, keys.ready, holder)
        self.subscribes(keys.channel)
        self.says("subscribe", keys.channel)
        return self.next(f"transfer {keys.ready}")

    def at_rest(self, keys: QueueKeys, next_in: float | None = None) -> None:
        """A queue that is moved, whose next entry is due in this many seconds."""
        self.attached(keys).answer(self.transferred(next_in))
        self.clock.expect_wait(TIDY)
        self.clock.advance(TIDY)
        self.next(f"tidy {keys.ready}").answer(None)

    def wait_for_probe(self, in_seconds: float = PROBE) -> None:
        """Lets the time of the next probe come, which begins with a PING."""
        self.clock.expect_wait(in_seconds)
        self.clock.advance(in_seconds)
        assert self.wire.subscribed.get(timeout=PATIENCE) == ("PING",)
        self.says("pong", "")
        # Without a pong by the next probe the connection counts as broken.
        self.heard()

    def closing(self) -> None:
        """Returns when the end has begun, which closes the timer first."""
        eventually(lambda: not any(thread.name == "redisson_dq-timer" for thread in threading.enumerate()))

    def close(self) -> None:
        (self.driver.aclose if hasattr(self.driver, "aclose") else self.driver.close)()


@pytest.fixture
def rig(flavour: Flavour) -> Iterator[Rig]:
    rig = Rig(flavour)
    yield rig
    # An error at the end leads to requests of its own.
    is_expected = rig.wire.sent.empty()
    rig.wire.leave()
    rig.close()
    assert is_expected, "each request was expected"


def test_a_confirmed_subscription_leads_to_a_transfer(rig: Rig) -> None:
    first = rig.attached(ORDERS)
    *words, process = first.words
    assert words == [5000, 600_000, CLIENT, "listening", "1", b"deliver", b""]
    # For the history of an item, in which the transfer is a line.
    assert process.endswith(f":{os.getpid()}")
    first.answer(rig.transferred())
    # A reconnect.
    rig.says("subscribe", ORDERS.channel)
    rig.next("transfer orders").answer(rig.transferred())
    eventually(lambda: rig.counts.sent == 2)


def test_the_timer_leads_to_the_next_transfer(rig: Rig) -> None:
    rig.attached(ORDERS).answer(rig.transferred(next_in=5))
    rig.clock.expect_wait(5)
    rig.announces(ORDERS, 2)
    rig.clock.expect_wait(2, within=0.1)
    rig.clock.advance(1.9)
    rig.clock.expect_wait(0.1, within=0.01)
    assert rig.wire.sent.empty()
    rig.clock.advance(0.1)
    rig.next("transfer orders").answer(rig.transferred())


def test_queues_with_much_to_move_take_turns(rig: Rig) -> None:
    for keys in (ORDERS, MAILS):
        rig.attached(keys).answer(rig.transferred())
    rig.announces(ORDERS, 0)
    orders = rig.next("transfer orders")
    rig.announces(MAILS, 0)
    rig.heard()
    # The announcement came before this answer. It leads to a transfer after the one that this answer causes.
    orders.answer(rig.transferred(next_in=0))
    orders = rig.next("transfer orders")
    for _ in range(3):
        orders.answer(rig.transferred(next_in=0))
        mails = rig.next("transfer mails")
        mails.answer(rig.transferred(next_in=0))
        orders = rig.next("transfer orders")
    orders.answer(rig.transferred())
    rig.next("transfer mails").answer(rig.transferred())


def test_messages_that_announce_nothing(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.attached(ORDERS).answer(rig.transferred())
    rig.says("message", ORDERS.channel, b"soon")
    rig.says("message", ORDERS.channel, b"-5")
    rig.says("message", MAILS.channel, b"5")
    rig.says("message", "redisson_dq:none", b"")
    rig.announces(ORDERS, 0)
    rig.next("transfer orders").answer(rig.transferred())
    assert [record.getMessage() for record in caplog.records] == [
        f"channel {ORDERS.channel!r}: ignored a message that is not a due time: b'soon'"
    ]


@pytest.mark.parametrize("error", [RedisConnectionError("away"), RedisReplyError("refused"), ValueError("a defect")])
def test_a_transfer_that_fails_is_tried_again(rig: Rig, error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    rig.attached(ORDERS).answer(error)
    rig.clock.expect_wait(0.1, within=0.01)
    assert (rig.wire.refreshed, rig.wire.outage.is_going_on) == (1, isinstance(error, RedisConnectionError))
    # It waits for the end of the pause, as everything else.
    rig.announces(ORDERS, 0)
    rig.heard()
    rig.clock.advance(0.1)
    rig.next("transfer orders").answer(error)
    rig.clock.expect_wait(0.2, within=0.01)
    is_refused = not isinstance(error, RedisConnectionError)
    assert [problem.queue for problem in rig.wire.refusals.problems] == ["orders"] * is_refused
    rig.clock.advance(0.2)
    rig.next("transfer orders").answer(rig.transferred())
    eventually(lambda: rig.counts.sent == 1)
    assert not rig.wire.outage.is_going_on
    assert rig.wire.refusals.problems == ()
    assert ("unexpected error" in caplog.text) is False


def test_a_queue_that_fails_holds_up_no_other(rig: Rig) -> None:
    rig.attached(ORDERS).answer(ValueError("a defect"))
    rig.attached(MAILS).answer(rig.transferred(next_in=0))
    rig.next("transfer mails").answer(rig.transferred())


def test_the_last_holder_ends_the_queue_and_hands_it_over(rig: Rig) -> None:
    rig.attached(ORDERS, "a").answer(rig.transferred(next_in=5, role="mover"))
    rig.driver.attach(ORDERS, ORDERS.ready, "b")
    rig.driver.attach(ORDERS, ORDERS.ready, "b")
    for holder in ("a", "nobody", "b", "b"):
        rig.driver.detach(ORDERS, holder)
    last = rig.next("hand_over orders")
    assert last.words == (CLIENT,)
    assert rig.wire.subscribed.get(timeout=PATIENCE) == ("UNSUBSCRIBE", ORDERS.channel)
    # What still comes belongs to a queue that is gone, and the timer is not armed any more.
    rig.announces(ORDERS, 0)
    rig.says("subscribe", ORDERS.channel)
    last.answer(True)
    rig.clock.advance(5)
    rig.attached(MAILS).answer(rig.transferred())


def test_a_queue_that_it_never_led_is_not_handed_over(rig: Rig) -> None:
    rig.attached(ORDERS).answer(rig.transferred(role="reserve", next_in=5))
    rig.driver.detach(ORDERS, "holder")
    assert rig.wire.subscribed.get(timeout=PATIENCE) == ("UNSUBSCRIBE", ORDERS.channel)
    rig.attached(MAILS).answer(rig.transferred())


def test_the_end_hands_all_over_at_once(flavour: Flavour) -> None:
    rig = Rig(flavour)
    for keys in (ORDERS, MAILS):
        rig.attached(keys).answer(rig.transferred(role="mover"))
    rig.announces(ORDERS, 0)
    under_way = rig.next("transfer orders")
    rig.announces(MAILS, 0)
    rig.heard()
    closed = beside(rig.close)
    rig.closing()
    under_way.answer(rig.transferred(role="mover", next_in=0))
    requests = [rig.next("hand_over orders"), rig.next("hand_over mails")]
    for request in requests:
        request.answer(True)
    assert closed.get(timeout=PATIENCE) is None
    assert rig.wire.sent.empty(), "what was announced before the end is left to others"


def test_recurring_offers_that_fill_a_reply(flavour: Flavour) -> None:
    """If there are more occurrences than one reply holds, the next transfer, which follows at once, has the rest."""
    rig = Rig(flavour, transfer_batch=1)
    definition = Recurrence(every_ms=1000).to_json()
    come = ("hourly", definition, rig.due_ms(0))
    rig.attached(ORDERS).answer(rig.transferred(recurring=(come,)))
    advance = rig.next("advance orders")
    assert advance.words[1:3] == ("hourly", definition)
    advance.answer(None)
    rig.next("transfer orders").answer(rig.transferred(recurring=(come,)))
    # Another process was first, so there is no other occurrence to make.
    rig.next("advance orders").answer(None)
    rig.close()


# -- keyspace events -------------------------------------------------------------------------------------------------


def test_many_events_lead_to_one_look(flavour: Flavour) -> None:
    rig = Rig(flavour, wakeups="keyspace")
    events = f"__keyspace@0__:{ORDERS.timeout}"
    rig.driver.attach(ORDERS, ORDERS.ready, "holder")
    rig.subscribes(ORDERS.channel, events)
    rig.says("subscribe", ORDERS.channel)
    first = rig.next("transfer orders")
    for event in (b"zadd", b"zincr", b"zrem", b"rename_to"):
        rig.says("message", events, event)
    rig.heard()
    first.answer(rig.transferred())
    look = rig.next("ZRANGE orders")
    rig.says("message", events, b"zrem")
    rig.heard()
    look.answer(rig.due_ms(0))
    rig.next("transfer orders").answer(rig.transferred())
    rig.says("message", events, b"zadd")
    rig.next("ZRANGE orders").answer(None)
    rig.close()
    assert rig.wire.sent.empty()


# -- the probe -------------------------------------------------------------------------------------------------------


def test_a_probe_looks_at_each_queue(rig: Rig) -> None:
    rig.receives.add(MAILS.ready)
    rig.at_rest(ORDERS, next_in=5000)
    rig.at_rest(MAILS)
    rig.wait_for_probe(PROBE - 2 * TIDY)
    # The timer is armed for what waits, so the clock is read as well.
    looks = [rig.next("ZRANGE orders"), rig.next("TIME orders")]
    for look, reply in zip(looks, (rig.due_ms(4000), EPOCH_US + rig.clock.now_us()), strict=True):
        look.answer(reply)
    rig.next("ZRANGE mails").answer(None)
    rig.next("LLEN mails").answer(0)


def test_a_head_that_nobody_announced_is_moved(rig: Rig) -> None:
    rig.at_rest(ORDERS)
    rig.wait_for_probe(PROBE - TIDY)
    rig.next("ZRANGE orders").answer(rig.due_ms(0))
    rig.next("transfer orders").answer(rig.transferred())


def test_a_look_that_redis_refuses_leads_to_a_transfer(rig: Rig) -> None:
    rig.at_rest(ORDERS)
    rig.wait_for_probe(PROBE - TIDY)
    rig.next("ZRANGE orders").answer(RedisReplyError("refused"))
    rig.next("transfer orders").answer(rig.transferred())
    assert not rig.wire.outage.is_going_on


def test_while_redis_is_away_probes_come_soon_and_without_a_ping(rig: Rig) -> None:
    rig.at_rest(ORDERS)
    rig.wait_for_probe(PROBE - TIDY)
    for pause in (1, 2):
        rig.next("ZRANGE orders").answer(RedisConnectionError("away"))
        rig.clock.expect_wait(pause, within=0.01)
        assert rig.wire.outage.is_going_on
        rig.clock.advance(pause)
    rig.next("ZRANGE orders").answer(None)
    rig.clock.expect_wait(PROBE)
    assert not rig.wire.outage.is_going_on
    assert rig.wire.subscribed.empty()
    rig.wait_for_probe()
    rig.next("ZRANGE orders").answer(None)


def test_a_defect_in_a_probe_ends_no_probe(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.at_rest(ORDERS)
    rig.wait_for_probe(PROBE - TIDY)
    rig.next("ZRANGE orders").answer("not a due time")
    rig.clock.expect_wait(PROBE)
    assert [record.getMessage() for record in caplog.records] == ["unexpected error in a probe"]
    rig.wait_for_probe()
    rig.next("ZRANGE orders").answer(None)


def test_no_probe_without_a_queue(rig: Rig) -> None:
    rig.at_rest(ORDERS)
    rig.driver.detach(ORDERS, "holder")
    assert rig.wire.subscribed.get(timeout=PATIENCE) == ("UNSUBSCRIBE", ORDERS.channel)
    rig.clock.advance(2 * PROBE)
    rig.attached(MAILS).answer(rig.transferred())
    assert rig.wire.subscribed.empty()


# -- tidying ---------------------------------------------------------------------------------------------------------


def test_what_is_over_is_dropped_after_a_transfer_but_not_in_reserve(rig: Rig) -> None:
    rig.attached(MAILS).answer(rig.transferred(role="reserve"))
    rig.attached(ORDERS).answer(rig.transferred(role="mover"))
    rig.clock.expect_wait(TIDY)
    rig.clock.advance(TIDY)
    rig.next("tidy orders").answer(60_000)
    rig.clock.expect_wait(60 + TIDY)
    rig.clock.advance(60 + TIDY)
    rig.next("tidy orders").answer(None)
    rig.driver.detach(ORDERS, "holder")
    rig.next("hand_over orders").answer(True)
