"""The workers that the tests of ``redisson-dq worker`` run: ``tests.workers.of_the_command:in_threads``.

What they do is in the environment variable ``COMMAND_WORKER``, as JSON. Each value that was handled is noted in the
list ``done`` as ``value attempt crashes pid``. The key ``begun`` holds the value whose handler began last. A handler in
a thread sleeps, ``computes``, or ``holds`` the interpreter.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import time
from typing import Any

import redis

import redisson_dq.aio.worker
import redisson_dq.worker
from redisson_dq.codecs import StringCodec

OPTIONS: dict[str, Any] = json.loads(os.environ["COMMAND_WORKER"])
#: How long a value is handled that says nothing else.
SECONDS: float = OPTIONS.get("seconds", 0.0)
HANDLER: dict[str, Any] = {"retry": None, "crash_limit": None, **OPTIONS.get("handler", {})}
WORKER: dict[str, Any] = {"codec": StringCodec(), "visibility_timeout": 1000, **OPTIONS.get("worker", {})}
# Nothing is there: the command's --url says where to connect.
NOWHERE = "redis://localhost:1"

in_threads = redisson_dq.worker.Worker.connect(NOWHERE, **WORKER)
in_a_loop = redisson_dq.aio.worker.Worker.connect(NOWHERE, **WORKER)
admin = redis.Redis.from_url(OPTIONS["url"])


def note(value: str, event: Any) -> None:
    admin.rpush("done", f"{value} {event.attempt} {event.crashes} {os.getpid()}")


def seconds(value: str, event: Any) -> float:
    """A value ``once`` is handled at once when it comes for the second time."""
    return 0.0 if value.startswith("once") and event.attempt > 1 else SECONDS


@in_threads.handler("orders", **HANDLER)
def handle(value: Any, event: Any) -> None:
    admin.set("begun", value)
    until = time.monotonic() + seconds(value, event)
    if OPTIONS.get("computes"):
        while time.monotonic() < until:
            sum(range(1000))
    elif OPTIONS.get("holds"):
        # A function of C that keeps the interpreter.
        ctypes.PyDLL(None).sleep(int(SECONDS))
    else:
        time.sleep(max(0.0, until - time.monotonic()))
    note(value, event)


@in_a_loop.handler("orders", **HANDLER)
async def handle_in_a_loop(value: Any, event: Any) -> None:
    admin.set("begun", value)
    await asyncio.sleep(seconds(value, event))
    note(value, event)


def made() -> redisson_dq.worker.Worker:
    return in_threads


without_handlers = redisson_dq.worker.Worker.connect(NOWHERE)
no_worker = 42
