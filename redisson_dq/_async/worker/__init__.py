"""The worker: what fetches values, runs the handlers of the user's, and ends the leases by what came of it.

``working/`` decides which handler, when again, what next. The processes of ``redisson-dq worker`` are in ``cli/``.
"""
