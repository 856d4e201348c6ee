"""The events of a world: calls and faults, chosen by its seed. A test only has to keep a list of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["FAULTS", "KEPT", "SERVER_FAULTS", "Plan", "Step", "kept", "planned", "plans"]

#: A file for each world that has found something, reduced to a few steps. Each is a test.
KEPT = Path(__file__).resolve().parents[1] / "worlds"


class Step(NamedTuple):
    """At ``at_ms`` the client with this number makes a call, or meets a fault. The server has the number -1."""

    at_ms: int
    client: int
    what: str
    args: tuple[Any, ...] = ()


class Plan(NamedTuple):
    """A world before it is played. ``seed`` also decides latencies and jitter."""

    seed: int
    clients: int
    steps: tuple[Step, ...]
    #: Whether periodic checks of the clients come once a day: for worlds of many days.
    is_long: bool = False


_CALLS = (*["offer"] * 3, *["receive"] * 3, "take", "cancel", "reschedule", "redrive", "again", "work")
#: Of one client, then of the server.
FAULTS = ("cut", "lose", "lose", "partition", "crash")
SERVER_FAULTS = ("slow", "power", "failover", "clock")


def kept(plan: Plan, found: str, folder: Path = KEPT) -> Path:
    """Writes a plan and what it has found into a file, which is a test from now on."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{plan.seed}.json"
    steps = ",\n".join(json.dumps([*step]) for step in plan.steps)
    head = json.dumps({"found": found, "seed": plan.seed, "clients": plan.clients, "is_long": plan.is_long})
    path.write_text(f'{head[:-1]}, "steps": [\n{steps}\n]}}\n')
    return path


def plans(folder: Path = KEPT) -> dict[str, Plan]:
    """The plans that were kept, by the names of their files."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        told = json.loads(path.read_text())
        steps = tuple(Step(at, client, what, tuple(args)) for at, client, what, args in told["steps"])
        found[path.name] = Plan(told["seed"], told["clients"], steps, told["is_long"])
    return found


def planned(seed: int) -> Plan:
    """The plan of a seed."""
    rng = random.Random(f"plan-{seed}")
    clients = rng.randint(2, 4)
    # Every tenth world lasts for weeks, the others for some seconds.
    is_long = seed % 10 == 9
    span_ms = 25 * 86_400_000 if is_long else rng.choice((5_000, 20_000, 60_000))
    faults = rng.sample((*FAULTS, *SERVER_FAULTS), rng.randint(0, 4))
    steps = []
    items = 0
    for _ in range(rng.randint(30, 90)):
        at_ms = rng.randrange(span_ms)
        what = rng.choice(faults) if faults and rng.random() < 0.12 else rng.choice(_CALLS)
        client = -1 if what in SERVER_FAULTS else rng.randrange(clients)
        if what == "offer":
            steps.append(Step(at_ms, client, what, (items, _delay(rng, span_ms), rng.random() < 0.6)))
            items += 1
        else:
            steps.append(Step(at_ms, client, what, _ARGS[what](rng, max(items, 1), span_ms)))
    return Plan(seed, clients, tuple(sorted(steps)), is_long)


def _delay(rng: random.Random, span_ms: int) -> int:
    return rng.choice((0, 0, rng.randint(1, 500), rng.randint(1, max(2, span_ms // 4))))


#: By name: the arguments, of a generator, how many items there are, and how long the world lasts in ms.
_ARGS: dict[str, Callable[[random.Random, int, int], tuple[Any, ...]]] = {
    # How many, how long it waits, how long the lease is, how long the work takes, and how it ends (all in ms).
    "receive": lambda rng, _, __: (
        *(rng.randint(1, 4), rng.choice((0, 500, 10_000, 40_000)), rng.choice((1_000, 5_000, 30_000))),
        *(rng.choice((0, 5, 300, 2_000)), rng.choice(("ack", "ack", "ack", "nack", "reject", "extend", "forget"))),
    ),
    # How long it waits, and after which time its caller is cancelled (0: never).
    "take": lambda rng, _, __: (rng.choice((0, 100, 5_000, 30_000)), rng.choice((0, 0, 1, 2, 3, 100, 4_000))),
    # For how long, the lease, how long the work takes (all in ms), and which handlings fail.
    "work": lambda rng, _, __: (
        *(rng.choice((500, 5_000, 20_000)), rng.choice((1_000, 5_000, 30_000))),
        *(rng.choice((0, 5, 300, 2_000)), rng.choice((2, 3, 1_000))),
    ),
    "cancel": lambda rng, items, _: (rng.randrange(items),),
    "reschedule": lambda rng, items, span: (rng.randrange(items), _delay(rng, span)),
    "redrive": lambda *_: (),
    # An offer that is made once more.
    "again": lambda rng, items, span: (rng.randrange(items), _delay(rng, span)),
    "cut": lambda *_: (),
    "lose": lambda *_: (),
    "crash": lambda *_: (),
    "partition": lambda rng, *_: (rng.choice((50, 900, 6_000, 20_000)),),
    "slow": lambda rng, *_: (rng.choice((20, 400, 3_000, 12_000)),),
    # For how long it is down. Nothing is lost: everything is on the disk before it is confirmed.
    "power": lambda rng, *_: (rng.choice((10, 700, 8_000)),),
    # The same, and what the last ms have brought is lost.
    "failover": lambda rng, *_: (rng.choice((10, 700, 8_000)), rng.choice((5, 200, 1_000))),
    "clock": lambda rng, *_: (rng.choice((-3_000, -40, 40, 3_000, 60_000)),),
}
