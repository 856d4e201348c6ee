"""The measured losses when the server is killed, by durability.

In each round producers offer, and receivers receive and ack, as fast as they can. Then the server gets SIGKILL at a
random moment. Either it starts again with its files, or its replica becomes the master, after its replication stream
was stopped for a random time. An item is lost if its offer was confirmed, nobody has tried to ack it, and it is
nowhere. It has come back if it is there although its ack was confirmed. SIGKILL is not a power cut: the kernel still
has everything that the server has written.
"""

from __future__ import annotations

import random
import socket
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import attrs
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.durability import Durability
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedissonDQError
from tests.conftest import PROGRAMS, eventually
from tests.faults.world import World
from tests.proof.history import History, keep, read
from tests.proof.recording import Recorded

__all__ = ["SETTINGS", "Measured", "Setting", "measured", "table"]


@attrs.frozen(kw_only=True)
class Setting:
    """The durability of a server, and the confirmations its clients wait for."""

    name: str
    config: Mapping[str, str]
    durable: Durability | None = None
    #: Whether a replica takes over. Otherwise the server starts again.
    fails_over: bool = False
    #: Whether nothing that was confirmed may be lost: the disk has it, or the replica that takes over.
    is_safe: bool = False


def _restarts(appendfsync: str) -> Setting:
    name = f"`appendfsync {appendfsync}`, started again"
    return Setting(name=name, config={"appendfsync": appendfsync}, is_safe=appendfsync == "always")


# A replica that loads from the socket is in sync after 20 ms. From a file it is after a second, by Valkey's cron.
_EVERYSEC = {
    "appendfsync": "everysec",
    "repl-diskless-sync": "no",
    "repl-diskless-load": "swapdb",
    "hz": "100",
    "shutdown-timeout": "0",
}
SETTINGS = {
    "always": _restarts("always"),
    "everysec": _restarts("everysec"),
    "no": _restarts("no"),
    "waitaof": Setting(
        name="`appendfsync everysec`, `durable=Durability(fsync=True)`, started again",
        config={"appendfsync": "everysec"},
        durable=Durability(fsync=True, timeout=3),
        is_safe=True,
    ),
    "failover": Setting(name="a replica takes over", config=_EVERYSEC, fails_over=True),
    "wait": Setting(
        name="`durable=Durability(replicas=1)`, a replica takes over",
        config=_EVERYSEC,
        durable=Durability(replicas=1, timeout=1),
        fails_over=True,
        is_safe=True,
    ),
}


@attrs.define
class Measured:
    """The results of some kills."""

    setting: Setting
    kills: int = 0
    confirmed: int = 0
    lost: int = 0
    again: int = 0
    #: Kills after which a confirmed call was not in effect.
    harmful: int = 0


def table(found: list[Measured]) -> list[str]:
    """The rows of a table."""
    rows = ["| setting | kills | confirmed calls | lost | acked, and there again |", "|---|---|---|---|---|"]
    for each in found:
        counts = f"{each.kills:,} | {each.confirmed:,} | {each.lost:,} | {each.again:,}"
        rows.append(f"| {each.setting.name} | {counts} |")
    return rows


class _Stream:
    """A replication stream that can be stopped."""

    def __init__(self, port: Callable[[], int]) -> None:
        self._port = port
        self._goes_on = threading.Event()
        self._goes_on.set()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        self._goes_on.clear()

    def cut(self) -> None:
        """What stands in it is gone."""
        sockets, self._sockets = self._sockets, []
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._goes_on.set()

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.create_connection(("127.0.0.1", self._port()))
                self._sockets += [here, there]
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                # A stream that was cut meanwhile takes this along.
                self._goes_on.wait()
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.close()


