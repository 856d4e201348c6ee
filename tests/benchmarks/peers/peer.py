"""What a peer is: its environment, its command lines, and how they are written down. ``PEERS`` are all of them."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import attrs

from tests.benchmarks.measures import ASYNCIO, REDISSON, SYNC

__all__ = ["AIO_WORKER", "INSIDE", "PEERS", "ROOT", "TAKES", "WORKER", "WORKERS", "Peer"]

ROOT = Path(__file__).resolve().parents[3]
#: The scripts that run inside the environments.
INSIDE = Path(__file__).resolve().parent / "inside"

#: This library's worker, in threads and on asyncio; and whose ``take()`` each of them stands beside.
WORKER = "redisson_dq.worker"
AIO_WORKER = "redisson_dq.aio.worker"
WORKERS = (WORKER, AIO_WORKER)
TAKES = {WORKER: SYNC, AIO_WORKER: ASYNCIO}

_REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
_ENVIRONMENTS = ROOT / "build" / "benchmarks"


#: Programs that are started together, each a program of the environment and its arguments.
Programs = tuple[tuple[str, ...], ...]


@attrs.frozen(kw_only=True)
class Peer:
    """One library with one way to run it."""

    name: str
    #: In ``inside``; its ``produce()`` serves the driver.
    module: str
    #: One worker, as its documentation starts it first.
    workers: Programs
    #: One worker in one process; two processes; one process with ``{slots}`` slots. Where nothing is said: ``workers``,
    #: one process started twice, and one process, which looks at BENCHMARK_SLOTS.
    one: Programs = ()
    two: Programs = ()
    crew: Programs = ()
    #: A process with ``{slots}`` slots, and a supervisor which starts another one when it dies.
    supervised: Programs = ()
    #: How many jobs a crew may have in hand.
    most_slots: int = 1000
    #: What a program that uses it imports: the ``module``, if nothing is said.
    program: str = ""
    #: What its documentation says of the jobs that a killed worker had in hand; empty for what only takes values.
    redelivers: str = ""
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

    @property
    def is_worker(self) -> bool:
        """Whether it handles jobs, and takes them not only."""
        return bool(self.redelivers)

    def commands(self, programs: Programs, url: str, slots: int) -> list[list[str]]:
        """The command lines of one of those above."""
        return [
            [str(self._program(program)), *(_filled(argument, url, slots) for argument in arguments)]
            for program, *arguments in programs
        ]

    @property
    def one_process(self) -> Programs:
        return self.one or self.workers

    @property
    def two_processes(self) -> Programs:
        return self.two or self.one_process * 2

    @property
    def with_slots(self) -> Programs:
        return self.crew or self.one_process

    def producer_command(self) -> list[str]:
        """The command line of what enqueues."""
        return [str(self._program("python")), "-c", f"import {self.module}; {self.module}.{self.producer}()"]

    def import_command(self) -> list[str]:
        """The command line that imports what a program with it imports, and ends."""
        return [str(self._program("python")), "-c", f"import {self.program or self.module}"]

    def bare_command(self) -> list[str]:
        """The same without the import of anything but what all of them have."""
        return [str(self._program("python")), "-c", "import serving"]

    def python_path(self) -> str:
        """Where its processes find the scripts and, if it shares the driver's environment, this library."""
        return str(INSIDE) if self.own_environment else f"{INSIDE}:{ROOT}"

    @property
    def _environment(self) -> Path:
        return _ENVIRONMENTS / self.name

    def _program(self, name: str) -> Path:
        return self._environment / "bin" / name if self.own_environment else Path(sys.executable)


def _filled(argument: str, url: str, slots: int) -> str:
    return argument.replace("{url}", url).replace("{slots}", str(slots))


_GATHERED = "100 coroutines at a time"

