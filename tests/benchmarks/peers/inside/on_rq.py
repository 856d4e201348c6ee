"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

from datetime import datetime, timezone

import redis
from rq import Queue
from serving import IN_FLIGHT, URL, handled, ping, serve, versions


def handle(number, due_ms):
    handled(number, due_ms)


def produce():
    queue = Queue("default", connection=redis.Redis.from_url(URL))

    def put(number, due_ms, **options):
        if due_ms is None:
            queue.enqueue(handle, number, due_ms, **options)
        else:
            queue.enqueue_at(datetime.fromtimestamp(due_ms / 1000, timezone.utc), handle, number, due_ms, **options)

    def enqueue(jobs):
        for number, due_ms in jobs:
            put(number, due_ms)

    def enqueue_all(jobs):
        for first in range(0, len(jobs), IN_FLIGHT):
            with queue.connection.pipeline() as pipeline:
                for number, due_ms in jobs[first : first + IN_FLIGHT]:
                    put(number, due_ms, pipeline=pipeline)
                pipeline.execute()

    serve(versions("rq", "redis"), enqueue, enqueue_all, ping=ping)
