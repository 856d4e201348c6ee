"""Each entry of a transaction has an id of its own, though the server's time stands still in it from Redis 7.2 on."""

from __future__ import annotations

from typing import Any

import pytest

from redisson_dq import Outcome
from redisson_dq.codecs import StringCodec
from tests.conftest import PATIENCE
from tests.flavours import Flavour
from tests.integration.conftest import KEYS

HOUR = 3600.0
#: Where an entry has its id.
IDS = {"current": slice(1, 9), "legacy": slice(0, 8), "lean": slice(1, 10)}


def ids(admin: Any, envelope: str) -> set[bytes]:
    return {member[IDS[envelope]] for member in admin.zrange(KEYS.timeout, 0, -1)}


@pytest.mark.parametrize("envelope", IDS)
@pytest.mark.parametrize("is_fenced", [False, True])
def test_each_entry_has_its_own(flavour: Flavour, url: str, admin: Any, envelope: str, is_fenced: bool) -> None:
    options: dict[str, Any] = {} if envelope == "lean" else {"envelope": envelope}
    with flavour.connect(url, codec=StringCodec(), **options) as client:
        delayed = client.delayed_queue("orders", transfer=False, lean=envelope == "lean")
        queue = client.blocking_queue("orders")
        others = client.blocking_queue("others")
        delayed.offer("moved", HOUR, id="moved")
        queue.add("retried")
        others.add("fence")
        retried, fence = queue.receive(timeout=PATIENCE), others.receive(timeout=PATIENCE)
        pipe = client.pipeline(transaction=True)
        for number in range(3):
            pipe.add(delayed.requests.offer(f"plain-{number}", HOUR))
            pipe.add(delayed.requests.offer(f"named-{number}", HOUR, id=f"{number}"))
        for request in delayed.requests.offer_all([(f"many-{number}", HOUR) for number in range(3)]):
            pipe.add(request)
        pipe.add(delayed.requests.reschedule("moved", HOUR))
        if is_fenced:
            pipe.add(retried.requests.nack(delay=HOUR))
            pipe.add(fence.requests.ack())
        pipe.add(delayed.requests.offer("last", HOUR, id="last"))
        pipe.execute()
        # A value under a lease waits for its deadline there.
        assert admin.zcard(KEYS.timeout) == len(ids(admin, envelope)) == 12
        for number in range(3):
            assert delayed.cancel(f"{number}") is Outcome.CANCELLED
        left = {item.value for item in delayed.items()}
        assert left.isdisjoint({f"named-{number}" for number in range(3)})
        assert {f"plain-{number}" for number in range(3)} <= left
        for delivery in (retried, fence):
            delivery.nack()
