"""What a peer is: its environment, its command lines, and how they are written down. ``PEERS`` are all of them."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import attrs

from tests.benchmarks.measures import ASYNCIO, REDISSON, SYNC

__all__ = ["INSIDE", "PEERS", "ROOT", "Peer"]

ROOT = Path(__file__).resolve().parents[3]
#: The scripts that run inside the environments.
INSIDE = Path(__file__).resolve().parent / "inside"

_REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
_ENVIRONMENTS = ROOT / "build" / "benchmarks"


@attrs.frozen(kw_only=True)
class Peer:
    """One library with one way to run it."""

    name: str
    #: In ``inside``; its ``produce()`` serves the driver.
    module: str
    #: The processes that make one worker, each a program of the environment and its arguments.
    workers: tuple[tuple[str, ...], ...]
    #: How it enqueues many jobs; empty where it has no way but one by one.
    bulk: str = ""
    producer: str = "produce"
    #: Its connections are redis-py's, so PING can be timed beside it.
    pings: bool = True
    #: Has an environment of its own, with what the file of that name in ``requirements`` asks for.
    own_environment: bool = True

    def prepare(self) -> None:
        """Creates its environment, unless it is there already. pip takes its index from its own configuration.

        Raises RuntimeError with the end of pip's output when something cannot be installed.
        """
        if not self.own_environment:
            return
        wanted = _REQUIREMENTS / f"{self.name}.txt"
        made = self._environment / wanted.name
        if made.exists() and made.read_bytes() == wanted.read_bytes():
            return
        venv.create(self._environment, clear=True, with_pip=True)
        command = [str(self._program("python")), "-m", "pip", "install", "--quiet", "--requirement", str(wanted)]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}")
        # Last, so that an environment that is not complete is made again.
        made.write_bytes(wanted.read_bytes())

    def worker_commands(self, url: str) -> list[list[str]]:
        """The command lines of one worker."""
        return [
            [str(self._program(program)), *(argument.replace("{url}", url) for argument in arguments)]
            for program, *arguments in self.workers
        ]

    def producer_command(self) -> list[str]:
        """The command line of what enqueues."""
        return [str(self._program("python")), "-c", f"import {self.module}; {self.module}.{self.producer}()"]

    def python_path(self) -> str:
        """Where its processes find the scripts and, if it shares the driver's environment, this library."""
        return str(INSIDE) if self.own_environment else f"{INSIDE}:{ROOT}"

    @property
    def _environment(self) -> Path:
        return _ENVIRONMENTS / self.name

    def _program(self, name: str) -> Path:
        return self._environment / "bin" / name if self.own_environment else Path(sys.executable)


_GATHERED = "100 coroutines at a time"

#: In the order of the table. Each worker is what its documentation starts first, with no option changed but one:
#: taskiq's scheduler looks for new schedules once a minute, and a table of its phase would help nobody.
PEERS = (
    Peer(
        name=SYNC,
        module="on_redisson_dq",
        workers=(("python", "on_redisson_dq.py", "sync"),),
        bulk="offer_all()",
        own_environment=False,
    ),
    Peer(
        name=ASYNCIO,
        module="on_redisson_dq",
        workers=(("python", "on_redisson_dq.py", "asyncio"),),
        bulk="offer_all()",
        producer="produce_asyncio",
        own_environment=False,
    ),
    Peer(
        name=REDISSON,
        module="on_redisson",
        workers=(("python", "on_redisson.py"),),
        bulk="offerAsync(), 200 in flight",
        pings=False,
        own_environment=False,
    ),
    Peer(name="celery", module="on_celery", workers=(("celery", "-A", "on_celery", "worker"),)),
    Peer(
        name="rq",
        module="on_rq",
        workers=(("rq", "worker", "--with-scheduler", "--url", "{url}", "default"),),
        bulk="pipelines of 100",
    ),
    Peer(name="arq", module="on_arq", workers=(("arq", "on_arq.WorkerSettings"),), bulk=_GATHERED),
    Peer(name="dramatiq", module="on_dramatiq", workers=(("dramatiq", "on_dramatiq"),)),
    Peer(name="huey", module="on_huey", workers=(("huey_consumer", "on_huey.huey"),)),
    Peer(
        name="taskiq",
        module="on_taskiq",
        workers=(
            ("taskiq", "worker", "on_taskiq:broker"),
            ("taskiq", "scheduler", "on_taskiq:scheduler", "--update-interval", "1"),
        ),
        bulk=_GATHERED,
    ),
    Peer(name="saq", module="on_saq", workers=(("saq", "on_saq.settings"),), bulk=_GATHERED),
)
