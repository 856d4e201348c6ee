"""One seed is one world, and no world has found a defect that is still there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import by_night
from tests.proof.simulated.search import Worlds, shrunk
from tests.proof.simulated.steps import Plan, Step
from tests.proof.simulated.world import Outcome

# What worlds have found, reduced to a few steps.
_FOUND = [
    # An item with an id, ready for more than a day, could not be rescheduled any more.
    Plan(
        9,
        2,
        (
            Step(443889028, 1, "offer", (10, 0, True)),
            Step(676092909, 0, "offer", (0, 0, True)),
            Step(781813807, 1, "offer", (9, 259, True)),
            Step(890283242, 0, "reschedule", (9, 0)),
        ),
        is_long=True,
    ),
]


@pytest.mark.parametrize("runs", [5, by_night(100)])
def test_the_same_seed_is_the_same_world(runs: int) -> None:
    command = [sys.executable, "-m", "tests.proof", "world", "--seed=1", f"--runs={runs}", "--times=2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_worlds_have_found_is_gone() -> None:
    with Worlds() as worlds:
        for plan in _FOUND:
            assert not worlds.play(plan).findings


def test_a_plan_is_reduced_to_the_steps_that_matter() -> None:
    steps = tuple(Step(number, 0, "offer", (number, 0, False)) for number in range(40))

    def play(plan: Plan) -> Outcome:
        needed = {steps[7], steps[31]} <= set(plan.steps)
        return Outcome("", ("lost: item 7",) if needed else (), 0, 0, 0.0, "")

    assert shrunk(Plan(1, 1, steps), play).steps == (steps[7], steps[31])
