"""Plays worlds, each in a process of its own, and reduces one with a finding to a few steps."""

from __future__ import annotations

import os
import pickle
import random
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.proof.history import keep
from tests.proof.simulated.server import built
from tests.proof.simulated.steps import Plan
from tests.proof.simulated.world import Outcome, played

__all__ = ["Worlds", "shrunk", "with_fixed_hashes"]

# Seconds of real time that a world may take.
_PATIENCE = 30


def with_fixed_hashes(arguments: Sequence[str]) -> None:
    """Begins again where the order of sets would be the machine's choice."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *arguments], {**os.environ, "PYTHONHASHSEED": "0"})


class Worlds:
    """Plays plans. A context manager."""

    def __enter__(self) -> Worlds:
        self._folder = tempfile.TemporaryDirectory(prefix="worlds-")
        self._shim = built(Path(self._folder.name))
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def play(self, plan: Plan) -> Outcome:
        """Plays a plan in a fork of this process, so that nothing is left of the world before. Keeps a bad history."""
        reads, writes = os.pipe()
        urandom = os.urandom
        # What the library draws when it was forked is drawn from the seed too.
        os.urandom = random._urandom = random.Random(f"chance-{plan.seed}").randbytes  # type: ignore[attr-defined]
        child = os.fork()
        if child:
            os.urandom = random._urandom = urandom  # type: ignore[attr-defined]
        else:
            os.setpgid(0, 0)
            try:
                os.write(writes, pickle.dumps(played(plan, self._shim)))
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writes)
        with open(reads, "rb") as pipe:
            came, _, _ = select.select([pipe], [], [], _PATIENCE)
            said = pipe.read() if came else b""
        if not said:
            # Its Redis is in its group.
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if not said:
            return Outcome("", (f"stuck: world {plan.seed} has no end, or has failed",), 0, 0, 0.0, "")
        outcome: Outcome = pickle.loads(said)
        if outcome.findings:
            keep(Path(outcome.history))
        return outcome


def shrunk(plan: Plan, play: Callable[[Plan], Outcome]) -> Plan:
    """A smaller plan with a finding of the same kind: no step of it can be left out."""
    kind = _kind(play(plan))
    size = len(plan.steps) // 2
    while size:
        at = 0
        while at < len(plan.steps):
            less = plan._replace(steps=plan.steps[:at] + plan.steps[at + size :])
            if kind and _kind(play(less)) == kind:
                plan = less
            else:
                at += size
        size //= 2
    return plan


def _kind(outcome: Outcome) -> str:
    return outcome.findings[0].partition(":")[0] if outcome.findings else ""
