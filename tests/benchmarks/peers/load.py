"""Background load: a number of ZADD a second on a key that nothing else uses.

    python -m tests.benchmarks.peers.load redis://127.0.0.1:6379/0 5000

It is the same for every peer, whatever that could enqueue itself. The commands go out in pipelines of 50, so that
the load is the server's more than this process's. Ends with standard input, and prints the rate it reached.
"""

from __future__ import annotations

import sys
import threading
import time

import redis

__all__ = ["main"]

_KEY = "benchmark-load"
_BATCH = 50
# Far later, as jobs would be; the same members come again, so that the key stays of one size.
_MEMBERS = 100_000
_DUE = 4e12


def main(url: str, rate: int) -> None:
    """Goes on until standard input ends."""
    ended = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    sent, start = 0, time.perf_counter()
    with redis.Redis.from_url(url) as client:
        # A load that falls behind catches up as fast as the server allows.
        while not ended.wait(max(0.0, start + sent / rate - time.perf_counter())):
            with client.pipeline(transaction=False) as pipeline:
                for number in range(sent, sent + _BATCH):
                    pipeline.zadd(_KEY, {str(number % _MEMBERS): _DUE + number})
                pipeline.execute()
            sent += _BATCH
    print(sent / (time.perf_counter() - start))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
