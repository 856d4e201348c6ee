"""Loads the worker named by ``package.module:name``."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Union, cast

from redisson_dq._common.texts import nearest, shown
from redisson_dq.cli.frame import say
from redisson_dq.errors import RedissonDQError
from redisson_dq.working.settings import is_importing

__all__ = ["AnyWorker", "LoadError", "OwnCodeError", "load"]

if TYPE_CHECKING:
    import redisson_dq.aio.worker
    import redisson_dq.worker

    AnyWorker = Union[redisson_dq.worker.Worker, redisson_dq.aio.worker.Worker]
else:
    AnyWorker = Any

# The user's module has imported the flavour that it needs, and the other one would cost time and memory.
_FLAVOURS = ("redisson_dq.worker", "redisson_dq.aio.worker")

# Where this package is.
_PACKAGE = str(Path(__file__).resolve().parents[2])

# How many of the user's innermost calls are shown.
_MOST_CALLS = 5


class LoadError(RedissonDQError):
    """The worker cannot be loaded."""


class OwnCodeError(LoadError):
    """The user's module, or the function that makes the worker, raised an exception."""

    #: Of the command.
    exit_code = 70


def load(target: str, url: str | None, redisson_config: str | None = None) -> AnyWorker:
    """Imports the module, also from the current directory, and returns its worker.

    ``url`` or a file of Redisson's settings replaces the worker's own server.

    Raises LoadError. If the user's code raised, the user's part of the traceback is printed on standard error.
    """
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    module_name, name = _parts(target)
    found: Any = _imported(target, module_name)
    for part in (name or "worker").split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise LoadError(_without(target, module_name, name or "worker", found)) from None
    if callable(found) and not _is_worker(found):
        found = _guarded(f"{target!r} cannot be called", found)
    if not _is_worker(found):
        raise LoadError(f"{target!r} is {shown(found)}, and no Worker of redisson_dq.worker or redisson_dq.aio.worker")
    worker = cast(AnyWorker, found)
    if not worker.handlers:
        raise LoadError(f"{target!r} has no handlers: import the modules that declare them in {module_name!r}")
    if url is not None:
        worker.set_url(url)
    if redisson_config is not None:
        worker.set_redisson_config(redisson_config)
    return worker


def _parts(target: str) -> tuple[str, str]:
    """The module and the name in it. Raises LoadError for a file, and for anything else."""
    module, _, name = target.partition(":")
    if module.endswith(".py") or "/" in module or os.sep in module:
        path = os.path.relpath(module).removesuffix(".py")
        instead = f"{path.replace(os.sep, '.')}:{name or 'worker'}"
        if path.startswith(os.pardir):
            folder, file = os.path.split(path)
            instead = f"{file}:{name or 'worker'} in the directory {folder}"
        raise LoadError(f"{target!r} is a file, but a worker is named by its module: use {instead}")
    if not module or not all(part.isidentifier() for part in module.split(".")):
        raise LoadError(f"{target!r} names no worker: use package.module:worker")
    return module, name


def _imported(target: str, name: str) -> ModuleType:
    def run() -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # A module that is missing inside the user's module is an error of that module.
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise LoadError(_nowhere(target, error.name)) from None

    return cast(ModuleType, _guarded(f"{name!r} cannot be imported", run))


def _nowhere(target: str, missing: str) -> str:
    package, _, name = missing.rpartition(".")
    if hasattr(sys.modules.get(package), name):
        return f"{target!r}: {package!r} is a module; did you mean {package}:{name}?"
    places = getattr(sys.modules.get(package), "__path__", None) if package else [os.getcwd()]
    known = [each.name for each in pkgutil.iter_modules(places)] if places else []
    meant = nearest(name, known)
    question = f"; did you mean {f'{package}.' if package else ''}{meant}?" if meant else ""
    return f"{target!r}: there is no module {missing!r}, here ({os.getcwd()}) or installed{question}"


def _without(target: str, module: str, name: str, place: object) -> str:
    workers = [each for each, value in vars(place).items() if _is_worker(value)] if hasattr(place, "__dict__") else []
    meant = nearest(name, workers) or (workers[0] if len(workers) == 1 else None)
    question = f"; did you mean {module}:{meant}?" if meant else ""
    return f"{target!r}: {module!r} has no {name!r}{question}"


def _is_worker(found: object) -> bool:
    modules = [sys.modules[name] for name in _FLAVOURS if name in sys.modules]
    return any(isinstance(found, module.Worker) for module in modules)


def _guarded(what: str, call: Callable[[], Any]) -> Any:
    token = is_importing.set(True)
    try:
        return call()
    except LoadError:
        raise
    except (Exception, SystemExit) as error:
        # A module that calls sys.exit() would end this program, with a code of another meaning.
        _print_own_part(error)
        raise OwnCodeError(f"{what}: {type(error).__name__}: {error}") from error
    finally:
        is_importing.reset(token)


def _print_own_part(error: BaseException) -> None:
    """Prints the traceback without the calls of this package and of Python's import."""
    own = [
        call
        for call in traceback.extract_tb(error.__traceback__)
        if not call.filename.startswith("<frozen ") and not os.path.abspath(call.filename).startswith(_PACKAGE + os.sep)
    ]
    own = [call for call in own if "importlib" not in call.filename.split(os.sep)]
    lines = traceback.format_list(own[-_MOST_CALLS:])
    left_out = [f"  ({len(own) - _MOST_CALLS} calls before)\n"] if len(own) > _MOST_CALLS else []
    told = traceback.format_exception_only(type(error), error)
    say(
        "".join(("Traceback (most recent call last):\n", *left_out, *lines, *told)).rstrip("\n"), error=True, lines=True
    )
