"""Every kind of load."""

from __future__ import annotations

from tests.faults import extra_loads, lease_loads, process_loads
from tests.faults.loads import LOADS, Load

__all__ = ["LOADS", "Load", "extra_loads", "lease_loads", "process_loads"]
