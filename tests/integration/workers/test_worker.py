"""Handlers: which values they get, how many at a time, from which queues, with which arguments."""

from __future__ import annotations

import _thread
import asyncio
import inspect
import random
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import Kryo5Codec, StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.java import java_class
from redisson_dq.worker import DeadLettered, Happening, Received, Recovered, Retry, Succeeded, fixed
from redisson_dq.working.handlers import is_async
from redisson_dq.working.roster import Post
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running


@java_class("com.acme.work.Order")
@attrs.define
class Order:
    id: int | None = None


@java_class("com.acme.work.Refund")
@attrs.define
class Refund:
    id: int | None = None


def test_values_are_handled_and_gone(admin: Any, worker: Any, queue: Any, delayed: Any) -> None:
    ledger = Ledger()
    worker.handler("orders")(ledger.handle)
    queue.add_all(["a", "b"])
    with running(worker):
        delayed.offer("c", delay=0.05)
        assert ledger.some(3) == ["a", "b", "c"]
        at_rest(admin)
        assert worker.is_running
    assert not worker.is_running
    assert [event.attempt for event in ledger.events] == [1, 1, 1]
    assert whereabouts(admin).total == {}


def test_what_a_handler_is_told(worker: Any, queue: Any, delayed: Any) -> None:
    ledger = Ledger()
    worker.handler("orders")(ledger.handle)
    with running(worker):
        delayed.offer("a", delay=0.01, context={"trace": "00-4b"})
        ledger.next()
    (event,) = ledger.events
    assert (event.value, event.queue, event.attempt, event.failures, event.crashes) == ("a", "orders", 1, 0, 0)
    assert event.context == {"trace": "00-4b"}
    assert event.lateness.total_seconds() >= 0
    assert event.due < event.deadline
    assert event.id == event.delivery.id
    assert event.reason == ""
    assert not event.cancelled
    assert event.id in repr(event)


def test_the_value_alone(worker: Any, queue: Any) -> None:
    ledger = Ledger()
    worker.handler("orders")(lambda value: ledger.note(value))
    queue.add("a")
    with running(worker):
        assert ledger.next() == "a"


def test_coroutine_functions(flavour: Flavour, worker: Any, queue: Any, admin: Any) -> None:
    ledger = Ledger()

    async def handle(value: Any, event: Any) -> None:
        await asyncio.sleep(0)
        ledger.note(value, event)

    if flavour.name == "sync":
        with pytest.raises(ArgumentError, match=r"aio\.worker"):
            worker.handler("orders")(handle)
        return
    worker.handler("orders")(handle)
    queue.add("a")
    with running(worker):
        assert ledger.next() == "a"
        at_rest(admin)


@pytest.mark.parametrize("in_loop", [False, True])
def test_an_event_extends_its_lease(flavour: Flavour, worker: Any, queue: Any, in_loop: bool) -> None:
    if in_loop and flavour.name == "sync":
        return
    told: list[Any] = []
    done = threading.Event()

    def note(event: Any, outcome: Any) -> None:
        told.extend((outcome, event.delivery.remaining.total_seconds()))
        done.set()

    def handle(value: Any, event: Any) -> None:
        note(event, event.extend(1000))

    async def handle_in_loop(value: Any, event: Any) -> None:
        note(event, await event.extend(1000))

    worker.handler("orders")(handle_in_loop if in_loop else handle)
    queue.add("a")
    with running(worker):
        assert done.wait(PATIENCE)
    assert told[0]
    assert told[1] > 900


def test_the_class_decides_and_what_nobody_takes_is_a_dead_letter(
    flavour: Flavour, url: str, admin: Any, queue: Any
) -> None:
    with flavour.connect(url, codec=Kryo5Codec()) as client:
        queue = client.blocking_queue("orders")
        worker, orders, refunds = flavour.worker(client), Ledger(), Ledger()
        log = Log(worker)
        worker.handler("orders", Order)(orders.handle)
        worker.handler("orders", Refund)(refunds.handle)
        queue.add_all([Order(1), Refund(2), "neither", Order(3)])
        with running(worker):
            assert orders.some(2) == [Order(1), Order(3)]
            assert refunds.next() == Refund(2)
            (dead,) = log.until(DeadLettered)
        assert (dead.queue, dead.handler, dead.reason) == ("orders", "", "no handler takes a builtins.str")
        (letter,) = queue.dead_letters()
        assert (letter.value, letter.reason) == ("neither", "no handler takes a builtins.str")
        assert whereabouts(admin).total.total() == 1


