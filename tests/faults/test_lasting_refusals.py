"""A lasting refusal costs a few connections and commands a second, and each part continues soon after its end.

A password is changed, a user is disabled, a right is revoked, or the server cannot be reached, while a part of a client
waits. Every part pauses between its tries, for growing times, even if nobody waits any more. The user's calls do not
wait for such a pause.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedissonDQError
from redisson_dq.testing.faults._commands import Command, Trap, Where
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, by_night, eventually, moving
from tests.faults.gate import Gate
from tests.faults.world import World
from tests.flavours import Flavour
from tests.workers.handlers import running

# After these seconds, the pauses have grown. Then connections and commands are counted for some seconds.
_BY_DAY_ONLY, _AT_NIGHT = (4.0, 4.0), (8.0, 10.0)
# For one client, per second. A user's calls on many queues ask each of them.
_CONNECTIONS, _COMMANDS = 1.5, 5.0
# A probe asks for each queue's channel, head and arrivals, and for each receiver's connection.
_PROBE_INTERVAL, _OF_A_PROBE = 10.0, 4

_HOST = "redis.invalid"


class _Counting(Gate):
    """Counts connections and commands."""

    def __init__(self, port: Callable[[], int]) -> None:
        self.connections = self.commands = 0
        super().__init__(port)

    def springs(self, command: Command, where: Where) -> Trap | None:
        if where == "command":
            self.commands += 1
        return super().springs(command, where)

    def _link(self, client: socket.socket) -> None:
        self.connections += 1
        super()._link(client)


class Place:
    """A server behind a gate that counts, and a user whose rights change."""

    def __init__(self, stack: ExitStack, patch: pytest.MonkeyPatch) -> None:
        self.world = stack.enter_context(World())
        self.admin = self.world.admin
        self.gate = stack.enter_context(_Counting(lambda: self.world.server.port or 0))
        self.user("reset", "on", ">secret", "~*", "&*", "+@all")
        self.url = self.gate.url.replace("127.0.0.1", _HOST).replace("//", "//limited:secret@")
        self.lookups = 0
        self.knows_name = True
        self._really = socket.getaddrinfo
        patch.setattr(socket, "getaddrinfo", self._resolved)

    def _resolved(self, host: Any, *args: Any, **options: Any) -> Any:
        if host not in (_HOST, _HOST.encode()):
            return self._really(host, *args, **options)
        self.lookups += 1
        if not self.knows_name:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self._really("127.0.0.1", *args, **options)

    def user(self, *rights: str) -> None:
        self.admin.execute_command("ACL", "SETUSER", "limited", *rights)

    def counts(self) -> tuple[int, int]:
        return max(self.gate.connections, self.lookups), self.gate.commands


_Refusal = Callable[[Place, bool], object]


def _kicked(*rights: str, back: tuple[str, ...]) -> _Refusal:
    """The connections of the user end too."""

    def refuses(place: Place, begins: bool) -> None:
        place.user(*(rights if begins else back))
        if begins:
            place.gate.cut()

    return refuses


def _rights(*rights: str) -> _Refusal:
    def refuses(place: Place, begins: bool) -> None:
        place.user(*(rights if begins else ("~*", "&*", "+@all")))
        if begins:
            place.admin.client_kill_filter(_type="pubsub", skipme=True)
            _wake_blocked(place)

    return refuses


def _wake_blocked(place: Place) -> None:
    for client in place.admin.client_list():
        if "b" in client["flags"]:
            place.admin.client_unblock(int(client["id"]))


def _wrong_type(place: Place, begins: bool) -> None:
    keys = QueueKeys.of("orders")
    names = [keys.ready, keys.timeout, keys.envelopes, *partition_names("orders", _MANY), *_others()]
    for name in names:
        place.admin.delete(name)
        if begins:
            place.admin.set(name, "a text")
    if begins:
        _wake_blocked(place)


def _full(place: Place, begins: bool) -> None:
    place.admin.config_set("maxmemory", int(begins))
    if begins:
        _wake_blocked(place)


def _unknown(place: Place, begins: bool) -> None:
    if begins:
        for command in ("EVALSHA", "EVAL", "BLPOP", "BLMOVE", "SUBSCRIBE", "LPOP"):
            answer = f"-ERR unknown command '{command}', with args beginning with: 'a' \r\n".encode()
            place.gate.trap(command, "command", "refuse", times=1_000_000, answer=answer)
        _wake_blocked(place)
        place.admin.client_kill_filter(_type="pubsub", skipme=True)
    else:
        place.gate.clear()


def _too_many(place: Place, begins: bool) -> None:
    place.admin.config_set("maxclients", 1 if begins else 10_000)
    if begins:
        place.gate.cut()


def _nobody_listens(place: Place, begins: bool) -> None:
    place.gate.refusing = begins
    if begins:
        place.gate.cut()


def _no_name(place: Place, begins: bool) -> None:
    place.knows_name = not begins
    if begins:
        place.gate.cut()


_REFUSALS: dict[str, _Refusal] = {
    "wrong password": _kicked("resetpass", ">other", back=("resetpass", ">secret")),
    "user disabled": _kicked("off", back=("on",)),
    "no right to commands": _rights("-@scripting", "-blpop", "-blmove", "-lpop", "-subscribe"),
    "no right to keys": _rights("resetkeys"),
    "no right to channels": _rights("resetchannels"),
    "wrong type": _wrong_type,
    "no memory": _full,
    "unknown command": _unknown,
    "too many clients": _too_many,
    "closed at once": _nobody_listens,
    "name unknown": _no_name,
}

_MANY = 12
#: Begins a part, and returns a function that shows that it continues.
_Begins = Callable[[Flavour, Any, "Place", ThreadPoolExecutor, ExitStack], Callable[[], object]]


def _again(call: Callable[[], list[str]], came: list[str], stop: threading.Event) -> None:
    """A user's loop, which waits between its tries."""
    while not stop.is_set():
        try:
            came.extend(call())
        except RedissonDQError:
            stop.wait(1.0)


