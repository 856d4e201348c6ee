"""The delivery, which is a lease for its holder, and the renewal of leases.

The calls that receive are in ``queues/``. ``working/`` decides when a value that failed is delivered again.
"""
