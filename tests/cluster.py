"""A Redis Cluster of servers of its own."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Callable
from contextlib import ExitStack

import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS, REPLICATES_AT_ONCE, eventually

__all__ = ["Cluster", "low_port"]


class Cluster:
    """Masters that share the slots, each a server of its own. With ``replicas``, each master has one replica."""

    def __init__(self, stack: ExitStack, masters: int, *, replicas: bool = False, node_timeout_ms: int = 2000) -> None:
        config = {
            "cluster-enabled": "yes",
            "cluster-node-timeout": str(node_timeout_ms),
            "cluster-require-full-coverage": "no",
            **REPLICATES_AT_ONCE,
        }
        self.masters = range(masters)
        self.servers = [
            stack.enter_context(EmbeddedServer(program=PROGRAMS["redis"](), port=low_port(), config=config))
            for _ in range(2 * masters if replicas else masters)
        ]
        self.admins = [stack.enter_context(redis.Redis.from_url(server.url)) for server in self.servers]
        share = 16384 // masters + 1
        for i, admin in enumerate(self.admins):
            # Like redis-cli. Masters with equal epochs may disagree forever about a moved slot.
            admin.execute_command("CLUSTER SET-CONFIG-EPOCH", i + 1)
            if i in self.masters:
                admin.execute_command("CLUSTER ADDSLOTSRANGE", i * share, min(16383, (i + 1) * share - 1))
            self.admins[0].execute_command("CLUSTER MEET", "127.0.0.1", self.servers[i].port)
        self.ids = [admin.execute_command("CLUSTER MYID") for admin in self.admins]
        for admin in self.admins:
            eventually(lambda: len(admin.execute_command("CLUSTER NODES")) == len(self.servers))  # noqa: B023
        for i, admin in enumerate(self.admins[masters:]):
            admin.execute_command("CLUSTER REPLICATE", self.ids[i])
        for admin in self.admins:
            eventually(lambda: _serves_all(admin))  # noqa: B023
            eventually(lambda: len(admin.execute_command("CLUSTER SHARDS")) == masters)  # noqa: B023
        for admin in self.admins[masters:]:
            eventually(lambda: admin.info("replication").get("master_link_status") == "up")  # noqa: B023

    @property
    def url(self) -> str:
        return self.servers[0].url

    def owner(self, key: str) -> int:
        """Which of the servers owns the key's slot, as that server sees it."""
        slot = self.admins[0].execute_command("CLUSTER KEYSLOT", key)
        for i in self.masters:
            for entry in self.admins[i].execute_command("CLUSTER SLOTS"):
                if entry[0] <= slot <= entry[1] and entry[2][1] == self.servers[i].port:
                    return i
        raise AssertionError("nobody owns the slot")

    def move(self, key: str, target: int, *, between: Callable[[], None] = lambda: None) -> None:
        """Migrates the key's slot with everything in it, as redis-cli's reshard does; ``between`` the steps something
        may be waited for.
        """
        slot, source = self.admins[0].execute_command("CLUSTER KEYSLOT", key), self.owner(key)
        self.admins[target].execute_command("CLUSTER SETSLOT", slot, "IMPORTING", self.ids[source])
        self.admins[source].execute_command("CLUSTER SETSLOT", slot, "MIGRATING", self.ids[target])
        while keys := self.admins[source].execute_command("CLUSTER GETKEYSINSLOT", slot, 1):
            between()
            port = self.servers[target].port
            self.admins[source].execute_command("MIGRATE", "127.0.0.1", port, "", 0, 5000, "KEYS", *keys)
        for i in (target, source, *self.masters):
            self.admins[i].execute_command("CLUSTER SETSLOT", slot, "NODE", self.ids[target])


def _serves_all(node: redis.Redis) -> bool:
    state = node.execute_command("CLUSTER INFO")
    return (state["cluster_state"], state["cluster_slots_ok"]) == ("ok", "16384")


def low_port() -> int:
    """A port with a free cluster bus port 10,000 above it, which differs between processes.

    Both are below the ports that the system gives to connections.
    """
    for port in random.sample(range(20_000, 22_700), 2_700):
        with socket.socket() as node, socket.socket() as bus:
            with contextlib.suppress(OSError):
                node.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10_000))
                return port
    raise AssertionError("no free port")
