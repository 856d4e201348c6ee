"""The suite's short form: one run of each kind of fault. ``python -m tests.faults`` runs them all, and for longer."""

from __future__ import annotations

import pytest

from tests.conftest import by_night
from tests.faults.kit import FAULTS
from tests.faults.run import run

# Faults, and the loads that meet them. Each load meets a fault, and each kind of fault a load.
_RUNS = {
    "cut": ("asyncio", "partitions", "listeners"),
    "cut-pop": ("threads", "recurring", "asynciolisteners"),
    "delay-pop": ("threads", "immediate"),
    "freeze-batch": ("asynciopartitions", "threads"),
    "kill-normal": ("threads", "asyncio"),
    "kill-pubsub": ("recurring", "lean"),
    "flush-scripts": ("pipelines", "recurring", "partitions"),
    "flush-all": ("listeners", "immediate"),
    "kill9-always": ("threads", "asyncio", "leases"),
    "cut-script": ("lean", "pipelines", "asyncioleases"),
    "kill-process": ("leaseprocesses",),
    "nothing": ("signals", "forks"),
    "slow": ("threads", "leases"),
    "kill-id": ("java", "leasepartitions"),
}


@pytest.mark.parametrize("times", [1, by_night(2)])
@pytest.mark.parametrize("fault", _RUNS)
def test_every_item_is_accounted_for(fault: str, times: int) -> None:
    result = run(FAULTS[fault], _RUNS[fault], seed=1, times=times)
    assert not result.all_findings, str(result)
    assert all(verdict.counts["taken"] for verdict in result.verdicts.values())
