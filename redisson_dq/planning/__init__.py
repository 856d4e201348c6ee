"""How much Redis and how many processes a load needs: reckoned from measured constants, without I/O.

``constants.py`` is the only place of measured figures. ``memory.py`` reckons the bytes of entries, ``costs.py`` the
work and the traffic of an item. ``plan.py`` puts them together, and finds the first wall. Code that shows a plan
belongs to ``cli/``.
"""

from redisson_dq.planning.costs import call_cost
from redisson_dq.planning.load import Load, Machine
from redisson_dq.planning.memory import entry_bytes
from redisson_dq.planning.plan import LoadPlan, Memory, Wall, plan

__all__ = ["Load", "Machine", "Memory", "LoadPlan", "Wall", "call_cost", "entry_bytes", "plan"]
