"""What clients send to a server, command by command.

Redis counts the commands inside scripts together with those of clients, so its counters cannot distinguish the two.
MONITOR can, but it slows the server, so nothing is timed while it runs.
"""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis

__all__ = ["Sent", "connections", "watched"]

#: By the address of the client's connection and the name of the command.
Sent = Counter[tuple[str, str]]


def connections(admin: redis.Redis) -> set[str]:
    """The addresses of all that are open."""
    clients: Any = admin.client_list()
    return {client["addr"] for client in clients}


@contextmanager
def watched(admin: redis.Redis) -> Iterator[Sent]:
    """Counts while it is open; the count is complete when it has closed."""
    sent: Sent = Counter()
    end = uuid.uuid4().hex
    monitor = admin.monitor()
    # MONITOR has its connection. Another one for the end is opened here, where it is not counted yet.
    admin.ping()
    with monitor:
        thread = threading.Thread(target=_count, args=(monitor, sent, end), daemon=True)
        thread.start()
        try:
            yield sent
        finally:
            # The last command, whatever is still on its way.
            admin.echo(end)
            thread.join()


def _count(monitor: Any, sent: Sent, end: str) -> None:
    for command in monitor.listen():
        name, _, rest = command["command"].partition(" ")
        if rest == end:
            return
        if command["client_type"] != "lua":
            sent[f"{command['client_address']}:{command['client_port']}", name.upper()] += 1
