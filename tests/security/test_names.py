"""A queue uses only its own keys, whatever characters its name has."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE
from tests.flavours import Flavour
from tests.security.test_rights_of_a_user import keys_of

_HOSTILE = [
    "a*",
    "*",
    "a?b[c]",
    "%s%d{}%(x)s",
    "{0}",
    "{tag}orders",
    "a{b",
    "a}b",
    "line\nbreak",
    "carriage\r\nDEL victim\r\n",
    "nul\x00byte",
    "sp ace",
    "quote\"'`",
    "back\\slash",
    "ünïcødé \U0001f600",
    "redisson_delay_queue:{victim}",
    "redisson_delay_queue_timeout:{victim}",
    "victim}",
    "{victim",
    ":",
    "../victim",
    "$(victim)",
    "KEYS[1]",
    "]]--",
]
_VICTIMS = ["victim", "a", "ab", "orders", "a{b}c", "", "abc"]


@pytest.fixture
def server(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    return servers("redis")


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_name_leads_to_no_other_queues_keys(server: EmbeddedServer, name: str) -> None:
    """Whatever is called on a queue of such a name, what other queues have stays as it was."""
    with redis.Redis.from_url(server.url) as admin:
        admin.flushall()
        own = set(keys_of(QueueKeys.of(name)))
        for victim in filter(None, _VICTIMS):
            for key in keys_of(QueueKeys.of(victim)):
                if key not in own:
                    admin.set(key, "untouched")
        before = _dump(admin, own)
        with Flavour().connect(server.url, codec=StringCodec()) as client:
            queue, delayed = client.blocking_queue(name), client.delayed_queue(name)
            deque, bounded = client.blocking_deque(name), client.bounded_blocking_queue(name)
            delayed.offer("a", 0.01)
            assert queue.poll(timeout=PATIENCE) == "a"
            delayed.offer("b", 60, id="*")
            delayed.offer_all([("c", 60), ("d", 60)])
            delayed.offer_recurring("e", "*", every=3600)
            assert delayed.cancel("*")
            assert {item.value for item in delayed.items()} == {"c", "d", "e"}
            deque.add_first("f", "g")
            assert queue.poll(timeout=0.1) in ("f", "g")
            queue.clear()
            delayed.dump()
            delayed.expire(60)
            bounded.try_set_capacity(3)
            bounded.offer("h")
            bounded.delete()
            delayed.delete()
            queue.delete()
        assert _dump(admin, own) == before
        # Nothing was made beside the queue's own keys either.
        assert {key.decode() for key in admin.scan_iter()} - {key.decode() for key in before} <= own


def _dump(admin: redis.Redis, own: set[str]) -> dict[bytes, bytes | None]:
    return {key: admin.dump(key) for key in admin.scan_iter() if key.decode() not in own}


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_prefix_is_not_left(server: EmbeddedServer, name: str) -> None:
    """A user that may touch the keys of one prefix alone can use all queues under it."""
    raw = QueueKeys.of(f"shop:{name}")
    assert raw.ready == f"shop:{name}"
    tagged = raw.ready if "{" in raw.ready else f"{{{raw.ready}}}"
    assert all(key == raw.ready or key.endswith(f":{tagged}") for key in keys_of(raw))
    with redis.Redis.from_url(server.url) as admin:
        admin.flushall()
        rights = ["reset", "on", ">secret", "+@all", "&*", "~shop:*", "~redisson_*:{shop:*", "~redisson_*:shop:*"]
        admin.execute_command("ACL", "SETUSER", "shop", *rights)
        url = server.url.replace("//", "//shop:secret@")
        with Flavour().connect(url, codec=StringCodec(), name_mapper="shop:") as client:
            queue = client.blocking_queue(name)
            client.delayed_queue(queue).offer("a", 0.01)
            assert queue.poll(timeout=PATIENCE) == "a"
        admin.execute_command("ACL", "DELUSER", "shop")
