"""The options by which values are decoded, and how one item is shown."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import click

if TYPE_CHECKING:
    from redisson_dq.browsing import DecodedValue, SeenItem, ValueReader

__all__ = [
    "ValueChoice",
    "as_fields",
    "in_words",
    "load_classes",
    "short",
    "span_in_words",
    "value_options",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_LONGEST = 200


@attrs.frozen(kw_only=True)
class ValueChoice:
    """The choice of ``--codec`` and ``--classes``."""

    codec: str | None
    classes: tuple[str, ...]

    def reader(self) -> ValueReader:
        """Makes the reader. Raises ArgumentError, and click.UsageError for a file of classes that cannot be loaded."""
        from redisson_dq.browsing import ValueReader

        load_classes(self.classes)
        return ValueReader(self.codec)


def value_options(function: _F) -> _F:
    """``--codec`` and ``--classes``: the function gets them as ``values``."""

    @functools.wraps(function)
    def with_values(*args: Any, codec: str | None, classes: tuple[str, ...], **rest: Any) -> Any:
        return function(*args, values=ValueChoice(codec=codec, classes=classes), **rest)

    files = click.option(
        "--classes",
        metavar="FILE",
        multiple=True,
        help="A Python file that declares Java classes, as generate-classes makes it. It is run. May be repeated.",
    )
    codec = click.option(
        "--codec",
        metavar="NAME",
        help="The codec of the values, such as kryo5 or json. Else their bytes tell.",
    )
    return cast(_F, codec(files(with_values)))


def load_classes(files: tuple[str, ...]) -> None:
    """Runs files that declare classes. Raises click.UsageError."""
    import importlib.util

    for i, file in enumerate(files):
        path = Path(file).resolve()
        spec = importlib.util.spec_from_file_location(f"redisson_dq_classes_{i}_{path.stem}", path)
        if spec is None or spec.loader is None or not path.is_file():
            raise click.UsageError(f"--classes {file}: there is no such Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module.__name__] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise click.UsageError(f"--classes {file}: {type(error).__name__}: {error}") from error


def short(decoded: DecodedValue) -> str:
    """A value on one line."""
    if decoded.error:
        name = f"{decoded.java_class} " if decoded.java_class else ""
        return f"{name}hex {str(decoded.value)[:_LONGEST]}"
    text = decoded.value if isinstance(decoded.value, str) else json.dumps(decoded.value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def as_fields(row: SeenItem, decoded: DecodedValue) -> dict[str, Any]:
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
        "source": row.source or None,
        "every": row.every or None,
        "envelope": row.envelope or None,
        "size": row.size,
        "codec": decoded.codec or None,
        "codec_is": decoded.sure or None,
        "class": decoded.java_class or None,
        "value": None if decoded.error else decoded.value,
        "hex": row.data.hex() if decoded.error else None,
        "error": decoded.error or None,
    }


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def in_words(moment: datetime | None, now: datetime) -> str:
    """A time as it is from now on: ``in 5m 10s``, ``2h 3m ago``."""
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
