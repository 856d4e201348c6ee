"""Hides fields of values wherever they would be shown, in lists, items, exports, filters and the log alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from redisson_dq._texts import digits
from redisson_dq.browsing import DecodedValue, SeenItem, ValueReader
from redisson_dq.browsing.values import CLASS
from redisson_dq.doctor import Finding, Report
from redisson_dq.errors import ArgumentError

__all__ = ["HIDDEN", "Masks", "MaskedReader"]

#: Stands in the place of a hidden value.
HIDDEN = "•••"
# Evidence of the doctor that has bytes of a value, or the text of an error about one.
_OF_VALUES = ("first", "bytes", "error")
# Shorter texts stand in too many other texts by chance.
_SHORTEST = 3


class Masks:
    """The names of fields whose values nobody may see, at any depth of a value; letters count in either case.

    A filter is applied to the masked value. So it finds nothing out about a hidden field. The field ``@class`` hides
    the classes of values.
    """

    def __init__(self, fields: Iterable[str] = ()) -> None:
        self.fields = tuple(dict.fromkeys(each.strip().lower() for each in fields if each.strip()))

    def __bool__(self) -> bool:
        return bool(self.fields)

    def reader(self, codec: str | None = None) -> ValueReader:
        """The reader of values. With masks nobody chooses the codec: read as text, a value shows every field.

        Raises ArgumentError.
        """
        if not self:
            return ValueReader(codec)
        if codec is not None:
            raise ArgumentError("the codec cannot be chosen while fields are masked: as another one it would show them")
        return MaskedReader(self)

    @staticmethod
    def hidden_by(reader: ValueReader) -> frozenset[str] | None:
        """The texts of the hidden fields of the last value that a reader has read; None where these are not known."""
        return reader.hidden if isinstance(reader, MaskedReader) else frozenset()

    def masked(self, decoded: DecodedValue) -> DecodedValue:
        """The value without hidden fields. Of a value that could not be read nothing is left but its class."""
        if not self:
            return decoded
        if CLASS in self.fields:
            decoded = attrs.evolve(decoded, java_class="")
        if decoded.error:
            return attrs.evolve(
                decoded, value=HIDDEN, error="not shown, as fields are masked and it was not read whole"
            )
        return attrs.evolve(decoded, value=self._plain(decoded.value))

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                key: HIDDEN if str(key).lower() in self.fields else self._plain(each) for key, each in value.items()
            }
        if isinstance(value, list):
            return [self._plain(each) for each in value]
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        """A text that may hold fields, such as JSON inside JSON. It is hidden where it names a hidden field."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                return json.dumps(self._plain(json.loads(text)), ensure_ascii=False)
            except (ValueError, RecursionError):
                pass
        folded = text.lower()
        return HIDDEN if any(each in folded for each in self.fields) else text

    def hidden_in(self, value: Any) -> frozenset[str]:
        """The texts of all hidden fields of a value that was not masked."""
        return frozenset(each for each in self._hidden(value, False) if len(each) >= _SHORTEST)

    def _hidden(self, value: Any, is_hidden: bool) -> Iterator[str]:
        if isinstance(value, Mapping):
            for key, each in value.items():
                yield from self._hidden(each, is_hidden or str(key).lower() in self.fields)
        elif isinstance(value, list):
            for each in value:
                yield from self._hidden(each, is_hidden)
        elif is_hidden and value is not None:
            yield digits(value)

    def row(self, row: SeenItem, hidden: frozenset[str] | None) -> SeenItem:
        """An item whose reason shows none of these texts. The text of an error often quotes a value."""
        return row if not self or not row.reason else attrs.evolve(row, reason=self.reason(row.reason, hidden))

    def reason(self, text: str, hidden: frozenset[str] | None) -> str:
        """The text of an error without the values of hidden fields. Nothing of it is left where these are not known."""
        if not self or not text:
            return text
        if hidden is None:
            return HIDDEN
        return "\n".join(self.text(line) for line in _without(text, hidden).splitlines())

    def pairs(self, context: Mapping[str, str], hidden: frozenset[str] | None) -> Iterator[tuple[str, str]]:
        """The pairs of an offer's context, without hidden fields and their values."""
        for name, text in context.items():
            if not self:
                yield name, text
            elif hidden is None or name.lower() in self.fields:
                yield name, HIDDEN
            else:
                yield name, self.text(_without(text, hidden))

    def report(self, report: Report) -> Report:
        """A diagnosis without bytes of values, and without their classes where these are hidden."""
        return report if not self else attrs.evolve(report, findings=tuple(map(self._finding, report.findings)))

    def _finding(self, found: Finding) -> Finding:
        hidden, text, commands = set(_OF_VALUES), found.text, found.commands
        if CLASS in self.fields:
            hidden.add("classes")
            text = text.partition(":")[0] if "classes" in found.evidence else text
            commands = tuple(each for each in commands if "generate-classes" not in each)
        return attrs.evolve(
            found,
            text=text,
            evidence={name: HIDDEN if name in hidden else each for name, each in found.evidence.items()},
            # A command that takes bytes from its input has an entry in it.
            shown_by=HIDDEN if found.shown_by.startswith("printf ") else found.shown_by,
            commands=commands,
        )

    def filter(self, text: str) -> str:
        """A filter as the log may have it."""
        return HIDDEN if any(each in text.lower() for each in self.fields) else text


class MaskedReader(ValueReader):
    """Reads values without their hidden fields.

    ``hidden`` has the texts of those of the last value, or None where it was not read whole: nobody knows them then.
    """

    def __init__(self, masks: Masks) -> None:
        super().__init__()
        self._masks = masks
        # A reader of its own: that one reads itself the value inside a compressed one.
        self._inner = ValueReader()
        self.hidden: frozenset[str] | None = frozenset()

    def read(self, data: bytes, *, is_whole: bool = True) -> DecodedValue:
        found = self._inner.read(data, is_whole=is_whole)
        self.hidden = None if found.error or not is_whole else self._masks.hidden_in(found.value)
        return self._masks.masked(found)


def _without(text: str, hidden: frozenset[str]) -> str:
    """A text without these, as they are, and as Python and JSON quote them."""
    for each in sorted(hidden, key=len, reverse=True):
        for form in (each, repr(each)[1:-1], json.dumps(each)[1:-1], json.dumps(each, ensure_ascii=False)[1:-1]):
            text = text.replace(form, HIDDEN)
    return text
