"""A world determined by a seed: the library's asyncio flavour as it ships, and a real Redis, in simulated time.

- ``loop``: an event loop whose time jumps to the next event, with connections that are numbers and delays
- ``server``: a real Redis, whose clock and chance are given to it, one command at a time
- ``steps``: what happens in a world, chosen by its seed: calls and faults
- ``world``: plays the steps, writes the history, and has it judged
- ``search``: many seeds, each in a process of its own; a failing one is reduced to a few steps

This folder knows nothing about the promises of the queue. ``tests/proof/checker.py`` does.
"""