def test_what_no_codec_reads_is_a_dead_letter(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=Kryo5Codec()) as client:
        worker, ledger = flavour.worker(client), Ledger()
        log = Log(worker)
        worker.handler("orders", concurrency=4)(ledger.handle)
        queue = client.blocking_queue("orders")
        admin.rpush("orders", Kryo5Codec().encode("a"), b"\xff\xff\xff", Kryo5Codec().encode("b"))
        with running(worker):
            assert sorted(ledger.some(2)) == ["a", "b"]
            (dead,) = log.until(DeadLettered)
            at_rest(admin)
        assert dead.data == b"\xff\xff\xff"
        assert dead.reason.startswith("undecodable")
        (letter,) = queue.dead_letters()
        assert letter.data == b"\xff\xff\xff"


def test_a_field_and_a_function_decide(worker: Any, queue: Any, flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=Kryo5Codec()) as client:
        worker, refunds, large, rest = flavour.worker(client), Ledger(), Ledger(), Ledger()
        worker.handler("orders", where={"kind": "refund"})(refunds.handle)
        worker.handler("orders", when=lambda value: value["size"] > 10)(large.handle)
        worker.handler("orders")(rest.handle)
        sale, big, refund = {"kind": "sale", "size": 1}, {"kind": "sale", "size": 11}, {"kind": "refund", "size": 50}
        client.blocking_queue("orders").add_all([sale, big, refund])
        with running(worker):
            assert (refunds.next(), large.next(), rest.next()) == (refund, big, sale)


def test_a_function_that_decides_and_fails_is_a_failure_of_its_handler(worker: Any, queue: Any) -> None:
    worker.handler("orders", when=lambda value: value["missing"], retry=Retry(limit=2, backoff=fixed(0)))(print)
    log = Log(worker)
    queue.add("a")
    with running(worker):
        (dead,) = log.until(DeadLettered)
    assert "when= of" in dead.reason
    assert dead.attempt == 2


def test_no_more_at_a_time_than_its_concurrency_and_nothing_in_advance(
    admin: Any, flavour: Flavour, worker: Any, queue: Any
) -> None:
    gate = Gate()
    worker.handler("orders", concurrency=3)(lambda value: gate.wait())
    queue.add_all([str(number) for number in range(20)])
    with running(worker, gate):
        eventually(lambda: gate.inside == 3)
        # As many leases as handlers that run, at any time, so also now and a little later.
        for _ in range(50):
            found = whereabouts(admin)
            assert found.leased.total() == 3
            assert found.arrivals.total() + found.ready.total() == 17
        assert worker.running == 3
        gate.open()
        at_rest(admin)
    assert (gate.most, gate.entered) == (3, 20)


def test_handlers_of_one_queue_have_their_own_slots(admin: Any, flavour: Flavour, client: Any, worker: Any) -> None:
    queue, slow, quick = client.blocking_queue("orders"), Gate(), Ledger()
    worker.handler("orders", when=lambda value: value.startswith("s"), concurrency=2)(lambda value: slow.wait())
    worker.handler("orders", concurrency=5)(quick.handle)
    queue.add_all(["s1", "q1", "s2", "q2"])
    with running(worker, slow):
        quick.next()
        eventually(lambda: slow.inside == 2)
        queue.add("s3")
        slow.open()
        quick.next()
        at_rest(admin)
    assert slow.most == 2


