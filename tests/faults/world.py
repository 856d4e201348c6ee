"""The world of a run: servers, the gate in front of them, and direct access to the servers."""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import redis

from redisson_dq.codecs import Codec, StringCodec
from redisson_dq.embedded import EmbeddedServer, ServerProgram
from redisson_dq.errors import EnvelopeError
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from tests.cluster import Cluster
from tests.conftest import PROGRAMS, REPLICATES_AT_ONCE, eventually
from tests.faults.gate import ITEM, Gate, LostReply
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.proof.history import History

__all__ = ["ClusterWorld", "NamedWorld", "SentinelWorld", "World"]

_FAKETIME = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/local/lib/faketime/libfaketime.so.1")


# The connection that asks for the server's time.
_WATCHING = "history"


class World:
    """One server behind a gate."""

    #: Only of one server. Where there are several, what breaks is counted by hand.
    gate: Gate
    admins: list[Any]
    #: The history of the run: the calls of its loads and their answers.
    history: History

    def __init__(self, *, program: str = "redis", config: Mapping[str, str] | None = None, clock: bool = False) -> None:
        # First, as its error leaves nothing behind.
        library = _faketime() if clock else None
        self._stack = ExitStack()
        self.skews: list[tuple[float, float]] = []
        #: When the clock was set last, by this machine's. Infinite while it is being set.
        self.stepped = 0.0
        self._dir = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        self._config = {"enable-debug-command": "local", **(config or {})}
        self._program = PROGRAMS[program]()
        if library is not None:
            # Debian's Redis does not start with libfaketime, because it and jemalloc each need the other to start.
            self._program = self._with_a_clock_that_can_be_set(PROGRAMS["valkey"](), library)

    def __enter__(self) -> World:
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _open(self) -> None:
        self.server = self._stack.enter_context(
            EmbeddedServer(
                program=self._program,
                appendonly=True,
                data_dir=self._dir / "data",
                config=self._config,
                # After half an hour of a soak it reads a file of many megabytes first.
                start_timeout=60,
            )
        )
        port = self.server.port
        assert port is not None
        self.gate = self._stack.enter_context(Gate(lambda: port))
        self.admins = [self._stack.enter_context(redis.Redis.from_url(self.server.url, retry=None))]

    @property
    def admin(self) -> Any:
        """A client of redis-py for the server, or the master."""
        return self.admins[0]

    def record(self, **header: Any) -> History:
        """Begins the history of a run: for as long as this world, or in the folder ``REDISSON_DQ_HISTORIES``."""
        folder = Path(os.environ.get("REDISSON_DQ_HISTORIES", self._dir))
        folder.mkdir(parents=True, exist_ok=True)
        name = "-".join(str(part) for part in header.values() if isinstance(part, (str, int)))
        self.history = History(folder / f"{name}.jsonl", **header)
        # All servers have this machine's clock, unless there is only one server.
        at = self.admins[0].connection_pool.connection_kwargs
        url = f"redis://{at['host']}:{at['port']}"
        watching = redis.Redis.from_url(url, client_name=_WATCHING, retry=None)
        self._stack.callback(watching.close)
        self._stack.callback(self.history.close)
        self.history.watch(watching.time)
        return self.history

    # -- for loads ---------------------------------------------------------------------------------------------------

    def connect(self, flavour: Flavour, codec: Codec[Any] | None = None) -> Any:
        return flavour.connect(self.gate.url, codec=codec or StringCodec(), probe_interval=2)

    @property
    def way(self) -> dict[str, Any]:
        """How a separate process connects: ``url``, ``cluster`` or ``sentinel``."""
        return {"url": self.gate.url}

    @property
    def java(self) -> dict[str, Any]:
        """How Redisson connects."""
        return {"address": self.gate.url.rpartition("/")[0]}

    def elements(self, key: str) -> list[bytes]:
        """The elements of a list. May be called from any thread, because it uses its own connection."""
        with redis.Redis.from_url(self.server.url) as reader:
            return list(reader.lrange(key, 0, -1))

    def clock(self) -> float:
        """The server's clock, in epoch seconds: this machine's, unless it was set."""
        return time.time() + (self.skews[-1][1] if self.skews else 0.0)

    # -- for faults --------------------------------------------------------------------------------------------------

    def step_clock(self, seconds: float) -> None:
        """Sets the server's clock ahead of this machine's."""
        self.stepped = math.inf
        self._clock_file.write_text(f"{seconds:+f}s\n")
        eventually(lambda: abs(_server_time(self.admin) - time.time() - seconds) < 0.5)
        self.stepped = time.time()
        self.skews.append((self.stepped, seconds))

    #: Seconds after which a refused load calls again.
    after_refusal = 0.01

    @property
    def connected(self) -> int:
        """The number of connections made so far."""
        return int(self.admin.info("stats")["total_connections_received"])

    def refuses(self, error: Exception) -> bool:
        """Whether a waiting call may raise this error in this world."""
        return False

    def settle(self) -> None:
        """Waits until the losses by broken connections are known."""
        self.gate.settle()

    # -- for the verdict ---------------------------------------------------------------------------------------------

    @property
    def lost(self) -> list[LostReply]:
        return self.gate.lost

    @property
    def alive(self) -> bool:
        return self.server.running

    def admin_of(self, key: str) -> Any:
        """A client for the server that has the key."""
        return self.admin

    def left(self, queues: list[str]) -> dict[str, list[str]]:
        """The items in Redis, with the places of each one."""
        found: dict[str, list[str]] = {}
        for queue in queues:
            keys, admin = QueueKeys.of(queue), self.admin_of(queue)
            leases = set(admin.zrange(keys.leases, 0, -1))
            entries = []
            for member in admin.zrange(keys.timeout, 0, -1):
                with suppress(EnvelopeError):
                    entries.append(unwrap(member))
            values = [("leased" if id in leases else "waiting", value) for id, value in entries]
            lists = {
                keys.ready: "ready",
                keys.arrivals: "ready",
                keys.undecodable: "dead",
                DeadKeys.belonging_to(queue).dead: "dead",
            }
            values += [(place, value) for key, place in lists.items() for value in admin.lrange(key, 0, -1)]
            for place, value in values:
                if name := ITEM.search(value):
                    found.setdefault(name.group().decode(), []).append(place)
        return found

    def due_or_ready(self, queues: list[str]) -> int:
        """The number of items that wait or are ready."""
        sizes = 0
        for queue in queues:
            keys, admin = QueueKeys.of(queue), self.admin_of(queue)
            sizes += int(admin.zcard(keys.timeout)) + int(admin.llen(keys.ready)) + int(admin.llen(keys.arrivals))
        return sizes

    def places(self, queues: list[str]) -> str:
        """The number of items in each place of each queue."""
        found = []
        for queue in queues:
            keys, admin = QueueKeys.of(queue), self.admin_of(queue)
            waiting, ready, arrived = admin.zcard(keys.timeout), admin.llen(keys.ready), admin.llen(keys.arrivals)
            found.append(f"{queue} {waiting} waiting, {ready} ready, {arrived} arrived")
        return "; ".join(found)

    def torn(self, queues: list[str]) -> list[str]:
        """Entries that are in Redisson's list and not in its zset; lean ones are in the zset alone."""
        found = []
        for queue in queues:
            keys, admin = QueueKeys.of(queue), self.admin_of(queue)
            waiting = set(admin.zrange(keys.timeout, 0, -1))
            found += [repr(entry) for entry in admin.lrange(keys.envelopes, 0, -1) if entry not in waiting]
        return found

    def misplaced(self, queues: list[str]) -> list[str]:
        """Items in two places, and contradictions, of each queue at one moment. Each value is offered once."""
        found = []
        for queue in queues:
            try:
                total = whereabouts(self.admin_of(queue), queue).total
            except AssertionError as error:
                found.append(f"{queue}: {error}")
            except redis.RedisError:
                # This is the fault. Another look comes.
                pass
            else:
                found += [f"{queue}: {value!r} in {count} places" for value, count in total.items() if count > 1]
        return found

    def subscriptions(self) -> int:
        """Channels that clients are subscribed to."""
        channels = [name for admin in self.admins for name in admin.pubsub_channels()]
        return sum(not name.startswith(b"__sentinel__") for name in channels)

    def connections(self) -> int:
        """The connections of clients, without the connection that asks."""
        return sum(
            1
            for admin in self.admins
            for client in admin.client_list()
            if client["id"] != str(admin.client_id()) and not _is_servers_own(client)
        )

    def _with_a_clock_that_can_be_set(self, program: ServerProgram, library: Path) -> ServerProgram:
        self._clock_file = self._dir / "clock"
        self._clock_file.write_text("+0\n")
        script = self._dir / "redis-server"
        # Only the wall clock, because the timeout of a blocked command uses the monotonic one.
        settings = (
            f"LD_PRELOAD={library}",
            f"FAKETIME_TIMESTAMP_FILE={self._clock_file}",
            "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
        )
        words = " ".join(shlex.quote(word) for word in ("env", *settings, str(program.path)))
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        script.chmod(0o755)
        return ServerProgram(path=script, source="clock")


