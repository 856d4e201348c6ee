"""Decisions of a worker, without I/O: which handler, when again, which next step. Time and chance are arguments.

Code that asks Redis, starts a thread or a task, or reads a clock belongs in ``_async/worker/``.
"""
