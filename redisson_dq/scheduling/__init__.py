"""When to transfer, where due entries are and when an item recurs: decisions without I/O, and the timer for them.

Time is an argument. Code that asks Redis belongs in ``_async/moving/``.
"""
