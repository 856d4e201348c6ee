"""The worker: fetches values, runs the handlers of the user's, and ends the leases by their outcomes.

``working/`` decides which handler, when again, which next step. The processes of ``redisson-dq worker`` are in
``cli/``.
"""
