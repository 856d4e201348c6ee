"""The outcomes of a handling: an error of each value, or None for a value that is done."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from redisson_dq._common.texts import described, shown
from redisson_dq.working.retries import Backoff

__all__ = ["DONE", "Outcomes", "check_nothing_left", "done_first", "outcome_of", "outcomes_of"]

#: In the order of the values.
Outcomes = Sequence["BaseException | None"]

#: One value, which is done.
DONE: Final[Outcomes] = (None,)


# A handler that returns one of these has not run it, or not read it.
_NOT_RUN = (
    *(types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial),
    *(map, filter, zip, Backoff),
)


def outcome_of(result: Any) -> Outcomes:
    """The result of a handler of single values: an exception, or its class, counts as if it was raised.

    So no value is acked that its handler wanted to be delivered again. Other results are ignored, except those that
    show that the work has not been done.
    """
    if result is None:
        return DONE
    error = _error_of(result)
    if error is None and isinstance(result, (list, tuple, set, frozenset, Mapping)):
        parts = result.values() if isinstance(result, Mapping) else result
        if any(_error_of(each) is not None for each in parts):
            error = TypeError(
                f"the handler of one value returned {shown(result)}, which has an exception in it: raise it"
            )
    if error is None:
        check_nothing_left(result)
        return DONE
    return (error,)


def check_nothing_left(result: Any) -> None:
    """Raises TypeError for a result that shows that work is left to be done, or goes on."""
    if isinstance(result, _NOT_RUN) or result is NotImplemented:
        raise TypeError(f"the call returned {shown(result)}, which was not called: its value is not handled")
    if _is_undone_block(result):
        raise TypeError(
            f"the call returned {shown(result)}, which nobody enters: use it in a with, or take the decorator away"
        )
    if isinstance(result, threading.Thread) and result.ident is None:
        raise TypeError(f"the call returned {shown(result)}, which was not started, and nobody waits for it")
    if hasattr(result, "add_done_callback"):
        raise TypeError(f"the call returned {shown(result)}, and nobody waits for it; return its result()")
    if isinstance(result, (list, tuple, set, frozenset, Mapping)):
        _check_parts(result, list(result.values() if isinstance(result, Mapping) else result))


def _check_parts(result: Any, parts: Sequence[Any]) -> None:
    coroutines = [each for each in parts if inspect.iscoroutine(each)]
    for each in coroutines:
        each.close()
    left = [each for each in parts if _is_undone_block(each) or (hasattr(each, "add_done_callback") and _goes_on(each))]
    for part in (*coroutines, *left):
        raise TypeError(
            f"the call returned {shown(result)}, and nobody waits for {shown(part)} in it; await them, as with "
            "asyncio.gather(*them)"
        )


def _goes_on(future: Any) -> bool:
    done = getattr(future, "done", None)
    return callable(done) and not done()


def _is_undone_block(result: Any) -> bool:
    """Whether a function with ``@contextmanager`` returned it: nothing of that runs before a ``with``."""
    return isinstance(result, (contextlib.AbstractContextManager, contextlib.AbstractAsyncContextManager)) and hasattr(
        result, "gen"
    )


def _error_of(result: Any) -> BaseException | None:
    if isinstance(result, type) and issubclass(result, BaseException):
        try:
            return result()
        except BaseException as error:
            return TypeError(f"the handler returned {result.__qualname__}, which cannot be raised: {described(error)}")
    return result if isinstance(result, BaseException) else None


def outcomes_of(result: Any, count: int) -> Outcomes:
    """The results of a batch handler: nothing for all done, or None or an exception for each value.

    One exception is the outcome of all, as if it was raised.
    """
    error = _error_of(result)
    if result is None or error is not None:
        return [error] * count
    if not isinstance(result, (list, tuple)) or len(result) != count:
        error = TypeError(f"a batch handler gives None, or a list of {count} outcomes, not {shown(result)}")
        return [error] * count
    return [
        None
        if each is None
        else _error_of(each) or TypeError(f"an outcome of a batch must be None or an exception, not {shown(each)}")
        for each in result
    ]


def done_first(outcomes: Outcomes) -> Iterable[int]:
    """The places of the values. Those that are done come first: they wait for no ``on_failed``."""
    places = range(len(outcomes))
    return places if len(outcomes) == 1 else sorted(places, key=lambda place: outcomes[place] is not None)
