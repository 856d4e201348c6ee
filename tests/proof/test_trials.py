"""The trials find nothing in the library as it is, and each safeguard that they are for is where it is said to be."""

from __future__ import annotations

import pytest

from tests.conftest import by_night
from tests.mutations import ROOT
from tests.proof.ablations import ABLATIONS, Ablation
from tests.proof.trials import STAGED, trial


# By day one of them: they wait for seconds.
@pytest.mark.parametrize("name", [name if name == "departures" else by_night(name) for name in STAGED])
def test_a_trial_finds_nothing(name: str) -> None:
    assert not trial(name, seed=1)


@pytest.mark.parametrize("ablation", ABLATIONS, ids=lambda ablation: ablation.safeguard)
def test_a_safeguard_is_one_line(ablation: Ablation) -> None:
    assert (ROOT / ablation.path).read_text("utf-8").count(ablation.line) == 1
