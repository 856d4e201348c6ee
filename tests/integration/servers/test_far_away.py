"""A distant server: the travel time of a reply does not count as work of the server."""

from __future__ import annotations

import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import eventually, moving
from tests.faults.gate import Gate
from tests.flavours import Flavour
from tests.integration.conftest import KEYS

MANY, LONG_WAY = 2000, 0.06


def test_many_due_items_take_few_transfers_however_long_the_way(
    flavour: Flavour, server: EmbeddedServer, admin: redis.Redis
) -> None:
    with (
        Gate(lambda: server.port or 0, delay=LONG_WAY) as proxy,
        flavour.connect(server.url, codec=StringCodec()) as producer,
        flavour.connect(proxy.url, codec=StringCodec()) as client,
    ):
        moving(client.delayed_queue("orders"))
        delayed = producer.delayed_queue("orders", transfer=False)
        for come in range(1, 6):
            before = client.transfers.sent
            delayed.offer_all([(f"{come}-{i}", 0.1) for i in range(MANY)])
            eventually(lambda: admin.llen(KEYS.ready) == come * MANY)  # noqa: B023
            # 2,000 a call, but for those that fell due between two calls.
            assert client.transfers.sent - before < 8
