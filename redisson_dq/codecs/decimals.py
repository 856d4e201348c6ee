"""BigDecimals: the digits that are read and written, and a Decimal as Java holds it."""

from __future__ import annotations

from decimal import Decimal

from redisson_dq.codecs.faults import Unencodable
from redisson_dq.java.numbers import INT_MAX, INT_MIN

__all__ = ["MAX_DECIMAL_BYTES", "MAX_DECIMAL_DIGITS", "unscaled_and_scale"]

#: A BigDecimal of more digits is refused, both ways: turning it into a Decimal takes quadratic time.
MAX_DECIMAL_DIGITS = 4000
#: The bytes of a number with that many digits.
MAX_DECIMAL_BYTES = 1662


def unscaled_and_scale(value: Decimal) -> tuple[int, int]:
    """The two numbers that a BigDecimal consists of. Raises Unencodable."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise Unencodable(f"a BigDecimal cannot hold {value}")
    if len(digits) > MAX_DECIMAL_DIGITS or not INT_MIN <= -exponent <= INT_MAX:
        raise Unencodable(f"a Decimal of more than {MAX_DECIMAL_DIGITS} digits or beyond BigDecimal's scale")
    unscaled = int(Decimal((0, digits, 0)))
    return -unscaled if sign else unscaled, -exponent
