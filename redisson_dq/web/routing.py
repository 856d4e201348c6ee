"""One route, and one request for it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import anyio
import anyio.to_thread
import attrs
from starlette.requests import ClientDisconnect, Request

from redisson_dq.errors import ArgumentError
from redisson_dq.web.access import AccessRefused, Right, User
from redisson_dq.web.paths import Links, text_of

__all__ = ["NotFound", "PostedForm", "WebPage", "WebRequest"]

# The limits of bytes and fields of a form, and the size from which a form is parsed in a thread.
_MOST_BYTES, _MOST_FIELDS, _LARGE = 1_000_000, 2_000, 16_384


class NotFound(Exception):
    """There is no such thing, or it was not found so far: ``go_on`` is the address that continues the search.

    ``hint`` says what may have happened.
    """

    def __init__(self, text: str, *, go_on: str = "", hint: str = "") -> None:
        super().__init__(text)
        self.go_on, self.hint = go_on, hint


@attrs.frozen(kw_only=True)
class WebRequest:
    """One permitted request of a user. ``queue`` is the name in its path, None on pages about all queues.

    ``rights`` are the user's over that queue, or over all queues.
    """

    request: Request
    user: User
    rights: frozenset[Right]
    queue: str | None
    links: Links
    query: Mapping[str, str]
    is_open: bool = False

    def path(self, name: str) -> str:
        """A part of the path, decoded."""
        return text_of(self.request.path_params[name])

    def number(self, name: str) -> int | None:
        """A whole number in the query; None if it is absent. Raises ArgumentError."""
        text = self.query.get(name, "")
        if not text:
            return None
        if not re.fullmatch("-?[0-9]{1,18}", text):
            raise ArgumentError(f"{name}= must be a whole number, not {text[:100]!r}")
        return int(text)


@attrs.frozen
class PostedForm:
    """The fields of a form, in their order."""

    pairs: tuple[tuple[str, str], ...]

    #: How many seconds a form may take to arrive.
    patience: ClassVar[float] = 30.0

    @classmethod
    async def read(
        cls, request: Request, *, most_bytes: int = _MOST_BYTES, most_fields: int = _MOST_FIELDS
    ) -> PostedForm:
        """Raises AccessRefused for a form that is too large or does not end, or whose sender has left."""
        data = bytearray()
        try:
            with anyio.fail_after(cls.patience):
                async for part in request.stream():
                    data += part
                    if len(data) > most_bytes:
                        raise AccessRefused(413, "the form is too large")
        except TimeoutError:
            raise AccessRefused(408, "the form came too slowly") from None
        except ClientDisconnect:
            raise AccessRefused(400, "the form ended early") from None

        def parsed() -> list[tuple[str, str]]:
            return parse_qsl(data.decode(errors="replace"), keep_blank_values=True, max_num_fields=most_fields)

        try:
            return cls(tuple(parsed() if len(data) < _LARGE else await anyio.to_thread.run_sync(parsed)))
        except ValueError:
            raise AccessRefused(413, "the form has too many fields") from None

    def get(self, name: str) -> str:
        """The first field of that name, or an empty text."""
        return next((value for each, value in self.pairs if each == name), "")

    def all(self, name: str) -> tuple[str, ...]:
        """All fields of that name."""
        return tuple(value for each, value in self.pairs if each == name)


@attrs.frozen(kw_only=True)
class WebPage:
    """One route: its path, the right that it needs, its template and its function.

    The function gets the dashboard and the request, and returns a view-model or a response. A path with ``{queue}``
    requires the right to that queue. ``right`` is None for a page that checks the rights itself, and ``is_open`` marks
    a page without a user: the login.
    """

    path: str
    right: Right | None
    answer: Callable[[Any, WebRequest], Awaitable[Any]]
    template: str = ""
    methods: tuple[str, ...] = ("GET",)
    is_open: bool = False