def _faketime() -> Path:
    library = next((path for pattern in _FAKETIME for path in Path("/").glob(pattern[1:])), None)
    if library is None:
        raise RuntimeError("libfaketime is missing, which steps the server's clock: apt-get install libfaketime")
    return library


def _server_time(admin: redis.Redis) -> float:
    seconds, microseconds = admin.time()
    return float(seconds) + float(microseconds) / 1e6


def _is_servers_own(client: dict[str, str]) -> bool:
    """Whether the connection belongs to replication, a Sentinel, the history, or MIGRATE."""
    flags, name, command = client["flags"], client.get("name", ""), client["cmd"]
    return (
        flags in ("M", "S")
        or name == _WATCHING
        or name.startswith("sentinel-")
        or command in ("restore", "restore-asking")
    )


class NamedWorld(World):
    """A master and its replica, a name that leads to one of them, and a user whose password changes."""

    # Callers are patient here, because connections are counted.
    after_refusal = 1.0

    def _open(self) -> None:
        program = PROGRAMS["redis"]()
        options = {**REPLICATES_AT_ONCE, **self._config}
        first = self._stack.enter_context(EmbeddedServer(program=program, config=options))
        replica_of = {"replicaof": f"127.0.0.1 {first.port}", **options}
        second = self._stack.enter_context(EmbeddedServer(program=program, config=replica_of))
        self.servers = [first, second]
        self.admins = [
            self._stack.enter_context(redis.Redis.from_url(server.url, retry=None)) for server in self.servers
        ]
        eventually(lambda: self.admins[1].info("replication")["master_link_status"] == "up")
        #: Where the name leads, and where the master is.
        self.at = self.master = 0
        self.gate = self._stack.enter_context(Gate(lambda: self.servers[self.at].port or 0))
        self.credentials = Credentials()
        self.set_password("first")
        self.credentials.password = "first"

    def set_password(self, password: str) -> None:
        """The servers use this password from now on. Clients get it elsewhere."""
        for admin in self.admins:
            admin.execute_command("ACL", "SETUSER", "rotating", "on", "resetpass", f">{password}", "~*", "&*", "+@all")

    @property
    def server(self) -> EmbeddedServer:  # type: ignore[override]
        return self.servers[self.master]

    @property
    def admin(self) -> Any:
        return self.admins[self.master]

    def connect(self, flavour: Flavour, codec: Codec[Any] | None = None) -> Any:
        options = {"credential_provider": self.credentials}
        return flavour.client(self.gate.url, redis_options=options, codec=codec or StringCodec(), probe_interval=2)

    def refuses(self, error: Exception) -> bool:
        return "refused the login" in str(error)

    @property
    def alive(self) -> bool:
        return all(server.running for server in self.servers)

    @property
    def connected(self) -> int:
        return sum(int(admin.info("stats")["total_connections_received"]) for admin in self.admins)


