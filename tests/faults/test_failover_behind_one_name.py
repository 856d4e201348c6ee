"""A failover behind one name: new connections reach the new master, open ones still lead to the old server.

Each part of a client runs against a name. Then the name leads to another server, and the old one answers every command
of the connections that exist with one of the replies that say "not here". What blocks there and what is subscribed
there stays silent. Every part has to go on at the new server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pytest
import redis

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.sidecar import Sidecar
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, PROGRAMS, eventually, moving, thinned
from tests.faults.gate import Gate
from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.flavours import Flavour
from tests.workers.handlers import running

#: The replies of a server that is not, or no longer, the right one.
_ANSWERS = {
    "READONLY": b"-READONLY You can't write against a read only replica.\r\n",
    "LOADING": b"-LOADING Redis is loading the dataset in memory\r\n",
    "MASTERDOWN": b"-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
    "CLUSTERDOWN": b"-CLUSTERDOWN The cluster is down\r\n",
    "MOVED": b"-MOVED 1234 127.0.0.1:1\r\n",
    "NOREPLICAS": b"-NOREPLICAS Not enough good replicas to write.\r\n",
    "UNBLOCKED": b"-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)\r\n",
    "Redis 6.2": b"-ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY no writes \r\n",
    "Envoy": b"-upstream failure\r\n",
    "twemproxy": b"-ERR Connection refused\r\n",
    "predixy": b"-ERR no server connection avaliable\r\n",
}

_MANY = 12


def _port(server: EmbeddedServer) -> int:
    assert server.port is not None
    return server.port


class Name:
    """Two servers, and a name that leads to one of them."""

    def __init__(self, stack: ExitStack) -> None:
        program = PROGRAMS["redis"]()
        self.servers = [stack.enter_context(EmbeddedServer(program=program)) for _ in range(2)]
        self.admins: list[Any] = [stack.enter_context(redis.Redis.from_url(server.url)) for server in self.servers]
        self._inner = [stack.enter_context(Gate(partial(_port, server))) for server in self.servers]
        self._at = 0
        self._front = stack.enter_context(Gate(lambda: self._inner[self._at].port))

    @property
    def url(self) -> str:
        return self._front.url

    @property
    def admin(self) -> Any:
        """A client of the server that the name leads to."""
        return self.admins[self._at]

    @property
    def server(self) -> EmbeddedServer:
        return self.servers[self._at]

    @property
    def other(self) -> EmbeddedServer:
        """The server that the name will lead to after a turn."""
        return self.servers[1 - self._at]

    def replicate(self) -> None:
        """Copies everything to the other server."""
        for key in self.admin.scan_iter():
            self.admins[1 - self._at].restore(key, 0, self.admin.dump(key))

    def turn(self, answer: bytes) -> None:
        """From now on the name leads to the other server, and the old one answers with this error."""
        self._at = 1 - self._at
        self._inner[1 - self._at].trap("*", "command", "refuse", times=1_000_000, answer=answer)

    def turn_silently(self) -> None:
        """From now on the name leads to the other server, and the old one answers as before."""
        self._at = 1 - self._at

    def offer(self, value: str, delay: float = 0.0, queue: str = "orders") -> None:
        """Another service, which has found the new server, offers there. Nobody else moves it."""
        with Flavour().connect(self.server.url, codec=StringCodec()) as client:
            client.delayed_queue(queue, transfer=False).offer(value, delay=delay)


@pytest.fixture
def name() -> Iterator[Name]:
    with ExitStack() as stack:
        yield Name(stack)


@contextmanager
def connected(flavour: Flavour, name: Name) -> Iterator[Any]:
    with flavour.connect(name.url, codec=StringCodec(), probe_interval=0.5) as client:
        yield client


_Part = Callable[[Flavour, Name, bytes], object]


def _until_it_works(call: Callable[[], object]) -> object:
    """The calls of a user, who tries again after each error."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except RedissonDQError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def _offers(flavour: Flavour, name: Name, answer: bytes) -> None:
    with connected(flavour, name) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        delayed.offer("before", delay=60)
        name.turn(answer)
        _until_it_works(lambda: delayed.offer("after", delay=60))
        assert name.admin.zcard(QueueKeys.of("orders").timeout) == 1
        # No connection to the old server is left in the part that got the error.
        delayed.offer("again", delay=60)
        assert name.admin.zcard(QueueKeys.of("orders").timeout) == 2


def _adds(flavour: Flavour, name: Name, answer: bytes) -> None:
    with connected(flavour, name) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("before")
        name.turn(answer)
        _until_it_works(lambda: queue.add_all(["a", "b"]))
        assert name.admin.lrange("orders", 0, -1) == [b"a", b"b"]


