"""The command line: ``redisson-dq COMMAND``, a module or a folder for each command. ``main`` is its entry point.

A command uses the public handles, as a user's program does. Nothing else imports from here.
"""

from redisson_dq.cli._main import main

__all__ = ["main"]
