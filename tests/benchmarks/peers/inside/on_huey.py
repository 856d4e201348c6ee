"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

from datetime import datetime, timezone

from huey import RedisHuey
from serving import URL, handled, ping, serve, versions

huey = RedisHuey("benchmark", url=URL)


@huey.task()
def handle(number, due_ms):
    handled(number, due_ms)


def enqueue(jobs):
    for number, due_ms in jobs:
        if due_ms is None:
            handle(number, due_ms)
        else:
            # huey truncates a time without a zone to seconds.
            handle.schedule((number, due_ms), eta=datetime.fromtimestamp(due_ms / 1000, timezone.utc))


def produce():
    serve(versions("huey", "redis"), enqueue, ping=ping)
