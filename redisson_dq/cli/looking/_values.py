"""The options by which values are decoded, and how one item is shown."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import click

from redisson_dq.cli.frame import BoundedNumber, classes_option, load_classes

if TYPE_CHECKING:
    from redisson_dq.browsing import DecodedValue, Filter, SeenItem, ValueReader
    from redisson_dq.cli.documents.common import HolderFields, ItemFields

__all__ = [
    "PageChoice",
    "ValueChoice",
    "as_fields",
    "in_words",
    "page_options",
    "short",
    "span_in_words",
    "value_options",
    "whole",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_LONGEST = 200
_MOST_LOOKED = 100_000


@attrs.frozen(kw_only=True)
class ValueChoice:
    """The choice of ``--codec``, ``--classes`` and ``--keys``."""

    codec: str | None
    classes: tuple[str, ...]
    keys: str | None = None

    def reader(self) -> ValueReader:
        """Makes the reader. Raises ArgumentError, and click.UsageError for a file of classes that cannot be loaded."""
        from redisson_dq.browsing import ValueReader
        from redisson_dq.codecs.encrypted import keys_of_file

        load_classes(self.classes)
        return ValueReader(self.codec, keys=None if self.keys is None else keys_of_file(self.keys))


def value_options(function: _F) -> _F:
    """``--codec``, ``--classes`` and ``--keys``: the function gets them as ``values``."""

    @functools.wraps(function)
    def with_values(*args: Any, codec: str | None, classes: tuple[str, ...], keys: str | None, **rest: Any) -> Any:
        return function(*args, values=ValueChoice(codec=codec, classes=classes, keys=keys), **rest)

    codec = click.option(
        "--codec",
        metavar="NAME",
        help="The codec of the values, such as kryo5 or json (default: recognised by their bytes).",
    )
    keys = click.option("--keys", metavar="FILE", help="The keys of encrypted values: JSON, ids and keys in Base64.")
    return cast(_F, codec(keys(classes_option(with_values))))


@attrs.frozen(kw_only=True)
class PageChoice:
    """The rows of a page: at most ``limit`` rows that match a filter, after ``after``, among at most ``look`` rows."""

    filter: str | None
    limit: int
    after: str | None
    look: int

    def wanted(self) -> Filter | None:
        """The filter, or None for all rows. Raises FilterError."""
        from redisson_dq.browsing import Filter

        return None if self.filter is None else Filter(self.filter)


def page_options(*, limit: int, most: int) -> Callable[[_F], _F]:
    """``--filter``, ``--limit``, ``--after`` and ``--look``: the function gets them as ``page``."""

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def with_page(*args: Any, filter: str | None, limit: int, after: str | None, look: int, **rest: Any) -> Any:
            return function(*args, page=PageChoice(filter=filter, limit=limit, after=after, look=look), **rest)

        number = BoundedNumber(int, 1, what="a number of items")
        look = f"With --filter, look at N items at most ({_MOST_LOOKED})."
        made: Any = click.option("--look", metavar="N", type=number, default=_MOST_LOOKED, help=look)(with_page)
        made = click.option("--after", metavar="CURSOR", help="Continue where the previous page ended.")(made)
        few = BoundedNumber(int, 1, most, "a number of items")
        made = click.option("--limit", metavar="N", type=few, default=limit, help=f"How many items ({limit}).")(made)
        return cast(_F, click.option("--filter", metavar="FILTER", help="Show only the items that match.")(made))

    return decorate


def whole(decoded: DecodedValue) -> str:
    """A value as text, or else as hex digits."""
    return decoded.value if isinstance(decoded.value, str) else json.dumps(decoded.value, ensure_ascii=False)


def short(decoded: DecodedValue) -> str:
    """A value on one line."""
    if decoded.codec == "EncryptedCodec":
        return decoded.error
    if decoded.error:
        name = f"{decoded.java_class} " if decoded.java_class else ""
        return f"{name}hex {str(decoded.value)[:_LONGEST]}"
    text = whole(decoded)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def as_fields(row: SeenItem, decoded: DecodedValue) -> ItemFields:
    """An item for JSON. A field without a value is None."""
    return {
        "queue": row.queue,
        "state": row.state,
        "id": row.id,
        "due": row.due,
        "late_seconds": _seconds(row.late),
        "at": row.at,
        "attempts": row.attempts,
        "reason": row.reason or None,
        "cursor": row.cursor,
        "source": row.source or None,
        "holder": _holder_fields(row),
        "every": row.every or None,
        "missed": row.missed or None,
        "waits_for": row.waits_for or None,
        "envelope": row.envelope or None,
        "size": row.size,
        "codec": decoded.codec or None,
        "codec_is": decoded.sure or None,
        "class": decoded.java_class or None,
        "value": None if decoded.error else decoded.value,
        "hex": row.data if decoded.error else None,
        "error": decoded.error or None,
    }


def _holder_fields(row: SeenItem) -> HolderFields | None:
    """The client that has a value in flight, for JSON."""
    return None if row.holder is None else cast("HolderFields", row.holder.parts)


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def in_words(moment: datetime | None, now: datetime) -> str:
    """A time relative to now: ``in 5m 10s``, ``2h 3m ago``."""
    if moment is None:
        return ""
    text = span_in_words(abs(moment - now))
    return f"in {text}" if moment > now else f"{text} ago"


def span_in_words(span: timedelta) -> str:
    """A time span by its two largest units: ``1d 4h``, ``5m 10s``, ``0.250s``."""
    seconds = span.total_seconds()
    if seconds < 10:
        return f"{seconds:.3f}s"
    left, parts = round(seconds), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])
