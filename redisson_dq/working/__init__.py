"""Decisions of a worker, without I/O: which handler gets a value, and when a value is retried. Times and random numbers
are arguments.

Code that asks Redis, starts a thread or a task, or reads a clock belongs in ``_async/worker/``.
"""
