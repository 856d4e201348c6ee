"""The command line: ``redisson-dq COMMAND``. ``main`` is its entry point."""

from ._main import main

__all__ = ["main"]