_CELERY = ("celery", "-A", "on_celery", "worker")
_RQ = ("--url", "{url}", "default")
_HANDS_BACK = "T + visibility timeout; with a supervisor at once"

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
        name=WORKER,
        module="on_redisson_dq",
        program="on_redisson_dq_worker",
        workers=(("python", "on_redisson_dq_worker.py"),),
        two=(("python", "-m", "redisson_dq", "worker", "on_redisson_dq_worker:worker", "--processes", "2"),),
        supervised=(("python", "-m", "redisson_dq", "worker", "on_redisson_dq_worker:worker"),),
        bulk="offer_all()",
        redelivers=_HANDS_BACK,
        own_environment=False,
    ),
    Peer(
        name=AIO_WORKER,
        module="on_redisson_dq",
        program="on_redisson_dq_aio_worker",
        workers=(("python", "on_redisson_dq_aio_worker.py"),),
        two=(("python", "-m", "redisson_dq", "worker", "on_redisson_dq_aio_worker:worker", "--processes", "2"),),
        supervised=(("python", "-m", "redisson_dq", "worker", "on_redisson_dq_aio_worker:worker"),),
        bulk="offer_all()",
        redelivers=_HANDS_BACK,
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
    Peer(
        name="celery",
        module="on_celery",
        workers=(_CELERY,),
        one=((*_CELERY, "--concurrency", "1"),),
        two=((*_CELERY, "--concurrency", "2"),),
        crew=((*_CELERY, "--pool", "threads", "--concurrency", "{slots}"),),
        supervised=((*_CELERY, "--concurrency", "{slots}"),),
        most_slots=8,
        redelivers="lost: acks_late is off; what was not begun after an hour",
    ),
    Peer(
        name="rq",
        module="on_rq",
        workers=(("rq", "worker", "--with-scheduler", *_RQ),),
        two=(("rq", "worker-pool", "--num-workers", "2", *_RQ),),
        crew=(("rq", "worker-pool", "--num-workers", "{slots}", *_RQ),),
        most_slots=8,
        bulk="pipelines of 100",
        redelivers="failed, when another worker finds it abandoned",
    ),
    Peer(
        name="arq",
        module="on_arq",
        workers=(("arq", "on_arq.WorkerSettings"),),
        bulk=_GATHERED,
        redelivers="after job_timeout, 300 s",
    ),
    Peer(
        name="dramatiq",
        module="on_dramatiq",
        workers=(("dramatiq", "on_dramatiq"),),
        one=(("dramatiq", "on_dramatiq", "--processes", "1"),),
        two=(("dramatiq", "on_dramatiq", "--processes", "2"),),
        crew=(("dramatiq", "on_dramatiq", "--processes", "1", "--threads", "{slots}"),),
        supervised=(("dramatiq", "on_dramatiq", "--processes", "1", "--threads", "{slots}"),),
        redelivers="after a minute without a heartbeat, by chance",
    ),
    Peer(
        name="huey",
        module="on_huey",
        workers=(("huey_consumer", "on_huey.huey"),),
        crew=(("huey_consumer", "on_huey.huey", "--workers", "{slots}"),),
        redelivers="lost",
    ),
    Peer(
        name="taskiq",
        module="on_taskiq",
        workers=(
            ("taskiq", "worker", "on_taskiq:broker"),
            ("taskiq", "scheduler", "on_taskiq:scheduler", "--update-interval", "1"),
        ),
        one=(("taskiq", "worker", "on_taskiq:broker", "--workers", "1"),),
        two=(("taskiq", "worker", "on_taskiq:broker", "--workers", "2"),),
        crew=(("taskiq", "worker", "on_taskiq:broker", "--workers", "1", "--max-async-tasks", "{slots}"),),
        supervised=(("taskiq", "worker", "on_taskiq:broker", "--workers", "1", "--max-async-tasks", "{slots}"),),
        bulk=_GATHERED,
        redelivers="after idle_timeout, 600 s",
    ),
    Peer(
        name="saq",
        module="on_saq",
        workers=(("saq", "on_saq.settings"),),
        bulk=_GATHERED,
        redelivers="given up after its timeout, 10 s; with retries= tried again",
    ),
)
