"""The server in tests: its clock, the messages on a queue's channel, and a client's look at it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

import redis

from tests.conftest import PATIENCE, eventually
from tests.integration.conftest import KEYS
from tests.interop.sides import server_ms

_HALF_A_DAY_MS = 43_200_000

__all__ = ["announced", "of_server", "wait_until"]


def of_server(admin: Any, ahead_ms: float = 0) -> datetime:
    """The server's clock, or so much later."""
    return datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=server_ms(admin) + ahead_ms)


def wait_until(admin: Any, moment: datetime) -> None:
    """Waits until that time has passed on the server's clock."""
    eventually(lambda: of_server(admin) > moment + timedelta(milliseconds=1))


@contextmanager
def announced(admin: redis.Redis, channel: str = KEYS.channel) -> Iterator[Callable[[], list[int]]]:
    """The due times that clients are told of: with nothing else in the queue, those of the occurrences.

    Each of them once, as the mover tells of the next one again; and not what is said when nothing waits, or when a
    mover leaves.
    """
    dues: list[int] = []
    over = threading.Event()
    with admin.pubsub(ignore_subscribe_messages=True) as pubsub:
        pubsub.subscribe(channel)
        eventually(lambda: pubsub.get_message(timeout=0.1) is None and pubsub.subscribed)

        def read() -> None:
            while not over.is_set():
                if message := pubsub.get_message(timeout=0.05):
                    due_ms = int(message["data"])
                    if due_ms not in dues and 0 < due_ms < server_ms(admin) + _HALF_A_DAY_MS:
                        dues.append(due_ms)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield lambda: list(dues)
        finally:
            over.set()
            reader.join(PATIENCE)
