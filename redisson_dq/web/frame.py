"""The frame of every page, pages of errors, and the templates."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import attrs
import jinja2
import markupsafe

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import safe, shell_word
from redisson_dq.admin.refusals import is_login_refused, serves_nobody
from redisson_dq.doctor import ValueText
from redisson_dq.errors import ArgumentError, RedisConnectionError, RedissonDQError, WrongTypeError
from redisson_dq.web.paths import segment_of
from redisson_dq.web.routing import NotFound
from redisson_dq.web.seeing import Seeing
from redisson_dq.web.times import in_words, span_in_words

__all__ = ["COLORS", "Site", "Trouble", "environment", "last_figures", "sentence", "trouble_of"]

#: The colours of the environment's badge. The style sheet has a class ``env-COLOR`` for each.
COLORS = ("gray", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")
_TEMPLATES = Path(__file__).parent / "templates"
# A page shows this many characters of a text. Values and tracebacks have their own limits.
_LONGEST = 1000
_WORD = re.compile("[a-z]+(?![^ ,])")


@attrs.frozen(kw_only=True)
class Site:
    """The frame of every page, which templates have as ``site``.

    ``name`` and ``color`` are the badge of the environment; ``name`` may be empty. ``where`` is the server without a
    password. ``user`` is the name of the user, empty where nobody logs in; ``can_log_out`` by a form to
    ``links.logout()``. ``rights`` are the user's rights here: over the queue on its pages, otherwise over all queues.
    ``form_token`` goes into each form as the hidden field ``token``. ``path`` and ``query`` belong to the page.
    ``now`` is the time of the dashboard's machine, for pages without a time from Redis.
    """

    name: str
    color: str
    where: str
    version: str
    user: str
    can_log_out: bool
    allow_writes: bool
    rights: frozenset[str]
    form_token: str
    path: str
    query: Mapping[str, str]
    now: datetime


@attrs.frozen(kw_only=True)
class Trouble:
    """The view of ``error.html``: the ``status``, a ``title``, a ``text``, and a ``hint`` that says what to do.

    ``is_away``: Redis cannot be reached, and the page is worth reloading. ``go_on`` is the address that continues a
    search.
    """

    status: int
    title: str
    text: str
    hint: str
    is_away: bool = False
    go_on: str = ""


def trouble_of(error: Exception, text: str) -> Trouble:
    """The page of an error, with the text that may be shown."""
    if isinstance(error, NotFound):
        return Trouble(status=404, title="Not found", text=text, hint=error.hint, go_on=error.go_on)
    if isinstance(error, ArgumentError):
        return Trouble(status=400, title="This request cannot be carried out", text=text, hint="")
    is_busy = isinstance(error, RedissonDQError) and serves_nobody(error)
    if is_busy or isinstance(error, RedisConnectionError):
        return Trouble(
            status=503,
            title="Redis does not serve requests now" if is_busy else "Redis is away",
            text=text,
            hint="This page reloads by itself when Redis answers again.",
            is_away=True,
        )
    if isinstance(error, WrongTypeError):
        hint = "Something else uses this key. The doctor names it and says what helps."
        return Trouble(status=409, title="A key holds another type", text=text, hint=hint)
    if isinstance(error, RedissonDQError) and is_login_refused(error):
        hint = "Start the dashboard with the user and the password that Redis has now."
        return Trouble(status=502, title="Redis refused the login", text=text, hint=hint)
    return Trouble(
        status=502, title="Redis refused", text=text, hint="redisson-dq acl prints the rights of an observer."
    )


def last_figures(error: Exception | None, seeing: Seeing) -> str:
    """An error as shown on pages that keep the earlier figures. Empty if there is none."""
    if error is None:
        return ""
    trouble = trouble_of(error, seeing.trouble(str(error)))
    return f"{trouble.title}, and the figures are the last that were seen: {trouble.text.rstrip('.')}."


# -- templates -------------------------------------------------------------------------------------------------------


@functools.cache
def environment() -> jinja2.Environment:
    """The templates, and the filters by which they show numbers and times. Each is compiled once in a process."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_visible,
        undefined=jinja2.StrictUndefined,
        # The templates of a version installed meanwhile do not fit the views of this version.
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": _number, "ago": in_words, "span": _span, "utc": _utc, "most": _most, "bars": _bars}
    made.filters |= {"counted": counted, "sentence": sentence, "segment": segment_of, "lines": _lines}
    made.filters["seconds"] = lambda count: span_in_words(timedelta(seconds=count))
    made.filters["unchanged"] = markupsafe.escape
    made.filters["copied"] = lambda text: markupsafe.escape(text if safe(text) == text else shell_word(text))
    return made


def _visible(value: object) -> object:
    """Any text of a template, with escapes as in terminals. Raw control characters and direction marks would make a
    name look like another one. The filter ``unchanged`` is for texts that forms and scripts send back, ``copied`` for
    texts that are pasted: a text with such characters becomes a shell word.
    """
    if type(value) not in (str, ValueText):
        return value
    assert isinstance(value, str)
    return safe(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")


def _lines(text: str) -> markupsafe.Markup:
    """A text of any length that keeps its lines and tabs."""
    return markupsafe.escape("".join(each if each in "\n\t" else safe(each) for each in text.replace("\r\n", "\n")))


def sentence(text: str) -> str:
    """The text with a capital letter. An address or a name at the beginning stays unchanged."""
    return text[0].upper() + text[1:] if _WORD.match(text) else text


def _number(count: int | None) -> str:
    """``1,234,567``; ``?`` if unknown."""
    return "?" if count is None else f"{count:,}"


def _most(points: Iterable[float | None]) -> float | None:
    """The largest known point; None if no point is known."""
    return max((each for each in points if each is not None), default=None)


def _bars(points: Sequence[float | None]) -> str:
    """The path of a small chart: a bar for each known point other than 0. fleet.js draws the same."""
    most = _most(points) or 0
    return "".join(f"M{2 * i + 1} 25v-{max(24 * each / most, 1):.1f}" for i, each in enumerate(points) if each)


def _span(span: timedelta | None) -> str:
    return "" if span is None else span_in_words(span)


def _utc(moment: datetime | None, timespec: str = "seconds") -> str:
    """``2026-11-24 19:00:00``."""
    return "" if moment is None else moment.isoformat(" ", timespec).removesuffix("+00:00")
