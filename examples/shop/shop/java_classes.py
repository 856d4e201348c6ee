# Made by this command; run it again when the Java classes have changed:
#   redisson-dq generate-classes classes shop.Order

from __future__ import annotations

import attrs
from redisson_dq.java import java_class


@java_class("shop.Order", record=True, implements=[])
@attrs.frozen
class Order:
    number: str | None
    sku: str | None
    quantity: int
