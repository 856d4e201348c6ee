"""Many due times in one call, where nobody can tell the difference."""

from __future__ import annotations

import contextlib
import random
import struct
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.testing import TestClock, offered
from redisson_dq.testing._lines import TimedLines
from redisson_dq.testing._waits import Alarms
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.worker import Retry, fixed
from tests.conftest import PATIENCE, by_night
from tests.flavours import Flavour
from tests.testing.conftest import START

DAY = timedelta(days=1)


def calls(admin: redis.Redis) -> int:
    """How many scripts were called since the figures were reset."""
    figures: Any = admin.info("commandstats")
    return int(figures["cmdstat_evalsha"]["calls"] + figures.get("cmdstat_eval", {"calls": 0})["calls"])


@pytest.mark.parametrize("is_shuffled", [False, True], ids=["in order", "shuffled"])
def test_10000_items_of_30_days_need_few_calls(
    clock: TestClock, queue: Any, delayed: Any, admin: redis.Redis, is_shuffled: bool
) -> None:
    order = list(range(10_000))
    if is_shuffled:
        random.Random(4).shuffle(order)
    delayed.offer_all([(str(number), (number + 1) * 30 * DAY / 10_000) for number in order])
    admin.config_resetstat()
    clock.advance(days=30)
    assert queue.read_all() == [str(number) for number in range(10_000)]
    # A moment a day costs a look, and some thousand due times are gone through at once.
    assert calls(admin) < 400
    figures: Any = admin.info("commandstats")
    # A shuffled list is searched for many items at once. A search for each of them alone takes most of the time.
    assert sum(figures.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("lpos", "lrange", "lrem")) < 10_000


def test_a_client_of_another_database_costs_nothing_and_hears_nothing(
    flavour: Flavour, url: str, admin: redis.Redis
) -> None:
    """Channels belong to the server. The other client moves a queue of the same name in its own database."""
    channel = QueueKeys.of("orders").channel
    with redisson_dq.connect(url.replace("/0", "/1"), codec=StringCodec()) as other:
        other.delayed_queue("orders").start_moving()
        while admin.pubsub_numsub(channel)[0][1] == 0:
            time.sleep(0.001)
        with admin.pubsub(ignore_subscribe_messages=True) as heard, TestClock(url, start=START) as clock:
            heard.subscribe(channel)
            assert heard.get_message(timeout=PATIENCE) is None
            with flavour.connect(url, codec=StringCodec()) as client:
                delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
                delayed.offer_all([(str(number), (number + 1) * DAY / 100) for number in range(3000)])
                admin.config_resetstat()
                clock.advance(days=30)
                assert queue.read_all() == [str(number) for number in range(3000)]
                assert calls(admin) < 400
                # An offer is heard by a client that sleeps, on the channel of the clock.
                other.delayed_queue("orders").offer("b", DAY / 100)
                delayed.offer("a", DAY)
                assert clock.step()
                assert (clock.now, queue.read_all()[3000:]) == (START + 31 * DAY, ["a"])
            messages = [message["data"] for message in iter(lambda: heard.get_message(timeout=0.05), None)]
        assert len(messages) == 1
        other.delayed_queue("orders").delete()


def of_java(chance: random.Random, value: str) -> bytes:
    """An entry of Redisson, whose id is random."""
    return b"\x08" + chance.randbytes(8) + struct.pack("<Q", len(value)) + value.encode()


def test_javas_items_in_a_long_list_need_few_calls(
    clock: TestClock, queue: Any, delayed: Any, admin: redis.Redis
) -> None:
    """A list so long is not searched for many of Java's items at once. Each is looked for alone, in the same call."""
    chance = random.Random(7)
    dues = {of_java(chance, f"{number}"): 400 * DAY for number in range(45_000)}
    dues |= {of_java(chance, f"{number:03}"): (number + 1) * DAY / 10 for number in range(200)}
    members = list(dues)
    chance.shuffle(members)
    with admin.pipeline(transaction=False) as pipe:
        for at in range(0, len(members), 5000):
            some = members[at : at + 5000]
            pipe.zadd(delayed.keys.timeout, {each: (START + dues[each]).timestamp() * 1000 for each in some})
            pipe.rpush(delayed.keys.envelopes, *some)
        pipe.execute()
    delayed.offer("first", 1)
    admin.config_resetstat()
    clock.advance(days=30)
    assert queue.read_all() == ["first", *(f"{number:03}" for number in range(200))]
    assert admin.llen(delayed.keys.envelopes) == 45_000
    assert calls(admin) < 300


