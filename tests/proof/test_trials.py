"""The trials find nothing in the library as it is, and the line of each safeguard exists."""

from __future__ import annotations

import random

import pytest

from tests.faults.world import World
from tests.mutations import ROOT
from tests.proof.ablations import ABLATIONS, Ablation
from tests.proof.trials import Stage, staged, trial


# The others wait for seconds: python -m tests.proof all.
def test_a_trial_finds_nothing() -> None:
    assert not trial("departures", seed=1)


def test_an_item_that_waits_in_the_end_is_late_and_not_lost() -> None:
    def nobody_takes(stage: Stage, rng: random.Random) -> None:
        _, delayed = stage.client(stage.world.server.url)
        assert not stage.offer(delayed, 0.0, patience=0)

    with World() as world:
        world.record(trial="standing")
        assert [finding.kind for finding in staged(nobody_takes, world, 1, within=0).findings] == ["late"]


@pytest.mark.parametrize("ablation", ABLATIONS, ids=lambda ablation: ablation.safeguard)
def test_a_safeguard_is_one_line(ablation: Ablation) -> None:
    assert (ROOT / ablation.path).read_text("utf-8").count(ablation.line) == 1
