"""A user without the right to a command, where values wait for a slot of their key: nothing is done, or everything."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisReplyError
from redisson_dq.mending import MendedQueue, mend_waiting, select_waiting
from redisson_dq.scripts.script import load
from redisson_dq.working.limits import Admission, Limit
from tests.integration.admitting import admit, opened
from tests.integration.calls import dump
from tests.integration.conftest import KEYS
from tests.integration.servers.test_rights import grant, sizes

BY = Admission(name="h", limit=Limit(1, by="customer"))
ORDERS = [json.dumps({"customer": 71, "number": number}) for number in range(3)]


def _mended(client: Any, action: Literal["cancel", "by"], amount: int) -> object:
    with select_waiting(MendedQueue(client, "orders")) as chosen:
        return mend_waiting(chosen, action, amount)


def _waiting(client: Any) -> Any:
    return client.delayed_queue("orders", transfer=False)


#: The first word is the script.
WAYS: dict[str, Callable[[Any], object]] = {
    "cancel": lambda client: _waiting(client).cancel(_waiting(client).items()[0].id),
    "reschedule": lambda client: _waiting(client).reschedule(_waiting(client).items()[0].id, 60),
    "remove": lambda client: _waiting(client).remove(ORDERS[1]),
    "clear": lambda client: _waiting(client).clear(),
    "mend cancel": lambda client: _mended(client, "cancel", 0),
    "mend by": lambda client: _mended(client, "by", 60_000),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_waits_in_a_line_goes_whole_or_stays(admin: Any, server: EmbeddedServer, way: str) -> None:
    def run(*rules: str) -> tuple[dict[Any, Any], RedisReplyError | None]:
        admin.flushdb()
        grant(admin)
        with redisson_dq.connect(server.url.replace("://", "://limited:secret@"), codec=StringCodec()) as client:
            queue = opened(client)
            queue.add_all(ORDERS)
            assert len(admit(queue, BY)) == 1
            assert admin.zcard(KEYS.timeout) == 3
            grant(admin, *rules)
            before = dump(admin)
            try:
                WAYS[way](client)
            except RedisReplyError as error:
                return before, error
            return before, None

    assert run()[1] is None
    left = sizes(admin)
    # Also those that the script asks for, and this way through it does not run.
    for command in sorted({words.partition(" ")[0].lower() for words in load(way.partition(" ")[0]).commands}):
        before, refusal = run(f"-{command}")
        if refusal is None:
            assert sizes(admin) == left, command
        else:
            assert command in str(refusal).lower(), command
            assert dump(admin) == before, command
    grant(admin)
