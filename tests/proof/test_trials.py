"""The trials find nothing in the library as it is, and each safeguard that they are for is where it is said to be."""

from __future__ import annotations

import pytest

from tests.mutations import ROOT
from tests.proof.ablations import ABLATIONS, Ablation
from tests.proof.trials import trial


# The others wait for seconds: python -m tests.proof all.
def test_a_trial_finds_nothing() -> None:
    assert not trial("departures", seed=1)


@pytest.mark.parametrize("ablation", ABLATIONS, ids=lambda ablation: ablation.safeguard)
def test_a_safeguard_is_one_line(ablation: Ablation) -> None:
    assert (ROOT / ablation.path).read_text("utf-8").count(ablation.line) == 1