class _Pair:
    """A master and its replica, or a server alone."""

    def __init__(self, setting: Setting, stack: ExitStack, place: Path) -> None:
        self.setting, self._stack, self._place = setting, stack, place
        # Redis 7.0 knows no WAITAOF.
        self._program = PROGRAMS["valkey"]()
        self.master = self._server()
        self._stream: _Stream | None = None
        if setting.fails_over:
            self._replicate(self._server())

    def fail(self, rng: random.Random) -> None:
        """Kills the server at a random moment. There is one again when this returns."""
        time.sleep(rng.uniform(0.02, 0.12))
        if not self.setting.fails_over:
            self.master.kill()
            self.master.start()
            return
        assert self._stream is not None
        self._stream.freeze()
        time.sleep(rng.uniform(0.0, 0.05))
        self.master.kill()
        self._stream.cut()
        with redis.Redis.from_url(self._replica.url) as admin:
            admin.execute_command("REPLICAOF", "NO", "ONE")
        old, self.master = self.master, self._replica
        old.stop()
        self._replicate(self._server())

    def _server(self) -> EmbeddedServer:
        folder = tempfile.mkdtemp(dir=self._place)
        server = EmbeddedServer(program=self._program, appendonly=True, data_dir=folder, config=self.setting.config)
        return self._stack.enter_context(server)

    def _replicate(self, replica: EmbeddedServer) -> None:
        port = self.master.port
        assert port is not None
        if self._stream is not None:
            self._stream.close()
        stream = self._stream = _Stream(lambda: port)
        self._stack.callback(stream.close)
        self._replica = replica
        with redis.Redis.from_url(replica.url) as admin:
            admin.execute_command("REPLICAOF", "127.0.0.1", stream.port)
            eventually(lambda: admin.info("replication")["master_link_status"] == "up")


def measured(setting: Setting, kills: int, seed: int) -> Measured:
    """Kills the server so often."""
    rng, found = random.Random(f"{setting.name}-{seed}"), Measured(setting)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kills-")))
        pair = _Pair(setting, stack, place)
        for number in range(kills):
            with History(place / "history.jsonl", setting=setting.name, kill=number, seed=seed) as history:
                _round(pair, history, number, rng)
            confirmed, lost, again = _counted(history.path)
            found.kills += 1
            found.confirmed += confirmed
            found.lost += lost
            found.again += again
            found.harmful += bool(lost or again)
            if (lost or again) and setting.is_safe:
                keep(history.path)
    return found


def _counted(path: Path) -> tuple[int, int, int]:
    """How many calls were confirmed, how many items are lost, and how many are there again."""
    calls: dict[int, tuple[str, str]] = {}
    done: dict[tuple[str, str], set[str]] = defaultdict(set)
    left: set[str] = set()
    for line in read(path):
        if line["type"] == "invoke" and line["f"] in ("offer", "ack"):
            calls[line["op"]] = line["f"], line["value"][0][0]
            done[line["f"], "invoke"].add(line["value"][0][0])
        elif line["type"] == "ok" and line["op"] in calls:
            f, item = calls[line["op"]]
            done[f, "ok"].add(item)
        elif line["type"] == "ok" and line["f"] == "look":
            left = set(line["value"])
    offered, acked = done["offer", "ok"], done["ack", "ok"]
    return len(offered) + len(acked), len(offered - done["ack", "invoke"] - left), len(acked & left)


def _round(pair: _Pair, history: History, number: int, rng: random.Random) -> None:
    queue_name = f"orders-{number}"
    url, ends = pair.master.url, threading.Event()
    threads, clients = [], ExitStack()
    with redis.Redis.from_url(url) as admin:
        history.look_at_clock(admin.time)
    for place in range(3):
        client = clients.enter_context(redisson_dq.connect(url, codec=StringCodec(), durable=pair.setting.durable))
        work = _produce if place else _consume
        threads.append(threading.Thread(target=work, args=(client, history, queue_name, place, ends), daemon=True))
    for thread in threads:
        thread.start()
    pair.fail(rng)
    ends.set()
    closing = threading.Thread(target=clients.close)
    closing.start()
    # A client whose server stays dead gives it a second. The next round need not wait for that.
    for thread in threads if pair.setting.fails_over else (*threads, closing):
        thread.join(20)
    with redis.Redis.from_url(pair.master.url) as admin:
        history.look_at_clock(admin.time)
        history.invoke("judge", "look", queue_name).ok(_Place(admin).left([queue_name]))
        admin.flushall()


class _Place(World):
    """A view of the places of a server's items."""

    def __init__(self, admin: Any) -> None:
        self.admins = [admin]


def _produce(client: Any, history: History, name: str, place: int, ends: threading.Event) -> None:
    delayed = Recorded(client.delayed_queue(name, transfer=False), history, name)
    count = 0
    with suppress(RedissonDQError):
        while not ends.is_set():
            count += 1
            delayed.offer(f"item:kills{place}:{count}", delay=count % 2)


def _consume(client: Any, history: History, name: str, place: int, ends: threading.Event) -> None:
    queue = Recorded(client.blocking_queue(name, delivery_limit=None), history, name)
    with suppress(RedissonDQError):
        while not ends.is_set():
            for delivery in queue.receive(20, timeout=0.05, visibility_timeout=60):
                delivery.ack()