class Credentials(redis.CredentialProvider):
    """A password that changes, as in a cloud. redis-py asks for it at each login."""

    def __init__(self) -> None:
        self.password = ""

    def get_credentials(self) -> tuple[str, str]:
        return "rotating", self.password

    async def get_credentials_async(self) -> tuple[str, str]:
        return self.get_credentials()


class _WithoutGate(World):
    """Clients are told the servers' own addresses."""

    def __init__(self, *, config: Mapping[str, str] | None = None) -> None:
        super().__init__(config=config)
        self.by_hand: list[LostReply] = []

    def settle(self) -> None:
        """Nothing is known of the losses here."""

    @property
    def lost(self) -> list[LostReply]:
        return self.by_hand


class ClusterWorld(_WithoutGate):
    """Three masters with a replica each."""

    def _open(self) -> None:
        self.cluster = Cluster(self._stack, 3, replicas=True)
        self.admins = list(self.cluster.admins)

    def connect(self, flavour: Flavour, codec: Codec[Any] | None = None) -> Any:
        return flavour.cluster(self.cluster.url, codec=codec or StringCodec(), probe_interval=2)

    @property
    def way(self) -> dict[str, Any]:
        return {"cluster": self.cluster.url}

    def elements(self, key: str) -> list[bytes]:
        for server in self.cluster.servers:
            with redis.Redis.from_url(server.url) as reader, suppress(redis.exceptions.MovedError):
                return list(reader.lrange(key, 0, -1))
        return []

    @property
    def java(self) -> dict[str, Any]:
        return {"address": self.cluster.url.rpartition("/")[0], "cluster": True}

    @property
    def alive(self) -> bool:
        return all(server.running for server in self.cluster.servers)

    def admin_of(self, key: str) -> Any:
        slot = self.admin.execute_command("CLUSTER KEYSLOT", key)
        for admin, server in zip(self.admins, self.cluster.servers, strict=True):
            for entry in admin.execute_command("CLUSTER SLOTS"):
                if entry[0] <= slot <= entry[1] and entry[2][1] == server.port:
                    return admin
        raise AssertionError(f"nobody owns the slot of {key!r}")


