"""What the handles of one client share, and the life of the client behind them."""

from __future__ import annotations

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.server_settings import check_durability, check_keyspace_events
from redisson_dq._async.connecting.servers import Servers
from redisson_dq._async.leases.renewal import Renewal
from redisson_dq._async.moving.transfer_driver import TransferDriver
from redisson_dq._async.receiving.capacity_waiters import CapacityWaiters
from redisson_dq._async.receiving.listeners import Listener, end_listeners
from redisson_dq._async.receiving.receivers import Receivers
from redisson_dq._concurrency import AsyncHome, AsyncMutex, async_finish
from redisson_dq._options import Options
from redisson_dq.errors import ClosedError
from redisson_dq.items import TransferCounts
from redisson_dq.wire import commands
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Runtime"]


class Runtime:
    """Options, connections and background tasks of one client. Counts its handles; starts a task when one needs it."""

    def __init__(self, servers: Servers, options: Options) -> None:
        self.options = options
        self.connections = Connections(servers)
        self.receivers = Receivers(self.connections)
        self.capacity_waiters = CapacityWaiters(self.connections)
        self.renewal = Renewal(self.connections)
        #: All listeners that run.
        self.listeners: set[Listener] = set()
        #: Moves due items, from the first handle with ``transfer=True`` on.
        self.transfer_driver: TransferDriver | None = None
        self.transfer_counts = TransferCounts()
        #: How many handles are open, by the key of their ready list.
        self.handles: dict[str, int] = {}
        self._mutex = AsyncMutex()
        self._home = AsyncHome()
        self._is_open = False
        self._is_closed = False

    # -- handles -----------------------------------------------------------------------------------------------------

    def check_home(self, what: str) -> None:
        """Raises ArgumentError in another event loop than the client's."""
        self._home.check(what)

    def attach(self, keys: QueueKeys, name: str, transfer: bool) -> None:
        """Counts one more handle of these keys; with ``transfer`` their due items are moved. Raises ClosedError."""
        self.connections.check()
        with self._mutex:
            if self._is_closed:
                raise ClosedError("the client is closed; make a new one with connect()")
            if transfer:
                self.check_home(f"queue {name!r}")
            self.handles[keys.ready] = self.handles.get(keys.ready, 0) + 1
            if transfer:
                if self.transfer_driver is None:
                    self.transfer_driver = TransferDriver(
                        self.connections, self.options, self.receivers.leases, self.transfer_counts
                    )
                self.transfer_driver.attach(keys)

    async def detach(self, keys: QueueKeys, transfer: bool) -> None:
        """Counts one handle of these keys less; with the last one every wait on them ends."""
        if not self.connections.is_of_this_process:
            return
        with self._mutex:
            if self._is_closed:
                return
            if transfer and self.transfer_driver is not None:
                self.transfer_driver.detach(keys)
            self.handles[keys.ready] -= 1
            if self.handles[keys.ready]:
                return
            del self.handles[keys.ready]
        await self.receivers.end(keys.ready)

    # -- life cycle --------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Checks that Redis can be reached and does what the options need. Closes everything when it does not."""
        self.check_home("open()")
        if self._is_open:
            return
        try:
            await self.connections.run(commands.ping())
            if self.options.wakeups == "keyspace":
                await check_keyspace_events(self.connections)
            if self.options.durable is not None:
                await check_durability(self.connections, self.options.durable)
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
        await end_listeners(listeners, grace)
        with self._mutex:
            driver, self.transfer_driver = self.transfer_driver, None
        await self.receivers.aclose()
        await self.renewal.aclose()
        await self.capacity_waiters.aclose()
        if driver is not None:
            await driver.aclose()
        await self.connections.aclose()
