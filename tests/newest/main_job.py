"""The main job beside a Redisson, on every server at hand: ``python -m tests.newest.main_job 4.7.0``."""

from __future__ import annotations

import sys

from redisson_dq.embedded import EmbeddedServer
from tests.compatibility.combinations import tried
from tests.compatibility.environments import Environment
from tests.faults.servers import at_hand
from tests.peer import JavaPeer


def main(version: str) -> int:
    """Gives 1 if it failed on one of them."""
    failed = 0
    with JavaPeer(version) as peer:
        for find in at_hand().values():
            with EmbeddedServer(program=find()) as server:
                result = tried(Environment.own(), server, peer)
                print(result.server, result.redis_py, result.failure or "passed", sep="  ", flush=True)
                failed += bool(result.failure)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
