"""``--classes``: files and modules of the user's that declare Java classes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["classes_option", "load_classes"]

_F = TypeVar("_F", bound=Callable[..., Any])


def classes_option(function: _F) -> _F:
    """``--classes``: the function gets the files and modules as the tuple ``classes``."""
    text = (
        "A Python file or module that declares Java classes, as from generate-classes. It is executed. May be repeated."
    )
    return click.option("--classes", metavar="FILE", multiple=True, help=text)(function)


def load_classes(names: tuple[str, ...]) -> None:
    """Runs files and imports modules that declare classes. Their declarations hold from then on.

    A name that ends with ``.py`` is a file. A module may be in the working directory. Raises click.UsageError.
    """
    import importlib.util

    for i, name in enumerate(names):
        path = Path(name).resolve()
        is_file = name.endswith(".py")
        if is_file and not path.is_file():
            raise click.UsageError(f"--classes {name}: there is no such Python file")
        try:
            if is_file:
                # No module that the program imports later may have this name.
                spec = importlib.util.spec_from_file_location(f"redisson_dq_classes_{i}_{path.stem}", path)
                assert spec is not None
                assert spec.loader is not None
                module = importlib.util.module_from_spec(spec)
                sys.modules[module.__name__] = module
                spec.loader.exec_module(module)
            else:
                if os.getcwd() not in sys.path:
                    sys.path.insert(0, os.getcwd())
                importlib.import_module(name)
        except (Exception, SystemExit) as error:  # a user's module may raise anything
            raise click.UsageError(f"--classes {name}: {type(error).__name__}: {error}") from error
