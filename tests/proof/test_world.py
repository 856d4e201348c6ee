"""One seed is one world, and no world has found a defect that is still there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.proof.simulated.search import Worlds, shrunk
from tests.proof.simulated.steps import Plan, Step, kept, planned, plans
from tests.proof.simulated.world import Outcome


def test_the_same_seed_is_the_same_world() -> None:
    command = [sys.executable, "-m", "tests.proof", "world", "--seed=1", "--runs=2", "--times=2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_worlds_have_found_is_gone() -> None:
    found = plans()
    assert found
    with Worlds() as worlds:
        for name, plan in found.items():
            assert not worlds.play(plan).findings, name


def test_a_plan_that_is_kept_is_the_same_plan(tmp_path: Path) -> None:
    plan = planned(9)
    assert plans(tmp_path) == {}
    kept(plan, "lost: item 7", tmp_path)
    assert plans(tmp_path) == {"9.json": plan}


def test_a_plan_is_reduced_to_the_steps_that_matter() -> None:
    steps = tuple(Step(number, 0, "offer", (number, 0, False)) for number in range(40))

    def play(plan: Plan) -> Outcome:
        needed = {steps[7], steps[31]} <= set(plan.steps)
        return Outcome("", ("lost: item 7",) if needed else (), 0, 0, 0.0, "")

    assert shrunk(Plan(1, 1, steps), play).steps == (steps[7], steps[31])
