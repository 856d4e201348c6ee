"""One run: a world, some loads, one fault several times, and the verdict on every item."""

from __future__ import annotations

import faulthandler
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import redis

from tests.conftest import PATIENCE, eventually
from tests.faults.all_loads import LOADS, Load
from tests.faults.ledger import Finding, Ledger, Verdict
from tests.faults.rules import LEASED
from tests.faults.world import ClusterWorld, NamedWorld, SentinelWorld, World
from tests.proof.checker import check
from tests.proof.history import keep

__all__ = ["Fault", "Result", "Run", "command", "gone_on", "judged", "run", "settled"]


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong, and works again when ``do`` returns."""

    name: str
    do: Callable[[Run], None]
    times: int = 3
    place: str = "single"
    config: Mapping[str, str] = field(default_factory=dict)
    clock: bool = False
    #: None: every load of its world.
    loads: tuple[str, ...] | None = None
    #: Loads for which it would be no fault of this library.
    without: tuple[str, ...] = ()
    #: Errors that Redis may return meanwhile. Any other error of a ``take()`` is a finding.
    note: str = ""

    def meets(self, load: str) -> bool:
        return load not in self.without and (self.loads is None or load in self.loads)


@dataclass
class Result:
    """The result of a run."""

    fault: str
    seed: int
    verdicts: dict[str, Verdict]
    findings: list[Finding]
    #: By load: the refusals.
    refused: dict[str, set[str]]
    worst_wait: float
    seconds: float
    #: For a soak: its planned duration.
    minutes: float = 0.0

    @property
    def all_findings(self) -> list[Finding]:
        return [*self.findings, *(finding for verdict in self.verdicts.values() for finding in verdict.findings)]

    @property
    def loads(self) -> list[str]:
        return list(self.refused)

    @property
    def repeat(self) -> str:
        if self.minutes:
            by_name = " --by-name" if self.fault == "soak-by-name" else ""
            return f"python -m tests.faults --soak {self.minutes:g}{by_name} --seed {self.seed}"
        return command(self.fault, self.loads, self.seed)

    def __str__(self) -> str:
        lines = [f"{self.fault} ({self.seconds:.1f} s, longest wait beyond its time {self.worst_wait:.2f} s)"]
        lines += [f"  {load}: {verdict}" for load, verdict in self.verdicts.items()]
        lines += [f"  {load} was refused: {', '.join(sorted(kinds))}" for load, kinds in self.refused.items() if kinds]
        lines += [f"  {finding}" for finding in self.findings]
        if self.all_findings:
            lines.append(f"  repeat it: {self.repeat}")
        return "\n".join(lines)


def command(fault: str, loads: Sequence[str], seed: int) -> str:
    """The command that repeats a run."""
    return f"python -m tests.faults --seed {seed} --only {','.join([fault, *loads])}"


class Run:
    """The resources of a fault: the world, the loads, and random numbers from the seed."""

    def __init__(self, fault: Fault, world: World, loads: Sequence[Load], seed: int) -> None:
        self.fault, self.world, self.loads = fault, world, loads
        self.rng = random.Random(f"{seed}-{fault.name}")

    @property
    def ledgers(self) -> list[Ledger]:
        return [load.ledger for load in self.loads]

    def pause(self, least: float, most: float) -> None:
        """Lets the loads run for a while."""
        time.sleep(self.rng.uniform(least, most))

    def pardon(self, kind: str, since: float, why: str) -> None:
        """Items that were offered or taken since that moment may be lost, or come twice."""
        for ledger in self.ledgers:
            ledger.pardon(kind, since, time.time(), why)

    def go_on(self) -> None:
        """Waits until each load has taken enough further items to count as running."""
        until = [(load, load.ledger.taken + load.warm) for load in self.loads]
        eventually(lambda: self.look() and all(load.ledger.taken >= taken for load, taken in until))

    def look(self) -> bool:
        """Checks that each item of the loads with leases is in one place."""
        for load in self.loads:
            for misplaced in self.world.misplaced(load.queues) if load.rules is LEASED else ():
                load.ledger.found("torn", misplaced)
        return True


def run(fault: Fault, load_names: Sequence[str], seed: int, *, times: int | None = None) -> Result:
    """Runs the loads together in one world while the fault comes again and again."""
    began = time.monotonic()
    findings: list[Finding] = []
    with _world(fault) as world:
        world.record(fault=fault.name, loads="+".join(load_names), seed=seed)
        ledgers = [Ledger(name, LOADS[name].rules) for name in load_names]
        loads = [LOADS[name](name, world, ledger, seed) for name, ledger in zip(load_names, ledgers, strict=True)]
        run = Run(fault, world, loads, seed)
        try:
            for load in loads:
                load.start()
            run.go_on()
            for _ in range(fault.times if times is None else times):
                run.pause(0.05, 0.4)
                fault.do(run)
            findings += gone_on(run)
            for load in loads:
                load.stop_offering()
            findings += settled(run)
        except (redis.RedisError, AssertionError) as error:
            findings.append(Finding("harness", f"the fault itself failed: {error!r}"))
        finally:
            for load in loads:
                load.close()
        verdicts, more = judged(world, loads)
        findings += more
    refused = {load.name: load.refused for load in loads}
    worst = max(load.worst_wait for load in loads)
    return Result(fault.name, seed, verdicts, findings, refused, worst, time.monotonic() - began)


def judged(world: World, loads: Sequence[Load]) -> tuple[dict[str, Verdict], list[Finding]]:
    """The verdict on each load, after all of them were closed, and the findings about all of them together."""
    if not world.alive:
        return {}, [Finding("dead", "the server has died")]
    findings = _left_nothing_behind(world)
    world.settle()
    verdicts = {}
    for load in loads:
        left = world.left(load.queues)
        verdicts[load.name] = load.ledger.verdict(left, world.lost, queues=load.queues, skews=world.skews)
        load.ledger.tell(world.history, load.queue_name, world.lost, load.queues)
        world.history.invoke("judge", "look", load.queue_name).ok(left)
        if torn := world.torn(load.queues):
            findings.append(Finding("torn", f"{load.name}: entries in one of two keys", tuple(torn)))
    return verdicts, findings + _checked(world)


def _checked(world: World) -> list[Finding]:
    """The checker's findings in the history. A history with findings is kept."""
    world.history.close()
    report = check(world.history.path)
    if not report.findings:
        return []
    kept = keep(world.history.path)
    return [Finding("history", f"{len(report.findings)} findings in {kept}: {report.findings[0]}")]


