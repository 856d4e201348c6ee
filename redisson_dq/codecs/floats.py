"""Java's text of a Double and a Float (``Double.toString``, ``Float.toString``).

The digits are the shortest that read back as the same value, at least two of them, as the JDK writes them since version
19. Older JDKs write more digits for some values (9.999999999999999E22 for 1.0E23, the Float 2.34603552E17 for
2.3460355E17). This rarely affects decimals with few digits. Of random bits, it affects 0.3 % of the Doubles and 11 % of
the Floats. Both texts read back as the same number.
"""

from __future__ import annotations

import struct

__all__ = ["double_text", "float_text"]

_FLOAT = struct.Struct("<f")


def double_text(value: float) -> str:
    """``Double.toString(value)``. O(1)."""
    size = abs(value)
    if 1e-3 <= size < 1e7 or not size:
        return float.__repr__(value)
    if value != value:
        return "NaN"
    if size == float("inf"):
        return "Infinity" if value > 0 else "-Infinity"
    digits, exponent = _split(float.__repr__(size))
    if len(digits) == 1:
        # One digit is enough. Java still writes the two digits that come closest: 4.9E-324, not 5.0E-324.
        two = f"{size:.1e}"
        if float(two) == size:
            digits, exponent = _split(two)
    return ("-" if value < 0 else "") + _java_form(digits, exponent)


def float_text(value: float) -> str:
    """``Float.toString(value)`` of a value that 32 bits hold exactly. O(1)."""
    size = abs(value)
    if value != value or size == float("inf") or not size:
        return double_text(value)
    return ("-" if value < 0 else "") + _java_form(*_shortest_float(size))


def _shortest_float(size: float) -> tuple[str, int]:
    for places in range(1, 9):
        mantissa, _, power = f"{size:.{places}e}".partition("e")
        nearest, shift = int(mantissa.replace(".", "")), int(power) - places
        # At a power of two, the values above are twice as far apart as the values below, so the next decimal may fit.
        for candidate in (nearest, nearest + 1):
            if _rounded(float(f"{candidate}e{shift}")) == size:
                digits = str(candidate)
                return digits.rstrip("0"), shift + len(digits) - 1
    raise AssertionError("nine digits tell all floats apart")  # pragma: no cover


def _rounded(value: float) -> float:
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return float("inf")


def _split(text: str) -> tuple[str, int]:
    """The significant digits of a positive number's Python text, and the power of ten of the first one."""
    mantissa, _, power = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = len(whole) - 1 if whole.strip("0") else len(digits) - len(fraction) - 1
    return digits.rstrip("0") or "0", exponent + int(power or 0)


def _java_form(digits: str, exponent: int) -> str:
    if -3 <= exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if 0 <= exponent < 7:
        whole = digits[: exponent + 1].ljust(exponent + 1, "0")
        return f"{whole}.{digits[exponent + 1 :] or '0'}"
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent}"
