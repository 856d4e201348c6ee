"""Faults for tests: connections that break, a server that is away, frozen or full, replies that get lost.

A proxy is in front of a real Redis. Clients that connect to its URL meet the faults, on threads and on asyncio::

    with server_of_tests() as server, Faults(server) as faults, redisson_dq.connect(faults.url) as client:
        with faults.lost_reply("offer"), pytest.raises(RedisConnectionError):
            client.delayed_queue("orders").offer("order-42", delay=60)

- ``_faults.py`` has the faults as a test calls them.
- ``_proxy.py`` is the proxy, ``_link.py`` one connection through it. ``_commands.py`` names each command and script,
  and has the traps for them.
- ``_frames.py`` finds where a message ends.
"""

from redisson_dq.testing.faults._commands import Trap
from redisson_dq.testing.faults._faults import Faults

__all__ = ["Faults", "Trap"]