class SentinelWorld(_WithoutGate):
    """A master, its replica and a Sentinel."""

    def _open(self) -> None:
        program = PROGRAMS["redis"]()
        options = {**REPLICATES_AT_ONCE, **self._config}
        first = self._stack.enter_context(EmbeddedServer(program=program, config=options))
        replica_of = {"replicaof": f"127.0.0.1 {first.port}", **options}
        second = self._stack.enter_context(EmbeddedServer(program=program, config=replica_of))
        self.servers = [first, second]
        self.admins = [self._stack.enter_context(redis.Redis.from_url(server.url)) for server in self.servers]
        eventually(lambda: self.admins[1].info("replication")["master_link_status"] == "up")
        with EmbeddedServer(program=program) as short:
            self.sentinel_port = short.port or 0
        config = self._dir / "sentinel.conf"
        config.write_text(
            f"port {self.sentinel_port}\nbind 127.0.0.1\ndir {self._dir}\n"
            f"sentinel monitor main 127.0.0.1 {first.port} 1\n"
            "sentinel down-after-milliseconds main 2000\nsentinel failover-timeout main 3000\n"
        )
        process = subprocess.Popen(
            [str(program.path), str(config), "--sentinel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)
        self.sentinel = self._stack.enter_context(redis.Redis(port=self.sentinel_port))
        eventually(self._sentinel_knows_both)

    def connect(self, flavour: Flavour, codec: Codec[Any] | None = None) -> Any:
        return flavour.sentinel(self.sentinel_port, "main", codec=codec or StringCodec(), probe_interval=2)

    @property
    def way(self) -> dict[str, Any]:
        return {"sentinel": self.sentinel_port}

    def elements(self, key: str) -> list[bytes]:
        found: list[list[bytes]] = []
        for server in self.servers:
            with redis.Redis.from_url(server.url) as reader:
                found.append(reader.lrange(key, 0, -1))
        # Nothing is taken from such a list, of which a replica may have less.
        return max(found, key=len)

    @property
    def java(self) -> dict[str, Any]:
        return {"address": f"redis://127.0.0.1:{self.sentinel_port}?main"}

    @property
    def admin(self) -> Any:
        """A client for the master."""
        port = int(self.sentinel.sentinel_get_master_addr_by_name("main")[1])
        return next(admin for admin, server in zip(self.admins, self.servers, strict=True) if server.port == port)

    @property
    def alive(self) -> bool:
        return all(server.running for server in self.servers)

    def admin_of(self, key: str) -> Any:
        return self.admin

    def _sentinel_knows_both(self) -> bool:
        try:
            return len(self.sentinel.sentinel_slaves("main")) == 1
        except redis.ConnectionError:
            return False
