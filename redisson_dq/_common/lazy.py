"""Imports parts of a package on first use, so that a program loads no part that it does not use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, homes: Mapping[str, Iterable[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a package whose names come from its modules.

    ``homes`` maps each module to its names. A module without names is itself one of the package's names.
    """
    home_of = {name: module for module, names in homes.items() for name in names}
    modules = {module for module, names in homes.items() if not names}

    def __getattr__(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            found = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        except RuntimeError as error:
            # Python's thread pools cannot be imported while the interpreter shuts down.
            if "after shutdown" not in str(error):
                raise
            raise RuntimeError(
                f"the interpreter is shutting down, and {package}.{name} was not used earlier: connect before, and "
                "only close clients in an atexit function"
            ) from error
        # From now on the name is an ordinary attribute.
        setattr(sys.modules[package], name, found)
        return found

    def __dir__() -> list[str]:
        found = vars(sys.modules[package])
        return sorted({*found["__all__"], *modules, *(name for name in found if name.startswith("__"))})

    return __getattr__, __dir__
