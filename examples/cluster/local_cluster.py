"""Three masters on this machine, for the tests and to try out: ``python local_cluster.py``."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from redis import Redis
from redisson_dq.embedded import EmbeddedServer

__all__ = ["local_cluster"]

SLOTS = 16_384
PATIENCE = 30.0


@contextmanager
def local_cluster(ports: Sequence[int] = (7001, 7002, 7003)) -> Iterator[str]:
    """Starts a server for each port, assigns the slots, and returns the URL of the cluster."""
    with ExitStack() as stack:
        config = {"cluster-enabled": "yes", "cluster-node-timeout": "2000"}
        servers = [stack.enter_context(EmbeddedServer(port=port, config=config)) for port in ports]
        nodes = [stack.enter_context(Redis.from_url(server.url)) for server in servers]
        for number, node in enumerate(nodes):
            first, end = SLOTS * number // len(nodes), SLOTS * (number + 1) // len(nodes)
            node.execute_command("CLUSTER ADDSLOTS", *range(first, end))
            # Masters with equal epochs might disagree about a slot forever.
            node.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            node.execute_command("CLUSTER MEET", "127.0.0.1", ports[0])
        end_of_patience = time.monotonic() + PATIENCE
        while not all(knows_all(node, len(nodes)) for node in nodes):
            if time.monotonic() > end_of_patience:
                raise TimeoutError("the nodes have not found each other")
            time.sleep(0.02)
        yield f"redis+cluster://{','.join(f'127.0.0.1:{port}' for port in ports)}"


def knows_all(node: Redis, nodes: int) -> bool:
    info = node.execute_command("CLUSTER INFO")
    return (info["cluster_state"], info["cluster_size"]) == ("ok", str(nodes))


if __name__ == "__main__":
    with local_cluster() as url:
        print(f"export REDISSON_DQ_URL={url}", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
