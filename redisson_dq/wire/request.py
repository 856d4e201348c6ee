"""One exchange with Redis, described and not yet sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, Union

import attrs

from ..scripts.script import Script

__all__ = ["Request", "Word"]

T = TypeVar("T")
U = TypeVar("U")
Word = Union[str, bytes, int]


@attrs.frozen(kw_only=True)
class Request(Generic[T]):
    """A command or a script call.

    ``words`` are the command's words; of a script call, those after the script (number of keys, keys,
    arguments). ``types`` maps each key to the Redis type it has to have; the first one routes the request.
    ``parse`` turns the reply into the result. A reply whose values exist nowhere else any more names in ``keep_in``
    the list that those go to which cannot be decoded (a DecodeError of ``parse``).
    """

    words: tuple[Word, ...]
    types: dict[str, str]
    parse: Callable[[Any], T]
    script: Script | None = None
    keep_in: str | None = None

    def then(self, convert: Callable[[T], U], *, keep_in: str | None = None) -> Request[U]:
        """The same exchange with its result converted."""
        parse = self.parse
        return Request(
            words=self.words,
            types=self.types,
            parse=lambda reply: convert(parse(reply)),
            script=self.script,
            keep_in=keep_in or self.keep_in,
        )

    @property
    def key(self) -> str:
        """The key that decides which node of a cluster gets the request."""
        return next(iter(self.types))