def _world(fault: Fault) -> World:
    if fault.place == "cluster":
        return ClusterWorld()
    if fault.place == "sentinel":
        return SentinelWorld()
    if fault.place == "name":
        return NamedWorld()
    return World(config=fault.config, clock=fault.clock)


def gone_on(run: Run) -> list[Finding]:
    """Waits until everything flows again after the last fault."""
    try:
        run.go_on()
    except AssertionError:
        # The stacks of the threads show what waits for what.
        faulthandler.dump_traceback()
        stuck = ", ".join(f"{ledger.load} {ledger.taken}" for ledger in run.ledgers)
        places = run.world.places([queue for load in run.loads for queue in load.queues])
        return [Finding("stuck", f"items do not flow again {PATIENCE:.0f} s after the fault: taken {stuck}; {places}")]
    return []


def settled(run: Run) -> list[Finding]:
    """Nothing is offered any more. Every item in Redis has to be delivered."""
    queues = [queue for load in run.loads for queue in load.queues]

    def is_settled() -> bool:
        return run.look() and not run.world.due_or_ready(queues) and all(load.is_idle for load in run.loads)

    try:
        eventually(is_settled)
    except AssertionError:
        return [Finding("late", f"{run.world.due_or_ready(queues)} items did not come within {PATIENCE:.0f} s")]
    return []


def _left_nothing_behind(world: World) -> list[Finding]:
    """A client that was closed has no connection, no subscription and no thread."""
    found = []
    checks: list[tuple[str, Callable[[], object]]] = [
        ("connections", world.connections),
        ("subscriptions", world.subscriptions),
        ("threads", lambda: sum(thread.name.startswith("redisson_dq-") for thread in threading.enumerate())),
    ]
    for what, count in checks:
        try:
            eventually(lambda: not count(), within=5)  # noqa: B023
        except AssertionError:
            found.append(Finding("leak", f"{count()} {what} left behind by closed clients"))
    return found
