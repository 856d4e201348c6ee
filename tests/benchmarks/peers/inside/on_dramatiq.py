"""Runs inside the environment of a peer: a plain script, not checked by mypy. See serving.py."""

import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import CurrentMessage
from serving import URL, handled, ping, serve, versions

dramatiq.set_broker(RedisBroker(url=URL))
dramatiq.get_broker().add_middleware(CurrentMessage())


@dramatiq.actor
def handle(number, due_ms):
    message = CurrentMessage.get_current_message()
    handled(number, due_ms, message.options.get("retries", 0) + 1)


def enqueue(jobs):
    for number, due_ms in jobs:
        # dramatiq counts the delay from its own clock, truncated to milliseconds.
        delay = None if due_ms is None else max(0, due_ms - time.time_ns() // 1_000_000)
        handle.send_with_options(args=(number, due_ms), delay=delay)


def produce():
    serve(versions("dramatiq", "redis"), enqueue, ping=ping)