@pytest.mark.parametrize("kind", ["plain", "bounded", "partitions"])
def test_a_handler_that_is_busy_for_long_holds_up_no_other(flavour: Flavour, client: Any, kind: str) -> None:
    """What comes for it meanwhile waits in Redis, uncounted, and comes again."""
    kinds: dict[str, dict[str, Any]] = {"plain": {}, "bounded": {"bounded": True}, "partitions": {"partitions": 2}}
    options = kinds[kind]
    # With a total limit one loop receives from both queues.
    worker = flavour.worker(client, concurrency=None if kind == "plain" else 6)
    slow, quick, other = Gate(), Ledger(), Ledger()
    seen = Ledger()

    def handle(value: Any, event: Any) -> None:
        slow.wait()
        seen.note(value, event)

    log = Log(worker)
    worker.queue("orders", **options)
    worker.handler("orders", when=lambda value: value.startswith("s"))(handle)
    worker.handler("orders", concurrency=2)(quick.handle)
    worker.handler("others")(other.handle)
    if kind == "bounded":
        queue = client.bounded_blocking_queue("orders")
        assert queue.try_set_capacity(100)
    else:
        queue = client.blocking_queue("orders", **options)
    for value in [*(f"s{number}" for number in range(20)), "q1"]:
        queue.add(value)
    with running(worker, slow):
        assert quick.next() == "q1"
        for value in ("q2", "q3"):
            queue.add(value)
            assert quick.next() == value
            client.blocking_queue("others").add(value)
            assert other.next() == value
        assert slow.entered == 1
        slow.open()
        assert sorted(seen.some(20)) == sorted(f"s{number}" for number in range(20))
        eventually(lambda: len(log.of(Succeeded)) == 25)
    assert slow.most == 1
    assert {(event.attempt, event.failures, event.crashes) for event in seen.events} == {(1, 0, 0)}
    # Hooks are told of a value when its handler gets it.
    assert len(log.of(Received)) == 25


def test_a_busy_handler_beside_one_with_a_key(admin: Any, client: Any, worker: Any) -> None:
    """A value that goes back keeps its turn."""
    slow, quick, seen = Gate(), Ledger(), Ledger()

    def handle(value: Any) -> None:
        slow.wait()
        seen.note(value)

    worker.handler("orders", when=lambda value: value.startswith("s"), key=lambda value: value[1])(handle)
    worker.handler("orders", concurrency=2)(quick.handle)
    queue = client.blocking_queue("orders")
    queue.add_all(["sa1", "sb1", "sa2", "sb2", "sa3", "q1"])
    with running(worker, slow):
        assert quick.next() == "q1"
        slow.open()
        values = seen.some(5)
        at_rest(admin)
    assert [value for value in values if value[1] == "a"] == ["sa1", "sa2", "sa3"]
    assert [value for value in values if value[1] == "b"] == ["sb1", "sb2"]


def test_a_handler_that_comes_while_another_is_busy(admin: Any, client: Any, worker: Any) -> None:
    slow, quick = Gate(), Ledger()
    worker.handler("orders", when=lambda value: value.startswith("s"))(lambda value: slow.wait())
    queue = client.blocking_queue("orders")
    queue.add_all(["s1", "s2", "q1"])
    with running(worker, slow):
        eventually(lambda: slow.inside == 1)
        worker.add_handler(quick.handle, "orders")
        assert quick.next() == "q1"
        slow.open()
        at_rest(admin)
    assert slow.entered == 2


def test_several_queues_each_with_its_slots(admin: Any, flavour: Flavour, client: Any, worker: Any) -> None:
    gates = {name: Gate() for name in ("a", "b", "c")}
    for count, (name, gate) in enumerate(gates.items(), 1):
        worker.handler(name, concurrency=count)(lambda value, gate=gate: gate.wait())
        client.blocking_queue(name).add_all([str(number) for number in range(9)])
    try:
        with running(worker):
            eventually(lambda: [gate.inside for gate in gates.values()] == [1, 2, 3])
            for gate in gates.values():
                gate.open()
            for name in gates:
                at_rest(admin, name)
    finally:
        for gate in gates.values():
            gate.open()
    assert [gate.most for gate in gates.values()] == [1, 2, 3]
    assert [gate.entered for gate in gates.values()] == [9, 9, 9]


