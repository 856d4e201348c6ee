"""Tells systemd how the service is (``Type=notify``), by datagrams to the socket that it names."""

from __future__ import annotations

import contextlib
import os
import socket
import weakref

__all__ = ["ServiceManager"]

_PATIENCE = 0.5


class ServiceManager:
    """Does nothing where no service manager listens."""

    def __init__(self) -> None:
        address = os.environ.get("NOTIFY_SOCKET", "")
        # "@" stands for the first byte of an abstract address.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        ours = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        microseconds = os.environ.get("WATCHDOG_USEC", "")
        #: How often ``WATCHDOG=1`` is expected, in seconds: twice within the limit. None: never.
        self.every = int(microseconds) / 2_000_000 if ours and microseconds.isdigit() and int(microseconds) else None
        # Kept open: a moment without descriptors must not keep the watchdog from its signs.
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if self._address else None
        if self._sender is not None:
            # One that reads nothing must not hold up the processes.
            self._sender.settimeout(_PATIENCE)
            weakref.finalize(self, self._sender.close)

    def tell(self, state: str) -> None:
        """Sends a state such as ``READY=1``. A service manager that is gone is not missed."""
        if self._sender is not None:
            with contextlib.suppress(OSError):
                self._sender.sendto(state.encode(), self._address)
