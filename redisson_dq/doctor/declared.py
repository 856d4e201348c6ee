"""Imports the module that declares the classes of values."""

from __future__ import annotations

import sys
from importlib import import_module, util
from pathlib import Path

from redisson_dq._texts import described
from redisson_dq.errors import ArgumentError

__all__ = ["import_classes"]


def import_classes(name: str) -> None:
    """Imports a module, or a ``.py`` file. Its declarations hold from then on. Raises ArgumentError."""
    try:
        if not name.endswith(".py"):
            import_module(name)
            return
        path = Path(name)
        spec = util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ArgumentError(f"{name!r} is no Python file")
        module = util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    except ArgumentError:
        raise
    except Exception as error:
        raise ArgumentError(f"the classes in {name!r} cannot be imported: {described(error)}") from error
