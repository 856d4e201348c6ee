"""The delivery, which is a lease for its holder, and the renewal of leases.

The calls that receive are in ``queues/``. When a value that failed comes again is decided in ``working/``.
"""
