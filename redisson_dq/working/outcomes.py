"""The outcomes of a handling: an error of each value, or None for a value that is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from redisson_dq._texts import shown

__all__ = ["DONE", "Outcomes", "done_first", "outcomes_of"]

#: In the order of the values.
Outcomes = Sequence["BaseException | None"]

#: One value, which is done.
DONE: Final[Outcomes] = (None,)


def outcomes_of(result: Any, count: int) -> Outcomes:
    """The results of a batch handler: nothing for all done, or None or an exception for each value."""
    if result is None:
        return [None] * count
    if not isinstance(result, (list, tuple)) or len(result) != count:
        error = TypeError(f"a batch handler gives None, or a list of {count} outcomes, not {shown(result)}")
        return [error] * count
    return [
        each
        if each is None or isinstance(each, BaseException)
        else TypeError(f"an outcome of a batch is None or an exception, not {shown(each)}")
        for each in result
    ]


def done_first(outcomes: Outcomes) -> Iterable[int]:
    """The places of the values. Those that are done come first: they wait for no ``on_failed``."""
    places = range(len(outcomes))
    return places if len(outcomes) == 1 else sorted(places, key=lambda place: outcomes[place] is not None)
