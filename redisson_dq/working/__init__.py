"""What a worker decides, without I/O: which handler, when again, what next. Time and chance are arguments.

What asks Redis, starts a thread or a task, or reads a clock belongs in ``_async/worker/``.
"""