def _loops(take: Callable[[Any], list[str]], **options: Any) -> _Begins:
    def begins(
        flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
    ) -> Callable[[], object]:
        came: list[str] = []
        queue = client.blocking_queue("orders", **options)
        stop = threading.Event()
        threads.submit(_again, lambda: take(queue), came, stop)
        stack.callback(stop.set)
        return lambda: came

    return begins


def _nobody(take: Callable[[Any], object], **options: Any) -> _Begins:
    """One call, which fails. There is no further call before the refusal is over."""

    def begins(
        flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
    ) -> Callable[[], object]:
        queue = client.blocking_queue("orders", **options)
        waiting = threads.submit(take, queue)

        def goes_on() -> object:
            if not waiting.done():
                return None
            if waiting.exception() is None:
                return True
            with suppress(RedissonDQError):
                return take(queue)
            return None

        return goes_on

    return begins


def _listener(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    came: list[str] = []
    client.blocking_queue("orders").subscribe_on_elements(came.append)
    return lambda: came


def _worker(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    came: list[str] = []
    worker = flavour.worker(client)
    worker.handler("orders")(came.append)
    stack.enter_context(running(worker))
    return lambda: came


def _others() -> list[str]:
    return [f"other-{number}" for number in range(_MANY)]


def _worker_of_many(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    came: list[str] = []
    worker = flavour.worker(client)
    for name in ("orders", *_others()):
        worker.handler(name, concurrency=2)(came.append)
    stack.enter_context(running(worker))
    return lambda: came


def _worker_of_partitions(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    came: list[str] = []
    worker = flavour.worker(client)
    worker.queue("orders", partitions=_MANY)
    worker.handler("orders")(came.append)
    stack.enter_context(running(worker))
    return lambda: came


def _listeners(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    came: list[str] = []
    for name in ("orders", *_others()):
        client.blocking_queue(name).subscribe_on_elements(came.append)
    return lambda: came


def _mover(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    moving(client.delayed_queue("orders"))
    return lambda: place.admin.llen("orders")


def _movers(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    for name in ("orders", *_others()):
        moving(client.delayed_queue(name))
    return lambda: place.admin.llen("orders")


def _renewal(
    flavour: Flavour, client: Any, place: Place, threads: ThreadPoolExecutor, stack: ExitStack
) -> Callable[[], object]:
    place.admin.rpush("leased", "a")
    queue = client.blocking_queue("leased")
    # Three renewals in that time. Without its channel a client looks after each, by two commands.
    held = [queue.receive(visibility_timeout=2.0, renew=True)]
    stack.callback(held.clear)
    return lambda: True


_PARTS: dict[str, _Begins] = {
    "take": _loops(lambda queue: [queue.take()]),
    "receive": _loops(lambda queue: [queue.receive().value]),
    "many queues": _loops(lambda queue: [queue.take()], partitions=_MANY),
    "receive of many queues": _loops(lambda queue: [queue.receive().value], partitions=_MANY),
    "take that failed": _nobody(lambda queue: queue.take()),
    "receive that failed": _nobody(lambda queue: queue.receive().value),
    "receive of many that failed": _nobody(lambda queue: queue.receive().value, partitions=_MANY),
    "listener": _listener,
    "worker": _worker,
    "worker of many": _worker_of_many,
    "worker of partitions": _worker_of_partitions,
    "listeners": _listeners,
    "mover": _mover,
    "movers": _movers,
    "renewal": _renewal,
}

# The parts with the most logins a second.
_BY_DAY = {
    ("receive that failed", "wrong password"),
    ("worker", "user disabled"),
}
# A user's loop calls once a second, and each call tries all partitions, one after the other or together.
_CALLS = {"take": 1, "receive": 1, "many queues": _MANY, "receive of many queues": _MANY}
_OF_A_CALL = 8


@contextmanager
def _begun(flavour: Flavour, part: str) -> Iterator[tuple[Place, Callable[[], object]]]:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        place = Place(stack, patch)
        # The client is closed before its threads are waited for.
        threads = stack.enter_context(ThreadPoolExecutor(2))
        client = stack.enter_context(flavour.connect(place.url, codec=StringCodec(), probe_interval=_PROBE_INTERVAL))
        yield place, _PARTS[part](flavour, client, place, threads, stack)


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize(
    ("part", "refusal"),
    [
        pytest.param(part, refusal, marks=() if (part, refusal) in _BY_DAY else pytest.mark.nightly)
        for part in _PARTS
        for refusal in _REFUSALS
    ],
)
def test_it_costs_little_and_ends_soon(flavour: Flavour, part: str, refusal: str) -> None:
    with _begun(flavour, part) as (place, goes_on):
        eventually(lambda: place.admin.info("clients")["blocked_clients"] or place.admin.pubsub_channels())
        time.sleep(0.3)
        refuses = _REFUSALS[refusal]
        grown, counted = _BY_DAY_ONLY if (part, refusal) in _BY_DAY else _AT_NIGHT
        refuses(place, True)
        time.sleep(grown)
        connections, commands = place.counts()
        time.sleep(counted)
        more_connections, more_commands = place.counts()
        told = (more_connections - connections) / counted, (more_commands - commands) / counted
        refuses(place, False)
        eventually(lambda: _offers(place))
        eventually(goes_on)
        calls = _CALLS.get(part, 0)
        assert told[0] <= _CONNECTIONS + calls
        assert told[1] <= _COMMANDS + calls * _OF_A_CALL + (_MANY + 1) * _OF_A_PROBE / _PROBE_INTERVAL


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("partitions", [8, 12])
@pytest.mark.parametrize("refusal", ["no right to keys", by_night("no right to commands"), by_night("wrong type")])
def test_a_try_for_many_queues_connects_for_one_of_them(flavour: Flavour, refusal: str, partitions: int) -> None:
    """Twelve partitions share two connections before a refusal, and share them after it. Eight have one each."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(f"{__name__}._MANY", partitions)
        place = Place(stack, patch)
        client = stack.enter_context(flavour.connect(place.url, codec=StringCodec()))
        queue = client.blocking_queue("orders", partitions=partitions, transfer=False)
        assert queue.receive(timeout=0.1) is None
        _REFUSALS[refusal](place, True)
        for number in range(3):
            before = place.gate.connections
            with pytest.raises(RedissonDQError):
                queue.receive(timeout=PATIENCE)
            # Before the first one, the refusal is unknown.
            assert number == 0 or place.gate.connections - before <= 4
            # Work still under way for this call would connect during the next one.
            time.sleep(0.3)
        _REFUSALS[refusal](place, False)
        before = place.gate.connections
        eventually(lambda: _receives_nothing(queue))
        # Without SUBSCRIBE they no longer share connections.
        shares = partitions == 12 and refusal != "no right to commands"
        assert place.gate.connections - before <= (2 if shares else partitions)


def _receives_nothing(queue: Any) -> bool:
    # The last try may have been refused only now.
    with suppress(RedissonDQError):
        return queue.receive(timeout=0.3) is None
    return False


def _offers(place: Place) -> bool:
    """Another service offers where the part takes."""
    with Flavour().connect(place.world.server.url, codec=StringCodec()) as client:
        for name in ("orders", partition_names("orders", _MANY)[0]):
            client.delayed_queue(name, transfer=False).offer("value", delay=0.1)
            client.blocking_queue(name, transfer=False)
    return True
