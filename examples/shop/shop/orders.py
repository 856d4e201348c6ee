"""The states of the orders, which the checkout in Java shares."""

from __future__ import annotations

from redis import Redis

from shop.java_classes import Order

__all__ = ["Orders"]

_CANCEL_UNLESS_PAID = """
if redis.call('HGET', KEYS[1], ARGV[1]) == 'open' then
  redis.call('HSET', KEYS[1], ARGV[1], 'cancelled')
end
return redis.call('HGET', KEYS[1], ARGV[1])
"""


class Orders:
    """A hash: ``open``, then ``paid`` or ``cancelled``, by the number of the order."""

    def __init__(self, redis: Redis) -> None:
        self._cancel_unless_paid = redis.register_script(_CANCEL_UNLESS_PAID)

    def cancel_unless_paid(self, order: Order) -> bool:
        """Whether the order is cancelled now. A second call returns the same, so it is safe to retry."""
        state: str | None = self._cancel_unless_paid(keys=["orders"], args=[str(order.number)])
        return state == "cancelled"
