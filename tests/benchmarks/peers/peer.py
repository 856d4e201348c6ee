"""A peer: its kind of environment and its command lines. ``PEERS`` lists all of them."""

from __future__ import annotations

import attrs

from tests.benchmarks.measures import ASYNCIO, REDISSON, SYNC
from tests.benchmarks.peers.environments import Environment, Go, Node, Python, Shared

__all__ = ["AIO_WORKER", "PEERS", "TAKES", "WORKER", "WORKERS", "Peer", "Programs"]

#: This library's worker, in threads and on asyncio; and whose ``take()`` each of them stands beside.
WORKER = "redisson_dq.worker"
AIO_WORKER = "redisson_dq.aio.worker"
WORKERS = (WORKER, AIO_WORKER)
TAKES = {WORKER: SYNC, AIO_WORKER: ASYNCIO}

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
    #: What its documentation says about the jobs that a killed worker had in hand. Empty if it only takes values.
    redelivers: str = ""
    #: How it enqueues many jobs; empty where it has no way but one by one.
    bulk: str = ""
    producer: str = "produce"
    #: Its connections are redis-py's, so PING can be timed beside it.
    pings: bool = True
    #: The kind of its environment. What it shares with the driver is this library or Redisson.
    kind: type[Environment] = Python
    #: How waiting jobs may be stored, where there is a choice; BENCHMARK_LAYOUT names one for the producer.
    layouts: tuple[str, ...] = ("",)

    @property
    def environment(self) -> Environment:
        return self.kind(self.name)

    @property
    def own_environment(self) -> bool:
        """Whether it is a task queue beside this library."""
        return self.kind is not Shared

    @property
    def is_worker(self) -> bool:
        """Whether it handles jobs, instead of only taking them."""
        return bool(self.redelivers)

    def commands(self, programs: Programs, url: str, slots: int) -> list[list[str]]:
        """The command lines of one of the crews above."""
        return [
            [self.environment.program(program), *(_filled(argument, url, slots) for argument in arguments)]
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
        return self.environment.calling(self.module, self.producer)

    def import_command(self) -> list[str]:
        """The command line that imports what a program with it imports, and ends."""
        return self.environment.importing(self.program or self.module)


def _filled(argument: str, url: str, slots: int) -> str:
    return argument.replace("{url}", url).replace("{slots}", str(slots))


_GATHERED = "100 coroutines at a time"

_CELERY = ("celery", "-A", "on_celery", "worker")
_RQ = ("--url", "{url}", "default")
_DOCKET = ("--docket", "benchmark", "--url", "{url}", "--tasks", "on_pydocket:tasks")
_HANDS_BACK = "T + visibility timeout; with a supervisor at once"

#: In the order of the table. Each worker is what its documentation starts first, with no option changed but one:
#: taskiq's scheduler looks for new schedules once a minute, and a table of its phase would help nobody.
PEERS = (
    Peer(
        name=SYNC,
        module="on_redisson_dq",
        workers=(("python", "on_redisson_dq.py", "sync"),),
        bulk="offer_all()",
        kind=Shared,
        layouts=("mirrored", "lean"),
    ),
    Peer(
        name=ASYNCIO,
        module="on_redisson_dq",
        workers=(("python", "on_redisson_dq.py", "asyncio"),),
        bulk="offer_all()",
        producer="produce_asyncio",
        kind=Shared,
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
        kind=Shared,
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
        kind=Shared,
    ),
    Peer(
        name=REDISSON,
        module="on_redisson",
        workers=(("python", "on_redisson.py"),),
        bulk="offerAsync(), 200 in flight",
        pings=False,
        kind=Shared,
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
    Peer(
        name="streaq",
        module="on_streaq",
        workers=(("streaq", "run", "on_streaq:worker"),),
        bulk="enqueue_many()",
        redelivers="after idle_timeout, 60 s",
    ),
    Peer(
        name="pydocket",
        module="on_pydocket",
        workers=(("docket", "worker", *_DOCKET),),
        crew=(("docket", "worker", *_DOCKET, "--concurrency", "{slots}"),),
        bulk=_GATHERED,
        redelivers="after redelivery_timeout, 5 min",
    ),
    Peer(
        name="bullmq",
        module="on_bullmq",
        kind=Node,
        workers=(("node", "on_bullmq.cjs", "work"),),
        bulk="addBulk()",
        pings=False,
        redelivers="when its lock has ended, 30 s, and stalled jobs are looked for",
    ),
    Peer(
        name="asynq",
        module="on_asynq",
        kind=Go,
        workers=(("program", "work"),),
        bulk="100 goroutines at a time",
        pings=False,
        redelivers="when its lease has ended, 30 s",
    ),
)
