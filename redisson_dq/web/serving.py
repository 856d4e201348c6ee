"""The port of ``redisson-dq dashboard``: uvicorn's, with limits for clients that have not logged in.

uvicorn limits the size of request headers, but not their time. So a connection that never sends a complete request
would stay open for ever, and a thousand of them would lock out everybody else.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import Sequence
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HEAD_SECONDS", "LONGEST_HEAD", "MOST_CONNECTIONS", "config_of"]

#: The most bytes of a request's headers, and how many seconds they may take.
LONGEST_HEAD, HEAD_SECONDS = 32_768, 10.0
#: How many connections at a time. A tab uses one. A new connection replaces the oldest that has not sent its request.
MOST_CONNECTIONS = 1200
# How many file descriptors are reserved for the other work of the process.
_HEADROOM = 100


def config_of(made: Any, host: str, port: int, root_path: str = "", proxies: Sequence[str] = ()) -> uvicorn.Config:
    """uvicorn's settings for the application. Forwarding headers are only trusted from these ``proxies``."""
    config = uvicorn.Config(
        made,
        host=host,
        port=port,
        root_path=root_path.rstrip("/"),
        http=_bounded(),
        # The pages use no WebSocket.
        ws="none",
        h11_max_incomplete_event_size=LONGEST_HEAD,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        log_level="warning",
        access_log=False,
        server_header=False,
        # Streams never end by themselves.
        timeout_graceful_shutdown=1,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    return config


def _is_news(record: logging.LogRecord) -> bool:
    """Whether to log a line of uvicorn. Dropping a tab in the middle of its stream is not an error."""
    return "without completing response" not in str(record.msg)


def _bounded() -> type[asyncio.Protocol]:
    """A class of connections that share one limit."""
    open_ones: dict[Any, None] = {}
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_CONNECTIONS if limit == resource.RLIM_INFINITY else max(16, min(MOST_CONNECTIONS, limit - _HEADROOM))

    class Bounded(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        @property
        def _waits(self) -> bool:
            """Whether a request, or the rest of one, is still to come."""
            return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            open_ones[self] = None
            self._wait_for_head()
            if len(open_ones) > most:
                dropped = next((each for each in open_ones if each._waits), self)
                open_ones.pop(dropped)
                dropped.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            open_ones.pop(self, None)
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._wait_for_head()

        def _wait_for_head(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self.loop.call_later(HEAD_SECONDS, self._is_late)

        def _is_late(self) -> None:
            if self.cycle is None or self.cycle.response_complete:
                self.transport.abort()

    return Bounded
