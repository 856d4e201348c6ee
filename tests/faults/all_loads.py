"""Every kind of load."""

from __future__ import annotations

from tests.faults import lease_loads, process_loads
from tests.faults.loads import LOADS, Load

__all__ = ["LOADS", "Load", "lease_loads", "process_loads"]
