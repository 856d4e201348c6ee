"""The command line: ``redisson-dq COMMAND``. ``main`` is its entry point."""

from redisson_dq.cli._main import main

__all__ = ["main"]
