"""A worker whose supervisor may start nothing more between SIGUSR1 and SIGUSR2: no process and no thread.

As under a full pids limit of its container. The limit is one of Linux for processes of the same user.
"""

from __future__ import annotations

import resource
import signal

from tests.workers.of_the_command import in_threads

__all__ = ["in_threads"]

_, hard = resource.getrlimit(resource.RLIMIT_NPROC)


def limit(number: int, frame: object) -> None:
    resource.setrlimit(resource.RLIMIT_NPROC, (1 if number == signal.SIGUSR1 else hard, hard))


for number in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, limit)
