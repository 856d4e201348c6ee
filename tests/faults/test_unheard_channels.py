"""A client that hears no channel: its own offers arrive on time, and it reports once what it cannot hear."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually, thinned
from tests.faults.world import World
from tests.flavours import Flavour
from tests.workers.handlers import Ledger, running

CHANNEL = QueueKeys.of("orders").channel
#: No probe occurs within a test, so no probe moves anything.
NEVER = 600.0


@contextmanager
def deaf(world: World, how: str) -> Iterator[str]:
    """The URL for a client that cannot subscribe."""
    admin = world.admin
    admin.flushall()
    rights = {"no right": ("&*", "-subscribe"), "no channel": ("resetchannels", "&redisson_dq:none")}.get(how, ("&*",))
    admin.execute_command("ACL", "SETUSER", "deaf", "reset", "on", ">secret", "~*", "+@all", *rights)
    refused = b"-ERR unknown command 'SUBSCRIBE'\r\n"
    if how == "unknown":
        world.gate.trap("SUBSCRIBE", "command", "refuse", times=10**6, answer=refused)
    elif how == "closed":
        world.gate.trap("SUBSCRIBE", "command", "cut", times=10**6)
    try:
        yield world.gate.url.replace("//", "//deaf:secret@")
    finally:
        world.gate.clear()
        world.gate.cut()


HOWS = ("unknown", "no right", "no channel", "closed")


def pipelined(client: Any, delayed: Any) -> None:
    with client.pipeline() as pipeline:
        pipeline.add(delayed.requests.offer("x", delay=0.1))


def in_transaction(client: Any, delayed: Any) -> None:
    with client.pipeline(transaction=True) as transaction:
        transaction.add(delayed.requests.offer("x", delay=0.1))


def sooner(client: Any, delayed: Any) -> None:
    delayed.offer("x", delay=500, id="one")
    assert delayed.reschedule("one", delay=0.1)


def nacked(client: Any, delayed: Any) -> None:
    queue = client.blocking_queue("orders")
    queue.add("x")
    assert queue.receive(timeout=PATIENCE).nack(delay=0.1)


def let_lapse(client: Any, delayed: Any) -> None:
    queue = client.blocking_queue("orders")
    queue.add("x")
    assert queue.receive(timeout=PATIENCE, visibility_timeout=0.3, renew=False)


def resumed(client: Any, delayed: Any) -> None:
    delayed.pause()
    delayed.offer("x", delay=0.01)
    delayed.resume()


def renamed(client: Any, delayed: Any) -> None:
    """The script has the channel of the new name among its arguments."""
    other = client.delayed_queue("others", transfer=False)
    other.offer("x", delay=0.3)
    delayed.offer("y", delay=0)
    assert client.blocking_queue("orders").poll(timeout=PATIENCE) == "y"
    other.rename("orders")


#: Ways in which a client makes a value arrive soon.
WAYS: dict[str, Callable[[Any, Any], object]] = {
    "offer": lambda client, delayed: delayed.offer("x", delay=0.1),
    "offer at once": lambda client, delayed: delayed.offer("x", delay=0),
    "offer_all": lambda client, delayed: delayed.offer_all([("x", 0.1)]),
    "offer with an id": lambda client, delayed: delayed.offer("x", delay=0.1, id="one"),
    "offer_recurring": lambda client, delayed: delayed.offer_recurring("x", "beat", every=timedelta(seconds=0.3)),
    "reschedule": sooner,
    "pipeline": pipelined,
    "transaction": in_transaction,
    "nack": nacked,
    "end of a lease": let_lapse,
    "resume": resumed,
    "rename": renamed,
}


@pytest.mark.parametrize(("way", "how"), thinned(WAYS, HOWS, of=4))
def test_what_a_client_does_itself_is_on_time(flavour: Flavour, world: World, way: str, how: str) -> None:
    with (
        deaf(world, how) as url,
        flavour.connect(url, codec=StringCodec(), probe_interval=NEVER) as client,
    ):
        delayed = client.delayed_queue("orders")
        WAYS[way](client, delayed)
        assert client.blocking_queue("orders").poll(timeout=PATIENCE) == "x"


@pytest.mark.parametrize("how", HOWS)
def test_it_says_once_what_it_does_not_hear_and_does_not_connect_for_ever(
    flavour: Flavour, world: World, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "redisson_dq")
    with (
        deaf(world, how) as url,
        flavour.connect(url, codec=StringCodec(), probe_interval=NEVER) as client,
    ):
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        ledger, worker = Ledger(), flavour.worker(client)
        worker.handler("orders")(ledger.note)
        delayed.offer("a", delay=0.1)
        assert queue.take() == "a"
        eventually(lambda: client.problems)
        before = world.admin.info("stats")["total_connections_received"]
        with running(worker):
            for number in range(10):
                delayed.offer(str(number), delay=0.05)
                assert ledger.next() == str(number)
            eventually(lambda: worker.problems and worker.is_consuming)
        (problem,) = client.problems
        assert CHANNEL in str(problem)
        assert problem.queue == "orders"
        assert not client.health().is_well
        # The worker has a connection of its own. One that is closed at once is made anew ever more seldom.
        assert world.admin.info("stats")["total_connections_received"] - before <= 6
        told = [record for record in caplog.records if "cannot subscribe to the channel" in record.getMessage()]
        assert len(told) == 1


def test_a_right_that_is_given_later_ends_the_problem(flavour: Flavour, world: World) -> None:
    with (
        deaf(world, "no channel") as url,
        flavour.connect(url, codec=StringCodec(), probe_interval=0.2) as client,
    ):
        client.delayed_queue("orders").start_moving()
        eventually(lambda: client.problems)
        world.admin.execute_command("ACL", "SETUSER", "deaf", "&*")
        eventually(lambda: not client.problems)
        assert client.health().subscribed


def test_one_channel_that_is_refused_leaves_the_others(flavour: Flavour, world: World) -> None:
    """Redis refuses a whole SUBSCRIBE for one of its channels."""
    with deaf(world, "no channel") as url:
        world.admin.execute_command("ACL", "SETUSER", "deaf", f"&{QueueKeys.of('bills').channel}")
        with flavour.connect(url, codec=StringCodec(), probe_interval=NEVER) as client:
            for name in ("bills", "orders"):
                client.delayed_queue(name).start_moving()
            eventually(lambda: client.problems and client.health().queues["bills"].subscribed)
            # Now all are subscribed by one command.
            world.gate.cut()
            eventually(lambda: client.health().queues["bills"].subscribed)
            assert [problem.queue for problem in client.problems] == ["orders"]
            with flavour.connect(world.server.url, codec=StringCodec()) as another:
                another.delayed_queue("bills", transfer=False).offer("b", delay=0.1)
            assert client.blocking_queue("bills").poll(timeout=PATIENCE) == "b"


def test_a_queue_that_is_closed_has_no_problem(flavour: Flavour, world: World) -> None:
    with (
        deaf(world, "unknown") as url,
        flavour.connect(url, codec=StringCodec(), probe_interval=NEVER) as client,
    ):
        delayed = client.delayed_queue("orders")
        delayed.start_moving()
        eventually(lambda: client.problems)
        delayed.destroy()
        eventually(lambda: not client.problems)


def test_room_that_a_client_makes_itself_is_given_at_once(flavour: Flavour, world: World) -> None:
    with (
        deaf(world, "unknown") as url,
        flavour.connect(url, codec=StringCodec(), probe_interval=NEVER) as client,
        ThreadPoolExecutor(1) as thread,
    ):
        queue = client.bounded_blocking_queue("bounded", transfer=False)
        queue.try_set_capacity(1)
        queue.add("a")
        waits = thread.submit(queue.offer, "b", timeout=PATIENCE)
        eventually(lambda: "room" in str(client.problems))
        assert queue.poll() == "a"
        assert waits.result(PATIENCE)
        assert queue.poll() == "b"
        assert client.problems == ()