def run(
    flavour: Flavour, url: str, history: Callable[[Any, TestClock, list[Any]], None], *, ahead: bool
) -> tuple[list[Any], Any]:
    """Plays a history, with transfers that run ahead or without; gives its notes and the state at its end."""
    notes: list[Any] = []
    with contextlib.ExitStack() as stack:
        if not ahead:
            stack.enter_context(pytest.MonkeyPatch.context()).setattr(TimedLines, "quiet", lambda lines: set())
        clock = stack.enter_context(TestClock(url, start=START))
        client = stack.enter_context(flavour.connect(url, codec=StringCodec()))
        history(client, clock, notes)
        return notes, [state_of(client, name) for name in ("busy", "quiet")]


def state_of(client: Any, name: str) -> Any:
    queue, delayed = client.blocking_queue(name), client.delayed_queue(name, transfer=False)
    return (
        queue.read_all(),
        [(item.value, item.id, item.due) for item in delayed.items()],
        [(letter.value, letter.reason, letter.attempts) for letter in queue.dead_letters()],
        queue.expired_count() if hasattr(queue, "expired_count") else delayed.expired_count(),
        queue.in_flight_size(),
    )


def history_of(chance: random.Random, flavour: Flavour) -> Callable[[Any, TestClock, list[Any]], None]:
    def history(client: Any, clock: TestClock, notes: list[Any]) -> None:
        quiet, queue = client.delayed_queue("quiet"), client.blocking_queue("quiet")
        busy = client.delayed_queue("busy")
        worker = flavour.worker(client)

        @worker.handler("busy", retry=Retry(limit=3, backoff=fixed(40_000)))
        def handle(value: str, event: Any) -> None:
            notes.append((clock.now, value, event.attempt))
            if int(value) % 3 == 0:
                raise ValueError(value)

        def note(ended: Any) -> None:
            notes.append((clock.now, ended))

        with worker if chance.random() < 0.7 else contextlib.nullcontext():
            for number in range(chance.randrange(4, 25)):
                moment = timedelta(seconds=chance.randrange(1, 400_000))
                match chance.randrange(8):
                    case 0:
                        busy.offer(str(number), moment)
                    case 1:
                        quiet.offer(str(number), moment, id=f"id-{chance.randrange(3)}-{number}")
                    case 2:
                        quiet.offer(str(number), moment, expires=timedelta(seconds=1))
                    case 3:
                        queue.add(str(number))
                        note(queue.receive(visibility_timeout=moment).value)
                    case 4:
                        clock.advance(moment / 8)
                    case 5:
                        quiet.offer_recurring(str(number), f"r{number}", every=moment)
                    case 6:
                        quiet.offer_all([(f"{number}-{each}", moment + each * moment / 9) for each in range(9)])
                    case _:
                        note(queue.poll())
            clock.advance(days=9)
            note(len(offered(quiet)) if flavour.name == "sync" else quiet.size())
            note(queue.size())

    return history


