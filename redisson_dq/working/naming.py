"""Names of functions and classes that are the same in every process, however it was started."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

__all__ = ["full_name"]

# The names of the module that Python was started with, and of its copy in a process of multiprocessing.
_STARTED = ("__main__", "__mp_main__")


def full_name(named: Any) -> str:
    """The module and the name of a function or a class, as an import of the module would give them."""
    module = named.__module__
    return f"{_imported_name(module) if module in _STARTED else module}.{named.__qualname__}"


@functools.cache
def _imported_name(started: str) -> str:
    module = sys.modules.get(started)
    spec = getattr(module, "__spec__", None)
    if spec is not None and spec.name != started:
        # By python -m.
        return str(spec.name)
    file = getattr(module, "__file__", None)
    if file is None:
        # At a prompt, or by python -c.
        return "__main__"
    folder, script = os.path.split(os.path.abspath(file))
    names = [os.path.splitext(script)[0]]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        names.insert(0, package)
    return ".".join(names)
