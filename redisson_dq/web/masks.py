"""Decides which parts of a value leave the dashboard: on pages, in JSON, in filters, in the log and in commands to
copy.

All code that shows a part of a value gets it from here: an item from :meth:`Masks.seen`, a diagnosis from
:meth:`Masks.report`, the text of an error from :meth:`Masks.error`, a filter from :meth:`Masks.filter_of`.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from redisson_dq._common.texts import digits
from redisson_dq.browsing import DecodedValue, Filter, SeenItem, ValueReader
from redisson_dq.browsing.values import CLASS
from redisson_dq.doctor import Finding, Report, ValueText
from redisson_dq.errors import ArgumentError, CodecError, EnvelopeError
from redisson_dq.items import ItemEvent

__all__ = ["HIDDEN", "Masks", "MaskedReader"]

#: Replaces a hidden value.
HIDDEN = "•••"
# A shorter text occurs in too many other texts by chance.
_SHORTEST = 3
# The name of a field, as a key of a map. Any other key is itself a value: a number, or the text of an object.
_FIELD = re.compile(r"[^\W\d]+\d{0,2}[^\W\d]*")
# The remedy that replaces commands with bytes of a value.
_PRINTED_BY = "# run redisson-dq doctor in a terminal: the command has bytes of a value, and fields are masked here"
_NOT_SHOWN = "not shown, as fields are masked and the value was not read whole"


class Masks:
    """The names of fields whose values nobody may see, at any depth of a value. ``cardNumber`` is also ``card_number``.

    A filter is applied to the masked value, so it reveals nothing about a hidden field. The size of a value would
    reveal the length of a hidden field, so it is not shown either. The field ``@class`` hides the classes of values.
    """

    def __init__(self, fields: Iterable[str] = ()) -> None:
        self.fields = tuple(dict.fromkeys(each.strip().lower() for each in fields if each.strip()))
        self._names = frozenset(map(_folded, self.fields))

    def __bool__(self) -> bool:
        return bool(self.fields)

    # -- items -------------------------------------------------------------------------------------------------------

    def reader(self, codec: str | None = None) -> ValueReader:
        """The reader of values. With masks, users cannot choose the codec: decoded as text, a value would show every
        field.

        Raises ArgumentError.
        """
        if not self:
            return ValueReader(codec)
        if codec is not None:
            raise ArgumentError("the codec cannot be chosen while fields are masked: as another one it would show them")
        return MaskedReader(self)

    def seen(self, row: SeenItem, reader: ValueReader) -> tuple[SeenItem, DecodedValue]:
        """An item and its value without hidden parts. With masks, the item has neither bytes nor a size."""
        decoded = reader.read(row.data, is_whole=row.is_whole, queue=row.queue)
        if not isinstance(reader, MaskedReader):
            return row, decoded
        context = dict(self._pairs(row.context, reader.hidden))
        return attrs.evolve(row, data=b"", size=0, reason=self._reason(row.reason, reader.hidden), context=context), (
            decoded
        )

    def seen_events(self, events: Iterable[ItemEvent]) -> list[ItemEvent]:
        """The history of an item. With masks it has no reasons: some are about values that were replaced since."""
        if not self:
            return list(events)
        return [attrs.evolve(each, reason=each.reason and HIDDEN) for each in events]

    def filter_of(self, text: str) -> Filter:
        """A filter. With masks it may not use sizes. Raises FilterError."""
        return Filter(text, hidden=("size",) if self else ())

    # -- values ------------------------------------------------------------------------------------------------------

    def masked(self, decoded: DecodedValue) -> DecodedValue:
        """The value without hidden fields. Only the class is left of a value that could not be read."""
        if CLASS in self.fields:
            decoded = attrs.evolve(decoded, java_class="")
        if decoded.error:
            return attrs.evolve(decoded, value=HIDDEN, error=_NOT_SHOWN)
        return attrs.evolve(decoded, value=self._plain(decoded.value))

    def _is_hidden(self, name: str) -> bool:
        return _folded(name) in self._names

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            made: dict[str, Any] = {}
            for key, each in value.items():
                name = str(key)
                is_hidden = self._is_hidden(name)
                made[name if is_hidden else self._key(name, made)] = HIDDEN if is_hidden else self._plain(each)
            return made
        if isinstance(value, list):
            return [self._plain(each) for each in value]
        return self._text(value) if isinstance(value, str) else value

    def _key(self, key: str, made: Mapping[str, Any]) -> str:
        """The key of a map, which may be an object's text. Hidden keys are numbered."""
        text = key if _FIELD.fullmatch(key) else self._text(key)
        if text == key or text not in made:
            return text
        return next(each for i in range(2, len(made) + 3) if (each := f"{text} {i}") not in made)

    def _text(self, text: str) -> str:
        """A text that may contain fields, such as JSON inside JSON. It is hidden if it names a hidden field."""
        inner = _json_in(text)
        if inner is not None:
            return json.dumps(self._plain(inner), ensure_ascii=False)
        return HIDDEN if self._names_a_field(text) else text

    def _names_a_field(self, text: str) -> bool:
        lower, folded = text.lower(), _folded(text)
        return any(each in lower for each in self.fields) or any(each in folded for each in self._names)

    # -- texts about values ------------------------------------------------------------------------------------------

    def hidden_in(self, value: Any) -> frozenset[str] | None:
        """The texts of all hidden fields of an unmasked value; None if not all of them are known."""
        found = set(self._hidden(value, False))
        return None if None in found else frozenset(each for each in found if each is not None)

    def _hidden(self, value: Any, is_hidden: bool) -> Iterator[str | None]:
        if isinstance(value, Mapping):
            for key, each in value.items():
                name = str(key)
                within = is_hidden or self._is_hidden(name)
                if not within and self._key(name, {}) != name:
                    yield None
                yield from self._hidden(each, within)
        elif isinstance(value, list):
            for each in value:
                yield from self._hidden(each, is_hidden)
        elif isinstance(value, str):
            inner = _json_in(value)
            if inner is not None:
                yield from self._hidden(inner, is_hidden)
            elif is_hidden:
                yield value if len(value) >= _SHORTEST else None
            elif self._names_a_field(value):
                yield None
        elif is_hidden:
            # A text about a boolean reveals it, whatever its words are. A fraction can be written in many forms.
            text = digits(value) if type(value) is int else ""
            yield text if len(text) >= _SHORTEST else None

    def _reason(self, text: str, hidden: frozenset[str] | None) -> str:
        """The text of an error without the values of hidden fields. Nothing of it is left if these are not known."""
        if not text or hidden is None:
            return text and HIDDEN
        return "\n".join(self._text(line) for line in _without(text, hidden).splitlines())

    def _pairs(self, context: Mapping[str, str], hidden: frozenset[str] | None) -> Iterator[tuple[str, str]]:
        """The pairs of an offer's context, without hidden fields and their values."""
        for name, text in context.items():
            is_hidden = hidden is None or self._is_hidden(name)
            yield name, HIDDEN if is_hidden or hidden is None else self._text(_without(text, hidden))

    def error(self, error: BaseException) -> str:
        """The text of an error for a page and the log. A codec's error may quote the value."""
        if self and isinstance(error, (CodecError, EnvelopeError)):
            return f"{type(error).__name__}: its text is not shown, as fields are masked"
        return str(error)

    def log(self, logger: logging.Logger, error: BaseException, text: str, *args: object) -> None:
        """Logs an unexpected error. With masks, the text is left out, as it may quote a value."""
        if not self:
            logger.error(text, *args, exc_info=error)
            return
        frames = "".join(traceback.format_tb(error.__traceback__))
        logger.error(f"{text}: %s\n%s", *args, type(error).__name__, frames.rstrip())

    def filter(self, text: str) -> str:
        """A filter as it may be logged."""
        return HIDDEN if self._names_a_field(text) else text

    # -- diagnoses ---------------------------------------------------------------------------------------------------

    def report(self, report: Report) -> Report:
        """A diagnosis without bytes of values, also in commands, and without their classes if these are hidden."""
        if not self:
            return report
        results = tuple(attrs.evolve(each, reason=_shown(each.reason)) for each in report.results)
        return attrs.evolve(report, findings=tuple(map(self._finding, report.findings)), results=results)

    def _finding(self, found: Finding) -> Finding:
        evidence, commands = dict(found.evidence), found.commands
        text = found.text
        if "reasons" in evidence:
            # Errors quote values.
            evidence["reasons"], text = HIDDEN, text.partition(":")[0]
            commands = tuple(each for each in commands if not each.startswith("# declare"))
        if CLASS in self.fields and "classes" in evidence:
            evidence["classes"], text = HIDDEN, text.partition(":")[0]
        if CLASS in self.fields:
            commands = tuple(each for each in commands if "generate-classes" not in each)
        commands = tuple(dict.fromkeys(_shown(each, _PRINTED_BY) for each in commands))
        return attrs.evolve(
            found,
            text=_shown(text),
            evidence={name: _shown(each) for name, each in evidence.items()},
            shown_by=_shown(found.shown_by),
            commands=commands,
            alternatives=min(found.alternatives, len(commands)),
        )


