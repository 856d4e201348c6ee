"""The trial of ``doctor --try``: the main job, done once in a queue of its own. It writes, so it runs on demand."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator

from redis.exceptions import NoPermissionError

from redisson_dq import Client
from redisson_dq.doctor.findings import CannotRun, Finding, redis_cli, server_problem
from redisson_dq.doctor.sight import Sight
from redisson_dq.errors import RedissonDQError
from redisson_dq.worker import Worker

__all__ = ["main_job"]

_NAME = "redisson_dq_doctor_"
_DELAY = 0.1
# How long it waits before the offer: on a slow machine the item is there before its wait, which then needs no command.
_EMPTY = 0.02
# An item that has not arrived this long after its offer is not on time.
_PATIENCE = 5.0


def main_job(sight: Sight) -> Iterator[Finding]:
    """Items with a delay are taken, received and handled by a worker, in a queue of the doctor's own (--try)."""
    trial = _Trial(sight.client)
    try:
        for job, run in (("take()", trial.take), ("receive() and ack()", trial.receive), ("a worker", trial.work)):
            error = _error_of(run)
            if error is not None:
                yield server_problem(
                    check="main-job",
                    text=f"{job} of an item that was offered with a delay: {error}",
                    evidence={"job": job, "queue": trial.name},
                    shown_by=redis_cli("INFO", "server"),
                    commands=("redisson-dq doctor --only commands,rights",),
                )
    finally:
        trial.end()


def _error_of(run: Callable[[], bool]) -> str | None:
    try:
        return None if run() else f"it did not come within {_PATIENCE:g} s"
    except RedissonDQError as error:
        cause = error.__cause__
        if isinstance(cause, NoPermissionError) and "command" not in str(cause):
            raise CannotRun(f"the user may not use keys and channels with {_NAME}* in their names: {error}") from error
        return str(error)


class _Trial:
    """A queue that nobody else uses."""

    def __init__(self, client: Client) -> None:
        self.name = f"{_NAME}{secrets.token_hex(4)}"
        self._client = client
        from redisson_dq.codecs import StringCodec

        self._codec = StringCodec()
        self._queue = client.blocking_queue(self.name, codec=self._codec)
        self._delayed = client.delayed_queue(self._queue)

    def take(self) -> bool:
        self._queue.poll(timeout=_EMPTY)
        self._delayed.offer("taken", delay=_DELAY)
        return self._queue.poll(timeout=_PATIENCE) == "taken"

    def receive(self) -> bool:
        self._queue.receive(timeout=_EMPTY)
        self._delayed.offer("received", delay=_DELAY)
        delivery = self._queue.receive(timeout=_PATIENCE)
        return delivery is not None and bool(delivery.ack())

    def work(self) -> bool:
        handled = threading.Event()
        worker = Worker(self._client)
        worker.queue(self.name, codec=self._codec)

        @worker.handler(self.name)
        def handle(value: object) -> None:
            handled.set()

        with worker:
            self._delayed.offer("handled", delay=_DELAY)
            has_come = handled.wait(_PATIENCE)
        if not has_come and worker.problems:
            raise RedissonDQError("; ".join(map(str, worker.problems)))
        return has_come

    def end(self) -> None:
        """Deletes everything that may be left."""
        for handle in (self._delayed, self._queue):
            with contextlib.suppress(RedissonDQError):
                handle.delete()
                handle.destroy()
