"""The check of replication: whether the server takes writes, and its replicas and its cluster are well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from redisson_dq._operations.shell import command_line
from redisson_dq.admin import Node
from redisson_dq.doctor.findings import CannotRun, Finding, redis_cli, server_problem, server_warning
from redisson_dq.doctor.sight import Sight

__all__ = ["replication"]

# A replica that has been silent for this many seconds.
_LAG_S = 10


def replication(sight: Sight) -> Iterator[Finding]:
    """The server is a writable master, and its replicas and its cluster are healthy."""
    for node, info in sight.infos:
        if "role" not in info:
            raise CannotRun(f"{node.name} reports nothing about its replication")
        of_node = partial(server_problem, check="replication", shown_by=redis_cli("INFO", "replication"))
        if info["role"] != "master":
            master = f"{info.get('master_host')}:{info.get('master_port')}"
            yield of_node(
                text=f"{node.name} is a replica of {master}, and takes no writes",
                evidence={
                    "role": info["role"],
                    "master": master,
                    "link": info.get("master_link_status"),
                    "server": node.name,
                },
                commands=(command_line("doctor", (), ["--url", f"redis://{master}"], of_server=False),),
            )
            continue
        # Redis reports the number of healthy replicas only if it requires some.
        good = info.get("min_slaves_good_slaves")
        needed = 0 if good is None else _replicas_needed(sight, node)
        if good is not None and int(good) < needed:
            yield of_node(
                text=f"{node.name} refuses writes: {good} of {needed} replicas are well",
                evidence={"min_slaves_good_slaves": int(good), "needed": needed, "server": node.name},
                commands=(redis_cli("CONFIG", "SET", "min-replicas-to-write", int(good)),),
            )
        for name, text in info.items():
            if not (name.startswith("slave") and name[5:].isdigit()):
                continue
            replica: dict[str, str] = {}
            for pair in text.split(","):
                field, _, replica[field] = pair.partition("=")
            if replica.get("state") != "online" or int(replica.get("lag", "0")) > _LAG_S:
                yield server_warning(
                    check="replication",
                    text=f"the replica {replica.get('ip')}:{replica.get('port')} of {node.name} lags behind",
                    evidence={**replica, "server": node.name},
                    shown_by=redis_cli("INFO", "replication"),
                    commands=(redis_cli("INFO", "replication"),),
                )
    if sight.admin.is_cluster:
        yield from _cluster(sight)


def _replicas_needed(sight: Sight, node: Node) -> int:
    try:
        return int(sight.ask("CONFIG", "GET", "min-replicas-to-write", node=node)[1])
    except CannotRun:
        return 1


def _cluster(sight: Sight) -> Iterator[Finding]:
    for node in sight.nodes:
        lines = sight.ask("CLUSTER", "INFO", node=node).decode().split()
        info = dict(line.partition(":")[::2] for line in lines)
        if info.get("cluster_state") != "ok" or info.get("cluster_slots_fail", "0") != "0":
            yield server_problem(
                check="replication",
                text=f"{node.name} reports that its cluster is incomplete",
                evidence={
                    **{name: info.get(name) for name in ("cluster_state", "cluster_slots_ok", "cluster_slots_fail")},
                    "server": node.name,
                },
                shown_by=redis_cli("CLUSTER", "INFO"),
                commands=(redis_cli("CLUSTER", "NODES"),),
            )
            return