class MaskedReader(ValueReader):
    """Reads values without their hidden fields.

    ``hidden`` has the texts of the hidden fields of the last value, or None if not all of them are known.
    """

    def __init__(self, masks: Masks) -> None:
        super().__init__()
        self._masks = masks
        # A separate reader, as the other one itself reads the value inside a compressed one.
        self._inner = ValueReader()
        self.hidden: frozenset[str] | None = frozenset()

    def read(self, data: bytes, *, is_whole: bool = True, queue: str = "") -> DecodedValue:
        found = self._inner.read(data, is_whole=is_whole, queue=queue)
        self.hidden = None if found.error or not is_whole else self._masks.hidden_in(found.value)
        return self._masks.masked(found)


def _folded(name: str) -> str:
    """A name, normalised across Java's and Python's spelling."""
    return name.lower().replace("_", "").replace("-", "")


def _json_in(text: str) -> Any:
    """The object or the list that a text is, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _shown(value: Any, instead: str = HIDDEN) -> Any:
    """A part of a diagnosis. Parts with bytes of a value are hidden."""
    return instead if isinstance(value, ValueText) else value


def _without(text: str, hidden: frozenset[str]) -> str:
    """A text without these texts, plain or as quoted by Python and JSON."""
    for each in sorted(hidden, key=len, reverse=True):
        for form in (each, repr(each)[1:-1], json.dumps(each)[1:-1], json.dumps(each, ensure_ascii=False)[1:-1]):
            text = text.replace(form, HIDDEN)
    return text
