"""Redisson as one of the peers, in a JVM of its own with default flags: a plain script, not checked by mypy.

Run as it is, it is a worker. See serving.py.
"""

import os

from serving import URL, serve

from tests.peer import JavaPeer

_QUEUE = "benchmark"


def _opened():
    # Without the database, which Redisson takes from elsewhere.
    return JavaPeer(flags=(), address=URL.rpartition("/")[0], codec="StringCodec")


def work():
    peer = _opened()
    peer.call("open_delayed", queue=_QUEUE)
    peer.submit("take_to", queue=_QUEUE, file=os.environ["BENCHMARK_MARKS"]).result()


def produce():
    peer = _opened()

    def offer(jobs, in_flight):
        items = [
            {"value": f"{number} {due_ms}", **({"delayMs": 0} if due_ms is None else {"dueMs": due_ms})}
            for number, due_ms in jobs
        ]
        # The JVM measures it itself, on values it has built before.
        return peer.call("offer_many", timeout=120.0, queue=_QUEUE, items=items, inFlight=in_flight) / 1e9

    versions = {name: peer.about[name] for name in ("redisson", "java")}
    serve(versions, lambda jobs: offer(jobs, 1), lambda jobs: offer(jobs, 200), ping=None)


if __name__ == "__main__":
    work()