def test_a_total_limit_over_all_queues(admin: Any, flavour: Flavour, client: Any) -> None:
    worker, gate = flavour.worker(client, concurrency=2), Gate()
    for name in ("a", "b", "c"):
        worker.handler(name, concurrency=5)(lambda value: gate.wait())
        client.blocking_queue(name).add_all([str(number) for number in range(7)])
    with running(worker, gate):
        eventually(lambda: gate.inside == 2)
        for _ in range(30):
            assert sum(whereabouts(admin, name).leased.total() for name in ("a", "b", "c")) == 2
        gate.open()
        for name in ("a", "b", "c"):
            at_rest(admin, name)
    assert (gate.most, gate.entered) == (2, 21)


def test_strict_order_of_queues(admin: Any, flavour: Flavour, client: Any) -> None:
    worker, ledger = flavour.worker(client, concurrency=1, order=["high", "low"]), Ledger()
    for name in ("low", "high"):
        worker.handler(name)(lambda value, event: ledger.note(event.queue))
        client.blocking_queue(name).add_all([str(number) for number in range(20)])
    with running(worker):
        assert ledger.some(40) == ["high"] * 20 + ["low"] * 20
        # What comes while it waits for both is found, wherever it comes.
        for name in ("low", "high", "low", "low", "high"):
            client.blocking_queue(name).add("x")
            assert ledger.next() == name
        for name in ("low", "high"):
            at_rest(admin, name)


def test_weighted_order_of_queues(flavour: Flavour, client: Any) -> None:
    worker, ledger = flavour.worker(client, concurrency=1, order={"high": 3, "low": 1}), Ledger()
    for name in ("low", "high"):
        worker.handler(name)(lambda value, event: ledger.note(event.queue))
        client.blocking_queue(name).add_all([str(number) for number in range(60)])
    with running(worker):
        first = ledger.some(60)
        ledger.some(60)
    assert (first.count("high"), first.count("low")) == (45, 15)


def test_a_queue_with_free_slots_is_waited_for_while_another_is_full(admin: Any, flavour: Flavour, client: Any) -> None:
    worker, gate, ledger = flavour.worker(client, concurrency=10), Gate(), Ledger()
    worker.handler("slow", concurrency=1)(lambda value: gate.wait())
    worker.handler("quick", concurrency=1)(ledger.handle)
    slow, quick = client.blocking_queue("slow"), client.blocking_queue("quick")
    with running(worker, gate):
        slow.add("1")
        eventually(lambda: gate.inside == 1)
        for value in "abc":
            quick.add(value)
            assert ledger.next() == value
        slow.add("2")
        gate.open()
        at_rest(admin, "slow")
    assert gate.entered == 2


def test_handlers_come_and_go_while_it_runs(admin: Any, worker: Any, client: Any) -> None:
    first, second = Ledger(), Ledger()
    queue, other = client.blocking_queue("orders"), client.blocking_queue("other")
    one, two = first.handle, second.handle
    worker.add_handler(one, "orders")
    with running(worker):
        queue.add("a")
        assert first.next() == "a"
        worker.add_handler(two, "other")
        other.add("b")
        assert second.next() == "b"
        assert worker.remove_handler(one)
        assert not worker.remove_handler(one)
        # The queue is closed: nobody receives from it any more.
        eventually(lambda: len(client.runtime.attachments["orders"]) == 1)
        queue.add("c")
        other.add("d")
        assert second.next() == "d"
        assert queue.size() == 1
        worker.add_handler(two, "orders")
        assert second.next() == "c"
        at_rest(admin)
        at_rest(admin, "other")
    assert first.values == ["a"]


def test_a_handler_that_is_refused_while_it_runs_changes_nothing(admin: Any, worker: Any, client: Any) -> None:
    ledger, other = Ledger(), Ledger()
    one, two = ledger.handle, other.handle
    worker.add_handler(one, "orders")

    def takes_unknown(value: Any, event: Any, session: Any) -> None: ...

    def takes_late(value: Any, event: Any, pool: Any) -> None: ...

    with running(worker):

        @worker.per_worker
        def pool() -> Iterator[str]:
            yield "pool"

        with pytest.raises(ArgumentError, match="'session', but no dependency has that name"):
            worker.add_handler(takes_unknown, "orders", str)
        with pytest.raises(ArgumentError, match="'pool', which was declared while the worker was running"):
            worker.add_handler(takes_late, "orders", str)
        assert [each.function for each in worker.handlers] == [one]
        worker.add_handler(two, "other")
        client.blocking_queue("other").add("b")
        assert other.next() == "b"
        assert worker.remove_handler(two)
        client.blocking_queue("orders").add("a")
        assert ledger.next() == "a"
        at_rest(admin)
    worker.add_handler(takes_late, "orders", str)
    with running(worker):
        pass


