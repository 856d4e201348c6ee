"""Finds the worker that ``package.module:name`` stands for."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union, cast

from redisson_dq.errors import RedissonDQError
from redisson_dq.working.importing import is_importing

__all__ = ["AnyWorker", "LoadError", "load"]

if TYPE_CHECKING:
    import redisson_dq.aio.worker
    import redisson_dq.worker

    AnyWorker = Union[redisson_dq.worker.Worker, redisson_dq.aio.worker.Worker]
else:
    AnyWorker = Any

# The user's module has imported the flavour that it needs, and the other one would cost time and memory.
_FLAVOURS = ("redisson_dq.worker", "redisson_dq.aio.worker")


class LoadError(RedissonDQError):
    """The worker cannot be loaded."""


def load(target: str, url: str | None) -> AnyWorker:
    """Imports the module, from the current directory too, and gives its worker. ``url`` replaces the worker's own.

    Raises LoadError. The traceback of what the module raised is on standard error.
    """
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    module_name, _, name = target.partition(":")
    if not module_name or module_name.startswith("."):
        raise LoadError(f"{target!r} names no worker: say package.module:worker")
    found: Any = _guarded(f"{module_name!r} cannot be imported", lambda: importlib.import_module(module_name))
    for part in (name or "worker").split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise LoadError(f"{target!r}: {module_name!r} has no {name or 'worker'!r}") from None
    if callable(found) and not _is_worker(found):
        found = _guarded(f"{target!r} cannot be called", found)
    if not _is_worker(found):
        raise LoadError(f"{target!r} is {found!r}, and no Worker of redisson_dq.worker or redisson_dq.aio.worker")
    worker = cast(AnyWorker, found)
    if not worker.handlers:
        raise LoadError(f"{target!r} has no handlers: import the modules that declare them in {module_name!r}")
    if url is not None:
        worker.set_url(url)
    return worker


def _is_worker(found: object) -> bool:
    modules = [sys.modules[name] for name in _FLAVOURS if name in sys.modules]
    return any(isinstance(found, module.Worker) for module in modules)


def _guarded(what: str, call: Callable[[], Any]) -> Any:
    token = is_importing.set(True)
    try:
        return call()
    except (Exception, SystemExit) as error:
        # A module that ends the program would end this one, with a code that says something else.
        traceback.print_exc()
        raise LoadError(f"{what}: {type(error).__name__}: {error}") from error
    finally:
        is_importing.reset(token)
