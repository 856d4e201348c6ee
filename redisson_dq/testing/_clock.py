"""The clock of a test: time passes when the test says so, for the clients and for the scripts of their server."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from redisson_dq._redis import without_password
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling import clock as _clock
from redisson_dq.scheduling.times import from_us, seconds_of
from redisson_dq.testing._claim import NotForTestsError, check_url, claim, empty, name_in, reaching
from redisson_dq.testing._clients import clients_in, is_soon
from redisson_dq.testing._connections import over
from redisson_dq.testing._entered import OnlyWith, refuse_if_dropped
from redisson_dq.testing._held import is_behind
from redisson_dq.testing._jumps import Auto
from redisson_dq.testing._leaks import look
from redisson_dq.testing._lines import TimedLines
from redisson_dq.testing._loops import is_ours
from redisson_dq.testing._moments import LAST_US, after, epoch_us
from redisson_dq.testing._rest import Rest
from redisson_dq.testing._scripts import CLOCK_KEY, MARK_KEY, OWNER_KEY, STEP
from redisson_dq.testing._waits import Alarms, ClockOfAlarms, TimedAlarm, TimedTimer

__all__ = ["AioClock", "TestClock"]

# The monotonic time of a client at the beginning: arbitrary and far from zero, like a machine's.
_BEGINNING_US = 1_000_000_000_000
_DAY = 86_400.0
_IN_A_HANDLER = (
    "time passes only when this handler has returned; the test lets it pass, and clock.sleep(...) is for handlers that "
    "take long"
)


class TestClock(OnlyWith, ClockOfAlarms):
    """The time of a test. It stands still until the test advances it.

    A context manager. Clients that are created inside follow it, for threads and for asyncio: delays, leases, retries,
    ``take(timeout=)``, and all other waits. The scripts of their server follow it too. The machine's clock is not
    changed.

    - ``url``: a Redis that is empty, or only has data of tests. The clock empties its database at the beginning and the
      end.
    - ``start``: the time at the beginning, the machine's by default; whole milliseconds.
    - ``patience``: how many seconds of real time it waits until all activity has ended.

    For example::

        with TestClock(server.url) as clock:
            client = redisson_dq.connect(server.url)
            client.delayed_queue("orders").offer("a", delay=timedelta(days=30))
            clock.advance(days=30)
            assert client.blocking_queue("orders").poll() == "a"

    With Sentinel, ``url`` is the URL of the master. Raises NotForTestsError for a server that has any other data.
    Raises ArgumentError for another kind of URL, and for the URL of faults, which would stop the clock too.
    """

    # Not a test class, though pytest would take it for one by its name.
    __test__ = False

    def __init__(self, url: str, *, start: datetime | None = None, patience: float = 10.0) -> None:
        check_url(url)
        patience = seconds_of(patience, "patience=")
        start_us = epoch_us(datetime.now(timezone.utc) if start is None else start, "start=") // 1000 * 1000
        self._url = url
        super().__init__(Alarms(start_us, patience))
        self._start_us = start_us
        self._is_running = False
        self._mutex = threading.Lock()
        self._owner = secrets.token_hex(8)
        self._lines = TimedLines(self._alarms, self._owner, self._unblock)
        self._rest = Rest(self._alarms, self._lines, patience, self._blocked)
        self._admin: Any = None
        self._ends = contextlib.ExitStack()
        #: The same calls for coroutines.
        self.aio = AioClock(self)
        refuse_if_dropped("TestClock(url)", sys._getframe(1))

    # -- life --------------------------------------------------------------------------------------------------------

    def __enter__(self) -> TestClock:
        with contextlib.ExitStack() as stack, reaching(self._url):
            name = name_in(self._url)
            # Tried twice, as the server may have been restarted. Each command may be repeated.
            self._admin = redis.Redis.from_url(
                self._url,
                protocol=2,
                decode_responses=True,
                client_name=name,
                single_connection_client=True,
                retry=Retry(NoBackoff(), 1),
            )
            stack.callback(self._admin.close)
            self._check_faults()
            keeps = (MARK_KEY,) if claim(self._admin, self._url) else ()
            empty(self._admin)
            stack.callback(empty, self._admin, keeps=keeps)
            stack.callback(look)
            self._admin.set(CLOCK_KEY, self._alarms.now_us)
            self._admin.set(OWNER_KEY, self._owner)
            stack.enter_context(_clock.using(self, _TimedParts(self._alarms, self._lines)))
            self._ends = stack.pop_all()
        self._is_running = True
        return self

    def _check_faults(self) -> None:
        """Raises ArgumentError if faults would stop the clock itself."""
        self._admin.ping()
        connection = self._admin.connection
        # Faults cannot be in front of a Unix socket.
        if connection is not None and is_behind(connection._sock.getsockname()):
            raise ArgumentError(
                f"{without_password(self._url)}: the clock would meet the faults too; give it server.url, and its "
                "clients faults.url"
            )

    def __exit__(self, *error: object) -> None:
        self._is_running = False
        self._ends.close()
        self.end_sleeps()

    # -- for tests ---------------------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return from_us(self._alarms.now_us)

    @property
    def open_connections(self) -> int:
        """How many connections its clients have open."""
        return len(self._lines.all())

    def advance(self, span: timedelta | float | None = None, /, **parts: float) -> None:
        """Advances the time: ``advance(30)`` in seconds, ``advance(days=30)``, ``advance(timedelta(hours=1))``.

        It goes from one moment to the next at which anything is due. At each moment it waits until all consequences are
        done: items are moved, handlers have returned, their outcomes are in Redis. Raises NoRestError when something
        goes on for longer than the patience; ArgumentError for a negative span.
        """
        self._advance(after(self._alarms.now_us, span, parts))

    def advance_to(self, moment: datetime) -> None:
        """Advances the time to ``moment``, an aware datetime. Otherwise like :meth:`advance`."""
        self._advance(epoch_us(moment, "advance_to():"))

    def settle(self) -> None:
        """Returns when all activity that needs no time to pass has ended. Raises NoRestError."""
        self._check_caller()
        with self._alarms.moving:
            self._rest.wait()

    def step(self) -> bool:
        """Advances the time to the next moment at which anything is due. False if there is none.

        Moments at which clients only look after themselves are passed over.
        """
        self._check_caller()
        self._check_others()
        with self._alarms.moving:
            self._rest.wait()
            while (moment := self._next(visible=True)) is not None:
                # A client may look after itself before that.
                at = max(self._alarms.now_us, min(moment, self._alarms.next_us() or moment))
                self._go_to(at)
                if at == moment:
                    return True
            return False

    def _jump(self, until_us: int) -> bool:
        """Advances the time to the next moment with an observable effect. False if there is none by the limit."""
        with self._alarms.moving:
            self._rest.wait()
            moment = self._next()
            if moment is None or moment > until_us:
                return False
            self._go_to(moment, until_us)
            return True

    def auto(self, *, limit: timedelta = timedelta(days=366)) -> Auto:
        """A context manager: time jumps whenever everything is idle and some caller waits in the library.

        So ``queue.take()`` in a test returns as soon as an item falls due, without explicit advances. After ``limit``
        the waits raise NoRestError, as nothing more will arrive. Raises ArgumentError without ``with``.
        """
        self._check_running()
        self._check_others()
        refuse_if_dropped("clock.auto()", sys._getframe(1))
        return Auto(self._jump, self._alarms, self._rest, limit)

    # -- moving ------------------------------------------------------------------------------------------------------

    def _check_running(self) -> None:
        if not self._is_running:
            raise ArgumentError("the test's clock runs only inside `with TestClock(url) as clock:`")

    def _check_caller(self) -> None:
        """Raises ArgumentError if the caller itself would never be idle."""
        self._check_running()
        if is_ours(threading.current_thread().name):
            raise ArgumentError(_IN_A_HANDLER)
        with contextlib.suppress(RuntimeError):
            if asyncio.get_running_loop() in self._alarms.loops:
                raise ArgumentError(
                    "this loop has to go on while time passes: await clock.aio.advance(...) in a coroutine"
                )

    def _check_others(self) -> None:
        """Raises NotForTestsError if a client does not follow this clock, and would move items by real time."""
        if is_soon(lambda: not self._others()):
            return
        raise NotForTestsError(
            f"{without_password(self._url)}: the clients {', '.join(sorted(self._others()))} do not follow the test's "
            "clock; they were made before it, as in a fixture of the session, or belong to another process; make them "
            "inside, as with the fixture redisson_url, or give them another database"
        )

    def _others(self) -> set[str]:
        with self._mutex:
            clients = clients_in(self._admin)
        own = {line.id for line in self._lines.all()}
        return set(clients.values()) - {client for number, client in clients.items() if number in own}

    def _advance(self, target_us: int) -> None:
        self._check_caller()
        if target_us < self._alarms.now_us:
            raise ArgumentError(f"it is {self.now} by the test's clock, and {from_us(target_us)} has passed")
        self._check_others()
        with self._alarms.moving:
            self._rest.wait()
            while (moment := self._next()) is not None and moment <= target_us:
                self._go_to(moment, target_us)
            if target_us > self._alarms.now_us:
                self._go_to(target_us)

    def _next(self, *, visible: bool = False) -> int | None:
        """The next moment at which anything is due. With ``visible`` no housekeeping counts."""
        ends_ms = self._step("")
        found = (self._alarms.next_us(visible=visible), ends_ms and ends_ms * 1000)
        # There is no time after the last moment of the calendar.
        moments = [at for at in found if at is not None and at <= LAST_US]
        return max(self._alarms.now_us, min(moments)) if moments else None

    def _go_to(self, moment_us: int, until_us: int = 0) -> None:
        """Transfers may run ahead as far as ``until_us``."""
        # Nothing reads the time between these two.
        ends_ms = self._step(str(moment_us))
        self._alarms.now_us = moment_us
        due = self._alarms.due()
        self._lines.ahead_until_us = self._ahead(due, until_us, ends_ms)
        try:
            for alarm in due:
                alarm.ring()
            self._rest.wait()
        finally:
            self._lines.ahead_until_us = 0

    def _ahead(self, due: list[TimedAlarm], until_us: int, ends_ms: int | None) -> int:
        """The moment before which only unobservable transfers are due, if only such are due now."""
        quiet = self._lines.quiet()
        if any(alarm.about not in quiet for alarm in due):
            return 0
        others = [at_us for at_us, about in self._alarms.waits() if about not in quiet]
        return min([until_us + 1, *others, *([] if ends_ms is None else [ends_ms * 1000])])

    def _step(self, now: str) -> int | None:
        with self._mutex:
            found: int | None = self._admin.eval(STEP, 0, now)
            return found

    def _unblock(self, client: int) -> bool:
        with self._mutex:
            return bool(self._admin.execute_command("CLIENT", "UNBLOCK", client, "TIMEOUT"))

    def _blocked(self, ids: list[int]) -> set[int]:
        with self._mutex:
            # redis-py has no call for several ids.
            text = self._admin.execute_command("CLIENT", "LIST", "ID", *ids)
        rows = text if isinstance(text, list) else _rows(text)
        return {int(row["id"]) for row in rows if "b" in row["flags"]}

    # -- the clock of clients ----------------------------------------------------------------------------------------

    drifts = False

    def calendar_us(self) -> int:
        """For clients: the time since 1970, in microseconds."""
        return self._alarms.now_us

    def monotonic(self) -> float:
        """For clients: the time in seconds, from an arbitrary moment on."""
        return self.now_us() / 1_000_000

    def now_us(self) -> int:
        """For clients: the time in microseconds, from an arbitrary moment on."""
        return self._alarms.now_us - self._start_us + _BEGINNING_US


class _TimedParts(_clock.ClientParts):
    """The parts of a client whose waits end by the time of a test."""

    def __init__(self, alarms: Alarms, lines: TimedLines) -> None:
        self._alarms = alarms
        self._lines = lines

    def connection_class(self, usual: type[Any]) -> type[Any]:
        return over(usual, self._lines)

    def timer(self, usual: object, clock: object) -> Any:
        return TimedTimer(self._alarms)

    def housekeeping(self, seconds: float) -> float:
        """Periodic checks run once a day."""
        return max(seconds, _DAY)


class AioClock:
    """A test clock for coroutines: the same calls, to be awaited. The loop keeps running while time passes."""

    def __init__(self, clock: TestClock) -> None:
        self._clock = clock

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return self._clock.now

    async def advance(self, span: timedelta | float | None = None, /, **parts: float) -> None:
        """Like :meth:`TestClock.advance`."""
        await self._run(self._clock.advance, span, **parts)

    async def advance_to(self, moment: datetime) -> None:
        """Like :meth:`TestClock.advance_to`."""
        await self._run(self._clock.advance_to, moment)

    async def settle(self) -> None:
        """Like :meth:`TestClock.settle`."""
        await self._run(self._clock.settle)

    async def step(self) -> bool:
        """Like :meth:`TestClock.step`."""
        return bool(await self._run(self._clock.step))

    async def sleep(self, seconds: float) -> None:
        """Sleeps by this clock. For handlers that take long."""
        await self._clock.async_sleep(seconds)

    @staticmethod
    async def _run(call: Callable[..., object], *args: Any, **parts: float) -> object:
        task = asyncio.current_task()
        if task is not None and is_ours(task.get_name()):
            raise ArgumentError(_IN_A_HANDLER)
        return await asyncio.to_thread(call, *args, **parts)


def _rows(text: str) -> Iterator[dict[str, str]]:
    for line in text.splitlines():
        yield dict(word.split("=", 1) for word in line.split(" ") if "=" in word)
