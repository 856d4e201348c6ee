"""Kinds of values that options take."""

from __future__ import annotations

import math
import re

import click

__all__ = ["PORT", "SECONDS", "Amount", "BoundedNumber", "Seconds"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|[smhdw])?")
# Several with units, such as 1h30m.
_DURATIONS = re.compile(r"(?:\d+(?:\.\d*)?(?:ms|[smhdw])){2,}")
_AMOUNT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
_THOUSANDS = {"k": 1, "m": 2, "g": 3, "t": 4}


class BoundedNumber(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    """A whole number, or any number, within bounds."""

    def __init__(self, kind: type[int] | type[float], least: float, most: float = math.inf, what: str = "") -> None:
        """``what`` names the value in errors, such as ``"a port"``."""
        self._kind, self._least, self._most = kind, least, most
        self.name = what or ("a whole number" if kind is int else "a number")

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = self._kind(str(value))
        except ValueError:
            number = math.nan
        if not self._least <= number <= self._most or math.isinf(number):
            bounds = f"from {self._least} to {self._most}" if self._most < math.inf else f"from {self._least} on"
            self.fail(f"{self.name} {bounds}, not {str(value)!r}", param, ctx)
        return number


class Seconds(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    """A time in seconds, or with a unit: ``90``, ``1.5``, ``500ms``, ``5m``, ``1h30m``, ``1d``. Gives seconds."""

    name = "a time"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        is_known = _DURATION.fullmatch(text) or _DURATIONS.fullmatch(text)
        parts = _DURATION.findall(text) if is_known else []
        seconds = sum(float(number) * _UNITS[unit or "s"] for number, unit in parts) if parts else math.nan
        if not (seconds > 0 or (self._zero and seconds == 0)) or math.isinf(seconds):
            self.fail(f"a number of seconds, or a time such as 500ms, 5m, 2h or 1d, not {str(value)!r}", param, ctx)
        return seconds


class Amount(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    """A number, or one with a unit: ``5000``, ``5k``, ``1.5M``, ``10MB``, ``4GiB``. ``whole`` makes an int of it."""

    name = "an amount"

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = _AMOUNT.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"a number, or an amount such as 5k, 10MB or 4GiB, not {str(value)!r}", param, ctx)
        scale = (1024.0 if found[3] else 1000.0) ** _THOUSANDS.get((found[2] or "").lower(), 0)
        amount: float = float(found[1]) * scale
        if math.isinf(amount):
            self.fail(f"{str(value)!r} is too large", param, ctx)
        return round(amount) if self._whole else amount


#: A time above 0.
SECONDS = Seconds()
#: A port; 0 leaves the choice to the system.
PORT = BoundedNumber(int, 0, 65535, "a port")
