"""Finds out why nothing arrives: checks of servers, queues, values and clients, each with a stable id.

:func:`diagnose` runs the checks with a client and returns a :class:`Report`. It changes nothing in Redis. A check is
one function, listed in the table of ``checks.py``. Checks of servers are in ``server.py``, ``rights.py``,
``replication.py`` and ``timing.py``, checks of queues in ``flow.py``, ``consumers.py``, ``entries.py`` and
``values.py``, and checks of clients in ``fleet.py``. ``sight.py`` reads the facts that several checks need, each once.
Nothing here prints or depends on the command line.
"""

from redisson_dq.doctor.checks import CHECKS, Check, diagnose
from redisson_dq.doctor.findings import Finding, Report, Result, Severity, Status, ValueText

__all__ = ["CHECKS", "Check", "Finding", "ValueText", "Report", "Result", "Severity", "Status", "diagnose"]
