"""Kinds of values that options take."""

from __future__ import annotations

import math
import re

import click

__all__ = ["PORT", "SECONDS", "BoundedNumber", "Seconds"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|[smhdw])?")


class BoundedNumber(click.ParamType):  # type: ignore[type-arg] # generic in new versions alone
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


class Seconds(click.ParamType):  # type: ignore[type-arg] # generic in new versions alone
    """A time in seconds, or with a unit: ``90``, ``1.5``, ``500ms``, ``5m``, ``2h``, ``1d``. Gives seconds."""

    name = "a time"

    def __init__(self, *, zero: bool = False) -> None:
        self._zero = zero

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = _DURATION.fullmatch(str(value).strip())
        seconds = float(found[1]) * _UNITS[found[2] or "s"] if found else math.nan
        if not (seconds > 0 or (self._zero and seconds == 0)) or math.isinf(seconds):
            self.fail(f"a number of seconds, or a time such as 500ms, 5m, 2h or 1d, not {str(value)!r}", param, ctx)
        return seconds


#: A time above 0.
SECONDS = Seconds()
#: A port; 0 leaves the choice to the system.
PORT = BoundedNumber(int, 0, 65535, "a port")
