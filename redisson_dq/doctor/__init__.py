"""Finds out why nothing arrives: checks of servers, queues, values and clients, each with a stable id.

:func:`diagnose` runs the checks over a client and gives a :class:`Report`. It changes nothing in Redis. A check is one
function, and is in the table of ``checks.py``. Those of servers are in ``server.py``, ``rights.py``,
``replication.py`` and ``timing.py``, those of queues in ``flow.py``, ``consumers.py``, ``entries.py`` and
``values.py``, those of clients in ``fleet.py``. The facts that several checks read are asked for once, in
``sight.py``. Nothing here prints or knows a command line.
"""

from redisson_dq.doctor.checks import CHECKS, Check, diagnose
from redisson_dq.doctor.findings import Finding, Report, Result, Severity, Status, ValueText

__all__ = ["CHECKS", "Check", "Finding", "ValueText", "Report", "Result", "Severity", "Status", "diagnose"]