@pytest.mark.parametrize("concurrency", [None, 2])
def test_a_queue_that_cannot_be_opened_while_it_runs_changes_nothing(
    flavour: Flavour, url: str, admin: Any, concurrency: int | None
) -> None:
    def mapped(name: str) -> str:
        if name == "broken":
            raise ValueError("no name for it")
        return name

    with flavour.connect(url, codec=StringCodec(), name_mapper=mapped) as client:
        ledger = Ledger()
        worker = flavour.worker(client, concurrency=concurrency)
        worker.add_handler(ledger.handle, "orders")
        with running(worker):
            for _ in range(2):
                with pytest.raises(ValueError, match="no name for it"):
                    worker.add_handler(print, "broken")
            assert worker.queues == ["orders"]
            queue = client.blocking_queue("orders")
            for value in ("a", "b", "c"):
                queue.add(value)
                assert ledger.next() == value
            worker.add_handler(ledger.handle, "other")
            client.blocking_queue("other").add("d")
            assert ledger.next() == "d"


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_a_change_for_which_the_system_gives_no_thread_is_undone(
    worker: Any, client: Any, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue of the new handler is open by then, and probes for it need a thread."""
    ledger, start = Ledger(), _thread.start_new_thread
    worker.queue("other", transfer=False)
    one, two = ledger.handle, Ledger().handle
    worker.add_handler(one, "orders")

    def start_or_fail(begin: Any, args: Any) -> None:
        if begin.__self__.name == "redisson_dq-probing":
            raise RuntimeError("can't start new thread")
        start(begin, args)

    with running(worker):
        with monkeypatch.context() as shortage:
            shortage.setattr(_thread, "start_new_thread", start_or_fail)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                worker.add_handler(two, "other")
        other = client.blocking_queue("other")
        eventually(lambda: len(client.runtime.attachments["other"]) == 1)
        other.add("b")
        queue.add("a")
        assert ledger.next() == "a"
        assert (worker.queues, other.size()) == (["orders"], 1)
        worker.add_handler(one, "other")
        assert ledger.next() == "b"


@pytest.mark.parametrize("batch", [False, True])
def test_a_hook_takes_the_handler_of_a_received_value_off(admin: Any, worker: Any, client: Any, batch: bool) -> None:
    gate, ledger = Gate(), Ledger()

    def handle(value: Any) -> None:
        ledger.note(value)
        gate.wait()

    def remove(happening: Received) -> None:
        # With asyncio the hook is called in the loop.
        getattr(worker, "inner", worker).remove_handler(handle)

    worker.on(Received)(remove)
    if batch:
        worker.batch_handler("orders", 3, within=0.05, when=lambda value: value == "a")(handle)
    else:
        worker.handler("orders", when=lambda value: value == "a")(handle)
    # The queue stays open for another one.
    worker.handler("orders")(ledger.handle)
    client.blocking_queue("orders").add("a")
    with running(worker, gate):
        assert ledger.next() == (["a"] if batch else "a")
        assert worker.running == 1
        gate.open()
        at_rest(admin)
        eventually(lambda: worker.running == 0)


def test_a_slot_that_is_freed_while_a_value_is_turned_away(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, ledger = Gate(), Ledger()
    has_room: Any = inspect.getattr_static(Post, "has_room")

    def found(post: Post) -> bool:
        found: bool = has_room.__get__(post)
        if not found and not gate.is_open:
            gate.open()
            eventually(lambda: post.running == 0)
        return found

    def handle(value: Any, event: Any) -> None:
        ledger.note(value, event)
        gate.wait()

    with Flavour().connect(url) as own:
        worker = Flavour().worker(own)
        log = Log(worker)
        worker.handler("orders", when=lambda value: value.startswith("a"))(handle)
        worker.handler("orders")(ledger.handle)
        queue = own.blocking_queue("orders")
        queue.add("a1")
        with running(worker, gate):
            assert ledger.next() == "a1"
            monkeypatch.setattr(Post, "has_room", property(found))
            queue.add("a2")
            assert ledger.next() == "a2"
            log.until(Succeeded, 2)
    # A value that is handled was told of before, and looked at for faults.
    assert [each.id for each in log.of(Received)] == [event.id for event in ledger.events]


def test_one_worker_is_started_again(admin: Any, worker: Any, queue: Any) -> None:
    ledger = Ledger()
    worker.handler("orders")(ledger.handle)
    for value in "ab":
        queue.add(value)
        with running(worker):
            assert ledger.next() == value
            at_rest(admin)
        worker.stop()


@pytest.mark.parametrize("kind", [Received, Succeeded])
def test_an_observer_that_would_end_the_program(flavour: Flavour, url: str, admin: Any, kind: type[Happening]) -> None:
    ledger = Ledger()

    def observe(happening: Happening) -> None:
        if isinstance(happening, kind):
            raise SystemExit

    with flavour.connect(url, codec=StringCodec(), observer=observe) as client:
        worker = flavour.worker(client)
        worker.handler("orders")(ledger.handle)
        client.blocking_queue("orders").add_all(["a", "b", "c"])
        with running(worker):
            assert ledger.some(3) == ["a", "b", "c"]
            at_rest(admin)
    assert ledger.values == ["a", "b", "c"]


def test_a_worker_with_a_client_of_its_own(flavour: Flavour, url: str, queue: Any, admin: Any) -> None:
    worker, ledger = flavour.worker_of(url, codec=StringCodec(), concurrency=2), Ledger()
    worker.handler("orders")(ledger.handle)
    queue.add("a")
    with running(worker):
        assert ledger.next() == "a"
        at_rest(admin)
    with pytest.raises(ArgumentError, match="cannot be used"):
        flavour.worker_of("no url")


def test_partitions_codecs_and_dead_letters_of_a_queue(flavour: Flavour, url: str, client: Any, admin: Any) -> None:
    worker, ledger = flavour.worker(client), Ledger()
    worker.queue("parts", codec=Kryo5Codec(), partitions=3)
    worker.queue("orders", dead_letter="graveyard", visibility_timeout=2)
    worker.handler("parts", int, concurrency=2)(ledger.handle)
    worker.handler("orders", retry=None)(lambda value: 1 / 0)
    log = Log(worker)
    parts = client.blocking_queue("parts", Kryo5Codec(), partitions=3)
    for number in range(12):
        parts.add(number)
    client.blocking_queue("orders").add("a")
    with running(worker):
        assert sorted(ledger.some(12)) == list(range(12))
        log.until(DeadLettered)
        eventually(lambda: not parts.in_flight_size())
        with pytest.raises(ArgumentError, match="open already"):
            worker.queue("parts")
    assert admin.lrange("graveyard", 0, -1) == [b"a"]


def test_what_is_handled_makes_room_in_a_bounded_queue(worker: Any, client: Any, admin: Any) -> None:
    queue, ledger = client.bounded_blocking_queue("orders"), Ledger()
    assert queue.try_set_capacity(2)
    worker.queue("orders", bounded=True)
    worker.handler("orders")(ledger.handle)
    assert [queue.offer(value) for value in "abc"] == [True, True, False]
    with running(worker):
        ledger.some(2)
        eventually(lambda: queue.remaining_capacity() == 2)
        assert queue.offer("c")
        assert ledger.next() == "c"


def test_consuming_only(flavour: Flavour, client: Any, producer: Any, admin: Any) -> None:
    worker, ledger = flavour.worker(client, transfer=False), Ledger()
    worker.handler("orders")(ledger.handle)
    with running(worker):
        producer.offer("due", delay=0)
        client.blocking_queue("orders", transfer=False).add("ready")
        assert ledger.next() == "ready"
        at_rest_but_waiting = whereabouts(admin)
        assert at_rest_but_waiting.waiting == {b"due": 1}
        # Another process moves what is due.
        with flavour.connect(client_url(admin), codec=StringCodec()) as mover:
            mover.blocking_queue("orders").start_moving()
            assert ledger.next() == "due"
    assert ledger.values == ["ready", "due"]


def client_url(admin: Any) -> str:
    known = admin.connection_pool.connection_kwargs
    return f"redis://{known['host']}:{known['port']}/0"


def test_what_happens_is_told(worker: Any, queue: Any, delayed: Any, admin: Any) -> None:
    log, ledger = Log(worker), Ledger()
    only: list[Any] = []
    worker.on(Succeeded)(only.append)
    worker.on()(lambda happening: 1 / 0)
    worker.handler("orders")(ledger.handle)
    delayed.offer("a", delay=0.02, context={"trace": "1"})
    with running(worker):
        ledger.next()
        log.until(Succeeded)
    received, succeeded = log.all
    assert isinstance(received, Received)
    assert received.lateness is not None
    assert received.lateness.total_seconds() >= 0
    assert received.event.context == {"trace": "1"}
    assert isinstance(succeeded, Succeeded)
    assert succeeded.handler == "Ledger.handle"
    assert succeeded.duration.total_seconds() >= 0
    assert received.id == succeeded.id == ledger.events[0].id
    assert only == [succeeded]


def test_a_value_whose_receiver_died_is_recovered(worker: Any, client: Any, admin: Any) -> None:
    queue = client.blocking_queue("orders", delivery_limit=None)
    queue.add("a")
    queue.receive(visibility_timeout=0.05)
    log, ledger = Log(worker), Ledger()
    worker.handler("orders")(ledger.handle)
    with running(worker):
        ledger.next()
        at_rest(admin)
    (recovered,) = log.of(Recovered)
    assert (recovered.crashes, recovered.attempt) == (1, 2)


def test_a_value_that_kills_its_receivers_is_given_up_before_it_is_handled(
    worker: Any, client: Any, admin: Any
) -> None:
    queue = client.blocking_queue("orders", delivery_limit=None)
    queue.add("poison")
    for _ in range(2):
        queue.receive(visibility_timeout=0.05)
    log, ledger, failed = Log(worker), Ledger(), Ledger()
    worker.handler("orders", crash_limit=2, on_failed=lambda value, event, error: failed.note(value, error))(
        ledger.handle
    )
    with running(worker):
        (dead,) = log.until(DeadLettered)
    assert ledger.values == []
    assert failed.values == ["poison"]
    assert "died" in dead.reason
    assert (dead.attempt, queue.dead_letters()[0].crashes) == (3, 2)


def test_commands_for_each_value_with_all_slots_busy(admin: Any, flavour: Flavour, client: Any, worker: Any) -> None:
    chance, count = random.Random(5), 200
    ledger = Ledger()

    def handle(value: Any) -> None:
        time.sleep(chance.random() * 0.01)
        ledger.note(value)

    worker.handler("orders", concurrency=8)(handle)
    client.blocking_queue("orders").add_all([str(number) for number in range(count)])
    admin.config_resetstat()
    with running(worker):
        ledger.some(count)
        at_rest_by_worker(worker)
    sent = {name: stat["calls"] for name, stat in admin.info("commandstats").items()}
    # All that a client sends; what scripts call is counted beside them.
    ours = sum(calls for name, calls in sent.items() if re.match("cmdstat_(eval|blmove|client|subscribe|ping)", name))
    assert ours <= 1.5 * count, sent
    assert sent["cmdstat_evalsha"] >= count / 8


@pytest.mark.parametrize("transfer", [True, False])
def test_an_idle_worker_sends_nothing_but_its_probes(flavour: Flavour, admin: Any, url: str, transfer: bool) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.5) as client:
        worker, ledger = flavour.worker(client, transfer=transfer), Ledger()
        worker.handler("orders", concurrency=8)(ledger.handle)
        queue = client.blocking_queue("orders", transfer=False)
        with running(worker):
            queue.add("a")
            ledger.next()
            at_rest(admin)
            # A value may be handled before the subscription is confirmed, which leads to a transfer.
            eventually(lambda: client.transfers.sent or not transfer)
            eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
            # A call behind the last transfer looks for what is over. It comes before the second probe.
            admin.config_resetstat()
            eventually(lambda: admin.info("commandstats").get("cmdstat_blmove", {"calls": 0})["calls"] >= 2)
            admin.config_resetstat()
            eventually(lambda: admin.info("commandstats").get("cmdstat_blmove", {"calls": 0})["calls"] >= 3)
            stats = admin.info("commandstats")
    # A wait ends in Redis with each probe, and is sent anew. Its two scripts see that nothing has come.
    inside = {"cmdstat_exists", "cmdstat_hexists", "cmdstat_zcount", "cmdstat_zcard", "cmdstat_llen", "cmdstat_time"}
    # A receive that finds nothing tries a write, which a demoted server refuses.
    inside.add("cmdstat_zremrangebyrank")
    foreign = {"cmdstat_info", "cmdstat_config|resetstat"}
    sent = {name: entry["calls"] for name, entry in stats.items() if name not in inside | foreign}
    waits, probes = (
        sent.pop("cmdstat_blmove"),
        {"cmdstat_ping", "cmdstat_zrange"} if transfer else set(),
    )
    # The write of a probe that comes between two waits.
    assert sent.pop("cmdstat_lpop", 0) <= int(transfer)
    assert sent.keys() == {"cmdstat_evalsha"} | probes
    assert sent["cmdstat_evalsha"] <= 2 * waits + 1
    assert all(waits - 1 <= sent[name] <= waits + 1 for name in probes)


def at_rest_by_worker(worker: Any) -> None:
    eventually(lambda: worker.running == 0)


def test_wrong_options(flavour: Flavour, client: Any) -> None:
    worker = flavour.worker(client)
    for options, message in (
        ({"order": ["a"]}, "order="),
        ({"concurrency": 0}, "concurrency="),
        ({"order": 5, "concurrency": 1}, "order="),
        ({"grace": -1}, "grace="),
    ):
        with pytest.raises(ArgumentError, match=message):
            flavour.worker(client, **options)
    for seconds in (0, -1, float("nan"), "30"):
        with pytest.raises(ArgumentError, match="visibility_timeout="):
            flavour.worker(client, visibility_timeout=seconds)
    with pytest.raises(ArgumentError, match="concurrency="):
        worker.handler("orders", concurrency=0)(print)
    with pytest.raises(ArgumentError, match="not empty"):
        worker.handler("")(print)
    for wrong, message in (
        ({"visibility_timeout": 0}, "visibility_timeout="),
        ({"codec": StringCodec}, r"codec= must be a redisson_dq\.codecs\.Codec, such as StringCodec\(\)"),
        ({"transfer": "no"}, "transfer="),
        ({"bounded": True, "partitions": 2}, "a bounded queue has no partitions"),
        ({"partitions": 0}, "partitions= is an int from 1 to 1024, not 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            worker.queue("orders", **wrong)
    assert not is_async(print)


async def _hook(happening: Any) -> None: ...


def test_a_declaration_without_its_brackets_is_refused_at_once(flavour: Flavour, client: Any) -> None:
    """Nothing would be declared, and nobody would be told."""
    worker = flavour.worker(client)
    for declare in (worker.handler, worker.on):
        with pytest.raises(ArgumentError, match=r"@worker\."):
            declare(print)
    with pytest.raises(ArgumentError, match=r"@worker\.handler"):
        worker.batch_handler(print, 10)
    # Nobody would await it.
    with pytest.raises(ArgumentError, match="plain function"):
        worker.on(Succeeded)(_hook)
    assert worker.handlers == []


def test_nothing_is_fetched_without_a_handler(worker: Any, queue: Any) -> None:
    with pytest.raises(ArgumentError, match="without handlers receives nothing"):
        worker.start()
    worker.add_handler(print, "orders")
    with running(worker):
        assert worker.remove_handler(print)
        queue.add("a")
        assert worker.is_consuming
    assert queue.size() == 1
