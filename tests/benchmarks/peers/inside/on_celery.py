"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

from datetime import datetime, timezone

from celery import Celery
from serving import URL, handled, ping, serve, versions

app = Celery("benchmark", broker=URL)


@app.task(name="handle", bind=True)
def handle(self, number, due_ms):
    handled(number, due_ms, self.request.retries + 1)


def enqueue(jobs):
    for number, due_ms in jobs:
        eta = None if due_ms is None else datetime.fromtimestamp(due_ms / 1000, timezone.utc)
        handle.apply_async((number, due_ms), eta=eta)


def produce():
    serve(versions("celery", "kombu", "redis"), enqueue, ping=ping)
