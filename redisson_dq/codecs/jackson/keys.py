"""From the names of entries to the keys of a map, by the declared class of its keys."""

from __future__ import annotations

import re
from typing import Any

from redisson_dq.codecs.jackson.dialect import Dialect
from redisson_dq.codecs.jackson.enums import constant_named, constants
from redisson_dq.codecs.jackson.node import Number
from redisson_dq.codecs.jackson.refusals import wrong, wrong_time
from redisson_dq.codecs.jackson.scalar_values import NON_FINITE, SCALARS
from redisson_dq.java.date_patterns import DATES
from redisson_dq.java.registry import declaration_of

__all__ = ["map_key"]

_INTEGERS = frozenset(
    f"java.{name}" for name in ("lang.Byte", "lang.Short", "lang.Integer", "lang.Long", "math.BigInteger")
)
_DIGITS = re.compile("-?[0-9]{1,1000}")
_NUMBER = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000})?([eE][+-]?[0-9]{1,9})?")


def map_key(text: str, name: str, dialect: Dialect) -> Any:
    """A key of a map whose keys are declared as ``name``."""
    declaration, jackson_3 = declaration_of(name), dialect.jackson_3
    if declaration is not None and declaration.kind == "enum":
        # A number may denote a constant. As a name it is written in digits.
        number = int(text) if _DIGITS.fullmatch(text) else None
        is_number = number is not None and text not in constants(declaration, jackson_3)[1]
        return constant_named(number if is_number and number is not None else text, declaration, jackson_3)
    node: Any = text
    if name in ("boolean", "java.lang.Boolean"):
        node = {"true": True, "false": False}.get(text)
    elif name in _INTEGERS:
        node = int(text) if _DIGITS.fullmatch(text) else None
    elif name in ("java.lang.Double", "java.lang.Float", "java.math.BigDecimal"):
        node = text if text in NON_FINITE else Number(text) if _NUMBER.fullmatch(text) else None
    scalar = SCALARS.get(name)
    if scalar is None:
        return text
    pattern = dialect.patterns.get(name) if name in DATES else None
    try:
        value = scalar(node) if pattern is None else pattern.read(text, name, dialect.time_zone)
    except ValueError:
        value = None
    if value is None:
        raise wrong_time(name, text, pattern) if name in DATES else wrong(name)
    return value
