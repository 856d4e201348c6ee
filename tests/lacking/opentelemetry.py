"""Stands in the way of OpenTelemetry in the processes that tests start.

redis-py imports the whole of its SDK when it is there, which is a fifth of the start of a worker. Most services have
none.
"""

raise ImportError("the processes of tests start without OpenTelemetry")
