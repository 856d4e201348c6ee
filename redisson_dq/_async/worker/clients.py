"""The client that a worker works with: one of the user's, or one that the worker makes and closes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq._async.client import Client
from redisson_dq._async.connect import unopened
from redisson_dq._common.texts import mixed_up
from redisson_dq._redisson_config import RedissonConfig
from redisson_dq.errors import ArgumentError

__all__ = ["Clients"]


class Clients:
    """Gives a worker its client at each start."""

    def __init__(self, given: Client | None, url: str | None = None, options: dict[str, Any] | None = None) -> None:
        """``given`` is the user's. Without it, ``url`` and ``options`` are those of :func:`connect`."""
        self._given = given
        self._url, self._options = url, options or {}
        self._prepare: list[Callable[[Client], object]] = []
        #: The client of the worker that runs.
        self.current: Client | None = None

    @classmethod
    def of(cls, client: Client) -> Clients:
        """Those of a user's client. Raises ArgumentError for what is none."""
        if not isinstance(client, Client):
            raise ArgumentError(
                f"Worker(): {mixed_up(client, Client, 'make one with Client(redis)')}; Worker.connect(url) makes one"
            )
        return cls(client)

    def make(self) -> Client:
        """The user's client, or a new one."""
        return unopened(self._url, self._options) if self._given is None else self._given

    async def done_with(self, client: Client) -> None:
        """Closes a client that was made here."""
        if self._given is None:
            await client.close()

    def begin(self) -> Client:
        """The client for a worker that starts."""
        self.current = client = self.make()
        for prepare in self._prepare:
            prepare(client)
        return client

    async def end(self) -> None:
        """The worker has stopped."""
        client, self.current = self.current, None
        if client is not None:
            await self.done_with(client)

    def set_server(self, url: str | None, redisson_config: RedissonConfig | None) -> None:
        """Another server from the next start on. Raises ArgumentError for a client of the user's."""
        if self._given is not None:
            raise ArgumentError("a worker that uses your own client has no URL: create it with Worker.connect(url)")
        options = {**self._options, "redisson_config": redisson_config}
        unopened(url, options)
        self._url, self._options = url, options

    # -- for those who prepare clients -------------------------------------------------------------------------------

    def each(self, prepare: Callable[[Client], object]) -> None:
        """Calls ``prepare(client)`` with the client that is there, and with each that a later start has."""
        self._prepare.append(prepare)
        for client in self._here():
            prepare(client)

    def no_more(self, prepare: Callable[[Client], object]) -> list[Client]:
        """Calls ``prepare`` no more. Returns the client that is there, if any."""
        self._prepare = [each for each in self._prepare if each != prepare]
        return self._here()

    def _here(self) -> list[Client]:
        client = self.current if self._given is None else self._given
        return [] if client is None else [client]
