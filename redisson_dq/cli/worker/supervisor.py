"""Starts processes, replaces those that died or want to leave, and ends all of them on request."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn

from redisson_dq.cli.frame import say
from redisson_dq.cli.metrics import MetricsServer
from redisson_dq.cli.worker.changes import Changes
from redisson_dq.cli.worker.children import Child, ChildOptions
from redisson_dq.cli.worker.health import Health, HealthServer
from redisson_dq.cli.worker.loading import AnyWorker, LoadError, load
from redisson_dq.cli.worker.recovery import Recovery
from redisson_dq.cli.worker.restarts import RestartBackoff, Shortage
from redisson_dq.cli.worker.service_manager import ServiceManager
from redisson_dq.cli.worker.signals import woken_by_signals
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.stats import QueueStats

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from redisson_dq.prometheus.merging import Together

__all__ = ["Supervisor", "supervise"]

logger = logging.getLogger("redisson_dq")

# How often it checks when nothing happens; it wakes for every death, report and signal.
_EVERY = 1.0
_LOOK_AT_FILES = 0.5
# How long the shutdown waits until the values of killed processes are put back in Redis.
_LAST_HAND_BACK = 5.0
# How long a probe waits for the figures of the queues from Redis.
_LOOK_AT_REDIS = 0.5
_STOPPED, _KILLED = 0, 3


class Supervisor:
    """Keeps ``wanted`` processes running from :meth:`run` on."""

    def __init__(
        self,
        options: ChildOptions,
        wanted: int,
        recovery: Recovery,
        service_manager: ServiceManager,
        *,
        silence: float = 60.0,
        changes: Changes | None = None,
        together: Together | None = None,
    ) -> None:
        """``changes``: ends when a file has changed, which sets :attr:`has_changed`.

        ``together`` gets the metrics of the processes.
        """
        self._options, self._wanted = options, wanted
        self._recovery, self._service_manager = recovery, service_manager
        self._silence, self._changes = silence, changes
        self._together = together
        self._children: list[Child] = []
        self._restarts = RestartBackoff()
        self._shortage = Shortage()
        self._asked = self._served = 0
        self._asked_to_replace = self._replaced = 0
        self._stops = False
        self._was_ready = False
        self._was_killed = False
        self._next_look = 0.0
        self._next_sign = 0.0
        #: Whether it ended because a file had changed, without a request to stop.
        self.has_changed = False

    @property
    def health(self) -> Health:
        """The health for probes, which run in other threads."""
        children = list(self._children)
        found = [child.problems for child in children if not child.is_stopping]
        consuming = found.count(())
        # Processes often have the same problems.
        problems = list(dict.fromkeys(problem for some in found for problem in some))
        if self._shortage.reason is not None:
            problems.append(f"no process can be started: {self._shortage.reason}")
        elif len(found) < self._wanted:
            problems.append(f"{self._wanted - len(found)} of {self._wanted} processes wait for their start")
        return Health(
            wanted=self._wanted,
            running=sum(child.is_running for child in children),
            consuming=consuming,
            stalled=sum(child.is_stalled for child in children if not child.is_stopping and not child.is_silent),
            stopping=self._stops,
            # The successor of a process may start beside it, which is no problem.
            problems=() if self._stops or consuming >= self._wanted else tuple(problems),
        )

    def run(self) -> int:
        """Runs until SIGTERM or SIGINT, and then until every process has ended. Returns the exit code."""
        with contextlib.ExitStack() as held:
            try:
                bell = held.enter_context(woken_by_signals(self._signalled))
                self._selector = held.enter_context(selectors.DefaultSelector())
                self._selector.register(bell, selectors.EVENT_READ)
            except OSError as error:
                raise RedissonDQError(f"the command cannot start: {error}") from error
            before = time.monotonic()
            try:
                while True:
                    now = time.monotonic()
                    while self._served < self._asked:
                        self._served += 1
                        self.has_changed = False
                        self._stop()
                    if self._replaced < self._asked_to_replace:
                        self._replaced = self._asked_to_replace
                        self._replace_all()
                    self._bury_the_dead(now)
                    if self._stops and not self._children:
                        break
                    self._kill_the_stuck(now, now - before)
                    if not self._stops:
                        self._replace(now)
                        self._start_missing(now)
                        self._look_at_files(now)
                    self._give_signs(now)
                    before = now
                    self._wait(bell, self._pause(now))
            finally:
                for child in self._children:
                    child.kill()
        return _KILLED if self._was_killed else _STOPPED

    # -- processes ---------------------------------------------------------------------------------------------------

    def _start_missing(self, now: float) -> None:
        # One at a time is replaced, and its successor starts before it ends.
        wanted = self._wanted + any(child.leaves and not child.is_stopping for child in self._children)
        while sum(not child.is_stopping for child in self._children) < wanted:
            if self._restarts.wait(now) or self._shortage.wait(now):
                return
            try:
                child = self._started()
            except (OSError, MemoryError) as error:
                # No descriptor, process or memory is available, or for a moment no interpreter.
                reason = str(error) or "no memory"
                if self._shortage.failed(now, reason):
                    logger.error("supervisor: no process can be started; retrying, while others go on: %s", reason)
                return
            if (lasted := self._shortage.ended(now)) is not None:
                logger.warning("supervisor: processes can be started again, after %.1f s", lasted)
            logger.info("supervisor: %s starts", child)

    def _started(self) -> Child:
        child = Child(self._options)
        try:
            self._selector.register(child.socket, selectors.EVENT_READ, child)
        except OSError:
            child.kill()
            child.process.wait()
            child.socket.close()
            raise
        self._children.append(child)
        return child

    def _bury_the_dead(self, now: float) -> None:
        for child in list(self._children):
            code = child.exit_code
            if code is None:
                child.look_whether_stopped()
                continue
            # Its last message names its queues, and has its last counts.
            self._read(child)
            if self._together is not None:
                self._together.ended(child)
            self._children.remove(child)
            with contextlib.suppress(KeyError):
                self._selector.unregister(child.socket)
            child.socket.close()
            if code:
                self._recovery.hand_back(child.owner, child.queues)
            if child.is_stopping:
                logger.info("supervisor: %s has ended", child)
                continue
            pause = self._restarts.died(now, now - child.began)
            died_of = f"died of signal {-code}" if code < 0 else f"ended with exit code {code}"
            logger.error("supervisor: %s %s; the next one starts in %.1f s", child, died_of, pause)

    def _replace(self, now: float) -> None:
        """Stops a process that wants to leave once another one receives in its place."""
        current = [child for child in self._children if not child.is_stopping]
        leaving = next((child for child in current if child.leaves), None)
        if leaving is None or len(current) <= self._wanted:
            return
        if all(child.is_running for child in current):
            logger.info("supervisor: replacing %s: %s", leaving, leaving.leaves)
            leaving.stop()

    def _replace_all(self) -> None:
        """Lets every process that runs now be replaced, one after the other."""
        logger.info("supervisor: SIGHUP: replacing all processes")
        for child in self._children:
            child.leaves = child.leaves or "SIGHUP"

    def _kill_the_stuck(self, now: float, passed: float) -> None:
        for child in self._children:
            stands_still = child.stands_still(passed, self._silence)
            if child.kill_if_overdue(now):
                logger.error("supervisor: killing %s, which has not stopped in time", child)
                self._was_killed = self._was_killed or self._stops
            elif self._silence and not child.was_killed and stands_still:
                logger.error("supervisor: killing %s, which hangs", child)
                child.kill()

    def _signalled(self, number: int) -> None:
        # A signal comes between any two steps of the loop, which goes on from here when it is ready to.
        if number == signal.SIGHUP:
            self._asked_to_replace += 1
        else:
            self._asked += 1

    def _stop(self) -> None:
        if not self._stops:
            self._stops = True
            self._service_manager.tell("STOPPING=1")
            logger.info("supervisor: stops")
        for child in self._children:
            child.stop()

    def _look_at_files(self, now: float) -> None:
        if self._changes is None or now < self._next_look:
            return
        self._next_look = now + _LOOK_AT_FILES
        changed = self._changes.changed()
        if changed:
            logger.info("supervisor: restarting, as %s changed", ", ".join(changed))
            self.has_changed = True
            self._stop()

    # -- the outside -------------------------------------------------------------------------------------------------

    def _give_signs(self, now: float) -> None:
        if not self._was_ready and sum(child.is_running for child in self._children) >= self._wanted:
            self._was_ready = True
            self._service_manager.tell("READY=1")
            logger.info("supervisor: all processes are running")
        if self._service_manager.every is not None and now >= self._next_sign:
            self._next_sign = now + self._service_manager.every
            self._service_manager.tell("WATCHDOG=1")

    def _pause(self, now: float) -> float:
        pauses = [_EVERY]
        if self._changes is not None:
            pauses.append(_LOOK_AT_FILES)
        if self._service_manager.every is not None:
            pauses.append(max(0.0, self._next_sign - now))
        if wait := max(self._restarts.wait(now), self._shortage.wait(now)):
            pauses.append(wait)
        return min(pauses)

    def _wait(self, bell: socket.socket, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            if key.fileobj is bell:
                with contextlib.suppress(BlockingIOError):
                    while bell.recv(4096):
                        pass
            elif not self._read(key.data):
                # It is about to end, or was asked to close everything; its exit code says more.
                self._selector.unregister(key.fileobj)

    def _read(self, child: Child) -> bool:
        """Takes in its messages; False when no more come."""
        more = child.read()
        if self._together is not None and child.page is not None:
            self._together.told(child, child.page)
        return more

    def families(self) -> Iterator[Metric]:
        """The metrics of all processes, for a page that is rendered in another thread."""
        from redisson_dq.prometheus.families import gauge

        assert self._together is not None
        yield from self._together.families(silent=[child for child in list(self._children) if child.is_silent])
        health = self.health
        states = {"wanted": health.wanted, "running": health.running, "consuming": health.consuming}
        yield gauge("worker_processes", [((state,), float(count)) for state, count in states.items()])


def supervise(arguments: SimpleNamespace) -> int:
    """Runs ``redisson-dq worker``; the exit code."""
    changes = Changes(os.getcwd()) if arguments.reload else None
    try:
        worker = _loaded(arguments.target, arguments.url, arguments.redisson_config)
    except LoadError as error:
        if changes is None:
            raise
        say(f"redisson-dq: error: {error}; waiting for a change", error=True)
        while not changes.changed():
            time.sleep(_LOOK_AT_FILES)
        _start_anew()
    options = ChildOptions(
        target=arguments.target,
        url=arguments.url,
        redisson_config=arguments.redisson_config,
        grace=worker.grace if arguments.grace is None else arguments.grace,
        max_jobs=arguments.max_jobs,
        max_memory=arguments.max_memory,
        log_level=arguments.log_level,
        metrics=arguments.metrics_port is not None,
    )
    with contextlib.ExitStack() as ends:
        try:
            recovery = Recovery(worker)
            ends.callback(recovery.close, _LAST_HAND_BACK)
            service_manager = ServiceManager()
        except (OSError, RuntimeError) as error:
            raise RedissonDQError(f"the command cannot start: {error}") from error
        together = _together() if options.metrics else None
        supervisor = Supervisor(
            options,
            arguments.processes,
            recovery,
            service_manager,
            silence=arguments.silence,
            changes=changes,
            together=together,
        )
        if together is not None:
            metrics = MetricsServer(
                arguments.metrics_host, arguments.metrics_port, supervisor.families, arguments.hosts
            )
            ends.callback(metrics.close)
            logger.info("supervisor: metrics at port %d", metrics.port)
        if arguments.health_port is not None:
            health = HealthServer(
                arguments.health_host,
                arguments.health_port,
                lambda: supervisor.health,
                lambda: _figures(recovery),
                arguments.hosts,
            )
            ends.callback(health.close)
            logger.info("supervisor: health at port %d", health.port)
        code = supervisor.run()
    if supervisor.has_changed:
        _start_anew()
    return code


def _together() -> Together:
    from redisson_dq.prometheus.merging import Together

    return Together()


def _loaded(target: str, url: str | None, redisson_config: str | None) -> AnyWorker:
    """The worker, if its processes could start. Raises LoadError."""
    worker = load(target, url, redisson_config)
    try:
        worker.check_dependencies()
    except ArgumentError as error:
        raise LoadError(f"{target!r} cannot start: {error}") from error
    return worker


async def _figures(recovery: Recovery) -> Mapping[str, QueueStats]:
    """The figures of the queues. Redis has only a moment to answer, as a probe does not wait longer."""
    try:
        return await asyncio.wait_for(asyncio.wrap_future(recovery.figures()), _LOOK_AT_REDIS)
    except asyncio.TimeoutError:
        return {}


def _start_anew() -> NoReturn:
    """Replaces this process by a new run of the same command."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, sys.orig_argv)
