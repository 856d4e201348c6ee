"""Starts processes, replaces those that died or want to leave, and ends all of them on request."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections import deque
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
# How long the shutdown waits until the values of killed processes are put back in Redis.
_LAST_HAND_BACK = 5.0
# How long a probe waits for the figures of the queues from Redis.
_LOOK_AT_REDIS = 0.5
_STOPPED, _KILLED = 0, 3


class _SupervisorPhase(enum.Enum):
    """How far the supervisor is. It goes on to a later one, and never back."""

    STARTING = "not all processes have received at the same time yet"
    READY = "they have, and the service manager was notified"
    RESTARTING = "a file has changed: the processes end, and the command begins again"
    STOPPING = "it was asked to stop: the processes end"


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
        """``changes``: ends when a file has changed, and :attr:`restarts` is true then.

        ``together`` gets the metrics of the processes. Raises OSError if the system has no descriptor for it.
        """
        self._options, self._wanted = options, wanted
        self._recovery, self._service_manager = recovery, service_manager
        self._silence, self._changes = silence, changes
        self._together = together
        self._children: list[Child] = []
        self._restarts = RestartBackoff()
        self._shortage = Shortage()
        self._phase = _SupervisorPhase.STARTING
        # Signals that the loop has not served yet.
        self._signals: deque[int] = deque()
        self._exit_code = _STOPPED
        self._selector = selectors.DefaultSelector()

    @property
    def restarts(self) -> bool:
        """Whether it ended because a file had changed, without a request to stop."""
        return self._phase is _SupervisorPhase.RESTARTING

    @property
    def _stops(self) -> bool:
        return self._phase in (_SupervisorPhase.RESTARTING, _SupervisorPhase.STOPPING)

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
            running=sum(child.report.running for child in children),
            consuming=consuming,
            stalled=sum(child.report.stalled for child in children if not child.is_stopping and not child.is_silent),
            stopping=self._stops,
            # The successor of a process may start beside it, which is no problem.
            problems=() if self._stops or consuming >= self._wanted else tuple(problems),
        )

    def run(self) -> int:
        """Runs until SIGTERM or SIGINT, and then until every process has ended. Returns the exit code."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(self._selector)
                bell = held.enter_context(woken_by_signals(self._signals.append))
                self._selector.register(bell, selectors.EVENT_READ)
            except OSError as error:
                raise RedissonDQError(f"the command cannot start: {error}") from error
            before = time.monotonic()
            try:
                while True:
                    now = time.monotonic()
                    while self._signals:
                        if self._signals.popleft() == signal.SIGHUP:
                            self._replace_all()
                        else:
                            self._stop(_SupervisorPhase.STOPPING)
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
        return self._exit_code

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
                self._recovery.hand_back(child.owner, child.report.queues)
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
        if all(child.report.running for child in current):
            logger.info("supervisor: replacing %s: %s", leaving, leaving.leaves)
            leaving.stop()

    def _replace_all(self) -> None:
        """Lets every process that runs now be replaced, one after the other."""
        logger.info("supervisor: SIGHUP: replacing all processes")
        for child in self._children:
            child.replace("SIGHUP")

    def _kill_the_stuck(self, now: float, passed: float) -> None:
        for child in self._children:
            stands_still = child.stands_still(passed, self._silence)
            if child.is_overdue(now):
                logger.error("supervisor: killing %s, which has not stopped in time", child)
                child.kill()
                if self._stops:
                    self._exit_code = _KILLED
            elif self._silence and not child.is_killed and stands_still:
                logger.error("supervisor: killing %s, which hangs", child)
                child.kill()

    def _stop(self, phase: _SupervisorPhase) -> None:
        if not self._stops:
            self._service_manager.tell("STOPPING=1")
            logger.info("supervisor: stops")
        self._phase = phase
        for child in self._children:
            child.stop()

    def _look_at_files(self, now: float) -> None:
        if self._changes is not None and (changed := self._changes.changed(now)):
            logger.info("supervisor: restarting, as %s changed", ", ".join(changed))
            self._stop(_SupervisorPhase.RESTARTING)

    # -- the outside -------------------------------------------------------------------------------------------------

    def _give_signs(self, now: float) -> None:
        if (
            self._phase is _SupervisorPhase.STARTING
            and sum(child.report.running for child in self._children) >= self._wanted
        ):
            self._phase = _SupervisorPhase.READY
            self._service_manager.tell("READY=1")
            logger.info("supervisor: all processes are running")
        self._service_manager.keep_alive(now)

    def _pause(self, now: float) -> float:
        pauses = [_EVERY, self._service_manager.wait(now)]
        if self._changes is not None:
            pauses.append(self._changes.wait(now))
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
        if self._together is not None and child.report.metrics is not None:
            self._together.told(child, child.report.metrics)
        return more

    def families(self) -> Iterator[Metric]:
        """The metrics of all processes, for a page that is rendered in another thread."""
        from redisson_dq.prometheus.families import family

        assert self._together is not None
        yield from self._together.families(silent=[child for child in list(self._children) if child.is_silent])
        health = self.health
        states = {"wanted": health.wanted, "running": health.running, "consuming": health.consuming}
        yield family("worker_processes", [((state,), float(count)) for state, count in states.items()])


def supervise(arguments: SimpleNamespace) -> int:
    """Runs ``redisson-dq worker``; the exit code."""
    changes = Changes(os.getcwd()) if arguments.reload else None
    try:
        worker = _loaded(arguments.target, arguments.url, arguments.redisson_config)
    except LoadError as error:
        if changes is None:
            raise
        say(f"redisson-dq: error: {error}; waiting for a change", error=True)
        while not changes.changed(time.monotonic()):
            time.sleep(changes.wait(time.monotonic()))
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
            together = _together() if options.metrics else None
            supervisor = Supervisor(
                options,
                arguments.processes,
                recovery,
                ServiceManager(),
                silence=arguments.silence,
                changes=changes,
                together=together,
            )
        except (OSError, RuntimeError) as error:
            raise RedissonDQError(f"the command cannot start: {error}") from error
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
    if supervisor.restarts:
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
