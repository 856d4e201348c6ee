"""Notifies systemd of the state of the service (``Type=notify``), by datagrams to the socket that it names."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import weakref

__all__ = ["ServiceManager"]

_PATIENCE = 0.5


class ServiceManager:
    """Does nothing if no service manager listens."""

    def __init__(self) -> None:
        address = os.environ.get("NOTIFY_SOCKET", "")
        # "@" stands for the first byte of an abstract address.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        ours = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        microseconds = os.environ.get("WATCHDOG_USEC", "")
        # How often ``WATCHDOG=1`` is expected, in seconds: twice within the limit.
        is_watched = ours and microseconds.isdigit() and int(microseconds) > 0
        self._every = int(microseconds) / 2_000_000 if is_watched else math.inf
        self._next = 0.0 if is_watched else math.inf
        # Kept open: a shortage of descriptors must not interrupt the watchdog messages.
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if self._address else None
        if self._sender is not None:
            # A service manager that does not read must not block the processes.
            self._sender.settimeout(_PATIENCE)
            weakref.finalize(self, self._sender.close)

    def tell(self, state: str) -> None:
        """Sends a state such as ``READY=1``. It is not an error if the service manager is gone."""
        if self._sender is not None:
            with contextlib.suppress(OSError):
                self._sender.sendto(state.encode(), self._address)

    def keep_alive(self, now: float) -> None:
        """Sends ``WATCHDOG=1`` when that is due."""
        if now >= self._next:
            self._next = now + self._every
            self.tell("WATCHDOG=1")

    def wait(self, now: float) -> float:
        """How long until :meth:`keep_alive` is due; 0 for now, infinite if no watchdog listens."""
        return max(0.0, self._next - now)
