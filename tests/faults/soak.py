"""Clients that survive one fault after the other: every item is counted, and no resource of theirs may grow."""

from __future__ import annotations

import gc
import random
import statistics
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.all_loads import LOADS
from tests.faults.kit import BY_NAME, FAULTS
from tests.faults.ledger import Finding, Ledger
from tests.faults.run import Fault, Result, Run, gone_on, judged, settled
from tests.faults.world import NamedWorld, World

__all__ = ["soak"]

_LOADS = ("threads", "asyncio", "lean", "partitions", "listeners", "pipelines", "recurring", "leases")

# Faults after which everything is restored, on a server that keeps running.
_FAULTS = (
    *(name for name in FAULTS if name.startswith(("cut", "delay", "freeze", "kill-"))),
    *("refuse", "pause-all", "read-only", "flush-scripts", "stop", "busy", "kill9-always"),
    # Clients learn from slow phases, so these are more frequent than others.
    *("slow", "throttled") * 4,
)

# The seconds between failovers, password changes and shortages, and the connections that each client may make then.
_FAULTS_BY_NAME = ("name-turns", "name-turns", "password-changes", "no-threads", "no-descriptors")
# A cancelled receive closes its connection, so loads that constantly cancel receives are left out.
_LOADS_BY_NAME = tuple(name for name in BY_NAME if name != "asyncioleases")
_BETWEEN = (12.0, 24.0)
_MOST_CONNECTIONS = 1.0

# With more items than this its consumers are behind, and a load offers nothing for some seconds.
_BEHIND, _REST = 300, 5.0

# Seconds after which a taken item is forgotten, so that the ledger does not grow.
_FORGET = 10.0
_MOST_MEMORY = 1.15
_MOST_MORE = 3
# Minutes after which growth is a finding. Before that, pools still fill: each fault leads to more concurrent calls.
_LONG = 5.0


@dataclass(frozen=True)
class _Sample:
    """The resources of the clients at a quiet moment."""

    memory: float
    threads: int
    connections: int
    subscriptions: int


def soak(minutes: float, seed: int, *, by_name: bool = False) -> Result:
    """Runs for ``minutes``. The seed decides on the faults and their order.

    ``by_name``: failovers behind one name, password changes, and shortages of threads and sockets. No client may
    connect often meanwhile.
    """
    names, faults = (_LOADS_BY_NAME, _FAULTS_BY_NAME) if by_name else (_LOADS, _FAULTS)
    began, rng = time.monotonic(), random.Random(seed)
    samples: list[_Sample] = []
    findings: list[Finding] = []
    came = rests = 0
    with NamedWorld() if by_name else World(config={"appendfsync": "always"}) as world:
        world.record(fault="soak", loads="+".join(names), seed=seed)
        ledgers = [Ledger(name, LOADS[name].rules) for name in names]
        loads = [LOADS[name](name, world, ledger, seed) for name, ledger in zip(names, ledgers, strict=True)]
        run = Run(Fault("soak", lambda run: None, config={"appendfsync": "always"}), world, loads, seed)
        try:
            for load in loads:
                load.start()
            run.go_on()
            connected = world.connected
            while time.monotonic() - began < 60 * minutes and not findings and world.alive:
                FAULTS[rng.choice(faults)].do(run)
                came += 1
                if by_name:
                    run.pause(*_BETWEEN)
                findings += gone_on(run)
                for load, ledger in zip(loads, ledgers, strict=True):
                    if world.due_or_ready(load.queues) > _BEHIND:
                        load.rests_until = time.monotonic() + _REST
                        rests += 1
                    ledger.forget(time.time() - _FORGET)
                samples.append(_sample(world))
            for load in loads:
                load.stop_offering()
            findings += settled(run)
            if by_name:
                rate = (world.connected - connected) / len(loads) / (time.monotonic() - began)
                print(f"soak: {rate:.2f} connections a second of each client")
                if rate > _MOST_CONNECTIONS:
                    findings.append(Finding("storm", f"{rate:.2f} connections a second of each client"))
        finally:
            for load in loads:
                load.close()
        verdicts, more = judged(world, loads)
        findings += [*more, *(_grown(samples) if minutes >= _LONG else [])]
    print(f"soak: {came} faults, {rests} rests of loads whose consumers were behind")
    print("second and last third of the samples:")
    for name in _Sample.__dataclass_fields__:
        before, last = _thirds([float(getattr(sample, name)) for sample in samples])
        print(f"  {name}: {before:,.1f} and {last:,.1f}")
    refused = {load.name: load.refused for load in loads}
    worst = max(load.worst_wait for load in loads)
    return Result(
        "soak-by-name" if by_name else "soak",
        seed,
        verdicts,
        findings,
        refused,
        worst,
        time.monotonic() - began,
        minutes,
    )


def _sample(world: World) -> _Sample:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    threads = sum(thread.name.startswith("redisson_dq-") for thread in threading.enumerate())
    channels = world.admin.pubsub_channels()
    subscriptions = sum(count for _, count in world.admin.pubsub_numsub(*channels)) if channels else 0
    return _Sample(pages * 4096 / 1e6, threads, world.connections(), subscriptions)


def _thirds(numbers: list[float]) -> tuple[float, float]:
    """The medians of the second and the last third. In the first one caches fill, and servers and pools start."""
    third = max(1, len(numbers) // 3)
    return statistics.median(numbers[-2 * third : -third] or numbers), statistics.median(numbers[-third:])


def _grown(samples: list[_Sample]) -> list[Finding]:
    found = []
    for name in _Sample.__dataclass_fields__:
        before, last = _thirds([float(getattr(sample, name)) for sample in samples])
        most = before * _MOST_MEMORY if name == "memory" else before + _MOST_MORE
        if last > most:
            found.append(Finding("grows", f"{name} from {before:,.1f} to {last:,.1f}"))
    return found
