"""Reasons why a value may be written to other bytes than it was read from.

The reader notes a doubt wherever it reads a form that Jackson would not or might not write. A value without a doubt is
written to the bytes that it was read from.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from redisson_dq.codecs.faults import shorten

__all__ = ["Doubt", "Doubts"]

#: The bytes may still be the same.
_POSSIBLE: Final = 0
#: Other bytes are written.
_CERTAIN: Final = 1
#: Other bytes are written, and writing them could take far longer than reading the value.
_UNCOMPARED: Final = 2

#: A reason shows this many characters of a name or text from the bytes.
_SHOWN = 80


class Doubt(Enum):
    """A reason: how certain it is, and its text."""

    # about all the bytes
    ANY_FORM = _POSSIBLE, "its fields, numbers or texts are in another form"
    NUMBERS_AND_TEXTS = _POSSIBLE, "its numbers or texts are in another form"
    SPACES = _POSSIBLE, "it has spaces, or is written differently than by Jackson"
    MINUS_ZERO = _POSSIBLE, "the whole number -0 is written as 0"
    CHARACTER = _POSSIBLE, "some character is in another form"
    OUTERMOST = _CERTAIN, "as the whole value some numbers and texts are without their class"
    # about null
    NULL_REFERENCE = _POSSIBLE, "null is used for an empty {}"
    NULL_PRIMITIVE = _CERTAIN, "null is used where a {} is declared"
    NULL_FIELD = _POSSIBLE, "{} is null, and is left out"
    # about the name of a class
    NAMED_OTHERWISE = _CERTAIN, "the class of some value is written in another way"
    NAMED_IN_REFERENCE = _POSSIBLE, "what a {} holds may be with or without the name of its class"
    NAMED_IN_COLLECTION = _POSSIBLE, "the elements of a {} may be with or without the names of their classes"
    NAMED_IN_ENUM_MAP = _POSSIBLE, "in an EnumMap Java leaves out classes that are written, and mostly loses them"
    NAMED_NEEDLESSLY = _CERTAIN, "the class {} is written where it is declared, and is left out"
    NAMED_CONSTANT = _CERTAIN, "the class {} comes before its constant"
    NOT_NAMED = _CERTAIN, "the class {}, which is written, does not come before its value"
    OBJECT = _CERTAIN, "an Object is written as the value read from it"
    CHARSET = _CERTAIN, "the class {} is written as java.nio.charset.Charset"
    # about a number or another value without parts
    BIG_NUMBER = _CERTAIN, "a number of more than 32 bits is without its class"
    FLOAT = _CERTAIN, "the float {} is written as {}, as JDK 19 and later do"
    BYTES = _CERTAIN, "some bytes are in another form"
    SCALAR = _POSSIBLE, "{} is written in another form as a {}"
    OTHER_CLASS = _POSSIBLE, "the contents of a {} may have another form"
    # about a container
    KEY = _POSSIBLE, "the key {} may be in another form"
    KEY_TWICE = _CERTAIN, "a map has two entries with one key"
    PROPERTIES = _CERTAIN, "Java reads numbers in java.util.Properties as texts"
    # about an object
    UNDECLARED = _POSSIBLE, "it has an object of a class that is not declared"
    UNKNOWN_FIELD = _CERTAIN, "the declaration of {} has no field {}, which is left out"
    ALIAS = _CERTAIN, "a field of {} has another name than it is written with"
    FIELD_ORDER = _CERTAIN, "the fields of {} are written in another order"
    LATE_CLASS = _CERTAIN, "the class {} is written before the fields"
    MISSING_FIELD = _CERTAIN, "a field of {} that the bytes lack is written as it begins"
    SHARED_EXCEPTION = _UNCOMPARED, "an exception at two places is written twice"

    def __init__(self, weight: int, words: str) -> None:
        self.weight: int = weight
        self.words: str = words


class Doubts:
    """The doubts about one value. One of them is reported.

    A certain reason takes precedence over a possible one, as it is true whatever the bytes are. Among equally certain
    reasons the first is reported: it is nearest to the first byte that differs, which the error shows.
    """

    __slots__ = ("_details", "told")

    def __init__(self) -> None:
        self.told: Doubt | None = None
        self._details: tuple[Any, ...] = ()

    def note(self, doubt: Doubt, *details: Any) -> None:
        """Note a doubt. ``details`` are put into its text when it is reported. O(1)."""
        told = self.told
        if told is None or doubt.weight > told.weight:
            self.told, self._details = doubt, details

    @property
    def may_be_compared(self) -> bool:
        """Whether the value may be written for a comparison. False if writing it could take far too long."""
        return self.told is None or self.told.weight != _UNCOMPARED

    def __str__(self) -> str:
        """The text of the reported doubt. Empty if there is none."""
        if self.told is None:
            return ""
        return self.told.words.format(*(shorten(str(detail), _SHOWN) for detail in self._details))
