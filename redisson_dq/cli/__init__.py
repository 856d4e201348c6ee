"""The command line: ``redisson-dq COMMAND``, a module or a folder for each command. ``main`` runs one.

A command uses the public handles, as a user's program does. Only the program's entry point imports from here:
``redisson_dq/__main__.py``, which handles Ctrl-C before anything is imported here.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redisson_dq.cli._main import main
else:
    from redisson_dq._common.lazy import lazily

    __getattr__, __dir__ = lazily(__name__, {"_main": ("main",)})

__all__ = ["main"]
