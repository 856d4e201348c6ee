"""The runtime: everything that the handles of one client share, and the life of that client."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import attrs

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.explaining import walked
from redisson_dq._async.connecting.servers import Servers
from redisson_dq._async.leases.renewal import Renewal
from redisson_dq._async.moving.server_checks import ServerChecks
from redisson_dq._async.moving.transfer_driver import TransferDriver
from redisson_dq._async.receiving.capacity_waiters import CapacityWaiters
from redisson_dq._async.receiving.listeners import Listener, end_listeners
from redisson_dq._async.receiving.receivers import Receivers
from redisson_dq._concurrency import AsyncHome, AsyncMutex, async_finish
from redisson_dq._redis.options import Options
from redisson_dq.calls.opening import opening
from redisson_dq.errors import ClosedError
from redisson_dq.items import TransferCounts
from redisson_dq.scheduling.clock import client_parts
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Attachment", "Runtime"]

# How soon after the first call that moves a queue the client looks at the settings of its servers.
_LOOK_AT_SERVERS_US = 1_000_000


@attrs.define(eq=False)
class Attachment:
    """A handle's or a worker's place among those that have a queue open.

    Opening starts nothing. With ``transfer`` its client moves the queue's due items from the first call of
    :meth:`start_moving` on.
    """

    _runtime: Runtime
    keys: QueueKeys
    name: str
    #: Whether its client may still have to start moving.
    may_start: bool
    #: Whether its client moves the queue's items for it.
    moves: bool = False

    def start_moving(self) -> None:
        """Lets the client move the queue's due items, once. Does nothing without ``transfer``, and after the end.

        It starts background tasks and sends nothing itself. Raises ClosedError.
        """
        # Most calls find it done, and take no lock.
        if self.may_start:
            self._runtime.start_moving(self)


class Runtime:
    """Options, connections and background tasks of one client. Counts its handles; starts a task when one needs it."""

    def __init__(self, servers: Servers, options: Options) -> None:
        self.options = options
        #: The time, and every wait that ends by time.
        self.clock = options.clock
        #: Those that are called around operations on messages.
        self.operations = options.observers.operations
        self.connections = Connections(
            servers,
            self.clock,
            options.observers,
            longest_block=client_parts(self.clock).housekeeping(options.tuning.probe_interval),
        )
        self.receivers = Receivers(self.connections)
        self.capacity_waiters = CapacityWaiters(self.connections)
        self.renewal = Renewal(self.connections)
        #: All listeners that run.
        self.listeners: set[Listener] = set()
        #: Moves due items, from the first call on that offers, takes or listens.
        self.transfer_driver: TransferDriver | None = None
        self._server_checks = ServerChecks(self.connections)
        self._offers_since: float | None = None
        self._has_looked = False
        self.transfer_counts = TransferCounts()
        #: Handles and workers that have a queue open, by the key of its ready list.
        self.attachments: dict[str, list[Attachment]] = {}
        self._mutex = AsyncMutex()
        #: The event loop that the client belongs to.
        self.home = AsyncHome()
        self._is_open = False
        self._is_closed = False

    # -- handles -----------------------------------------------------------------------------------------------------

    def check_home(self, what: str) -> None:
        """Raises ArgumentError in another event loop than the client's."""
        self.home.check(what)

    def attach(self, keys: QueueKeys, name: str, transfer: bool) -> Attachment:
        """Notes one more holder of the queue. Nothing starts. Raises ClosedError."""
        self.connections.check()
        attachment = Attachment(self, keys, name, transfer)
        with self._mutex:
            if self._is_closed:
                raise ClosedError("the client is closed; make a new one with connect()")
            self.attachments.setdefault(keys.ready, []).append(attachment)
        return attachment

    def start_moving(self, attachment: Attachment) -> None:
        """Starts to move the queue's due items, unless that was done or the attachment has ended. Raises ClosedError.

        A caller that is interrupted in here may call again.
        """
        self.connections.check()
        self.check_home(f"queue {attachment.name!r}")
        with self._mutex:
            if self._is_closed or not attachment.may_start:
                return
            driver = self.transfer_driver
            if driver is None:
                driver = TransferDriver(self.connections, self.options, self.receivers.leases, self.transfer_counts)
                self.transfer_driver = driver
                look = partial(self._server_checks.start, driver.tasks)
                driver.later("server checks", _LOOK_AT_SERVERS_US, look)
            driver.attach(attachment.keys, attachment.name, attachment)
            attachment.moves = True
            attachment.may_start = False
            if self._is_closed:
                # A signal handler has closed the client in here, and may not have found the driver yet.
                driver.end()

    def may_look_at_server(self, key: str) -> bool:
        """Whether a client that only offers has looked at a server, or looks after the call that is about to be sent.

        It looks a second after its first call, as a client that moves does. No background task is needed for it.
        """
        now = self.clock.monotonic()
        if self._offers_since is None:
            self._offers_since = now
        if self._has_looked or now - self._offers_since < _LOOK_AT_SERVERS_US / 1_000_000:
            return self._has_looked
        self._has_looked = True
        self.connections.behind_next = partial(self._server_checks.look_from_call, key)
        return True

    def start_moving_queues(self, keys: Iterable[str]) -> None:
        """Starts to move the due items of other queues that one call waits on, where they are open with ``transfer``.

        ``keys`` are those of their ready lists.
        """
        for key in keys:
            for attachment in tuple(self.attachments.get(key, ())):
                attachment.start_moving()

    async def detach(self, *attachments: Attachment) -> None:
        """The end of attachments. With the last one of a queue every wait on it ends."""
        if not self.connections.is_of_this_process:
            return
        left: list[str] = []
        with self._mutex:
            if self._is_closed:
                return
            for attachment in attachments:
                ready = attachment.keys.ready
                attachment.may_start = False
                if self.transfer_driver is not None:
                    self.transfer_driver.detach(attachment.keys, attachment)
                others = [each for each in self.attachments[ready] if each is not attachment]
                if others:
                    self.attachments[ready] = others
                else:
                    del self.attachments[ready]
                    left.append(ready)
        if left:
            await self.receivers.end(*left)

    # -- life cycle --------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Checks that Redis can be reached and has the settings that options need. Closes everything otherwise."""
        self.check_home("open()")
        if self._is_open:
            return
        try:
            await walked(self.connections, opening(self.options, is_cluster=self.connections.is_cluster))
        except BaseException:
            await self.aclose()
            raise
        self._is_open = True

    async def aclose(self, *, grace: float = 5.0) -> None:
        """Ends every wait, background task and connection. May be called twice.

        Consumers have ``grace`` seconds to return.
        """
        if not self.connections.is_of_this_process:
            return
        with self._mutex:
            if self._is_closed:
                return
            self._is_closed = True
        # A consumer that closes the client cannot be waited for.
        listeners = [listener for listener in list(self.listeners) if not listener.is_current]
        # So a caller that is cancelled leaves nothing half closed.
        await async_finish(self._shut_down(listeners, grace))

    async def _shut_down(self, listeners: list[Listener], grace: float) -> None:
        await end_listeners(listeners, grace, self.clock)
        with self._mutex:
            driver, self.transfer_driver = self.transfer_driver, None
        await self.receivers.aclose()
        await self.renewal.aclose()
        await self.capacity_waiters.aclose()
        if driver is not None:
            await driver.aclose()
        await self._server_checks.aclose()
        await self.connections.aclose()