def _writes_together(flavour: Flavour, name: Name, answer: bytes) -> None:
    with connected(flavour, name) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("before")
        name.turn(answer)

        def both() -> None:
            pipeline = client.pipeline(transaction=True)
            for value in ("a", "b"):
                pipeline.add(queue.requests.add(value))
            pipeline.execute()

        _until_it_works(both)
        assert name.admin.lrange("orders", 0, -1)[-2:] == [b"a", b"b"]


def _waits(take: Callable[[Any], Any], **options: Any) -> _Part:
    def waits(flavour: Flavour, name: Name, answer: bytes) -> None:
        with ThreadPoolExecutor(1) as thread, connected(flavour, name) as client:
            queue = client.blocking_queue("orders", **options)
            name.admin.rpush("orders", "first")
            assert take(queue) == "first"
            waiting = thread.submit(take, queue)
            eventually(lambda: name.admin.info("clients")["blocked_clients"])
            name.turn(answer)
            if options.get("transfer") is False:
                name.admin.rpush("orders", "second")
            else:
                name.offer("second", delay=0.2)
            assert waiting.result(PATIENCE) == "second"

    return waits


def _polls(flavour: Flavour, name: Name, answer: bytes) -> None:
    with connected(flavour, name) as client:
        queue = client.blocking_queue("orders")
        name.offer("first")
        assert queue.poll(timeout=PATIENCE) == "first"
        name.turn(answer)
        name.offer("second", delay=0.2)
        eventually(lambda: _until_it_works(lambda: queue.poll(timeout=0.3)) == "second")


def _many_queues(transfer: bool) -> _Part:
    """More queues than have connections of their own, which share two of a node."""

    def waits(flavour: Flavour, name: Name, answer: bytes) -> None:
        with ThreadPoolExecutor(1) as thread, connected(flavour, name) as client:
            queue = client.blocking_queue("orders", partitions=_MANY, transfer=transfer)
            ready = partition_names("orders", _MANY)[-1]
            name.admin.rpush(ready, "first")
            assert queue.take() == "first"
            waiting = thread.submit(queue.take)
            eventually(lambda: int(name.admin.info("clients")["tracking_clients"]))
            name.turn(answer)
            if transfer:
                name.offer("second", delay=0.2, queue=ready)
            else:
                name.admin.rpush(ready, "second")
            assert waiting.result(PATIENCE) == "second"

    return waits


def _listens(flavour: Flavour, name: Name, answer: bytes) -> None:
    came: list[str] = []
    with connected(flavour, name) as client:
        client.blocking_queue("orders").subscribe_on_elements(came.append)
        name.offer("first")
        eventually(lambda: came == ["first"])
        name.turn(answer)
        name.offer("second", delay=0.2)
        eventually(lambda: came == ["first", "second"])


def _works(flavour: Flavour, name: Name, answer: bytes) -> None:
    came: list[str] = []
    with connected(flavour, name) as client:
        worker = flavour.worker(client)
        worker.handler("orders")(came.append)
        with running(worker):
            name.offer("first")
            eventually(lambda: came == ["first"])
            name.turn(answer)
            name.offer("second", delay=0.2)
            eventually(lambda: came == ["first", "second"])


def _moves(flavour: Flavour, name: Name, answer: bytes) -> None:
    """A client that only moves, and sends nothing meanwhile: only its probe can notice."""
    with connected(flavour, name) as client:
        moving(client.delayed_queue("orders"))
        name.offer("first", delay=0.1)
        eventually(lambda: name.admin.llen("orders") == 1)
        name.turn(answer)
        name.offer("second", delay=0.2)
        eventually(lambda: name.admin.lrange("orders", 0, -1) == [b"second"])


def _puts(flavour: Flavour, name: Name, answer: bytes) -> None:
    with ThreadPoolExecutor(1) as thread, connected(flavour, name) as client:
        queue = client.bounded_blocking_queue("orders", transfer=False)
        assert queue.try_set_capacity(1)
        queue.put("first")
        putting = thread.submit(queue.put, "second")
        eventually(name.admin.pubsub_channels)
        with Flavour().connect(name.other.url, codec=StringCodec()) as other:
            there = other.bounded_blocking_queue("orders", transfer=False)
            # A put that comes there sooner would find no capacity.
            assert there.try_set_capacity(1)
            name.turn(answer)
            error = putting.exception(PATIENCE)
            if error is not None:
                # Behind a proxy it may have been carried out.
                assert isinstance(error, RedisConnectionError)
                assert error.maybe_done
                queue.put("second")
            assert there.read_all() == ["second"]


def _renews(flavour: Flavour, name: Name, answer: bytes) -> None:
    """The lease is known at the new server, as it was replicated."""
    with connected(flavour, name) as client:
        queue = client.blocking_queue("orders")
        name.offer("first")
        delivery = queue.receive(visibility_timeout=2.0, renew=True)
        name.replicate()
        name.turn(answer)
        time.sleep(3.0)
        assert _until_it_works(delivery.ack)