def plain_history_of(chance: random.Random, flavour: Flavour, url: str) -> Callable[[Any, TestClock, list[Any]], None]:
    """Nothing but the due times depends on the time in one queue. A handler of another one looks at it."""

    def history(client: Any, clock: TestClock, notes: list[Any]) -> None:
        quiet, lean, worker = (
            client.delayed_queue("quiet"),
            client.delayed_queue("quiet", lean=True),
            flavour.worker(client),
        )

        @worker.handler("busy")
        def handle(value: str) -> None:
            notes.append((clock.now, value, admin.lrange("quiet", 0, -1)))

        moments = [timedelta(seconds=chance.randrange(1, 400_000)) for _ in range(300)]
        with redis.Redis.from_url(url) as admin, worker:
            for number in range(800):
                moment, kind = chance.choice(moments), chance.randrange(40)
                due_ms = (START + moment).timestamp() * 1000
                if kind == 0:
                    # Queues that have items of one moment go on in any order then.
                    client.delayed_queue("busy").offer(str(number), moment + timedelta(milliseconds=500))
                elif kind == 1:
                    admin.zadd(quiet.keys.timeout, {b"no entry %d" % number: due_ms})
                elif kind < 8:
                    member = of_java(chance, str(number))
                    admin.zadd(quiet.keys.timeout, {member: due_ms})
                    admin.rpush(quiet.keys.envelopes, member)
                else:
                    (lean if kind < 16 else quiet).offer(str(number), moment)
            # Nobody has told of the entries that were written here. This transfer finds the first of them.
            quiet.offer("now", 0)
            clock.settle()
            while clock.now < START + timedelta(seconds=400_000):
                clock.advance(timedelta(seconds=chance.randrange(1, 200_000)))
                notes.append((clock.now, admin.lrange("quiet", 0, -1), admin.lrange(quiet.keys.quarantine, 0, -1)))

    return history


@pytest.mark.parametrize("seed", [0, *map(by_night, range(1, 8))])
def test_items_of_many_moments_are_moved_at_once_as_they_are_one_by_one(flavour: Flavour, url: str, seed: int) -> None:
    notes, state = run(flavour, url, plain_history_of(random.Random(seed), flavour, url), ahead=True)
    assert (notes, state) == run(flavour, url, plain_history_of(random.Random(seed), flavour, url), ahead=False)
    assert sum(len(each) > 2 and isinstance(each[1], str) for each in notes) > 5


@pytest.mark.parametrize("seed", [0, 1, 2, *map(by_night, range(3, 8))])
def test_a_transfer_that_runs_ahead_changes_no_history(flavour: Flavour, url: str, seed: int) -> None:
    results = [run(flavour, url, history_of(random.Random(seed), flavour), ahead=ahead) for ahead in (True, False)]
    assert results[0] == results[1]


def test_nothing_is_ahead_of_what_somebody_sees(flavour: Flavour, url: str) -> None:
    """A handler of one queue finds the values of another one that were due by then, and no more."""
    seen: list[tuple[datetime, int]] = []

    def history(client: Any, clock: TestClock, notes: list[Any]) -> None:
        delayed, queue, worker = client.delayed_queue("quiet"), client.blocking_queue("quiet"), flavour.worker(client)
        client.delayed_queue("busy").offer_all([("a", 10 * DAY), ("b", 20 * DAY)])

        @worker.handler("busy")
        def handle(value: str) -> None:
            seen.append((clock.now, admin.llen("quiet")))

        delayed.offer_all([(str(hour), timedelta(hours=hour - 0.5)) for hour in range(1, 24 * 30)])
        with worker:
            clock.advance(30 * DAY)
        assert queue.size() == 24 * 30 - 1

    with redis.Redis.from_url(url) as admin:
        run(flavour, url, history, ahead=True)
    assert seen == [(START + 10 * DAY, 240), (START + 20 * DAY, 480)]


def test_few_steps_of_a_worker_have_those_who_wait_for_rest_look(flavour: Flavour, url: str) -> None:
    """A look wakes a thread, and takes most of the time of a test with a worker."""
    looked = 0

    class Counted(Alarms):
        def happened(self) -> None:
            nonlocal looked
            looked += 1
            super().happened()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("redisson_dq.testing._clock.Alarms", Counted)
        with TestClock(url, start=START) as clock, flavour.connect(url, codec=StringCodec()) as client:
            worker = flavour.worker(client)
            handled: list[str] = []
            worker.handler("orders")(handled.append)
            delayed = client.delayed_queue("orders")
            delayed.offer_all([(str(number), timedelta(minutes=number + 1)) for number in range(100)])
            with worker:
                clock.settle()
                looked = 0
                clock.advance(minutes=100)
            assert len(handled) == 100
    # Each item has two moments: its due time, and 30 s later the deadline of its lease.
    assert looked < 25 * 100, looked
