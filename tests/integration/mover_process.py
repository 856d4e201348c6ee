"""A process that moves the items of one queue and takes none: ``python -m tests.integration.mover_process URL QUEUE``.

It tells the name by which the scripts know it, and ends with its input.
"""

from __future__ import annotations

import sys

import redisson_dq


def main(url: str, queue: str) -> None:
    with redisson_dq.connect(url) as client:
        client.delayed_queue(queue).start_moving()
        print(client.runtime.connections.client, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