def _follows(flavour: Flavour, name: Name, answer: bytes) -> None:
    """What ``move --follow`` does."""
    with connected(Flavour(), name) as client:
        name.offer("first", delay=0.1)
        sidecar = Sidecar(client, ["*"])
        eventually(lambda: sidecar.look() or sidecar.names)
        eventually(lambda: name.admin.llen("orders") == 1)
        name.turn(answer)
        name.offer("second", delay=0.2)
        eventually(lambda: name.admin.lrange("orders", 0, -1) == [b"second"])
        eventually(lambda: sidecar.health().is_well)


def _looks(flavour: Flavour, name: Name, answer: bytes) -> None:
    """What ``watch``, the exporter and the dashboard do."""
    with connected(flavour, name) as client:
        assert client.stats("orders")["orders"].ready == 0
        name.turn(answer)
        name.admin.rpush("orders", "there")
        eventually(lambda: _until_it_works(lambda: client.stats("orders"))["orders"].ready == 1)  # type: ignore[index]


_PARTS: dict[str, _Part] = {
    "offer": _offers,
    "add_all": _adds,
    "pipeline": _writes_together,
    "take": _waits(lambda queue: queue.take()),
    "take without moving": _waits(lambda queue: queue.take(), transfer=False),
    "poll for long": _waits(lambda queue: queue.poll(timeout=PATIENCE)),
    "receive": _waits(lambda queue: queue.receive().value),
    "receive many": _waits(lambda queue: queue.receive(10)[0].value),
    "take from any": _waits(lambda queue: queue.take_from_any("other")),
    "poll in a loop": _polls,
    "many queues": _many_queues(True),
    "many queues without moving": _many_queues(False),
    "listener": _listens,
    "worker": _works,
    "mover": _moves,
    "move --follow": _follows,
    "stats": _looks,
    "put": _puts,
    "renewal": _renews,
}


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize(("part", "answer"), thinned(_PARTS, _ANSWERS, of=14))
def test_each_part_goes_on_at_the_new_server(flavour: Flavour, name: Name, part: str, answer: str) -> None:
    _PARTS[part](flavour, name, _ANSWERS[answer])


def test_a_program_that_only_reads_comes_to_the_new_server(
    flavour: Flavour, name: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old server answers as before. Only a new connection leads to the new one."""
    monkeypatch.setattr("redisson_dq._redis.pools.OLD", 0.2)
    with connected(flavour, name) as client:
        assert client.stats("orders")["orders"].ready == 0
        name.turn_silently()
        name.admin.rpush("orders", "there")
        eventually(lambda: client.stats("orders")["orders"].ready == 1)


def test_a_wait_is_ended_at_no_other_server(flavour: Flavour, name: Name) -> None:
    """The id of a connection to the old server may be another program's at the new one."""
    with connected(flavour, name) as client, ThreadPoolExecutor(1) as thread:
        queue = client.blocking_queue("orders", transfer=False)
        waiting = thread.submit(queue.poll, timeout=PATIENCE)
        eventually(lambda: name.admin.info("clients")["blocked_clients"])
        name.turn(_ANSWERS["READONLY"])
        # An offer hears that the server is the wrong one. The wait goes on at the new one, and ends at the old one.
        _until_it_works(lambda: client.blocking_queue("other", transfer=False).add("a"))
        eventually(lambda: name.admin.info("clients")["blocked_clients"])
        name.admin.rpush("orders", "there")
        assert waiting.result(PATIENCE) == "there"
        unblocked = name.admin.info("commandstats").get("cmdstat_client|unblock", {"calls": 0})
        assert unblocked["calls"] == 0


@pytest.mark.parametrize("fault", ["name-turns", "password-changes"])
def test_every_item_is_accounted_for(fault: str) -> None:
    result = run(FAULTS[fault], ["threads", "asyncioleases", "workers"], seed=1, times=1)
    assert not result.all_findings, str(result)


def test_a_server_that_loads_for_long_is_taken_to_know_the_subscription(flavour: Flavour, name: Name) -> None:
    """Each reply to another part ends the connection of the subscription, before any channel is confirmed."""
    with connected(flavour, name) as client:
        moving(client.delayed_queue("orders"))
        eventually(lambda: client.health().subscribed)
        gate, queue = name._inner[0], client.blocking_queue("orders")
        gate.trap("SUBSCRIBE", "command", "freeze", times=1_000_000)
        gate.trap("LLEN", "command", "refuse", times=1_000_000, answer=_ANSWERS["LOADING"])
        end = time.monotonic() + 4
        while time.monotonic() < end:
            with pytest.raises(RedissonDQError):
                queue.size()
            assert not [each for each in client.problems if "does not hear" in str(each)]
            time.sleep(0.02)
        gate.clear()
        gate.cut()
        # Its longest pause is 2 s.
        eventually(lambda: client.health().subscribed)
