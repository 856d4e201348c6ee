"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from serving import URL, mark, ping, serve, versions

dramatiq.set_broker(RedisBroker(url=URL))


@dramatiq.actor
def handle(number, due_ms):
    mark(number, due_ms)


def enqueue(jobs):
    for number, due_ms in jobs:
        # It counts the delay from its own clock, cut to whole milliseconds.
        delay = None if due_ms is None else max(0, due_ms - time.time_ns() // 1_000_000)
        handle.send_with_options(args=(number, due_ms), delay=delay)


def produce():
    serve(versions("dramatiq", "redis"), enqueue, ping=ping)
